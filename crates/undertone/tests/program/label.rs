//! `mechanism label`.

use crate::run::{close, json, text};

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
        let realised = facts["realised_epsilon"].as_f64().unwrap();
        let line = "realised loss, rounded up      ";
        assert!(
            shown.contains(&format!("{line}0.99999999999")) || shown.contains(&format!("{line}1\n")),
            "{shown}"
        );
        assert!(realised <= 1.0 && realised > 1.0 - 1e-9, "{realised}");
        assert!(shown.contains("33.337839"), "{shown}");
    }
}
