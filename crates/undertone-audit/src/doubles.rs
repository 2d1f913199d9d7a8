//! Test doubles: small mechanisms that can be told to lie about one thing at a time.

use rand_core::CryptoRng;
use std::collections::BTreeMap;
use undertone_privacy::central::{ExponentialMechanism, Vote};
use undertone_privacy::exact::{Coin, DiscreteLaplace, Scale, distinct_below, uniform_below};
use undertone_privacy::number::{Bounds, GridNumber};
use undertone_privacy::{Epsilon, Guarantee, Mu, PrivacyError, Randomizer, Unbiased};

pub(crate) fn pure(epsilon: f64) -> Guarantee {
    Guarantee::Pure(Epsilon::new(epsilon).unwrap())
}

/// k-ary randomized response: the truth with probability e^ε/(e^ε + k - 1). Each ε is for one of its faces.
#[derive(Clone, Debug)]
pub(crate) struct Response {
    pub(crate) labels: u32,
    pub(crate) claimed: f64,
    pub(crate) stated: f64,
    pub(crate) sampled: f64,
    /// Factors that an honest double leaves at one.
    pub(crate) likelihood_factor: f64,
    pub(crate) decoder_factor: f64,
    pub(crate) variance_factor: f64,
}

impl Response {
    pub(crate) fn honest(labels: u32, epsilon: f64) -> Self {
        Self {
            labels,
            claimed: epsilon,
            stated: epsilon,
            sampled: epsilon,
            likelihood_factor: 1.0,
            decoder_factor: 1.0,
            variance_factor: 1.0,
        }
    }

    fn keep(&self, epsilon: f64) -> f64 {
        epsilon.exp() / (epsilon.exp() + f64::from(self.labels) - 1.0)
    }

    fn lie(&self, epsilon: f64) -> f64 {
        1.0 / (epsilon.exp() + f64::from(self.labels) - 1.0)
    }
}

impl Randomizer for Response {
    type Input = u32;
    type Report = u32;

    fn guarantee(&self) -> Guarantee {
        pure(self.claimed)
    }

    fn randomize(&self, input: &u32, rng: &mut impl CryptoRng) -> Result<u32, PrivacyError> {
        if Coin::at_most(self.keep(self.sampled)).toss(rng) {
            return Ok(*input);
        }
        let lie = uniform_below(u64::from(self.labels) - 1, rng) as u32;
        Ok(lie + u32::from(lie >= *input))
    }

    fn ln_likelihood(&self, report: &u32, input: &u32) -> f64 {
        let z = self.stated.exp() + f64::from(self.labels) - 1.0;
        let exponent = if report == input { self.stated } else { 0.0 };
        exponent - (z / self.likelihood_factor).ln()
    }
}

impl Unbiased for Response {
    fn truth(&self, input: &u32) -> Vec<f64> {
        (0..self.labels).map(|label| f64::from(label == *input)).collect()
    }

    fn estimate(&self, report: &u32) -> Vec<f64> {
        let (p, q) = (self.keep(self.stated), self.lie(self.stated));
        let one = |label| self.decoder_factor * (f64::from(label == *report) - q) / (p - q);
        (0..self.labels).map(one).collect()
    }

    fn variance(&self, _: &u32) -> f64 {
        // Σ over the labels of P(seen)·(1 - P(seen)) / (p - q)², where 1 - p = (k - 1)·q
        let (p, q, others) = (self.keep(self.stated), self.lie(self.stated), f64::from(self.labels) - 1.0);
        let sum = p * others * q + others * q * (1.0 - q);
        self.variance_factor * sum / (p - q) / (p - q)
    }
}

/// Optimal unary encoding: the true bit stays with probability 1/2, each other one lights with 1/(e^ε + 1).
#[derive(Clone, Debug)]
pub(crate) struct Bits {
    pub(crate) labels: u32,
    pub(crate) epsilon: f64,
}

impl Bits {
    fn lit(&self, truth: bool) -> f64 {
        if truth { 0.5 } else { 1.0 / (self.epsilon.exp() + 1.0) }
    }
}

impl Randomizer for Bits {
    type Input = u32;
    type Report = Vec<bool>;

    fn guarantee(&self) -> Guarantee {
        pure(self.epsilon)
    }

    fn randomize(&self, input: &u32, rng: &mut impl CryptoRng) -> Result<Vec<bool>, PrivacyError> {
        Ok((0..self.labels).map(|label| Coin::at_most(self.lit(label == *input)).toss(rng)).collect())
    }

