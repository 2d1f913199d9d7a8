//! An exact normal variable times an integer scale, rounded to the nearest integer.
//!
//! **Privacy.** For an integer k, k + round(s·N) = round(k + s·N): the report is a function of the true Gaussian
//! mechanism, so integer vectors of l2-sensitivity Δ are exactly (Δ/s)-GDP, and (ε, δ)-private with the δ of the
//! normal law. The discrete Gaussian cannot claim that in more than one dimension.
//!
//! The normal variable is drawn by Karney's Algorithm N (*Sampling exactly from the normal distribution*, 2016):
//! comparisons of uniform variables whose binary digits are made when a comparison asks for them, so no number is
//! ever rounded.

use super::{bernoulli_exp, uniform_below};
use crate::PrivacyError;
use crate::accounting::normal::mills_ratio;
use alloc::vec::Vec;
use core::cmp::Ordering;
use rand_core::Rng;

/// round(s·N) for a standard normal N.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundedGaussian {
    scale: u64,
}

impl RoundedGaussian {
    /// The largest scale: 2^48 times forty standard deviations, with 64 digits behind, fits 128 bits.
    pub const MOST: u64 = 1 << 48;

    /// Noise of standard deviation `scale`, a positive integer up to [`MOST`](Self::MOST).
    pub fn new(scale: u64) -> Result<Self, PrivacyError> {
        if scale == 0 || scale > Self::MOST {
            return Err(PrivacyError::Scale { numerator: scale, denominator: 1 });
        }
        Ok(Self { scale })
    }

    /// The standard deviation before rounding.
    pub fn scale(self) -> u64 {
        self.scale
    }

    /// One draw.
    pub fn sample(self, rng: &mut impl Rng) -> i64 {
        let (whole, mut fraction) = half_normal(rng);
        let magnitude = self.round(whole, &mut fraction, rng);
        if rng.next_u64() >> 63 == 1 { -magnitude } else { magnitude }
    }

    /// ⌊s·(whole + fraction) + 1/2⌋. Ties have probability zero, so the sign may be put on afterwards.
    fn round(self, whole: u64, fraction: &mut LazyUniform, rng: &mut impl Rng) -> i64 {
        let s = u128::from(self.scale);
        // In units of 2^-64: s·(whole + first digit) + 1/2, below s·(whole + fraction) + 1/2 by less than s units
        let floor = s * (u128::from(whole) << 64 | u128::from(fraction.digit(0, rng))) + (1 << 63);
        let to_next = (1u128 << 64) - (floor & u128::from(u64::MAX));
        // The later digits f (a uniform number in [0, 1)) lift it over the next integer iff s·f ≥ to_next.
        let lifted = to_next < s && fraction.tail_is_at_least(to_next, s, rng);
        ((floor >> 64) as i64) + i64::from(lifted)
    }

    /// ln P(z), for P(z) = Φ((z + 1/2)/s) - Φ((z - 1/2)/s).
    pub fn ln_pmf(self, z: i64) -> f64 {
        let s = self.scale as f64;
        let u = z.unsigned_abs() as f64 / s;
        if self.scale >= 1024 {
            // ∫ φ over a cell of width h = 1/s around u is h·φ(u)·(1 + (u² - 1)·h²/24 + O((u·h)⁴))
            let curvature = libm::log1p((u * u - 1.0) / (24.0 * s * s));
            return -0.5 * u * u - 0.5 * libm::log(2.0 * core::f64::consts::PI) - libm::log(s) + curvature;
        }
        let (near, far) = (u - 0.5 / s, u + 0.5 / s);
        if near < 1.0 {
            let upper_tail = |x: f64| 0.5 * libm::erfc(x / core::f64::consts::SQRT_2);
            return libm::log(upper_tail(near) - upper_tail(far));
        }
        // φ(near)·(M(near) - M(far)·φ(far)/φ(near)) with Mills's ratio M, which does not vanish where the tails do
        let fall = libm::exp(-u / s);
        let cell = mills_ratio(near) - fall * mills_ratio(far);
        -0.5 * near * near - 0.5 * libm::log(2.0 * core::f64::consts::PI) + libm::log(cell)
    }

