//! A direction named by a number: the device's mechanism for vectors under a pure promise.
//!
//! A device draws a public seed, from which anyone can make M unit vectors v_1, …, v_M: M/2 random directions, each
//! followed by its opposite. It turns its vector v into
//! a direction u = ±v/|v|, positive with probability 1/2 + |v|/(2r), ranks the codewords by ⟨v_j, u⟩, and reports
//! the seed and one index j:
//!
//! > P(j | seed, u) = P/k if v_j is among the k best, else (1-P)/(M-k), P = k·e^ε/(k·e^ε + M-k)
//!
//! **Privacy.** For every codebook P(j | seed, u) takes two values, whose ratio is at most e^ε; the seed does not
//! depend on u. That holds whatever the floating-point inner products came out as, for they only decide which k
//! codewords are called the best; errors in them can cost accuracy, never privacy. P is a number of words out of
//! 2^64, rounded towards privacy, and both ranks are drawn by integers. The random sign is preprocessing.
//!
//! **Utility.** The estimate r·v_j/m is unbiased, with E|r·v_j/m - v|² = r²/m² - |v|² and
//!
//! > m = E⟨v_j, u⟩ = T_k·(P/k - (1-P)/(M-k)), T_k = E[the sum of the k largest ⟨v_j, u⟩].
//!
//! k maximises m. T_k is concave in k and m = T_k·(e^ε-1)/(k·e^ε + M-k) a concave function over an affine one, so
//! m rises up to the best k and falls after it. As M grows the mechanism tends to PrivUnit (Bhowmick, Duchi,
//! Freudiger, Kapoor, Rogers, *Protection against reconstruction and its applications in private federated
//! learning*, 2018; shown optimal by Asi, Feldman, Talwar, *Optimal algorithms for mean estimation under local
//! differential privacy*, 2022), whose float vectors may not leave a device. Shared random codewords of which the k
//! closest are likelier are studied by Isik, Chen, Özgür, Weissman, No, *Exact optimality of
//! communication-privacy-utility tradeoffs in distributed mean estimation*, 2023.
//!
//! Opposites are worth having: with M independent codewords a report would take twice as long to make and have more
//! variance, for six dimensions at ε = 1 38.6 instead of 36.0 with 16 codewords and 34.73 instead of 34.59 with 256.
//!
//! An index cannot say more than M codewords can: where e^ε is far above M the variance no longer falls, and a
//! larger M, or additive noise, is better.
//!
//! What is exact: the privacy; the sign, up to 2^-64; T_k and m, to about ten digits. What is taken on trust: that
//! the public stream behaves like independent numbers, which are normal but for what [`direction`](super::direction) tells.

use super::direction::fill_direction;
use super::sphere::Sphere;
use super::top_sum::top_sum;
use super::{Ball, BallVector, STEPS, VectorRandomizer};
use crate::exact::{Coin, uniform_below};
use crate::{DeviceSafe, Epsilon, Guarantee, PrivacyError, Randomizer, Unbiased, ln_ratio};
use alloc::vec;
use alloc::vec::Vec;
use core::f64::consts::LN_2;
use rand_core::CryptoRng;

/// The top-k codebook mechanism.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Codebook {
    ball: Ball,
    epsilon: Epsilon,
    /// M
    codewords: u32,
    /// k
    top: u32,
    /// Heads with probability P.
    keep: Coin,
    /// m
    shrinkage: f64,
}

/// A public seed and the codeword of it that was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CodebookReport {
    /// Where the codewords come from.
    pub seed: u128,
    /// Which one was chosen.
    pub index: u16,
}

impl Codebook {
    /// The number of codewords unless another is asked for: an index takes one byte.
    pub const CODEWORDS: u32 = 256;

    /// The mechanism with [`CODEWORDS`](Self::CODEWORDS) vectors.
    pub fn new(ball: Ball, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        Self::with_codewords(ball, epsilon, Self::CODEWORDS)
    }

