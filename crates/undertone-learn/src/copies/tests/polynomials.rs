//! Polynomials and estimators: closed forms, and sums over many draws.

use super::super::bernstein::basis;
use super::super::*;
use crate::moments::MarginLoss;
use undertone_privacy::vector::stream::PublicStream;

/// The mean of an estimate over draws of its copies with the variance `square` around `a`, its variance, and the standard
/// errors of both.
fn drawn(layout: Layout, coefficients: &[f64], a: f64, square: f64, rounds: u32) -> [f64; 4] {
    let mut stream = PublicStream::new(5, 0);
    let mut copies = vec![0.0; layout.inner(coefficients.len() - 1)];
    let (mut first, mut second, mut fourth) = (0.0, 0.0, 0.0);
    let exact = layout.estimate(coefficients, &vec![a; copies.len()]);
    for _ in 0..rounds {
        stream.fill_normal(&mut copies);
        for u in &mut copies {
            *u = a + square.sqrt() * *u;
        }
        let away = layout.estimate(coefficients, &copies) - exact;
        first += away / f64::from(rounds);
        second += away * away / f64::from(rounds);
        fourth += away.powi(4) / f64::from(rounds);
    }
    let errors = [second / f64::from(rounds), (fourth - second * second) / f64::from(rounds)];
    [exact + first, second, errors[0].sqrt(), errors[1].sqrt()]
}

#[test]
fn estimates_are_unbiased_with_exactly_the_stated_variance() {
    let slope = BernsteinSlope::new(3, 1.0, |t| smooth_hinge_slope(t, 0.25)).unwrap();
    for layout in [Layout::Printed, Layout::Blossom] {
        for (a, square) in [(0.6, 0.09), (0.2, 0.02)] {
            let [mean, variance, error, variance_error] =
                drawn(layout, slope.coefficients(), a, square, 200_000);
            let truth = slope.at(2.0 * a - 1.0);
            assert!((mean - truth).abs() < 5.0 * error, "{layout:?}: {mean} for {truth}");
            let stated = layout.variance(slope.coefficients(), a, square);
            assert!((variance - stated).abs() < 5.0 * variance_error, "{layout:?}: {variance} for {stated}");
        }
    }
}

#[test]
fn without_noise_both_layouts_are_the_polynomial() {
    let slope = BernsteinSlope::new(4, 2.0, |t| MarginLoss::Logistic.slope(t)).unwrap();
    for t in [-2.0, -0.7, 0.0, 1.3, 2.0] {
        let u = slope.place(t);
        let by_basis: f64 = basis(4, u).iter().zip(slope.coefficients()).map(|(b, c)| b * c).sum();
        assert!((slope.at(t) - by_basis).abs() < 1e-12);
        for layout in [Layout::Printed, Layout::Blossom] {
            let found = layout.estimate(slope.coefficients(), &vec![u; layout.inner(4)]);
            assert!(
                (found - by_basis).abs() < 1e-12 && layout.variance(slope.coefficients(), u, 0.0) < 1e-15
            );
            assert!((layout.second_moment(slope.coefficients(), u, 0.0) - found * found).abs() < 1e-12);
        }
    }
    assert_eq!((Layout::Printed.inner(2), Layout::Blossom.inner(2)), (6, 2));
}

#[test]
fn at_the_same_budget_the_blossom_is_better_by_orders_of_magnitude() {
    // ε = 1, δ = 10^-6, μ = 0.2367: half of μ² for c inner copies is σ² = 8c/μ², and τ² = σ²/4 at |w| = R = 1.
    let mu = 0.2367f64;
    for (degree, printed, blossom) in
        [(1, 70.6, 31.6), (2, 2.1e5, 3.7e3), (3, 1.2e9, 1.4e5), (4, 1.4e13, 2.6e8)]
    {
        let slope = BernsteinSlope::new(degree, 1.0, |t| smooth_hinge_slope(t, 0.25)).unwrap();
        let variance = |layout: Layout| {
            let tau = 8.0 * layout.inner(degree) as f64 / (mu * mu) / 4.0;
            layout.variance(slope.coefficients(), 0.5, tau)
        };
        // The published figures are for some margin; sizes have to agree.
        for (layout, expected) in [(Layout::Printed, printed), (Layout::Blossom, blossom)] {
            let found: f64 = variance(layout);
            assert!((found / expected).ln().abs() < 1.5, "{layout:?}, degree {degree}: {found:e}");
        }
        assert!(variance(Layout::Blossom) < variance(Layout::Printed) / 2.0);
    }
}

#[test]
fn a_loss_is_the_mixture_of_absolute_values_that_its_kinks_say() {
    // P(s < t) = (g'(t) - g'(-1))/(g'(1) - g'(-1)), over an even grid of v
    for (loss, radius) in [(MarginLoss::Logistic, 1.0), (MarginLoss::Logistic, 4.0), (MarginLoss::Hinge, 2.0)]
    {
        let mixture = Mixture::of(loss, radius).unwrap();
        let kinks: Vec<f64> = (0..4000).map(|k| mixture.kink((f64::from(k) + 0.5) / 4000.0)).collect();
        for t in [-0.9, -0.3, 0.1, 0.2, 0.6, 0.95] {
            let below = kinks.iter().filter(|s| **s < t).count() as f64 / 4000.0;
            let slope = mixture.rise() * below + mixture.low();
            assert!((slope - loss.slope(radius * t)).abs() < 5e-4, "{loss:?} at {t}: {slope}");
        }
    }
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    assert!(BernsteinSlope::new(0, 1.0, |t| t).is_err() && BernsteinSlope::new(2, 0.0, |t| t).is_err());
    assert!(Mixture::new(|t: f64| 2.0 * t, 1.0).is_err() && Mixture::new(|t: f64| -t, 1.0).is_err());
    assert!(Mixture::of(MarginLoss::Logistic, f64::NAN).is_err());
    assert!(Mixture::of(MarginLoss::Squared, 1.0).is_err(), "not 1-Lipschitz");
}
