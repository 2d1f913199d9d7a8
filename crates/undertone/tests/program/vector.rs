//! `mechanism vector`.

use crate::run::{close, fresh, json, refused, text};
use std::fs;

/// The variances of a unit vector in so many dimensions at this ε, of coordinate Laplace, l2-Laplace, Duchi, PrivUnit and
/// the analytic Gaussian at δ = 10^-6, then the best cap.
const TABLE: [(u32, &str, [f64; 6]); 6] = [
    (3, "0.5", [288.0, 192.0, 65.68, 63.67, 779.1, 0.1244]),
    (3, "3", [8.0, 5.3, 3.88, 1.48, 28.6, 0.6351]),
    (6, "1", [288.0, 168.0, 39.62, 34.48, 428.3, 0.1679]),
    (11, "2", [242.0, 132.0, 27.47, 16.51, 218.9, 0.2390]),
    (21, "1", [3528.0, 1848.0, 149.83, 129.31, 1499.2, 0.0876]),
    (101, "3", [9067.6, 4578.7, 191.69, 74.13, 962.9, 0.1154]),
];

#[test]
fn variances_of_unit_vectors_are_the_known_ones() {
    for (dimension, epsilon, [laplace, l2_laplace, duchi, privunit, gaussian, cap]) in TABLE {
        for (kind, delta, expected, digit) in [
            ("laplace", "", laplace, 0.1),
            ("l2-laplace", "", l2_laplace, 0.1),
            ("duchi", "", duchi, 0.01),
            ("privunit", "", privunit, 0.01),
            ("gaussian", "--delta 1e-6", gaussian, 0.1),
        ] {
            let words =
                format!("--kind {kind} --dimension {dimension} --radius 1 --epsilon {epsilon} {delta}");
            let facts = json(&format!("mechanism vector {words}"));
            // half a unit of the printed digit, and the rounding of noise scales to the grid
            close(&facts["variance_at_radius"], expected, 0.5001 * digit + 2e-6 * expected);
            if kind == "privunit" {
                close(&facts["cap"], cap, 0.5001e-4);
                let codebook = json(&format!("mechanism vector {}", words.replace("privunit", "codebook")));
                let [ours, best] =
                    [&codebook, &facts].map(|facts| facts["variance_at_zero"].as_f64().unwrap());
                assert!(ours > best && ours < 1.02 * best, "{ours} against {best}");
            }
        }
    }
}

#[test]
fn noise_is_calibrated_to_the_diameter() {
    // 2R√P/ε in l1; 2R/μ and 2R/√(2ρ) in l2
    for (words, scale) in [
        ("--kind laplace --epsilon 2", 2.0 * 3.0 * 2.0 / 2.0),
        ("--kind l2-laplace --epsilon 2", 2.0 * 3.0 / 2.0),
        ("--kind gdp --mu 0.5", 2.0 * 3.0 / 0.5),
        ("--kind gaussian --epsilon 1 --delta 1e-5", 2.0 * 3.0 / 0.268_051_123_2),
        ("--kind discrete-gaussian --rho 0.125", 2.0 * 3.0 / 0.5),
    ] {
        let facts = json(&format!("mechanism vector --dimension 4 --radius 3 {words}"));
        close(&facts["noise_scale"], scale, 1e-6 * scale);
        let variance = facts["variance_at_radius"].as_f64().unwrap();
        let factor = if words.contains("l2-laplace") {
            20.0
        } else if words.contains("laplace") {
            8.0
        } else {
            4.0
        };
        assert!((variance / (factor * scale * scale) - 1.0).abs() < 2e-6, "{words}: {variance}");
    }
    // E|estimate - g|² of a direction mechanism falls by |g|²
    let codebook = json("mechanism vector --kind codebook --dimension 4 --radius 3 --epsilon 1");
    let zero = codebook["variance_at_zero"].as_f64().unwrap();
    close(&codebook["variance_at_radius"], zero - 9.0, 1e-9);
}

