//! Averages over people who are alike, and representations: `train --model cells`, `neighbours`, `forest`, `representation` and `auto`.

use crate::learning::{Folder, number};
use crate::run::{json, refused, text};
use serde_json::Value;
use std::fmt::Write;
use std::fs;

/// People on the unit square: the place of each, spread evenly by two irrational steps.
pub(crate) fn places(people: u32) -> impl Iterator<Item = (f64, f64)> {
    let spread = |person: u32, step: f64| (f64::from(person) * step).fract();
    (0..people).map(move |person| (spread(person, 0.754_877_666), spread(person, 0.569_840_291)))
}

/// Whether they lie in a dark field of a board of two by two: no line tells dark from light.
fn is_dark((x, y): (f64, f64)) -> bool {
    (x < 0.5) == (y < 0.5)
}

/// A table of the colours of their fields.
pub(crate) fn board(folder: &Folder, people: u32) -> String {
    let mut table = String::from("x,y,colour\n");
    for place in places(people) {
        let colour = if is_dark(place) { "dark" } else { "light" };
        writeln!(table, "{:.4},{:.4},{colour}", place.0, place.1).unwrap();
    }
    folder.file("board.csv", &table)
}

/// A table of heights: a tent, whose best line is flat.
pub(crate) fn tent(folder: &Folder, people: u32) -> String {
    let mut table = String::from("x,y,height\n");
    for (x, y) in places(people) {
        let height = 4.0 * (0.5 - (x - 0.5).abs()) * (1.0 - 0.2 * y);
        writeln!(table, "{x:.4},{y:.4},{height:.4}").unwrap();
    }
    folder.file("tent.csv", &table)
}

pub(crate) const COLOUR: &str = "--label colour --classes dark,light";
pub(crate) const HEIGHT: &str = "--label height --low 0 --high 2";

/// Reports of the first half of the people and of the second.
fn halves(folder: &Folder, table: &str, label: &str, epsilon: f64) -> [String; 2] {
    [1, 2].map(|part| {
        let reports = folder.path(&format!("{part}.parquet"));
        json(&format!(
            "privatize {table} {label} --epsilon {epsilon} --seed {part} --part {part}/2 -o {reports}"
        ));
        reports
    })
}

/// What auto tried, the line first.
fn candidates(trained: &Value) -> &Vec<Value> {
    trained["candidates"].as_array().unwrap()
}

/// How often a model that auto tried errs.
fn candidate(trained: &Value, model: &str) -> f64 {
    let found = candidates(trained).iter().find(|candidate| candidate["model"] == model);
    number(&found.unwrap_or_else(|| panic!("{model} in {trained}"))["loss"], "value")
}

