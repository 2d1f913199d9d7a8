//! Numbers on their way through a collector.

use super::Folder;
use crate::run::{json, text, undertone};
use std::fmt::Write;
use std::fs;

#[test]
fn numbers_are_sent_stored_learnt_from_and_shown() {
    let folder = Folder::empty("numbers").operated();
    let mut table = String::from("metres,rent\n");
    for person in 0..6000u32 {
        let metres = 20 + person * 37 % 180;
        writeln!(table, "{metres},{}", 400 + 4 * metres).unwrap();
    }
    let (file, task) = (folder.path("rents.csv"), folder.path("task.toml"));
    fs::write(&file, table).unwrap();
    let made = undertone(&format!(
        "task new {file} --label rent --low 0 --high 1500 --epsilon 2 --min-reports 100 -o {task}"
    ));
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    assert!(text(&format!("task show {task}")).contains("a number, clipped to 0 to 1500"));
    assert!(text(&format!("task check {task}")).contains("a collector may run"));
    let collector = folder.serve();
    let sent = json(&format!("send {file} --to {} --seed 1 --batch 500", collector.url));
    assert_eq!(sent["accepted"], 6000);
    let status = collector.settled(6000);
    assert_eq!((&status["audit"]["verdict"], &status["shares"]), (&"kept".into(), &serde_json::Value::Null));
    let mean = &status["parameters"][0];
    let [estimate, low, high] = ["estimate", "low", "high"].map(|key| mean[key].as_f64().unwrap());
    // Metres go evenly from 20 to 199, so that the mean is 400 + 4·109.5; the interval is 95 %, 5σ is 2.6 times as wide.
    assert!(mean["name"] == "mean of rent" && (estimate - 838.0).abs() < 2.6 * (high - low) / 2.0, "{mean}");
    let model = folder.path("model.json");
    fs::write(&model, collector.model()).unwrap();
    let live = json(&format!("evaluate {model} {file} --label rent"));
    assert!(live["r2"].as_f64().unwrap() > 0.9, "{live}");
    assert_eq!(collector.seal()["reports"], 6000);
    let sealed = folder.kept("reports").display().to_string();
    let trained = json(&format!("train {sealed} -o {model} --force"));
    assert_eq!((&trained["reports"], &trained["mechanism"]), (&6000.into(), &"hybrid-best".into()));
    let chosen = json(&format!("evaluate {model} {file} --label rent"));
    assert!(chosen["r2"].as_f64().unwrap() > 0.95, "{chosen}");
    let before = collector.model();
    collector.stop();
    let again = folder.serve();
    assert_eq!(again.model(), before);
}
