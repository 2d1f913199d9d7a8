//! How fine a grid: what the polynomial misses against what the people can fill.
//!
//! With sd the standard deviation of one answer as a share of the range, d = (k+1)^p nodes and n people, the excess risk is with
//! probability 1 - β at most
//!
//! > 2·\[bias(k, h)·Σ_{j<p} L1^j + L1^p·√(2·ln(2d/β))·sd·√(d/n)·(hi - lo)\]
//!
//! where L1(k, h) = sup Σ|B_v| and bias is the largest error of the operator along one axis, both computed: the first term
//! replaces one axis after the other, each with the errors that those before it enlarge. The pair (k, h) with the
//! least bound is taken. For the direct bit the bound is Hoeffding's, with as many people at a node as expected, and holds for
//! every data set; for other mechanisms it ranks. What is measured is far below it.

use super::operator::{basis_at, iterated_operator, largest_absolute_sum, places};
use crate::LearnError;
use crate::means::{PEOPLE_PER_STATISTIC, largest_base};
use undertone_privacy::statistic::{LossAt, ParameterGrid, PointLoss};

/// Degrees and orders that are tried.
const LARGEST_DEGREE: u32 = 16;
const LARGEST_ORDER: u32 = 4;
/// β.
const FAILURE: f64 = 0.05;

/// A risk that is to be minimised.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem<'a> {
    /// ℓ
    pub loss: PointLoss,
    /// The lower ends of the parameters
    pub low: &'a [f64],
    /// The upper ends of the parameters
    pub high: &'a [f64],
    /// r: |x| is at most this
    pub radius: f64,
}

/// A grid, and what it is good for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridChoice {
    /// k
    pub degree: u32,
    /// h
    pub order: u32,
    /// The excess risk is at most this, nineteen times out of twenty, with the direct bit
    pub bound: f64,
}

/// Refuses a grid with fewer than twenty people at a node, and says which is the finest that they fill.
pub fn check_grid(axes: usize, degree: u32, people: u64) -> Result<(), LearnError> {
    let cells = (f64::from(degree) + 1.0).powi(axes as i32);
    let needed = cells * f64::from(PEOPLE_PER_STATISTIC);
    if needed <= people as f64 {
        return Ok(());
    }
    let fitting = match largest_degree(axes, people) {
        0 => "none".to_owned(),
        largest => format!("degree {largest} at most"),
    };
    Err(LearnError::TooFine { what: "a grid of degree", size: degree, axes, cells, needed, people, fitting })
}

/// The largest k with (k+1)^p ≤ n/20.
fn largest_degree(axes: usize, people: u64) -> u32 {
    largest_base(axes, people, 0.0).saturating_sub(1)
}

/// The degree and the order with the least bound for so many `people`, an answer of whom has a standard deviation of
/// `deviation` as a share of its range (C/2 for the direct bit).
pub fn choose_grid(problem: &Problem<'_>, people: u64, deviation: f64) -> Result<GridChoice, LearnError> {
    let axes = problem.low.len();
    check_grid(axes, 1, people)?;
    let mut best: Option<GridChoice> = None;
    for degree in 1..=largest_degree(axes, people).min(LARGEST_DEGREE) {
        let choice = choose_order(problem, degree, people, deviation)?;
        if best.is_none_or(|best| choice.bound < best.bound) {
            best = Some(choice);
        }
    }
    best.ok_or(LearnError::NoReports)
}

/// The order with the least bound for a `degree` that is given, such as that of a grid which people have answered about.
pub fn choose_order(
    problem: &Problem<'_>,
    degree: u32,
    people: u64,
    deviation: f64,
) -> Result<GridChoice, LearnError> {
    let (axes, (low, high)) = (problem.low.len(), problem.check()?);
    let nodes = f64::from(degree + 1).powi(axes as i32);
    let noise = (2.0 * (2.0 * nodes / FAILURE).ln()).sqrt() * deviation * (nodes / people as f64).sqrt();
    let choice = |order| {
        let enlarged = largest_absolute_sum(degree, order);
        let axes_before: f64 = (0..axes).map(|j| enlarged.powi(j as i32)).sum();
        let missed = problem.bias(degree, order) * axes_before;
        let bound = 2.0 * (missed + enlarged.powi(axes as i32) * noise * (high - low));
        GridChoice { degree, order, bound }
    };
    let choices = (1..=LARGEST_ORDER).map(choice);
    choices.min_by(|a, b| a.bound.total_cmp(&b.bound)).ok_or(LearnError::NoReports)
}

impl Problem<'_> {
    /// The statistics at the nodes of a grid of this degree.
    pub fn statistics(&self, degree: u32) -> Result<LossAt, LearnError> {
        Ok(LossAt::new(self.loss, ParameterGrid::new(self.low, self.high, degree)?, self.radius)?)
    }

    /// Refuses what is no problem; the range of the loss on the box.
    fn check(&self) -> Result<(f64, f64), LearnError> {
        Ok(self.statistics(1)?.range_on_the_box())
    }

    /// The largest error of the operator along one axis i, over all records: scores are a + s·w_i with |s| ≤ r and
    /// |a| ≤ √(r² - s²)·|w without w_i|, looked at on a lattice.
    pub fn bias(&self, degree: u32, order: u32) -> f64 {
        let at = places(48);
        let rows = basis_at(degree, &at).dot(&iterated_operator(degree, order));
        let nodes = places(degree);
        let farthest: Vec<f64> = self.low.iter().zip(self.high).map(|(l, h)| l.abs().max(h.abs())).collect();
        let whole: f64 = farthest.iter().map(|f| f * f).sum();
        let y = if let PointLoss::Squared { largest } = self.loss { largest } else { 1.0 };
        let mut worst = 0.0f64;
        for ((low, high), farthest) in self.low.iter().zip(self.high).zip(&farthest) {
            let others = (whole - farthest * farthest).max(0.0).sqrt();
            for s in (-12..=12).map(|i| self.radius * f64::from(i) / 12.0) {
                let reach = (self.radius * self.radius - s * s).max(0.0).sqrt() * others;
                // Without other axes there is one a, and where reach is nothing, too.
                let steps = if reach > 0.0 { 12 } else { 0 };
                for a in (-steps..=steps).map(|i| reach * f64::from(i) / 12.0) {
                    let loss = |x: &f64| self.loss.value(a + s * (low + (high - low) * x), y);
                    let values: Vec<f64> = nodes.iter().map(loss).collect();
                    for (row, x) in rows.rows().into_iter().zip(&at) {
                        let ours: f64 = row.iter().zip(&values).map(|(b, value)| b * value).sum();
                        worst = worst.max((ours - loss(x)).abs());
                    }
                }
            }
        }
        worst
    }
}
