//! Noise scales as printed in a paper, shown to break the promises they are printed for.
//!
//! Shi, Xie, Jiang, Kong, He, *Non-Asymptotic Analysis of Online Local Private Learning with SGD*, add C₀·ω to a gradient
//! of norm at most C₀, so that two records are 2C₀ apart. In units of C₀, noise of variance v makes them as hard to tell
//! apart as N(0, 1) and N(μ, 1) with
//!
//! > μ = 2/√v
//!
//! and the exact δ(ε) of that is what the printed variance really buys. Mistakes about C₀ itself are shown by two records of
//! the Huber loss, p = 7 parameters of 6 covariates with c = 1.345 and R² = 2, whose gradients are as far apart as they get.

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use undertone_privacy::accounting::{delta_of_gaussian, mu_for};
use undertone_privacy::gradient::{Huber, Logistic, RecordLoss, RecordModel, Weight, Weighting};
use undertone_privacy::vector::simulated::SimulatedPrivUnit;
use undertone_privacy::vector::{Ball, BallVector, Gaussian, Laplace, VectorRandomizer};
use undertone_privacy::{Delta, Epsilon, Mu, Randomizer, Unbiased};

/// The μ of noise with this variance, in units of C₀².
fn mu_of_variance(variance: f64) -> Mu {
    Mu::new(2.0 / variance.sqrt()).unwrap()
}

/// δ(ε) of noise with this variance.
fn true_delta(variance: f64, epsilon: f64) -> f64 {
    delta_of_gaussian(mu_of_variance(variance), Epsilon::new(epsilon).unwrap())
}

#[track_caller]
fn assert_near(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 5e-3, "{value:e} is not {expected:e}");
}

#[test]
fn gaussian_variance_over_epsilon_instead_of_its_square_breaks_the_promise_below_one() {
    let claimed: f64 = 1e-5;
    for (epsilon, truth) in [(0.1, 1.87e-3), (0.25, 2.97e-4), (0.5, 1.47e-5)] {
        let printed = 8.0 * (1.25 / claimed).ln() / epsilon;
        let delta = true_delta(printed, epsilon);
        assert_near(delta, truth);
        assert!(delta > claimed);
        let corrected = printed / epsilon;
        assert!(true_delta(corrected, epsilon) < claimed);
    }
}

#[test]
fn the_classical_gaussian_scale_breaks_its_promise_at_large_epsilon() {
    let classical = |epsilon: f64, delta: f64| 8.0 * (1.25 / delta).ln() / (epsilon * epsilon);
    assert_near(true_delta(classical(10.0, 1e-5), 10.0), 2.265e-5);
    assert_near(true_delta(classical(20.0, 1e-2), 20.0), 0.4828);
    // Where it starts to, by the claimed δ; below, it is sound and wasteful.
    for (delta, start) in [(0.1, 5.74), (1e-2, 6.77), (1e-5, 8.42), (1e-6, 8.78)] {
        assert!(true_delta(classical(start - 0.02, delta), start - 0.02) < delta);
        assert!(true_delta(classical(start + 0.02, delta), start + 0.02) > delta);
    }
}

#[test]
fn calibrated_noise_keeps_the_promises_that_the_printed_one_breaks() {
    for (epsilon, delta) in [(0.1, 1e-5), (0.25, 1e-5), (0.5, 1e-5), (10.0, 1e-5), (20.0, 1e-2)] {
        let epsilon = Epsilon::new(epsilon).unwrap();
        let mu = mu_for(epsilon, Delta::new(delta).unwrap()).unwrap();
        let kept = delta_of_gaussian(mu, epsilon);
        assert!(kept <= delta * (1.0 + 1e-15) && kept >= delta * (1.0 - 1e-9));
    }
}

#[test]
fn gdp_variance_over_mu_instead_of_its_square_breaks_the_promise_below_one() {
    for (claimed, truth) in [(0.5_f64, 0.5_f64.sqrt()), (0.25, 0.5)] {
        let mu = mu_of_variance(4.0 / claimed).get();
        assert!((mu - truth).abs() < 1e-15);
        assert!(mu > claimed);
        assert!((mu_of_variance(4.0 / (claimed * claimed)).get() - claimed).abs() < 1e-15);
    }
}

const COVARIATES: usize = 6;

