//! Least squares with more features than there is room for products of pairs.
//!
//! (G/n + λI)·w = b/n is solved by conjugate gradients, for which G·p is enough: Σ x̃·(x̃·p), one pass over the people, whose features are
//! mostly zero. Dividing by the diagonal first makes levels that many people have and levels that few have alike. All eight fits, each
//! without one part of the people, share a pass: a number of each lies in one of eight lanes, and those of a person's own part is left at
//! zero. λ goes from large to small, each fit beginning at the last one, until two in a row did worse than the best.

use super::ridge::{Candidate, FOLDS, part_of};
use super::LinearNumber;
use crate::evaluation::mean;
use crate::features::{Row, Rows};
use crate::{LearnError, Source};

/// λ from 10² down to 10⁻⁶
const LADDER: std::ops::RangeInclusive<i32> = -6..=2;
/// The gradient, over the diagonal, is to fall to this part of what it was at w = 0.
const PRECISION: f64 = 1e-4;
/// No more passes for one λ
const MOST_PASSES: usize = 100;
/// So many λ in a row may do worse than the best.
const PATIENCE: usize = 2;

/// A number for each of the eight fits.
type Lanes = [f64; FOLDS];

/// Everybody, in memory.
pub(super) struct Wide {
    rows: Rows,
    /// z - c and v
    numbers: Vec<(f64, f64)>,
    parts: Vec<u8>,
    centre: f64,
}

/// G/n + λ without a part, or of everybody in each lane.
struct System<'a> {
    people: &'a Wide,
    without_own_part: bool,
    /// 1/n
    shares: Lanes,
    /// b/n, the constant last
    right: Vec<Lanes>,
    /// The diagonal of G/n
    diagonal: Vec<Lanes>,
}

