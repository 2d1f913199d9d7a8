//! Noisy targets, smoothed in an orthonormal basis, and judged without the person they come from.
//!
//! With orthonormal columns P, a filter f and targets T, the fit is F = P·diag(f)·P'T. What it would be for person i if i's own target
//! were left out and filled by the fit itself is known in closed form: with h_i = Σ_j f_j·P_ij²,
//!
//! > L_i = (F_i - h_i·T_i)/(1 - h_i)
//!
//! L_i does not depend on i's own target, but for the few whose h_i is above 0.95, of which a little is left there. Hence i's report judges it fairly, and may be joined to it by Bayes' rule.

use crate::Matrix;
use crate::beliefs::{mean_log_likelihood, softmax};
use rayon::prelude::*;

/// The most that somebody may tell about themselves: beyond, leaving them out divides by nearly nothing.
const MOST: f32 = 0.95;
/// Steps of the search for the sharpness.
const STEPS: usize = 20;
/// Rows that a core treats together.
const ROWS: usize = 1024;
/// What is added to probabilities before their logarithm is taken.
const FLOOR: f32 = 1e-9;

/// How much is kept of each function of a basis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Filter {
    /// What tells it from the others, in words
    pub(crate) name: String,
    /// f_j
    pub(crate) kept: Vec<f32>,
}

/// A basis with filters to choose from.
pub(crate) struct Smoother<'a> {
    basis: &'a Matrix,
    filters: Vec<Filter>,
    /// h for each filter
    own: Vec<Vec<f32>>,
}

/// A filter, how sharp its fit is made, and how likely that makes the reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Choice {
    /// Which filter
    pub(crate) filter: usize,
    /// β in softmax(β·fit)
    pub(crate) sharpness: f32,
    /// The mean log likelihood of the judging reports
    pub(crate) likelihood: f64,
}

impl<'a> Smoother<'a> {
    /// A basis with orthonormal columns, and filters from smooth to rough.
    pub(crate) fn new(basis: &'a Matrix, filters: Vec<Filter>) -> Self {
        let own = |filter: &Filter| {
            let one = |row: &[f32]| {
                let sum: f32 = row.iter().zip(&filter.kept).map(|(x, f)| x * x * f).sum();
                sum.min(MOST)
            };
            basis.values().par_chunks(basis.columns()).map(one).collect()
        };
        let own = filters.iter().map(own).collect();
        Self { basis, filters, own }
    }

    /// What a filter is called.
    pub(crate) fn name(&self, filter: usize) -> &str {
        &self.filters[filter].name
    }

    /// The filter and the sharpness that make the reports likeliest.
    pub(crate) fn choose(&self, targets: &Matrix, reports: &Matrix) -> Choice {
        let classes = targets.columns();
        let all = self.all_fits(targets);
        let choice = |filter: usize| {
            let mut scores = all.columns_from(filter * classes, classes);
            leave_out(&mut scores, targets, |person| self.own[filter][person]);
            sharpest(filter, &scores, reports)
        };
        let choices = (0..self.filters.len()).map(choice);
        choices.max_by(|a, b| a.likelihood.total_cmp(&b.likelihood)).expect("there is a filter")
    }

    /// The fits of all filters side by side, a product of matrices.
    fn all_fits(&self, targets: &Matrix) -> Matrix {
        let seen = self.basis.transposed_times(targets);
        let classes = targets.columns();
        let side = Matrix::from_fn(seen.rows(), self.filters.len() * classes, |j, column| {
            self.filters[column / classes].kept[j] * seen.row(j)[column % classes]
        });
        self.basis.times(&side)
    }

    /// Everybody's log probabilities without their own target, and the coefficients of the fit.
    pub(crate) fn fit(&self, targets: &Matrix, choice: Choice) -> (Matrix, Matrix) {
        let coefficients = self.filters[choice.filter].of(&self.basis.transposed_times(targets));
        let mut scores = self.basis.times(&coefficients);
        leave_out(&mut scores, targets, |person| self.own[choice.filter][person]);
        log_probabilities(&mut scores, choice.sharpness);
        (scores, coefficients)
    }
}

/// The sharpness of a step: e^(i/4).
fn sharp(step: usize) -> f32 {
    (step as f32 / 4.0).exp()
}

/// The sharpness that makes the reports likeliest.
fn sharpest(filter: usize, scores: &Matrix, reports: &Matrix) -> Choice {
    let classes = scores.columns();
    let mut tried = [f64::NEG_INFINITY; 1 + STEPS];
    let mut best = 0;
    // Every fourth step first, then what is between the best and its neighbours: the likelihood has one summit along β
    for stride in [4, 2, 1] {
        let around = best;
        let near = |step: &usize| stride == 4 || step.abs_diff(around) == stride;
        for step in (0..=STEPS).step_by(stride).filter(near) {
            tried[step] = mean_log_likelihood(scores.values(), reports.values(), classes, sharp(step));
            if tried[step] > tried[best] {
                best = step;
            }
        }
    }
    Choice { filter, sharpness: sharp(best), likelihood: tried[best] }
}

