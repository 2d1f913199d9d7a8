//! `reproduce`.

use crate::run::{fresh, json, refused, text};
use serde_json::Value;
use std::fs;

fn law<'a>(findings: &'a Value, regime: &str, method: &str) -> &'a Value {
    let laws = findings["laws"].as_array().unwrap();
    laws.iter().find(|law| law["regime"] == regime && law["method"] == method).unwrap()
}

#[test]
fn the_laws_in_classes_people_and_epsilon_come_out_as_predicted() {
    let findings = json("reproduce convex --quick --seed 1");
    assert_eq!(findings["laws"].as_array().unwrap().len(), 25);
    let slope = |regime, method| {
        let measured = &law(&findings, regime, method)["measured"];
        (measured["slope"].as_f64().unwrap(), measured["standard_error"].as_f64().unwrap())
    };
    for regime in ["classes", "people", "high-privacy", "medium-privacy", "low-privacy"] {
        for method in ["subset (ours)", "Algorithm 1 (bits)", "randomized response", "Duchi (interactive)"] {
            let predicted = law(&findings, regime, method)["predicted"].as_f64().unwrap();
            let (measured, error) = slope(regime, method);
            // The excess is a share of the bound that changes a little with K, besides the noise.
            assert!(
                (measured - predicted).abs() < 0.1 + 4.0 * error,
                "{regime}, {method}: {measured} ± {error}"
            );
        }
    }
    // √K against K, 1/√n, 1/ε
    for (regime, order) in [("classes", 0.5), ("people", -0.5), ("high-privacy", -1.0)] {
        let (measured, error) = slope(regime, "subset (ours)");
        assert!((measured - order).abs() < 0.1 + 2.0 * error, "{regime}: {measured} ± {error}");
    }
    assert!(slope("classes", "randomized response").0 > slope("classes", "Algorithm 1 (bits)").0 + 0.2);
    for point in findings["points"].as_array().unwrap().iter().filter(|point| !point["risk_bound"].is_null())
    {
        let number = |name: &str| point[name].as_f64().unwrap();
        assert!(number("excess_risk") - 5.0 * number("standard_error") < number("risk_bound"), "{point}");
    }
}

#[test]
fn pictures_tables_and_a_page_are_written_and_nothing_is_replaced_without_force() {
    let folder = fresh("reproduce");
    let _ = fs::remove_dir_all(&folder);
    let command = format!("reproduce convex --quick --seed 2 --repetitions 2 -o {}", folder.display());
    assert!(text(&command).contains("convex.html"));
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let page = read("convex.html");
    assert!(
        page.contains("seed 2") && page.contains("randomized response") && page.matches("<svg").count() == 3
    );
    // a header, and four methods and the bound in each of the twelve settings
    assert_eq!(read("convex-points.csv").lines().count(), 1 + 12 * 5);
    assert_eq!(read("convex-slopes.csv").lines().count(), 26);
    for axis in ["classes", "people", "epsilon"] {
        let picture = read(&format!("convex-{axis}.svg"));
        for line in ["lower bound", "subset (ours)", "Algorithm 1 (bits)", "Duchi (interactive)"] {
            assert!(picture.contains(line), "{axis}: {line}");
        }
    }
    fs::write(folder.join("convex.html"), "precious").unwrap();
    refused(&command, 1, "--force replaces it");
    assert_eq!(read("convex.html"), "precious");
    text(&format!("{command} --force"));
    assert!(read("convex.html").contains("seed 2"));
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_same_seed_gives_the_same_findings() {
    let run = || json("reproduce convex --quick --seed 3 --repetitions 2");
    assert_eq!(run(), run());
    refused("reproduce convex --repetitions 0", 2, "'0'");
    refused("reproduce convex --quick --force", 2, "--output");
}
