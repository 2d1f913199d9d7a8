//! One bit or the piecewise mechanism, by a coin that knows nothing of the number.
//!
//! With probability α the report is that of [`Piecewise`], otherwise that of [`OneBit`], whose two answers are the
//! integers just outside the range of the former:
//!
//! > α = 1 - e^(-ε/2) for ε > ε* ≈ 0.6094, else 0
//!
//! **Privacy.** The report tells which of the two spoke, with a probability α that is the same for all inputs, and
//! each keeps the whole ε. The rounding of α does not matter for the same reason.
//!
//! **Utility.** Both decoders are unbiased, so the variances mix: α·V_piecewise + (1 - α)·V_one-bit. The first grows
//! with the distance from the midpoint, the second falls; this α makes the sum the same for all inputs. Below ε* the
//! best α is 0.
//!
//! **A better mixture.** The same holds for a window of any width (see [`Piecewise`]) with α = m, which levels the
//! variance to K/(n²·m) + (1 - m)·C² on [-1, 1], C as for one bit. In r = h/n its derivative has the sign of
//!
//! > 2r + t·(3 - 1/r² - 3(1 + t)²/(r + t)²), t = e^-ε
//!
//! which rises with r. [`Hybrid::best`] takes the root: 4.267 instead of 4.289 at ε = 1, 0.9817 instead of 1.042 at 2,
//! and 0.1557 instead of 0.2190 at 4, less than any other mechanism here.
//!
//! Wang, Xiao, Yang, Zhao, Hui, Shin, Shin, Yu, *Collecting and analyzing multidimensional data with local
//! differential privacy* (2019).

use super::{Bounds, GridNumber, NumberRandomizer, OneBit, Piecewise};
use crate::exact::Coin;
use crate::{Epsilon, Guarantee, PrivacyError, Randomizer, ln_ratio};
use core::ops::RangeInclusive;
use rand_core::CryptoRng;

/// ε*, where the worst variance of the mixture falls below that of one bit.
const CROSSOVER: f64 = 0.609_352_5;

/// Piecewise with probability α, else one bit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hybrid {
    /// α
    blend: Coin,
    piecewise: Piecewise,
    one_bit: OneBit,
}

impl Hybrid {
    /// The mixture of the paper.
    pub fn new(bounds: Bounds, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        let blend = if epsilon.get() > CROSSOVER {
            Coin::leaving_at_least(libm::exp(-0.5 * epsilon.get()))
        } else {
            Coin::from_heads(0)
        };
        Ok(Self {
            blend,
            piecewise: Piecewise::new(bounds, epsilon)?,
            one_bit: OneBit::new(bounds, epsilon)?,
        })
    }

    /// The mixture with the least worst-case variance over all α and all windows.
    pub fn best(bounds: Bounds, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        let t = epsilon.t();
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let r = 0.5 * (low + high);
            let towards_one = (1.0 + t) / (r + t);
            let falls = 2.0 * r + t * (3.0 - 1.0 / (r * r) - 3.0 * towards_one * towards_one) < 0.0;
            (low, high) = if falls { (r, high) } else { (low, r) };
        }
        let piecewise = Piecewise::with_window(bounds, epsilon, high)?;
        let one_bit = OneBit::new(bounds, epsilon)?;
        let mixed = Self { blend: Coin::leaving_at_least(piecewise.shrinkage()), piecewise, one_bit };
        let alone = Self { blend: Coin::from_heads(0), ..mixed };
        Ok(if mixed.worst_variance() < alone.worst_variance() { mixed } else { alone })
    }

    /// α, whether a report is piecewise.
    pub fn blend(self) -> Coin {
        self.blend
    }

    /// The mechanism that speaks with probability α.
    pub fn piecewise(self) -> Piecewise {
        self.piecewise
    }

    /// The mechanism that speaks otherwise.
    pub fn one_bit(self) -> OneBit {
        self.one_bit
    }

    /// The report that stands for a one; its negative stands for a zero.
    fn one(self) -> i64 {
        self.piecewise.largest() + 1
    }

    /// α·`piecewise` + (1 - α)·`one_bit`
    fn mix(self, piecewise: f64, one_bit: f64) -> f64 {
        self.blend.probability() * piecewise + self.blend.complement() * one_bit
    }
}

impl Randomizer for Hybrid {
    type Input = GridNumber;
    type Report = i64;

    fn guarantee(&self) -> Guarantee {
        self.one_bit.guarantee()
    }

    fn randomize(&self, input: &GridNumber, rng: &mut impl CryptoRng) -> Result<i64, PrivacyError> {
        // All is drawn whichever is reported, so that how long it took says nothing.
        let is_piecewise = i64::from(self.blend.toss(rng));
        let piecewise = self.piecewise.randomize(input, rng)?;
        let one_bit = (2 * self.one_bit.randomize(input, rng)? - 1) * self.one();
        Ok(one_bit + (piecewise - one_bit) * is_piecewise)
    }

    fn ln_likelihood(&self, report: &i64, input: &GridNumber) -> f64 {
        if report.unsigned_abs() == self.one() as u64 {
            ln_ratio(self.blend.tails(), 1 << 64) + self.one_bit.ln_likelihood(&i64::from(*report > 0), input)
        } else {
            ln_ratio(u128::from(self.blend.heads()), 1 << 64) + self.piecewise.ln_likelihood(report, input)
        }
    }
}

impl NumberRandomizer for Hybrid {
    fn bounds(&self) -> Bounds {
        self.one_bit.bounds()
    }

