//! A window around the number, reported more densely than the rest.
//!
//! Count the grid from its midpoint: i in -n..=n, n = 2^19. A report j lies in -(n + h)..=n + h, so that the window
//! of the 2h + 1 integers around i is always inside, and 2n integers are always outside:
//!
//! > P(j | i) = P / (2h + 1) if |j - i| ≤ h, else (1 - P) / 2n, where P = e^ε·(2h + 1) / (e^ε·(2h + 1) + 2n)
//!
//! **Privacy.** The two densities are the same for every i, and their ratio P·2n / ((1 - P)·(2h + 1)) is e^ε; P is
//! rounded down.
//!
//! **Utility.** The integers of the whole range add up to zero, so those outside the window add up to -(2h + 1)·i:
//!
//! > E[j | i] = m·i, m = P - (1 - P)·(2h + 1)/2n
//!
//! and j/m is unbiased. The sum of squares over the window is (2h + 1)·(i² + h(h + 1)/3), so that
//!
//! > E[j² | i] = m·i² + K, K = P·h(h+1)/3 + (1 - P)/2n · (N(N+1)(2N+1) - h(h+1)(2h+1))/3, N = n + h
//!
//! and the variance i²·(1/m - 1) + K/m² is worst at the ends.
//!
//! **The paper's window.** Let r = h/n. As the grid gets finer, P → e^ε·r/(e^ε·r + 1) and m → (e^ε - 1)·r/(e^ε·r + 1).
//! With s = e^(ε/2) and r = 1/s this is P = s/(s + 1), m = (s - 1)/s. Reports decode to at most
//! (1 + r)/m = (s + 1)/(s - 1) = C, through a window of width 2r/m = 2/(s - 1) = C - 1: the mechanism of the paper.
//! So h = round(n·e^(-ε/2)) is its discrete form, and not biased by being discrete.
//!
//! **A better window.** The worst variance of the limit, (1/m - 1) + K/(n·m)², has in r the derivative
//!
//! > 2·((e^ε·r²)² - 1 - 2·e^ε·r·(1 - r²)) / (3·(e^ε - 1)²·r³)
//!
//! which is negative at the paper's r: a wider window is better. [`Piecewise::best`] takes the root, of which there is
//! one, since the coefficients of the numerator change sign once. On [-1, 1] it has 5.066 instead of 5.224 at ε = 1,
//! 1.092 instead of 1.228 at 2, and 0.1618 instead of 0.2414 at 4.
//!
//! Wang, Xiao, Yang, Zhao, Hui, Shin, Shin, Yu, *Collecting and analyzing multidimensional data with local
//! differential privacy* (2019).

use super::{Bounds, GridNumber, NumberRandomizer, WORDS, large_enough, loss};
use crate::exact::{Coin, uniform_below};
use crate::{Epsilon, Guarantee, PrivacyError, Randomizer, ln_ratio};
use core::ops::RangeInclusive;
use rand_core::CryptoRng;

/// The number, blurred by a window, or any other integer of the range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piecewise {
    bounds: Bounds,
    epsilon: Epsilon,
    /// h
    reach: i64,
    /// P
    near: Coin,
}

impl Piecewise {
    /// The window of the paper, of n·e^(-ε/2) to either side.
    pub fn new(bounds: Bounds, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        Self::with_window(bounds, epsilon, libm::exp(-0.5 * epsilon.get()))
    }

