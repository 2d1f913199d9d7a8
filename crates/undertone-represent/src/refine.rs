//! The last step: functions of the kernels that make the reports likeliest, and how much they count beside what was believed before.
//!
//! The reports of a fifth are kept out of the fit, and of the beliefs that teach it. Penalty and weight of the teacher are what makes those
//! reports likeliest. What was found in different ways errs in different places: everything counts alike if that makes the reports likelier
//! than what was believed before, by more than luck, and does not count if not; other weights have to be clearly better. Then everything is
//! fitted once more to all.

use crate::beliefs::{log_likelihoods, mean_log_likelihood};
use crate::blend::{blend, difference, rounding, weights};
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
/// The most steps of a fit that is tried, and of the one that is kept, which starts there.
const TRIED_STEPS: usize = 10;
const KEPT_STEPS: usize = 14;
/// Standard errors by which other weights have to be better: dozens are tried, so that the best of them gains one by luck.
const CLEARLY: f64 = 2.0;
/// Steps of the search for the sharpness, e^(i/8 - 1/2).
const SHARPNESS: std::ops::RangeInclusive<u8> = 0..=16;

/// What was believed before, and kernels whose functions may add to it.
pub(crate) struct Refinement<'a> {
    pub(crate) kernels: &'a [&'a KernelBasis],
    /// Those whose reports are kept out
    pub(crate) judges: &'a [usize],
    /// E of the others; the judges say nothing
    pub(crate) heard: &'a Matrix,
    /// π, formed of what was heard, of everybody without their own report
    pub(crate) before: &'a Matrix,
}

/// How much everything counts.
pub(crate) struct Refined {
    /// Of what was believed before
    pub(crate) weight: f32,
    /// One for each kernel
    pub(crate) functions: Vec<Likeliest>,
    /// The mean log likelihood of the judging reports, before and with them
    pub(crate) likelihoods: [f64; 2],
}

/// The likeliest function of a kernel, and how much it counts.
pub(crate) struct Likeliest {
    pub(crate) weight: f32,
    pub(crate) sharpness: f32,
    strength: Strength,
    coefficients: Matrix,
}

impl Likeliest {
    /// Fitted once more, to everybody's reports.
    pub(crate) fn fitted(&self, kernel: &KernelBasis, teacher: &Matrix, reports: &Matrix) -> Matrix {
        let forward = Forward { basis: &kernel.vectors, values: &kernel.values, reports, teacher };
        forward.fit(self.strength, Some(&self.coefficients), KEPT_STEPS)
    }
}

impl fmt::Display for Refined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [alone, both] = self.likelihoods;
        write!(f, "likelihood of those kept out {alone:.6}, with the likeliest functions {both:.6}:")?;
        write!(f, " {:.2} × before", self.weight)?;
        for (which, Likeliest { weight, strength: Strength { penalty, teaching }, .. }) in
            (1..).zip(&self.functions)
        {
            write!(f, ", {weight:.2} × kernel {which} (penalty {penalty}, teacher {teaching})")?;
        }
        Ok(())
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
struct Judges<'a> {
    basis: Matrix,
    reports: &'a Matrix,
}

impl Judges<'_> {
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

/// Some people, drawn from a fixed public stream.
pub(crate) fn judges(people: usize) -> Vec<usize> {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    (0..people).filter(|_| rng.next_u64().is_multiple_of(JUDGES)).collect()
}

impl Refinement<'_> {
    /// What the judges find likeliest.
    pub(crate) fn choose(&self, reports: &Matrix) -> Refined {
        let reports = reports.select(self.judges);
        let mut before = self.before.select(self.judges);
        before.values_mut().iter_mut().for_each(|p| *p = (*p + 1e-9).ln());
        let alone = mean_log_likelihood(before.values(), reports.values(), reports.columns(), 1.0);
        let (mut logs, mut functions) = (vec![before], Vec::new());
        for kernel in self.kernels {
            let judges = Judges { basis: kernel.vectors.select(self.judges), reports: &reports };
            let forward = Forward {
                basis: &kernel.vectors,
                values: &kernel.values,
                reports: self.heard,
                teacher: self.before,
            };
            let Tried { strength, coefficients, mut scores, sharpness, .. } = search(&forward, &judges);
            log_probabilities(&mut scores, sharpness);
            logs.push(scores);
            functions.push(Likeliest { weight: 0.0, sharpness, strength, coefficients });
        }
        let (found, likelihood) = weights(&logs, &reports, &start(&logs, &reports), CLEARLY);
        functions.iter_mut().zip(&found[1..]).for_each(|(function, &weight)| function.weight = weight);
        Refined { weight: found[0], functions, likelihoods: [alone, likelihood] }
    }
}

/// All alike, or only what was believed before, which comes first.
fn start(logs: &[Matrix], reports: &Matrix) -> Vec<f32> {
    let judged = |weights: &[f32]| {
        let beliefs = blend(logs, weights);
        log_likelihoods(beliefs.values(), reports.values(), reports.columns())
    };
    let alike = vec![1.0 / logs.len() as f32; logs.len()];
    let before: Vec<f32> = (0..logs.len()).map(|place| if place == 0 { 1.0 } else { 0.0 }).collect();
    let (gain, error) = difference(&judged(&alike), &judged(&before));
    if gain > error.max(rounding(reports.columns())) { alike } else { before }
}

/// Downhill along the penalties without a teacher and from there with one.
fn search(forward: &Forward<'_>, judges: &Judges<'_>) -> Tried {
    let fit = |at: usize, teaching: f32, from: Option<&Tried>| {
        let strength = Strength { penalty: PENALTIES[at], teaching };
        judges.judge(strength, forward.fit(strength, from.map(|tried| &tried.coefficients), TRIED_STEPS))
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
        let judges = judges(n);
        let mut heard = reports.clone();
        for &judge in &judges {
            heard.row_mut(judge).fill(1.0);
        }
        let before = Matrix::from_fn(n, 2, |_, _| 0.5);
        let kernels = [&kernel];
        let refinement = Refinement { kernels: &kernels, judges: &judges, heard: &heard, before: &before };
        let refined = refinement.choose(&reports);
        let [function] = &refined.functions[..] else { panic!("one kernel") };
        assert!(function.weight > 0.0 && refined.likelihoods[1] > refined.likelihoods[0] + 0.05);
        let scores = kernel.vectors.times(&function.fitted(&kernel, &before, &reports));
        let right = |&i: &usize| (scores.row(i)[1] > scores.row(i)[0]) == (label(i) == 1);
        assert!((0..n).filter(right).count() > n * 94 / 100, "{}", (0..n).filter(right).count());
        // Judges who say nothing leave what was believed before
        let undecided = refinement.choose(&heard);
        assert_eq!((undecided.weight, undecided.functions[0].weight), (1.0, 0.0));
    }
}
