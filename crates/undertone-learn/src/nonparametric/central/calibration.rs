//! Sets and intervals of a curator's model: a quantile of how far the model is off, by the exponential mechanism.
//!
//! Each person who was kept aside has a score in [0, 1]: one less the probability of the true class, or the share of the range by
//! which the number is missed. Let c_j count the scores up to j/M. Of the M bins between these thresholds one is drawn with
//! probability proportional to exp(ε·u_j/2),
//!
//! > u_j = -(the distance of the target rank from the ranks c_{j-1} + 1 … c_j that end in bin j)
//!
//! **Privacy.** One changed label, or record, moves each c_j by one at most and so each u_j: ε. The people are none of those whom the
//! model was learnt from, so both releases together cost ε (parallel composition).
//!
//! **Coverage.** u_j is zero for one bin at least, so that the drawn one misses the target by (2/ε)·ln(M/δ) ranks at most, except
//! with probability δ. With the target at ⌈(1 - α)·(n + 1) + (2/ε)·ln(M/δ)⌉ its threshold is at least the score of rank
//! (1 - α)·(n + 1), that of split conformal prediction. Where the target exceeds n, which is public, sets are everything.

use crate::features::Rows;
use crate::nonparametric::coverage::check;
use crate::nonparametric::prediction_sets::THRESHOLDS;
use crate::nonparametric::{Intervals, PredictionSets};
use crate::{Classifier, LearnError, Regressor};
use rand_core::CryptoRng;
use undertone_privacy::central::ExponentialMechanism;
use undertone_privacy::number::Bounds;
use undertone_privacy::{Epsilon, PrivacyError, Randomizer};

/// Sets of classes that hold the true one for 1 - α of people, except with probability δ.
pub fn calibrate_sets(
    model: &dyn Classifier,
    rows: &Rows,
    labels: &[u32],
    (alpha, delta): (f64, f64),
    epsilon: Epsilon,
    rng: &mut impl CryptoRng,
) -> Result<PredictionSets, LearnError> {
    super::label::same_length(labels.len(), rows)?;
    let classes = model.classes();
    if let Some(&label) = labels.iter().find(|&&label| label as usize >= classes) {
        return Err(PrivacyError::UnknownLabel { label, labels: classes as u32 }.into());
    }
    let probabilities = model.probabilities(rows);
    let score = |(p, &label): (&[f32], &u32)| {
        let likeliest = crate::evaluation::terms::predicted(p);
        // The likeliest class is in every set.
        if likeliest == label as usize { 0.0 } else { f64::from(1.0 - p[label as usize]) }
    };
    let scores: Vec<f64> = probabilities.chunks_exact(classes).zip(labels).map(score).collect();
    let threshold = quantile(&scores, (alpha, delta), epsilon, rng)?;
    Ok(PredictionSets::at(threshold as f32, alpha, delta))
}

/// Intervals that hold the number, clipped to the bounds, for 1 - α of people, except with probability δ.
pub fn calibrate_intervals(
    model: &dyn Regressor,
    rows: &Rows,
    labels: &[f64],
    bounds: Bounds,
    (alpha, delta): (f64, f64),
    epsilon: Epsilon,
    rng: &mut impl CryptoRng,
) -> Result<Intervals, LearnError> {
    super::label::same_length(labels.len(), rows)?;
    let (low, high) = (bounds.low(), bounds.high());
    let missed = |(guess, &label): (f64, &f64)| {
        if label.is_nan() {
            return Err(PrivacyError::NotANumber.into());
        }
        Ok((guess.clamp(low, high) - label.clamp(low, high)).abs() / (high - low))
    };
    let scores = model.predict(rows).into_iter().zip(labels).map(missed);
    let scores = scores.collect::<Result<Vec<f64>, LearnError>>()?;
    Ok(Intervals::of(quantile(&scores, (alpha, delta), epsilon, rng)? * (high - low), alpha, delta))
}

