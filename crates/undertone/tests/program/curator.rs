//! A curator, who releases private models of true labels, and sets and intervals that hold the truth.

use crate::averages::{COLOUR, HEIGHT, board, places, tent};
use crate::learning::{Folder, number};
use crate::run::{json, refused, text, undertone};
use serde_json::Value;
use std::fmt::Write;
use std::fs;

/// A column of a board as a number
const HEIGHT_OF_X: &str = "--label x --low 0 --high 1";

/// The partition of a model of cells, without what its cells say.
fn partition(model: &str) -> Value {
    let model: Value = serde_json::from_str(&fs::read_to_string(model).unwrap()).unwrap();
    let number = &model["predictor"]["number"]["nonparametric"]["cells"]["partition"];
    let classes = &model["predictor"]["nonparametric"]["cells"]["partition"];
    let found = if number.is_null() { classes } else { number };
    assert!(!found.is_null());
    found.clone()
}

#[test]
fn a_curator_releases_classes_and_says_who_is_trusted() {
    let folder = Folder::new("curator-classes");
    let table = board(&folder, 12_000);
    let model = folder.path("model.json");
    for (trust, domain, method) in [
        // An even number of cells, so that none lies astride two fields
        ("label-central", "--width 0.125", "exponential mechanism"),
        ("full-central", "--width 0.125 --domain x=0..1,y=0..1", "votes of all cells"),
    ] {
        let words = format!("train {table} {COLOUR} --trust {trust} --epsilon 1 {domain} --seed 1 --force");
        let trained = json(&format!("{words} -o {model}"));
        assert_eq!((&trained["trust"], &trained["method"]), (&trust.into(), &method.into()));
        assert_eq!((&trained["simulation"], &trained["classes_from_labels"]), (&true.into(), &false.into()));
        let accuracy = number(&json(&format!("evaluate {model} {table} --label colour")), "accuracy");
        assert!(accuracy > 0.9, "{trust}: {accuracy}");
        let document = fs::read_to_string(&model).unwrap();
        assert!(document.contains(&format!("\"curator\":{{\"trust\":\"{trust}\",\"epsilon\":1.0}}")));
        // What claims another trust than it was learnt under is no model.
        let other = if trust == "label-central" { "full-central" } else { "label-central" };
        let lie =
            document.replacen(&format!("{{\"trust\":\"{trust}\""), &format!("{{\"trust\":\"{other}\""), 1);
        let lie = folder.file("lie.json", &lie);
        refused(&format!("evaluate {lie} {table} --label colour"), 1, "not how it was learnt");
        let told = text(&format!("{words} -o {model}"));
        assert!(told.contains(&format!("Trust: {trust}, a curator")) && told.contains("ε = 1"), "{told}");
        // Without a seed the noise is the system's.
        let told = text(&format!("{} -o {model}", words.replace("--seed 1", "")));
        assert!(!told.contains("simulation"), "{told}");
        json(&format!("predict {model} {table} --probabilities --force -o {}", folder.path("out.csv")));
    }
}

#[test]
fn a_curator_releases_numbers_with_bounds_or_a_moment() {
    let folder = Folder::new("curator-numbers");
    let table = tent(&folder, 12_000);
    let model = folder.path("model.json");
    let error = |words: &str| {
        let trained = json(&format!("train {table} --epsilon 1 --seed 3 --force {words} -o {model}"));
        let judged = json(&format!("evaluate {model} {table} --label height"));
        (trained, number(&judged, "rmse"))
    };
    for (words, method) in [
        (format!("{HEIGHT} --trust label-central"), "noisy sums"),
        (format!("{HEIGHT} --trust full-central --domain x=0..1,y=0..1"), "two-sided sums of all cells"),
        // E h² ≤ 4
        ("--label height --order 2 --moment 4 --trust label-central".into(), "noisy sums"),
        (
            "--label height --order 2 --moment 4 --trust full-central --domain x=0..1,y=0..1".into(),
            "two-sided sums of all cells",
        ),
    ] {
        let (trained, rmse) = error(&words);
        assert_eq!(trained["method"], method);
        // The best constant is off by about 0.5.
        assert!(rmse < 0.25, "{words}: {rmse}");
    }
    // Labels beyond the bounds are clipped, and their number is for the curator alone.
    let output = undertone(&format!(
        "train {table} --label height --low 0 --high 1 --trust label-central --epsilon 1 --force --json -o {model}"
    ));
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(note.contains("labels were clipped") && note.contains("for the curator alone"), "{note}");
    assert!(!String::from_utf8(output.stdout).unwrap().contains("clipped"));
}

