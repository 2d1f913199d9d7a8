//! One bit that says whether a public draw could have been one's own noisy answer.
//!
//! A public y follows a Laplace law around the middle 1/2 of the unit interval, of scale 1/ε. The bit is one with
//! probability
//!
//! > c·exp(ε·(|y - 1/2| - |y - v|)), c = 1/(2·cosh(ε/2))
//!
//! **Privacy.** With a = ε/2 the exponential lies in \[e^-a, e^a\], so a one has probabilities between 1/(1 + e^ε) and
//! 1/(1 + e^-ε), and so has a zero: both ratios are at most e^ε, whatever y is.
//!
//! **Utility.** Given a one, y follows the Laplace law around v, and a one has probability c, so
//! 1/2 + bit·(y - 1/2)/c is unbiased, of variance ((v - 1/2)² + 2/ε²)/c - (v - 1/2)². The direct
//! [`OneBit`](crate::number::OneBit) is better; this one is here because the paper's protocol is built on it.
//!
//! **As it runs.** y and v are whole steps of the grid; the probability is a number of words, computed in floating
//! point and then clamped, as an integer, between the two that the promise allows.
//!
//! Algorithm 3 of *Empirical Risk Minimization in the Non-interactive Local Model of Differential Privacy*, corrected:
//! printed with y around 0 and c = 1/2, its zero has a loss of ln(1/(2 - e^ε)), infinite at ε = ln 2.

use crate::exact::{Coin, DiscreteLaplace, Scale};
use crate::integer_ratio::rounded_up;
use crate::number::{Bounds, GridNumber};
use crate::{DeviceSafe, Epsilon, Guarantee, PrivacyError, Randomizer, Unbiased, ln_ratio};
use alloc::vec::Vec;
use rand_core::{CryptoRng, Rng};

/// 2^64, the number of words, as a float.
const WORDS: f64 = 18_446_744_073_709_551_616.0;

/// The corrected rejection bit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RejectionBit {
    bounds: Bounds,
    epsilon: Epsilon,
    /// The law of the public draw, around the middle of the grid
    public: DiscreteLaplace,
    /// The likeliest one: its heads and its tails are the most and the least words a one may have.
    likeliest: Coin,
}

/// A public draw, in steps from the lower end, and the bit said about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicBit {
    /// y
    pub public: i64,
    /// The answer
    pub bit: bool,
}

impl RejectionBit {
    /// For numbers within `bounds` under a promise of `epsilon`.
    pub fn new(bounds: Bounds, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        // Beyond 2^-64 a probability could not follow c any more: what is promised above 40 is not spent.
        let spent = Epsilon::new(epsilon.get().min(40.0))?;
        let public = DiscreteLaplace::new(Scale::at_least(f64::from(bounds.steps()) / spent.get())?);
        let t = spent.t();
        let likeliest = Coin::leaving_at_least(t / (1.0 + t));
        if u128::from(likeliest.heads()) <= likeliest.tails() {
            return Err(PrivacyError::NoInformation { epsilon: epsilon.get() });
        }
        Ok(Self { bounds, epsilon, public, likeliest })
    }

    /// The interval of the numbers.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// The law of the public draw around the middle of the grid.
    pub fn public(&self) -> DiscreteLaplace {
        self.public
    }

    /// The least and the most words out of 2^64 that say one, whatever the draw and the number.
    pub fn one_words_range(&self) -> (u64, u64) {
        (self.likeliest.tails() as u64, self.likeliest.heads())
    }

    /// A public draw, for whoever provides them: it needs no secrecy.
    pub fn draw_public(&self, rng: &mut impl Rng) -> i64 {
        self.middle() + self.public.sample(rng)
    }

    /// The bit about a public draw, from one word.
    pub fn answer(&self, public: i64, input: GridNumber, rng: &mut impl CryptoRng) -> bool {
        rng.next_u64() < self.one_words(public, input)
    }

    /// The most that any two inputs differ in ln P, rounded up.
    pub fn realised_epsilon(&self) -> f64 {
        rounded_up(ln_ratio(self.likeliest.heads().into(), self.likeliest.tails()), self.epsilon)
    }

    fn middle(&self) -> i64 {
        i64::from(self.bounds.middle().index())
    }

    /// c = 1/(2·cosh(ε/2)), for the ε that the rounded scale of the public draw stands for.
    fn c(&self) -> f64 {
        let epsilon = f64::from(self.bounds.steps()) / self.public.scale().get();
        0.5 / libm::cosh(0.5 * epsilon)
    }

    /// The words that say one.
    fn one_words(&self, public: i64, input: GridNumber) -> u64 {
        // |y - 1/2| - |y - v| lies between ± half the grid, so the difference of the distances is exact.
        let nearer =
            public.abs_diff(self.middle()).wrapping_sub(public.abs_diff(input.index().into())) as i64;
        let words = self.c() * libm::exp(nearer as f64 / self.public.scale().get()) * WORDS;
        // The tails of a coin that is likelier heads are fewer than 2^63, so they fit.
        (words as u64).clamp(self.likeliest.tails() as u64, self.likeliest.heads())
    }

