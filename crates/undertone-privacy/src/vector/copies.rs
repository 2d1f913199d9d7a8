//! Several independent Gaussian copies of one vector in one report: an outer copy, and inner ones for the factors of a product.
//!
//! > report = (k + round(s₀·N₀), k + round(s₁·N₁), …, k + round(s₁·N_c))
//!
//! **Privacy.** Every copy is a function of the true Gaussian mechanism on vectors at most Δ = 2·STEPS apart, and Gaussian
//! mechanisms on the same vector compose exactly (Dong, Roth, Su, *Gaussian differential privacy*, 2022):
//!
//! > μ² = Δ²·(1/s₀² + c/s₁²)
//!
//! Half of μ² goes to the outer copy and half to the inner ones, s₀ = √2·Δ/μ and s₁ = √(2c)·Δ/μ, rounded up. Splitting ε and
//! δ between the copies instead, as Wang, Gaboardi, Smith, Xu, *Empirical risk minimization in the non-interactive local
//! model of differential privacy*, 2020 do, proves a weaker promise than the one that is claimed there.

use super::{Ball, BallVector, STEPS};
use crate::accounting::mu_for;
use crate::exact::RoundedGaussian;
use crate::{Delta, DeviceSafe, Epsilon, Guarantee, Mu, PrivacyError, Randomizer, Unbiased};
use alloc::vec::Vec;
use rand_core::CryptoRng;

/// Gaussian copies of a vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianCopies {
    ball: Ball,
    guarantee: Guarantee,
    /// c, how many there are beside the outer one
    inner: usize,
    outer_noise: RoundedGaussian,
    inner_noise: RoundedGaussian,
}

impl GaussianCopies {
    /// The most numbers in a report.
    pub const MOST_NUMBERS: usize = 1 << 20;

    /// One outer and `inner` ≥ 1 inner copies of vectors of `ball` that keep μ-GDP together.
    pub fn gdp(ball: Ball, inner: usize, mu: Mu) -> Result<Self, PrivacyError> {
        Self::with(ball, inner, mu.get(), Guarantee::Gaussian(mu))
    }

    /// The same under a promise of (ε, δ).
    pub fn analytic(ball: Ball, inner: usize, epsilon: Epsilon, delta: Delta) -> Result<Self, PrivacyError> {
        Self::with(ball, inner, mu_for(epsilon, delta)?.get(), Guarantee::Approximate(epsilon, delta))
    }

    fn with(ball: Ball, inner: usize, mu: f64, guarantee: Guarantee) -> Result<Self, PrivacyError> {
        let most = Self::MOST_NUMBERS / ball.dimension() - 1;
        if !(1..=most).contains(&inner) {
            return Err(PrivacyError::Dimension { dimension: inner, least: 1, most });
        }
        // ⌈Δ·√(2c)/μ⌉, and a little more than the roundings of the product
        let noise = |share: f64| {
            let scale = 2.0 * f64::from(STEPS) * libm::sqrt(share) / mu * (1.0 + 8.0 * f64::EPSILON);
            // `as` saturates, and what is too large is refused.
            RoundedGaussian::new(libm::ceil(scale) as u64)
        };
        Ok(Self { ball, guarantee, inner, outer_noise: noise(2.0)?, inner_noise: noise(2.0 * inner as f64)? })
    }

    /// The ball of the vectors.
    pub fn ball(&self) -> Ball {
        self.ball
    }

    /// c, the number of inner copies.
    pub fn inner(&self) -> usize {
        self.inner
    }

    /// μ of all copies together, for the scales that run; never more than was asked for.
    pub fn mu(&self) -> f64 {
        let rate = |noise: RoundedGaussian| 1.0 / (noise.scale() as f64 * noise.scale() as f64);
        let sum = rate(self.outer_noise) + self.inner as f64 * rate(self.inner_noise);
        2.0 * f64::from(STEPS) * libm::sqrt(sum)
    }

    /// The variance of one coordinate of the outer copy, in squared units of the data.
    pub fn outer_variance(&self) -> f64 {
        self.ball.square_of(self.outer_noise.variance())
    }

    /// The variance of one coordinate of an inner copy.
    pub fn inner_variance(&self) -> f64 {
        self.ball.square_of(self.inner_noise.variance())
    }