    fn decode(&self, report: i64) -> f64 {
        if report.unsigned_abs() == self.one() as u64 {
            self.one_bit.decode(i64::from(report > 0))
        } else {
            self.piecewise.decode(report)
        }
    }

    fn variance_at(&self, value: GridNumber) -> f64 {
        self.mix(self.piecewise.variance_at(value), self.one_bit.variance_at(value))
    }

    fn worst_variance(&self) -> f64 {
        // Affine in the squared distance from the midpoint, hence largest there or at the ends.
        self.variance_at(self.bounds().middle()).max(self.variance_at(self.bounds().lowest()))
    }

    fn realised_epsilon(&self) -> f64 {
        let one_bit = self.one_bit.realised_epsilon();
        if self.blend.heads() == 0 { one_bit } else { one_bit.max(self.piecewise.realised_epsilon()) }
    }

    fn alphabet(&self) -> Option<RangeInclusive<i64>> {
        Some(-self.one()..=self.one())
    }
}

#[cfg(test)]
mod tests {
    use super::super::LEAST_EPSILON;
    use super::super::tests::{on_unit, within};
    use super::*;

    #[test]
    fn at_e_to_the_epsilon_four_half_of_the_reports_are_piecewise() {
        let mechanism = on_unit(4f64.ln(), Hybrid::new);
        assert!(within(mechanism.blend().probability(), 0.5, 1e-12));
        // n + h = 2^19 + 2^18, and C = (4 + 1)/(4 - 1)
        let one = (3 << 18) + 1;
        assert_eq!(mechanism.alphabet(), Some(-one..=one));
        assert!(within(mechanism.decode(one), 5.0 / 3.0, 1e-12));
        assert!(within(mechanism.decode(-one), -5.0 / 3.0, 1e-12));
        // piecewise with s = 2: m = 1/2, so that n decodes to 2, as on the paper's [-C, C] with C = 3
        assert!(within(mechanism.decode(1 << 19), 2.0, 1e-5));
        let p = mechanism.ln_likelihood(&one, &mechanism.bounds().highest()).exp();
        assert!(within(p, 0.5 * 4.0 / 5.0, 1e-12));
    }

    #[test]
    fn worst_variances_are_those_of_the_table() {
        for (epsilon, variance) in [(0.25, 64.67), (0.5, 16.67), (1.0, 4.289), (2.0, 1.042), (4.0, 0.219)] {
            assert!(within(on_unit(epsilon, Hybrid::new).worst_variance(), variance, 5e-4), "{epsilon}");
        }
    }

    #[test]
    fn above_the_crossover_every_number_has_nearly_the_same_variance() {
        for epsilon in [0.7, 1.0, 3.0, 6.0] {
            let mechanism = on_unit(epsilon, Hybrid::new);
            for value in [-1.0, -0.3, 0.0, 0.8] {
                let variance = mechanism.variance_at(mechanism.bounds().place(value).unwrap());
                assert!(within(variance, mechanism.worst_variance(), 1e-4), "{epsilon}, {value}");
            }
        }
    }

    #[test]
    fn the_mixture_and_one_bit_are_equally_good_at_the_crossover() {
        let below = on_unit(CROSSOVER - 1e-9, Hybrid::new);
        let above = on_unit(CROSSOVER + 1e-9, Hybrid::new);
        assert_eq!(below.blend().heads(), 0);
        assert!(within(below.worst_variance(), above.worst_variance(), 1e-5));
    }

    #[test]
    fn no_other_mixture_is_better_than_the_best() {
        for (epsilon, variance) in [(0.5, 16.67), (1.0, 4.267), (2.0, 0.9817), (4.0, 0.1557)] {
            let best = on_unit(epsilon, Hybrid::best);
            assert!(within(best.worst_variance(), variance, 5e-4), "{epsilon}");
            let (bounds, epsilon) = (best.bounds(), Epsilon::new(epsilon).unwrap());
            for r in 1..40 {
                let piecewise = Piecewise::with_window(bounds, epsilon, f64::from(r) / 32.0).unwrap();
                for alpha in 0..=32 {
                    let blend = Coin::at_most(f64::from(alpha) / 32.0);
                    let other = Hybrid { blend, piecewise, ..best };
                    assert!(other.worst_variance() >= best.worst_variance(), "{epsilon}, {r}, {alpha}");
                }
            }
        }
    }

    #[test]
    fn the_best_mixture_keeps_its_promise_at_every_epsilon() {
        for epsilon in [LEAST_EPSILON, 1e-6, 0.1, 0.7, 1.0, 10.0, 50.0, 1e4] {
            let [paper, best] = [Hybrid::new, Hybrid::best].map(|new| on_unit(epsilon, new));
            assert!(best.realised_epsilon() <= epsilon);
            assert!(best.worst_variance() <= paper.worst_variance() * (1.0 + 1e-6) + 1e-18, "{epsilon}");
        }
    }

    #[test]
    fn every_report_costs_five_words_whoever_speaks() {
        use rand_core::SeedableRng;
        let mut rng = rand_chacha::ChaCha12Rng::seed_from_u64(1);
        let mechanism = on_unit(1.0, Hybrid::new);
        for trial in 1..=10_000 {
            mechanism.randomize(&mechanism.bounds().lowest(), &mut rng).unwrap();
            // the generator counts in words of 32 bits
            assert_eq!(rng.get_word_pos(), 10 * trial);
        }
    }
}
