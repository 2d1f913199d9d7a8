//! What is averaged: unbiased label vectors of K classes, or unbiased numbers. Learners need not know which.

use crate::LearnError;
use crate::labels::LabelVectors;
use crate::simplex;
use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};
use undertone_privacy::number::{Bounds, NumberMechanism, NumberRandomizer};
use undertone_privacy::{PrivacyError, Randomizer};

/// Reports about numbers, decoded: E\[z | y\] = y, y within the bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberReports {
    /// z
    pub values: Vec<f64>,
    /// Where y lies
    pub bounds: Bounds,
    /// The largest variance of z given y
    pub variance: f64,
}

impl NumberReports {
    /// Reads the integers that devices have sent; one that the mechanism cannot have made is refused.
    pub fn decode(mechanism: &NumberMechanism, reports: &[i64]) -> Result<Self, LearnError> {
        let alphabet = mechanism.alphabet();
        let read = |(row, &report): (usize, &i64)| match &alphabet {
            Some(alphabet) if !alphabet.contains(&report) => {
                let problem = format!("{report} is not what {} reports", mechanism.kind().name());
                Err(LearnError::Report { row: row as u64 + 1, problem })
            }
            _ => Ok(mechanism.decode(report)),
        };
        let values = reports.iter().enumerate().map(read).collect::<Result<_, _>>()?;
        Ok(Self { values, bounds: mechanism.bounds(), variance: mechanism.worst_variance() })
    }

    /// Asks devices, each of which clips its number to the bounds first, and counts on the side how many had to: the count is
    /// for simulations and for a curator, no device sends it. What is no number is refused before anybody is asked.
    pub fn ask(
        mechanism: &NumberMechanism,
        labels: &[f64],
        rng: &mut impl CryptoRng,
    ) -> Result<(Self, u64), LearnError> {
        let (places, clipped) = place(mechanism.bounds(), labels)?;
        let draw = |place: &_| mechanism.randomize(place, rng);
        let reports = places.iter().map(draw).collect::<Result<Vec<_>, PrivacyError>>()?;
        Ok((Self::decode(mechanism, &reports)?, clipped))
    }

    /// Numbers that are not private, clipped to the bounds.
    pub fn certain(bounds: Bounds, labels: &[f64]) -> Result<(Self, u64), LearnError> {
        let (_, clipped) = place(bounds, labels)?;
        let values = labels.iter().map(|label| label.clamp(bounds.low(), bounds.high())).collect();
        Ok((Self { values, bounds, variance: 0.0 }, clipped))
    }

    /// As what is averaged.
    pub fn targets(&self) -> Targets<'_> {
        Targets::Numbers { values: &self.values, bounds: self.bounds, variance: self.variance }
    }
}

/// The grid points of some labels, and how many had to be clipped.
pub(super) fn place(
    bounds: Bounds,
    labels: &[f64],
) -> Result<(Vec<undertone_privacy::number::GridNumber>, u64), LearnError> {
    let outside = |label: &&f64| **label < bounds.low() || **label > bounds.high();
    let clipped = labels.iter().filter(outside).count() as u64;
    let read = |(row, &label): (usize, &f64)| {
        bounds
            .place(label)
            .map_err(|problem| LearnError::Report { row: row as u64 + 1, problem: problem.to_string() })
    };
    Ok((labels.iter().enumerate().map(read).collect::<Result<_, _>>()?, clipped))
}

/// One vector for each person, whose mean given the label is the label: e_y, or y itself.
#[derive(Clone, Copy, Debug)]
pub enum Targets<'a> {
    /// a(S) of K classes
    Classes {
        /// One for each person
        vectors: &'a LabelVectors,
        /// K
        classes: usize,
    },
    /// z
    Numbers {
        /// One for each person
        values: &'a [f64],
        /// Where y lies
        bounds: Bounds,
        /// The largest variance of z given y
        variance: f64,
    },
}

