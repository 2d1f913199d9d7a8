//! `task`.

use crate::run::{command, fresh, json, refused, text};
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use undertone_learn::features::Encoder;
use undertone_report::{CategoryWords, EncodingWords, LearnerWords, PriorWords, Stretch, Task, TextWords};

/// A table of people, of whom the label is private.
fn people(name: &str) -> PathBuf {
    let path = fresh(name);
    let mut table = String::from("age,town,income,note\n");
    for person in 0..40 {
        let (age, town) = (if person % 2 == 0 { 20 } else { 40 }, ["Ulm", "Bonn"][person % 2]);
        let income = ["low", "high"][person % 2];
        writeln!(table, "{age},{town},{income},person number {person} says this and that").unwrap();
    }
    fs::write(&path, table).unwrap();
    path
}

const USUAL: &str = "--label income --classes low,high --epsilon 1 --opens 2027-01-15 --days 2";

#[test]
fn a_new_task_has_its_constants_from_the_public_columns_and_reads_back() {
    let (table, file) = (people("task-new.csv"), fresh("task-new.toml"));
    let words = format!(
        "task new {} {USUAL} --tiers 1,0.25 --encode note=text --min-reports 20 --admission -o {}",
        table.display(),
        file.display()
    );
    let said = text(&words);
    assert!(said.contains("3 public column(s) only; `income` was not looked at"), "{said}");
    let document = fs::read_to_string(&file).unwrap();
    assert!(document.contains("# Nothing is shown before so many reports are in"), "{document}");
    let task = Task::from_toml(&document).unwrap();
    let collection = task.collection.as_ref().unwrap();
    assert_eq!(task.classes, ["low", "high"]);
    assert_eq!(collection.tiers, [1.0, 0.25]);
    assert_eq!((collection.opens, collection.closes), (1_799_971_200, 1_799_971_200 + 2 * 86_400));
    assert_eq!((collection.learner, collection.min_reports), (LearnerWords::Softmax, 20));
    assert!(collection.admission);
    let towns = vec!["Bonn".to_owned(), "Ulm".to_owned()];
    assert_eq!(
        collection.encoding,
        [
            EncodingWords::Number(Stretch::Standard { mean: 30.0, scale: 0.1, missing: false }),
            EncodingWords::Category(CategoryWords::Values { values: towns, other: false, missing: false }),
            EncodingWords::Text(TextWords { buckets: 1 << 14 }),
        ]
    );
    let encoder = Encoder::from_words(&task.features, &collection.encoding).unwrap();
    assert_eq!(encoder.width(), 1 + 2 + (1 << 14));

    let id = task.id().to_string();
    assert!(said.contains(&id));
    assert_eq!(text(&format!("task id {}", file.display())).trim(), id);
    assert_eq!(json(&format!("task id {}", file.display()))["id"], *id);
    let checked = json(&format!("task check {}", file.display()));
    assert_eq!((checked["id"].as_str(), checked["collection"].as_bool()), (Some(&*id), Some(true)));
    assert!(text(&format!("task check {}", file.display())).contains("a collector may run"));

    refused(&words, 1, "--force replaces it");
    assert_eq!(json(&format!("{words} --force"))["id"], *id);
}