/// A threshold in [0, 1] below which all but α of the scores lie.
fn quantile(
    scores: &[f64],
    (alpha, delta): (f64, f64),
    epsilon: Epsilon,
    rng: &mut impl CryptoRng,
) -> Result<f64, LearnError> {
    check(alpha, delta)?;
    let (n, bins) = (scores.len() as f64, f64::from(THRESHOLDS));
    let target = ((1.0 - alpha) * (n + 1.0) + 2.0 / epsilon.get() * (bins / delta).ln()).ceil();
    if target > n {
        return Ok(1.0);
    }
    let mut counts = vec![0u64; THRESHOLDS as usize];
    for score in scores {
        let bin = (score * bins).ceil().clamp(1.0, bins) as usize - 1;
        counts[bin] += 1;
    }
    let drawn = ExponentialMechanism::new(epsilon).randomize(&utilities(&counts, target as u64), rng)?;
    Ok((f64::from(drawn) + 1.0) / bins)
}

/// n + u_j of each bin, u_j = -max(c_{j-1} + 1 - target, target - c_j, 0), with a target of n at most.
fn utilities(counts: &[u64], target: u64) -> Vec<u64> {
    let (n, mut before) = (counts.iter().sum::<u64>(), 0);
    let utility = |&count: &u64| {
        let (first, last) = (before + 1, before + count);
        before = last;
        n - first.saturating_sub(target).max(target.saturating_sub(last))
    };
    counts.iter().map(utility).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    /// The n scores (i + ½)/n.
    fn even(n: u32) -> Vec<f64> {
        (0..n).map(|i| (f64::from(i) + 0.5) / f64::from(n)).collect()
    }

    #[test]
    fn the_drawn_threshold_holds_as_many_scores_as_promised_and_few_more() {
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let (scores, at) = (even(4000), Epsilon::new(1.0).unwrap());
        let drawn: Vec<f64> =
            (0..400).map(|_| quantile(&scores, (0.1, 0.05), at, &mut rng).unwrap()).collect();
        let failures = drawn.iter().filter(|&&threshold| threshold < 0.9).count();
        // δ = 0.05 of 400 runs, 5σ
        assert!(failures <= 42, "{failures}");
        assert!(drawn.iter().sum::<f64>() / 400.0 < 0.93);
    }

    #[test]
    fn too_few_people_make_every_set_everything_and_one_atom_is_held() {
        let mut rng = ChaCha12Rng::seed_from_u64(2);
        let at = Epsilon::new(1.0).unwrap();
        assert_eq!(quantile(&even(100), (0.1, 0.05), at, &mut rng).unwrap().to_bits(), 1f64.to_bits());
        for _ in 0..50 {
            let threshold = quantile(&vec![0.4; 3000], (0.1, 0.05), at, &mut rng).unwrap();
            assert!(threshold >= 0.4, "{threshold}");
        }
    }

    #[test]
    fn one_changed_score_costs_no_more_than_the_promise_in_every_small_case() {
        const BINS: u64 = 4;
        let at = Epsilon::new(1.5).unwrap();
        let mechanism = ExponentialMechanism::new(at);
        let counts = |scores: u64| {
            let mut counts = vec![0; BINS as usize];
            (0..3).for_each(|person| counts[(scores / BINS.pow(person) % BINS) as usize] += 1);
            counts
        };
        let mut worst = 0f64;
        for (scores, bin, target) in
            (0..BINS.pow(3)).flat_map(|s| (0..BINS).flat_map(move |b| (1..=3).map(move |t| (s, b, t))))
        {
            // The first person moves to another bin.
            let [here, there] =
                [scores, scores - scores % BINS + bin].map(|scores| utilities(&counts(scores), target));
            for drawn in 0..BINS as u32 {
                let loss = mechanism.ln_likelihood(&drawn, &here) - mechanism.ln_likelihood(&drawn, &there);
                worst = worst.max(loss);
            }
        }
        assert!(worst <= at.get() && worst > 0.5, "{worst}");
    }
}
