//! `mechanism number`.

use crate::run::{close, fresh, json, refused, text};
use std::fs;

const KINDS: [&str; 7] =
    ["laplace", "one-bit", "piecewise", "hybrid", "bins", "piecewise-best", "hybrid-best"];

#[test]
fn worst_variances_on_the_unit_interval_are_the_known_ones() {
    let table = [
        ("0.25", [128.0, 64.67, 85.22, 64.67, 64.67, 85.06, 64.67]),
        ("0.5", [32.0, 16.67, 21.22, 16.67, 16.67, 21.06, 16.67]),
        ("1", [8.0, 4.683, 5.224, 4.289, 4.683, 5.066, 4.267]),
        ("2", [2.0, 1.724, 1.228, 1.042, 0.9999, 1.092, 0.9817]),
        ("4", [0.5, 1.076, 0.2414, 0.219, 0.1767, 0.1618, 0.1557]),
    ];
    for (epsilon, variances) in table {
        for (kind, expected) in KINDS.into_iter().zip(variances) {
            let words = format!("mechanism number --kind {kind} --low -1 --high 1 --epsilon {epsilon}");
            let facts = json(&words);
            assert_eq!(facts["kind"], kind);
            // half a unit of the last of four digits
            close(&facts["variance_worst"], expected, 5e-4 * expected);
            let [worst, low, mid] = ["variance_worst", "variance_at_low", "variance_at_mid"]
                .map(|key| facts[key].as_f64().unwrap());
            assert!(low <= worst * (1.0 + 1e-12) && mid <= worst * (1.0 + 1e-12), "{words}");
            let promise: f64 = epsilon.parse().unwrap();
            assert!(facts["realised_epsilon"].as_f64().unwrap() <= promise);
            close(&facts["realised_epsilon"], promise, 1e-9);
        }
    }
}

#[test]
fn the_best_kind_is_the_default_and_is_named() {
    for (epsilon, kind) in
        [("0.25", "one-bit"), ("0.5", "one-bit"), ("1", "hybrid-best"), ("4", "hybrid-best")]
    {
        let words = format!("mechanism number --low -1 --high 1 --epsilon {epsilon}");
        let facts = json(&words);
        assert_eq!(facts["kind"], kind);
        assert_eq!(facts, json(&format!("{words} --kind best")));
        let shown = text(&words);
        assert!(shown.starts_with(&format!("{kind}: ")) && shown.contains("(chosen"), "{shown}");
        // the first of the table
        let (_, table) = shown.split_once("bits a report\n").unwrap();
        assert!(
            table.trim_start().starts_with(kind) && table.lines().next().unwrap().ends_with("← this one")
        );
    }
}

#[test]
fn an_interval_a_hundred_times_as_wide_has_ten_thousand_times_the_variance() {
    for kind in KINDS {
        let narrow = json(&format!("mechanism number --kind {kind} --low 0 --high 1 --epsilon 1"));
        let wide = json(&format!("mechanism number --kind {kind} --low -30 --high 70 --epsilon 1"));
        for key in ["variance_worst", "variance_at_low", "variance_at_mid"] {
            let expected = 1e4 * narrow[key].as_f64().unwrap();
            close(&wide[key], expected, 1e-9 * expected);
        }
        assert_eq!(narrow["integers"], wide["integers"]);
        assert_eq!(
            (&wide["low"], &wide["high"], &wide["epsilon"]),
            (&(-30.0).into(), &70.0.into(), &1.0.into())
        );
    }
}

