//! Trees of half of the people each, judged by the other half.
//!
//! Who is not among those by whom a tree was cut and filled judges it: everybody is judge of about half of the trees, and their average
//! is what the whole forest will be, with half of the trees. So everybody's report speaks for or against each λ, and nobody's for what it
//! taught. The λ with the least loss is taken; the trees are then filled with everybody.

use super::growing::{Cut, Growing, locate};
use super::places::Places;
use super::shrinkage::NodeSums;
use super::{Document, FittedForest, Forest, Grown, Node};
use crate::LearnError;
use crate::features::Rows;
use crate::nonparametric::cells::Axes;
use crate::nonparametric::targets::{Output, Targets};
use crate::nonparametric::{TrustModel, choice};
use crate::regression::{LinearNumber, cross_fit};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// A tree is cut by at most so many people, evenly spread; more fill it.
pub(in crate::nonparametric) const MOST_CUTTING: usize = 1 << 16;
/// Numbers that are kept of judges: with many classes, fewer people judge.
const JUDGED: usize = 1 << 25;

/// Trees for people with these rows; the seed is public.
pub fn fit_forest(
    rows: &Rows,
    targets: Targets<'_>,
    trees: u32,
    seed: u64,
) -> Result<FittedForest, LearnError> {
    if trees == 0 {
        let what = "the number of trees";
        return Err(LearnError::Parameter { what, value: 0.0, expected: "at least 1" });
    }
    targets.check(rows.len())?;
    choice::kept_aside(rows.len())?;
    let places = Places::new(&Axes::fit(rows)?, rows);
    let output = targets.output();
    let Targets::Numbers { values, bounds, variance } = targets else {
        let people = People { places: &places, rows, targets, judged: targets, lines: None };
        return Ok(people.forest(output, None, trees, seed));
    };
    let fit = cross_fit(rows, values, bounds)?;
    let left: Vec<f64> = values.iter().zip(&fit.without).map(|(value, line)| value - line).collect();
    let rest = Targets::Numbers { values: &left, bounds, variance };
    let people = People { places: &places, rows, targets: rest, judged: targets, lines: Some(&fit.without) };
    Ok(people.forest(output, Some(fit.model), trees, seed))
}

/// Everybody, and what trees learn of them.
struct People<'a> {
    places: &'a Places,
    rows: &'a Rows,
    targets: Targets<'a>,
    /// What the sum of line and trees is judged by
    judged: Targets<'a>,
    /// Of a number, what a line says about each that was fitted without them
    lines: Option<&'a [f64]>,
}

/// A tree with everybody in it.
struct Filled {
    cuts: Vec<Cut>,
    all: NodeSums,
}

/// The predictions for judges, summed over the trees that they judge, for each λ.
struct Judges {
    people: Vec<u32>,
    trees: Vec<u32>,
    sums: Vec<Vec<f32>>,
}

