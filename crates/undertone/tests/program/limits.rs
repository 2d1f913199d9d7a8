//! `reproduce limits`.

use crate::run::{fresh, json, refused};
use serde_json::Value;
use std::fs;

const SETTINGS: [&str; 6] = [
    "classification, label-local, d = D, ε = 3",
    "classification, label-central, d = D, ε = 1",
    "regression, label-local, d = D, ε = 1",
    "regression, label-central, d = D, ε = 1",
    "heavy, label-local, d = D, ε = 1",
    "heavy, label-central, d = D, ε = 1",
];

/// Everything with this setting and method, in a list of the findings.
fn of<'a>(findings: &'a Value, list: &str, setting: &str, method: &str) -> Vec<&'a Value> {
    let all = findings[list].as_array().unwrap().iter();
    all.filter(|one| one["setting"] == setting && one["method"] == method).collect()
}

/// Excess and standard error of a method with the most people.
fn last(findings: &Value, setting: &str, method: &str) -> (f64, f64) {
    let rows = of(findings, "rows", setting, method);
    let row = rows.last().unwrap_or_else(|| panic!("{setting}, {method}"));
    (row["excess"].as_f64().unwrap(), row["standard_error"].as_f64().unwrap())
}

/// Whether the first is below the second by three combined standard errors.
fn below(first: (f64, f64), second: (f64, f64)) -> bool {
    second.0 - first.0 > 3.0 * first.1.hypot(second.1)
}

fn slope(findings: &Value, setting: &str, method: &str) -> (f64, f64, f64) {
    let order = of(findings, "orders", setting, method)[0];
    let number = |name: &str| order[name].as_f64().unwrap();
    (number("slope"), number("standard_error"), number("table"))
}

fn slopes_are_those_of_the_table(findings: &Value) {
    for dimension in ["1", "2"] {
        for setting in SETTINGS {
            let setting = setting.replace('D', dimension);
            let (ours, error, table) = slope(findings, &setting, "ours");
            // So small that no slope passes which is off by a quarter: 0.12 + 3·0.045
            assert!(error < 0.045, "{setting}: {ours} ± {error} says too little");
            // Sixteen times as many people at most, hence a little more than the study's 0.08
            assert!((ours - table).abs() < 0.12 + 3.0 * error, "{setting}: {ours} ± {error}, not {table}");
        }
    }
    // Printed choices for heavy tails fall more slowly than they should.
    let (printed, error, table) = slope(findings, "heavy, label-central, d = 1, ε = 1", "as printed");
    assert!(table - printed > 0.1 + 3.0 * error, "{printed} ± {error}");
}

fn methods_are_in_order(findings: &Value) {
    for dimension in ["1", "2"] {
        let here = |setting: &str| setting.replace('D', dimension);
        for setting in SETTINGS {
            let setting = here(setting);
            let (ours, free) = (last(findings, &setting, "ours"), last(findings, &setting, "not private"));
            assert!(!below(ours, free), "{setting}: {free:?}, {ours:?}");
        }
        for setting in [SETTINGS[2], SETTINGS[4]] {
            let setting = here(setting);
            let (ours, printed) = (last(findings, &setting, "ours"), last(findings, &setting, "as printed"));
            assert!(below(ours, printed), "{setting}: {ours:?}, {printed:?}");
        }
        // Few boundaries leave much to chance: at least not above.
        let classes = here(SETTINGS[0]);
        assert!(
            !below(last(findings, &classes, "as printed"), last(findings, &classes, "ours")),
            "{classes}"
        );
        for setting in [SETTINGS[3], SETTINGS[5]] {
            let setting = here(setting);
            assert!(
                below(last(findings, &setting, "full DP"), last(findings, &setting, "full DP as printed")),
                "{setting}"
            );
        }
    }
}

/// The expected excess of heavy tails in two dimensions, from so many people to so many, and what was drawn.
fn a_closer_look_finds_the_rate(findings: &Value) {
    let pieces: Vec<&Value> =
        findings["closer"].as_array().unwrap().iter().filter(|piece| piece["constant"] == 2.4).collect();
    let number = |piece: &Value, name: &str| piece[name].as_f64().unwrap();
    let total = |power: u32| {
        let here = pieces.iter().find(|piece| piece["people"] == 1u64 << power);
        number(here.unwrap(), "total")
    };
    let late = (total(28) / total(40)).ln() / (12.0 * 2f64.ln());
    assert!((late - 4.0 / 11.0).abs() < 0.01, "{late}");
    for piece in pieces.iter().filter(|piece| !piece["drawn"].is_null()) {
        let gap = number(piece, "drawn") - number(piece, "total");
        assert!(gap.abs() < 5.0 * number(piece, "standard_error") + 0.02 * number(piece, "total"), "{piece}");
    }
}

#[test]
fn slopes_methods_and_a_closer_look_come_out_and_are_written_once() {
    let folder = fresh("limits");
    let _ = fs::remove_dir_all(&folder);
    let command = format!("reproduce limits --quick --seed 1 -o {}", folder.display());
    let findings = json(&command);
    assert!(findings["simulation"] == true && findings["seed"] == 1);
    slopes_are_those_of_the_table(&findings);
    methods_are_in_order(&findings);
    a_closer_look_finds_the_rate(&findings);
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let page = read("limits.html");
    assert!(
        page.contains("seed 1") && page.contains("did not reproduce") && page.matches("<svg").count() == 13
    );
    for (file, list) in
        [("numbers", "rows"), ("slopes", "orders"), ("claims", "claims"), ("closer", "closer")]
    {
        let count = findings[list].as_array().unwrap().len();
        assert_eq!(read(&format!("limits-{file}.csv")).lines().count(), 1 + count, "{file}");
    }
    let picture = read("limits-heavy-label-central-d2.svg");
    for line in ["ours", "as printed", "slope of the lower bound (Table I)", "not private", "full DP"] {
        assert!(picture.contains(line), "{line}");
    }
    fs::write(folder.join("limits.html"), "precious").unwrap();
    refused(&command, 1, "--force replaces it");
    assert_eq!(read("limits.html"), "precious");
    fs::remove_dir_all(&folder).unwrap();
    refused("reproduce limits --quick --force", 2, "--output");
    refused("reproduce limits --quick --seed x", 2, "'x'");
}
