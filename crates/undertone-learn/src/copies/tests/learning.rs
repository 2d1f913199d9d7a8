//! From records to weights, through the reports of devices.

use super::super::*;
use crate::LearnError;
use crate::moments::MarginLoss;
use crate::moments::study::Population;
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use undertone_privacy::statistic::{RecordMoments, Response};
use undertone_privacy::vector::{Ball, GaussianCopies};
use undertone_privacy::{Mu, Randomizer, Unbiased};

fn mechanism(inner: usize, mu: f64) -> GaussianCopies {
    GaussianCopies::gdp(Ball::new(2, 1.0).unwrap(), inner, Mu::new(mu).unwrap()).unwrap()
}

#[test]
fn gradients_are_unbiased_at_any_point_with_the_stated_second_moment() {
    let (w, z) = ([0.5, -0.3], [0.6, 0.7]);
    let margin: f64 = w.iter().zip(z).map(|(w, z)| w * z).sum();
    for layout in [Layout::Printed, Layout::Blossom] {
        let oracle = SlopeOracle::hinge(layout, 2, 0.25, 1.0).unwrap();
        let slope = BernsteinSlope::new(2, 1.0, |t| smooth_hinge_slope(t, 0.25)).unwrap();
        let copies = mechanism(oracle.inner(), 8.0);
        let input = copies.ball().clamp(&z).unwrap();
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let (n, mut sums, mut squares, mut fourth) = (40_000, [0.0; 2], [0.0; 2], 0.0);
        for _ in 0..n {
            let report = copies.randomize(&input, &mut rng).unwrap();
            let mut gradient = [0.0; 2];
            oracle.add_gradient(&copies.estimate(&report), &w, &mut gradient, &mut rng);
            for j in 0..2 {
                sums[j] += gradient[j] / f64::from(n);
                squares[j] += gradient[j].powi(2) / f64::from(n);
            }
            fourth += (gradient[0].powi(2) + gradient[1].powi(2)).powi(2) / f64::from(n);
        }
        for j in 0..2 {
            let truth = slope.at(margin) * z[j];
            let error = (squares[j] / f64::from(n)).sqrt();
            assert!((sums[j] - truth).abs() < 5.0 * error, "{layout:?}: {} for {truth}", sums[j]);
        }
        // E|G|² = E[P̂²]·(|z|² + p·σ₀²), with τ² = |w|²·σ²/(4R²)
        let tau = (0.25 + 0.09) * copies.inner_variance() / 4.0;
        let inner = layout.second_moment(slope.coefficients(), slope.place(margin), tau);
        let stated = inner * (0.36 + 0.49 + 2.0 * copies.outer_variance());
        let found: f64 = squares.iter().sum();
        let error = ((fourth - found * found) / f64::from(n)).sqrt();
        assert!((found - stated).abs() < 5.0 * error, "{layout:?}: {found} for {stated}");
    }
}

#[test]
fn the_mixture_and_the_slope_itself_have_the_same_gradient() {
    // Without noise the mixture's gradient is right in the mean over kinks, up to the smoothing of the step.
    let (w, z) = ([0.4, 0.5], [0.6, -0.2]);
    let margin: f64 = w.iter().zip(z).map(|(w, z)| w * z).sum();
    let loss = MarginLoss::Logistic;
    let mixture = Mixture::of(loss, 1.0).unwrap();
    let oracle = SlopeOracle::mixture(Layout::Blossom, 60, 0.05, mixture).unwrap();
    let copies: Vec<f64> = (0..=oracle.inner()).flat_map(|_| z).collect();
    let (mut gradient, mut rng, rounds) = ([0.0; 2], ChaCha12Rng::seed_from_u64(2), 3000);
    for _ in 0..rounds {
        oracle.add_gradient(&copies, &w, &mut gradient, &mut rng);
    }
    for (g, z) in gradient.iter().zip(z) {
        assert!((g / f64::from(rounds) - loss.slope(margin) * z).abs() < 0.02, "{gradient:?}");
    }
    let direct = SlopeOracle::direct(Layout::Blossom, 8, loss, 1.0).unwrap();
    let copies: Vec<f64> = (0..=direct.inner()).flat_map(|_| z).collect();
    let mut gradient = [0.0; 2];
    direct.add_gradient(&copies, &w, &mut gradient, &mut rng);
    assert!(gradient.iter().zip(z).all(|(g, z)| (g - loss.slope(margin) * z).abs() < 1e-3));
}

#[test]
fn with_little_noise_one_pass_learns_the_hinge_and_the_logistic_loss() {
    let population = Population::new(2, 3).unwrap();
    let sample = population.sample(8000, 1);
    let records = RecordMoments::new(2, Response::Sign).unwrap();
    for (loss, oracle) in [
        (MarginLoss::Hinge, SlopeOracle::hinge(Layout::Blossom, 2, 0.25, 1.0).unwrap()),
        (MarginLoss::Logistic, SlopeOracle::direct(Layout::Blossom, 1, MarginLoss::Logistic, 1.0).unwrap()),
        (
            MarginLoss::Logistic,
            SlopeOracle::mixture(Layout::Printed, 1, 0.25, Mixture::of(MarginLoss::Logistic, 1.0).unwrap())
                .unwrap(),
        ),
    ] {
        // A promise that is hardly one
        let mechanism = mechanism(oracle.inner(), 10.0);
        let options = DescentOptions { order: 1.0, batch: 20, noise: 2.0, smoothness: 2.0, seed: 4 };
        let mut descent = CopiesDescent::new(mechanism, oracle, options).unwrap();
        let mut rng = ChaCha12Rng::seed_from_u64(5);
        for (x, y) in sample.records() {
            let z = records.of(x, y).unwrap().first;
            descent.observe(&mechanism.randomize(&z, &mut rng).unwrap()).unwrap();
        }
        let least = sample.risk(loss, &sample.optimum(loss, 1.0));
        let constant = sample.risk(loss, &[0.0; 2]) - least;
        let excess = sample.risk(loss, descent.weights()) - least;
        assert!(excess < 0.35 * constant, "{loss:?}: {excess} of {constant}");
    }
}

#[test]
fn copies_for_another_polynomial_are_refused() {
    let oracle = || SlopeOracle::hinge(Layout::Printed, 2, 0.25, 1.0).unwrap();
    let options = DescentOptions { order: 1.0, batch: 1, noise: 1.0, smoothness: 1.0, seed: 1 };
    assert!(matches!(
        CopiesDescent::new(mechanism(2, 1.0), oracle(), options),
        Err(LearnError::Columns { found: 2, expected: 6 })
    ));
    let mut descent = CopiesDescent::new(mechanism(6, 1.0), oracle(), options).unwrap();
    assert!(descent.observe(&vec![0; 13]).is_err() && descent.observe(&vec![0; 14]).is_ok());
}
