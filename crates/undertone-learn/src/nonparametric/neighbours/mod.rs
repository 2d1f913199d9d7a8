//! The average of the k nearest: for numbers, eq. 20 with the device's best mechanism; for classes the same with label vectors.
//!
//! Whom the k nearest are is a function of public features, and their reports are private already, so nothing here costs
//! privacy. k is large: it has to average the noise of the reports away.

mod blocks;
mod index;
mod kd_tree;
mod nearest;
mod points;
mod sorted;
#[cfg(test)]
mod tests;

use super::TrustModel;
use super::cells::{Axes, AxisScale};
use super::choice::{ASIDE, Tried, coarsest_within_one_error, kept_aside, tried};
use super::rates;
use super::targets::{Output, Targets};
use super::trust::trust_and_output;
use crate::LearnError;
use crate::features::Rows;
use crate::split::is_held_out;
use index::{Index, Values};
pub(super) use kd_tree::MOST_DIMENSIONS;
use serde::{Deserialize, Serialize};

/// Of those who are kept aside, so many judge at most: each costs a search.
pub(super) const JUDGES: usize = 4000;

/// Everybody's place and report.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Document", into = "Document")]
pub struct NeighbourModel {
    document: Document,
    index: Box<Index>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    trust: TrustModel,
    output: Output,
    k: usize,
    axes: Axes,
    points: Vec<f32>,
    values: Vec<f32>,
}

impl PartialEq for NeighbourModel {
    fn eq(&self, other: &Self) -> bool {
        self.document == other.document
    }
}

/// A model of neighbours and how k was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedNeighbours {
    /// Of everybody
    pub model: NeighbourModel,
    /// The k that did best on those kept aside, of whom the model takes as many more as there are more people; or as given
    pub chosen: usize,
    /// The candidates, the largest k first; none if k was given
    pub tried: Vec<Tried>,
}

trust_and_output!(NeighbourModel, document);

impl NeighbourModel {
    /// Averages over k, in 1..=N.
    pub fn new(rows: &Rows, targets: Targets<'_>, k: usize) -> Result<Self, LearnError> {
        Self::of(rows, targets, k, |_| true)
    }

    /// Of those people for whom `counts` holds.
    fn of(
        rows: &Rows,
        targets: Targets<'_>,
        k: usize,
        counts: impl Fn(usize) -> bool,
    ) -> Result<Self, LearnError> {
        targets.check(rows.len())?;
        let axes = Axes::fit(rows)?;
        let output = targets.output();
        let (mut points, mut values) = (Vec::new(), Vec::new());
        for person in (0..rows.len()).filter(|&person| counts(person)) {
            points::place(&axes, rows.get(person), &mut points);
            if axes.axes().is_empty() {
                points.push(0.0);
            }
            let (mut base, mut sums) = (0.0, vec![0.0; output.width()]);
            targets.add(person, &mut base, &mut sums);
            values.extend(sums.iter().map(|sum| (sum + base) as f32));
        }
        Self::try_from(Document { trust: TrustModel::LabelLocal, output, k, axes, points, values })
    }

    /// k.
    pub fn neighbours(&self) -> usize {
        self.document.k
    }

    /// Predictions of each row, one after the other; rows of other columns are refused.
    pub fn predict(&self, rows: &Rows) -> Result<Vec<f32>, LearnError> {
        let width = self.document.output.width();
        let mut predictions = vec![0.0; rows.len() * width];
        self.predict_each(rows, &[self.document.k], &mut |row, _, prediction| {
            predictions[row * width..(row + 1) * width].copy_from_slice(prediction);
        })?;
        Ok(predictions)
    }

