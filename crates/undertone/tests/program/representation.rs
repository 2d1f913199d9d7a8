//! Representations of texts and tables: `train --model representation` and `auto`, what they keep and what they refuse.

use crate::averages::{COLOUR, HEIGHT, board, places, tent};
use crate::learning::{Folder, number};
use crate::run::{json, refused, text};
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

const TOPICS: [&str; 3] = ["food", "money", "travel"];
const TOPIC: &str = "--label topic --classes food,money,travel";

/// A table of what people said, each about one topic in words that others use too, and of their age, which says nothing.
fn talk(folder: &Folder, name: &str, people: u32, shift: u32) -> String {
    let mut table = String::from("said,age,topic\n");
    for person in 0..people {
        let topic = person % 3;
        // Places in a list of words, spread by irrational steps
        let draw = |step: f64, below: f64| (f64::from(person + shift) * step).fract() * below;
        let own = |step: f64| format!("{}{}", TOPICS[topic as usize], draw(step, 30.0) as u32);
        let any = |step: f64| format!("word{}", draw(step, 200.0) as u32);
        let said = [own(0.754_877), any(0.569_840), own(0.618_034), any(0.324_718), any(0.414_214)].join(" ");
        writeln!(table, "{said},{},{}", 20 + person % 50, TOPICS[topic as usize]).unwrap();
    }
    folder.file(name, &table)
}

fn told(folder: &Folder, table: &str, name: &str, epsilon: f64) -> String {
    let reports = folder.path(name);
    let seed = name.len();
    json(&format!("privatize {table} {TOPIC} --epsilon {epsilon} --seed {seed} -o {reports}"));
    reports
}

/// The words for stages.
fn words(trained: &Value, which: &str) -> Vec<String> {
    let all = trained["cache"][which].as_array().unwrap_or_else(|| panic!("{which} in {trained}"));
    all.iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

const FEATURES: [&str; 3] = ["coordinates", "graph", "kernel"];

#[test]
fn texts_are_learnt_from_and_their_features_are_looked_at_once() {
    let folder = Folder::new("representation-texts");
    let table = talk(&folder, "talk.csv", 1500, 0);
    let reports = [told(&folder, &table, "a.parquet", 2.0), told(&folder, &table, "bb.parquet", 3.0)];
    let (model, cache) = (folder.path("model.json"), folder.path("cache"));
    let train = |reports: &str, options: &str| {
        json(&format!("train {reports} --model representation --buckets 4200 --force -o {model} {options}"))
    };
    let trained = train(&reports[0], "");
    assert!(trained.get("cache").is_none() && number(&trained, "features") > 4096.0, "{trained}");
    let alone = fs::read(&model).unwrap();
    let others = talk(&folder, "others.csv", 600, 70_000);
    let found = json(&format!("evaluate {model} {others} --label topic"));
    assert!(number(&found, "accuracy") > 0.9, "{found}");
    // Kept, the model is the same
    let kept = format!("--cache {cache}");
    let trained = train(&reports[0], &kept);
    assert_eq!((words(&trained, "found").len(), words(&trained, "made").len()), (0, 5), "{trained}");
    assert!(fs::read(&model).unwrap() == alone);
    // Again, nothing is left to be made
    let trained = train(&reports[0], &kept);
    assert_eq!((words(&trained, "found").len(), words(&trained, "made").len()), (5, 0), "{trained}");
    assert!(fs::read(&model).unwrap() == alone);
    // Other reports of the same people
    let trained = train(&reports[1], &kept);
    assert_eq!(
        (words(&trained, "found"), words(&trained, "made")),
        (FEATURES.map(String::from).to_vec(), vec!["model".into(), "representation".into()])
    );
    // A damaged file, and one of something else
    for damage in ["graph", "kernel"] {
        let path = fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().path());
        let is_it = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(damage);
        let path = path.into_iter().find(is_it).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 4;
        fs::write(&path, if damage == "graph" { bytes } else { b"foreign".to_vec() }).unwrap();
        let trained = train(&reports[0], &kept);
        assert_eq!(words(&trained, "made"), [damage], "{trained}");
        assert!(fs::read(&model).unwrap() == alone);
    }
    // Other people
    let table = talk(&folder, "more.csv", 1500, 1);
    let trained = train(&told(&folder, &table, "ccc.parquet", 2.0), &kept);
    assert_eq!((words(&trained, "found").len(), words(&trained, "made").len()), (0, 5), "{trained}");
    let told = text(&format!(
        "train {} --model representation --buckets 4200 --explain --force -o {model} {kept}",
        reports[0]
    ));
    assert!(told.contains("likelihood of those kept out"), "{told}");
    assert!(
        told.contains("in the cache: coordinates, graph, kernel, model, representation; made: none"),
        "{told}"
    );
}

