//! n^α·E|θ_n - θ*|² → (η/2)·tr(A⁻¹S), measured.
//!
//! Beside each descent runs its linearisation, driven by the same people,
//!
//! > δ_i = δ_{i-1} - η_i·(A·δ_{i-1} + ĝ_i(θ*))
//!
//! whose E|δ_n|² follows exactly from the recursion of its covariance. The difference of the two squares, which go up and
//! down together, has a fraction of the variance of either, so that dozens of runs do what thousands would.

use super::super::*;
use super::law;
use crate::online::tests::simulation::{People, squared_distance};
use crate::online::tests::{Sample, sample};
use crate::online::{Estimate, OnlineOptions, OnlineSgd, Steps};
use rayon::prelude::*;
use undertone_privacy::Mu;
use undertone_privacy::gradient::Weight;

/// E|δ_n|² from the published start.
fn linear_error(law: &Law, steps: &Steps, n: u64) -> f64 {
    let d = law.dimension as f64;
    let (a, s) = law.together;
    // θ_0 - θ* is -1 everywhere: -(1, √d) in the intercept and the mean slope, nothing across.
    let mut together = Pair { first: 1.0, cross: d.sqrt(), second: d };
    let (mut across, mut scale) = (0.0, 1.0);
    let line = |variance: f64, of: Option<(f64, f64)>, eta: f64| {
        of.map_or(0.0, |(a, s)| (1.0 - eta * a).powi(2) * variance + eta * eta * s)
    };
    for i in 1..=n {
        let eta = steps.at(i);
        let shrink = Pair { first: 1.0 - eta * a.first, cross: -eta * a.cross, second: 1.0 - eta * a.second };
        let kept = together.between(shrink);
        together = Pair {
            first: kept.first + eta * eta * s.first,
            cross: kept.cross + eta * eta * s.cross,
            second: kept.second + eta * eta * s.second,
        };
        (across, scale) = (line(across, law.across, eta), line(scale, law.scale, eta));
    }
    together.trace() + (d - 1.0) * across + scale
}

/// A·δ, in the coordinates of θ.
fn times_hessian(law: &Law, delta: &[f64], product: &mut [f64]) {
    let (a, d) = (law.together.0, law.dimension);
    let root = (d as f64).sqrt();
    let mean = delta[1..=d].iter().sum::<f64>() / root;
    product[0] = a.first * delta[0] + a.cross * mean;
    let along = (a.cross * delta[0] + a.second * mean) / root;
    for (product, delta) in product[1..=d].iter_mut().zip(&delta[1..=d]) {
        *product = along + law.across.map_or(0.0, |(a, _)| a) * (delta - mean / root);
    }
    if let (Some((a, _)), Some(delta), Some(product)) = (law.scale, delta.get(d + 1), product.get_mut(d + 1))
    {
        *product = a * delta;
    }
}

/// A descent and its linearisation beside it.
struct Twins<'a> {
    law: &'a Law,
    sgd: OnlineSgd,
    delta: Vec<f64>,
    product: Vec<f64>,
    gradient: Vec<f64>,
    sign: f64,
}

impl<'a> Twins<'a> {
    fn new(design: Design, law: &'a Law, steps: Steps, sign: f64) -> Self {
        let (start, optimum) = (design.model().start(), design.optimum());
        let delta: Vec<f64> = start.iter().zip(&optimum).map(|(start, best)| start - best).collect();
        let options = OnlineOptions::published(steps).unwrap();
        let sgd = OnlineSgd::new(design.model(), options, start).unwrap();
        Self { law, sgd, product: delta.clone(), gradient: delta.clone(), delta, sign }
    }

    fn observe(&mut self, people: &People) {
        people.signed_report(people.optimum(), self.sign, &mut self.gradient);
        times_hessian(self.law, &self.delta, &mut self.product);
        let eta = self.sgd.options().steps.at(self.sgd.reports() + 1);
        for ((delta, g), product) in self.delta.iter_mut().zip(&self.gradient).zip(&self.product) {
            *delta -= eta * (product + g);
        }
        people.signed_report(self.sgd.point(), self.sign, &mut self.gradient);
        self.sgd.observe(Estimate { gradient: &self.gradient, tier: 0 }).unwrap();
    }

    /// |θ_n - θ*|² - |δ_n|².
    fn excess(&self, optimum: &[f64]) -> f64 {
        squared_distance(self.sgd.point(), optimum)
            - self.delta.iter().map(|delta| delta * delta).sum::<f64>()
    }
}