impl Wide {
    pub(super) fn gather(source: &mut dyn Source, centre: f64) -> Result<Self, LearnError> {
        let mut all = Self { rows: Rows::default(), numbers: Vec::new(), parts: Vec::new(), centre };
        source.pass(&mut |block| {
            if all.rows.is_empty() {
                all.rows = Rows::new(block.rows.dense_width(), block.rows.sparse_width());
            }
            for (row, (value, variance)) in block.rows.iter().zip(block.numbers.iter()) {
                all.parts.push(part_of(all.rows.len() as u64) as u8);
                all.rows.push(row);
                all.numbers.push((value - centre, variance));
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// How many people each part has.
    pub(super) fn counts(&self) -> [usize; FOLDS] {
        let mut counts = [0; FOLDS];
        self.parts.iter().for_each(|&part| counts[usize::from(part)] += 1);
        counts
    }

    /// The line of everybody.
    pub(super) fn solve(&self, l2: f64) -> Result<LinearNumber, LearnError> {
        if self.rows.is_empty() {
            return Err(LearnError::NoReports);
        }
        let mut weights = vec![[0.0; FOLDS]; self.rows.width() + 1];
        System::new(self, false).solve(l2, &mut weights);
        self.line(&weights, 0)
    }

    /// What each λ makes of the parts, none of which is empty.
    pub(super) fn candidates(&self) -> Result<Vec<Candidate>, LearnError> {
        let system = System::new(self, true);
        let mut weights = vec![[0.0; FOLDS]; self.rows.width() + 1];
        let (mut found, mut least, mut worse) = (Vec::new(), f64::INFINITY, 0);
        for power in LADDER.rev() {
            let l2 = 10f64.powi(power);
            system.solve(l2, &mut weights);
            let models = (0..FOLDS).map(|lane| self.line(&weights, lane)).collect::<Result<_, _>>()?;
            let errors = self.errors(&weights);
            let error = mean(&errors).value;
            found.push(Candidate { l2, models, errors });
            worse = if error < least { 0 } else { worse + 1 };
            least = least.min(error);
            if worse == PATIENCE {
                break;
            }
        }
        found.reverse();
        Ok(found)
    }

    fn line(&self, weights: &[Lanes], lane: usize) -> Result<LinearNumber, LearnError> {
        let mut weights: Vec<f64> = weights.iter().map(|lanes| lanes[lane]).collect();
        let constant = weights.pop().unwrap_or_default();
        if weights.iter().chain([&constant]).all(|w| w.is_finite()) {
            Ok(LinearNumber { weights, intercept: self.centre + constant, scale_back: None })
        } else {
            Err(LearnError::Diverged)
        }
    }

    /// The debiased mean squared error of each part by the fit without it.
    fn errors(&self, weights: &[Lanes]) -> Vec<f64> {
        let mut sums = [0.0; FOLDS];
        for ((row, &part), (u, variance)) in self.rows.iter().zip(&self.parts).zip(&self.numbers) {
            let lane = usize::from(part);
            sums[lane] += (at(row, weights)[lane] - u).powi(2) - variance;
        }
        sums.iter().zip(self.counts()).map(|(sum, count)| sum / count as f64).collect()
    }
}

/// x̃·w in each lane.
#[inline]
fn at(row: Row<'_>, weights: &[Lanes]) -> Lanes {
    let mut sum = weights[weights.len() - 1];
    let mut add = |x: f32, w: &Lanes| (0..FOLDS).for_each(|lane| sum[lane] += f64::from(x) * w[lane]);
    row.dense.iter().zip(weights).for_each(|(&x, w)| add(x, w));
    let sparse = &weights[row.dense.len()..];
    row.sparse.iter().for_each(|&(feature, x)| add(x, &sparse[feature as usize]));
    sum
}

/// Adds x̃ times a number of each lane.
#[inline]
fn spread(row: Row<'_>, times: &Lanes, into: &mut [Lanes]) {
    let last = into.len() - 1;
    (0..FOLDS).for_each(|lane| into[last][lane] += times[lane]);
    let add = |x: f32, w: &mut Lanes| (0..FOLDS).for_each(|lane| w[lane] += f64::from(x) * times[lane]);
    row.dense.iter().zip(into.iter_mut()).for_each(|(&x, w)| add(x, w));
    let sparse = &mut into[row.dense.len()..];
    row.sparse.iter().for_each(|&(feature, x)| add(x, &mut sparse[feature as usize]));
}

/// Σ a·b in each lane.
fn dot(a: &[Lanes], b: &[Lanes]) -> Lanes {
    let mut sum = [0.0; FOLDS];
    for (a, b) in a.iter().zip(b) {
        (0..FOLDS).for_each(|lane| sum[lane] += a[lane] * b[lane]);
    }
    sum
}

/// a/b in each lane, zero where there is nothing to divide by: that lane is solved.
fn over(a: &Lanes, b: &Lanes) -> Lanes {
    std::array::from_fn(|lane| if b[lane] > 0.0 { a[lane] / b[lane] } else { 0.0 })
}

/// a += times·b
fn add(a: &mut [Lanes], times: &Lanes, b: &[Lanes]) {
    for (a, b) in a.iter_mut().zip(b) {
        (0..FOLDS).for_each(|lane| a[lane] += times[lane] * b[lane]);
    }
}

impl<'a> System<'a> {
    fn new(people: &'a Wide, without_own_part: bool) -> Self {
        let everybody = people.rows.len();
        let own = if without_own_part { people.counts() } else { [0; FOLDS] };
        let shares = own.map(|own| 1.0 / (everybody - own).max(1) as f64);
        let nothing = vec![[0.0; FOLDS]; people.rows.width() + 1];
        let mut system =
            Self { people, without_own_part, shares, right: nothing.clone(), diagonal: nothing };
        let (mut right, mut diagonal) = (system.right.clone(), system.diagonal.clone());
        for ((row, &part), &(u, _)) in people.rows.iter().zip(&people.parts).zip(&people.numbers) {
            let counts = system.lanes(part);
            spread(row, &counts.map(|share| share * u), &mut right);
            let last = diagonal.len() - 1;
            (0..FOLDS).for_each(|lane| diagonal[last][lane] += counts[lane]);
            let features = row.dense.iter().copied().enumerate();
            let sparse = row.sparse.iter().map(|&(feature, x)| (row.dense.len() + feature as usize, x));
            for (feature, x) in features.chain(sparse) {
                let square = f64::from(x * x);
                (0..FOLDS).for_each(|lane| diagonal[feature][lane] += square * counts[lane]);
            }
        }
        (system.right, system.diagonal) = (right, diagonal);
        system
    }

    /// What a person of a part counts in each lane.
    #[inline]
    fn lanes(&self, part: u8) -> Lanes {
        let mut lanes = self.shares;
        if self.without_own_part {
            lanes[usize::from(part)] = 0.0;
        }
        lanes
    }

    /// (G/n + λ)·w
    fn product(&self, weights: &[Lanes], l2: f64) -> Vec<Lanes> {
        let mut into: Vec<Lanes> = weights.iter().map(|w| w.map(|w| w * l2)).collect();
        // The constant is not penalised.
        into[weights.len() - 1] = [0.0; FOLDS];
        for (row, &part) in self.people.rows.iter().zip(&self.people.parts) {
            let (along, counts) = (at(row, weights), self.lanes(part));
            spread(row, &std::array::from_fn(|lane| along[lane] * counts[lane]), &mut into);
        }
        into
    }

    /// Moves the weights to the solution.
    fn solve(&self, l2: f64, weights: &mut [Lanes]) {
        let last = weights.len() - 1;
        let scaled = |gradient: &[Lanes]| -> Vec<Lanes> {
            let each = gradient.iter().zip(&self.diagonal).enumerate();
            let penalty = |feature: usize| if feature == last { 0.0 } else { l2 };
            each.map(|(feature, (r, d))| over(r, &d.map(|d| d + penalty(feature)))).collect()
        };
        let mut rest = self.right.clone();
        add(&mut rest, &[-1.0; FOLDS], &self.product(weights, l2));
        let aim = dot(&self.right, &scaled(&self.right)).map(|length| length * PRECISION * PRECISION);
        let mut step = scaled(&rest);
        let mut length = dot(&rest, &step);
        for _ in 0..MOST_PASSES {
            if length.iter().zip(&aim).all(|(length, aim)| length <= aim) {
                break;
            }
            let image = self.product(&step, l2);
            let far = over(&length, &dot(&step, &image));
            add(weights, &far, &step);
            add(&mut rest, &far.map(|far| -far), &image);
            let next = scaled(&rest);
            let shorter = dot(&rest, &next);
            let keep = over(&shorter, &length);
            for (step, next) in step.iter_mut().zip(next) {
                *step = std::array::from_fn(|lane| next[lane] + keep[lane] * step[lane]);
            }
            length = shorter;
        }
    }
}
