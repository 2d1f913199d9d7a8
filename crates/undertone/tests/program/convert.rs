//! `convert`.

use crate::run::{close, json, refused, text};
use serde_json::{Value, json as value};

/// The four numbers that are always there.
fn numbers(words: &str) -> [Value; 4] {
    let answer = json(&format!("convert {words}"));
    ["epsilon", "delta", "mu", "rho"].map(|key| answer.get(key).unwrap().clone())
}

#[test]
fn a_gaussian_promise_has_the_known_deltas_and_epsilons() {
    for (epsilon, expected) in [("1", 0.126_936_737_5), ("2", 0.020_923_635_8), ("3", 0.001_537_185_4)] {
        let answer = json(&format!("convert --mu 1 --epsilon {epsilon}"));
        close(&answer["delta"], expected, 6e-11);
        close(&answer["ln_delta"], expected.ln(), 1e-7);
        assert_eq!((&answer["solved_for"], &answer["direction"]), (&value!(["delta"]), &value!("implied")));
        assert_eq!((&answer["mu"], &answer["rho"]), (&value!(1.0), &value!(0.5)));
    }
    let [epsilon, delta, mu, rho] = numbers("--mu 1 --delta 1e-5");
    close(&epsilon, 4.377_178_095_7, 6e-11);
    assert_eq!((delta, mu, rho), (value!(1e-5), value!(1.0), value!(0.5)));
}

#[test]
fn an_epsilon_and_a_delta_are_calibrated_to_the_known_mu() {
    for (words, expected) in
        [("--epsilon 1 --delta 1e-5", 0.268_051_123_2), ("--epsilon 3 --delta 1e-6", 0.647_726_530_7)]
    {
        let answer = json(&format!("convert {words}"));
        close(&answer["mu"], expected, 6e-11);
        assert_eq!(
            (&answer["solved_for"], &answer["direction"]),
            (&value!(["mu", "rho"]), &value!("calibrated"))
        );
        // and the μ and ρ found keep it
        let epsilon = answer["epsilon"].as_f64().unwrap();
        for currency in ["mu", "rho"] {
            let back = format!("--{currency} {} --epsilon {epsilon}", answer[currency]);
            let [_, delta, ..] = numbers(&back);
            let wanted = answer["delta"].as_f64().unwrap();
            assert!(delta.as_f64().unwrap() <= wanted * (1.0 + 1e-9), "{back}: {delta}");
        }
    }
    assert!(text("convert --epsilon 1 --delta 1e-5").contains("noise calibrated to either keeps it"));
}

#[test]
fn a_pure_promise_implies_the_known_mu_and_rho() {
    for (epsilon, expected) in [(0.5_f64, 0.6239), (1.0, 1.2320), (2.0, 2.3580), (3.0, 3.3407)] {
        let [own, delta, mu, rho] = numbers(&format!("--epsilon {epsilon}"));
        assert_eq!((own, delta), (value!(epsilon), Value::Null));
        close(&mu, expected, 5e-5);
        close(&rho, epsilon * (epsilon / 2.0).tanh(), 1e-12);
    }
}

