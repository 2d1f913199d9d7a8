//! Statements about descents as printed in a paper, shown wrong (Shi, Xie, Jiang, Kong, He, *Non-Asymptotic Analysis of Online
//! Local Private Learning with SGD*).

use super::super::Steps;
use super::simulation::People;
use super::{Normals, sample};
use crate::online::laws::{Design, DesignKind};
use undertone_privacy::gradient::{Huber, RecordLoss, Weight};

fn steps(eta: f64, alpha: f64) -> Steps {
    Steps::new(eta, alpha, 0).unwrap()
}

/// E|θ_i|² of the descent on m·θ²/2 with reports of variance one, exactly, for i = 1, …, n.
fn squares(steps: &Steps, curvature: f64, start: f64, n: u64) -> impl Iterator<Item = f64> {
    (1..=n).scan(start, move |square, i| {
        let eta = steps.at(i);
        *square = (1.0 - eta * curvature).powi(2) * *square + eta * eta;
        Some(*square)
    })
}

#[test]
fn without_a_projection_the_scale_falls_below_zero_within_a_few_reports() {
    // Reports of μ = 1 with the published η = 0.2 move σ by 0.76, of which the start has one.
    let design = Design::new(DesignKind::Linear, Weight::Square, 5).unwrap();
    let fallen = |mu: f64, seed: u64| {
        let mut people = People::new(design, seed);
        let (mut theta, mut gradient) = (people.start(), people.start());
        let steps = steps(0.2, 0.5);
        (1..=20).any(|i| {
            people.next(mu);
            people.report(&theta, &mut gradient);
            theta.iter_mut().zip(&gradient).for_each(|(value, g)| *value -= steps.at(i) * g);
            theta[theta.len() - 1] <= 0.0
        })
    };
    // Within twenty reports a fifth of all runs, and at μ = 1/2 nearly half of them
    for (mu, least) in [(1.0, 40), (0.5, 90)] {
        let count = (0..200).filter(|&seed| fallen(mu, seed)).count();
        assert!(count > least, "μ = {mu}: {count} of 200");
    }
    // There the gradient of a slope points the wrong way: u has the sign of -(y - x'β).
    let RecordLoss::Huber(huber) = design.model().loss() else { panic!("a regression") };
    let slope = |sigma: f64| -(1.0 / sigma).clamp(-huber.cut(), huber.cut());
    assert!(slope(1.0) < 0.0 && slope(-1.0) > 0.0);
    assert!((huber.cut() - Huber::CUT).abs() < 1e-15);
}

#[test]
fn the_printed_bound_of_the_last_iterate_without_strong_convexity_is_broken() {
    // Huber's function of slope one, without noise, from 1000: every step is η_i, and the gap is |θ| - 1/2.
    let steps = steps(0.1, 0.6);
    let end = 1000.0 - (1..=1_000_000).map(|i| steps.at(i)).sum::<f64>();
    let printed = 108.8;
    assert!((end - 0.5 - 936.9).abs() < 0.05 && end - 0.5 > printed, "{}", end - 0.5);
}

/// Σ i^-2α is in (ψ, 1 + ψ], where ψ_b(t) = (t^b - 1)/b and ψ_0 = ln; the paper prints ψ for it.
fn psi(b: f64, t: f64) -> f64 {
    if b == 0.0 { t.ln() } else { (t.powf(b) - 1.0) / b }
}

/// (1/n)·\[(δ_0 + B²·`squares`)/(2η_{n+1}) + (B²/2)·Σ_{2}^{n+1} η_i·`late`\], with B² = 1 and δ_0 = 0.
fn bound(steps: &Steps, n: u64, squares: f64, late: f64) -> f64 {
    (squares / (2.0 * steps.at(n + 1)) + late / 2.0) / n as f64
}

#[test]
fn the_printed_bound_of_the_mean_is_zero_after_one_report_and_that_is_too_little() {
    for alpha in [1.0 / 3.0, 0.5, 2.0 / 3.0] {
        let steps = steps(0.2, alpha);
        for n in [1, 10, 1000] {
            let sum: f64 = (1..=n).map(|i| steps.at(i).powi(2)).sum();
            let printed = 0.04 * psi(1.0 - 2.0 * alpha, n as f64);
            assert!(printed < sum && sum <= printed + 0.04 * (1.0 + 1e-12), "α = {alpha}, n = {n}");
        }
        // From the optimum of θ²/2 with reports of variance one, E F(θ_1) = η²/2, which no bound of zero holds.
        let gap = squares(&steps, 1.0, 0.0, 1).next().unwrap() / 2.0;
        assert!(gap > 0.0 && psi(1.0 - 2.0 * alpha, 1.0).abs() < 1e-15);
        // The right one does, as F of a mean is at most the mean of F.
        for n in [1, 10, 1000, 100_000] {
            let mean = squares(&steps, 1.0, 0.0, n).sum::<f64>() / (2.0 * n as f64);
            let sum = (1..=n).map(|i| steps.at(i).powi(2)).sum();
            let late = (2..=n + 1).map(|i| steps.at(i)).sum();
            assert!(mean <= bound(&steps, n, sum, late), "α = {alpha}, n = {n}: {mean}");
        }
    }
}

