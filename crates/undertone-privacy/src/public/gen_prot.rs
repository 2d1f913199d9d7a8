//! A randomizer squeezed into an index: name one of T public draws that could be one's own noisy answer.
//!
//! Public y_1, …, y_T follow a Laplace law of scale 1/e₀ around the lower end of the interval. String t is accepted
//! with probability p_t = exp(e₀·(|y_t| - |y_t - v|))/2, e₀ ≤ ln 2; the report is an even draw from the accepted
//! strings, or from all if there are none.
//!
//! **Privacy.** The probability of an index rises with its own p and falls with the others'. With p for its own and q
//! for all others,
//!
//! > P(p, q) = p·(1 - (1-q)^T)/(T·q) + (1-p)·(1-q)^(T-1)/T
//!
//! At the lower end of the interval every p_t is 1/2 and every index has 1/T; at the upper end each may be as large as
//! h = e^e₀/2 or as small as l = e^-e₀/2. The loss between the ends is therefore exactly the larger of ln(T·P(h, l)) and
//! -ln(T·P(l, h)), and numbers in between move each p_t less. It tends to 2·e₀ for many strings, five times below the
//! published 10·e₀. The largest e₀ with that loss is used.
//!
//! **Utility.** An accepted string is an exact draw of v plus noise. None is accepted with probability 2^-T, and then
//! the mean is -v, so y_g/(1 - 2^(1-T)) is unbiased.
//!
//! Bun, Nelson, Stemmer, *Heavy hitters and the structure of local privacy* (2019), as used in Algorithm 8 of
//! *Empirical Risk Minimization in the Non-interactive Local Model of Differential Privacy*, corrected: printed, it adds
//! up the indices instead of the strings.

use crate::exact::{DiscreteLaplace, Scale, uniform_below};
use crate::number::{Bounds, GridNumber};
use crate::{DeviceSafe, Epsilon, Guarantee, PrivacyError, Randomizer, Unbiased};
use alloc::vec;
use alloc::vec::Vec;
use rand_core::{CryptoRng, Rng};

/// 2^64, the number of words, as a float.
const WORDS: f64 = 18_446_744_073_709_551_616.0;

/// GenProt around Laplace noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GenProt {
    bounds: Bounds,
    epsilon: Epsilon,
    strings: u32,
    /// The law of the public strings, around the lower end of the grid
    public: DiscreteLaplace,
    /// The least and the most words that accept a string
    least: u64,
    most: u64,
}

/// The public strings, in steps from the lower end, and the index of the one named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenProtReport {
    /// y_1, …, y_T
    pub public: Vec<i64>,
    /// g
    pub index: u32,
}

impl GenProt {
    /// For numbers within `bounds`, `strings` public strings for each person, and a promise of `epsilon`.
    pub fn new(bounds: Bounds, strings: u32, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        if !(2..=1024).contains(&strings) {
            return Err(PrivacyError::PublicStrings { strings });
        }
        let at = |inner: f64| {
            let most = libm::floor(0.5 * libm::exp(inner) * (1.0 - 8.0 * f64::EPSILON) * WORDS) as u64;
            let least = libm::ceil(0.5 * libm::exp(-inner) * (1.0 + 8.0 * f64::EPSILON) * WORDS) as u64;
            (least, most)
        };
        // The loss rises with e₀: bisect, and keep the end that is private.
        let (mut low, mut high) = (0.0, core::f64::consts::LN_2);
        for _ in 0..64 {
            let middle = 0.5 * (low + high);
            let (least, most) = at(middle);
            if exact_loss(least, most, strings) <= epsilon.get() { low = middle } else { high = middle }
        }
        let (least, most) = at(low);
        if least >= most {
            return Err(PrivacyError::NoInformation { epsilon: epsilon.get() });
        }
        let public = DiscreteLaplace::new(Scale::at_least(f64::from(bounds.steps()) / low)?);
        Ok(Self { bounds, epsilon, strings, public, least, most })
    }

    /// The interval of the numbers.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// T, the public strings of each person.
    pub fn strings(&self) -> u32 {
        self.strings
    }

    /// The law of the public strings around the lower end of the grid.
    pub fn public(&self) -> DiscreteLaplace {
        self.public
    }

    /// The least and the most words out of 2^64 that accept a string.
    pub fn accepting_words_range(&self) -> (u64, u64) {
        (self.least, self.most)
    }

    /// A person's public strings, for whoever provides them: they need no secrecy.
    pub fn draw_public(&self, rng: &mut impl Rng) -> Vec<i64> {
        (0..self.strings).map(|_| self.public.sample(rng)).collect()
    }

