//! `plan`.

use crate::run::{close, json, text};

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
