//! What averages, cells and their limits are not asked for without an answer: out of range, missing, or never seen before.

use crate::averages::{COLOUR, HEIGHT, board, places};
use crate::learning::{Folder, number};
use crate::run::{json, refused, text, undertone};
use serde_json::Value;
use std::fmt::Write;
use std::fs;

const PLAN: &str = "plan --trust label-local --n 10000 --epsilon 1 --dimension 2";

#[test]
fn a_smoothness_beyond_one_or_not_above_zero_is_no_smoothness() {
    for task in ["classification", "regression", "heavy"] {
        for (beta, shown) in
            [("0", "0"), ("-0.5", "-0.5"), ("1.0001", "1.0001"), ("nan", "NaN"), ("inf", "inf")]
        {
            let message = format!("β is {shown}, but has to be above 0 and at most 1");
            refused(&format!("{PLAN} --task {task} --beta {beta}"), 2, &message);
        }
        assert!(number(&json(&format!("{PLAN} --task {task} --beta 1")), "rate") < 1.0);
    }
}

#[test]
fn beyond_a_margin_of_the_dimension_there_is_an_upper_bound_only() {
    let plan = format!("{PLAN} --task classification --beta 0.5");
    // γ·β = d is still a theorem.
    for (gamma, only) in [(4.0, false), (4.001, true), (9.0, true)] {
        let told = text(&format!("{plan} --gamma {gamma}"));
        assert_eq!(told.contains("upper bound only"), only, "γ = {gamma}: {told}");
    }
    // A curator's rate has no lower bound there either.
    let central = plan.replace("label-local", "label-central");
    assert!(text(&format!("{central} --gamma 9")).contains("upper bound only"));
}

#[test]
fn one_class_is_nothing_to_learn_or_to_plan() {
    refused(&format!("{PLAN} --task classification --beta 1 --classes 1"), 2, "at least two are needed");
    let folder = Folder::new("one-class");
    let table = folder.file("one.csv", "x,colour\n0.1,dark\n0.2,dark\n0.3,dark\n");
    let model = folder.path("model.json");
    for words in ["--model cells", "--model auto", "--trust label-central --epsilon 1"] {
        refused(&format!("train {table} --label colour {words} -o {model}"), 1, "at least two classes");
    }
    refused(&format!("simulate {table} --label colour --method cells"), 1, "at least two classes");
    refused(&format!("privatize {table} --label colour --epsilon 1 -o {model}"), 1, "at least two classes");
    assert!(!fs::exists(&model).unwrap());
}

#[test]
fn cells_as_wide_as_everything_are_none() {
    let folder = Folder::new("wide-cells");
    let (table, model) = (board(&folder, 400), folder.path("model.json"));
    for width in ["1", "1.5", "0", "-0.25", "inf", "nan"] {
        for trust in ["label-central", "full-central --domain x=0..1,y=0..1"] {
            let words = format!("--label colour --epsilon 1 --trust {trust} --width {width}");
            refused(&format!("train {table} {words} -o {model}"), 2, "the width of a cell is");
        }
    }
    let words = "--label colour --epsilon 1 --trust label-central --width 0.5";
    assert_eq!(json(&format!("train {table} {words} -o {model}"))["cells"], 4);
}

/// Heights of people in two towns on the same street.
fn towns(folder: &Folder) -> String {
    let mut table = String::from("x,town,height\n");
    for ((x, y), person) in places(4000).zip(0u32..) {
        let (town, base) = if person % 2 == 0 { ("Ely", 0.2) } else { ("Bath", 1.2) };
        writeln!(table, "{x:.4},{town},{:.4}", base + 0.4 * x + 0.1 * y).unwrap();
    }
    folder.file("towns.csv", &table)
}

#[test]
fn a_town_that_nobody_came_from_is_none_of_the_others_and_still_has_a_prediction() {
    let folder = Folder::new("unknown-town");
    let table = towns(&folder);
    let strangers = folder.file("strangers.csv", "x,town\n0.5,Ely\n0.5,Bath\n0.5,York\n0.5,\n0.5,York\n");
    let (model, out) = (folder.path("model.json"), folder.path("out.csv"));
    for kind in ["linear", "cells", "neighbours", "forest", "planes"] {
        json(&format!("train {table} {HEIGHT} --model {kind} --force -o {model}"));
        json(&format!("predict {model} {strangers} --force -o {out}"));
        let predicted: Vec<f64> =
            fs::read_to_string(&out).unwrap().lines().skip(1).map(|line| line.parse().unwrap()).collect();
        let [ely, bath, york, nowhere, again] = predicted[..] else { panic!("{predicted:?}") };
        assert!((ely - 0.45).abs() < 0.2 && (bath - 1.45).abs() < 0.2, "{kind}: {predicted:?}");
        // Between what is known, and the same each time
        assert!(york > 0.2 && york < 1.8 && nowhere > 0.2 && nowhere < 1.8, "{kind}: {predicted:?}");
        assert_eq!(york.to_bits(), again.to_bits(), "{kind}");
    }
    // A curator who keeps records private has said beforehand which towns there are.
    let words = "--trust full-central --epsilon 1 --seed 1 --domain x=0..1,town=Ely|Bath --width 0.5";
    json(&format!("train {table} {HEIGHT} {words} --force -o {model}"));
    json(&format!("predict {model} {strangers} --force -o {out}"));
    assert_eq!(fs::read_to_string(&out).unwrap().lines().count(), 6);
}

