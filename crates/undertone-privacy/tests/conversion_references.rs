//! Every conversion against mpmath, over the whole range: never below the truth, and hardly above it.
//!
//! The tables beside this file were written by `reference/promises.py`.

use undertone_privacy::accounting::{
    epsilon_of_concentrated, epsilon_of_gaussian, ln_delta_of_concentrated, ln_delta_of_gaussian, mu_for,
    mu_of_pure, pure_for_gaussian, rho_for, rho_of_pure,
};
use undertone_privacy::{Delta, Epsilon, Guarantee, Mu, PrivacyError, Rho};

/// The sharpness asked for: stated and true value agree to a relative 10^-9.
const SHARP: f64 = 1e-9;

fn rows<const COLUMNS: usize>(table: &str) -> Vec<[f64; COLUMNS]> {
    let parse = |line: &str| {
        let values: Vec<f64> = line.split(',').map(|value| value.parse().unwrap()).collect();
        values.try_into().unwrap()
    };
    table.lines().skip(1).map(parse).collect()
}

/// The largest excess of a stated value over the true one, after checking that there is no shortfall.
#[derive(Default)]
struct Excess(f64);

impl Excess {
    fn see(&mut self, excess: f64, of: &[f64]) {
        assert!(excess >= 0.0, "understated by {excess:e} at {of:?}");
        assert!(excess <= SHARP, "overstated by {excess:e} at {of:?}");
        self.0 = self.0.max(excess);
    }

    fn tell(&self, what: &str) {
        println!("{what}: at most {:.1e} beyond the truth", self.0);
    }
}

/// How far ln δ is overstated: relative to δ, and where ln δ is large, relative to ln δ.
fn excess_of_ln(stated: f64, truth: f64) -> f64 {
    (stated - truth) / truth.abs().max(1.0)
}

#[test]
fn delta_of_gaussian_is_never_understated() {
    let mut excess = Excess::default();
    for row @ [mu, epsilon, truth] in rows(include_str!("reference/gaussian_ln_delta.csv")) {
        let stated = ln_delta_of_gaussian(Mu::new(mu).unwrap(), Epsilon::new(epsilon).unwrap());
        excess.see(excess_of_ln(stated, truth), &row);
        let delta = Guarantee::Gaussian(Mu::new(mu).unwrap()).delta_at(Epsilon::new(epsilon).unwrap());
        assert!(delta > 0.0 && delta <= 1.0);
        if truth > -690.0 {
            // 10^-13 for e^truth, which is rounded itself
            excess.see(delta / truth.exp() - 1.0 + 1e-13, &row);
        }
    }
    excess.tell("ln δ of μ");
}

#[test]
fn mu_for_an_epsilon_and_delta_is_never_too_large() {
    let mut excess = Excess::default();
    for row @ [epsilon, delta, truth] in rows(include_str!("reference/mu_for.csv")) {
        let stated = mu_for(Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap()).unwrap();
        excess.see(1.0 - stated.get() / truth, &row);
    }
    excess.tell("μ for (ε, δ)");
}

#[test]
fn epsilon_of_gaussian_is_never_understated() {
    let mut excess = Excess::default();
    for row @ [mu, delta, truth] in rows(include_str!("reference/epsilon_of_gaussian.csv")) {
        let stated = epsilon_of_gaussian(Mu::new(mu).unwrap(), Delta::new(delta).unwrap()).unwrap();
        excess.see((stated.get() - truth) / truth.max(1e-3), &row);
    }
    excess.tell("ε of (μ, δ)");
}

#[test]
fn mu_and_rho_of_pure_epsilon_are_never_understated() {
    let mut excess = Excess::default();
    for row @ [epsilon, mu, rho] in rows(include_str!("reference/of_pure.csv")) {
        let epsilon = Epsilon::new(epsilon).unwrap();
        excess.see(mu_of_pure(epsilon).unwrap().get() / mu - 1.0, &row);
        excess.see(rho_of_pure(epsilon).unwrap().get() / rho - 1.0, &row);
    }
    excess.tell("μ and ρ of ε");
}

#[test]
fn pure_epsilon_for_a_mu_is_never_too_large() {
    let mut excess = Excess::default();
    for row @ [mu, epsilon] in rows(include_str!("reference/pure_for_gaussian.csv")) {
        excess.see(1.0 - pure_for_gaussian(Mu::new(mu).unwrap()).unwrap().get() / epsilon, &row);
    }
    excess.tell("ε for μ");
}

#[test]
fn delta_of_concentrated_is_never_understated() {
    let mut excess = Excess::default();
    for row @ [rho, epsilon, truth] in rows(include_str!("reference/zcdp_ln_delta.csv")) {
        let stated = ln_delta_of_concentrated(Rho::new(rho).unwrap(), Epsilon::new(epsilon).unwrap());
        excess.see(excess_of_ln(stated, truth), &row);
    }
    excess.tell("ln δ of ρ");
}

#[test]
fn rho_for_an_epsilon_and_delta_is_never_too_large_and_epsilon_of_that_rho_never_too_small() {
    let mut excess = Excess::default();
    for row @ [epsilon, delta, truth] in rows(include_str!("reference/rho_for.csv")) {
        let delta = Delta::new(delta).unwrap();
        let stated = rho_for(Epsilon::new(epsilon).unwrap(), delta).unwrap();
        excess.see(1.0 - stated.get() / truth, &row);
        // The true ρ, as a float, belongs to the true ε.
        let back = epsilon_of_concentrated(Rho::new(truth).unwrap(), delta).unwrap();
        excess.see((back.get() - epsilon) / epsilon.max(1e-3), &row);
    }
    excess.tell("ρ for (ε, δ) and back");
}

#[test]
fn the_ends_of_the_number_range_are_answered_or_refused_but_never_understated() {
    let extremes = [5e-324, 1e-300, 1e-150, 1e-20, 1.0, 1e20, 1e150, 1e300, f64::MAX];
    for x in extremes {
        for y in extremes {
            let (mu, rho) = (Mu::new(x).unwrap(), Rho::new(x).unwrap());
            let epsilon = Epsilon::new(y).unwrap();
            for promise in [Guarantee::Gaussian(mu), Guarantee::Concentrated(rho)] {
                let delta = promise.delta_at(epsilon);
                assert!(delta > 0.0 && delta <= 1.0, "{promise} at {epsilon}: {delta}");
            }
            for delta in [5e-324, 1e-10, 0.5, 1.0 - f64::EPSILON].map(|delta| Delta::new(delta).unwrap()) {
                let finite = |answer: Result<f64, PrivacyError>| answer.is_ok_and(f64::is_finite);
                if (1e-150..=1e150).contains(&y) {
                    assert!(finite(mu_for(epsilon, delta).map(Mu::get)), "μ for ({epsilon}, {delta})");
                    assert!(finite(rho_for(epsilon, delta).map(Rho::get)), "ρ for ({epsilon}, {delta})");
                }
                if (1e-150..=1e150).contains(&x) {
                    assert!(finite(epsilon_of_gaussian(mu, delta).map(Epsilon::get)), "ε of ({mu}, {delta})");
                    assert!(
                        finite(epsilon_of_concentrated(rho, delta).map(Epsilon::get)),
                        "ε of ({rho}, {delta})"
                    );
                }
            }
        }
    }
}
