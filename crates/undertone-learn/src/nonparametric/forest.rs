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
    trust: TrustModel,
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

impl Grown {
    /// The means of those people for whom `counts` holds, and how many of them each node has.
    fn of(
        partition: Partition,
        rows: &Rows,
        targets: Targets<'_>,
        counts: impl Fn(usize) -> bool,
    ) -> Result<(Self, Vec<f64>), LearnError> {
        let sums = Sums::of(&partition, rows, targets, counts)?;
        let as_it_is = |means: &mut [f64], into: &mut [f32]| {
            into.iter_mut().zip(means).for_each(|(into, mean)| *into = *mean as f32);
        };
        let means = sums.settle(&partition, |node| sums.people[node] >= 1.0, as_it_is);
        Ok((Self { partition, means }, sums.people))
    }

    fn mean(&self, node: usize, width: usize) -> &[f32] {
        &self.means[node * width..(node + 1) * width]
    }
}

fn check(rows: &Rows, targets: Targets<'_>, trees: u32) -> Result<(), LearnError> {
    if trees == 0 {
        let what = "the number of trees";
        return Err(LearnError::Parameter { what, value: 0.0, expected: "at least 1" });
    }
    targets.check(rows.len())
}

/// Of one of the trees.
fn seed_of(seed: u64, tree: u32) -> u64 {
    seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(u64::from(tree))
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
        check(rows, targets, trees)?;
        let axes = Axes::fit(rows)?;
        let partitions = (0..trees).map(|tree| Partition::random(&axes, rows, mass, seed_of(seed, tree)));
        Self::of(targets, rows, partitions.collect::<Result<_, _>>()?)
    }

    fn of(targets: Targets<'_>, rows: &Rows, partitions: Vec<Partition>) -> Result<Self, LearnError> {
        let grow = |partition| Grown::of(partition, rows, targets, |_| true).map(|(grown, _)| grown);
        let trees = partitions.into_iter().map(grow).collect::<Result<_, LearnError>>()?;
        Ok(Self { trust: TrustModel::LabelLocal, output: targets.output(), trees })
    }

    /// Who had to be trusted.
    pub fn trust(&self) -> TrustModel {
        self.trust
    }

    /// The same, of true labels that somebody has seen.
    pub(super) fn of_true_labels(self) -> Self {
        Self { trust: TrustModel::None, ..self }
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
                let means = tree.mean(tree.partition.locate(row), width);
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
/// Averaging over trees makes thin cells bearable: masses go down to an eighth of what a single cell would need. The trees grow once, to
/// the least mass; those of a larger one are the same trees cut back.
pub fn fit_forest(
    rows: &Rows,
    targets: Targets<'_>,
    trees: u32,
    seed: u64,
) -> Result<FittedForest, LearnError> {
    check(rows, targets, trees)?;
    let aside = choice::kept_aside(rows.len())?;
    let least = (targets.least() / 8.0).max(4.0);
    let most = rows.len() as f64 / 4.0;
    let masses: Vec<f64> =
        (0..64).map(|power| least * 2f64.powi(power)).take_while(|mass| *mass <= most.max(least)).collect();
    let (axes, output) = (Axes::fit(rows)?, targets.output());
    let width = output.width();
    let mut sums = vec![vec![0.0f64; aside.len() * width]; masses.len()];
    let mut grown = Vec::new();
    for tree in 0..trees {
        let partition = Partition::random(&axes, rows, least, seed_of(seed, tree))?;
        let others = |person: usize| !crate::split::is_held_out(person as u64, choice::ASIDE);
        let (tree, people) = Grown::of(partition, rows, targets, others)?;
        let thick = tree.partition.masses(&people);
        for (place, &person) in aside.iter().enumerate() {
            let mut node = tree.partition.locate(rows.get(person));
            for (sums, &mass) in sums.iter_mut().zip(&masses) {
                while node > 0 && thick[node] < mass * (1.0 - choice::ASIDE) {
                    node = tree.partition.parent(node);
                }
                let sums = &mut sums[place * width..(place + 1) * width];
                sums.iter_mut().zip(tree.mean(node, width)).for_each(|(sum, mean)| *sum += f64::from(*mean));
            }
        }
        grown.push((tree.partition, thick));
    }
    let losses: Vec<Vec<f64>> =
        sums.iter_mut().rev().map(|sums| losses(output, targets, &aside, sums, trees)).collect();
    let chosen = masses[masses.len() - 1 - choice::coarsest_within_one_error(&losses)];
    let tried = choice::tried(masses.iter().rev().map(|&mass| mass as u64), &losses);
    let cut_back = |(partition, thick): (Partition, Vec<f64>)| {
        partition.coarsened(&thick, chosen * (1.0 - choice::ASIDE))
    };
    let model = Forest::of(targets, rows, grown.into_iter().map(cut_back).collect())?;
    Ok(FittedForest { model, chosen: chosen as u64, tried })
}

/// Of people who were kept aside, for whom the means of so many trees were summed up.
fn losses(output: Output, targets: Targets<'_>, aside: &[usize], sums: &mut [f64], trees: u32) -> Vec<f64> {
    let mut prediction = vec![0.0; output.width()];
    let each = aside.iter().zip(sums.chunks_exact_mut(output.width()));
    let loss = |(&person, sums): (&usize, &mut [f64])| {
        for sum in sums.iter_mut() {
            *sum /= f64::from(trees);
        }
        output.settle(sums, &mut prediction);
        targets.loss(person, &prediction)
    };
    each.map(loss).collect()
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    /// Of devices where nothing is said
    #[serde(default = "TrustModel::of_devices")]
    trust: TrustModel,
    output: Output,
    trees: Vec<Grown>,
}

impl From<Forest> for Document {
    fn from(Forest { trust, output, trees }: Forest) -> Self {
        Self { trust, output, trees }
    }
}

impl TryFrom<Document> for Forest {
    type Error = LearnError;

    fn try_from(Document { trust, output, trees }: Document) -> Result<Self, LearnError> {
        let sound = |tree: &Grown| {
            tree.means.len() == tree.partition.nodes() * output.width()
                && tree.means.iter().all(|mean| mean.is_finite())
        };
        if trees.is_empty() || output.width() == 0 || !trees.iter().all(sound) {
            return Err(LearnError::Model { problem: "its trees have no means of their own".into() });
        }
        Ok(Self { trust, output, trees })
    }
}