impl Targets<'_> {
    /// How many people.
    pub fn len(&self) -> usize {
        match self {
            Self::Classes { vectors, .. } => vectors.len(),
            Self::Numbers { values, .. } => values.len(),
        }
    }

    /// Whether there is nobody.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there is one for each of so many people, K is at least two, and no number is infinite or none.
    pub fn check(&self, people: usize) -> Result<(), LearnError> {
        if people == 0 {
            return Err(LearnError::NoReports);
        }
        if self.len() != people {
            return Err(PrivacyError::WrongLength { length: self.len(), dimension: people }.into());
        }
        match self {
            Self::Classes { classes: 0 | 1, .. } => {
                Err(PrivacyError::TooFewLabels { labels: self.output().width() as u32 }.into())
            }
            Self::Classes { .. } => Ok(()),
            Self::Numbers { values, .. } => match values.iter().position(|value| !value.is_finite()) {
                None => Ok(()),
                Some(row) => {
                    let problem = format!("{} is not a finite number", values[row]);
                    Err(LearnError::Report { row: row as u64 + 1, problem })
                }
            },
        }
    }

    /// What an average of them is.
    pub fn output(&self) -> Output {
        match self {
            Self::Classes { classes, .. } => Output::Classes(*classes),
            Self::Numbers { bounds, .. } => Output::Number { low: bounds.low(), high: bounds.high() },
        }
    }

    /// Adds a person's vector, as [what it is everywhere, and what is more at each place].
    #[inline]
    pub(super) fn add(&self, person: usize, base: &mut f64, sums: &mut [f64]) {
        match self {
            Self::Numbers { values, .. } => sums[0] += values[person],
            Self::Classes { vectors, .. } => {
                let vector = vectors.get(person);
                *base += f64::from(vector.base);
                for &(class, value) in vector.entries {
                    sums[class as usize] += f64::from(value) - f64::from(vector.base);
                }
            }
        }
    }

    /// A number of each of some people: their own, or the sum of their label vectors with random signs that are not all the same.
    pub(super) fn scalars(&self, people: &[u32], word: &mut impl FnMut() -> u64, into: &mut Vec<f64>) {
        into.clear();
        match self {
            Self::Numbers { values, .. } => into.extend(people.iter().map(|&person| values[person as usize])),
            Self::Classes { vectors, classes } => {
                let mut bits: Vec<bool> = Vec::with_capacity(*classes);
                while bits.iter().all(|bit| *bit == bits[0]) {
                    bits.clear();
                    while bits.len() < *classes {
                        let word = word();
                        bits.extend((0..64.min(classes - bits.len())).map(|bit| word >> bit & 1 == 1));
                    }
                }
                let signs: Vec<f64> = bits.into_iter().map(|bit| if bit { 1.0 } else { -1.0 }).collect();
                let sum: f64 = signs.iter().sum();
                let scalar = |&person: &u32| {
                    let vector = vectors.get(person as usize);
                    let base = f64::from(vector.base);
                    let entries = vector.entries.iter();
                    base * sum + entries.map(|&(k, a)| signs[k as usize] * (f64::from(a) - base)).sum::<f64>()
                };
                into.extend(people.iter().map(scalar));
            }
        }
    }

    /// A loss of a prediction that is, up to a constant, right on average over the reports: 1 - a_ŷ, the error on true labels,
    /// or (η - z)², the squared error and the variance of z.
    pub(super) fn loss(&self, person: usize, prediction: &[f32]) -> f64 {
        match self {
            Self::Numbers { values, .. } => (f64::from(prediction[0]) - values[person]).powi(2),
            Self::Classes { vectors, .. } => {
                1.0 - crate::evaluation::terms::accuracy(prediction, vectors.get(person))
            }
        }
    }

    /// How many people a cell needs to speak for itself: 2·ln(2K)/s² for s = p - q, so that the largest of K averages is likely
    /// to be that of a class that leads by a lot, or V/T², so that the noise is no larger than what is known beforehand.
    pub fn least(&self) -> f64 {
        match self {
            Self::Numbers { .. } => (self.noise() - 1.0).max(1.0),
            Self::Classes { classes, .. } => 2.0 * (2.0 * *classes as f64).ln() * self.noise(),
        }
    }

    /// How much a report scatters, where the label itself scatters by at most one: 1/s² for s = p - q, or 1 + V/T².
    ///
    /// s is the inverse of how far the two values of a label vector are apart, whatever the mechanism.
    pub(super) fn noise(&self) -> f64 {
        match self {
            Self::Numbers { bounds, variance, .. } => {
                let half = 0.5 * (bounds.high() - bounds.low());
                1.0 + variance / (half * half)
            }
            Self::Classes { vectors, .. } => {
                let apart = |person| {
                    let vector = vectors.get(person);
                    let values = vector.entries.iter().map(|&(_, value)| f64::from(value));
                    let most = values.clone().fold(f64::NEG_INFINITY, f64::max);
                    most - values.fold(f64::from(vector.base), f64::min)
                };
                let apart = (0..vectors.len()).map(apart).filter(|apart| apart.is_finite() && *apart > 0.0);
                let (sum, count) = apart.fold((0.0, 0.0), |(sum, count), apart| (sum + apart, count + 1.0));
                if count > 0.0 { (sum / count).powi(2) } else { 1.0 }
            }
        }
    }
}

/// What an average becomes: a distribution over classes, or a number within bounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Output {
    /// K probabilities
    Classes(usize),
    /// One number
    Number {
        /// Not below
        low: f64,
        /// Not above
        high: f64,
    },
}

impl Output {
    /// K, or one.
    pub fn width(self) -> usize {
        match self {
            Self::Classes(classes) => classes,
            Self::Number { .. } => 1,
        }
    }

    /// The prediction that an average stands for: its projection on what is possible, which is never farther from the
    /// truth. `means` is overwritten.
    pub(super) fn settle(self, means: &mut [f64], into: &mut [f32]) {
        match self {
            Self::Classes(_) => simplex::project(means),
            Self::Number { low, high } => means[0] = means[0].clamp(low, high),
        }
        for (into, mean) in into.iter_mut().zip(means) {
            *into = *mean as f32;
        }
    }
}