/// The mean excess of two runs with opposite noise, where `mu` draws the promise of each person.
fn excess(design: Design, law: &Law, steps: Steps, n: u64, seed: u64, mu: fn(f64) -> f64) -> f64 {
    let mut people = People::new(design, seed);
    let mut twins = [1.0, -1.0].map(|sign| Twins::new(design, law, steps, sign));
    for _ in 0..n {
        let promise = mu(people.unit());
        people.next(promise);
        for twins in &mut twins {
            twins.observe(&people);
        }
    }
    twins.iter().map(|twins| twins.excess(people.optimum())).sum::<f64>() / 2.0
}

/// Measured over predicted.
fn ratio(design: Design, law: &Law, steps: Steps, runs: u64, mu: fn(f64) -> f64) -> Sample {
    const PEOPLE: u64 = 300_000;
    let excess = |seed| excess(design, law, steps, PEOPLE, seed, mu);
    let excesses: Vec<f64> = (0..runs).into_par_iter().map(excess).collect();
    let (Sample { mean, error }, linear) = (sample(&excesses), linear_error(law, &steps, PEOPLE));
    let predicted = law.predict(&steps, PEOPLE).last_iterate_error.unwrap();
    Sample { mean: (linear + mean) / predicted, error: error / predicted }
}

fn ratio_at_three(kind: DesignKind, eta: f64, alpha: f64, runs: u64) -> Sample {
    let design = Design::new(kind, Weight::Square, 5).unwrap();
    let law = law(kind, Weight::Square, 5, 3.0);
    ratio(design, &law, Steps::new(eta, alpha, 0).unwrap(), runs, |_| 3.0)
}

#[test]
fn the_last_iterate_of_a_regression_has_the_error_of_its_law() {
    for (alpha, runs) in [(1.0 / 3.0, 24), (0.5, 6)] {
        let Sample { mean, error } = ratio_at_three(DesignKind::Linear, 0.2, alpha, runs);
        assert!((mean - 1.0).abs() + 3.0 * error < 0.08, "α = {alpha}: {mean} ± {error}");
    }
}

#[test]
fn the_published_logistic_runs_are_eight_per_cent_above_their_law() {
    // 4096 runs gave 1.085 ± 0.012 and 1.090 ± 0.011, 160 pairs beside their linearisations 1.078 ± 0.008 and 1.082 ± 0.007. One
    // run scatters by 0.79 and 0.72, so that an independent program's 1.056 and 1.054 are these numbers within the error of its
    // runs. At α = 1/3 iterates spread so far that the loss bends under them; at α = 1/2 it bends less, and the start, forgotten
    // to e^-3.8, is still there. So 8 % is what the law is right to at n = 3·10⁵, and not less.
    for (alpha, known) in [(1.0 / 3.0, 1.080), (0.5, 1.084)] {
        let Sample { mean, error } = ratio_at_three(DesignKind::Logistic, 0.2, alpha, 16);
        assert!((mean - known).abs() < 3.0 * error && error < 0.03, "α = {alpha}: {mean} ± {error}");
    }
}

#[test]
fn the_start_is_what_the_linear_part_of_a_logistic_run_has_above_its_law() {
    // Exactly, by the recursion of second moments. With the curvature of the optimum all the way a fifth would be left of the
    // start at η = 0.2 and α = 1/2; a real run begins where the loss is steeper, and forgets it sooner.
    let law = law(DesignKind::Logistic, Weight::Square, 5, 3.0);
    let share = |eta: f64, alpha: f64| {
        let steps = Steps::new(eta, alpha, 0).unwrap();
        linear_error(&law, &steps, 300_000) / law.predict(&steps, 300_000).last_iterate_error.unwrap()
    };
    let shares = [(0.2, 1.0 / 3.0), (0.2, 0.5), (0.4, 0.5)].map(|(eta, alpha)| share(eta, alpha));
    let expected = [1.0066, 1.2207, 1.0437];
    assert!(shares.iter().zip(expected).all(|(share, value)| (share - value).abs() < 1e-4), "{shares:?}");
}

#[test]
fn budgets_of_their_own_count_by_the_mean_of_one_over_mu_squared() {
    let design = Design::new(DesignKind::Linear, Weight::Square, 5).unwrap();
    let [one, two] = [1.0, 2.0].map(|mu| Mu::new(mu).unwrap());
    // E[1/μ²] = 1/2 between 1 and 2, where 1/E[μ]² would be 4/9: 12 % less
    let law = design.law(Budgets::uniform(one, two));
    let steps = Steps::new(0.2, 0.5, 0).unwrap();
    let Sample { mean, error } = ratio(design, &law, steps, 6, |unit| 1.0 + unit);
    assert!((mean - 1.0).abs() + 3.0 * error < 0.06, "{mean} ± {error}");
}