#[test]
fn auto_goes_on_where_it_was_interrupted() {
    let folder = Folder::new("representation-resumed");
    let table = talk(&folder, "talk.csv", 800, 0);
    let reports = told(&folder, &table, "a.parquet", 2.0);
    let (model, cache) = (folder.path("model.json"), folder.path("cache"));
    let train = |options: &str| {
        let few = "--buckets 500 --epochs 4 --force";
        let trained = json(&format!("train {reports} --model auto {few} -o {model} {options}"));
        (trained, fs::read(&model).unwrap())
    };
    let (_, alone) = train("");
    let (first, kept) = train(&format!("--cache {cache}"));
    assert!(kept == alone && words(&first, "found").is_empty(), "{first}");
    // As if it had been killed after some of the candidates
    let files: Vec<_> = fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().path()).collect();
    let candidates = ["cells", "forest", "line", "representation"];
    let is_candidate = |path: &Path| {
        let name = path.file_name().unwrap().to_string_lossy();
        candidates.iter().any(|word| name.starts_with(word))
    };
    let removed: Vec<_> = files.iter().filter(|path| is_candidate(path)).step_by(2).collect();
    for path in &removed {
        fs::remove_file(path).unwrap();
    }
    let (again, resumed) = train(&format!("--cache {cache}"));
    assert_eq!(words(&again, "made").len(), removed.len(), "{again}");
    assert!(FEATURES.iter().all(|stage| words(&again, "found").iter().any(|word| word == stage)));
    assert!(resumed == alone && again["candidates"] == first["candidates"], "{again}");
}

#[test]
fn auto_learns_the_same_when_the_table_of_the_true_labels_is_gone() {
    let folder = Folder::new("representation-poisoned");
    let table = board(&folder, 1500);
    let (reports, model) = (folder.path("reports.parquet"), folder.path("model.json"));
    json(&format!("privatize {table} {COLOUR} --epsilon 3 --seed 1 -o {reports}"));
    let train = || {
        let trained = json(&format!("train {reports} --model auto --epochs 4 --force -o {model}"));
        (trained, fs::read(&model).unwrap())
    };
    let (trained, bytes) = train();
    assert!(trained["candidates"].as_array().is_some_and(|tried| tried.len() > 3), "{trained}");
    fs::remove_file(&table).unwrap();
    let (again, same) = train();
    assert!(again == trained && same == bytes, "{again} after {trained}");
}

/// A table of people in eight fields; those who are asked later answer among some of them.
fn fields(folder: &Folder) -> String {
    let mut table = String::from("x,y,field\n");
    for (x, y) in places(1500) {
        writeln!(table, "{x:.4},{y:.4},{}", (4.0 * x) as u32 + 4 * (2.0 * y) as u32).unwrap();
    }
    folder.file("fields.csv", &table)
}