impl People<'_> {
    fn forest(&self, output: Output, line: Option<LinearNumber>, trees: u32, seed: u64) -> FittedForest {
        let (n, width) = (self.rows.len(), output.width());
        let lambdas = self.lambdas();
        let step = (n * width * lambdas.len()).div_ceil(JUDGED);
        let people: Vec<u32> = (0..n as u32).step_by(step).collect();
        let sums = vec![vec![0.0; people.len() * width]; lambdas.len()];
        let mut judges = Judges { trees: vec![0; people.len()], people, sums };
        let seeds = (0..trees).map(|tree| seed_of(seed, tree));
        let filled: Vec<Filled> = seeds.map(|seed| self.tree(&lambdas, seed, &mut judges)).collect();
        let losses = self.losses(output, judges);
        let best = choice::least(&losses);
        let document = Document {
            trust: TrustModel::LabelLocal,
            output,
            features: [self.rows.dense_width(), self.rows.width()],
            line,
            trees: filled.iter().map(|tree| tree.shrunk(self.places, width, lambdas[best])).collect(),
        };
        FittedForest {
            model: Forest { document: Box::new(document) },
            chosen: lambdas[best] as u64,
            tried: choice::tried(lambdas.iter().map(|&lambda| lambda as u64), &losses),
        }
    }

    /// From so many people that no tree is looked into, down to those who are worth one true label.
    fn lambdas(&self) -> Vec<f64> {
        let (least, most) = (self.targets.noise(), 16.0 * self.rows.len() as f64);
        let steps = (most / least).log2().ceil().max(1.0) as i32;
        (0..=steps).rev().map(|power| least * 2f64.powi(power)).collect()
    }

    /// Cut and filled by half of the people, judged by the others, filled by all.
    fn tree(&self, lambdas: &[f64], seed: u64, judges: &mut Judges) -> Filled {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let n = self.rows.len();
        let words: Vec<u64> = (0..n.div_ceil(64)).map(|_| rng.next_u64()).collect();
        let inside = |person: u32| words[person as usize / 64] >> (person % 64) & 1 == 1;
        let mut cutting: Vec<u32> = (0..n as u32).filter(|&person| inside(person)).collect();
        let step = cutting.len().div_ceil(MOST_CUTTING).max(1);
        cutting = cutting.into_iter().step_by(step).collect();
        let least = (self.targets.noise() / step as f64).round().max(2.0) as usize;
        let cuts = Growing::new(self.places, self.targets, least, rng).tree(cutting);
        let width = self.targets.output().width();
        let mut half = NodeSums::new(cuts.len(), width);
        let mut all = half.clone();
        let leaves: Vec<u32> = (0..n as u32).map(|person| locate(&cuts, self.places.of(person))).collect();
        let mut target = vec![0.0; width];
        for (person, &leaf) in (0u32..).zip(&leaves) {
            target.fill(0.0);
            let mut base = 0.0;
            self.targets.add(person as usize, &mut base, &mut target);
            let add = |sums: &mut [f64]| sums.iter_mut().zip(&target).for_each(|(sum, x)| *sum += x + base);
            all.push(leaf, add);
            if inside(person) {
                half.push(leaf, add);
            }
        }
        half.roll_up(&cuts);
        all.roll_up(&cuts);
        let outside: Vec<usize> =
            (0..judges.people.len()).filter(|&judge| !inside(judges.people[judge])).collect();
        for &judge in &outside {
            judges.trees[judge] += 1;
        }
        let mut means = Vec::new();
        for (&lambda, sums) in lambdas.iter().zip(&mut judges.sums) {
            // Half of the people are to count as much as all will.
            half.shrunk(&cuts, 0.5 * lambda, &mut means);
            for &judge in &outside {
                let leaf = leaves[judges.people[judge] as usize] as usize;
                let into = &mut sums[judge * width..(judge + 1) * width];
                into.iter_mut().zip(&means[leaf * width..]).for_each(|(sum, mean)| *sum += mean);
            }
        }
        Filled { cuts, all }
    }

    /// For each λ, the losses of all who have judged.
    fn losses(&self, output: Output, judges: Judges) -> Vec<Vec<f64>> {
        let Judges { people, trees, sums } = judges;
        let width = output.width();
        let (mut mean, mut prediction) = (vec![0.0; width], vec![0.0; width]);
        let mut of_lambda = |sums: Vec<f32>| {
            let each = people.iter().zip(&trees).zip(sums.chunks_exact(width));
            let judged = each.filter(|((_, trees), _)| **trees > 0);
            let loss = |((&person, &trees), sums): ((&u32, &u32), &[f32])| {
                let line = self.lines.map_or(0.0, |lines| lines[person as usize]);
                for (mean, sum) in mean.iter_mut().zip(sums) {
                    *mean = line + f64::from(*sum) / f64::from(trees);
                }
                output.settle(&mut mean, &mut prediction);
                self.judged.loss(person as usize, &prediction)
            };
            judged.map(loss).collect()
        };
        sums.into_iter().map(&mut of_lambda).collect()
    }
}

/// Of one of the trees.
fn seed_of(seed: u64, tree: u32) -> u64 {
    seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(u64::from(tree))
}

impl Filled {
    /// As it is looked up, without what does not count.
    fn shrunk(&self, places: &Places, width: usize, lambda: f64) -> Grown {
        let (mut all, mut means) = (Vec::new(), Vec::new());
        self.all.shrunk(&self.cuts, lambda, &mut all);
        // New places beside old ones
        let (mut nodes, mut open) = (vec![Node::Leaf(0)], vec![(0, 0)]);
        while let Some((place, old)) = open.pop() {
            let cut = self.cuts[old];
            if cut.byte == 0 || !self.all.reaches(old, lambda) {
                nodes[place] = Node::Leaf((means.len() / width) as u32);
                means.extend_from_slice(&all[old * width..(old + 1) * width]);
                continue;
            }
            let (feature, at) = places.cut(cut.axis as usize, cut.byte);
            let child = nodes.len();
            nodes[place] = Node::Cut(feature, at, child as u32);
            nodes.extend([Node::Leaf(0); 2]);
            let first = cut.children as usize;
            open.extend([(child, first), (child + 1, first + 1)]);
        }
        Grown { nodes, means }
    }
}