    /// E\[z²\] = s² + 1/12, up to terms of order e^(-2π²s²).
    pub fn variance(self) -> f64 {
        let s = self.scale as f64;
        if self.scale > 1 {
            return s * s + 1.0 / 12.0;
        }
        (1..40).map(|z| 2.0 * f64::from(z * z) * libm::exp(self.ln_pmf(i64::from(z)))).sum()
    }
}

/// |N| = k + x, with k the whole part and x in [0, 1), with density ∝ exp(-(k + x)²/2).
fn half_normal(rng: &mut impl Rng) -> (u64, LazyUniform) {
    loop {
        // N1: k with probability ∝ exp(-k/2)
        let mut k = 0u64;
        while bernoulli_exp(1, 2, rng) {
            k += 1;
        }
        // N2: kept with probability exp(-k(k - 1)/2)
        if k > 1 && !bernoulli_exp(u128::from(k) * u128::from(k - 1), 2, rng) {
            continue;
        }
        // N3, N4: x kept with probability exp(-x(2k + x)/2), as k + 1 coins of exp(-x(2k + x)/(2k + 2))
        let mut x = LazyUniform::new();
        if (0..=k).all(|_| fraction_coin(k, &mut x, rng)) {
            return (k, x);
        }
    }
}

/// Heads with probability exp(-x·f), f = (2k + x)/(2k + 2).
///
/// Draw z_1, z_2, … as long as x > z_1 > z_2 > … and each comes with a success of probability f. At least j of
/// them come with probability (x·f)^j/j!, so an even number comes with probability exp(-x·f).
fn fraction_coin(k: u64, x: &mut LazyUniform, rng: &mut impl Rng) -> bool {
    let mut last = LazyUniform::new();
    if !(last.below(x, rng) && success(k, x, rng)) {
        return true;
    }
    let mut even = false;
    loop {
        let mut next = LazyUniform::new();
        if !(next.below(&mut last, rng) && success(k, x, rng)) {
            return even;
        }
        last = next;
        even = !even;
    }
}

/// Heads with probability (2k + x)/(2k + 2): of 2k + 2 equal parts of the unit interval, 2k are inside, one is
/// outside, and of one the part below x is inside.
fn success(k: u64, x: &mut LazyUniform, rng: &mut impl Rng) -> bool {
    match uniform_below(2 * k + 2, rng).cmp(&(2 * k)) {
        Ordering::Less => true,
        Ordering::Greater => false,
        Ordering::Equal => LazyUniform::new().below(x, rng),
    }
}

/// A uniform number in [0, 1) whose 64-bit digits exist only once somebody has asked for them.
#[derive(Default)]
struct LazyUniform {
    first: Option<u64>,
    /// Asked for once in 2^64 comparisons; an empty vector allocates nothing.
    later: Vec<u64>,
}

impl LazyUniform {
    fn new() -> Self {
        Self::default()
    }

    fn digit(&mut self, index: usize, rng: &mut impl Rng) -> u64 {
        if index == 0 {
            return *self.first.get_or_insert_with(|| rng.next_u64());
        }
        while self.later.len() < index {
            self.later.push(rng.next_u64());
        }
        self.later[index - 1]
    }

    /// self < other, by the first digit in which they differ.
    fn below(&mut self, other: &mut Self, rng: &mut impl Rng) -> bool {
        let mut index = 0;
        loop {
            match self.digit(index, rng).cmp(&other.digit(index, rng)) {
                Ordering::Less => return true,
                Ordering::Greater => return false,
                Ordering::Equal => index += 1,
            }
        }
    }

