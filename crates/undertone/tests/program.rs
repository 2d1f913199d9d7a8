//! The program as its users and their scripts meet it.

use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

fn undertone(words: &str) -> Output {
    command(words).output().unwrap()
}

fn command(words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
    command.args(words.split_whitespace());
    command
}

/// What a run that succeeds prints as JSON.
fn json(words: &str) -> Value {
    let output = undertone(&format!("{words} --json"));
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What a run that succeeds prints for people.
fn text(words: &str) -> String {
    let output = undertone(words);
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A run that has to fail with `code`, print nothing and say `message`.
#[track_caller]
fn refused(words: &str, code: i32, message: &str) {
    let output = undertone(words);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{words}: {errors}");
    assert!(output.stdout.is_empty(), "{words}");
    assert!(errors.contains(message), "{words}: {errors}");
}

#[track_caller]
fn close(value: &Value, expected: f64, tolerance: f64) {
    let value = value.as_f64().unwrap();
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected}");
}

/// A path in the temporary folder at which there is nothing.
fn fresh(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("undertone-{}-{name}", std::process::id()));
    let _ = fs::remove_file(&path);
    path
}

#[test]
fn a_label_mechanism_has_the_probabilities_of_its_closed_form() {
    let facts = json("mechanism label --kind rr --classes 10 --epsilon 1");
    let e = 1f64.exp();
    // p = e^ε/(e^ε + 9), q = 1/(e^ε + 9); a = (1{k ∈ S} - q)/(p - q)
    let (p, q) = (e / (e + 9.0), 1.0 / (e + 9.0));
    for (key, expected) in [
        ("p_true", p),
        ("p_other", q),
        ("in_value", (1.0 - q) / (p - q)),
        ("out_value", -q / (p - q)),
        ("trace_variance", (p * (1.0 - p) + 9.0 * q * (1.0 - q)) / (p - q).powi(2)),
        ("expected_report_bits", 4.0),
        ("realised_epsilon", 1.0),
    ] {
        close(&facts[key], expected, 1e-12 * expected.abs().max(1.0) * 10.0);
    }
    assert!(facts["realised_epsilon"].as_f64().unwrap() <= 1.0);
    assert_eq!((&facts["kind"], &facts["classes"]), (&"rr".into(), &10.into()));
    assert_eq!((&facts["epsilon"], &facts["set_size"]), (&1.0.into(), &1.into()));
    // All 2^64 words are used: truth + 9·other
    let words = |key: &str| facts[key].as_str().unwrap().parse::<u128>().unwrap();
    assert_eq!(words("p_true_words") + 9 * words("p_other_words"), 1 << 64);
}

#[test]
fn worst_case_second_moments_at_ten_classes_are_the_known_ones() {
    for (kind, expected) in [
        ("rr", 47.51),
        ("subset", 33.36),
        ("subset-paper", 34.58),
        ("bits-paper", 38.83),
        ("bits", 38.71),
        ("unary", 40.18),
        ("oue", 38.83),
    ] {
        let facts = json(&format!("mechanism label --kind {kind} --classes 10 --epsilon 1"));
        close(&facts["worst_case_second_moment"], expected, 0.005);
        close(&facts["lower_bound_second_moment"], 33.34, 0.005);
        assert_eq!(facts["set_size"].is_null(), ["bits-paper", "bits", "unary", "oue"].contains(&kind));
    }
}

#[test]
fn the_size_of_the_sets_can_be_chosen() {
    let facts = json("mechanism label --kind subset --classes 10 --epsilon 1 --set-size 4");
    let e = 1f64.exp();
    assert_eq!(facts["set_size"], 4);
    close(&facts["p_true"], 4.0 * e / (4.0 * e + 6.0), 1e-12);
    close(&facts["p_other"], (4.0 - 4.0 * e / (4.0 * e + 6.0)) / 9.0, 1e-12);
    assert!(facts["p_other_words"].is_null() && facts.get("top").is_none());
}

#[test]
fn a_prior_keeps_the_labels_that_are_worth_naming() {
    let facts = json("mechanism label --kind rr-prior --prior 0.5,0.3,0.2 --epsilon 1");
    assert_eq!((&facts["k"], &facts["classes"]), (&2.into(), &3.into()));
    assert_eq!(facts["top"], serde_json::json!([0, 1]));
    close(&facts["p_correct"], 0.8 / (1.0 + (-1f64).exp()), 1e-12);
    close(&facts["p_true"], 1.0 / (1.0 + (-1f64).exp()), 1e-12);

    let certain = json("mechanism label --kind rr-prior --prior 0,1,0 --epsilon 1");
    assert_eq!((&certain["top"], &certain["realised_epsilon"]), (&serde_json::json!([1]), &0.0.into()));
    assert_eq!(certain["p_true_words"], (1u128 << 64).to_string());
    assert_eq!(certain["worst_case_second_moment"], 1.0);

    let top = json("mechanism label --kind rr-top-k --classes 5 --top 3,0 --epsilon 1");
    assert_eq!((&top["top"], &top["k"]), (&serde_json::json!([0, 3]), &2.into()));
    assert!(top.get("p_correct").is_none());
}

