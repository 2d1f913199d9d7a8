//! From a table to what a browser shows.

use super::{Folder, NURSERY};
use crate::run::json;
use std::fs;

#[test]
fn a_table_is_sent_stored_learnt_from_and_shown() {
    let folder = Folder::new("story", "--learner softmax");
    let collector = folder.serve();
    assert_eq!(collector.get("/v1/shares").0, 409);
    let sent = json(&format!("send {NURSERY} --to {} --seed 1 --batch 200", collector.url));
    assert_eq!((&sent["accepted"], &sent["duplicates"]), (&12_960.into(), &0.into()));
    let status = collector.settled(12_960);
    assert_eq!((&status["shown"], &status["audit"]["verdict"]), (&true.into(), &"kept".into()));
    // A third of the families are not recommended, and the interval is 95 %: 5σ is 2.6 times as wide.
    let (_, shares) = collector.get("/v1/shares");
    let share = &shares["shares"][0];
    let (estimate, high) = (share["estimate"].as_f64().unwrap(), share["high"].as_f64().unwrap());
    assert!((estimate - 1.0 / 3.0).abs() < 2.6 * (high - estimate), "{share}");
    let (code, model) = collector.get("/v1/model");
    assert_eq!((code, &model["training"]["reports"]), (200, &12_960.into()));
    let model_file = folder.path("model.json");
    fs::write(&model_file, model.to_string()).unwrap();
    let evaluation = json(&format!("evaluate {model_file} {NURSERY} --label nursery"));
    // One pass at ε = 1 comes to 0.74, with a standard deviation of 0.03 over the coins; the largest class has a third.
    assert!(evaluation["accuracy"].as_f64().unwrap() > 0.59, "{}", evaluation["accuracy"]);
    assert!(collector.get("/openapi.json").1["paths"]["/v1/batches"]["post"].is_object());
    let (status, head, page) = collector.ask("GET", "/", "", b"");
    assert!(status == 200 && head.contains("content-security-policy") && page.starts_with(b"<!"));
}
