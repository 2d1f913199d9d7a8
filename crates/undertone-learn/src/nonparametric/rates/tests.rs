//! Rates against the table, rules against numeric minima, and printed exponents shown to be wrong.

use super::*;
use crate::nonparametric::TrustModel;
use undertone_privacy::Epsilon;

fn problem(task: Task, trust: TrustModel, people: u64, epsilon: f64, dimension: u32, beta: f64) -> Problem {
    Problem::new(task, trust, people, Epsilon::new(epsilon).unwrap(), dimension, beta)
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() < tolerance, "{found} is not {expected}");
}

#[test]
fn ten_thousand_people_have_the_rates_worked_out_by_hand() {
    // N = 10⁴, ε = 1/2, d = 1, β = 1/2: NP = 10^(-4/2), bounded
    let of = |task, trust| problem(task, trust, 10_000, 0.5, 1, 0.5).rate();
    close(of(Task::Regression, TrustModel::None), 1e-2, 1e-12);
    close(of(Task::Regression, TrustModel::LabelLocal), 0.02, 1e-12);
    close(of(Task::Regression, TrustModel::FullLocal), 2500f64.powf(-1.0 / 3.0), 1e-12);
    close(of(Task::Regression, TrustModel::LabelCentral), 1e-2 + 5000f64.powf(-2.0 / 3.0), 1e-12);
    close(of(Task::Regression, TrustModel::FullCentral), 1e-2 + 5000f64.powf(-2.0 / 3.0), 1e-12);
    close(of(Task::Classification, TrustModel::LabelLocal), 2500f64.powf(-0.25), 1e-12);
    // p = 3: f = 2/3, 2βf/(2β + df) = (2/3)/(5/3)
    let heavy = Problem { moments: 3.0, ..problem(Task::Heavy, TrustModel::LabelLocal, 10_000, 0.5, 1, 0.5) };
    close(heavy.rate(), 2500f64.powf(-0.4), 1e-12);
    let ten = Problem { classes: 10, ..problem(Task::Classification, TrustModel::None, 10_000, 0.5, 1, 0.5) };
    close(ten.rate(), (1e4 / 10f64.ln()).powf(-0.25), 1e-12);
}

#[test]
fn privacy_never_helps_more_people_never_hurt_and_local_is_never_better_than_central() {
    for task in Task::ALL {
        for d in [1, 3, 10] {
            for epsilon in [0.01, 0.3, 1.0, 9.0] {
                let of = |trust, people| problem(task, trust, people, epsilon, d, 0.7);
                for trust in TrustModel::ALL {
                    let (few, many) = (of(trust, 1000), of(trust, 1_000_000));
                    assert!(few.rate() >= few.non_private_rate() * (1.0 - 1e-12));
                    assert!(many.rate() < few.rate());
                }
                let rate = |trust| of(trust, 1_000_000).rate();
                assert!(rate(TrustModel::LabelLocal) <= rate(TrustModel::FullLocal) * (1.0 + 1e-12));
                assert!(rate(TrustModel::LabelCentral) <= 2.0 * rate(TrustModel::LabelLocal) + 1e-12);
            }
        }
    }
}

#[test]
fn at_the_crossover_both_terms_are_alike() {
    let central = problem(Task::Regression, TrustModel::LabelCentral, 100_000, 1.0, 2, 0.5);
    // ε* = N^(-β/(2β+d))
    close(central.crossover().unwrap(), 1e5f64.powf(-0.5 / 3.0), 1e-12);
    for task in Task::ALL {
        for trust in [TrustModel::LabelCentral, TrustModel::FullCentral] {
            let asked = problem(task, trust, 100_000, 1.0, 2, 0.5);
            let at = Problem { epsilon: Epsilon::new(asked.crossover().unwrap()).unwrap(), ..asked };
            close(at.rate(), 2.0 * at.non_private_rate(), 1e-9);
        }
    }
    let local = problem(Task::Classification, TrustModel::LabelLocal, 100_000, 1.0, 2, 0.5);
    close(local.crossover().unwrap(), 1.0, 1e-12);
    assert_eq!(problem(Task::Heavy, TrustModel::None, 10, 1.0, 1, 1.0).crossover(), None);
}

#[test]
fn so_many_people_reach_a_target_and_one_fewer_do_not() {
    for task in Task::ALL {
        for trust in TrustModel::ALL {
            let asked = problem(task, trust, 1, 0.5, 1, 1.0);
            let people = asked.people_for(0.01).unwrap();
            assert!(Problem { people, ..asked }.rate() <= 0.01);
            assert!(Problem { people: people - 1, ..asked }.rate() > 0.01);
        }
    }
    assert_eq!(problem(Task::Regression, TrustModel::FullLocal, 1, 0.5, 500, 0.1).people_for(1e-3), None);
}

#[test]
fn clips_are_those_of_the_examples_and_the_least_of_their_bound() {
    close(local_clip(2.0, 1.0, 1000.0, 1.0), 1.671_851, 1e-6);
    close(central_clip(2.0, 1.0, 1000.0, 1.0), 9.401_508, 1e-6);
    for (p, k, epsilon) in [(2.0, 50.0, 0.3), (3.0, 1000.0, 1.0), (4.5, 7.0, 2.0)] {
        let bound = |t: f64| {
            (clip_constant(p) * 1.7f64).powi(2) * t.powf(2.0 - 2.0 * p)
                + 8.0 * t * t / (k * epsilon * epsilon)
        };
        let t = local_clip(p, 1.7, k, epsilon);
        assert!(bound(t) < bound(1.01 * t) && bound(t) < bound(t / 1.01));
        // In other units of the label it is the same clip.
        close(local_clip(p, 1.7 * 10f64.powf(p), k, epsilon), 10.0 * t, 1e-12);
    }
}