    /// The index named of the public strings. All are tossed for, whatever comes of it.
    pub fn answer(&self, public: &[i64], input: GridNumber, rng: &mut impl CryptoRng) -> u32 {
        let accepted: Vec<bool> =
            public.iter().map(|&string| rng.next_u64() < self.accepting_words(string, input)).collect();
        let count = accepted.iter().filter(|&&yes| yes).count();
        let among = if count == 0 { public.len() } else { count };
        let mut place = uniform_below(among as u64, rng);
        let mut index = 0;
        for (t, &yes) in (0u32..).zip(&accepted) {
            let eligible = yes || count == 0;
            index = if eligible && place == 0 { t } else { index };
            // Beyond the chosen one the place wraps round and is never zero again.
            place = place.wrapping_sub(u64::from(eligible));
        }
        index
    }

    /// e₀, the loss of the noise that the strings stand for.
    pub fn inner_epsilon(&self) -> f64 {
        f64::from(self.bounds.steps()) / self.public.scale().get()
    }

    /// The exact loss, rounded up.
    pub fn realised_epsilon(&self) -> f64 {
        exact_loss(self.least, self.most, self.strings)
    }

    /// The words that accept a string.
    fn accepting_words(&self, string: i64, input: GridNumber) -> u64 {
        let nearer = string.unsigned_abs().wrapping_sub(string.abs_diff(input.index().into())) as i64;
        let words = 0.5 * libm::exp(nearer as f64 / self.public.scale().get()) * WORDS;
        (words as u64).clamp(self.least, self.most)
    }

    /// 1 - 2^(1-T), the share of the truth in the mean of a named string.
    fn share(&self) -> f64 {
        1.0 - libm::ldexp(1.0, 1 - self.strings as i32)
    }

    fn step(&self) -> f64 {
        (self.bounds.high() - self.bounds.low()) / f64::from(self.bounds.steps())
    }
}

/// The larger of ln(T·P(h, l)) and -ln(T·P(l, h)), rounded up by more than its terms and the thresholds can be off.
fn exact_loss(least: u64, most: u64, strings: u32) -> f64 {
    let (low, high, t) = (least as f64 / WORDS, most as f64 / WORDS, f64::from(strings));
    let index = |own: f64, other: f64| {
        // (1 - q)^(T-1), and 1 - (1 - q)^T
        let ln_stay = libm::log1p(-other);
        let none = libm::exp((t - 1.0) * ln_stay);
        let some = -libm::expm1(t * ln_stay);
        own * some / (t * other) + (1.0 - own) * none / t
    };
    libm::log(t * index(high, low)).max(-libm::log(t * index(low, high))) + 1e-13
}

impl Randomizer for GenProt {
    type Input = GridNumber;
    type Report = GenProtReport;

    fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    fn randomize(
        &self,
        &input: &GridNumber,
        rng: &mut impl CryptoRng,
    ) -> Result<GenProtReport, PrivacyError> {
        let public = self.draw_public(rng);
        let index = self.answer(&public, input, rng);
        Ok(GenProtReport { public, index })
    }

    /// P(g) = p_g·E\[1/(1 + B)\] + Π_t (1 - p_t)/T, where B counts the other accepted strings.
    fn ln_likelihood(&self, report: &GenProtReport, &input: &GridNumber) -> f64 {
        let own = report.index as usize;
        if report.public.len() != self.strings as usize || own >= report.public.len() {
            return f64::NEG_INFINITY;
        }
        let p = |string: i64| self.accepting_words(string, input) as f64 / WORDS;
        // counts[b] = P(B = b), one string after the other
        let mut counts = vec![0.0; report.public.len() + 1];
        counts[0] = 1.0;
        for (t, &string) in report.public.iter().enumerate() {
            if t != own {
                for b in (0..=t).rev() {
                    counts[b + 1] += counts[b] * p(string);
                    counts[b] *= 1.0 - p(string);
                }
            }
        }
        let alone: f64 = counts.iter().zip(1..).map(|(count, others)| count / f64::from(others)).sum();
        let mine = p(report.public[own]);
        let index = mine * alone + (1.0 - mine) * counts[0] / f64::from(self.strings);
        report.public.iter().map(|&string| self.public.ln_pmf(string)).sum::<f64>() + libm::log(index)
    }
}

impl DeviceSafe for GenProt {}

impl Unbiased for GenProt {
    fn truth(&self, &input: &GridNumber) -> Vec<f64> {
        Vec::from([self.bounds.value_of(input)])
    }

    fn estimate(&self, report: &GenProtReport) -> Vec<f64> {
        let steps = report.public[report.index as usize] as f64 / self.share();
        Vec::from([self.bounds.low() + steps * self.step()])
    }