    /// The mechanism with 2 to 65536 codewords, an even number: more are slower and a little more accurate.
    pub fn with_codewords(ball: Ball, epsilon: Epsilon, codewords: u32) -> Result<Self, PrivacyError> {
        if !(2..=1 << 16).contains(&codewords) || codewords % 2 == 1 {
            return Err(PrivacyError::Codewords { codewords });
        }
        let sphere = Sphere::new(ball.dimension());
        let top = best_top(sphere, codewords, epsilon);
        let keep = keep_coin(codewords, top, epsilon);
        // heads/k - tails/(M-k) = (heads·(M-k) - tails·k) / (k·(M-k)), exactly
        let (k, rest) = (u128::from(top), u128::from(codewords - top));
        let (better, worse) = (u128::from(keep.heads()) * rest, keep.tails() * k);
        // A promise too small for 64-bit words to keep is not made.
        if better <= worse || ln_ratio(better, worse) > epsilon.get() {
            return Err(PrivacyError::NoInformation { epsilon: epsilon.get() });
        }
        let gap = (better - worse) as f64 / (k * rest) as f64 / libm::ldexp(1.0, 64);
        Ok(Self { ball, epsilon, codewords, top, keep, shrinkage: top_sum(sphere, codewords / 2, top) * gap })
    }

    /// M, the number of codewords.
    pub fn codewords(&self) -> u32 {
        self.codewords
    }

    /// k, how many of them are called the best.
    pub fn top(&self) -> u32 {
        self.top
    }

    /// P, whether the codeword is one of the best.
    pub fn keep(&self) -> Coin {
        self.keep
    }

    /// The codeword that a report names, a unit vector.
    pub fn codeword(&self, report: &CodebookReport) -> Vec<f64> {
        let mut vector = vec![0.0; self.ball.dimension()];
        self.fill_codeword(report, &mut vector);
        vector
    }

    /// The same, put into a vector of as many coordinates.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "so that callers compile it for the vectors of their machine")]
    pub fn fill_codeword(&self, report: &CodebookReport, vector: &mut [f64]) {
        let square = fill_direction(report.seed, u64::from(report.index / 2), vector);
        let length = 1.0 / libm::sqrt(square as f64);
        let length = if report.index.is_multiple_of(2) { length } else { -length };
        for x in vector {
            *x *= length;
        }
    }

    /// ⟨v_j, v⟩ for every codeword, in grid steps. Along the zero vector all are alike and the index decides, which
    /// says nothing about the codewords: their mean is zero, as it should be.
    ///
    /// A product with the integers of a direction is an integer of at most |v|·2^15·√p < 2^53 and so are its parts: exact in any order.
    fn scores(&self, seed: u128, input: &BallVector) -> Vec<f64> {
        let direction: Vec<f64> = input.steps().iter().map(|&k| f64::from(k)).collect();
        let mut vector = vec![0.0; direction.len()];
        (0..u64::from(self.codewords / 2))
            .flat_map(|pair| {
                let square = fill_direction(seed, pair, &mut vector);
                // from a positive zero, which stays positive whatever the signs of zeros added to it or taken off
                let score = product(&vector, &direction) / libm::sqrt(square as f64);
                [score, 0.0 - score]
            })
            .collect()
    }

    /// P(index | seed, direction) if the codeword is among the best, or if it is not.
    fn probability(&self, best: bool) -> f64 {
        if best {
            self.keep.probability() / f64::from(self.top)
        } else {
            self.keep.complement() / f64::from(self.codewords - self.top)
        }
    }
}

/// ⟨x, y⟩, several sums at a time.
fn product(x: &[f64], y: &[f64]) -> f64 {
    let (left, right) = (x.chunks_exact(4), y.chunks_exact(4));
    let rest = left.remainder().iter().zip(right.remainder()).fold(0.0, |sum, (x, y)| sum + x * y);
    let sums = left.zip(right).fold([0.0; 4], |mut sums: [f64; 4], (x, y)| {
        sums.iter_mut().zip(x.iter().zip(y)).for_each(|(sum, (x, y))| *sum += x * y);
        sums
    });
    sums.into_iter().fold(rest, |all, sum| all + sum)
}

