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

#[test]
fn an_online_plan_has_the_errors_of_its_laws() {
    let plan = json("plan --online linear --dimension 5 --mu 1 --eta 0.2 --alpha 0.5 --n 300000");
    // tr(A⁻¹SA⁻¹) = 7010 and m = 0.0831 for five covariates at μ = 1
    close(&plan["averaged_error"], 7010.0 / 3e5, 1e-5);
    close(&plan["transient_exponent"], 0.0831 * 0.4 * 3e5f64.sqrt(), 2e-3);
    close(&plan["last_iterate_error"], 0.1508, 1e-4);
    // n^-α and η
    let later = json("plan --online linear --dimension 5 --mu 1 --eta 0.4 --alpha 0.5 --n 1200000");
    close(&later["last_iterate_error"], plan["last_iterate_error"].as_f64().unwrap(), 1e-9);
    let open = json("plan --online logistic --dimension 5 --mu inf --eta 0.2 --alpha 0.6 --n 1000");
    close(&open["averaged_error"], 0.0757, 5e-5);
    assert!(open["mu"].is_null());
    let better =
        json("plan --online logistic --dimension 5 --mu 1 --eta 1 --alpha 0.6 --n 1000 --weights linear");
    close(&better["averaged_error"], 18.2, 0.01);
}

#[test]
fn an_online_plan_takes_promises_in_every_currency_and_in_tiers() {
    let plan = |promise: &str| {
        json(&format!("plan --online linear --dimension 5 {promise} --eta 0.2 --alpha 0.6 --n 300000"))
    };
    let error = |plan: &serde_json::Value| plan["averaged_error"].as_f64().unwrap();
    // (ε, δ) is the μ that the analytic Gaussian has: μ(1, 10^-5) = 0.26805
    let analytic = plan("--epsilon 1 --delta 1e-5");
    close(&analytic["effective_mu"], 0.268_051_123_2, 1e-9);
    close(&analytic["averaged_error"], error(&plan("--mu 0.26805112320")), 1e-6);
    assert_eq!((&analytic["epsilon"], &analytic["mu"]), (&1.0.into(), &serde_json::Value::Null));
    // Under a pure promise a report is r/m long: p = 7 lies between the 34.48 r² of p = 6 and the 66.05 r² of p = 11
    let pure = plan("--epsilon 1");
    let mu = pure["effective_mu"].as_f64().unwrap();
    let noise = 7.0 * 4.0 / (mu * mu);
    assert!((34.48..66.05 * 7.0 / 11.0).contains(&noise), "{noise}");
    // Laplace noise on every coordinate would be 8·p·q/ε², seven times as much
    assert!(8.0 * 7.0 * 6.0 / noise > 7.0);
    // Tiers count by the mean of 1/μ²: half at 1/2 and half at 3 is (4 + 1/9)/2.
    let tiers = plan("--mu 0.5 --tiers 0.5,3 --shares 0.5,0.5");
    close(&tiers["effective_mu"], (18f64 / 37.0).sqrt(), 1e-12);
    assert_eq!((&tiers["tiers"], &tiers["shares"]), (&vec![0.5, 3.0].into(), &vec![0.5, 0.5].into()));
    let mixed = plan("--epsilon 3 --tiers 3,1 --shares 0.8,0.2");
    assert!(error(&plan("--epsilon 3")) < error(&mixed) && error(&mixed) < error(&pure));
    let words = text(
        "plan --online linear --dimension 5 --epsilon 3 --tiers 3,1 --shares 0.8,0.2 --eta 0.2 --alpha 0.6 --n 300000",
    );
    assert!(words.contains("ε = 3, in tiers of 3, 1, with the noise of μ = "), "{words}");
}