    /// With σ² the variance of the noise and η the share: an accepted string has the second moment σ² + v², the
    /// others σ² - v², hence E\[y_g²\] = σ² + η·v².
    fn variance(&self, &input: &GridNumber) -> f64 {
        let square = f64::from(input.index()) * f64::from(input.index());
        let share = self.share();
        let variance = (self.public.variance() + share * square) / (share * share) - square;
        variance * self.step() * self.step()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    fn mechanism(strings: u32, epsilon: f64) -> GenProt {
        GenProt::new(Bounds::new(0.0, 1.0).unwrap().with_bits(6), strings, Epsilon::new(epsilon).unwrap())
            .unwrap()
    }

    #[test]
    fn the_loss_is_nearly_two_inner_epsilon_and_not_ten() {
        // 1.777·e₀ at e₀ = 0.05 with four strings, 1.998·e₀ at 0.25 with eight
        for (inner, strings, factor) in [(0.05f64, 4, 1.777), (0.25, 8, 1.998)] {
            let words = |p: f64| (p * WORDS) as u64;
            let loss = exact_loss(words(0.5 * (-inner).exp()), words(0.5 * inner.exp()), strings);
            assert!((loss / inner - factor).abs() < 1e-3, "{}", loss / inner);
        }
    }

    #[test]
    fn no_strings_make_two_numbers_differ_by_more_than_epsilon() {
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        for (strings, epsilon) in [(2, 0.3), (4, 0.5), (8, 1.0), (3, 0.01)] {
            let mechanism = mechanism(strings, epsilon);
            assert!(mechanism.realised_epsilon() <= epsilon);
            let n = i64::from(mechanism.bounds.steps());
            // Strings at and around the ends and in the middle, where the probabilities turn, and honest ones
            let places = [-n, 0, n / 4, n / 2, 3 * n / 4, n, 2 * n];
            let chosen: Vec<Vec<i64>> = places
                .iter()
                .flat_map(|&own| places.iter().map(move |&other| (own, other)))
                .map(|(own, other)| (0..strings).map(|t| if t == 0 { own } else { other }).collect())
                .collect();
            let drawn = (0..40).map(|_| mechanism.draw_public(&mut rng));
            let mut loss = 0.0f64;
            for public in drawn.chain(chosen) {
                for index in 0..strings {
                    let report = GenProtReport { public: public.clone(), index };
                    let ln = mechanism
                        .bounds
                        .grid()
                        .step_by(8)
                        .map(|input| mechanism.ln_likelihood(&report, &input));
                    let (low, high) =
                        ln.fold((f64::MAX, f64::MIN), |(low, high), ln| (low.min(ln), high.max(ln)));
                    loss = loss.max(high - low);
                }
            }
            let spent = loss / epsilon;
            assert!(loss <= epsilon + 1e-12 && spent > 0.999, "T = {strings}, ε = {epsilon}: {loss}");
        }
    }

    #[test]
    fn indices_are_named_as_often_as_the_likelihood_says() {
        let mechanism = mechanism(3, 0.8);
        let mut rng = ChaCha12Rng::seed_from_u64(2);
        let (public, input) = (Vec::from([40, -30, 200]), mechanism.bounds.highest());
        let strings: f64 = public.iter().map(|&string| mechanism.public.ln_pmf(string)).sum();
        let trials = 200_000;
        let mut seen = [0u32; 3];
        for _ in 0..trials {
            seen[mechanism.answer(&public, input, &mut rng) as usize] += 1;
        }
        for (index, count) in (0..).zip(seen) {
            let report = GenProtReport { public: public.clone(), index };
            let p = (mechanism.ln_likelihood(&report, &input) - strings).exp();
            let sigma = (f64::from(trials) * p * (1.0 - p)).sqrt();
            assert!((f64::from(count) - f64::from(trials) * p).abs() < 5.0 * sigma);
        }
    }

    #[test]
    fn strings_estimate_the_number_and_indices_do_not() {
        let mechanism = mechanism(8, 1.0);
        let input = mechanism.bounds.place(0.7).unwrap();
        let mut rng = ChaCha12Rng::seed_from_u64(3);
        let trials = 200_000;
        let (mut strings, mut indices) = (0.0, 0.0);
        for _ in 0..trials {
            let report = mechanism.randomize(&input, &mut rng).unwrap();
            strings += mechanism.estimate(&report)[0];
            indices += f64::from(report.index);
        }
        let n = f64::from(trials);
        let truth = mechanism.bounds.value_of(input);
        assert!((strings / n - truth).abs() < 5.0 * (mechanism.variance(&input) / n).sqrt());
        // As printed, the mean index of eight strings, about 3.5, would be taken for the number 0.7.
        assert!((indices / n - 3.5).abs() < 5.0 * (64.0 / 12.0 / n).sqrt());
    }

    #[test]
    fn one_string_is_no_choice() {
        let bounds = Bounds::new(0.0, 1.0).unwrap();
        let epsilon = Epsilon::new(1.0).unwrap();
        assert_eq!(GenProt::new(bounds, 1, epsilon), Err(PrivacyError::PublicStrings { strings: 1 }));
    }
}