/// A board with a hole for each of some people, and how many they are.
fn with_holes(folder: &Folder, name: &str, whole: &str) -> (String, u64) {
    let mut holes = 0;
    let whole = fs::read_to_string(whole).unwrap();
    let table: String = whole
        .lines()
        .enumerate()
        .map(|(row, line)| {
            if row % 7 == 3 {
                holes += 1;
                format!("{},\n", line.rsplit_once(',').unwrap().0)
            } else {
                format!("{line}\n")
            }
        })
        .collect();
    (folder.file(name, &table), holes)
}

#[test]
fn rows_without_a_label_are_left_out_where_nothing_is_private_and_refused_by_devices() {
    let folder = Folder::new("unlabelled");
    let (model, out) = (folder.path("model.json"), folder.path("out.parquet"));
    let classes = (board(&folder, 3000), "--label colour", COLOUR);
    let numbers = (towns(&folder), HEIGHT, HEIGHT);
    for (place, (whole, label, device)) in [classes, numbers].into_iter().enumerate() {
        let (table, holes) = with_holes(&folder, "holes.csv", &whole);
        let rows = fs::read_to_string(&table).unwrap().lines().count() as u64 - 1;
        let words = format!("train {table} {label} --model cells --force -o {model} --json");
        let run = undertone(&words);
        let (told, errors) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        assert!(run.status.success() && errors.contains(&format!("{holes} rows have no `")), "{errors}");
        let trained: Value = serde_json::from_str(&told).unwrap();
        assert_eq!((&trained["reports"], &trained["trust"]), (&(rows - holes).into(), &"none".into()));
        let column = label.split_whitespace().nth(1).unwrap();
        let judged = json(&format!("evaluate {model} {table} --label {column}"));
        assert_eq!(judged["rows"], rows - holes, "{judged}");
        let compared =
            json(&format!("simulate {table} {label} --method cells --epsilon inf --repetitions 1"));
        assert_eq!(compared["left_out"], holes);
        let asked = number(&compared, "people") + number(&compared, "judged_by");
        assert_eq!(asked as u64, rows - holes, "{compared}");
        // Row 3 is the first with a hole, and nobody may see who is silent.
        refused(&format!("privatize {table} {device} --epsilon 1 -o {out}"), 1, "row 3");
        let curator = "--trust label-central --epsilon 1";
        refused(&format!("train {table} {label} {curator} --force -o {model}"), 1, "row 3");
        // What is there but is no label is told with its row, after the holes.
        if place == 1 {
            let worse = fs::read_to_string(&table).unwrap() + "0.5,Ely,tall\n";
            let worse = folder.file("worse.csv", &worse);
            let message = format!("row {}: the label is `tall`", rows + 1);
            refused(&format!("simulate {worse} {label} --method cells"), 1, &message);
        }
    }
}

#[test]
fn a_model_says_whether_somebody_saw_the_labels() {
    let folder = Folder::new("who-saw");
    let (table, reports) = (board(&folder, 3000), folder.path("reports.parquet"));
    json(&format!("privatize {table} {COLOUR} --epsilon 2 --seed 1 -o {reports}"));
    let model = folder.path("model.json");
    for kind in ["cells", "neighbours", "forest"] {
        for (words, trust) in [(reports.clone(), "label-local"), (format!("{table} --label colour"), "none")]
        {
            let trained = json(&format!("train {words} --model {kind} --force -o {model}"));
            assert_eq!(trained["trust"], trust);
            let written: Value = serde_json::from_str(&fs::read_to_string(&model).unwrap()).unwrap();
            let own = &written["predictor"]["nonparametric"][kind]["trust"];
            assert_eq!(own, trust, "{kind}: {written:.200}");
        }
    }
    assert_eq!(json(&format!("train {table} --label colour --epochs 1 --force -o {model}"))["trust"], "none");
}