#[test]
fn the_promise_is_shown_as_given_and_so_is_what_may_be_sent() {
    for (kind, words, promise, bytes) in [
        ("laplace", "--epsilon 1", [Some(1.0), None, None, None], Some(80)),
        ("codebook", "--epsilon 1", [Some(1.0), None, None, None], Some(17)),
        ("gaussian", "--epsilon 1 --delta 1e-6", [Some(1.0), Some(1e-6), None, None], Some(80)),
        ("gdp", "--mu 2", [None, None, Some(2.0), None], Some(80)),
        ("discrete-gaussian", "--rho 0.5", [None, None, None, Some(0.5)], Some(80)),
        ("l2-laplace", "--epsilon 1", [Some(1.0), None, None, None], None),
        ("duchi", "--epsilon 1", [Some(1.0), None, None, None], None),
        ("privunit", "--epsilon 1", [Some(1.0), None, None, None], None),
    ] {
        let words = format!("mechanism vector --kind {kind} --dimension 10 --radius 1 {words}");
        let (facts, shown) = (json(&words), text(&words));
        assert_eq!(
            (&facts["kind"], &facts["dimension"], &facts["radius"]),
            (&kind.into(), &10.into(), &1.0.into())
        );
        for (key, value) in ["epsilon", "delta", "mu", "rho"].into_iter().zip(promise) {
            assert_eq!(facts["promise"][key].as_f64(), value, "{words}");
        }
        assert_eq!((&facts["report_bytes"], &facts["device_safe"]), (&bytes.into(), &bytes.is_some().into()));
        assert_eq!(shown.contains("MAY LEAVE A DEVICE"), bytes.is_none(), "{shown}");
        assert_eq!(facts["integers"].as_object().unwrap().is_empty(), bytes.is_none());
        assert!(shown.contains("← this one") && shown.contains("Promise"), "{shown}");
    }
}

#[test]
fn a_promise_in_the_wrong_currency_is_refused_with_what_to_do() {
    for (words, message) in [
        ("--kind gaussian --epsilon 1", "--delta is missing"),
        ("--kind privunit --epsilon 1 --delta 1e-6", "leave --delta out"),
        ("--kind laplace --epsilon 1 --delta 1e-6", "leave --delta out"),
        ("--kind gdp --epsilon 1", "gdp keeps no promise of pure ε: it takes --mu"),
        ("--kind discrete-gaussian --mu 1", "it takes --rho"),
        ("--kind codebook --mu 1", "it takes --epsilon alone"),
        ("--kind gaussian --mu 1", "it takes --epsilon and --delta"),
        ("--kind laplace", "the promise is missing: --kind laplace takes --epsilon alone"),
        ("--kind gaussian --delta 1e-6", "--epsilon is missing"),
        ("--kind gdp --mu 1 --epsilon 1", "one promise is expected"),
        ("--kind gdp --mu 0", "mu is 0, but has to be positive and finite"),
        ("--kind gaussian --epsilon 1 --delta 1", "delta is 1, but has to lie strictly between 0 and 1"),
        ("--kind discrete-gaussian --rho nan", "rho is NaN, but has to be positive and finite"),
        ("--kind gdp --mu 1e-30", "outside the range of exact arithmetic"),
        ("--kind codebook --epsilon 1e-30", "too small for a report to say anything"),
        ("--kind best --epsilon 1", "'best'"),
    ] {
        refused(&format!("mechanism vector --dimension 4 --radius 1 {words}"), 2, message);
    }
    for (words, message) in [
        ("--dimension 0 --radius 1", "the dimension is 0, but has to lie between 1 and 1048576"),
        ("--dimension 2000000 --radius 1", "the dimension is 2000000"),
        ("--dimension -3 --radius 1", "'-3'"),
        ("--dimension 3 --radius -1", "the radius is -1, but has to lie between"),
        ("--dimension 3 --radius nan", "the radius is NaN"),
        ("--dimension 3 --radius 1e200", "the radius is 1e200"),
    ] {
        refused(&format!("mechanism vector --kind laplace --epsilon 1 {words}"), 2, message);
    }
}

#[test]
fn the_drawing_shows_the_pure_kinds_and_the_one_asked_about() {
    let path = fresh("vector.svg");
    for (words, line, mark) in [
        ("--kind codebook --epsilon 1", "codebook", "codebook at ε = 1"),
        ("--kind gdp --mu 1", "gdp at the μ that ε implies", "gdp at μ = 1"),
        (
            "--kind gaussian --epsilon 1 --delta 0.001",
            "gaussian at δ = 0.001",
            "gaussian at (ε = 1, δ = 0.001)",
        ),
        ("--kind discrete-gaussian --rho 0.5", "discrete-gaussian at the ρ that ε implies", "at ρ = 0.5"),
    ] {
        json(&format!("mechanism vector --dimension 6 --radius 1 {words} --svg {} --force", path.display()));
        let svg = fs::read_to_string(&path).unwrap();
        let pure =
            ["laplace", "l2-laplace (simulated)", "duchi (simulated)", "privunit (simulated)", "codebook"];
        for name in pure.into_iter().chain([line, mark]) {
            assert!(svg.contains(name), "{words}: {name}");
        }
    }
    fs::remove_file(&path).unwrap();
}
