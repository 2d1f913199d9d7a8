//! Least squares with more features than there is room for products of pairs.
//!
//! (G/n + λI)·w = b/n is solved by conjugate gradients, for which G·p is enough: Σ x̃·(x̃·p), one pass over the people, whose features are
//! mostly zero. Dividing by the diagonal first makes levels that many people have and levels that few have alike. All eight fits, each
//! without one part of the people, share a pass: a number of each lies in one of eight lanes, and those of a person's own part is left at
//! zero. λ goes from large to small, each fit beginning at the last one, until two in a row did worse than the best.

use super::LinearNumber;
use super::ridge::{Candidate, FOLDS, part_of};
use crate::evaluation::mean;
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
    /// The features of each, and where they end
    entries: Vec<(u32, f32)>,
    ends: Vec<usize>,
    /// With the constant
    width: usize,
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
    pub(super) fn gather(source: &mut dyn Source, features: usize, centre: f64) -> Result<Self, LearnError> {
        let (entries, ends, numbers, parts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut all = Self { entries, ends, width: features + 1, numbers, parts, centre };
        source.pass(&mut |block| {
            for (row, (value, variance)) in block.rows.iter().zip(block.numbers.iter()) {
                let dense = (0u32..).zip(row.dense.iter().copied());
                let first = row.dense.len() as u32;
                let sparse = row.sparse.iter().map(|&(feature, x)| (first + feature, x));
                all.entries.extend(dense.chain(sparse).filter(|&(_, x)| x != 0.0));
                all.entries.push((features as u32, 1.0));
                all.parts.push(part_of(all.ends.len() as u64) as u8);
                all.ends.push(all.entries.len());
                all.numbers.push((value - centre, variance));
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// The features of each person that are not zero, the constant last, with their part.
    fn people(&self) -> impl Iterator<Item = (&[(u32, f32)], u8)> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let rows = starts.zip(&self.ends).map(|(start, &end)| &self.entries[start..end]);
        rows.zip(self.parts.iter().copied())
    }

    /// How many people each part has.
    pub(super) fn counts(&self) -> [usize; FOLDS] {
        let mut counts = [0; FOLDS];
        self.parts.iter().for_each(|&part| counts[usize::from(part)] += 1);
        counts
    }

    /// The line of everybody.
    pub(super) fn solve(&self, l2: f64) -> Result<LinearNumber, LearnError> {
        if self.ends.is_empty() {
            return Err(LearnError::NoReports);
        }
        let mut weights = vec![[0.0; FOLDS]; self.width];
        System::new(self, false).solve(l2, &mut weights);
        self.line(&weights, 0)
    }

    /// What each λ makes of the parts, none of which is empty.
    pub(super) fn candidates(&self) -> Result<Vec<Candidate>, LearnError> {
        let system = System::new(self, true);
        let mut weights = vec![[0.0; FOLDS]; self.width];
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
        for ((row, part), (u, variance)) in self.people().zip(&self.numbers) {
            let lane = usize::from(part);
            sums[lane] += (at(row, weights)[lane] - u).powi(2) - variance;
        }
        sums.iter().zip(self.counts()).map(|(sum, count)| sum / count as f64).collect()
    }
}

/// x̃·w in each lane.
#[inline(always)]
fn at(row: &[(u32, f32)], weights: &[Lanes]) -> Lanes {
    let mut sum = [0.0; FOLDS];
    for &(feature, x) in row {
        let (x, w) = (f64::from(x), &weights[feature as usize]);
        for lane in 0..FOLDS {
            sum[lane] += x * w[lane];
        }
    }
    sum
}

/// Adds x̃ times a number of each lane.
#[inline(always)]
fn spread(row: &[(u32, f32)], times: &Lanes, into: &mut [Lanes]) {
    for &(feature, x) in row {
        let (x, w) = (f64::from(x), &mut into[feature as usize]);
        for lane in 0..FOLDS {
            w[lane] += x * times[lane];
        }
    }
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
        let everybody = people.ends.len();
        let own = if without_own_part { people.counts() } else { [0; FOLDS] };
        let shares = own.map(|own| 1.0 / (everybody - own).max(1) as f64);
        let nothing = vec![[0.0; FOLDS]; people.width];
        let mut system = Self { people, without_own_part, shares, right: nothing.clone(), diagonal: nothing };
        let (mut right, mut diagonal) = (system.right.clone(), system.diagonal.clone());
        for ((row, part), &(u, _)) in people.people().zip(&people.numbers) {
            let counts = system.lanes(part);
            spread(row, &counts.map(|share| share * u), &mut right);
            for &(feature, x) in row {
                let square = f64::from(x * x);
                (0..FOLDS).for_each(|lane| diagonal[feature as usize][lane] += square * counts[lane]);
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
        pulp::Arch::new().dispatch(Product { system: self, weights, into: &mut into });
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

/// The pass over all people, compiled for the vectors of the machine that it runs on.
struct Product<'a> {
    system: &'a System<'a>,
    weights: &'a [Lanes],
    into: &'a mut [Lanes],
}

impl pulp::WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        let Self { system, weights, into } = self;
        for (row, part) in system.people.people() {
            let (along, counts) = (at(row, weights), system.lanes(part));
            spread(row, &std::array::from_fn(|lane| along[lane] * counts[lane]), into);
        }
    }
}