    /// Whether an honest device says these numbers, as many as there have to be: with t = 40, the length of a copy is beyond
    /// STEPS + s·√(p + 2√(pt) + 2t) with a probability below e^-t (Laurent, Massart, *Adaptive estimation of a quadratic
    /// functional by model selection*, 2000, Lemma 1).
    pub fn is_plausible(&self, report: &[i64]) -> bool {
        let p = self.ball.dimension();
        let farthest = libm::sqrt(p as f64 + 2.0 * libm::sqrt(40.0 * p as f64) + 80.0);
        let near = |(copy, noise): (&[i64], RoundedGaussian)| {
            let square: f64 = copy.iter().map(|&y| y as f64 * y as f64).sum();
            libm::sqrt(square) <= f64::from(STEPS) + (noise.scale() as f64 + 1.0) * farthest
        };
        report.len() == (1 + self.inner) * p && report.chunks_exact(p).zip(self.noises()).all(near)
    }

    /// The noise of every copy, the outer first.
    fn noises(&self) -> impl Iterator<Item = RoundedGaussian> {
        core::iter::once(self.outer_noise).chain((0..self.inner).map(|_| self.inner_noise))
    }
}

impl Randomizer for GaussianCopies {
    type Input = BallVector;
    /// All copies, one after the other, the outer first.
    type Report = Vec<i64>;

    fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    fn randomize(&self, input: &BallVector, rng: &mut impl CryptoRng) -> Result<Vec<i64>, PrivacyError> {
        self.ball.check(input)?;
        let mut report = Vec::with_capacity((1 + self.inner) * self.ball.dimension());
        for noise in self.noises() {
            report.extend(input.steps().iter().map(|&k| i64::from(k).saturating_add(noise.sample(rng))));
        }
        Ok(report)
    }

    /// The sum over copies and coordinates of ln P(z = report − k).
    fn ln_likelihood(&self, report: &Vec<i64>, input: &BallVector) -> f64 {
        let p = self.ball.dimension();
        if report.len() != (1 + self.inner) * p || input.steps().len() != p {
            return f64::NEG_INFINITY;
        }
        let of_copy = |(copy, noise): (&[i64], RoundedGaussian)| -> f64 {
            copy.iter().zip(input.steps()).map(|(y, &k)| noise.ln_pmf(y.saturating_sub(i64::from(k)))).sum()
        };
        report.chunks_exact(p).zip(self.noises()).map(of_copy).sum()
    }
}

impl DeviceSafe for GaussianCopies {}

impl Unbiased for GaussianCopies {
    /// The vector, once for every copy.
    fn truth(&self, input: &BallVector) -> Vec<f64> {
        let value = self.ball.value_of(input);
        self.noises().flat_map(|_| value.iter().copied()).collect()
    }

    fn estimate(&self, report: &Vec<i64>) -> Vec<f64> {
        report.iter().map(|&y| self.ball.length_of(y as f64)).collect()
    }