/// Half of the people in eight fields teach a model, which says what to ask the others: the model, and how good it is and one of everybody.
fn asked_in_turn(folder: &Folder, model: &str) -> (Value, [f64; 2]) {
    let table = fields(folder);
    let [first, others] = ["first", "others"].map(|name| folder.path(&format!("{name}.parquet")));
    let [one, both] = ["one", "both"].map(|name| folder.path(&format!("{name}.json")));
    let asked = format!("privatize {table} --label field --classes 0,1,2,3,4,5,6,7 --epsilon 1 --seed 3");
    json(&format!("{asked} --part 1/2 -o {first}"));
    let trained = json(&format!("train {first} --model {model} --threads 1 -o {one}"));
    let second = json(&format!("{asked} --part 2/2 --prior {one} -o {others}"));
    assert_eq!(second["mechanism"], "rr-prior", "{second}");
    let learnt = json(&format!("train {first} {others} --model {model} -o {both}"));
    assert_eq!(number(&learnt, "reports").to_bits(), 1500f64.to_bits());
    let accuracy =
        |model: &str| number(&json(&format!("evaluate {model} {table} --label field")), "accuracy");
    (trained, [accuracy(&one), accuracy(&both)])
}

#[test]
fn a_representation_of_those_who_were_asked_first_says_what_to_ask_the_others() {
    let (_, [one, both]) = asked_in_turn(&Folder::new("representation-prior"), "representation");
    assert!(both > one && both > 0.7, "{one} and {both}");
}

#[test]
fn a_mixture_of_those_who_were_asked_first_says_what_to_ask_the_others() {
    let (trained, [one, both]) = asked_in_turn(&Folder::new("mixture-prior"), "auto --epochs 4");
    assert_eq!(trained["method"], "mixture", "{trained}");
    assert!(both > one && both > 0.7, "{one} and {both}");
}

#[test]
fn a_representation_does_not_depend_on_the_threads() {
    let folder = Folder::new("representation-threads");
    let (table, reports) = (fields(&folder), folder.path("reports.parquet"));
    json(&format!("privatize {table} --label field --epsilon 2 --seed 3 -o {reports}"));
    let bytes = ["1", "3"].map(|threads| {
        let model = folder.path(&format!("{threads}.json"));
        json(&format!("train {reports} --model representation --threads {threads} -o {model}"));
        fs::read(&model).unwrap()
    });
    assert!(bytes[0] == bytes[1]);
}

#[test]
fn stages_of_representations_can_filter_and_have_no_place_to_start_from() {
    let folder = Folder::new("representation-stages");
    let table = fields(&folder);
    let words = format!("simulate {table} --label field --epsilon 2 --repetitions 1 --method");
    let accuracy = |options: &str| {
        let compared = json(&format!("{words} representation-2st {options}"));
        number(&compared["outcomes"][0]["accuracy"], "value")
    };
    let (all, filtered) = (accuracy(""), accuracy("--filter"));
    assert!(all > 0.8 && filtered > 0.8 && all.to_bits() != filtered.to_bits(), "{all}, {filtered}");
    let refusal = "--warm-start: `representation-2st` solves for its model";
    refused(&format!("{words} default,representation-2st --warm-start"), 2, refusal);
}

#[test]
fn a_comparison_says_what_it_has_no_room_or_time_for_and_the_knob() {
    let folder = Folder::new("representation-knobs");
    let words = format!("simulate {} {COLOUR} --epsilon 2 --repetitions 1 --method", board(&folder, 3000));
    let words = words.replace("--classes dark,light", "");
    for (options, message) in [
        ("representation --memory 1", "and 1 MB are allowed: allow more (--memory), or "),
        ("representation --budget 0.00001", "are left (--budget)"),
        ("mlp --memory 1", "and 1 MB are allowed: allow more (--memory), make fewer features"),
    ] {
        refused(&format!("{words} {options}"), 1, message);
    }
    // Auto goes on without.
    let auto = json(&format!("{words} auto --memory 1"));
    assert!(number(&auto["outcomes"][0]["accuracy"], "value") > 0.8, "{auto}");
}

