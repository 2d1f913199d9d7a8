//! Integer noise with P(z) ∝ exp(-z² / 2σ²).
//!
//! **Privacy.** Added to integer vectors of l2-sensitivity Δ, coordinate by coordinate, it is ρ-zCDP with
//! ρ = Δ²/(2σ²) (Canonne, Kamath, Steinke, *The Discrete Gaussian for Differential Privacy*, 2020, Theorem 4). It
//! is **not** exactly μ-GDP: for such a claim take [`RoundedGaussian`](super::RoundedGaussian).

use super::{DiscreteLaplace, Scale, bernoulli_exp};
use crate::PrivacyError;
use rand_core::Rng;

/// Discrete Gaussian noise with a rational σ².
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiscreteGaussian {
    /// σ² as n/d
    square: Scale,
    /// Discrete Laplace noise of scale t = ⌊σ⌋ + 1, from which a draw is accepted or not.
    proposal: DiscreteLaplace,
    t: u64,
    /// ln Σ_z exp(-z²/2σ²)
    ln_normaliser: f64,
}

impl DiscreteGaussian {
    /// The largest numerator of σ²: products of the acceptance test then fit 128 bits.
    const MOST: u64 = 1 << 50;

    /// Noise with σ² = `square`.
    pub fn new(square: Scale) -> Result<Self, PrivacyError> {
        let (n, d) = (square.numerator(), square.denominator());
        if n > Self::MOST || d > Self::MOST {
            return Err(PrivacyError::Scale { numerator: n, denominator: d });
        }
        let t = (n / d).isqrt() + 1;
        let proposal = DiscreteLaplace::new(Scale::new(t, 1)?);
        Ok(Self { square, proposal, t, ln_normaliser: ln_theta(square.get()) })
    }

    /// σ².
    pub fn square(self) -> Scale {
        self.square
    }

    /// One draw, by rejection from the discrete Laplace (Algorithm 3 of the paper above).
    #[inline]
    pub fn sample(self, rng: &mut impl Rng) -> i64 {
        let (n, d) = (u128::from(self.square.numerator()), u128::from(self.square.denominator()));
        let t = u128::from(self.t);
        loop {
            let z = self.proposal.sample(rng);
            // Accept with probability exp(-(|z| - σ²/t)² / 2σ²) = exp(-(|z|·d·t - n)² / (2·n·d·t²)).
            let off = u128::from(z.unsigned_abs()).saturating_mul(d * t).abs_diff(n);
            // |z| ≤ 2^11·t, n ≤ 2^50 and d·t² ≤ 4·max(n, d) bound `off` by 2^63, unless |z| is larger: e^-2048.
            let accepted = off < 1 << 63 && bernoulli_exp(off * off, 2 * n * d * t * t, rng);
            if accepted {
                return z;
            }
        }
    }

    /// ln P(z).
    pub fn ln_pmf(self, z: i64) -> f64 {
        let z = z as f64;
        -z * z / (2.0 * self.square.get()) - self.ln_normaliser
    }

    /// E\[z²\], a little below σ² when σ is small.
    pub fn variance(self) -> f64 {
        let s = self.square.get();
        // Above σ = 3 the difference from σ² is below e^-170 of it.
        if s > 9.0 {
            return s;
        }
        (1..64).map(|z| f64::from(z * z) * 2.0 * libm::exp(self.ln_pmf(i64::from(z)))).sum()
    }
}

/// ln Σ_z exp(-z²/2s), by the sum itself or, for large s, by Poisson's summation formula √(2πs)·(1 + 2e^(-2π²s)).
fn ln_theta(s: f64) -> f64 {
    if s > 9.0 {
        return 0.5 * libm::log(2.0 * core::f64::consts::PI * s);
    }
    let tail: f64 = (1..64).map(|z| 2.0 * libm::exp(-f64::from(z * z) / (2.0 * s))).sum();
    libm::log1p(tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    #[test]
    fn probabilities_sum_to_one_and_give_the_variance() {
        for (n, d) in [(1, 4), (1, 1), (17, 2), (100, 1), (1_000_000, 1)] {
            let noise = DiscreteGaussian::new(Scale::new(n, d).unwrap()).unwrap();
            let reach = (12.0 * noise.square().get().sqrt()) as i64 + 12;
            let sum: f64 = (-reach..=reach).map(|z| noise.ln_pmf(z).exp()).sum();
            let square: f64 = (-reach..=reach).map(|z| (z * z) as f64 * noise.ln_pmf(z).exp()).sum();
            assert!((sum - 1.0).abs() < 1e-10, "{n}/{d}: {sum}");
            assert!((square / noise.variance() - 1.0).abs() < 1e-10, "{n}/{d}: {square}");
        }
    }

    #[test]
    fn draws_follow_the_probabilities() {
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let trials = 400_000;
        for (n, d) in [(1, 4), (1, 1), (17, 2), (1_000_000, 1), (1 << 40, 1)] {
            let noise = DiscreteGaussian::new(Scale::new(n, d).unwrap()).unwrap();
            let draws: alloc::vec::Vec<_> = (0..trials).map(|_| noise.sample(&mut rng)).collect();
            for z in -3..=3 {
                let expected = f64::from(trials) * noise.ln_pmf(z).exp();
                let seen = draws.iter().filter(|&&draw| draw == z).count() as f64;
                assert!((seen - expected).abs() <= 5.0 * expected.sqrt().max(1.0), "σ² = {n}/{d}, z = {z}");
            }
            let squares = draws.iter().map(|&z| (z as f64).powi(2)).sum::<f64>() / f64::from(trials);
            // Var(z²) ≤ 2σ⁴ + σ² for a discrete Gaussian
            let spread = 2.0 * noise.square().get().powi(2) + noise.square().get();
            assert!((squares - noise.variance()).abs() <= 5.0 * (spread / f64::from(trials)).sqrt());
        }
    }

    #[test]
    fn squares_that_could_overflow_are_refused() {
        let square = Scale::new(1 << 51, 1).unwrap();
        assert!(matches!(DiscreteGaussian::new(square), Err(PrivacyError::Scale { .. })));
    }
}
