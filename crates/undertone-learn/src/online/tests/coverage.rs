//! How often intervals cover, on a quadratic and on the designs.

use super::super::*;
use super::simulation::{People, squared_distance};
use super::{Normals, Sample, sample};
use crate::online::laws::{Budgets, Design, DesignKind};
use rayon::prelude::*;
use undertone_privacy::gradient::{Logistic, RecordLoss, RecordModel, Weight, Weighting};

/// The curvatures of a quadratic in three directions.
const CURVATURES: [f64; 3] = [1.0, 1.5, 2.0];
/// L of its noise, S = LL'
const NOISE: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.5, 2.0, 0.0], [-1.0, 0.5, 1.0]];
/// What l'θ is asked for beside the coordinates
const FUNCTIONAL: [f64; 3] = [1.0, -1.0, 2.0];

/// A descent on a quadratic from its optimum, zero, where a report of tier t has √`scales[t]` times the noise.
fn quadratic(options: OnlineOptions, scales: &[f64], n: u64, seed: u64) -> OnlineSgd {
    let weighting = Weighting::new(Weight::Square, 1.0).unwrap();
    let model = RecordModel::new(RecordLoss::Logistic(Logistic), weighting, 3, 1e6).unwrap();
    let mut sgd = OnlineSgd::new(model, options, vec![0.0; 3]).unwrap();
    let mut normals = Normals::new(seed);
    for _ in 0..n {
        let tier = (normals.unit() * scales.len() as f64) as usize;
        let z: [f64; 3] = std::array::from_fn(|_| scales[tier].sqrt() * normals.next());
        let gradient: [f64; 3] = std::array::from_fn(|j| {
            CURVATURES[j] * sgd.point()[j] + NOISE[j].iter().zip(&z).map(|(l, z)| l * z).sum::<f64>()
        });
        sgd.observe(Estimate { gradient: &gradient, tier }).unwrap();
    }
    sgd
}

/// tr(A⁻¹SA⁻¹) = Σ_j |row j of L|²/a_j².
fn trace() -> f64 {
    NOISE.iter().zip(CURVATURES).map(|(row, a)| row.iter().map(|l| l * l).sum::<f64>() / (a * a)).sum()
}

/// n·|θ̄|² over the law, in the mean over runs.
fn error_ratio(runs: &[OnlineSgd], n: u64) -> Sample {
    let error = |sgd: &OnlineSgd| squared_distance(sgd.mean().unwrap(), &[0.0; 3]) * n as f64 / trace();
    sample(&runs.iter().map(error).collect::<Vec<f64>>())
}

#[test]
fn on_a_quadratic_means_have_their_law_and_intervals_cover() {
    let n = 20_000;
    for steps in [Steps::new(1.0, 0.6, 0), Steps::new(3.0, 0.75, 200)] {
        let options = OnlineOptions::published(steps.unwrap()).unwrap();
        let run = |seed| quadratic(options.clone(), &[1.0], n, seed);
        let runs: Vec<OnlineSgd> = (0..600u64).into_par_iter().map(run).collect();
        let Sample { mean, error } = error_ratio(&runs, n);
        assert!((mean - 1.0).abs() < 5.0 * error && error < 0.05, "{mean} ± {error}");
        let covered = |sgd: &OnlineSgd| {
            let intervals = sgd.intervals(Level::NINETY_FIVE, Some(1.0)).unwrap();
            intervals.coordinates.iter().filter(|interval| interval.covers(0.0)).count() as f64 / 3.0
        };
        let Sample { mean, error } = sample(&runs.iter().map(covered).collect::<Vec<f64>>());
        assert!((mean - 0.95).abs() < 5.0 * error && mean > 0.93, "{mean} ± {error}");
        let functional = |sgd: &OnlineSgd| {
            let interval = sgd.scaling().unwrap().functional(&FUNCTIONAL, Level::NINETY_FIVE).unwrap();
            f64::from(u8::from(interval.covers(0.0)))
        };
        let Sample { mean, error } = sample(&runs.iter().map(functional).collect::<Vec<f64>>());
        assert!((mean - 0.95).abs() < 5.0 * error, "{mean} ± {error}");
    }
}