    fn ln_likelihood(&self, report: &Vec<bool>, input: &u32) -> f64 {
        let bit = |label: u32, lit: bool| {
            let p = self.lit(label == *input);
            if lit { p.ln() } else { (1.0 - p).ln() }
        };
        (0..).zip(report).map(|(label, &lit)| bit(label, lit)).sum()
    }
}

/// Subset selection: sets of `size` labels, those with the truth e^ε times likelier than the others.
#[derive(Clone, Debug)]
pub(crate) struct Subset {
    pub(crate) labels: u32,
    pub(crate) size: u32,
    pub(crate) epsilon: f64,
}

impl Randomizer for Subset {
    type Input = u32;
    type Report = Vec<u32>;

    fn guarantee(&self) -> Guarantee {
        pure(self.epsilon)
    }

    fn randomize(&self, input: &u32, rng: &mut impl CryptoRng) -> Result<Vec<u32>, PrivacyError> {
        let (k, d) = (f64::from(self.labels), f64::from(self.size));
        let kept = Coin::at_most(d * self.epsilon.exp() / (d * self.epsilon.exp() + k - d)).toss(rng);
        let mut set = Vec::new();
        let size = self.size - u32::from(kept);
        distinct_below(self.labels - 1, size, &mut set, rng, |set, draw| set.contains(&draw), Vec::push);
        for decoy in &mut set {
            *decoy += u32::from(*decoy >= *input);
        }
        set.extend(kept.then_some(*input));
        set.sort_unstable();
        Ok(set)
    }

    fn ln_likelihood(&self, report: &Vec<u32>, input: &u32) -> f64 {
        // e^ε/Z or 1/Z, where Z = C(k-1, d-1)·e^ε + C(k-1, d)
        let choose = |n: u32, r: u32| (0..r).map(|i| f64::from(n - i) / f64::from(i + 1)).product::<f64>();
        let (n, d) = (self.labels - 1, self.size);
        let z = choose(n, d - 1) * self.epsilon.exp() + choose(n, d);
        if report.contains(input) { self.epsilon - z.ln() } else { -z.ln() }
    }
}

/// Any finite channel, row by input, with any claim.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    pub(crate) claimed: Guarantee,
    pub(crate) rows: Vec<Vec<f64>>,
}

impl Channel {
    /// Unnormalized weights become the rows.
    pub(crate) fn new(claimed: Guarantee, weights: Vec<Vec<f64>>) -> Self {
        let normalized = |row: Vec<f64>| {
            let sum: f64 = row.iter().sum();
            row.iter().map(|weight| weight / sum).collect()
        };
        Self { claimed, rows: weights.into_iter().map(normalized).collect() }
    }

    /// The discrete Gaussian with deviation `s` around 0 and around `shift`, out to twelve deviations.
    pub(crate) fn discrete_gaussian(claimed: Guarantee, shift: i32, s: f64) -> Self {
        let reach = (12.0 * s) as i32;
        let weight = |x: i32, centre: i32| (-f64::from(x - centre).powi(2) / (2.0 * s * s)).exp();
        let row = |centre| (-reach..=reach + shift).map(|x| weight(x, centre)).collect();
        Self::new(claimed, vec![row(0), row(shift)])
    }

    /// round(N) for N normal with deviation `s` around 0 and around `shift`, out to twelve deviations.
    pub(crate) fn rounded_gaussian(claimed: Guarantee, shift: i32, s: f64) -> Self {
        let reach = (12.0 * s) as i32;
        // the mass of a cell, from the tail on its own side so that it keeps its digits
        let above = |z: f64| 0.5 * libm::erfc(z / s / std::f64::consts::SQRT_2);
        let cell = |x: i32, centre: i32| {
            let distance = f64::from((x - centre).abs());
            above(distance - 0.5) - above(distance + 0.5)
        };
        let row = |centre| (-reach..=reach + shift).map(|x| cell(x, centre)).collect();
        Self { claimed, rows: vec![row(0), row(shift)] }
    }

    /// Every report.
    pub(crate) fn reports(&self) -> Vec<usize> {
        (0..self.rows[0].len()).collect()
    }
}

impl Randomizer for Channel {
    type Input = usize;
    type Report = usize;

    fn guarantee(&self) -> Guarantee {
        self.claimed
    }

    fn randomize(&self, input: &usize, rng: &mut impl CryptoRng) -> Result<usize, PrivacyError> {
        let row = &self.rows[*input];
        let mut left = unit(rng);
        let found = row.iter().position(|p| {
            left -= p;
            left < 0.0
        });
        Ok(found.unwrap_or(row.len() - 1))
    }