    /// Steps from the middle.
    fn centred(&self, input: GridNumber) -> f64 {
        (i64::from(input.index()) - self.middle()) as f64
    }

    fn step(&self) -> f64 {
        (self.bounds.high() - self.bounds.low()) / f64::from(self.bounds.steps())
    }
}

impl Randomizer for RejectionBit {
    type Input = GridNumber;
    type Report = PublicBit;

    fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    fn randomize(&self, &input: &GridNumber, rng: &mut impl CryptoRng) -> Result<PublicBit, PrivacyError> {
        let public = self.draw_public(rng);
        Ok(PublicBit { public, bit: self.answer(public, input, rng) })
    }

    fn ln_likelihood(&self, &PublicBit { public, bit }: &PublicBit, &input: &GridNumber) -> f64 {
        let ones = self.one_words(public, input);
        let words = if bit { ones } else { ones.wrapping_neg() };
        self.public.ln_pmf(public - self.middle()) + ln_ratio(words.into(), 1 << 64)
    }
}

impl DeviceSafe for RejectionBit {}

impl Unbiased for RejectionBit {
    fn truth(&self, &input: &GridNumber) -> Vec<f64> {
        Vec::from([self.bounds.value_of(input)])
    }

    fn estimate(&self, &PublicBit { public, bit }: &PublicBit) -> Vec<f64> {
        let steps = if bit { (public - self.middle()) as f64 / self.c() } else { 0.0 };
        Vec::from([self.bounds.value_of(self.bounds.middle()) + steps * self.step()])
    }

    fn variance(&self, &input: &GridNumber) -> f64 {
        let square = self.centred(input) * self.centred(input);
        ((square + self.public.variance()) / self.c() - square) * self.step() * self.step()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_the_unit_interval(epsilon: f64) -> RejectionBit {
        RejectionBit::new(Bounds::new(0.0, 1.0).unwrap().with_bits(6), Epsilon::new(epsilon).unwrap())
            .unwrap()
    }

    /// The public draws that matter: the grid and a good way beyond it.
    fn publics() -> impl Iterator<Item = i64> {
        (-1000..=1064).chain([i64::MIN / 4, i64::MAX / 4])
    }

    #[test]
    fn no_public_draw_makes_two_numbers_differ_by_more_than_epsilon() {
        for epsilon in [1e-6, 0.1, 0.25, 0.5, 2f64.ln(), 1.0, 4.0, 50.0] {
            let mechanism = on_the_unit_interval(epsilon);
            let mut loss = 0.0f64;
            for public in publics() {
                let words = mechanism.bounds.grid().map(|input| mechanism.one_words(public, input));
                let (low, high) =
                    words.fold((u64::MAX, 0), |(low, high), words| (low.min(words), high.max(words)));
                loss = loss.max(ln_ratio(high.into(), low.into()));
                loss = loss.max(ln_ratio(low.wrapping_neg().into(), high.wrapping_neg().into()));
            }
            assert!(loss <= epsilon && loss <= mechanism.realised_epsilon(), "ε = {epsilon}: {loss}");
            assert!(epsilon > 4.0 || loss > epsilon * (1.0 - 1e-6), "ε = {epsilon}: only {loss} is used");
        }
    }

    #[test]
    fn the_bit_as_printed_loses_more_than_it_promises() {
        // P(1) = exp(ε(|y| - |y - v|))/2 for v in [0, 1]: the zero of v = 0 against that of v = 1, at large y
        let printed_loss = |epsilon: f64| {
            let one = |y: f64, v: f64| 0.5 * (epsilon * (y.abs() - (y - v).abs())).exp();
            let grid = || (0..=100).map(|i| f64::from(i) / 100.0);
            let ys = (-300..=300).map(|i| f64::from(i) / 100.0);
            ys.map(|y| {
                let zeros = grid().map(|v| 1.0 - one(y, v));
                let (low, high) = zeros.fold((1.0f64, 0.0f64), |(low, high), p| (low.min(p), high.max(p)));
                (high / low).ln()
            })
            .fold(0.0f64, f64::max)
        };
        for (epsilon, expected) in [(0.1, 0.1111), (0.25, 0.334), (0.5, 1.046)] {
            let at_ends = printed_loss(epsilon);
            assert!(at_ends > epsilon && (at_ends - expected).abs() < 1e-3, "ε = {epsilon}: {at_ends}");
        }
        assert!(printed_loss(2f64.ln()) > 30.0);
    }

    #[test]
    fn the_variance_is_the_published_one_where_the_grid_is_fine() {
        let bounds = Bounds::new(0.0, 1.0).unwrap();
        for (epsilon, worst) in [(0.25, 64.8), (0.5, 16.8), (1.0, 4.82), (2.0, 2.07), (4.0, 2.57)] {
            let mechanism = RejectionBit::new(bounds, Epsilon::new(epsilon).unwrap()).unwrap();
            let ours = mechanism.variance(&bounds.highest());
            assert!((ours / worst - 1.0).abs() < 3e-3, "ε = {epsilon}: {ours}");
        }
    }
}