#[test]
fn what_was_not_tried_is_said_with_its_reason() {
    let folder = Folder::new("representation-untried");
    let table = board(&folder, 3000);
    let (reports, model) = (folder.path("reports.parquet"), folder.path("model.json"));
    json(&format!("privatize {table} {COLOUR} --epsilon 3 --seed 1 -o {reports}"));
    let train = format!("train {reports} --model auto --epochs 2 --force -o {model}");
    let trained = json(&format!("{train} --budget 0.000001"));
    assert_eq!(trained["model"], "softmax");
    let untried = trained["not_tried"].as_array().unwrap();
    assert_eq!(untried.len(), 4, "{trained}");
    assert!(untried.iter().all(|sort| sort["why"].as_str().unwrap().contains("--budget")), "{trained}");
    // Also if nobody asks: more memory would let it in
    let told = text(&format!("{train} --memory 1"));
    assert!(told.contains("Not tried: representation, a representation of 3000 people"), "{told}");
    assert!(json(&train).get("not_tried").is_none());
    // So few reports of so many classes that noise hides any in an average
    let mut many = String::from("x,group\n");
    (0..300).for_each(|person| writeln!(many, "{},{}", person % 30, person % 30).unwrap());
    let (many, hidden) = (folder.file("many.csv", &many), folder.path("many.parquet"));
    json(&format!("privatize {many} --label group --epsilon 1 --seed 1 -o {hidden}"));
    let told = text(&format!("train {hidden} --model auto --epochs 2 --force -o {model}"));
    assert!(told.contains("Not tried: forest, too few reports of so many classes"), "{told}");
    let table = tent(&folder, 2000);
    let train = format!("train {table} {HEIGHT} --model auto --force -o {model}");
    let told = text(&format!("{train} --explain"));
    assert!(told.contains("Not tried: representation, it is for classes only"), "{told}");
    assert!(!text(&train).contains("Not tried"));
}

/// Images of twelve by twelve pixels of one grey, the same for everybody, in two files of IDX: the table is the first.
fn greys(folder: &Folder, grey: u8, people: u32) -> String {
    let file = |dimensions: &[u32], bytes: Vec<u8>| {
        let sizes = dimensions.iter().flat_map(|n| n.to_be_bytes());
        [0, 0, 8, dimensions.len() as u8].into_iter().chain(sizes).chain(bytes).collect::<Vec<u8>>()
    };
    let labels = (0..people).map(|person| (person % 3) as u8).collect();
    fs::write(folder.path(&format!("{grey}-labels-idx1-ubyte")), file(&[people], labels)).unwrap();
    let table = folder.path(&format!("{grey}-images-idx3-ubyte"));
    fs::write(&table, file(&[people, 12, 12], vec![grey; 144 * people as usize])).unwrap();
    table
}

#[test]
fn images_that_are_all_alike_are_not_represented_and_auto_goes_on_without() {
    let folder = Folder::new("representation-alike");
    let (reports, model) = (folder.path("reports.parquet"), folder.path("model.json"));
    let alike = "all 120 people have the same features, so that nothing can be told from them";
    for grey in [0, 130] {
        let table = greys(&folder, grey, 120);
        json(&format!("privatize {table} --label label --epsilon 2 --seed 1 --force -o {reports}"));
        refused(&format!("train {reports} --model representation --force -o {model}"), 1, alike);
        let auto = format!("train {reports} --model auto --epochs 2 --explain --force -o {model}");
        let told = text(&auto);
        assert!(told.contains(&format!("Not tried: representation, {alike}")), "{told}");
    }
}

#[test]
fn people_most_of_whom_are_alike_are_represented() {
    let folder = Folder::new("representation-shares");
    // One person in five is tall, and mostly tall people are glad
    let mut table = String::from("size,mood\n");
    for person in 0..600 {
        let (tall, odd) = (person % 5 == 0, person % 7 == 0);
        let (size, mood) = (if tall { "tall" } else { "small" }, if tall == odd { "sad" } else { "glad" });
        writeln!(table, "{size},{mood}").unwrap();
    }
    let table = folder.file("sizes.csv", &table);
    let model = folder.path("model.json");
    json(&format!("train {table} --label mood --model representation -o {model}"));
    let found = json(&format!("evaluate {model} {table} --label mood"));
    assert!((number(&found, "accuracy") - 6.0 / 7.0).abs() < 0.01, "{found}");
}

