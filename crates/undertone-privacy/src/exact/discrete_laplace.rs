//! Integer noise with P(z) ∝ exp(-|z| / scale).
//!
//! With a = e^(-1/scale),
//!
//! > P(z) = (1 - a)/(1 + a) · a^|z|, variance 2a/(1 - a)²
//!
//! **Privacy.** Shifting the centre by Δ changes ln P by at most Δ/scale, so integers of sensitivity Δ are
//! ε-private at scale Δ/ε. The sampler is Algorithm 2 of Canonne, Kamath, Steinke, *The Discrete Gaussian for
//! Differential Privacy* (2020), in 64-bit integers and with all its coins from one word. Textbook floating-point
//! Laplace noise is not private at all, since which floats can be reached depends on the input (Mironov, *On
//! significance of the least significant bits for differential privacy*, 2012).

use super::exp_coin::heads_after_exp;
use super::{Scale, uniform_below};
use rand_core::Rng;

/// Discrete Laplace noise of a rational scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiscreteLaplace {
    scale: Scale,
    /// ⌊2^(64 + k)/n⌋, at most 2^64 - 1, for the numerator n of k + 1 bits.
    reciprocal: u64,
}

impl DiscreteLaplace {
    /// Noise of this scale.
    pub fn new(scale: Scale) -> Self {
        let n = scale.numerator();
        let reciprocal = (1u128 << (64 + n.ilog2())) / u128::from(n);
        Self { scale, reciprocal: u64::try_from(reciprocal).unwrap_or(u64::MAX) }
    }

    /// The scale in use.
    pub fn scale(self) -> Scale {
        self.scale
    }

    /// One draw.
    #[inline]
    pub fn sample(self, rng: &mut impl Rng) -> i64 {
        let (n, d) = (self.scale.numerator(), self.scale.denominator());
        loop {
            // U + n·V with P ∝ exp(-(U + n·V)/n): U below n is kept with probability exp(-U/n), and V counts heads of
            // probability exp(-1).
            let (u, v, negative) = loop {
                let draw = uniform_below(2 * n, rng);
                let u = draw >> 1;
                // 2^64·U/n, at most three too small
                let x = ((u128::from(u) * u128::from(self.reciprocal)) >> n.ilog2()) as u64;
                if let Some(v) = heads_after_exp(x, u128::from(u), u128::from(n), rng) {
                    break (u, v, draw & 1 == 1);
                }
            };
            // A geometric variable of ratio e^(-1/n) divided by d has ratio e^(-d/n).
            let magnitude = if d == 1 {
                n.saturating_mul(v).saturating_add(u)
            } else {
                ((u128::from(n) * u128::from(v) + u128::from(u)) / u128::from(d)) as u64
            };
            // Zero has one sign only, or it would come twice as often as it should.
            if !(negative && magnitude == 0) {
                // A scale is at most 2^51, so this holds unless v > 2^11, of probability e^-2048.
                let magnitude = i64::try_from(magnitude).unwrap_or(i64::MAX);
                return if negative { -magnitude } else { magnitude };
            }
        }
    }

    /// Adds a draw to each of `values`, which must lie far enough from the ends of `i64` (see [`Scale::MOST`]).
    pub fn add_to(self, values: &mut [i64], rng: &mut impl Rng) {
        for value in values {
            *value = value.saturating_add(self.sample(rng));
        }
    }

    /// ln P(z).
    pub fn ln_pmf(self, z: i64) -> f64 {
        // (1 - a)/(1 + a) = tanh(1/(2·scale))
        libm::log(libm::tanh(0.5 / self.scale.get())) - z.unsigned_abs() as f64 / self.scale.get()
    }

    /// E\[z²\] = 2a/(1 - a)² = 1/(2·sinh²(1/(2·scale))).
    pub fn variance(self) -> f64 {
        let sinh = libm::sinh(0.5 / self.scale.get());
        0.5 / (sinh * sinh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    #[test]
    fn scale_four_has_the_probabilities_worked_by_hand() {
        let noise = DiscreteLaplace::new(Scale::new(4, 1).unwrap());
        assert!((noise.ln_pmf(0).exp() - 0.124_353_0).abs() < 5e-8);
        assert!((noise.variance() - 31.833_85).abs() < 5e-6);
        let sum: f64 = (-400..=400).map(|z| noise.ln_pmf(z).exp()).sum();
        let square: f64 = (-400..=400).map(|z| (z * z) as f64 * noise.ln_pmf(z).exp()).sum();
        assert!((sum - 1.0).abs() < 1e-12 && (square - noise.variance()).abs() < 1e-9);
    }

    #[test]
    fn the_reciprocal_gives_every_fraction_to_within_three() {
        for n in [1u64, 2, 3, 7, 1000, 1 << 20, (1 << 51) - 1, 1 << 51] {
            let noise = DiscreteLaplace::new(Scale::new(n, 1).unwrap());
            for u in [0, n / 3, n / 2, n - 1] {
                let x = (u128::from(u) * u128::from(noise.reciprocal)) >> n.ilog2();
                let exact = (u128::from(u) << 64) / u128::from(n);
                assert!(x <= exact && exact - x <= 3, "{u}/{n}: {x}, not {exact}");
            }
        }
    }

    #[test]
    fn draws_follow_the_probabilities() {
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let trials = 400_000;
        for (numerator, denominator) in [(1, 1), (7, 2), (1, 3), (1000, 1)] {
            let noise = DiscreteLaplace::new(Scale::new(numerator, denominator).unwrap());
            let draws: alloc::vec::Vec<_> = (0..trials).map(|_| noise.sample(&mut rng)).collect();
            for z in -4..=4 {
                let p = noise.ln_pmf(z).exp();
                let seen = draws.iter().filter(|&&draw| draw == z).count() as f64;
                let expected = f64::from(trials) * p;
                assert!(
                    (seen - expected).abs() <= 5.0 * expected.sqrt(),
                    "scale {numerator}/{denominator}, z = {z}"
                );
            }
            let squares = draws.iter().map(|&z| (z as f64).powi(2)).sum::<f64>() / f64::from(trials);
            // Var(z²) ≤ E[z⁴] ≤ 24·scale⁴ + variance for a Laplace law
            let fourth = 24.0 * noise.scale().get().powi(4) + noise.variance();
            assert!((squares - noise.variance()).abs() <= 5.0 * (fourth / f64::from(trials)).sqrt());
        }
    }
}
