//! The program as its users and their scripts meet it: one file for each command, and here what all have in common.

mod audit;
mod averages;
mod bad_input;
mod collector;
mod convert;
mod curator;
mod deep;
mod demo;
mod insurance;
mod label;
mod learning;
mod limits;
mod networks;
mod number;
mod numbers;
mod one_round;
mod online;
mod pilot;
mod plan;
mod privatize;
mod representation;
mod reproduce;
mod run;
mod survey;
mod survey_models;
mod task;
mod vector;

use run::{command, fresh, json, refused, text};
use std::fs;
use std::process::Stdio;

const FAMILIES: [&str; 5] =
    ["mechanism label", "mechanism number", "mechanism vector", "mechanism public", "mechanism central"];

#[test]
fn bad_values_are_named_and_end_with_two() {
    for command in ["demo", "plan --classes 10 --n 5", "mechanism label --kind rr --classes 10"] {
        for (value, shown) in [("-1", "-1"), ("0", "0"), ("nan", "NaN"), ("inf", "inf"), ("-inf", "-inf")] {
            let message = format!("epsilon is {shown}, but has to be positive and finite");
            refused(&format!("{command} --epsilon {value}"), 2, &message);
        }
        refused(&format!("{command} --epsilon one"), 2, "'one'");
        refused(&format!("{command} --epsilon 1e-30"), 2, "too small for a report to say anything");
    }
    for (words, message) in [
        ("plan --classes 1 --epsilon 1 --n 5", "1 label(s) given, at least two are needed"),
        ("plan --classes -4 --epsilon 1 --n 5", "'-4'"),
        ("plan --classes 9999999999 --epsilon 1 --n 5", "9999999999 classes are too many"),
        ("plan --classes 3 --epsilon 1 --n 0", "'0' for '--n <N>'"),
        ("plan --classes 3 --epsilon 1 --n 5 --radius -2", "'-2' for '--radius <R>'"),
        ("plan --classes 3 --epsilon 1 --n 5 --lipschitz inf", "'inf' for '--lipschitz <L>'"),
        ("plan --classes 3 --epsilon 1", "--n"),
        ("mechanism label --kind rr --classes 1 --epsilon 1", "1 label(s) given"),
        ("mechanism label --kind rr --epsilon 1", "--classes"),
        ("mechanism label --kind best --classes 3 --epsilon 1", "'best'"),
        ("mechanism label --kind subset --classes 5 --epsilon 1 --set-size 0", "sets of 0 among 5 labels"),
        ("mechanism label --kind subset --classes 5 --epsilon 1 --set-size 5", "sets of 5 among 5 labels"),
        ("mechanism label --kind subset --classes 5 --epsilon 1 --set-size -1", "'-1'"),
        ("mechanism label --kind rr --classes 5 --epsilon 1 --set-size 2", "--set-size is for --kind subset"),
        ("mechanism label --kind rr-prior --prior 0.5,0.25 --epsilon 1", "the prior sums to 0.75"),
        ("mechanism label --kind rr-prior --prior 1.5,-0.5 --epsilon 1", "label 0 the probability 1.5"),
        ("mechanism label --kind rr-prior --prior 0.5,NaN --epsilon 1", "label 1 the probability NaN"),
        ("mechanism label --kind rr-prior --prior 0.5,half --epsilon 1", "'half'"),
        ("mechanism label --kind rr-prior --prior 1 --epsilon 1", "1 label(s) given"),
        ("mechanism label --kind rr-prior --prior 0.5,0.5 --classes 3 --epsilon 1", "--prior has 2 entries"),
        ("mechanism label --kind rr-prior --classes 3 --epsilon 1", "needs --prior"),
        ("mechanism label --kind rr-top-k --classes 3 --epsilon 1", "needs --top"),
        (
            "mechanism label --kind rr-top-k --classes 3 --top 0,3 --epsilon 1",
            "label 3 is not below the number of classes, 3",
        ),
        ("mechanism label --kind rr-top-k --classes 3 --top 1,1 --epsilon 1", "label 1 is named twice"),
        ("mechanism label --kind rr-prior --prior 1,0 --epsilon 1 --svg never.svg", "nothing to draw"),
        ("demo --seed x", "'x'"),
        ("nonsense", "'nonsense'"),
        ("", "Usage"),
    ] {
        refused(words, 2, message);
    }
}

#[test]
fn a_drawing_shows_every_mechanism_and_replaces_nothing_without_force() {
    let path = fresh("drawing.svg");
    let file = path.display();
    let plan = format!("plan --classes 10 --epsilon 1 --n 100 --svg {file}");
    assert!(text(&plan).contains(&format!("Drawn in {file}")));
    let svg = fs::read_to_string(&path).unwrap();
    assert!(svg.starts_with("<svg width=\"900\" height=\"600\""));
    for name in ["lower bound", "rr", "subset", "subset-paper", "bits-paper, oue", "bits", "unary", "ε = 1"]
    {
        assert!(svg.contains(name), "{name}");
    }
    fs::write(&path, "precious").unwrap();
    refused(&plan, 1, "--force replaces it");
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    let mechanism = format!("mechanism label --kind unary --classes 4 --epsilon 0.01 --svg {file}");
    refused(&mechanism, 1, "--force replaces it");
    // Nothing but JSON with --json
    json(&format!("{mechanism} --force"));
    assert!(fs::read_to_string(&path).unwrap().contains("unary at ε = 0.01"));
    fs::remove_file(&path).unwrap();
    refused(&format!("{plan}/nowhere.svg"), 1, "cannot be written");
}

#[test]
fn a_reader_who_leaves_early_is_no_failure() {
    let mut child = command("demo --seed 1").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn every_command_has_help_with_an_example() {
    const LEARNING: [&str; 11] = [
        "privatize",
        "train",
        "predict",
        "evaluate",
        "simulate",
        "simulate insurance",
        "reproduce convex",
        "reproduce online",
        "reproduce one-round",
        "reproduce limits",
        "reproduce deep",
    ];
    const TASK: [&str; 5] = ["task new", "task survey", "task show", "task check", "task id"];
    for command in ["", "demo", "plan", "mechanism", "convert", "audit", "reproduce"]
        .into_iter()
        .chain(FAMILIES)
        .chain(LEARNING)
        .chain(["task"])
        .chain(TASK)
    {
        let help = text(&format!("{command} --help"));
        assert!(help.contains("Example") && help.contains("undertone "), "{help}");
    }
    for command in
        ["demo", "plan", "convert", "audit"].into_iter().chain(FAMILIES).chain(LEARNING).chain(TASK)
    {
        assert!(text(&format!("{command} --help")).contains("--json"));
    }
}