    /// The window with the least worst-case variance.
    pub fn best(bounds: Bounds, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        let t = epsilon.t();
        // r⁴ - t² - 2t·r·(1 - r²) is below zero at 0 and not below it at 1.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let r = 0.5 * (low + high);
            let below = r * r * r * r - t * t - 2.0 * t * r * (1.0 - r * r) < 0.0;
            (low, high) = if below { (r, high) } else { (low, r) };
        }
        Self::with_window(bounds, epsilon, high)
    }

    /// A window that reaches a share `r` of half the grid to either side, with the largest probability that keeps ε.
    pub(super) fn with_window(bounds: Bounds, epsilon: Epsilon, r: f64) -> Result<Self, PrivacyError> {
        large_enough(epsilon)?;
        let n = bounds.half() as f64;
        let h = libm::round(n * r);
        // 1 - P = 2n·t / (2h + 1 + 2n·t)
        let outside = 2.0 * n * epsilon.t();
        let near = Coin::leaving_at_least(outside / (2.0 * h + 1.0 + outside));
        Ok(Self { bounds, epsilon, reach: h as i64, near })
    }

    /// h, how far the window reaches to either side of the number, in steps of the grid.
    pub fn reach(self) -> i64 {
        self.reach
    }

    /// P, whether a report comes from the window.
    pub fn near(self) -> Coin {
        self.near
    }

    /// N = n + h, the largest report.
    pub(super) fn largest(self) -> i64 {
        self.bounds.half() + self.reach
    }

    /// 2h + 1, the integers in the window.
    fn inside(self) -> u64 {
        2 * self.reach as u64 + 1
    }

    /// 2n, the integers outside it.
    fn outside(self) -> u64 {
        u64::from(self.bounds.steps())
    }

    /// m, from a difference of integers.
    fn slope(self) -> f64 {
        let (near, far) = self.weights();
        (near - far) as f64 / self.outside() as f64 / WORDS
    }

    /// The densities inside and outside of the window, both times 2^64·2n·(2h + 1).
    fn weights(self) -> (u128, u128) {
        let (near, far) = (u128::from(self.near.heads()), self.near.tails());
        (near * u128::from(self.outside()), far * u128::from(self.inside()))
    }

    /// K
    fn offset(self) -> f64 {
        let (h, n) = (self.reach as f64, self.largest() as f64);
        let window = h * (h + 1.0) / 3.0;
        let others = n * (n + 1.0) * (2.0 * n + 1.0) / 3.0 - window * self.inside() as f64;
        self.near.probability() * window + self.near.complement() * others / self.outside() as f64
    }

    /// 1 - m = (1 - P)·(2n + 2h + 1)/2n, without cancellation.
    pub(super) fn shrinkage(self) -> f64 {
        self.near.complement() * (self.outside() + self.inside()) as f64 / self.outside() as f64
    }

    /// The variance of a number `i` steps from the midpoint.
    fn variance_off_centre(self, i: f64) -> f64 {
        let (m, step) = (self.slope(), self.bounds.step());
        (i * i * self.shrinkage() + self.offset() / m) / m * step * step
    }
}

impl Randomizer for Piecewise {
    type Input = GridNumber;
    type Report = i64;

    fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    fn randomize(&self, input: &GridNumber, rng: &mut impl CryptoRng) -> Result<i64, PrivacyError> {
        let first = self.bounds.centred(*input) - self.reach;
        // Both answers are drawn whichever is given, so that how long it took says nothing.
        let is_near = i64::from(self.near.toss(rng));
        let near = first + uniform_below(self.inside(), rng) as i64;
        let far = uniform_below(self.outside(), rng) as i64 - self.largest();
        // what lies outside the window continues behind it
        let far = far + i64::from(far >= first) * self.inside() as i64;
        Ok(far + (near - far) * is_near)
    }

    fn ln_likelihood(&self, report: &i64, input: &GridNumber) -> f64 {
        if report.unsigned_abs() > self.largest() as u64 {
            return f64::NEG_INFINITY;
        }
        if report.abs_diff(self.bounds.centred(*input)) <= self.reach as u64 {
            ln_ratio(u128::from(self.near.heads()), u128::from(self.inside()) << 64)
        } else {
            ln_ratio(self.near.tails(), u128::from(self.outside()) << 64)
        }
    }
}

impl NumberRandomizer for Piecewise {
    fn bounds(&self) -> Bounds {
        self.bounds
    }

    fn decode(&self, report: i64) -> f64 {
        self.bounds.off_centre(report as f64 / self.slope())
    }

    fn variance_at(&self, value: GridNumber) -> f64 {
        self.variance_off_centre(self.bounds.centred(value) as f64)
    }

    fn worst_variance(&self) -> f64 {
        self.variance_off_centre(self.bounds.half() as f64)
    }

    fn realised_epsilon(&self) -> f64 {
        let (near, far) = self.weights();
        loss(near, far, self.epsilon)
    }

    fn alphabet(&self) -> Option<RangeInclusive<i64>> {
        Some(-self.largest()..=self.largest())
    }
}

#[cfg(test)]
mod tests {
    use super::super::LEAST_EPSILON;
    use super::super::tests::{on_unit, within};
    use super::*;