#[test]
fn an_online_plan_says_how_many_people_a_width_takes_and_what_is_to_be_doubted() {
    let words =
        "plan --online logistic --dimension 5 --mu 3 --eta 0.2 --alpha 0.6667 --n 300000 --target-width 0.2";
    let plan = json(words);
    close(&plan["transient_exponent"], 0.697, 0.002);
    assert_eq!(plan["doubts"][0]["kind"], "not-converged");
    let needed = plan["target"]["n_needed"].as_f64().unwrap();
    // The width falls like 1/√n.
    let width = plan["interval_width"].as_f64().unwrap();
    assert!((needed / (3e5 * (width / 0.2).powi(2)) - 1.0).abs() < 1e-5);
    assert_eq!(plan["target"]["doubts"][0]["kind"], "not-converged");
    let text = text(words);
    for part in ["transient exponent", "warning: not converged", "Intervals of width 0.2 take", "people"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[test]
fn an_online_plan_refuses_what_it_has_no_law_for() {
    let whole = "--dimension 5 --mu 1 --eta 0.2 --alpha 0.5 --n 100";
    for (words, message) in [
        ("--online linear --dimension 5 --mu 1 --eta 0.2 --n 100", "--alpha"),
        ("--online linear --dimension 0 --mu 1 --eta 0.2 --alpha 0.5 --n 100", "the dimension is 0"),
        ("--online linear --dimension 5 --mu -1 --eta 0.2 --alpha 0.5 --n 100", "-1"),
        ("--online linear --dimension 5 --mu 1 --eta 0 --alpha 0.5 --n 100", "'0'"),
        ("--online linear --dimension 5 --mu 1 --eta 0.2 --alpha 1.5 --n 100", "α is 1.5"),
        (&format!("--online cubic {whole}"), "'cubic'"),
        (&format!("--online linear {whole} --weights clip"), "'clip'"),
        (&format!("--online linear {whole} --classes 3"), "--classes"),
        (&format!("--online linear {whole} --target-width -1"), "'-1'"),
        ("--classes 3 --epsilon 1 --n 5 --mu 1", "cannot be used with '--mu"),
        ("--online linear --dimension 5 --eta 0.2 --alpha 0.5 --n 100", "needs --mu, or --epsilon"),
        (&format!("--online linear {whole} --epsilon 1"), "cannot be used with"),
        (&format!("--online linear {whole} --tiers 1,2"), "--shares"),
        (&format!("--online linear {whole} --tiers 2,1 --shares 0.5,0.5"), "begins with 2"),
        (&format!("--online linear {whole} --tiers 1,2 --shares 0.5"), "2 levels, and --shares 1"),
        (&format!("--online linear {whole} --tiers 1,2 --shares 0.5,0.6"), "1.1"),
        (
            "--online linear --dimension 5 --mu inf --tiers 1 --shares 1 --eta 0.2 --alpha 0.5 --n 100",
            "promised something",
        ),
        ("--epsilon 1 --n 5", "--classes"),
    ] {
        refused(&format!("plan {words}"), 2, message);
    }
}

#[test]
fn a_plan_of_one_round_compares_its_questions_and_chooses() {
    let words = "plan --one-round --covariates 5 --n 100000 --epsilon 1 --loss logistic --radius 1";
    let plan = json(words);
    let methods = plan["methods"].as_array().unwrap();
    let names: Vec<&str> = methods.iter().map(|method| method["name"].as_str().unwrap()).collect();
    assert_eq!((names[0], &plan["choice"]), ("moments", &"moments".into()));
    assert!(names.contains(&"losses") && names.contains(&"algorithm-4"), "{names:?}");
    assert!(methods[0]["excess_risk"].as_f64().unwrap() < 0.1 * plan["constant"].as_f64().unwrap());
    assert_eq!(plan["largest"]["losses"], 12);
    let told = text(words);
    assert!(told.contains("Choice: moments") && told.contains("covariates of moments"), "{told}");
    // 4√p, and no copies of a number
    let squared = json("plan --one-round --covariates 4 --n 100000 --epsilon 1 --loss squared");
    close(&squared["radius"], 8.0, 1e-12);
    assert_eq!(squared["methods"].as_array().unwrap().len(), 2);
    for (words, message) in [
        ("--covariates 500 --n 1000 --epsilon 1", "500 covariates are too many for 1000 people; at most 1"),
        ("--covariates 0 --n 1000 --epsilon 1", "0"),
        ("--n 1000 --epsilon 1", "--covariates"),
        ("--covariates 5 --n 1000", "--epsilon"),
        ("--covariates 5 --n 1000 --epsilon 1 --loss softmax", "softmax"),
        ("--covariates 5 --n 1000 --epsilon 1 --loss cubic", "'cubic'"),
        ("--covariates 5 --n 1000 --epsilon 1 --radius 0", "'0'"),
        ("--covariates 5 --n 1000 --epsilon 1 --classes 3", "--classes"),
    ] {
        refused(&format!("plan --one-round {words}"), 2, message);
    }
}

#[test]
fn the_limits_of_a_task_are_the_rates_of_the_table() {
    let people = "--n 100000 --epsilon 0.5 --dimension 2 --beta 1";
    let plan = json(&format!(
        "plan --task classification --trust label-local {people} --gamma 1 --classes 10 --target 0.01"
    ));
    let fewer = 1e5 / 10f64.ln();
    // (N'ε²)^(-β(γ+1)/(2β+d)), and the same without ε
    close(&plan["rate"], (fewer * 0.25).powf(-0.5), 1e-12);
    close(&plan["non_private_rate"], fewer.powf(-0.5), 1e-12);
    // Half of what balances bias and noise, with s = tanh(ε/4)
    let s = 0.125f64.tanh();
    let width = 0.5 * (4.5 * 20f64.ln() / (2.0 * 1e5 * s * s)).powf(0.25);
    close(&plan["cell_width"], width, 1e-12);
    close(&plan["neighbours"], (1e5 * width * width).round(), 0.0);
    assert!(plan["clip"].is_null() && plan["moments"].is_null());
    // (N'ε²)^(-1/2) = 0.01
    let local = &plan["rates"][0];
    assert_eq!(local["trust"], "label-local");
    close(&local["n_needed"], (4e4 * 10f64.ln()).ceil(), 1.0);
    let heavy =
        json(&format!("plan --task heavy --trust label-central {people} --moments 3").replace("0.5", "0.1"));
    // NP + (εN)^(-2βf/(β+df)), f = 2/3
    let f = 2.0 / 3.0;
    close(&heavy["rate"], 1e5f64.powf(-0.5) + 1e4f64.powf(-2.0 * f / (1.0 + 2.0 * f)), 1e-12);
    assert!(heavy["clip"].as_f64().unwrap() > 1.0 && heavy["classes"].is_null());
    let bounded = json(&format!("plan --task regression --trust label-local {people}"));
    close(&bounded["rate"], 2.5e4f64.powf(-0.5), 1e-12);
    close(&bounded["clip"], 1.0, 0.0);
    let open = json("plan --task regression --trust none --n 100000 --dimension 2 --beta 1");
    assert_eq!((&open["rate"], &open["epsilon"]), (&open["non_private_rate"], &serde_json::Value::Null));
    assert!(open["crossover_epsilon"].is_null());
}

#[test]
fn the_limits_are_told_to_people_with_what_is_to_be_feared() {
    let told = text(
        "plan --task classification --trust full-local --n 1000 --epsilon 1 --dimension 2 --beta 1 --gamma 3 --target 1e-9",
    );
    for part in ["excess risk up to a constant", "full-central", "people for 0.000000001", "upper bound only"]
    {
        assert!(told.contains(part), "{part} is not in {told}");
    }
    let told =
        text("plan --task regression --trust label-local --n 100 --epsilon 0.1 --dimension 9 --beta 1");
    assert!(told.contains("the dimension is too high for so few people"), "{told}");
}

#[test]
fn what_no_theorem_is_about_is_refused() {
    let whole = "--task classification --trust label-local --n 100 --epsilon 1 --dimension 2";
    let heavy = "--task heavy --trust label-local --n 100 --epsilon 1 --dimension 2 --beta 1";
    for (words, message) in [
        (format!("{whole} --beta 0"), "β is 0"),
        (format!("{whole} --beta 1.5"), "β is 1.5"),
        (format!("{whole} --beta nan"), "β is NaN"),
        (format!("{whole} --beta 1 --gamma -1"), "γ is -1"),
        (format!("{whole} --beta 1 --classes 1"), "1 label(s) given"),
        (format!("{whole} --beta 1 --moments 3"), "--moments is for --task heavy"),
        (format!("{whole} --beta 1 --radius 3"), "--radius"),
        (whole.to_owned(), "--beta"),
        (format!("{heavy} --moments 1.5"), "the order of the bounded moment is 1.5"),
        (format!("{heavy} --moments inf"), "finite for heavy tails"),
        (format!("{heavy} --classes 3"), "--classes is for --task classification"),
        (heavy.replace("--dimension 2", "--dimension 0"), "the dimension is 0"),
        (heavy.replace("--epsilon 1", ""), "--trust label-local needs --epsilon"),
        (heavy.replace("label-local", "my-friend"), "'my-friend'"),
        (heavy.replace("heavy", "clustering"), "'clustering'"),
        ("--classes 3 --epsilon 1 --n 5 --beta 1".into(), "--task"),
        ("--classes 3 --epsilon 1 --n 5 --dimension 1".into(), "--task"),
    ] {
        refused(&format!("plan {words}"), 2, message);
    }
}