    fn ln_likelihood(&self, report: &usize, input: &usize) -> f64 {
        self.rows[*input][*report].ln()
    }
}

/// The sum of a cell with the noise that was printed for it: the mean of n labels in [-T, T] with Laplace noise of scale 2/(n·ε), which
/// lacks T.
#[derive(Clone, Debug)]
pub(crate) struct SumWithoutT {
    bounds: Bounds,
    epsilon: Epsilon,
    noise: DiscreteLaplace,
}

impl SumWithoutT {
    pub(crate) fn new(t: f64, epsilon: f64) -> Self {
        let (bounds, epsilon) = (Bounds::new(-t, t).unwrap(), Epsilon::new(epsilon).unwrap());
        let step = 2.0 * t / f64::from(bounds.steps());
        let noise = DiscreteLaplace::new(Scale::at_least(2.0 / epsilon.get() / step).unwrap());
        Self { bounds, epsilon, noise }
    }

    pub(crate) fn bounds(&self) -> Bounds {
        self.bounds
    }
}

impl Randomizer for SumWithoutT {
    type Input = Vec<GridNumber>;
    type Report = i64;

    fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    fn randomize(&self, numbers: &Vec<GridNumber>, rng: &mut impl CryptoRng) -> Result<i64, PrivacyError> {
        Ok(total(numbers) + self.noise.sample(rng))
    }

    fn ln_likelihood(&self, report: &i64, numbers: &Vec<GridNumber>) -> f64 {
        self.noise.ln_pmf(report - total(numbers))
    }
}

fn total(numbers: &[GridNumber]) -> i64 {
    numbers.iter().map(|number| i64::from(number.index())).sum()
}

/// A class for each cell that somebody lies in, by the exponential mechanism, and no word of other cells: what a map of occupied cells
/// would release of private features.
#[derive(Clone, Debug)]
pub(crate) struct OccupiedVotes {
    pub(crate) labels: usize,
    pub(crate) epsilon: f64,
}

impl OccupiedVotes {
    fn counts(&self, votes: &[Vote]) -> BTreeMap<u32, Vec<u64>> {
        let mut counts = BTreeMap::new();
        for &(cell, label) in votes {
            counts.entry(cell).or_insert_with(|| vec![0; self.labels])[label as usize] += 1;
        }
        counts
    }

    fn choice(&self) -> ExponentialMechanism {
        ExponentialMechanism::new(Epsilon::new(self.epsilon).unwrap())
    }
}

impl Randomizer for OccupiedVotes {
    type Input = Vec<Vote>;
    type Report = Vec<Vote>;

    fn guarantee(&self) -> Guarantee {
        pure(self.epsilon)
    }

    fn randomize(&self, votes: &Vec<Vote>, rng: &mut impl CryptoRng) -> Result<Vec<Vote>, PrivacyError> {
        let answer = |(cell, counts)| Ok((cell, self.choice().randomize(&counts, rng)?));
        self.counts(votes).into_iter().map(answer).collect()
    }

    fn ln_likelihood(&self, report: &Vec<Vote>, votes: &Vec<Vote>) -> f64 {
        let counts = self.counts(votes);
        if !report.iter().map(|(cell, _)| cell).eq(counts.keys()) {
            return f64::NEG_INFINITY;
        }
        report.iter().map(|(cell, class)| self.choice().ln_likelihood(class, &counts[cell])).sum()
    }
}

/// x + N(0, 1) in floating point, for x = 0 or `shift`: what simulations use and devices must not.
#[derive(Clone, Debug)]
pub(crate) struct FloatGaussian {
    pub(crate) shift: f64,
}

impl Randomizer for FloatGaussian {
    type Input = bool;
    type Report = f64;

    fn guarantee(&self) -> Guarantee {
        Guarantee::Gaussian(Mu::new(self.shift).unwrap())
    }

    fn randomize(&self, input: &bool, rng: &mut impl CryptoRng) -> Result<f64, PrivacyError> {
        let radius = (-2.0 * (1.0 - unit(rng)).ln()).sqrt();
        let angle = 2.0 * std::f64::consts::PI * unit(rng);
        Ok(f64::from(*input) * self.shift + radius * angle.cos())
    }

    fn ln_likelihood(&self, report: &f64, input: &bool) -> f64 {
        let z = report - f64::from(*input) * self.shift;
        -0.5 * z * z - 0.5 * (2.0 * std::f64::consts::PI).ln()
    }
}

/// A float in [0, 1) of 53 bits.
pub(crate) fn unit(rng: &mut impl CryptoRng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}