#[test]
fn whom_memory_cannot_hold_is_told_how_much_they_take_and_what_can_do_without() {
    let folder = Folder::new("representation-crowd");
    let (colours, heights) = (board(&folder, 30_000), tent(&folder, 30_000));
    let out = folder.path("x.json");
    // Two numbers of four bytes, and twice a report of 12 and 8 for its only label
    let megabytes = (30_000u64 * (8 + 40)).div_ceil(1 << 20);
    let classes =
        format!("take {megabytes} MB, and 1 MB are allowed: allow more (--memory), or take --model softmax");
    for model in ["auto", "forest", "representation"] {
        let message =
            format!("--model {model} needs 30000 people with 2 features in memory, where they {classes}");
        refused(&format!("train {colours} --label colour --model {model} --memory 1 -o {out}"), 1, &message);
    }
    let message = "0 MB are allowed: allow more (--memory), or take --model linear";
    for model in ["auto", "cells"] {
        refused(&format!("train {heights} {HEIGHT} --model {model} --memory 0 -o {out}"), 1, message);
    }
    let coverage =
        format!("train {colours} --label colour --l2 1 --epochs 1 --coverage 0.9 --memory 0 -o {out}");
    refused(&coverage, 1, "--coverage needs ");
    // What is advised does without
    json(&format!("train {colours} --label colour --model softmax --l2 1 --epochs 1 --memory 0 -o {out}"));
}

#[test]
fn what_cannot_be_represented_is_refused_by_what_is_wrong_with_it() {
    let folder = Folder::new("representation-refused");
    let model = folder.path("model.json");
    let train =
        |table: &str, options: &str| format!("train {table} --model representation {options} -o {model}");
    // More than memory allows
    let talk = talk(&folder, "talk.csv", 600, 0);
    let reports = told(&folder, &talk, "a.parquet", 2.0);
    refused(&train(&reports, "--memory 20"), 1, "MB of memory, most of all for features and the directions");
    refused(
        &train(&reports, "--memory 20"),
        1,
        "and 20 MB are allowed: allow more (--memory), or take fewer features",
    );
    let many = board(&folder, 4000);
    let kernel = "most of all for the kernel of 1000 landmarks, and 20 MB are allowed: allow more (--memory), or take fewer people";
    refused(&train(&many, "--label colour --memory 20"), 1, kernel);
    // Columns that never change
    let mut same = String::from("x,y,colour\n");
    (0..200).for_each(|person| writeln!(same, "1,2,{}", ["dark", "light"][person % 2]).unwrap());
    let same = folder.file("same.csv", &same);
    refused(&train(&same, "--label colour"), 1, "all 200 people have the same features");
    // Too few people
    let few = board(&folder, 12);
    refused(&train(&few, "--label colour"), 1, "people are too few");
    // A class that nobody reports
    let board = board(&folder, 400);
    let reports = folder.path("grey.parquet");
    let classes = "--classes dark,grey,light --mechanism rr";
    json(&format!("privatize {board} --label colour {classes} --epsilon 12 --seed 1 -o {reports}"));
    refused(&train(&reports, ""), 1, "class `grey` is in no report");
    let auto = text(&format!("train {reports} --model auto --epochs 2 --explain -o {model}.auto"));
    assert!(auto.contains("Not tried: representation, class `grey` is in no report"), "{auto}");
    // Reports of another task
    let other = folder.path("other.parquet");
    json(&format!("privatize {board} {COLOUR} --epsilon 12 --seed 1 -o {other}"));
    refused(
        &train(&format!("{reports} {other}"), ""),
        1,
        "one task has 3 classes, the other 2, and not the same",
    );
    let mut narrow = String::from("x,colour\n");
    (0..40).for_each(|person| writeln!(narrow, "{person},{}", ["dark", "light"][person % 2]).unwrap());
    let (narrow, second) = (folder.file("narrow.csv", &narrow), folder.path("narrow.parquet"));
    json(&format!("privatize {narrow} {COLOUR} --epsilon 12 --seed 1 -o {second}"));
    let differ = "the tasks have different public columns: `y` of numbers in one, no more in the other";
    refused(&train(&format!("{other} {second}"), ""), 1, differ);
    // Options that do not go together
    refused(&format!("train {other} --model softmax --cache {model}.d -o {model}"), 2, "--cache");
    refused(&train(&other, &format!("--cache {board}")), 1, "cannot be made");
}