#[test]
fn under_full_privacy_the_cells_are_the_same_wherever_people_are() {
    let folder = Folder::new("curator-occupancy");
    let corner = (0..900).fold(String::from("x,y,colour\n"), |table, _| table + "0.01,0.02,dark\n");
    let tables = [board(&folder, 900), folder.file("corner.csv", &corner)];
    let [spread, corner] = tables.map(|table| {
        let model = format!("{table}.json");
        json(&format!(
            "train {table} {COLOUR} --trust full-central --epsilon 1 --domain x=0..1,y=0..1 -o {model}"
        ));
        partition(&model)
    });
    assert_eq!(spread, corner);
    // What nobody said beforehand is not looked at.
    let table = folder.file("words.csv", "x,town,colour\n0.1,Ely,dark\n0.9,Rome,light\n,,dark\n");
    let model = folder.path("words.json");
    let trained = json(&format!(
        "train {table} {COLOUR} --trust full-central --epsilon 1 --domain x=0..1,town=Ely|Bath --width 0.5 -o {model}"
    ));
    assert_eq!((&trained["features"], &trained["cells"]), (&3.into(), &6.into()));
    // Words that no domain names have a cell of their own.
    json(&format!("predict {model} {table} -o {}", folder.path("words-out.csv")));
}

#[test]
fn bad_words_of_a_curator_are_refused() {
    let folder = Folder::new("curator-refused");
    let (table, model) = (board(&folder, 400), folder.path("model.json"));
    let reports = folder.path("reports.parquet");
    json(&format!("privatize {table} {COLOUR} --epsilon 1 --seed 1 -o {reports}"));
    refused(
        &format!("train {reports} --trust label-central --epsilon 1 -o {model}"),
        2,
        "reports come from devices, which trust nobody",
    );
    let full = "--trust full-central --epsilon 1";
    for (words, message) in [
        ("--trust label-central", "needs --epsilon"),
        ("--trust label-local --epsilon 1", "'label-local'"),
        ("--trust label-central --epsilon 0", "epsilon is 0"),
        ("--trust label-central --epsilon 1 --model forest", "releases cells, not --model forest"),
        ("--trust label-central --epsilon 1 --classes dark", "neither a file nor a list"),
        ("--trust label-central --epsilon 1 --classes dark,dark", "names `dark` twice"),
        ("--trust label-central --epsilon 1 --domain x=0..1", "is for --trust full-central"),
        ("--trust label-central --epsilon 1 --width 1", "the width of a cell is 1"),
        ("--trust label-central --epsilon 1 --width 1.5", "the width of a cell is 1.5"),
        ("--trust label-central --epsilon 1 --width nan", "the width of a cell is NaN"),
        ("--trust label-central --epsilon 1 --coverage 1", "strictly between 0 and 1"),
        (full, "needs --domain"),
        (&format!("{full} --domain x=1..0"), "the lower one first"),
        (&format!("{full} --domain x=0..1,y=0..1 --width 0.0001"), "at most 10 million"),
        (&format!("{full} --domain x=0..1 --coverage 0.9"), "one class and no probabilities"),
        ("--width 0.5", "--trust"),
        ("--trust label-central --epsilon 1 --order 3", "--moment"),
        (&format!("{full} --domain x=0..1,colour=dark|light"), "--domain colour: it is the label"),
        (&format!("{full} --domain x=0..1 --domain y=0..1,x=0..2"), "--domain names `x` twice"),
        (&format!("{full} --domain z=0..1"), "--domain z: "),
        (&format!("{full} --domain z=0..1"), "has no such column, but x, y, colour"),
        (&format!("{full} --domain x=0..1 --column y=skip"), "--column y: under full-central --domain"),
    ] {
        refused(&format!("train {table} --label colour {words} -o {model}"), 2, message);
    }
    for trust in ["--trust label-central", "--trust full-central --domain y=0..1"] {
        for (words, message) in [
            ("--order 1.5 --moment 1", "--order is 1.5, but has to be at least 2"),
            ("--order inf --moment 1", "--order is inf"),
            ("--order 2 --moment -10", "--moment is -10, but has to be positive"),
            ("--order 2 --moment nan", "--moment is NaN"),
            ("--low 1 --high 0", "1"),
            ("--low 0 --high 1 --width 1", "the width of a cell is 1"),
        ] {
            refused(&format!("train {table} --label x {trust} --epsilon 1 {words} -o {model}"), 2, message);
        }
        for option in [
            "--l2 0.1",
            "--method debiased",
            "--epochs 3",
            "--radius 1",
            "--start nothing.json",
            "--cache folder",
            "--checkpoints folder",
            "--retrain predicted",
            "--explain",
        ] {
            let (word, _) = option.split_once(' ').unwrap_or((option, ""));
            let words = format!("train {table} {HEIGHT_OF_X} {trust} --epsilon 1 {option} -o {model}");
            refused(&words, 2, &format!("have no use for {word}: leave it out"));
        }
        // Nothing is read, so that it does not matter what there is.
        let nowhere = folder.path("nowhere.csv");
        let words =
            format!("train {nowhere} --label x {trust} --epsilon 1 --order 2 --moment -10 -o {model}");
        refused(&words, 2, "--moment is -10");
    }
    let one = folder.file("one.csv", "x,colour\n0.1,dark\n0.2,dark\n");
    let words = "--trust label-central --epsilon 1";
    refused(&format!("train {one} --label colour {words} -o {model}"), 1, "at least two");
    let stranger = "--trust label-central --epsilon 1 --classes dark,green";
    refused(&format!("train {table} --label colour {stranger} -o {model}"), 1, "light");
    let nothing = folder.file("nothing.csv", "x,y\n0.1,1\n0.2,nan\n");
    let numbers = "--low 0 --high 2 --trust label-central --epsilon 1";
    refused(&format!("train {nothing} --label y {numbers} -o {model}"), 1, "row 2");
    assert!(!fs::exists(&model).unwrap());
}