#[test]
fn a_task_is_shown_to_people_and_machines_from_toml_and_from_json() {
    let (table, file) = (people("task-show.csv"), fresh("task-show.json"));
    let made = json(&format!("task new {} {USUAL} --drop note --name Incomes", table.display()));
    let task: Task = serde_json::from_value(made["task"].clone()).unwrap();
    fs::write(&file, task.to_json()).unwrap();
    let shown = text(&format!("task show {}", file.display()));
    for part in [
        "Incomes\n",
        "`income`, one of low, high",
        "ε = 1: no report is more than 2.7183 times likelier",
        "by rr: one label of 2 in a report",
        "age: a number, minus 30, times 0.1",
        "town: a category of 2 values",
        "from 2027-01-15 00:00:00 UTC",
        "until 2027-01-17 00:00:00 UTC",
        "from 100 reports on",
        "of anybody",
        &task.id().to_string(),
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    let machine = json(&format!("task show {}", file.display()));
    assert_eq!(machine["id"], task.id().to_string());
    assert_eq!(machine["tiers"][0]["set_size"], 1);
    assert!(machine["tiers"][0]["realised_epsilon"].as_f64().unwrap() <= 1.0);
    assert_eq!(serde_json::from_value::<Task>(machine["task"].clone()).unwrap(), task);
}

#[test]
fn a_task_without_a_file_goes_to_the_output_and_is_what_was_asked_for() {
    let table = people("task-output.csv");
    let words = format!("task new {} {USUAL} --drop age,town,note --top low,high", table.display());
    let task = Task::from_toml(&text(&words)).unwrap();
    assert_eq!(task.mechanism.kind, "rr-top-k");
    let collection = task.collection.unwrap();
    assert_eq!((collection.learner, collection.encoding.len()), (LearnerWords::SharesOnly, 0));
    // The label need not be in the table, and nothing of it is in the task.
    let other =
        text(&format!("task new {} --label x --classes a,b --epsilon 1 --drop note", table.display()));
    assert!(other.contains("\"income\"") && !other.contains("label = \"income\""));
    let without = text(&words);
    assert!(!without.contains("\"age\"") && !without.contains("person number"));
}

#[test]
fn bad_words_are_refused_with_two_and_leave_nothing() {
    let (table, file) = (people("task-bad.csv"), fresh("task-bad.toml"));
    let new = format!("task new {} -o {}", table.display(), file.display());
    for (words, says) in [
        ("--label income --epsilon 1", "--classes"),
        ("--label income --classes low --epsilon 1", "neither a file nor a list"),
        ("--label income --classes low,low --epsilon 1", "names `low` twice"),
        ("--label income --classes low,high --epsilon 0", "epsilon is 0"),
        ("--label income --classes low,high --epsilon 1 --tiers 0.5,1", "begins with 0.5"),
        ("--label income --classes low,high --epsilon 1 --tiers 1,1", "names 1 twice"),
        ("--label income --classes low,high --epsilon 1 --tiers 1,-1", "epsilon is -1"),
        ("--label income --classes low,high --epsilon 1 --opens yesterday", "a date such as"),
        ("--label income --classes low,high --epsilon 1 --opens 2027-02-30", "no such day"),
        (
            "--label income --classes low,high --epsilon 1 --opens 2027-01-02 --closes 2027-01-01",
            "after opens",
        ),
        ("--label income --classes low,high --epsilon 1 --opens 7", "multiple of the time precision"),
        ("--label income --classes low,high --epsilon 1 --expiry-age 0", "expiry_age"),
        ("--label income --classes low,high --epsilon 1 --min-reports 0", "min_reports"),
        ("--label income --classes low,high --epsilon 1 --time-precision 0", "--time-precision"),
        ("--label income --classes low,high --epsilon 1 --learner magic", "'magic'"),
        ("--label income --classes low,high --epsilon 1 --drop street", "`street`"),
        ("--label income --classes low,high --epsilon 1 --encode age=skip", "--drop leaves `age` out"),
        ("--label income --classes low,high --epsilon 1 --encode street=text", "`street`"),
        ("--label income --classes low,high --epsilon 1 --encode age=text", "`age`"),
        ("--label income --classes low,high --epsilon 1 --set-size 2", "sets of 2 among 2"),
        ("--label income --classes low,high --epsilon 1 --top middle", "`middle`, which is no class"),
        ("--label income --classes low,high --epsilon 1 --mechanism rr-prior", "written by hand"),
    ] {
        refused(&format!("{new} {words}"), 2, says);
        assert!(!file.exists());
    }
    refused(&format!("task new {} {USUAL} -o {}", table.display(), table.display()), 1, "--force");
    refused(&format!("task new {} {USUAL} -o {} --force", table.display(), table.display()), 2, "is read");
    refused(&format!("task new nowhere.csv {USUAL}"), 1, "nowhere.csv");
}

#[test]
fn a_task_that_devices_cannot_answer_or_collectors_cannot_run_fails_the_check() {
    let (table, file) = (people("task-priors.csv"), fresh("task-priors.toml"));
    let good = text(&format!("task new {} {USUAL} --drop note,town", table.display()));
    let mut task = Task::from_toml(&good).unwrap();
    task.mechanism.kind = "rr-prior".into();
    let mut check = |prior, says| {
        task.mechanism.prior = Some(prior);
        fs::write(&file, task.to_toml()).unwrap();
        refused(&format!("task check {}", file.display()), 1, says);
    };
    check(
        PriorWords::Columns(vec!["age".into(), "age".into()]),
        "no collector can run it: a task with the mechanism rr-prior",
    );
    check(PriorWords::Model { sha256: "00".repeat(32), temperature: Some(1.0) }, "no device can answer it");
}

#[test]
fn what_a_terminal_would_obey_is_shown_instead() {
    let (table, file) = (people("task-terminal.csv"), fresh("task-terminal.json"));
    let made = json(&format!("task new {} {USUAL} --drop note", table.display()));
    let mut task: Task = serde_json::from_value(made["task"].clone()).unwrap();
    task.label = "in\rcome".into();
    task.classes[1] = "hi\u{1b}[2Jgh".into();
    task.features[0].name = "é\n\u{202e}age".into();
    for collection in [task.collection.clone(), None] {
        task.collection = collection;
        fs::write(&file, task.to_json()).unwrap();
        let shown = text(&format!("task show {}", file.display()));
        for part in ["`in\\u{d}come`", "hi\\u{1b}[2Jgh", "é\\u{a}\\u{202e}age"] {
            assert!(shown.contains(part), "{part}\n{shown}");
        }
    }
}

#[test]
fn a_file_that_is_no_task_fails_with_one_and_says_why() {
    let (table, file) = (people("task-check.csv"), fresh("task-check.toml"));
    let good = text(&format!("task new {} {USUAL} --drop note", table.display()));
    for (from, to, says) in [
        ("epsilon = 1.0", "epsilon = -1.0", "epsilon is -1"),
        ("closes = ", "closing = ", "closing"),
        ("kind = \"words\"", "kind = \"vector\"", "vector"),
        ("tiers = [1.0]", "tiers = [2.0]", "begins with 2"),
        ("[mechanism]", "[mechanism", "TOML"),
        ("version = 1", "version = 2", "version 2"),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from}");
        fs::write(&file, bad).unwrap();
        for command in ["check", "show", "id"] {
            refused(&format!("task {command} {}", file.display()), 1, says);
        }
    }
    fs::write(&file, b"\xff\xfe").unwrap();
    refused(&format!("task check {}", file.display()), 1, "cannot be read");
    refused("task check nowhere.toml", 1, "nowhere.toml cannot be read");
    assert!(!command("task").output().unwrap().status.success());
}