#[test]
fn averages_learn_what_no_line_separates_and_auto_finds_that_out_from_reports() {
    let folder = Folder::new("averages-classes");
    let table = board(&folder, 12_000);
    let [reports, others] = halves(&folder, &table, COLOUR, 2.0);
    let accuracy = |name: &str| {
        let model = folder.path(&format!("{name}.json"));
        let epochs = if name == "softmax" { "--epochs 2" } else { "" };
        let trained = json(&format!("train {reports} --model {name} {epochs} -o {model}"));
        assert_eq!(trained["model"], name);
        let truth = json(&format!("evaluate {model} {table} --label colour"));
        let told = json(&format!("evaluate {model} {others}"));
        let apart = number(&told, "accuracy") - number(&truth, "accuracy");
        assert!(apart.abs() < 5.0 * number(&told, "accuracy_standard_error"), "{name}: {apart}");
        let held_out = &trained["held_out_accuracy"];
        let (value, slack) = (number(held_out, "value"), 5.0 * number(held_out, "standard_error"));
        if name == "softmax" {
            // No line is better than the best, nor worse than its opposite; which corner one cuts off differs from part to part
            assert!((1.0 / 3.0 - slack..2.0 / 3.0 + slack).contains(&value), "{held_out}");
        } else {
            let apart = value - number(&truth, "accuracy");
            assert!(apart.abs() < slack + 0.02, "{name}: {held_out}");
        }
        number(&truth, "accuracy")
    };
    let line = accuracy("softmax");
    // The best line cuts off a dark corner at two thirds of both sides: 1/2 + 1/4 - 1/18 - 1/36
    assert!(line < 0.67, "{line}");
    let others = ["cells", "neighbours", "forest", "planes", "representation"];
    let mut best = 0f64;
    for name in others {
        let found = accuracy(name);
        assert!(found > 0.9, "{name}: {found}");
        best = best.max(found);
    }
    let model = folder.path("auto.json");
    let trained = json(&format!("train {reports} --model auto --epochs 2 -o {model}"));
    for name in others {
        // Auto does not try planes
        assert!(name == "planes" || candidate(&trained, name) < 0.2, "{trained}");
    }
    assert!(candidate(&trained, "softmax") > 0.3, "{trained}");
    // What is kept is as good as the best of them, and a line has no part in it.
    let weights: Vec<f64> = candidates(&trained).iter().map(|one| number(one, "weight")).collect();
    assert!(
        weights[0].abs() < 1e-12 && (0.9..1.0 + 1e-9).contains(&weights.iter().sum::<f64>()),
        "{trained}"
    );
    let truth = json(&format!("evaluate {model} {table} --label colour"));
    let slack = 5.0 * number(&truth, "accuracy_standard_error");
    assert!(number(&truth, "accuracy") > best - slack, "{truth} {best}");
    // All of 6000 people judged, not an eighth of them: what a report says of a guess is one of two values that are
    // (e^ε + 1)/(e^ε - 1) = 1.31 apart, so that it scatters by at most half of that
    let (held_out, truth) = (&trained["held_out_accuracy"], number(&truth, "accuracy"));
    let error = number(held_out, "standard_error");
    assert!(error < 0.66 / 6000f64.sqrt() && (number(held_out, "value") - truth).abs() < 5.0 * error + 0.02);
    let next = folder.path("next.json");
    refused(&format!("train {reports} --start {model} -o {next}"), 1, "holds a mixture");
}

#[test]
fn a_model_of_averages_is_told_about_and_predicts_the_same_each_time() {
    let folder = Folder::new("averages-told");
    let table = board(&folder, 3000);
    let (reports, model) = (folder.path("reports.parquet"), folder.path("model.json"));
    json(&format!("privatize {table} {COLOUR} --epsilon 3 --seed 1 -o {reports}"));
    // A representation takes a fraction of a second, for which there is no time.
    let told = text(&format!("train {reports} --model auto --budget 0.001 --explain --epochs 2 -o {model}"));
    assert!(told.contains("Not tried: representation, expected to take"), "{told}");
    // Mixed of cells and of neighbours, which both know the board, but for those next to other fields
    for part in [
        "Model: auto, mixture of ",
        " % cells",
        " % even chances",
        "softmax",
        " of the mixture",
        "also chose the model",
    ] {
        assert!(told.contains(part), "{part} is not in {told}");
    }
    assert!(
        !text(&format!("train {reports} --model auto --epochs 2 --force -o {model}")).contains("softmax")
    );
    // Time for cells alone: a line knows nothing of the board, and what is kept alone is the model of its name.
    let alone = folder.path("alone.json");
    let trained = json(&format!("train {reports} --model auto --budget 0.00006 --epochs 2 -o {alone}"));
    assert!(trained["model"] == "cells" && candidates(&trained).len() == 2, "{trained}");
    let told = text(&format!("train {reports} --model cells --force -o {model}"));
    assert!(fs::read(&alone).unwrap() == fs::read(&model).unwrap());
    assert!(told.contains("    depth   error on one in eight") && !told.contains("flattering"), "{told}");
    let predicted = ["a.csv", "b.csv"].map(|name| {
        let path = folder.path(name);
        json(&format!("predict {model} {table} --probabilities -o {path}"));
        fs::read_to_string(path).unwrap()
    });
    assert_eq!(predicted[0], predicted[1]);
    let right = predicted[0].lines().skip(1).zip(places(3000));
    let right = right.filter(|(line, place)| line.starts_with("dark") == is_dark(*place)).count();
    assert!(right > 2600, "{right}");
    // Of other columns it knows nothing, and a line has nothing to start from.
    let other = folder.file("other.csv", "x,z\n0.1,0.2\n");
    refused(&format!("predict {model} {other} -o {}", folder.path("c.csv")), 1, "`y`");
    let next = folder.path("next.json");
    refused(&format!("train {reports} --start {model} -o {next}"), 1, "--model softmax cannot start from it");
    let broken = fs::read_to_string(&model).unwrap().replacen("{\"classes\":2}", "{\"classes\":3}", 1);
    let broken = folder.file("broken.json", &broken);
    refused(&format!("predict {broken} {table} -o {}", folder.path("d.csv")), 1, "not a model");
}