#[test]
fn a_promise_alone_has_a_table_of_pairs() {
    let answer = json("convert --mu 1");
    assert_eq!((&answer["rho"], &answer["solved_for"]), (&value!(0.5), &value!(["rho"])));
    assert!(answer["epsilon"].is_null() && answer["delta"].is_null());
    let pairs = answer["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 5);
    assert_eq!(pairs[1]["delta"], 1e-5);
    close(&pairs[1]["epsilon"], 4.377_178_095_7, 6e-11);
    let concentrated = json("convert --rho 0.5");
    // ρ implies no μ, and less than μ = 1 does
    assert!(concentrated["mu"].is_null());
    for (weak, strong) in concentrated["pairs"].as_array().unwrap().iter().zip(pairs) {
        assert!(weak["epsilon"].as_f64() > strong["epsilon"].as_f64());
    }
    assert!(text("convert --mu 1").contains("Pairs that hold"));
}

#[test]
fn a_delta_too_small_for_a_float_is_told_by_its_logarithm() {
    let answer = json("convert --mu 1 --epsilon 100");
    close(&answer["ln_delta"], -4960.2545, 1e-3);
    // rounded up to what a float can be
    assert!(answer["delta"].as_f64().unwrap() > 0.0);
    assert!(text("convert --mu 1 --epsilon 100").contains("10^-2154.211"));
}

#[test]
fn repeated_promises_add_up_in_each_currency() {
    let [epsilon, delta, mu, rho] = numbers("--epsilon 0.25 --times 100");
    assert_eq!((epsilon, delta), (value!(25.0), Value::Null));
    // √100·μ(0.25) and 100·ρ(0.25), not μ(25) and ρ(25)
    let [.., one_mu, one_rho] = numbers("--epsilon 0.25");
    close(&mu, 10.0 * one_mu.as_f64().unwrap(), 1e-12);
    close(&rho, 100.0 * one_rho.as_f64().unwrap(), 1e-12);
    let [_, _, mu, rho] = numbers("--mu 0.5 --times 4");
    assert_eq!((mu, rho), (value!(1.0), value!(0.5)));
    let [.., rho] = numbers("--rho 0.25 --times 8");
    assert_eq!(rho, value!(2.0));
    let [epsilon, delta, ..] = numbers("--epsilon 0.5 --delta 0.125 --times 3");
    assert_eq!((epsilon, delta), (value!(1.5), value!(0.375)));
    assert_eq!(numbers("--mu 0.5 --times 4 --delta 1e-5")[0], numbers("--mu 1 --delta 1e-5")[0]);
}

#[test]
fn different_promises_meet_in_the_strongest_currency_they_share() {
    let [epsilon, delta, mu, rho] = numbers("--epsilon 1 --with mu=1");
    assert!(epsilon.is_null() && delta.is_null());
    close(&mu, 1.5868, 1e-4);
    close(&rho, 0.5f64.tanh() + 0.5, 1e-12);
    let [.., mu, rho] = numbers("--mu 1 --with epsilon=1 --with rho=0.25");
    assert!(mu.is_null());
    close(&rho, 0.5f64.tanh() + 0.75, 1e-12);
    let [epsilon, delta, ..] = numbers("--epsilon 1 --delta 1e-6 --with epsilon=0.5");
    assert_eq!((epsilon, delta), (value!(1.5), value!(1e-6)));
    assert_eq!(numbers("--epsilon 1 --with epsilon=2")[0], value!(3.0));
    // Beside (ε, δ), a μ gets the δ that is left.
    let [epsilon, delta, mu, rho] = numbers("--mu 1 --with epsilon=1,delta=1e-6 --delta 1.1e-5");
    close(&epsilon, 1.0 + 4.377_178_095_7, 1e-9);
    assert_eq!((delta, mu, rho), (value!(1.1e-5), Value::Null, Value::Null));
}

#[test]
fn a_group_is_protected_less() {
    assert_eq!(numbers("--epsilon 0.5 --group 4")[0], value!(2.0));
    assert_eq!(numbers("--mu 0.5 --group 4")[2], value!(2.0));
    assert_eq!(numbers("--rho 0.5 --group 4")[3], value!(8.0));
    let [epsilon, delta, ..] = numbers("--epsilon 1 --delta 1e-6 --group 2");
    assert_eq!(epsilon, value!(2.0));
    close(&delta, 1e-6 * (1.0 + 1f64.exp()), 1e-15);
    // Each of the ten for the group, then all ten
    let [epsilon, delta, ..] = numbers("--epsilon 1 --delta 1e-6 --group 2 --times 10");
    assert_eq!(epsilon, value!(20.0));
    close(&delta, 1e-5 * (1.0 + 1f64.exp()), 1e-14);
}

#[test]
fn people_are_told_which_number_was_solved_for_and_how_it_is_rounded() {
    for (words, line) in [
        ("--epsilon 1", "μ  1.23203"),
        ("--epsilon 1 --delta 1e-5", "μ  0.26805112"),
        ("--mu 1 --epsilon 3", "δ  0.0015371853"),
        ("--rho 0.5 --delta 1e-5", "ε  4.728"),
    ] {
        let shown = text(&format!("convert {words}"));
        let found = shown.lines().find(|shown| shown.contains(line));
        assert!(found.is_some_and(|shown| shown.ends_with("solved for")), "{shown}");
        assert!(shown.contains("the stated loss is never smaller than the true one"), "{shown}");
    }
    let shown = text("convert --mu 0.5 --times 3 --group 2 --with epsilon=1");
    for part in ["μ = 0.5, 3 times to the same person", "and ε = 1", "a group of 2"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn bad_promises_are_named_and_end_with_two() {
    for (option, name) in [("--epsilon", "epsilon"), ("--mu", "mu"), ("--rho", "rho")] {
        for (given, shown) in [("-1", "-1"), ("0", "0"), ("nan", "NaN"), ("inf", "inf")] {
            let message = format!("{name} is {shown}, but has to be positive and finite");
            refused(&format!("convert {option} {given}"), 2, &message);
            refused(&format!("convert --epsilon 1 --with {name}={given}"), 2, &message);
        }
    }
    for (given, shown) in [("0", "0"), ("1", "1"), ("-0.5", "-0.5"), ("nan", "NaN"), ("2", "2")] {
        let message = format!("delta is {shown}, but has to lie strictly between 0 and 1");
        refused(&format!("convert --epsilon 1 --delta {given}"), 2, &message);
        refused(&format!("convert --epsilon 1 --with epsilon=1,delta={given}"), 2, &message);
    }
    for (words, message) in [
        ("", "the promise is missing"),
        ("--delta 0.1", "--epsilon, --mu or --rho is missing"),
        ("--mu 1 --rho 1", "two promises"),
        ("--mu 1 --epsilon 1 --delta 0.1", "the other is solved for"),
        ("--epsilon one", "'one'"),
        ("--epsilon 1 --with ε=1", "a promise is epsilon=E"),
        ("--epsilon 1 --with mu=1,delta=0.1", "a promise is epsilon=E"),
        ("--epsilon 1 --with delta=0.1", "a promise is epsilon=E"),
        ("--epsilon 1 --times 0", "at least one is needed"),
        ("--epsilon 1 --times 9999999999", "9999999999 is too many"),
        ("--epsilon 1 --group 1.5", "'1.5'"),
        ("--epsilon 1 --delta 0.5 --times 2", "delta is 1, but has to lie strictly between 0 and 1"),
        ("--epsilon 1 --delta 0.1 --group 5", "for a group of 5: delta is 8.5791"),
        ("--rho 1e308 --times 4", "rho is inf"),
        ("--mu 1e200 --delta 0.1", "no ε follows at δ = 0.1"),
        ("--mu 1 --with epsilon=1,delta=1e-6", "--delta WHOLE"),
        ("--epsilon 1 --delta 1e-6 --with mu=1", "--delta WHOLE"),
        ("--mu 1 --with epsilon=1,delta=1e-6 --delta 1e-6", "alone use up δ = 1e-6"),
    ] {
        refused(&format!("convert {words}"), 2, message);
    }
}