#[test]
fn the_mechanism_is_laid_open_for_people_too() {
    for kind in ["rr", "subset", "subset-paper", "bits-paper", "bits", "unary", "oue"] {
        let words = format!("mechanism label --kind {kind} --classes 10 --epsilon 1");
        let (facts, shown) = (json(&words), text(&words));
        assert!(shown.contains("18446744073709551616"));
        assert!(shown.contains(facts["p_true_words"].as_str().unwrap()), "{shown}");
        assert!(shown.contains("realised loss, rounded up      0.99999999999"), "{shown}");
        assert!(shown.contains("33.337839"), "{shown}");
    }
}

#[test]
fn a_plan_ranks_the_mechanisms_by_their_risk_bound() {
    let plan = json("plan --classes 10 --epsilon 1 --n 10000 --radius 2 --lipschitz 3");
    let mechanisms = plan["mechanisms"].as_array().unwrap();
    let kinds: Vec<&str> = mechanisms.iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["subset", "subset-paper", "bits", "bits-paper", "oue", "unary", "rr"]);
    for entry in mechanisms {
        // R·L·√(second moment / n)
        let moment = entry["second_moment"].as_f64().unwrap();
        close(&entry["risk_bound"], 6.0 * (moment / 1e4).sqrt(), 1e-12);
        assert!(moment >= plan["lower_bound"].as_f64().unwrap());
    }
    close(&mechanisms[0]["second_moment"], 33.36, 0.005);
    close(&plan["lower_bound"], 33.34, 0.005);
    close(&plan["lower_bound_risk"], 6.0 * (33.338_f64 / 1e4).sqrt(), 1e-4);
    assert_eq!(plan["choice"], "subset");
    assert_eq!(json("plan --classes 2 --epsilon 1 --n 10")["choice"], "rr");
    assert!(text("plan --classes 10 --epsilon 1 --n 10000").contains("Choice: subset, with sets of 3"));
}

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
        ("mechanism label --kind rr-top-k --classes 3 --top 0,3 --epsilon 1", "label 3 is outside 0..3"),
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
fn the_demonstration_repeats_itself_only_under_a_seed_and_says_so() {
    assert_eq!(text("demo --seed 7"), text("demo --seed 7"));
    assert!(text("demo --seed 7").contains("seed 7, for simulation only"));
    let (first, second) = (json("demo"), json("demo"));
    assert_eq!(first["randomness"], "operating system");
    assert_ne!(first["shares"], second["shares"]);
}

#[test]
fn the_demonstration_tells_the_whole_story() {
    let story = text("demo --seed 1");
    for part in
        ["The question", "The promise", "(simulated)", "12,960 devices", "95 % intervals", "The audit"]
    {
        assert!(story.contains(part), "{part}: {story}");
    }
    assert!(story.contains("✓ the promise is kept"));
    let facts = json("demo --seed 1");
    assert_eq!((&facts["devices"], &facts["covered"]), (&12_960.into(), &5.into()));
    assert_eq!(facts["audit"]["verdict"], "kept");
    close(&facts["audit"]["exact"], 1.0, 1e-9);
    close(&facts["shares"][0]["truth"], 4320.0 / 12960.0, 1e-12);
}

#[test]
fn the_demonstration_covers_the_truth_and_errs_as_expected() {
    let mut covered = 0;
    for seed in 0..20 {
        let facts = json(&format!("demo --epsilon 0.5 --seed {seed}"));
        covered += facts["covered"].as_u64().unwrap();
        for share in facts["shares"].as_array().unwrap() {
            let [low, high, truth] = ["low", "high", "truth"].map(|key| share[key].as_f64().unwrap());
            assert_eq!(share["covered"], low <= truth && truth <= high);
        }
        let comparison = facts["comparison"].as_array().unwrap();
        assert_eq!(comparison.len(), 3);
        for entry in comparison {
            let spread = entry["error_standard_error"].as_f64().unwrap();
            close(&entry["error"], entry["exact_error"].as_f64().unwrap(), 5.0 * spread);
        }
    }
    // 100 intervals at 95 %: 5σ is 11
    assert!(covered >= 84, "{covered} of 100");
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
    for command in ["", "demo", "plan", "mechanism", "mechanism label"] {
        let help = text(&format!("{command} --help"));
        assert!(help.contains("Example") && help.contains("undertone "), "{help}");
    }
    for command in ["demo", "plan", "mechanism label"] {
        assert!(text(&format!("{command} --help")).contains("--json"));
    }
}
