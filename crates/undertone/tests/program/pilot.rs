//! A pilot of magnitudes: `privatize --magnitudes`, then `plan --pilot`, and then the others are asked.

use crate::averages::places;
use crate::learning::{Folder, number};
use crate::run::{close, command, json, refused, text};
use serde_json::Value;
use std::fmt::Write;

/// Heights of a tent in hundredths, and what nobody can predict about them: Pareto's law of index three, of which no moment beyond the
/// third exists.
fn heavy(folder: &Folder, people: u32) -> (String, Vec<f64>) {
    let (mut table, mut labels) = (String::from("x,y,height\n"), Vec::new());
    for (person, (x, y)) in (0..people).zip(places(people)) {
        let spread = (f64::from(person) * 0.438_579_021).fract();
        let tail = (1.0 - (2.0 * spread).fract()).powf(-1.0 / 3.0) - 1.0;
        let height = 100.0 * (8.0 * (0.5 - (x - 0.5).abs()) + if spread < 0.5 { tail } else { -tail });
        writeln!(table, "{x:.4},{y:.4},{height:.4}").unwrap();
        labels.push(height);
    }
    (folder.file("heavy.csv", &table), labels)
}

const PLAN: &str = "plan --task heavy --trust label-local --epsilon 2 --dimension 2 --beta 1 --n 21000";

#[test]
fn a_pilot_finds_where_the_others_are_clipped_and_they_are_learnt_from() {
    let folder = Folder::new("pilot");
    let (table, labels) = heavy(&folder, 24_000);
    let [pilot, reports, model] =
        ["pilot.parquet", "reports.parquet", "model.json"].map(|name| folder.path(name));
    // Of numbers of some hundreds, asked about by somebody who has no idea of them
    let asked = json(&format!(
        "privatize {table} --label height --magnitudes -4,20 --epsilon 2 --part 1/8 --seed 1 -o {pilot}"
    ));
    assert_eq!((&asked["part"], &asked["classes_from_labels"]), (&"1/8".into(), &false.into()));
    assert_eq!(asked["classes"].as_array().unwrap().len(), 26);
    assert_eq!(asked["classes"][0], "below 2^-4");
    for order in [2.0, 3.0] {
        let words = format!("{PLAN} --moments {order}");
        let (alone, plan) = (json(&words), json(&format!("{words} --pilot {pilot}")));
        assert_eq!(plan["pilot_people"], asked["rows"]);
        assert!(
            (&alone["moment"], &alone["pilot_people"])
                == (&serde_json::Value::Null, &serde_json::Value::Null)
        );
        for same in ["rate", "non_private_rate", "cell_width", "neighbours"] {
            assert_eq!(alone[same], plan[same]);
        }
        // The bound holds of all labels that it is about; bins double T at most, and noise makes it 3^(1/p) times as large at most.
        let within = number(&plan, "pilot_within");
        let beyond = labels.iter().filter(|label| label.abs() >= within).count() as f64 / labels.len() as f64;
        // More than one half would have been refused.
        assert!((beyond..0.5).contains(&number(&plan, "pilot_beyond")), "{beyond}: {plan}");
        let powers = labels.iter().map(|label| label.abs().min(within).powf(order));
        let truth = powers.sum::<f64>() / labels.len() as f64;
        let clip = number(&alone, "clip") * truth.powf(1.0 / order);
        assert!(number(&plan, "moment") > truth, "{truth}: {plan}");
        let most = 2.0 * 3f64.powf(1.0 / order) * clip;
        assert!((clip..most).contains(&number(&plan, "clip")), "{clip} to {most}: {plan}");
        close(&plan["clip"], number(&alone, "clip") * number(&plan, "moment").powf(1.0 / order), 1e-9);
    }
    let told = text(&format!("{PLAN} --pilot {pilot}"));
    let next = told.lines().find(|line| line.contains("privatize")).unwrap();
    for part in ["--label height", "--low=-", "--high=", "--epsilon 2", "--part 2-8/8"] {
        assert!(next.contains(part), "{part} is not in {next}");
    }
    // What it says to run next runs.
    let next = next.trim().strip_prefix("undertone ").unwrap().replace("TABLE", &table);
    let next = next.replace("-o reports.parquet", &format!("--seed 2 -o {reports}"));
    let others = json(&next);
    let rows = [&others, &asked].map(|run| run["rows"].as_u64().unwrap());
    assert_eq!(rows.iter().sum::<u64>(), 24_000);
    let trained = json(&format!("train {reports} --model neighbours -o {model}"));
    assert_eq!(trained["model"], "neighbours");
    // The tent has about two fifths of the variance.
    let judged = json(&format!("evaluate {model} {table} --label height"));
    assert!(number(&judged, "r2") > 0.2, "{judged}");
}