#[test]
fn averages_follow_a_number_that_no_line_does() {
    let folder = Folder::new("averages-numbers");
    let table = tent(&folder, 12_000);
    let [reports, others] = halves(&folder, &table, HEIGHT, 2.0);
    let error = |name: &str| {
        let model = folder.path(&format!("{name}.json"));
        let trained = json(&format!("train {reports} --model {name} -o {model}"));
        assert_eq!(trained["model"], name);
        let truth = json(&format!("evaluate {model} {table} --label height"));
        let told = json(&format!("evaluate {model} {others}"));
        let apart = (number(&told, "mse") - number(&truth, "mse")).abs();
        assert!(
            apart < 5.0 * number(&told, "mse_standard_error") + number(&told, "hidden_variance"),
            "{name}: {told}"
        );
        number(&truth, "rmse")
    };
    let line = error("linear");
    for name in ["cells", "neighbours", "forest", "planes"] {
        let found = error(name);
        assert!(found < 0.5 * line, "{name}: {found} against {line}");
    }
    let model = folder.path("auto.json");
    let trained = json(&format!("train {reports} --model auto -o {model}"));
    let chosen = trained["model"].as_str().unwrap();
    assert!(["cells", "neighbours", "forest"].contains(&chosen), "{trained}");
    assert!(candidate(&trained, "cells") < candidate(&trained, "linear"), "{trained}");
    let [auto, named] = [&model, &folder.path(&format!("{chosen}.json"))].map(|m| fs::read(m).unwrap());
    assert!(auto == named);
    let told = text(&format!("train {reports} --model auto --explain --force -o {model}"));
    assert!(told.contains("linear") && told.contains("one in eight who were kept aside:"), "{told}");
    let predicted = folder.path("predicted.csv");
    json(&format!("predict {model} {table} -o {predicted}"));
    let predicted = fs::read_to_string(predicted).unwrap();
    assert!(predicted.lines().skip(1).all(|line| (0.0..=2.0).contains(&line.parse::<f64>().unwrap())));
}

#[test]
fn auto_keeps_the_line_where_there_is_one() {
    let folder = Folder::new("averages-line");
    let mut table = String::from("x,y,height\n");
    for (x, y) in places(3000) {
        writeln!(table, "{x:.4},{y:.4},{:.4}", x + y).unwrap();
    }
    let table = folder.file("slope.csv", &table);
    let model = folder.path("model.json");
    let trained = json(&format!("train {table} {HEIGHT} --model auto -o {model}"));
    assert_eq!((&trained["model"], &trained["method"]), (&"linear".into(), &"ridge".into()));
    assert_eq!(trained["candidates"].as_array().unwrap().len(), 4);
}

#[test]
fn options_that_averages_have_no_use_for_are_refused() {
    let folder = Folder::new("averages-refused");
    let table = board(&folder, 400);
    let model = folder.path("model.json");
    for (words, message) in [
        ("--model cells --l2 0.1", "--model cells has no use for --l2"),
        ("--model forest --method naive", "--model forest has no use for --method"),
        ("--model neighbours --epochs 3", "--model neighbours has no use for --epochs"),
        ("--model auto --l2 0.1", "--model auto has no use for --l2"),
        ("--model representation --start a.json", "--model representation has no use for --start"),
        ("--model auto --budget 0", "positive"),
        ("--model trees", "'trees'"),
    ] {
        refused(&format!("train {table} --label colour {words} -o {model}"), 2, message);
    }
    let few = board(&folder, 60);
    refused(&format!("train {few} --label colour --model cells -o {model}"), 1, "too few");
    let few = board(&folder, 3);
    for (sort, message) in [("softmax", "give λ (train --l2)"), ("auto", "some aside, as a choice needs")] {
        refused(&format!("train {few} --label colour --model {sort} -o {model}"), 1, message);
    }
}
