//! `reproduce one-round`.

use crate::run::{fresh, json, refused, text};
use serde_json::Value;
use std::fs;

/// Value and standard error of a method; those without privacy have no ε.
fn measured(
    findings: &Value,
    section: &str,
    setting: &str,
    method: &str,
    epsilon: Option<f64>,
) -> (f64, f64) {
    let rows = findings["rows"].as_array().unwrap();
    let here = |row: &&Value| {
        row["section"] == section
            && row["setting"] == setting
            && row["method"] == method
            && row["epsilon"].as_f64() == epsilon
    };
    let row = rows.iter().find(here).unwrap_or_else(|| panic!("{section}, {setting}, {method}"));
    (row["value"].as_f64().unwrap(), row["standard_error"].as_f64().unwrap())
}

/// Whether the first is below the second by three combined standard errors.
fn below(first: (f64, f64), second: (f64, f64)) -> bool {
    second.0 - first.0 > 3.0 * first.1.hypot(second.1)
}

fn risks(findings: &Value) {
    for problem in ["logistic, R = 1, p = 5", "hinge, R = 1, p = 5", "logistic, R = 4√p, p = 5"] {
        for epsilon in [1.0, 4.0] {
            let of = |method: &str| measured(findings, "risks", problem, method, Some(epsilon));
            let free = |method: &str| measured(findings, "risks", problem, method, None);
            let (moments, constant) = (of("moments (ours)"), free("constant"));
            assert!(below(moments, constant), "{problem}, ε = {epsilon}: {moments:?}, {constant:?}");
            assert!(below(moments, of("Algorithm 4, d = 2")), "{problem}, ε = {epsilon}");
            assert!(below(moments, of("blossom, d = 1")), "{problem}, ε = {epsilon}");
            assert!(free("not private").0 < constant.0 / 20.0);
        }
    }
}

fn marginals(findings: &Value) {
    for epsilon in [1.0, 2.0] {
        let of = |method: &str| measured(findings, "marginals", "chain of 8", method, Some(epsilon));
        let (views, hadamard) = (of("views (ours)"), of("Hadamard"));
        let (direct, projected) = (of("direct, as published"), of("Chebyshev, projected"));
        assert!(
            below(views, hadamard) && below(hadamard, direct) && below(direct, projected),
            "ε = {epsilon}"
        );
        assert!(below(projected, of("Chebyshev, raw")));
    }
}

#[test]
fn moments_views_and_one_bit_are_best_and_everything_is_written_once() {
    let folder = fresh("one-round");
    let _ = fs::remove_dir_all(&folder);
    let command = format!("reproduce one-round --quick --seed 1 -o {}", folder.display());
    let findings = json(&command);
    risks(&findings);
    marginals(&findings);
    let constant = measured(&findings, "grids", "logistic, p = 2", "constant", None);
    let bit = measured(&findings, "grids", "logistic, p = 2", "one bit, k = 2, h = 2", Some(1.0));
    assert!(below(bit, (constant.0 / 4.0, 0.0)), "{bit:?}, {constant:?}");
    let narrow = |method: &str| measured(&findings, "kernels", "h = 0.1", method, Some(4.0));
    assert!(below(narrow("10 cosines, evenly"), narrow("6 cosines, evenly")));
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let page = read("one-round.html");
    assert!(
        page.contains("seed 1") && page.contains("did not reproduce") && page.matches("<svg").count() >= 7
    );
    let rows = findings["rows"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["repetitions"] == findings["repetitions"]));
    assert_eq!(read("one-round-numbers.csv").lines().count(), 1 + rows.len());
    assert_eq!(
        read("one-round-claims.csv").lines().count(),
        1 + findings["claims"].as_array().unwrap().len()
    );
    assert!(read("one-round-marginals.svg").contains("views (ours)"));
    fs::write(folder.join("one-round.html"), "precious").unwrap();
    refused(&command, 1, "--force replaces it");
    assert_eq!(read("one-round.html"), "precious");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn tables_are_run_if_they_are_there_and_skipped_with_a_word_if_not() {
    let folder = fresh("one-round-tables");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("diamonds")).unwrap();
    let row = |i: u32| {
        let carat = 0.2 + f64::from(i % 40) / 20.0;
        let (depth, size) = (60 + i % 5, 4.0 * carat.cbrt());
        format!("{carat},{depth},{},{},{size},{size},{size}\n", 55 + i % 7, 4000.0 * carat + f64::from(i % 3))
    };
    let table: String = (0..2000).map(row).collect();
    fs::write(folder.join("diamonds/diamonds.csv"), format!("carat,depth,table,price,x,y,z\n{table}"))
        .unwrap();
    let said = text(&format!("reproduce one-round --quick --seed 2 --data {}", folder.display()));
    assert!(said.contains("diamonds with intercept: squared, R = 1, p = 7"), "{said}");
    for name in ["adult", "pima", "breast-cancer-wdbc", "nursery"] {
        assert!(said.contains(&format!("Skipped: {name} is not in")), "{said}");
    }
    fs::write(folder.join("diamonds/diamonds.csv"), "carat,price\n1,2\n").unwrap();
    refused(&format!("reproduce one-round --quick --data {}", folder.display()), 1, "no column `depth`");
    fs::remove_dir_all(&folder).unwrap();
    refused("reproduce one-round --quick --data nowhere", 1, "nowhere is no folder");
    refused("reproduce one-round --quick --force", 2, "--output");
}
