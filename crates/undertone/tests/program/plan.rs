//! `plan`.

use crate::run::{close, json, refused, text};

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
fn a_plan_compares_every_way_to_learn_and_says_how_many_people_a_target_takes() {
    let words = "plan --classes 10 --epsilon 1 --n 10000 --delta 1e-6 --top 3 --miss 0.01 --target 0.1";
    let plan = json(words);
    let methods = plan["methods"].as_array().unwrap();
    assert_eq!(methods.len(), 11);
    assert!(methods.is_sorted_by_key(|method| method["risk_bound"].as_f64().unwrap()));
    let find = |name: &str| methods.iter().find(|method| method["name"] == name).unwrap();
    // 2·D·L·miss with D = 2
    close(&find("Algorithm 1, rr-top-k of 3")["bias"], 0.04, 1e-12);
    close(&find("vectors, duchi")["second_moment"], 62.63, 0.03);
    assert_eq!(find("vectors, duchi")["simulation_only"], true);
    close(&find("LP-Normal-SGD")["delta"], 1e-6, 0.0);
    // (R·L/target)²·G²
    close(&find("Algorithm 1, subset")["n_needed"], (100.0 * 33.362_f64).ceil(), 5.0);
    assert_eq!(plan["mechanisms"][0]["n_needed"], find("Algorithm 1, subset")["n_needed"]);
    assert!(text(words).contains("people needed"));
}

#[test]
fn the_length_of_gradients_follows_from_the_loss_and_the_longest_row() {
    let plan = json("plan --classes 10 --epsilon 1 --n 100 --loss softmax --longest 3 --delta 1e-5");
    close(&plan["lipschitz"], 3.0 * 2f64.sqrt(), 1e-12);
    close(&plan["sensitivity"], 3.0 * 2f64.sqrt(), 1e-12);
    for (words, message) in [
        ("--loss softmax", "--longest"),
        ("--loss softmax --longest 1 --lipschitz 2", "--lipschitz"),
        ("--loss cubic --longest 1", "'cubic'"),
        ("--top 3", "--miss"),
        ("--top 11 --miss 0.1", "the 11 likeliest of 10 labels"),
        ("--top 3 --miss 1.5", "'1.5'"),
        ("--target -1", "'-1'"),
        ("--delta 2", "delta is 2"),
    ] {
        refused(&format!("plan --classes 10 --epsilon 1 --n 100 {words}"), 2, message);
    }
}