    /// Whether the number formed by the digits after the first is at least `numerator` / `denominator` < 1, by
    /// long division, digit against digit; `denominator` < 2^64.
    fn tail_is_at_least(&mut self, numerator: u128, denominator: u128, rng: &mut impl Rng) -> bool {
        let (mut rest, mut index) = (numerator, 1);
        while rest > 0 {
            let (quotient, remainder) = ((rest << 64) / denominator, (rest << 64) % denominator);
            match u128::from(self.digit(index, rng)).cmp(&quotient) {
                Ordering::Less => return false,
                Ordering::Greater => return true,
                Ordering::Equal => (rest, index) = (remainder, index + 1),
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    #[test]
    fn probabilities_sum_to_one_and_give_the_variance() {
        for scale in [1, 2, 7, 1023, 1024, 5000] {
            let noise = RoundedGaussian::new(scale).unwrap();
            let reach = 12 * scale as i64;
            let sum: f64 = (-reach..=reach).map(|z| noise.ln_pmf(z).exp()).sum();
            let square: f64 = (-reach..=reach).map(|z| (z as f64).powi(2) * noise.ln_pmf(z).exp()).sum();
            assert!((sum - 1.0).abs() < 1e-9, "s = {scale}: {sum}");
            assert!((square / noise.variance() - 1.0).abs() < 1e-8, "s = {scale}: {square}");
        }
    }

    #[test]
    fn the_farthest_tail_still_has_a_probability() {
        // ln P(z) ≈ -(z - 1/2)²/2s², where the tail itself is far below what a float can hold
        for (scale, z) in [(1, 1000i64), (7, 20_000), (1000, 100_000)] {
            let near = (z as f64 - 0.5) / scale as f64;
            let ln = RoundedGaussian::new(scale).unwrap().ln_pmf(z);
            assert!(ln.is_finite() && (ln / (-0.5 * near * near) - 1.0).abs() < 1e-2, "s = {scale}: {ln}");
        }
    }

    #[test]
    fn draws_follow_the_normal_law() {
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let trials = 400_000;
        for scale in [1, 3] {
            let noise = RoundedGaussian::new(scale).unwrap();
            let draws: Vec<_> = (0..trials).map(|_| noise.sample(&mut rng)).collect();
            for z in -9..=9 {
                let expected = f64::from(trials) * noise.ln_pmf(z).exp();
                let seen = draws.iter().filter(|&&draw| draw == z).count() as f64;
                assert!((seen - expected).abs() <= 5.0 * expected.sqrt().max(1.0), "s = {scale}, z = {z}");
            }
        }
    }

    #[test]
    fn a_wide_draw_has_the_moments_and_the_tail_of_the_normal_law() {
        let mut rng = ChaCha12Rng::seed_from_u64(2);
        let trials = 400_000;
        let noise = RoundedGaussian::new(1 << 40).unwrap();
        let (mut square, mut fourth, mut beyond) = (0.0, 0.0, 0u32);
        for _ in 0..trials {
            let u = noise.sample(&mut rng) as f64 / (1u64 << 40) as f64;
            square += u * u;
            fourth += u.powi(4);
            beyond += u32::from(u > 1.959_964);
        }
        let n = f64::from(trials);
        // Var(u²) = 2, Var(u⁴) = 105 - 9, and P(u > 1.959964) = 0.025
        assert!((square / n - 1.0).abs() < 5.0 * (2.0 / n).sqrt());
        assert!((fourth / n - 3.0).abs() < 5.0 * (96.0 / n).sqrt());
        assert!((f64::from(beyond) - 0.025 * n).abs() < 5.0 * (0.025 * 0.975 * n).sqrt());
    }

    #[test]
    fn digits_that_do_not_decide_are_followed_by_more() {
        // s = 3 and a first digit of all ones: 3·(1 - 2^-64) + 1/2 is 3.5 less three units, so the integer part is
        // three whatever follows; 1/6 = 0.2aaa… is just below the half of s·x, so the later digits decide.
        let noise = RoundedGaussian::new(3).unwrap();
        let mut rng = ChaCha12Rng::seed_from_u64(3);
        let mut ones = LazyUniform { first: Some(u64::MAX), later: Vec::new() };
        assert_eq!(noise.round(0, &mut ones, &mut rng), 3);
        let sixth = u64::MAX / 6;
        let with_tail = |tail| LazyUniform { first: Some(sixth), later: Vec::from([tail]) };
        assert_eq!(noise.round(0, &mut with_tail(0), &mut rng), 0);
        assert_eq!(noise.round(0, &mut with_tail(u64::MAX), &mut rng), 1);
    }

    #[test]
    fn a_scale_outside_its_range_is_refused() {
        assert!(RoundedGaussian::new(0).is_err() && RoundedGaussian::new(RoundedGaussian::MOST + 1).is_err());
    }
}