/// Words out of 2^64 for which the direction is +v: 2^63·(1 + |v|/STEPS), rounded down.
///
/// 2^63·|v|/STEPS = √(Σk²·2^126/2^40), and Σk² ≤ 2^40 keeps the square within 128 bits.
fn forward_words(input: &BallVector) -> u128 {
    const SHIFT: u32 = 126 - 2 * STEPS.trailing_zeros();
    (1 << 63) + (u128::from(input.square()) << SHIFT).isqrt()
}

/// A number that is the smaller the better the codeword: its score, upside down, in the upper 48 bits and its index,
/// which decides among equals, in the lower 16. What the score loses by that is accuracy, and hardly any.
fn key(score: f64, index: u32, forward: bool) -> u64 {
    let bits = if forward { -score } else { score }.to_bits();
    // Floats are ordered like their bits, if negative ones are turned round and put below the others.
    let ordered = bits ^ ((bits as i64 >> 63) as u64 | 1 << 63);
    ordered & !0xffff | u64::from(index)
}

/// The codewords from best to worst, by a bitonic sorting network (Batcher, *Sorting networks and their applications*,
/// 1968): the same places are compared in the same order whatever the scores, so that the time tells nothing.
fn ranked(scores: &[f64], forward: bool) -> Vec<u16> {
    let mut keys: Vec<u64> = (0u32..).zip(scores).map(|(j, &score)| key(score, j, forward)).collect();
    // Padded at the end with what is worse than any codeword
    keys.resize(scores.len().next_power_of_two(), u64::MAX);
    let mut run = 2;
    while run <= keys.len() {
        let mut distance = run / 2;
        while distance > 0 {
            for start in (0..keys.len()).step_by(2 * distance) {
                // Runs take turns to rise and fall.
                let rising = start & run == 0;
                let (low, high) = keys[start..start + 2 * distance].split_at_mut(distance);
                for (a, b) in low.iter_mut().zip(high) {
                    let (least, most) = ((*a).min(*b), (*a).max(*b));
                    (*a, *b) = if rising { (least, most) } else { (most, least) };
                }
            }
            distance /= 2;
        }
        run *= 2;
    }
    keys.into_iter().take(scores.len()).map(|key| key as u16).collect()
}