/// Scores become the logarithms of softmax(β·score).
pub(crate) fn log_probabilities(scores: &mut Matrix, sharpness: f32) {
    let classes = scores.columns();
    softmax(scores.values_mut(), classes, sharpness);
    scores.values_mut().par_iter_mut().with_min_len(4096).for_each(|p| *p = (*p + FLOOR).ln());
}

impl Filter {
    /// diag(f)·C.
    fn of(&self, seen: &Matrix) -> Matrix {
        let mut out = seen.clone();
        for (row, kept) in out.values_mut().chunks_exact_mut(seen.columns()).zip(&self.kept) {
            for x in row {
                *x *= kept;
            }
        }
        out
    }
}

/// L = (F - hT)/(1 - h).
fn leave_out(fit: &mut Matrix, targets: &Matrix, own: impl Fn(usize) -> f32 + Sync) {
    let classes = fit.columns();
    let both = fit.values_mut().par_chunks_mut(classes).zip(targets.values().par_chunks(classes));
    both.enumerate().with_min_len(ROWS).for_each(|(person, (fit, target))| {
        let h = own(person);
        fit.iter_mut().zip(target).for_each(|(fit, target)| *fit = (*fit - h * target) / (1.0 - h));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// cos(πj(i + 1/2)/n), normalised: orthonormal columns.
    fn cosines(people: usize, count: usize) -> Matrix {
        Matrix::from_fn(people, count, |i, j| {
            let n = people as f32;
            let scale = if j == 0 { 1.0 / n } else { 2.0 / n };
            scale.sqrt() * (std::f32::consts::PI * j as f32 * (i as f32 + 0.5) / n).cos()
        })
    }

    #[test]
    fn leaving_somebody_out_is_fitting_with_their_target_filled_by_the_fit() {
        let (people, basis) = (40, cosines(40, 8));
        let filter = Filter { name: String::new(), kept: (0..8).map(|j| 1.0 / (1.0 + j as f32)).collect() };
        let targets = Matrix::from_fn(people, 2, |i, k| ((i * 2 + k) as f32 * 1.1).sin());
        let smoother = Smoother::new(&basis, vec![filter.clone()]);
        let fit = |targets: &Matrix| basis.times(&filter.of(&basis.transposed_times(targets)));
        for person in [0, 7, 39] {
            // Fill the own target by the fit until nothing changes
            let mut filled = targets.clone();
            for _ in 0..200 {
                let own = fit(&filled).row(person).to_vec();
                filled.row_mut(person).copy_from_slice(&own);
            }
            let mut found = fit(&targets);
            leave_out(&mut found, &targets, |person| smoother.own[0][person]);
            let same = found.row(person).iter().zip(filled.row(person)).all(|(a, b)| (a - b).abs() < 1e-4);
            assert!(same, "{:?} for {:?}", found.row(person), filled.row(person));
        }
    }

    #[test]
    fn the_own_report_does_not_move_what_is_believed_before_it() {
        let basis = cosines(40, 8);
        let smoother = Smoother::new(&basis, vec![Filter { name: String::new(), kept: vec![1.0; 8] }]);
        let targets = Matrix::from_fn(40, 2, |i, k| ((i * 2 + k) as f32 * 1.1).sin());
        let mut other = targets.clone();
        other.row_mut(5).copy_from_slice(&[9.0, -9.0]);
        let choice = Choice { filter: 0, sharpness: 2.0, likelihood: 0.0 };
        let (one, two) = (smoother.fit(&targets, choice).0, smoother.fit(&other, choice).0);
        assert!(one.row(5).iter().zip(two.row(5)).all(|(a, b)| (a - b).abs() < 1e-4));
        assert!(one.row(6).iter().zip(two.row(6)).any(|(a, b)| (a - b).abs() > 1e-2));
    }

    #[test]
    fn as_many_functions_are_kept_as_the_truth_has() {
        // The truth is two waves; noise is everywhere
        let people = 4000;
        let basis = cosines(people, 60);
        let mut word = 1u32;
        let mut noise = || {
            word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            word as f32 / 2f32.powi(31) - 1.0
        };
        let truth = |i: usize| 0.4 * (std::f32::consts::PI * 3.0 * i as f32 / people as f32).cos();
        let mut targets = Matrix::zeros(people, 2);
        let mut reports = Matrix::zeros(people, 2);
        for i in 0..people {
            // Randomized response: the reported label is likelier by three
            let label = usize::from(noise() > 2.0 * truth(i));
            let told = if noise() < 0.5 { label } else { 1 - label };
            for k in 0..2 {
                reports.row_mut(i)[k] = if k == told { 3.0 } else { 1.0 };
                targets.row_mut(i)[k] = if k == told { 1.0 } else { -1.0 };
            }
        }
        let filters: Vec<Filter> = [2, 5, 60]
            .iter()
            .map(|&r| Filter {
                name: r.to_string(),
                kept: (0..60).map(|j| f32::from(u8::from(j < r))).collect(),
            })
            .collect();
        let choice = Smoother::new(&basis, filters).choose(&targets, &reports);
        assert_eq!(choice.filter, 1, "{choice:?}");
    }
}