fn weighted(loss: RecordLoss) -> RecordModel {
    let weighting = Weighting::new(Weight::Square, 2f64.sqrt()).unwrap();
    RecordModel::new(loss, weighting, COVARIATES, 1e6).unwrap()
}

/// The gradients of two records of the Huber loss with |x| = R in the direction of a corner and residuals beyond ±c.
fn extreme_gradients() -> [Vec<f64>; 2] {
    let model = weighted(RecordLoss::Huber(Huber::new(Huber::CUT, 0.1, 20.0).unwrap()));
    let x = [(2.0 / COVARIATES as f64).sqrt(); COVARIATES];
    [1e3, -1e3].map(|y| {
        let mut gradient = vec![0.0; model.parameters()];
        model.gradient(&model.start(), &x, y, &mut gradient);
        gradient
    })
}

/// C₀ of the Huber loss: the largest norm of a gradient, as printed.
fn norm_bound() -> f64 {
    let huber = Huber::new(Huber::CUT, 0.1, 20.0).unwrap();
    let (c, kappa) = (huber.cut(), huber.consistency());
    (2.0 * c * c + (c * c - kappa).powi(2) / 4.0).sqrt()
}

fn l1_distance([a, b]: &[Vec<f64>; 2]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum()
}

fn l2_distance([a, b]: &[Vec<f64>; 2]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// Opposite corners of the cube in the ball of radius C₀, of which the printed proof knows nothing but C₀.
fn opposite_corners(p: usize) -> [Vec<f64>; 2] {
    [1.0, -1.0].map(|sign| vec![sign * norm_bound() / (p as f64).sqrt(); p])
}

#[test]
fn laplace_noise_from_a_bound_with_c0_under_the_root_breaks_the_promise() {
    // Noise of scale Δ₁/ε on each coordinate loses ε times the l1 distance over Δ₁.
    let (p, c0) = (7.0_f64, norm_bound());
    let printed = 2.0 * (p * c0).sqrt();
    assert_near(l1_distance(&opposite_corners(7)) / printed, 1.407);
    // Two records show a good part of it, ...
    assert_near(l1_distance(&extreme_gradients()), 2.0 * Huber::CUT * 12f64.sqrt());
    assert_near(l1_distance(&extreme_gradients()) / printed, 1.2515);
    // ... and nothing with the root where it belongs.
    let corrected = 2.0 * p.sqrt() * c0;
    assert!((l1_distance(&opposite_corners(7)) / corrected - 1.0).abs() < 1e-12);
    assert!(l1_distance(&extreme_gradients()) < corrected);
}

#[test]
fn laplace_noise_for_five_covariates_breaks_the_promise_about_seven_parameters() {
    // Five covariates, a constant and a scale
    let printed = 2.0 * 5f64.sqrt() * norm_bound();
    assert_near(l1_distance(&opposite_corners(7)) / printed, 1.183);
    assert_near(l1_distance(&extreme_gradients()) / printed, 1.0524);
}

#[test]
fn a_norm_bound_taken_for_the_sensitivity_has_almost_twice_the_mu() {
    // s = C₀/μ on records that are 2cR apart
    let apart = l2_distance(&extreme_gradients());
    assert_near(apart, 3.804_234_48);
    assert_near(apart / norm_bound(), 1.9214);
    // and all of it for the logistic loss, where C₀ = R is half of the diameter: two records next to each other on both
    // sides of a steep plane, both with the wrong label
    let model = weighted(RecordLoss::Logistic(Logistic));
    let theta = [0.0, 1e6, 0.0, 0.0, 0.0, 0.0];
    let gradients = [(1e-4, 0.0), (-1e-4, 1.0)].map(|(side, y)| {
        let mut gradient = vec![0.0; COVARIATES];
        model.gradient(&theta, &[2f64.sqrt(), side, 0.0, 0.0, 0.0, 0.0], y, &mut gradient);
        gradient
    });
    assert!((l2_distance(&gradients) / model.radius() - 2.0).abs() < 1e-6);
}

#[test]
fn a_diameter_taken_for_the_norm_bound_wastes_half_of_the_noise() {
    // √(8c² + c⁴/4) is printed as a sensitivity; as C₀ with noise 2C₀/μ it buys less than half of the μ.
    let c = Huber::CUT;
    let printed = (8.0 * c * c + c.powi(4) / 4.0).sqrt();
    assert_near(printed, 3.910_286_8);
    assert_near(l2_distance(&extreme_gradients()) / (2.0 * printed), 0.4864);
    // As what it is, the diameter, it is valid but not exact.
    assert!(l2_distance(&extreme_gradients()) < printed);
}

#[test]
fn laplace_noise_grows_with_the_square_of_the_dimension_not_with_its_cube() {
    let epsilon = Epsilon::new(1.0).unwrap();
    let of = |p| Laplace::new(Ball::new(p, 1.0).unwrap(), epsilon).unwrap();
    // 8p²/ε²: 392 at p = 7
    assert_near(of(7).variance_at_norm(0.0), 392.0);
    let order = (of(14).variance_at_norm(0.0) / of(7).variance_at_norm(0.0)).log2();
    assert!((order - 2.0).abs() < 1e-3, "{order}");
    let (mechanism, zero) = (of(7), BallVector::zero(Ball::new(7, 1.0).unwrap()));
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    let squares: Vec<f64> = (0..20_000)
        .map(|_| mechanism.estimate(&mechanism.randomize(&zero, &mut rng).unwrap()))
        .map(|noise| noise.iter().map(|z| z * z).sum())
        .collect();
    let n = squares.len() as f64;
    let mean = squares.iter().sum::<f64>() / n;
    let variance = squares.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / n;
    assert!((mean - 392.0).abs() < 5.0 * (variance / n).sqrt(), "{mean}");
}

#[test]
fn gaussian_noise_is_not_of_order_p_over_epsilon_squared_for_every_delta() {
    let epsilon = Epsilon::new(0.5).unwrap();
    let of = |p: usize, delta: f64| {
        let mechanism = Gaussian::analytic(Ball::new(p, 1.0).unwrap(), epsilon, Delta::new(delta).unwrap());
        mechanism.unwrap().variance_at_norm(0.0)
    };
    // Twice the digits of δ take twice the noise by the classical scale, ln(1.25/δ), and more by the exact one, ...
    let classical = (1.25e10f64).ln() / (1.25e5f64).ln();
    assert_near(classical, 1.9810);
    assert_near(of(7, 1e-10) / of(7, 1e-5), 2.645);
    assert!(of(7, 1e-10) < 8.0 * 7.0 * (1.25e10f64).ln() / 0.25);
    // ... and it is the mean of squared norms that grows like p.
    assert_near(of(14, 1e-5) / of(7, 1e-5), 2.0);
}

#[test]
fn a_plus_before_the_noise_is_another_mechanism_where_noise_is_not_symmetric() {
    // θ - η·g + η·ω with ω the noise of a direction: 2g - report in place of the report, which has not the length that every
    // report has, and by which a server knows an honest one.
    let ball = Ball::new(5, 1.0).unwrap();
    let mechanism = SimulatedPrivUnit::new(ball, Epsilon::new(2.0).unwrap());
    let gradient = [0.6, 0.0, 0.8, 0.0, 0.0];
    let vector = ball.clamp(&gradient).unwrap();
    let mut rng = ChaCha12Rng::seed_from_u64(3);
    let length = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let reports: Vec<Vec<f64>> =
        (0..200).map(|_| mechanism.estimate(&mechanism.randomize(&vector, &mut rng).unwrap())).collect();
    let printed: Vec<Vec<f64>> = reports
        .iter()
        .map(|report| report.iter().zip(gradient).map(|(report, g)| 2.0 * g - report).collect())
        .collect();
    let spread = |of: &[Vec<f64>]| {
        let lengths = of.iter().map(|v| length(v));
        lengths.clone().fold(0.0, f64::max) - lengths.fold(f64::INFINITY, f64::min)
    };
    assert!(spread(&reports) < 1e-9, "{}", spread(&reports));
    assert!(spread(&printed) > 0.5 * length(&reports[0]), "{}", spread(&printed));
}

#[test]
fn no_bound_at_all_is_no_noise_and_no_privacy_either() {
    // "C₀ = 0 is non-private": a gradient of norm zero has no radius, and is refused; what is not private has no noise.
    assert!(Ball::new(5, 0.0).is_err());
}
