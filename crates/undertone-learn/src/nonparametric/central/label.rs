//! A curator who keeps labels and releases a prediction for each cell of public features.
//!
//! Classes: the exponential mechanism of each unit (eq. 17), or noisy counts, which cost more noise and give probabilities.
//! Numbers: the sum of each unit with discrete Laplace noise (eq. 23, whose scale lacks T: [`NoisySum`]). For heavy tails a unit
//! of n people clips at a T of its own (eq. 28), since n is public:
//!
//! > T_n = [(p-1)·κ²·M_p²·(n·ε)²/8]^(1/(2p))
//!
//! Every promise is about the change of one label; features are public.

use super::units::{Units, enough_for_classes};
use crate::LearnError;
use crate::features::Rows;
use crate::nonparametric::cells::Partition;
use crate::nonparametric::targets::{Output, place};
use crate::nonparametric::{CellModel, TrustModel, rates};
use crate::simplex;
use rand_core::CryptoRng;
use undertone_privacy::central::{ExponentialMechanism, NoisyHistogram, NoisySum};
use undertone_privacy::number::Bounds;
use undertone_privacy::{Epsilon, PrivacyError, Randomizer};

/// What is released about the classes of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassRelease {
    /// One class, by the exponential mechanism
    Class,
    /// All counts, with noise
    Counts,
}

/// How numbers are kept bounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clipping {
    /// To public bounds
    Bounds(Bounds),
    /// To the T that suits each unit, given that E|y|^p ≤ M_p everywhere
    Moment {
        /// p, at least 2
        order: f64,
        /// M_p
        bound: f64,
    },
}

/// Releases a class for each unit of people who are enough to see a lead of a fifth of them.
pub fn release_classes(
    partition: Partition,
    rows: &Rows,
    labels: &[u32],
    classes: u32,
    release: ClassRelease,
    epsilon: Epsilon,
    rng: &mut impl CryptoRng,
) -> Result<CellModel, LearnError> {
    same_length(labels.len(), rows)?;
    if classes < 2 {
        return Err(PrivacyError::TooFewLabels { labels: classes }.into());
    }
    if let Some(&label) = labels.iter().find(|&&label| label >= classes) {
        return Err(PrivacyError::UnknownLabel { label, labels: classes }.into());
    }
    let (choice, histogram) = (ExponentialMechanism::new(epsilon), NoisyHistogram::new(epsilon)?);
    let units = Units::new(&partition, rows, enough_for_classes(classes, epsilon))?;
    let values = units.answer(&partition, classes as usize, |people, value| {
        let mut counts = vec![0; classes as usize];
        for &person in people {
            counts[labels[person as usize] as usize] += 1;
        }
        match release {
            ClassRelease::Class => value[choice.randomize(&counts, rng)? as usize] = 1.0,
            ClassRelease::Counts => {
                let n = people.len() as f64;
                let noisy = histogram.randomize(&counts, rng)?;
                let mut shares: Vec<f64> = noisy.iter().map(|&count| count as f64 / n).collect();
                simplex::project(&mut shares);
                value.iter_mut().zip(shares).for_each(|(value, share)| *value = share as f32);
            }
        }
        Ok(())
    })?;
    let output = Output::Classes(classes as usize);
    Ok(CellModel::released(TrustModel::LabelCentral, output, partition, values))
}

/// Releases the mean of each unit of at least so many people, for which [`enough_for_numbers`](super::enough_for_numbers) is the
/// usual choice. Tells the curator, and nobody else, how many labels were clipped.
pub fn release_numbers(
    partition: Partition,
    rows: &Rows,
    labels: &[f64],
    clipping: Clipping,
    least: f64,
    epsilon: Epsilon,
    rng: &mut impl CryptoRng,
) -> Result<(CellModel, u64), LearnError> {
    same_length(labels.len(), rows)?;
    let bounds_of = |n: f64| match clipping {
        Clipping::Bounds(bounds) => Ok(bounds),
        Clipping::Moment { order, bound } => {
            let clip = rates::central_clip(order, bound, n, epsilon.get());
            Bounds::new(-clip, clip)
        }
    };
    if let Clipping::Moment { order, bound } = clipping {
        check_moment(order, bound)?;
    }
    // What is no number is refused before anything is drawn.
    let all = bounds_of(rows.len().max(1) as f64)?;
    place(all, labels)?;
    let units = Units::new(&partition, rows, least)?;
    let mut clipped = 0;
    let values = units.answer(&partition, 1, |people, value| {
        let bounds = bounds_of(people.len() as f64)?;
        let own: Vec<f64> = people.iter().map(|&person| labels[person as usize]).collect();
        let (numbers, outside) = place(bounds, &own)?;
        clipped += outside;
        let sum = NoisySum::new(bounds, epsilon)?;
        let mean = sum.decode(sum.randomize(&numbers, rng)?, people.len() as u64) / people.len() as f64;
        value[0] = mean.clamp(bounds.low(), bounds.high()) as f32;
        Ok(())
    })?;
    let output = Output::Number { low: all.low(), high: all.high() };
    Ok((CellModel::released(TrustModel::LabelCentral, output, partition, values), clipped))
}

pub(super) fn same_length(labels: usize, rows: &Rows) -> Result<(), LearnError> {
    if labels == rows.len() {
        return Ok(());
    }
    Err(PrivacyError::WrongLength { length: labels, dimension: rows.len() }.into())
}

/// p has to be at least two and finite, M_p positive and finite.
fn check_moment(order: f64, bound: f64) -> Result<(), LearnError> {
    if !(order >= 2.0 && order.is_finite()) {
        let what = "the order of the bounded moment";
        return Err(LearnError::Parameter { what, value: order, expected: "at least 2 and finite" });
    }
    if !(bound > 0.0 && bound.is_finite()) {
        let what = "the bound on the moment";
        return Err(LearnError::Parameter { what, value: bound, expected: "positive and finite" });
    }
    Ok(())
}