#[test]
fn the_integers_that_run_are_those_of_the_closed_forms() {
    let integer = |facts: &serde_json::Value, name: &str| -> u128 {
        facts["integers"][name].as_str().unwrap().parse().unwrap()
    };
    let bit = json("mechanism number --kind one-bit --low -1 --high 1 --epsilon 1");
    // 2·l + 2^20·s = 2^64
    assert_eq!(2 * integer(&bit, "low_words") + (integer(&bit, "step_words") << 20), 1 << 64);
    assert_eq!(
        (&bit["report_least"], &bit["report_most"], &bit["report_bits"]),
        (&0.into(), &1.into(), &1.into())
    );
    // ±C with C = (e + 1)/(e - 1)
    let e = 1f64.exp();
    close(&bit["decoder"][1]["value"], (e + 1.0) / (e - 1.0), 1e-9);
    close(&bit["variance_at_low"], ((e + 1.0) / (e - 1.0)).powi(2) - 1.0, 1e-9);

    let bins = json("mechanism number --kind bins --low 0 --high 1 --epsilon 4");
    assert_eq!((integer(&bins, "bins"), &bins["report_bits"]), (5, &3.into()));
    assert_eq!(integer(&bins, "truth_words") + 4 * integer(&bins, "lie_words"), 1 << 64);

    let laplace = json("mechanism number --kind laplace --low 0 --high 1 --epsilon 0.5");
    let scale = integer(&laplace, "scale_numerator") as f64 / integer(&laplace, "scale_denominator") as f64;
    assert!((scale / f64::from(1 << 21) - 1.0).abs() < 1e-9);
    assert!(laplace["report_least"].is_null() && laplace["report_most"].is_null());
    assert_eq!((&laplace["report_bits"], &laplace["grid_steps"]), (&64.into(), &(1 << 20).into()));

    let hybrid = json("mechanism number --kind hybrid --low -1 --high 1 --epsilon 0.5");
    // Below the crossover only the bit speaks.
    assert_eq!(integer(&hybrid, "piecewise_words"), 0);
    assert!(hybrid["integers"].get("window_words").is_none());
}

#[test]
fn the_mechanism_is_laid_open_for_people_and_beside_all_others() {
    for kind in KINDS {
        let words = format!("mechanism number --kind {kind} --low -1 --high 1 --epsilon 1");
        let (facts, shown) = (json(&words), text(&words));
        for integer in facts["integers"].as_object().unwrap().values() {
            assert!(shown.contains(integer.as_str().unwrap()), "{shown}");
        }
        for part in ["e^ε = 2.718282", "Decoder", "Exact variances"].into_iter().chain(KINDS) {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(shown.contains(&facts["variance_worst"].to_string()), "{shown}");
    }
}

#[test]
fn bad_intervals_are_named_and_end_with_two() {
    for (words, message) in [
        ("--low 1 --high 1 --epsilon 1", "the interval from 1 to 1 is empty"),
        ("--low 2 --high 1 --epsilon 1", "the interval from 2 to 1 is"),
        ("--low nan --high 1 --epsilon 1", "the interval from NaN to 1 is"),
        ("--low 0 --high inf --epsilon 1", "the interval from 0 to inf is"),
        ("--low zero --high 1 --epsilon 1", "'zero'"),
        ("--low -1e200 --high 1e200 --epsilon 1", "the interval from -1e200 to 1e200"),
        ("--low 0 --high 1 --epsilon 0", "epsilon is 0, but has to be positive and finite"),
        ("--low 0 --high 1 --epsilon 1e-30", "too small for a report to say anything"),
        ("--low 0 --high 1", "--epsilon"),
        ("--kind staircase --low 0 --high 1 --epsilon 1", "'staircase'"),
    ] {
        refused(&format!("mechanism number {words}"), 2, message);
    }
}

#[test]
fn the_drawing_shows_every_kind() {
    let path = fresh("number.svg");
    let words = format!("mechanism number --low -1 --high 1 --epsilon 1 --svg {}", path.display());
    json(&words);
    let svg = fs::read_to_string(&path).unwrap();
    for name in KINDS.into_iter().chain(["hybrid-best at ε = 1", "worst-case variance"]) {
        assert!(svg.contains(name), "{name}");
    }
    refused(&words, 1, "--force replaces it");
    fs::remove_file(&path).unwrap();
}