/// What a run prints as JSON whose words may have spaces in them.
fn json_of<'a>(words: impl IntoIterator<Item = &'a str>) -> Value {
    let output = command("").args(words).arg("--json").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn nobody_of_a_pilot_is_asked_again() {
    let folder = Folder::new("pilot-others");
    let (table, _) = heavy(&folder, 6000);
    let table = {
        let words = std::fs::read_to_string(&table).unwrap().replace("height", "height in cm");
        folder.file("words.csv", &words)
    };
    let pilot = folder.path("pilot.parquet");
    let ask = |part: &str| {
        let words =
            ["privatize", &table, "--label", "height in cm", "--magnitudes", "2,14", "--epsilon", "4"];
        let words = words.into_iter().chain(part.split_whitespace());
        let asked = json_of(words.chain(["--seed", "1", "--force", "-o", &pilot]));
        let told = text(&format!("{PLAN} --pilot {pilot}"));
        assert!(told.contains("The reports were drawn from a seed"), "{told}");
        assert_eq!(json(&format!("{PLAN} --pilot {pilot}"))["simulation"], true);
        let next: Vec<String> =
            told.lines().filter(|line| line.contains("privatize")).map(str::to_owned).collect();
        (asked["rows"].as_u64().unwrap(), next, told)
    };
    // Before and after an inner part, and each into a file of its own
    let (mut rows, next, _) = ask("--part 3/6");
    assert_eq!(next.len(), 2, "{next:?}");
    for (next, (part, file)) in
        next.iter().zip([("1-2/6", "reports-1.parquet"), ("4-6/6", "reports-2.parquet")])
    {
        assert!(next.contains("--label 'height in cm'"), "{next}");
        let (bounds, output) = next.split_once("'height in cm' ").unwrap().1.split_once(" --part ").unwrap();
        assert_eq!(output, format!("{part} -o {file}"));
        let words = ["privatize", &table, "--label", "height in cm", "--part", part, "--seed", "2", "-o"];
        let path = folder.path(file);
        let others = json_of(words.into_iter().chain([path.as_str()]).chain(bounds.split(' ')));
        rows += others["rows"].as_u64().unwrap();
    }
    assert_eq!(rows, 6000);
    // Whoever has asked everybody, or does not say whom, has nobody left of this table.
    for part in ["--part 1/1", ""] {
        let (rows, next, told) = ask(part);
        assert!(rows == 6000 && next.is_empty() && told.contains("people of another table"), "{told}");
    }
}

#[test]
fn what_is_no_pilot_is_refused_with_the_reason() {
    let folder = Folder::new("no-pilot");
    let (table, _) = heavy(&folder, 2000);
    let [classes, few, out] = ["classes.parquet", "few.parquet", "out.parquet"].map(|name| folder.path(name));
    let ask = format!("privatize {table} --label height --epsilon 1 -o");
    for (words, message) in [
        ("--magnitudes 3,3", "above the smallest"),
        ("--magnitudes 4,-4", "the largest power of two is -4"),
        ("--magnitudes 5", "such as -2,10"),
        ("--magnitudes 1,b", "such as -2,10"),
        ("--magnitudes -4,4 --classes a,b", "cannot be used with"),
        ("--magnitudes -4,4 --low 0 --high 1", "cannot be used with"),
        ("--magnitudes -4,4 --top a", "cannot be used with"),
        ("--magnitudes -4,4 --mechanism bins", "is for numbers"),
        ("--magnitudes -4,4 --part 3-2/8", "the smaller number comes first"),
    ] {
        refused(&format!("{ask} {out} {words}"), 2, message);
    }
    let words = folder.file("words.csv", "x,height\n1,2\n2,much\n");
    refused(&format!("privatize {words} --label height --magnitudes 0,4 --epsilon 1 -o {out}"), 1, "`much`");
    let missing = folder.file("missing.csv", "x,height\n1,2.5\n2,\n");
    refused(&format!("privatize {missing} --label height --magnitudes 0,4 --epsilon 1 -o {out}"), 1, "row 2");
    json(&format!("privatize {table} --label height --low 0 --high 9 --epsilon 1 --seed 1 -o {classes}"));
    json(&format!("{ask} {few} --magnitudes -4,20 --part 1/20 --seed 1"));
    for (words, code, message) in [
        (format!("{PLAN} --pilot {classes}"), 2, "not about magnitudes"),
        (format!("{PLAN} --pilot {table}"), 2, "not a Parquet file"),
        (format!("{PLAN} --pilot {}", folder.path("nowhere.parquet")), 2, "nowhere.parquet"),
        (format!("{PLAN} --pilot {few}").replace("heavy", "regression"), 2, "--pilot is for --task heavy"),
        (format!("{PLAN} --pilot {few}").replace("label-local", "none"), 2, "nothing is clipped"),
        (format!("plan --classes 3 --epsilon 1 --n 10 --pilot {few}"), 2, "--task"),
        // A hundred people tell nothing about 26 bins.
        (format!("{PLAN} --pilot {few}"), 1, "one half"),
    ] {
        refused(&words, code, message);
    }
}

#[test]
fn parts_that_share_people_are_known_to() {
    let folder = Folder::new("parts");
    let (table, _) = heavy(&folder, 1000);
    let reports = |part: &str| {
        let path = folder.path(&format!("{}.parquet", part.replace('/', "of")));
        let words = "--label height --low=-900 --high=900 --epsilon 4 --seed 1";
        json(&format!("privatize {table} {words} --part {part} -o {path}"));
        path
    };
    let [first, rest, both] = ["1/4", "2-4/4", "1-2/4"].map(reports);
    let model = folder.path("model.json");
    for (files, twice) in [([&first, &rest], false), ([&rest, &both], true), ([&first, &both], true)] {
        let trained = json(&format!("train {} {} --l2 0.1 --force -o {model}", files[0], files[1]));
        assert_eq!(trained["may_ask_twice"], twice, "{files:?}");
    }
}