/// A number on [0, 1) that no neighbour's tells anything about: bits of a person's number, mixed three times.
fn chance(person: u32) -> f64 {
    let mix = |bits: u32, factor: u32| (bits ^ (bits >> 16)).wrapping_mul(factor);
    let mixed = mix(mix(person, 0x045d_9f3b), 0x045d_9f3b);
    f64::from(mix(mixed, 1) >> 8) / f64::from(1 << 24)
}

/// A board on which one in five has the other colour, and a tent with heights off by up to a quarter, all from 0 to 2.
fn doubtful(folder: &Folder, people: std::ops::Range<u32>) -> [String; 2] {
    let (mut board, mut tent) = (String::from("x,y,colour\n"), String::from("x,y,height\n"));
    for (place, person) in places(people.end).zip(0u32..).skip(people.start as usize) {
        let chance = chance(person);
        let dark = ((place.0 < 0.5) == (place.1 < 0.5)) != (chance < 0.2);
        writeln!(board, "{:.4},{:.4},{}", place.0, place.1, if dark { "dark" } else { "light" }).unwrap();
        let height = 0.25 + 3.0 * (0.5 - (place.0 - 0.5).abs()) + 0.5 * (chance - 0.5);
        writeln!(tent, "{:.4},{:.4},{height:.4}", place.0, place.1).unwrap();
    }
    let name = |of: &str| format!("{of}{}.csv", people.start);
    [folder.file(&name("board"), &board), folder.file(&name("tent"), &tent)]
}

/// What is promised was held, and what is said about it is right.
fn held(model: &str, table: &str, label: &str, promised: f64) -> Value {
    let judged = json(&format!("evaluate {model} {table} --label {label}"));
    assert!((number(&judged, "coverage_promised") - promised).abs() < 1e-12);
    let slack = 5.0 * number(&judged, "coverage_standard_error");
    assert!(number(&judged, "coverage") > promised - slack, "{judged}");
    judged
}

