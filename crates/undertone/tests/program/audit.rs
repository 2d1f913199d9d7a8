//! `audit`, and the mechanisms that only the auditor and the careful look at.

use crate::run::{close, json, refused, text};

#[test]
fn randomized_response_bits_and_subsets_are_proved_to_lose_most_of_what_they_promise() {
    for kind in ["rr", "oue", "subset"] {
        // A bound that holds with less confidence exceeds the truth now and then.
        let words = format!(
            "audit label --kind {kind} --classes 10 --epsilon 1 --trials 100000 --seed 7 --confidence 0.999999"
        );
        let findings = json(&words);
        let finding = &findings[0];
        assert_eq!(finding["verdict"], "kept");
        assert_eq!(finding["mechanism"], format!("label {kind}"));
        close(&finding["claimed"], 1.0, 0.0);
        close(&finding["exact"], 1.0, 1e-12);
        let bound = finding["lower_bound"].as_f64().unwrap();
        assert!((0.93..1.0).contains(&bound), "{kind}: {bound}");
    }
}

#[test]
fn all_mechanisms_are_audited_at_once() {
    let findings = json("audit --all --trials 300 --seed 1");
    let findings = findings.as_array().unwrap();
    assert_eq!(findings.len(), 59);
    let of = |verdict: &str| findings.iter().filter(|finding| finding["verdict"] == verdict).count();
    // So few trials leave some that cannot be listed without proof.
    assert_eq!((of("kept") + of("not-refuted"), of("broken"), of("simulation-only")), (56, 0, 3));
    assert!(of("kept") > 45);
    for key in ["mechanism", "claimed", "exact", "lower_bound", "verdict"] {
        assert!(findings.iter().all(|finding| finding.get(key).is_some()), "{key}");
    }
}

#[test]
fn a_promise_of_which_nothing_was_seen_is_not_called_kept() {
    let unseen = json("audit vector --kind gdp --dimension 3 --radius 1 --mu 1 --trials 1 --seed 1");
    assert_eq!(unseen[0]["verdict"], "not-refuted");
    let seen = json("audit vector --dimension 3 --radius 1 --epsilon 1 --delta 1e-6 --trials 20000 --seed 1");
    assert_eq!((&seen[0]["mechanism"], &seen[0]["verdict"]), (&"vector gaussian".into(), &"kept".into()));
}

#[test]
fn an_audit_says_what_it_looked_at() {
    let said = text("audit number --kind bins --low 0 --high 1 --epsilon 2 --trials 2000 --seed 1");
    assert!(said.contains("number bins") && said.contains("ε = 2") && said.contains("kept"), "{said}");
}

#[test]
fn an_audit_of_nothing_or_of_nonsense_is_bad_usage() {
    refused("audit", 2, "which mechanism?");
    refused("audit --all --confidence 1", 2, "strictly between 0 and 1");
    refused("audit --all --trials 0", 2, "at least one trial");
    refused("audit --all --epsilon nan", 2, "epsilon is NaN");
    refused("audit label --kind rr --classes 1 --epsilon 1", 2, "at least two");
    refused("audit --all label --kind rr --classes 3 --epsilon 1", 2, "not both");
    refused("audit label --kind laplace --classes 3 --epsilon 1", 2, "laplace");
}

#[test]
fn mechanisms_with_public_randomness_are_laid_open() {
    let bit = json("mechanism public --kind rejection-bit --low 0 --high 1 --epsilon 1");
    close(&bit["variance_at_high"], 4.82, 0.005);
    assert!(bit["realised_epsilon"].as_f64().unwrap() <= 1.0);
    let index = json("mechanism public --kind gen-prot --low 0 --high 1 --epsilon 1 --strings 8");
    // The loss tends to twice that of the noise, not to ten times.
    let inner = index["inner_epsilon"].as_f64().unwrap();
    assert!(inner > 0.5 && inner < 0.52, "{inner}");
    let one = json("mechanism public --kind one-coordinate --low 0 --high 1 --epsilon 1 --dimension 4");
    assert_eq!(one["integers"]["dimension"], "4");
    refused(
        "mechanism public --kind gen-prot --low 0 --high 1 --epsilon 1 --strings 1",
        2,
        "1 public strings",
    );
}

#[test]
fn central_mechanisms_are_laid_open_and_say_whom_they_trust() {
    let choice = json("mechanism central --kind exponential --epsilon 1 --counts 10,8,5");
    close(&choice["probabilities"][0], 0.689_672_086_1, 1e-10);
    assert!(choice["trust"].as_str().unwrap().contains("central"));
    let histogram = json("mechanism central --kind histogram --epsilon 0.5 --counts 3,4");
    // Scale 4: 2a/(1 - a)² with a = e^(-1/4)
    close(&histogram["variance"], 31.833_85, 1e-4);
    assert_eq!(histogram, {
        let mut without = json("mechanism central --kind histogram --epsilon 0.5");
        without["counts"] = serde_json::json!([3, 4]);
        without
    });
    // What answers about cells needs none: scales 2T/ε, 4T/ε and 4T/((n₀ + 1)·ε) with T = 1, n₀ = 2, ε = 1/2.
    for (kind, change, scale) in [
        ("cell-sum", "label", 4.0),
        ("two-sided-sums", "record", 8.0),
        ("floored-means", "record", 8.0 / 3.0),
    ] {
        let open = json(&format!("mechanism central --kind {kind} --epsilon 0.5"));
        assert_eq!(open["change"], change);
        close(&open["noise_scale"], scale, 1e-6);
        close(&open["variance"], 2.0 * scale * scale, 1e-4);
        assert!(open["integers"]["scale_numerator"].is_string(), "{open}");
        let told = text(&format!("mechanism central --kind {kind} --epsilon 0.5"));
        assert!(
            told.contains(&format!("for the change of one {change}")) && told.contains("scale"),
            "{told}"
        );
        refused(&format!("mechanism central --kind {kind} --epsilon 0.5 --counts 3,4"), 2, "leave them out");
    }
    let votes = json("mechanism central --kind cell-votes --epsilon 0.5");
    let rate = |name: &str| votes["integers"][name].as_str().unwrap().parse::<f64>().unwrap();
    assert!((rate("rate_numerator") / rate("rate_denominator") - 0.25).abs() < 1e-12);
}
