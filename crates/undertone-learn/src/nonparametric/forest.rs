//! Many random partitions, averaged: where one of them has an edge, the others have none.
//!
//! Under local label privacy everything after the reports is free, also to use them once for each tree. The cuts look at
//! public features only, so every tree is an honest one. (A curator would have to divide ε by the number of trees: better one
//! partition, [`super::central`].)

use super::cells::{Axes, Partition};
use super::sums::Sums;
use super::targets::{Output, Targets};
use super::{TrustModel, choice};
use crate::LearnError;
use crate::features::Rows;
use serde::{Deserialize, Serialize};

/// A forest and how the mass of its cells was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedForest {
    /// Fitted to everybody
    pub model: Forest,
    /// The chosen mass, rounded down
    pub chosen: u64,
    /// The masses that were tried, the largest first
    pub tried: Vec<choice::Tried>,
}

/// Averages over the cells of several partitions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Document", into = "Document")]
pub struct Forest {
    output: Output,
    trees: Vec<Grown>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Grown {
    partition: Partition,
    /// Of each node, as it is: projected only after all trees are averaged
    means: Vec<f32>,
}

impl Forest {
    /// So many trees with cells of at least `mass` people; the seed is public.
    pub fn fit(
        rows: &Rows,
        targets: Targets<'_>,
        trees: u32,
        mass: f64,
        seed: u64,
    ) -> Result<Self, LearnError> {
        Self::of(rows, targets, trees, mass, seed, |_| true)
    }

    fn of(
        rows: &Rows,
        targets: Targets<'_>,
        trees: u32,
        mass: f64,
        seed: u64,
        counts: impl Fn(usize) -> bool,
    ) -> Result<Self, LearnError> {
        targets.check(rows.len())?;
        if trees == 0 {
            let what = "the number of trees";
            return Err(LearnError::Parameter { what, value: 0.0, expected: "at least 1" });
        }
        let axes = Axes::fit(rows)?;
        let grow = |tree: u32| {
            let seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(u64::from(tree));
            let partition = Partition::random(&axes, rows, mass, seed)?;
            let sums = Sums::of(&partition, rows, targets, &counts)?;
            let as_it_is = |means: &mut [f64], into: &mut [f32]| {
                into.iter_mut().zip(means).for_each(|(into, mean)| *into = *mean as f32);
            };
            let means = sums.settle(&partition, |node| sums.people[node] >= 1.0, as_it_is);
            Ok(Grown { partition, means })
        };
        let trees = (0..trees).map(grow).collect::<Result<_, LearnError>>()?;
        Ok(Self { output: targets.output(), trees })
    }

    /// Who had to be trusted.
    pub fn trust(&self) -> TrustModel {
        TrustModel::LabelLocal
    }

    /// What is predicted.
    pub fn output(&self) -> Output {
        self.output
    }

    /// Predictions of each row, one after the other; rows of other columns are refused.
    pub fn predict(&self, rows: &Rows) -> Result<Vec<f32>, LearnError> {
        let width = self.output.width();
        let mut sums = vec![0.0f64; rows.len() * width];
        for tree in &self.trees {
            tree.partition.axes().check(rows)?;
            for (row, sum) in rows.iter().zip(sums.chunks_exact_mut(width)) {
                let node = tree.partition.locate(row);
                let means = &tree.means[node * width..(node + 1) * width];
                sum.iter_mut().zip(means).for_each(|(sum, mean)| *sum += f64::from(*mean));
            }
        }
        let mut predictions = vec![0.0; rows.len() * width];
        for (sum, prediction) in sums.chunks_exact_mut(width).zip(predictions.chunks_exact_mut(width)) {
            for sum in sum.iter_mut() {
                *sum /= self.trees.len() as f64;
            }
            self.output.settle(sum, prediction);
        }
        Ok(predictions)
    }
}

/// A forest with the mass, among powers of two times what a cell needs, that serves people best who were kept aside.
///
/// Averaging over trees makes thin cells bearable: masses go down to an eighth of what a single cell would need.
pub fn fit_forest(
    rows: &Rows,
    targets: Targets<'_>,
    trees: u32,
    seed: u64,
) -> Result<FittedForest, LearnError> {
    targets.check(rows.len())?;
    let aside = choice::kept_aside(rows.len())?;
    let least = (targets.least() / 8.0).max(4.0);
    let most = rows.len() as f64 / 4.0;
    let masses: Vec<f64> =
        (0..64).map(|power| least * 2f64.powi(power)).take_while(|mass| *mass <= most.max(least)).collect();
    let mut judging = Rows::new(rows.dense_width(), rows.sparse_width());
    for &person in &aside {
        judging.push(rows.get(person));
    }
    let mut losses = Vec::new();
    for &mass in masses.iter().rev() {
        let others = |person: usize| !crate::split::is_held_out(person as u64, choice::ASIDE);
        let model = Forest::of(rows, targets, trees, mass, seed, others)?;
        let predictions = model.predict(&judging)?;
        let each = aside.iter().zip(predictions.chunks_exact(model.output.width()));
        losses.push(each.map(|(&person, prediction)| targets.loss(person, prediction)).collect());
    }
    let chosen = masses[masses.len() - 1 - choice::coarsest_within_one_error(&losses)];
    let tried = choice::tried(masses.iter().rev().map(|&mass| mass as u64), &losses);
    let model = Forest::fit(rows, targets, trees, chosen, seed)?;
    Ok(FittedForest { model, chosen: chosen as u64, tried })
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    output: Output,
    trees: Vec<Grown>,
}

impl From<Forest> for Document {
    fn from(Forest { output, trees }: Forest) -> Self {
        Self { output, trees }
    }
}

impl TryFrom<Document> for Forest {
    type Error = LearnError;

    fn try_from(Document { output, trees }: Document) -> Result<Self, LearnError> {
        let sound = |tree: &Grown| {
            tree.means.len() == tree.partition.nodes() * output.width()
                && tree.means.iter().all(|mean| mean.is_finite())
        };
        if trees.is_empty() || output.width() == 0 || !trees.iter().all(sound) {
            return Err(LearnError::Model { problem: "its trees have no means of their own".into() });
        }
        Ok(Self { output, trees })
    }
}
