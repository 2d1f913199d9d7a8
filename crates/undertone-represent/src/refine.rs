//! The last step: the kernel's function that makes the reports likeliest, and how much it counts beside what was believed before.
//!
//! The penalty and the weight of the teacher are those that make the reports of a fifth likeliest that were kept out of the fit; then it is
//! fitted once more to all.

use crate::beliefs::mean_log_likelihood;
use crate::blend::weights;
use crate::forward::{Forward, Strength};
use crate::smoother::log_probabilities;
use crate::{KernelBasis, Matrix};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use std::fmt;

/// One in so many judges.
const JUDGES: u64 = 5;
/// Penalties, in which the search goes downhill from the third.
const PENALTIES: [f64; 5] = [0.03, 0.1, 0.3, 1.0, 3.0];
const FIRST: usize = 2;
/// The weight of the teacher that is tried beside none.
const TEACHING: f32 = 0.3;
/// Steps of the search for the sharpness, e^(i/8 - 1/2).
const SHARPNESS: std::ops::RangeInclusive<u8> = 0..=16;

/// What was found.
pub(crate) struct Refined {
    pub(crate) coefficients: Matrix,
    pub(crate) sharpness: f32,
    /// How much what was believed before counts, and how much this
    pub(crate) weights: [f32; 2],
    /// The mean log likelihood of the judging reports, before and with it
    pub(crate) likelihoods: [f64; 2],
    pub(crate) strength: Strength,
}

impl fmt::Display for Refined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { weights: [before, own], likelihoods: [alone, both], strength, .. } = self;
        let Strength { penalty, teaching } = strength;
        write!(f, "likelihood of those kept out {alone:.6}, with the likeliest function {both:.6}:")?;
        write!(f, " {before} × before, {own} × function (penalty {penalty}, teacher {teaching})")
    }
}

/// A fit and how well it was judged.
struct Tried {
    strength: Strength,
    coefficients: Matrix,
    scores: Matrix,
    sharpness: f32,
    likelihood: f64,
}

/// Those who judge, and what they say.
struct Judges {
    basis: Matrix,
    reports: Matrix,
}

impl Judges {
    fn judge(&self, strength: Strength, coefficients: Matrix) -> Tried {
        let scores = self.basis.times(&coefficients);
        let (mut sharpness, mut likelihood) = (1.0, f64::NEG_INFINITY);
        for step in SHARPNESS {
            let tried = (f32::from(step) / 8.0 - 0.5).exp();
            let found =
                mean_log_likelihood(scores.values(), self.reports.values(), self.reports.columns(), tried);
            if found > likelihood {
                (sharpness, likelihood) = (tried, found);
            }
        }
        Tried { strength, coefficients, scores, sharpness, likelihood }
    }
}

/// The refinement of beliefs π, each formed without the own report, by reports E.
pub(crate) fn refine(kernel: &KernelBasis, beliefs: &Matrix, reports: &Matrix) -> Refined {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let chosen: Vec<usize> = (0..reports.rows()).filter(|_| rng.next_u64().is_multiple_of(JUDGES)).collect();
    let mut heard = reports.clone();
    for &judge in &chosen {
        heard.row_mut(judge).fill(1.0);
    }
    let judges = Judges { basis: kernel.vectors.select(&chosen), reports: reports.select(&chosen) };
    let forward =
        Forward { basis: &kernel.vectors, values: &kernel.values, reports: &heard, teacher: beliefs };
    let best = search(&forward, &judges);
    let mut before = beliefs.select(&chosen);
    before.values_mut().iter_mut().for_each(|p| *p = (*p + 1e-9).ln());
    let alone = mean_log_likelihood(before.values(), judges.reports.values(), reports.columns(), 1.0);
    let mut own = best.scores;
    log_probabilities(&mut own, best.sharpness);
    let (found, likelihood) = weights(&[before, own], &judges.reports, &[1.0, 0.0]);
    let coefficients = if found[1] == 0.0 {
        best.coefficients
    } else {
        Forward { reports, ..forward }.fit(best.strength, Some(&best.coefficients))
    };
    Refined {
        coefficients,
        sharpness: best.sharpness,
        weights: [found[0], found[1]],
        likelihoods: [alone, likelihood],
        strength: best.strength,
    }
}

/// Downhill along the penalties without a teacher and from there with one.
fn search(forward: &Forward<'_>, judges: &Judges) -> Tried {
    let fit = |at: usize, teaching: f32, from: Option<&Tried>| {
        let strength = Strength { penalty: PENALTIES[at], teaching };
        judges.judge(strength, forward.fit(strength, from.map(|tried| &tried.coefficients)))
    };
    let line = |mut at: usize, mut best: Tried| {
        let from = at;
        for up in [false, true] {
            if up && at != from {
                break;
            }
            loop {
                let next = if up { at + 1 } else { at.wrapping_sub(1) };
                if next >= PENALTIES.len() {
                    break;
                }
                let tried = fit(next, best.strength.teaching, Some(&best));
                if tried.likelihood <= best.likelihood {
                    break;
                }
                (best, at) = (tried, next);
            }
        }
        (at, best)
    };
    let (at, untaught) = line(FIRST, fit(FIRST, 0.0, None));
    let taught = fit(at, TEACHING, Some(&untaught));
    if taught.likelihood > untaught.likelihood { line(at, taught).1 } else { untaught }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_believed_is_improved_where_it_knew_nothing() {
        // The label is the side of the line x = y; reports are right three times as often as wrong; nothing was believed before
        let n = 1500;
        let people = Matrix::from_fn(n, 2, |i, j| ((i * 2 + j) as f32 * 1.37).sin());
        let label = |i: usize| usize::from(people.row(i)[0] > people.row(i)[1]);
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        let told: Vec<usize> =
            (0..n).map(|i| if rng.next_u64().is_multiple_of(4) { 1 - label(i) } else { label(i) }).collect();
        let reports = Matrix::from_fn(n, 2, |i, k| if told[i] == k { 3.0 } else { 1.0 });
        let kernel = KernelBasis::new(&people, 100).unwrap();
        let refined = refine(&kernel, &Matrix::from_fn(n, 2, |_, _| 0.5), &reports);
        assert!(refined.weights[1] > 0.0 && refined.likelihoods[1] > refined.likelihoods[0] + 0.05);
        let scores = kernel.vectors.times(&refined.coefficients);
        let right = |&i: &usize| (scores.row(i)[1] > scores.row(i)[0]) == (label(i) == 1);
        assert!((0..n).filter(right).count() > n * 94 / 100, "{}", (0..n).filter(right).count());
    }
}
