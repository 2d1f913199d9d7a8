//! `reproduce online`.

use crate::run::{fresh, json, refused};
use serde_json::Value;
use std::fs;

/// Distance and standard error of LDP-SGD, LDP-ASGD or the decaying average where everybody has reported.
fn distance(findings: &Value, figure: &str, mechanism: &str, alpha: f64, estimator: &str) -> (f64, f64) {
    let points = findings["points"].as_array().unwrap();
    let here = |point: &&Value| {
        point["figure"] == figure
            && point["mechanism"] == mechanism
            && point["model"] == "linear"
            && point["weights"] == "square"
            && point["estimator"] == estimator
            && (point["alpha"].as_f64().unwrap() - alpha).abs() < 1e-9
            && point["people"] == findings["people"]
    };
    let point = points.iter().find(here).unwrap();
    (point["distance"].as_f64().unwrap(), point["distance_error"].as_f64().unwrap())
}

fn claims<'a>(findings: &'a Value, source: &str) -> Vec<&'a Value> {
    findings["claims"].as_array().unwrap().iter().filter(|claim| claim["source"] == source).collect()
}

#[test]
fn figures_tables_and_claims_come_out_and_are_written_once() {
    let folder = fresh("online");
    let _ = fs::remove_dir_all(&folder);
    let command = format!("reproduce online --quick --seed 1 -o {}", folder.display());
    let findings = json(&command);
    assert!(findings["simulation"] == true && findings["seed"] == 1);
    more_budget_is_nearer_the_truth(&findings);
    averages_are_nearer_where_runs_have_converged(&findings);
    orders_are_those_of_the_steps(&findings);
    every_claim_is_listed_with_what_came_out(&findings);
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let page = read("online.html");
    assert!(page.contains("Simulation</b> with seed 1") && page.contains("did not reproduce"));
    for name in [
        "figure-1-sgd",
        "figure-2-left",
        "figure-2-right",
        "figure-4-d10-asgd",
        "figure-5-d5-alpha-1-2-distance",
    ] {
        assert!(read(&format!("online-{name}.svg")).starts_with("<svg"), "{name}");
    }
    assert!(read("online-figure-4-d5-sgd.svg").contains("PrivUnit, ε = 3"));
    assert!(read("online-figure-6-d5-alpha-1-2-loss.svg").contains("ours, μ = 1"));
    assert_eq!(read("online-points.csv").lines().count(), 1 + findings["points"].as_array().unwrap().len());
    assert_eq!(read("online-claims.csv").lines().count(), 1 + findings["claims"].as_array().unwrap().len());
    assert_eq!(read("online-orders.csv").lines().count(), 33);
    // both tasks in both codings, four decays, three budgets, two estimators, ten marks
    assert_eq!(read("online-insurance.csv").lines().count(), 1 + 4 * 4 * 3 * 2 * 10);
    fs::write(folder.join("online-points.csv"), "precious").unwrap();
    refused(&command, 1, "--force replaces it");
    assert_eq!(read("online-points.csv"), "precious");
    assert_eq!(json(&format!("{command} --force")), findings);
    fs::remove_dir_all(&folder).unwrap();
}

fn more_budget_is_nearer_the_truth(findings: &Value) {
    for estimator in ["sgd", "asgd"] {
        let of = |mechanism| distance(findings, "Figure 2", mechanism, 0.5, estimator).0;
        let [one, own, two, none] = ["μ = 1", "μ ~ Unif(1, 2)", "μ = 2", "no privacy"].map(of);
        assert!(one > own && own > two && two > none, "{estimator}: {one}, {own}, {two}, {none}");
    }
}

fn averages_are_nearer_where_runs_have_converged(findings: &Value) {
    // Table 1 begins at the truth, so that there is no start to forget.
    for alpha in [0.4, 0.6] {
        let of = |estimator| distance(findings, "Table 1", "μ = 3", alpha, estimator);
        let ((last, last_error), (mean, mean_error)) = (of("sgd"), of("asgd"));
        assert!(last - mean > 3.0 * last_error.hypot(mean_error), "α = {alpha}: {last}, {mean}");
    }
    // and the published steps at α = 2/3 have not forgotten theirs
    let of = |estimator| distance(findings, "Figure 5", "no privacy", 2.0 / 3.0, estimator).0;
    assert!(of("asgd") > of("sgd") && of("decayed") < of("asgd"));
}

fn orders_are_those_of_the_steps(findings: &Value) {
    let orders = findings["orders"].as_array().unwrap();
    for order in orders.iter().filter(|order| order["error"] == "distance, SGD" && order["model"] == "linear")
    {
        let number = |value: &Value| value.as_f64().unwrap();
        let (slope, error) =
            (number(&order["measured"]["slope"]), number(&order["measured"]["standard_error"]));
        assert!((slope + number(&order["alpha"])).abs() < 0.1 + 4.0 * error, "{order}");
    }
}

fn every_claim_is_listed_with_what_came_out(findings: &Value) {
    for (source, count) in [
        ("Figure 1", 2),
        ("Figure 2", 2),
        ("Table 1", 2),
        ("Figure 4", 4),
        ("Figure 5", 4),
        ("Figure 6", 3),
        ("Figure 7", 10),
        ("Figures 8, 9", 8),
        ("Theorem 3", 1),
    ] {
        assert_eq!(claims(findings, source).len(), count, "{source}");
    }
    for claim in findings["claims"].as_array().unwrap() {
        assert!(claim["found"].as_str().unwrap().len() > 10, "{claim}");
    }
    let verdict = |source, says: &str| {
        let own =
            claims(findings, source).into_iter().find(|claim| claim["says"].as_str().unwrap().contains(says));
        own.unwrap()["verdict"].clone()
    };
    // These do not depend on chance: 3-LDP is 3.34-GDP, and Laplace noise grows like p².
    assert_eq!(verdict("Figure 4", "similar levels of protection"), "not-reproduced");
    assert_eq!(verdict("Figure 4", "like d³"), "not-reproduced");
    assert_eq!(verdict("Figure 2", "Unif(1, 2)"), "reproduced");
    assert_eq!(verdict("Figure 5", "a smaller μ"), "reproduced");
    assert_eq!(verdict("Figure 5", "at α = 1"), "reproduced");
}

#[test]
fn what_is_no_seed_is_refused() {
    refused("reproduce online --quick --seed x", 2, "'x'");
    refused("reproduce online --quick --force", 2, "--output");
}