    /// Predictions with each k of a rising list.
    fn predict_each(
        &self,
        rows: &Rows,
        ks: &[usize],
        visit: &mut dyn FnMut(usize, usize, &[f32]),
    ) -> Result<(), LearnError> {
        let Document { output, axes, values, .. } = &self.document;
        axes.check(rows)?;
        let mut queries = points::points(axes, rows);
        if axes.axes().is_empty() {
            queries = vec![0.0; rows.len()];
        }
        let mut prediction = vec![0.0; output.width()];
        let values = Values { values, width: output.width() };
        self.index.sums(&queries, ks, values, &mut |row, which, sum| {
            for sum in sum.iter_mut() {
                *sum /= ks[which] as f64;
            }
            output.settle(sum, &mut prediction);
            visit(row, which, &prediction);
        });
        Ok(())
    }
}

/// Averages over the k that serves people best who were kept aside, unless k is given.
pub fn fit_neighbours(
    rows: &Rows,
    targets: Targets<'_>,
    k: Option<usize>,
) -> Result<FittedNeighbours, LearnError> {
    if let Some(k) = k {
        let model = NeighbourModel::new(rows, targets, k)?;
        return Ok(FittedNeighbours { model, chosen: k, tried: Vec::new() });
    }
    targets.check(rows.len())?;
    let mut judges = kept_aside(rows.len())?;
    judges.truncate(JUDGES);
    let model = NeighbourModel::of(rows, targets, 1, |person| !is_held_out(person as u64, ASIDE))?;
    let others = model.document.values.len() / model.document.output.width();
    let dimension = model.document.axes.dimension();
    // Beyond four times what balances noise and bias of a function of slope one, nothing is to be found.
    let rule = rates::neighbours(others as u64, dimension, 1.0, targets.noise());
    let most = ((4.0 * rule) as usize).clamp(1, others);
    let ks: Vec<usize> = (0..usize::BITS).map(|power| 1 << power).take_while(|&k| k <= most).collect();
    let mut losses = vec![vec![0.0; judges.len()]; ks.len()];
    let mut judging = Rows::new(rows.dense_width(), rows.sparse_width());
    for &person in &judges {
        judging.push(rows.get(person));
    }
    model.predict_each(&judging, &ks, &mut |judge, which, prediction| {
        losses[ks.len() - 1 - which][judge] = targets.loss(judges[judge], prediction);
    })?;
    let chosen = ks[ks.len() - 1 - coarsest_within_one_error(&losses)];
    let tried = tried(ks.iter().rev().map(|&k| k as u64), &losses);
    // With more people, as many more in proportion lie as near.
    let k = (chosen as f64 * rows.len() as f64 / others as f64).round() as usize;
    let model = NeighbourModel::new(rows, targets, k.clamp(1, rows.len()))?;
    Ok(FittedNeighbours { model, chosen, tried })
}

impl From<NeighbourModel> for Document {
    fn from(model: NeighbourModel) -> Self {
        model.document
    }
}

impl TryFrom<Document> for NeighbourModel {
    type Error = LearnError;

    fn try_from(document: Document) -> Result<Self, LearnError> {
        let (width, dimension) = (document.output.width().max(1), document.axes.axes().len().max(1));
        let people = document.values.len() / width;
        let finite = document.values.iter().chain(&document.points).all(|x| x.is_finite());
        if people * width != document.values.len() || people * dimension != document.points.len() || !finite {
            return Err(LearnError::Model {
                problem: "its points and reports do not belong together".into(),
            });
        }
        if document.k == 0 || document.k > people || people >= u32::MAX as usize {
            return Err(LearnError::Parameter {
                what: "the number of neighbours",
                value: document.k as f64,
                expected: "at least one and at most the number of people, which is below 2^32",
            });
        }
        let values = Values { values: &document.values, width };
        let marks = document.axes.axes().iter().map(|axis| matches!(axis.scale, AxisScale::Level(_)));
        // Without axes everybody is at zero on one.
        let marks = marks.chain(std::iter::repeat(false)).take(dimension).collect();
        let index = Box::new(Index::new(&document.points, marks, values));
        Ok(Self { document, index })
    }
}