#[test]
fn with_steps_like_one_over_i_it_is_eta_that_decides_and_not_alpha() {
    // The error falls like n^-min(1, 2ηm): with η = 0.2 hardly at all, with more as fast as anything can.
    let order = |eta: f64| {
        let steps = steps(eta, 1.0);
        let path: Vec<f64> = squares(&steps, 0.5, 1.0, 1_000_000).collect();
        (path[99_999] / path[999_999]).log10()
    };
    for (eta, expected) in [(0.2, 0.2), (0.5, 0.5), (4.0, 1.0), (20.0, 1.0)] {
        assert!((order(eta) - expected).abs() < 0.01, "η = {eta}: {}", order(eta));
    }
}

#[test]
fn the_alpha_that_averaging_helps_most_is_not_the_one_with_the_least_error() {
    // Orders of the bounds for convex losses, of the last iterate and of the mean: the paper advises the α at which the second
    // is farthest ahead of the first, 1/3, where n^-1/3 is left; at 1/2 it is n^-1/2 but for a logarithm.
    let last =
        |alpha: f64| if alpha < 0.5 { (3.0 * alpha - 1.0) / 2.0 } else { (alpha / 2.0).min(1.0 - alpha) };
    let mean = |alpha: f64| alpha.min(1.0 - alpha);
    let alphas: Vec<f64> = (0..=60).map(|i| 1.0 / 3.0 + f64::from(i) / 100.0).collect();
    let best =
        |of: &dyn Fn(f64) -> f64| alphas.iter().copied().max_by(|a, b| of(*a).total_cmp(&of(*b))).unwrap();
    let (helped, least) = (best(&|alpha| mean(alpha) - last(alpha)), best(&mean));
    assert!((helped - 1.0 / 3.0).abs() < 1e-9 && (least - 0.5).abs() < 0.01, "{helped} and {least}");
    assert!(mean(least) > 1.4 * mean(helped));
}

#[test]
fn what_the_display_of_the_averaged_bound_leaves_out_is_more_than_what_it_shows() {
    // A remainder of o(ψ_{1-α}(n)/n) may be n^-α·c with any c, and the terms that are shown are 1/n and n^-2α: at a million
    // people with α = 0.6 the remainder may be 250 times all of them for c = 1, and half of them for c = 1/500.
    let (n, alpha) = (1e6f64, 0.6);
    let shown = 1.0 / n + n.powf(-2.0 * alpha);
    let remainder = psi(1.0 - alpha, n) / n;
    assert!(remainder > 100.0 * shown, "{remainder} and {shown}");
    // The exact value is that of the display alone: n·E θ̄² of the descent on θ²/2 tends to one.
    let steps = steps(1.0, alpha);
    let mut normals = Normals::new(4);
    let run = |normals: &mut Normals| {
        let (mut theta, mut sum) = (0.0, 0.0);
        for i in 1..=4000 {
            theta -= steps.at(i) * (theta + normals.next());
            sum += theta;
        }
        sum * sum / 4000.0
    };
    let found = sample(&(0..2000).map(|_| run(&mut normals)).collect::<Vec<f64>>());
    assert!((found.mean - 1.0).abs() < 5.0 * found.error && found.error < 0.05, "{}", found.mean);
}

#[test]
fn a_distance_in_the_empirical_loss_is_negative() {
    // The mean of a sample has less empirical loss than the truth, zero; in the population it is the other way round.
    for seed in 0..20 {
        let mut normals = Normals::new(seed);
        let values: Vec<f64> = (0..50).map(|_| normals.next()).collect();
        let loss = |theta: f64| values.iter().map(|x| (x - theta).powi(2)).sum::<f64>() / 100.0;
        let mean = values.iter().sum::<f64>() / 50.0;
        let population = |theta: f64| f64::midpoint(1.0, theta * theta);
        assert!(loss(mean) - loss(0.0) < 0.0 && population(mean) - population(0.0) > 0.0);
    }
}