#[test]
fn the_clip_constant_is_the_largest_excess_of_any_two_point_law() {
    for p in [2.0, 3.0, 4.0] {
        // |Y| = y with probability y^-p, so that the moment is one: (y - T)·y^-p is largest at y = T·p/(p-1)
        let t = 3.0f64;
        let most =
            (1..4000).map(|i| t + f64::from(i) * 1e-3).map(|y| (y - t) * y.powf(-p)).fold(0.0, f64::max);
        close(most, clip_constant(p) * t.powf(1.0 - p), 1e-6);
        assert!(clip_constant(p) < 0.32 / (p - 1.0), "what is printed, 1/(p - 1), is too large");
    }
}

/// The exponent with which a rule falls in x, over a factor of 16.
fn exponent(rule: impl Fn(f64) -> f64, x: f64) -> f64 {
    (rule(16.0 * x) / rule(x)).ln() / 16f64.ln()
}

#[test]
fn heavy_neighbours_fall_with_epsilon_and_the_printed_rules_rise() {
    // β = 1/2, d = 1, p = 3: N^0.6·ε^-0.8
    let of = |n: f64, epsilon: f64| heavy_neighbours(n as u64, 1, 0.5, 3.0, epsilon);
    assert!((exponent(|n| of(n, 0.01), 1e9) - 0.6).abs() < 1e-3);
    assert!((exponent(|epsilon| of(1e12, epsilon), 1e-3) + 0.8).abs() < 1e-3);
    // As printed in the appendix, (Nε²)^(2pβ/(2pβ+d(p-1))): ε^1.2. The bound
    // (M T^(1-p))² + T²/(kε²) + (k/N)^(2β), each T at its best, is larger there.
    let bound = |k: f64, epsilon: f64| {
        let t = local_clip(3.0, 1.0, k, epsilon);
        (clip_constant(3.0) * t.powi(-2)).powi(2) + 8.0 * t * t / (k * epsilon * epsilon) + k / 1e6
    };
    let printed = (1e6f64 * 0.01 * 0.01).powf(0.6);
    assert!(bound(of(1e6, 0.01), 0.01) < 0.5 * bound(printed, 0.01));
}

#[test]
fn central_heavy_cells_shrink_with_the_exponent_that_minimises_the_bound() {
    // β = 1/2, d = 1, p = 3: 4/7, printed as 2/7
    let width = |n: f64| {
        let asked = problem(Task::Heavy, TrustModel::LabelCentral, n as u64, 1e-9, 1, 0.5);
        Plan::new(&Problem { moments: 3.0, ..asked }).unwrap().cell_width
    };
    assert!((exponent(width, 1e13) + 4.0 / 7.0).abs() < 0.02, "{}", exponent(width, 1e13));
}

#[test]
fn neighbours_and_widths_minimise_their_bounds() {
    let (n, d, beta, v) = (100_000u64, 2u32, 0.8, 9.0);
    let bias = std::f64::consts::PI.powf(-beta);
    let bound = |k: f64| v / k + bias * (k / n as f64).powf(beta);
    let k = neighbours(n, d, beta, v);
    assert!(bound(k) <= bound(k + 1.0) && bound(k) <= bound(k - 1.0));
    let h = central_regression_width(n, d, beta, 0.1);
    let risk = |h: f64| {
        let m = 1e5 * h * h;
        2f64.powf(beta) / 6.0 * h.powf(2.0 * beta) + 1.0 / m + 8.0 / (0.1 * m).powi(2)
    };
    assert!(risk(h) < risk(1.001 * h) && risk(h) < risk(h / 1.001));
    assert_eq!(neighbours(10, 1, 1.0, 1e30) as u32, 10);
}

#[test]
fn what_no_theorem_is_about_is_refused_with_its_value() {
    let sound = problem(Task::Classification, TrustModel::LabelLocal, 1000, 1.0, 2, 1.0);
    let refused = |asked: Problem| Plan::new(&asked).unwrap_err().to_string();
    for beta in [0.0, 1.2, -1.0, f64::NAN] {
        assert!(refused(Problem { beta, ..sound }).starts_with(&format!("β is {beta}")));
    }
    assert!(refused(Problem { classes: 1, ..sound }).contains("1 label"));
    assert!(refused(Problem { people: 0, ..sound }).contains("no reports"));
    assert!(refused(Problem { dimension: 0, ..sound }).contains("dimension is 0"));
    assert!(refused(Problem { gamma: -1.0, ..sound }).contains("γ is -1"));
    assert!(refused(Problem { moments: 1.5, ..sound }).contains("1.5"));
    let wide = Plan::new(&Problem { gamma: 3.0, ..sound }).unwrap();
    assert!(wide.upper_bound_only && wide.warnings.iter().any(|warning| warning.contains("γβ")));
    for width in [1.0, 1.5, 0.0, f64::NAN] {
        assert!(cells_per_axis(width).unwrap_err().to_string().contains(&width.to_string()));
    }
    assert_eq!(cells_per_axis(0.3).unwrap(), 3);
}

#[test]
fn the_document_has_the_names_that_the_program_prints() {
    let asked = problem(Task::Heavy, TrustModel::LabelLocal, 100_000, 1.0, 2, 1.0);
    let text = serde_json::to_value(Plan::new(&asked).unwrap()).unwrap();
    for name in ["rate", "non_private_rate", "cell_width", "neighbours", "clip"] {
        assert!(text[name].as_f64().unwrap() > 0.0, "{name}");
    }
    assert_eq!((&text["task"], &text["trust"]), (&"heavy".into(), &"label-local".into()));
}