#[test]
fn budgets_add_up_by_their_arithmetic_mean_alike_and_by_the_harmonic_one_by_budget() {
    // Half of the people at μ = 1/2, half at 3, in units of the noise at μ = 1
    let (n, scales) = (20_000, [4.0, 1.0 / 9.0]);
    let budgets = scales.map(|noise| Budget { share: 0.5, noise });
    let (arithmetic, harmonic) = (37.0 / 18.0, 2.0 / (0.25 + 9.0));
    for (tiers, law) in
        [(Tiers::alike(2).unwrap(), arithmetic), (Tiers::by_budget(1e-9, &budgets).unwrap(), harmonic)]
    {
        let steps = Steps::new(1.0, 0.6, 100).unwrap();
        let options = OnlineOptions { tiers, ..OnlineOptions::published(steps).unwrap() };
        let run = |seed| quadratic(options.clone(), &scales, n, seed);
        let runs: Vec<OnlineSgd> = (0..500u64).into_par_iter().map(run).collect();
        let Sample { mean, error } = error_ratio(&runs, n);
        assert!(
            (mean / law - 1.0).abs() < 5.0 * error / law && error / law < 0.06,
            "{mean} ± {error} for {law}"
        );
        assert!(runs.iter().all(|sgd| sgd.intervals(Level::NINETY_FIVE, Some(1.0)).is_ok()));
    }
}

/// A published set-up with two covariates and weights R/|x|: 100,000 people, no burn-in.
struct Setup {
    kind: DesignKind,
    /// η, α and i₀
    steps: (f64, f64, u64),
    mu: f64,
}

/// The share of intervals that cover, whether or not the diagnosis lets them pass, and what it says.
fn covered(setup: &Setup, runs: u64) -> (Sample, Vec<Doubt>) {
    let design = Design::new(setup.kind, Weight::Linear, 2).unwrap();
    let (eta, alpha, offset) = setup.steps;
    let options = OnlineOptions::published(Steps::new(eta, alpha, offset).unwrap()).unwrap();
    let run = |seed: u64| {
        let mut people = People::new(design, seed);
        let mut sgd = OnlineSgd::new(design.model(), options.clone(), people.start()).unwrap();
        let mut gradient = people.start();
        for _ in 0..100_000 {
            people.next(setup.mu);
            people.report(sgd.point(), &mut gradient);
            sgd.observe(Estimate { gradient: &gradient, tier: 0 }).unwrap();
        }
        sgd
    };
    let runs: Vec<OnlineSgd> = (0..runs).into_par_iter().map(run).collect();
    let optimum = design.optimum();
    let share = |sgd: &OnlineSgd| {
        let intervals = sgd.scaling().unwrap().coordinates(Level::NINETY_FIVE);
        let hits =
            intervals.iter().zip(&optimum).filter(|(interval, truth)| interval.covers(**truth)).count();
        hits as f64 / optimum.len() as f64
    };
    let m = design.law(Budgets::NO_PRIVACY).least_curvature();
    (sample(&runs.iter().map(share).collect::<Vec<f64>>()), runs[0].doubts(Some(m)))
}

#[test]
fn intervals_of_the_designs_cover_as_often_as_an_independent_simulation_found() {
    use DesignKind::{Linear, Logistic};
    const RUNS: u64 = 64;
    // Coverage in 96 runs of another program
    for (kind, steps, mu, expected, converged) in [
        (Linear, (2.0, 0.6, 1000), 3.0, 0.922, true),
        (Linear, (5.0, 0.67, 3000), f64::INFINITY, 0.943, true),
        (Logistic, (2.0, 0.6, 1000), 3.0, 0.931, false),
        (Logistic, (2.0, 0.6, 1000), 1.0, 0.865, false),
    ] {
        let (Sample { mean, error }, doubts) = covered(&Setup { kind, steps, mu }, RUNS);
        let both = error.hypot(error * (RUNS as f64 / 96.0).sqrt());
        assert!((mean - expected).abs() < 5.0 * both, "{kind:?}, μ = {mu}: {mean} ± {error}");
        assert_eq!(doubts.is_empty(), converged, "{kind:?}, μ = {mu}: {doubts:?}");
        assert!(!converged || mean + 3.0 * error > 0.93, "{kind:?}, μ = {mu}: {mean} ± {error}");
    }
}