#[test]
fn sets_and_intervals_hold_as_often_as_promised_on_people_who_were_not_asked() {
    let folder = Folder::new("coverage");
    let [[board, tent], [other_board, other_tent]] =
        [0..20_000, 20_000..40_000].map(|people| doubtful(&folder, people));
    let reports = |table: &str, label: &str| {
        let path = format!("{table}.parquet");
        json(&format!("privatize {table} {label} --epsilon 3 --seed 1 -o {path}"));
        path
    };
    let [asked, others] = [&board, &other_board].map(|table| reports(table, COLOUR));
    let model = folder.path("model.json");
    // Seven in ten is what the likeliest colour alone has; nineteen in twenty takes both.
    for (share, sizes) in [(0.7, 1.0..1.4), (0.95, 1.6..2.01)] {
        for kind in ["cells", "auto --epochs 1 --budget 0.05"] {
            let words = format!("train {asked} --model {kind} --coverage {share} --force");
            let trained = json(&format!("{words} -o {model}"));
            assert!((number(&trained, "coverage") - share).abs() < 1e-12, "{trained}");
            let judged = held(&model, &other_board, "colour", share);
            assert!(sizes.contains(&number(&judged, "set_size")), "{kind} {share}: {judged}");
            let told = json(&format!("evaluate {model} {others}"));
            let apart = number(&told, "coverage") - number(&judged, "coverage");
            // Label vectors are floats of 32 bits.
            assert!(apart.abs() < 5.0 * number(&told, "coverage_standard_error") + 1e-6, "{told}");
        }
    }
    assert!(text(&format!("evaluate {model} {board} --label colour")).contains("label in its set"));
    let out = folder.path("sets.csv");
    json(&format!("predict {model} {board} -o {out}"));
    let out = fs::read_to_string(out).unwrap();
    assert!(out.starts_with("prediction,probability,set\n") && out.contains(",dark|light\n"));
    let mut widths = Vec::new();
    for mechanism in ["hybrid-best", "bins"] {
        let how = format!("{HEIGHT} --mechanism {mechanism} --force");
        let [asked, others] = [&tent, &other_tent].map(|table| reports(table, &how));
        for kind in ["linear", "cells"] {
            json(&format!("train {asked} --model {kind} --coverage 0.8 --force -o {model}"));
            let judged = held(&model, &other_tent, "height", 0.8);
            let told = json(&format!("evaluate {model} {others}"));
            // Reports say what is held at least.
            let slack = 5.0 * number(&told, "coverage_standard_error");
            assert!(number(&told, "coverage") < number(&judged, "coverage") + slack, "{told} {judged}");
            // Those who were kept aside were sure of four in five, and the others are as many.
            assert!(number(&told, "coverage") > 0.8 - slack, "{told} {judged}");
            assert_eq!(
                (&told["coverage_at_least"], &judged["coverage_at_least"]),
                (&true.into(), &false.into())
            );
            widths.push(number(&judged, "interval_width"));
        }
    }
    // Bins say how often errors are large, and not only how large their squares are; of the errors of a line about a tent no more. With 2500
    // people kept aside a forest gains by them about what it costs to be sure of it whatever the law.
    assert!(widths[2] <= widths[0], "{widths:?}");
    let out = folder.path("intervals.csv");
    json(&format!("predict {model} {tent} -o {out}"));
    assert!(fs::read_to_string(out).unwrap().starts_with("prediction,low,high\n"));
}

#[test]
fn a_curators_sets_and_intervals_hold_as_often_as_promised() {
    let folder = Folder::new("curator-coverage");
    let [board, tent] = doubtful(&folder, 0..20_000);
    let model = folder.path("model.json");
    for (words, sizes) in [("0.7", 1.0..1.4), ("0.95", 1.6..2.01)] {
        json(&format!(
            "train {board} {COLOUR} --trust label-central --epsilon 1 --coverage {words} --seed 5 --force -o {model}"
        ));
        let judged = held(&model, &board, "colour", words.parse().unwrap());
        assert!(sizes.contains(&number(&judged, "set_size")), "{judged}");
    }
    for domain in ["--trust label-central", "--trust full-central --domain x=0..1,y=0..1"] {
        json(&format!(
            "train {tent} --label height --low -1 --high 3 {domain} --epsilon 1 --coverage 0.9 --seed 5 --force -o {model}"
        ));
        let judged = held(&model, &tent, "height", 0.9);
        // Not much wider than what holds nine in ten: the quantile is seen and not bounded.
        assert!(number(&judged, "coverage") < 0.97, "{domain}: {judged}");
    }
}

#[test]
fn what_is_predicted_is_drawn_over_one_column_or_two() {
    let folder = Folder::new("picture");
    let (board, tent) = (board(&folder, 3000), tent(&folder, 3000));
    let [colours, heights] = ["colours.json", "heights.json"].map(|name| folder.path(name));
    json(&format!("train {board} --label colour --model cells -o {colours}"));
    json(&format!("train {tent} {HEIGHT} --model cells -o {heights}"));
    let draw = |model: &str, table: &str, over: &str| {
        let (out, svg) = (folder.path("out.csv"), folder.path("out.svg"));
        let told = text(&format!("predict {model} {table} -o {out} --picture {svg} {over} --force"));
        assert!(told.contains(&format!("Drawn in {svg}")), "{told}");
        fs::read_to_string(svg).unwrap()
    };
    // Regions of two classes over both columns, which need no names
    let regions = draw(&colours, &board, "");
    for part in ["colour over x and y", ">dark<", ">light<", "#d55e00", "#0072b2"] {
        assert!(regions.contains(part), "{part} is not in {regions}");
    }
    assert!(draw(&colours, &board, "--over y").contains(">chance<"));
    assert!(draw(&heights, &tent, "--over y,x").contains("height over y and x"));
    assert!(draw(&heights, &tent, "--over x").contains("<polyline"));
    for (over, message) in [
        ("--over x,y,x", "one or two columns, not 3"),
        ("--over x,x", "same column twice"),
        ("--over z", "no column `z`"),
    ] {
        let never = folder.path("never.csv");
        refused(&format!("predict {colours} {board} -o {never} --picture {never}.svg {over}"), 2, message);
    }
}