/// The k with the largest m, ideal P: the last at which m still rises.
fn best_top(sphere: Sphere, codewords: u32, epsilon: Epsilon) -> u32 {
    let m = f64::from(codewords);
    // m/(1 - t) = T_k / (k + (M-k)·t) with t = e^-ε
    let shrinkage = |k: u32| {
        let k_ = f64::from(k);
        top_sum(sphere, codewords / 2, k) / (k_ + (m - k_) * epsilon.t())
    };
    // Beyond M/2 the opposites would come in and T_k fall while the denominator grows.
    let (mut low, mut high) = (1, codewords / 2);
    while low < high {
        let middle = low.midpoint(high);
        if shrinkage(middle + 1) > shrinkage(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// A coin of probability at most P = k/(k + (M-k)·t), but no less than k/M, which tells nothing at all.
fn keep_coin(codewords: u32, top: u32, epsilon: Epsilon) -> Coin {
    let (k, rest) = (f64::from(top), f64::from(codewords - top) * epsilon.t());
    let coin =
        if k < rest { Coin::at_most(k / (k + rest)) } else { Coin::leaving_at_least(rest / (k + rest)) };
    let blind = ((u128::from(top) << 64) / u128::from(codewords)) as u64;
    Coin::from_heads(coin.heads().max(blind))
}

impl Randomizer for Codebook {
    type Input = BallVector;
    type Report = CodebookReport;

    fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    fn randomize(
        &self,
        input: &BallVector,
        rng: &mut impl CryptoRng,
    ) -> Result<CodebookReport, PrivacyError> {
        self.ball.check(input)?;
        let seed = u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
        let forward = u128::from(rng.next_u64()) < forward_words(input);
        let scores = self.scores(seed, input);
        // Both places are drawn before one is taken, so that what is drawn does not tell which it was.
        let best = uniform_below(u64::from(self.top), rng) as usize;
        let other = self.top as usize + uniform_below(u64::from(self.codewords - self.top), rng) as usize;
        let place = if self.keep.toss(rng) { best } else { other };
        let order = ranked(&scores, forward);
        Ok(CodebookReport { seed, index: order[place] })
    }

    /// With a factor of 2^-128 for the seed; the sign is summed over.
    fn ln_likelihood(&self, report: &CodebookReport, input: &BallVector) -> f64 {
        let index = u32::from(report.index);
        if index >= self.codewords || self.ball.check(input).is_err() {
            return f64::NEG_INFINITY;
        }
        let scores = self.scores(report.seed, input);
        let is_best = |forward| {
            let mine = key(scores[index as usize], index, forward);
            let better = (0u32..).zip(&scores).filter(|&(j, &score)| key(score, j, forward) < mine);
            better.count() < self.top as usize
        };
        let words = forward_words(input);
        let forward = words as f64 / libm::ldexp(1.0, 64);
        let backward = ((1u128 << 64) - words) as f64 / libm::ldexp(1.0, 64);
        let p = forward * self.probability(is_best(true)) + backward * self.probability(is_best(false));
        libm::log(p) - 128.0 * LN_2
    }
}

impl DeviceSafe for Codebook {}

impl Unbiased for Codebook {
    fn truth(&self, input: &BallVector) -> Vec<f64> {
        self.ball.value_of(input)
    }

    fn estimate(&self, report: &CodebookReport) -> Vec<f64> {
        let length = self.ball.radius() / self.shrinkage;
        self.codeword(report).into_iter().map(|x| length * x).collect()
    }

    fn variance(&self, input: &BallVector) -> f64 {
        self.variance_at_norm(self.ball.radius() * input.relative_norm())
    }
}

impl VectorRandomizer for Codebook {
    fn ball(&self) -> Ball {
        self.ball
    }

    fn variance_at_norm(&self, norm: f64) -> f64 {
        let length = self.ball.radius() / self.shrinkage;
        // not below zero by a rounding at large ε
        ((length - norm) * (length + norm)).max(0.0)
    }

    fn report_bytes(&self) -> Option<usize> {
        Some(if self.codewords <= 256 { 17 } else { 18 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::testing::{ball, corner, epsilon, estimates_match_the_stated_moments};
    use rand_chacha::ChaCha12Rng;
    use rand_core::{Rng, SeedableRng};

    fn codebook(p: usize, e: f64, codewords: u32) -> Codebook {
        Codebook::with_codewords(ball(p), epsilon(e), codewords).unwrap()
    }

    #[test]
    fn opposites_make_the_variance_smaller_than_independent_codewords_do() {
        // p, ε, M, and the variance at radius one of M independent codewords
        for (p, e, codewords, independent) in [
            (6, 1.0, 16, 38.64),
            (6, 1.0, 64, 35.48),
            (6, 3.0, 16, 4.40),
            (6, 3.0, 64, 3.81),
            (11, 2.0, 16, 18.77),
            (11, 2.0, 64, 17.06),
            (21, 1.0, 16, 144.06),
            (21, 1.0, 64, 132.84),
        ] {
            let ours = codebook(p, e, codewords).variance_at_norm(1.0);
            assert!(ours < independent, "p = {p}, ε = {e}, M = {codewords}: {ours}");
        }
        for (p, codewords, variance) in [(6, 16, 36.02), (6, 64, 34.91), (6, 256, 34.59), (21, 256, 129.71)] {
            let ours = codebook(p, 1.0, codewords).variance_at_norm(1.0);
            assert!((ours - variance).abs() <= 0.0051, "p = {p}, M = {codewords}: {ours}");
        }
    }

    #[test]
    fn two_opposite_codewords_are_a_half_sphere() {
        // The mechanism of Duchi, Jordan and Wainwright
        for p in [1, 2, 3, 10] {
            let half_sphere = crate::vector::simulated::SimulatedDuchi::new(ball(p), epsilon(1.0));
            let (ours, theirs) =
                (codebook(p, 1.0, 2).variance_at_norm(0.5), half_sphere.variance_at_norm(0.5));
            assert!((ours / theirs - 1.0).abs() < 1e-9, "p = {p}: {ours} and {theirs}");
        }
    }

    #[test]
    fn no_other_k_is_better() {
        for (p, e, codewords) in [(1, 1.0, 10), (2, 0.1, 8), (6, 1.0, 64), (21, 4.0, 32), (3, 20.0, 16)] {
            let sphere = Sphere::new(p);
            let value = |k: u32| {
                let rest = f64::from(codewords - k) * epsilon(e).t();
                top_sum(sphere, codewords / 2, k) / (f64::from(k) + rest)
            };
            let best = value(codebook(p, e, codewords).top());
            assert!((1..=codewords / 2).all(|k| value(k) <= best * (1.0 + 1e-12)), "p = {p}");
        }
    }

    #[test]
    fn an_index_has_probability_one_in_all_and_two_inputs_differ_by_the_promise_at_most() {
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        for (p, e, codewords) in [
            (1, 1.0, 2),
            (1, 1e-6, 8),
            (2, 50.0, 6),
            (3, 1.0, 16),
            (6, 1e-6, 100),
            (6, 3.0, 256),
            (40, 0.5, 4),
        ] {
            let mechanism = codebook(p, e, codewords);
            let inputs: Vec<BallVector> = (0..4)
                .map(|i| {
                    let steps: Vec<i64> = (0..p).map(|_| (rng.next_u64() as i64) >> (40 + i)).collect();
                    ball(p).clamp_steps(&steps).unwrap()
                })
                .chain([BallVector::zero(ball(p)), corner(ball(p), 1.0), corner(ball(p), -1.0)])
                .collect();
            let seed = u128::from(rng.next_u64());
            let report = |index| CodebookReport { seed, index: index as u16 };
            let table: Vec<Vec<f64>> = inputs
                .iter()
                .map(|v| {
                    (0..codewords).map(|j| mechanism.ln_likelihood(&report(j), v) + 128.0 * LN_2).collect()
                })
                .collect();
            for row in &table {
                assert!((row.iter().map(|ln_p| ln_p.exp()).sum::<f64>() - 1.0).abs() < 1e-12);
            }
            for (a, b) in table.iter().flat_map(|a| table.iter().map(move |b| (a, b))) {
                // the ratio is exact in integers below; here it has passed through 128·ln 2 and back
                assert!(a.iter().zip(b).all(|(x, y)| x - y <= e + 1e-13), "p = {p}, ε = {e}");
            }
        }
    }

    #[test]
    fn the_two_probabilities_keep_the_promise_as_integers() {
        for e in [1e-6, 1e-3, 0.5, 1.0, 3.0, 10.0, 50.0, 300.0] {
            for (p, codewords) in [(1, 2), (2, 4), (6, 256), (50, 1000), (6, 65_536)] {
                let mechanism = codebook(p, e, codewords);
                let (k, rest) = (u128::from(mechanism.top), u128::from(codewords - mechanism.top));
                let loss = ln_ratio(u128::from(mechanism.keep.heads()) * rest, mechanism.keep.tails() * k);
                assert!(loss <= e && (loss >= e * (1.0 - 1e-8) || e > 30.0), "{loss} against {e}");
            }
        }
        let refused = Codebook::new(ball(3), epsilon(1e-25));
        assert_eq!(refused, Err(PrivacyError::NoInformation { epsilon: 1e-25 }));
    }

    #[test]
    fn reports_follow_the_likelihood() {
        // The seed is as random as the index, so the events are how good the chosen codeword is for its own seed.
        let mut rng = ChaCha12Rng::seed_from_u64(2);
        let (mechanism, trials) = (codebook(3, 1.5, 8), 40_000);
        for input in [corner(ball(3), 0.6), BallVector::zero(ball(3)), corner(ball(3), 1.0)] {
            // Σ over reports of [best when forward] has the mean P·p₊ + … that the likelihoods of all indices give
            let (mut seen, mut expected, mut variance) = ([0.0; 8], [0.0; 8], [0.0; 8]);
            for _ in 0..trials {
                let report = mechanism.randomize(&input, &mut rng).unwrap();
                let scores = mechanism.scores(report.seed, &input);
                for (place, index) in ranked(&scores, true).into_iter().enumerate() {
                    let this = CodebookReport { index, ..report };
                    let p = (mechanism.ln_likelihood(&this, &input) + 128.0 * LN_2).exp();
                    seen[place] += f64::from(u8::from(this == report));
                    expected[place] += p;
                    variance[place] += p * (1.0 - p);
                }
            }
            for place in 0..8 {
                let off = (seen[place] - expected[place]) / f64::sqrt(variance[place]);
                assert!(off.abs() < 5.0, "place {place}: {off} standard deviations");
            }
        }
    }

    #[test]
    fn estimates_are_unbiased_with_the_stated_variance() {
        for (p, e, codewords, length) in [
            (1, 1.0, 16, 0.5),
            (2, 2.0, 16, 1.0),
            (3, 1.0, 2, 0.7),
            (6, 3.0, 64, 0.9),
            (6, 50.0, 256, 1.0),
            (5, 1.0, 20, 0.0),
            (1, 1.0, 6, 0.0),
        ] {
            let scaled = Ball::new(p, 2.0).unwrap();
            let mechanism = Codebook::with_codewords(scaled, epsilon(e), codewords).unwrap();
            estimates_match_the_stated_moments(&mechanism, &corner(ball(p), length), 20_000);
        }
    }

    #[test]
    fn codewords_are_ranked_by_their_scores_and_equals_by_their_index() {
        let scores = [0.5, -2.0, 3.0, 0.5, -0.0, 0.0, 1e300, -1e-300];
        assert_eq!(ranked(&scores, true), [6, 2, 0, 3, 5, 4, 7, 1]);
        assert_eq!(ranked(&scores, false), [1, 7, 4, 5, 0, 3, 2, 6]);
        assert_eq!(ranked(&scores[..6], true), [2, 0, 3, 5, 4, 1], "a number that is no power of two");
    }

    #[test]
    fn along_the_zero_vector_all_codewords_are_alike() {
        for p in [1, 2, 5] {
            let scores = codebook(p, 1.0, 256).scores(7, &BallVector::zero(ball(p)));
            assert!(scores.iter().all(|score| score.to_bits() == 0));
            assert!([false, true].iter().all(|&forward| ranked(&scores, forward).is_sorted()));
        }
    }

    #[test]
    fn one_dimension_is_randomised_response_on_the_sign() {
        for codewords in [2, 16, 256] {
            let mechanism = codebook(1, 1.0, codewords);
            assert_eq!(mechanism.top(), codewords / 2);
            assert!((mechanism.variance_at_norm(0.0) - libm::tanh(0.5).powi(-2)).abs() < 1e-12);
        }
    }

    #[test]
    fn the_sign_is_certain_on_the_sphere_and_fair_at_the_centre() {
        let line = ball(1);
        assert_eq!(forward_words(&corner(line, 1.0)), 1 << 64);
        assert_eq!(forward_words(&BallVector::zero(line)), 1 << 63);
        // |v| = r/2: three in four
        assert_eq!(forward_words(&corner(line, -0.5)), 3 << 62);
    }

    #[test]
    fn the_default_has_two_hundred_and_fifty_six_codewords_in_seventeen_bytes() {
        let mechanism = Codebook::new(ball(6), epsilon(1.0)).unwrap();
        assert_eq!((mechanism.codewords(), mechanism.report_bytes()), (256, Some(17)));
        assert_eq!(codebook(6, 1.0, 258).report_bytes(), Some(18));
        let beyond = CodebookReport { seed: 0, index: 256 };
        assert!(mechanism.ln_likelihood(&beyond, &BallVector::zero(ball(6))) < f64::MIN);
    }

    #[test]
    fn numbers_of_codewords_and_inputs_that_make_no_sense_are_refused() {
        for codewords in [0, 1, 3, 65_537] {
            let refused = Codebook::with_codewords(ball(2), epsilon(1.0), codewords);
            assert_eq!(refused, Err(PrivacyError::Codewords { codewords }));
        }
        let mut rng = ChaCha12Rng::seed_from_u64(3);
        let report = codebook(2, 1.0, 2).randomize(&BallVector::zero(ball(3)), &mut rng);
        assert_eq!(report, Err(PrivacyError::WrongLength { length: 3, dimension: 2 }));
    }
}