    #[test]
    fn two_steps_at_e_to_the_epsilon_four_are_worked_by_hand() {
        // n = 1 and s = 2: h = round(1/2) = 1, P = 4·3/(4·3 + 2) = 6/7, m = 6/7 - 1/7·3/2 = 9/14
        let bounds = Bounds::new(-1.0, 1.0).unwrap().with_bits(1);
        let mechanism = Piecewise::new(bounds, Epsilon::new(4f64.ln()).unwrap()).unwrap();
        let inputs: alloc::vec::Vec<_> = bounds.grid().collect();
        let p = |report, input: usize| mechanism.ln_likelihood(&report, &inputs[input]).exp();
        assert_eq!(mechanism.alphabet(), Some(-2..=2));
        // the window around the lower end, -1, is -2..=0
        assert!(within(p(-2, 0), 2.0 / 7.0, 1e-12) && within(p(0, 0), 2.0 / 7.0, 1e-12));
        assert!(within(p(1, 0), 1.0 / 14.0, 1e-12) && within(p(-2, 1), 1.0 / 14.0, 1e-12));
        assert!(within(mechanism.decode(2), 28.0 / 9.0, 1e-12));
        // K = 6/7·2/3 + 1/14·(10 - 2) = 8/7; at the end (14/9 - 1) + 8/7·(14/9)² = 5/9 + 224/81
        assert!(within(mechanism.worst_variance(), 269.0 / 81.0, 1e-12));
    }

    #[test]
    fn worst_variances_are_those_of_the_table() {
        for (epsilon, variance) in [(0.25, 85.22), (0.5, 21.22), (1.0, 5.224), (2.0, 1.228), (4.0, 0.2414)] {
            assert!(within(on_unit(epsilon, Piecewise::new).worst_variance(), variance, 5e-4), "{epsilon}");
        }
    }

    #[test]
    fn no_other_window_is_better_than_the_best() {
        for (epsilon, variance) in [(1.0, 5.066), (2.0, 1.092), (4.0, 0.1618)] {
            let best = on_unit(epsilon, Piecewise::best);
            assert!(within(best.worst_variance(), variance, 5e-4), "{epsilon}");
            let r = best.reach as f64 / best.bounds.half() as f64;
            for share in [0.5, 0.9, 0.99, 1.01, 1.1, 2.0] {
                let other = Piecewise::with_window(best.bounds, best.epsilon, r * share).unwrap();
                assert!(other.worst_variance() > best.worst_variance(), "{epsilon}, {share}");
            }
        }
    }

    #[test]
    fn the_best_window_keeps_its_promise_at_every_epsilon() {
        for epsilon in [LEAST_EPSILON, 1e-6, 0.1, 1.0, 10.0, 50.0, 1e4] {
            let [paper, best] = [Piecewise::new, Piecewise::best].map(|new| on_unit(epsilon, new));
            assert!(best.realised_epsilon() <= epsilon);
            assert!(best.worst_variance() <= paper.worst_variance() * (1.0 + 1e-6), "{epsilon}");
        }
    }

    #[test]
    fn on_the_whole_grid_the_likelihood_sums_to_one_and_the_decoder_is_unbiased() {
        let mechanism = on_unit(1.0, Piecewise::new);
        let input = mechanism.bounds.place(0.75).unwrap();
        let (mut sum, mut mean, mut square) = (0.0, 0.0, 0.0);
        for report in mechanism.alphabet().unwrap() {
            let p = mechanism.ln_likelihood(&report, &input).exp();
            let error = mechanism.decode(report) - 0.75;
            sum += p;
            mean += p * error;
            square += p * error * error;
        }
        assert!(within(sum, 1.0, 1e-9) && mean.abs() < 1e-9);
        assert!(within(square, mechanism.variance_at(input), 1e-9));
    }

    #[test]
    fn every_report_costs_three_words_heads_or_tails() {
        use rand_core::SeedableRng;
        let mut rng = rand_chacha::ChaCha12Rng::seed_from_u64(1);
        let mechanism = on_unit(1.0, Piecewise::new);
        for trial in 1..=10_000 {
            mechanism.randomize(&mechanism.bounds().lowest(), &mut rng).unwrap();
            // the generator counts in words of 32 bits
            assert_eq!(rng.get_word_pos(), 6 * trial);
        }
    }
}