    fn variance(&self, _: &BallVector) -> f64 {
        let of_copies = self.outer_variance() + self.inner as f64 * self.inner_variance();
        self.ball.dimension() as f64 * of_copies
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::delta_of_gaussian;
    use crate::vector::testing::{ball, corner, delta, epsilon, mu};
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    #[test]
    fn the_copies_together_keep_what_is_promised_and_hardly_more() {
        for inner in [1, 2, 6, 20] {
            for promised in [0.01, 0.2367, 1.0, 3.0] {
                let copies = GaussianCopies::gdp(ball(4), inner, mu(promised)).unwrap();
                assert!(copies.mu() <= promised && copies.mu() > promised * (1.0 - 1e-5));
                // half each: s₁² = c·s₀²
                let ratio = copies.inner_variance() / copies.outer_variance() / inner as f64;
                assert!((ratio - 1.0).abs() < 1e-4, "{ratio}");
            }
        }
        // (1, 10^-6) is μ = 0.2367
        let copies = GaussianCopies::analytic(ball(4), 6, epsilon(1.0), delta(1e-6)).unwrap();
        assert!((copies.mu() - 0.2367).abs() < 5e-5);
    }

    #[test]
    fn the_scales_printed_for_the_hinge_loss_break_their_promise_at_degree_one() {
        // x and y apart, each with an outer copy of variance 32L/ε² and d(d+1) inner ones of 8L·d²(d+1)²/ε², L = ln(1.25/δ).
        // Exactly, that is μ² = 2·4·(ε²/(32L) + ε²/(8L·d(d+1))).
        let total = 1e-5;
        let printed = |e: f64, d: f64| {
            let square = e * e / libm::log(1.25 / total) * (0.25 + 1.0 / (d * (d + 1.0)));
            delta_of_gaussian(mu(libm::sqrt(square)), epsilon(e))
        };
        for (e, found) in [(2.0, 1.16e-5), (4.0, 5.8e-5)] {
            assert!((printed(e, 1.0) / found - 1.0).abs() < 0.01 && found > total, "ε = {e}");
        }
        assert!(printed(1.0, 1.0) < total && [2.0, 3.0, 4.0].iter().all(|&d| printed(4.0, d) < total));
    }

    #[test]
    fn the_likelihood_is_the_sum_of_those_of_the_copies() {
        let copies = GaussianCopies::gdp(ball(2), 3, mu(2.0)).unwrap();
        let input = corner(ball(2), 0.6);
        let report = copies.randomize(&input, &mut ChaCha12Rng::seed_from_u64(1)).unwrap();
        assert_eq!(report.len(), 8);
        let k = i64::from(input.steps()[0]);
        let expected: f64 = report[..2].iter().map(|y| copies.outer_noise.ln_pmf(y - k)).sum::<f64>()
            + report[2..].iter().map(|y| copies.inner_noise.ln_pmf(y - k)).sum::<f64>();
        assert!((copies.ln_likelihood(&report, &input) - expected).abs() < 1e-9);
        assert!(copies.ln_likelihood(&report[1..].to_vec(), &input).is_infinite());
    }

    #[test]
    fn the_best_test_between_two_vectors_sees_the_stated_mu() {
        // Between a and b the log-likelihood ratio of a's reports has the mean μ²/2 and the variance μ².
        let copies = GaussianCopies::gdp(ball(1), 2, mu(1.5)).unwrap();
        let (a, b) = (corner(ball(1), 1.0), corner(ball(1), -1.0));
        let mut rng = ChaCha12Rng::seed_from_u64(2);
        let n = 20_000;
        let (mut sum, mut square) = (0.0, 0.0);
        for _ in 0..n {
            let report = copies.randomize(&a, &mut rng).unwrap();
            let ratio = copies.ln_likelihood(&report, &a) - copies.ln_likelihood(&report, &b);
            sum += ratio / f64::from(n);
            square += ratio * ratio / f64::from(n);
        }
        let (mean, variance) = (1.125, 2.25);
        assert!((sum - mean).abs() < 5.0 * libm::sqrt(variance / f64::from(n)), "{sum}");
        let found = square - sum * sum;
        assert!((found - variance).abs() < 5.0 * variance * libm::sqrt(2.0 / f64::from(n)), "{found}");
    }

    #[test]
    fn estimates_are_unbiased_with_the_stated_variances() {
        let copies = GaussianCopies::gdp(Ball::new(2, 2.0).unwrap(), 2, mu(1.0)).unwrap();
        let input = corner(copies.ball(), 0.7);
        let (truth, n) = (copies.truth(&input), 20_000);
        let mut rng = ChaCha12Rng::seed_from_u64(3);
        let (mut sums, mut squares) = ([0.0; 6], [0.0; 6]);
        for _ in 0..n {
            let estimate = copies.estimate(&copies.randomize(&input, &mut rng).unwrap());
            for (j, value) in estimate.into_iter().enumerate() {
                sums[j] += (value - truth[j]) / f64::from(n);
                squares[j] += (value - truth[j]).powi(2) / f64::from(n);
            }
        }
        for (j, (sum, square)) in sums.iter().zip(squares).enumerate() {
            let stated = if j < 2 { copies.outer_variance() } else { copies.inner_variance() };
            assert!(sum.abs() < 5.0 * libm::sqrt(stated / f64::from(n)), "{j}: {sum}");
            assert!((square - stated).abs() < 5.0 * stated * libm::sqrt(2.0 / f64::from(n)), "{j}: {square}");
        }
        let total = 2.0 * (copies.outer_variance() + 2.0 * copies.inner_variance());
        assert!((copies.variance(&input) - total).abs() < 1e-9);
    }

    #[test]
    fn numbers_of_copies_that_make_no_sense_are_refused() {
        for inner in [0, 1 << 20] {
            let refused = GaussianCopies::gdp(ball(3), inner, mu(1.0));
            assert!(matches!(refused, Err(PrivacyError::Dimension { dimension, .. }) if dimension == inner));
        }
        assert!(matches!(GaussianCopies::gdp(ball(3), 2, mu(1e-12)), Err(PrivacyError::Scale { .. })));
        let copies = GaussianCopies::gdp(ball(3), 2, mu(1.0)).unwrap();
        let wrong = copies.randomize(&corner(ball(2), 1.0), &mut ChaCha12Rng::seed_from_u64(4));
        assert_eq!(wrong, Err(PrivacyError::WrongLength { length: 2, dimension: 3 }));
    }
}
