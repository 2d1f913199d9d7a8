//! What all views together say about each interaction, without bias, and how much it scatters.
//!
//! A table is the sum of the interactions of its attributes (see `table`), and two tables that share attributes have to
//! agree on the interactions of those. A view of K cells tells each of its interactions with the same noise in all
//! directions, so that the best linear estimate that is consistent everywhere is, for each interaction by itself, the
//! mean over the views that hold it, with the weights
//!
//! > ω_v = u_v/U_A,  u_v = n_v/(K_v·λ_v),  U_A = Σ_{v ⊇ A} u_v
//!
//! which depend on how many were asked and not on what they said. A cell c of the table over S is then linear in the
//! shares of the views, with the coefficients u_v·G at the attributes T = S ∩ v,
//!
//! > G_{T,c}(x) = Σ_{∅ ≠ A ⊆ T} (K_A/K_S)/U_A·Π_{j∈A} (1{c_j = x_j} - 1/L_j)
//!
//! so that its variance is exact but for the shares π, which are estimated: Σ_v u_v²/n_v·\[spread·|G|² + (tilt+1)·E_π G² -
//! (E_π G)²\]. For every T only three sums over views are needed.

use super::counts::Noise;
use super::design::Design;
use super::table::{chosen, interaction, marginal, part_of, parts, sizes_of};
use super::tally::Tally;
use crate::LearnError;
use std::collections::BTreeMap;
use undertone_privacy::statistic::Question;

/// An interaction as the views that hold it have it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Interaction {
    /// Σ over the views of u_v times what they say, and once all are in, over U_A
    pub cells: Vec<f64>,
    /// U_A
    pub precision: f64,
    scatter: Scatter,
}

/// Sums over views that the variance is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Scatter {
    /// Σ u²/n·spread·K
    spread: f64,
    /// Σ u²/n·(tilt + 1)
    tilt: f64,
    /// Σ u²/n
    mean: f64,
}

impl Scatter {
    fn add(&mut self, other: Self, factor: f64) {
        self.spread += factor * other.spread;
        self.tilt += factor * other.tilt;
        self.mean += factor * other.mean;
    }
}

/// All interactions of up to k attributes that any view holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pooled {
    interactions: BTreeMap<Vec<usize>, Interaction>,
}

impl Pooled {
    /// Pools what the views of a design were told.
    pub fn new(design: &Design, tally: &Tally) -> Result<Self, LearnError> {
        let mut interactions = BTreeMap::<Vec<usize>, Interaction>::new();
        let questionnaire = &design.questionnaire;
        let levels = questionnaire.schema().levels();
        for number in 0..questionnaire.questions() {
            let question = questionnaire.question(number)?;
            let noise = Noise::of(questionnaire.mechanism(&question)?);
            let (Question::Cell(view), Some(shares)) = (question, tally.shares(number as usize, &noise))
            else {
                continue;
            };
            let sizes: Vec<usize> = view.iter().map(|&a| levels[a] as usize).collect();
            let (n, cells) = (tally.asked(number as usize) as f64, shares.len() as f64);
            let u = n / (cells * noise.even());
            let square = u * u / n;
            let scatter = Scatter {
                spread: square * noise.spread * cells,
                tilt: square * (noise.tilt + 1.0),
                mean: square,
            };
            for mask in parts((1 << view.len()) - 1).filter(|mask| mask.count_ones() as usize <= design.order)
            {
                let table = marginal(&shares, &sizes, mask);
                let sum = interactions.entry(chosen(&view, mask)).or_default();
                sum.cells.resize(table.len(), 0.0);
                sum.cells.iter_mut().zip(table).for_each(|(sum, cell)| *sum += u * cell);
                sum.precision += u;
                sum.scatter.add(scatter, 1.0);
            }
        }
        for (attributes, sum) in &mut interactions {
            let sizes: Vec<usize> = attributes.iter().map(|&a| levels[a] as usize).collect();
            interaction(&mut sum.cells, &sizes);
            sum.cells.iter_mut().for_each(|cell| *cell /= sum.precision);
        }
        Ok(Self { interactions })
    }

    /// The interaction of these attributes, if a view holds it.
    pub fn get(&self, attributes: &[usize]) -> Option<&Interaction> {
        self.interactions.get(attributes)
    }

    /// The interactions of so many attributes each.
    pub fn of_size(&self, size: usize) -> impl Iterator<Item = (&Vec<usize>, &Interaction)> {
        self.interactions.iter().filter(move |(set, _)| set.len() == size)
    }

    /// The interactions of all parts of `attributes`, by mask; none if one is in no view.
    fn of(&self, attributes: &[usize]) -> Option<Vec<&Interaction>> {
        // The empty mask is never looked at; any other stands in for it.
        let all = (1 << attributes.len()) - 1;
        let first = self.get(&chosen(attributes, 1))?;
        std::iter::once(Some(first))
            .chain(parts(all).map(|mask| self.get(&chosen(attributes, mask))))
            .collect()
    }

    /// The unbiased table over attributes with so many levels: Σ_A (K_A/K_S)·interaction of A; none if one is in no view.
    pub fn unbiased(&self, attributes: &[usize], sizes: &[usize]) -> Option<Vec<f64>> {
        let interactions = self.of(attributes)?;
        let cells: usize = sizes.iter().product();
        let mut table = vec![1.0 / cells as f64; cells];
        for mask in parts((1 << sizes.len()) - 1) {
            let part = &interactions[mask].cells;
            let factor = part.len() as f64 / cells as f64;
            let lifted = part_of(sizes, mask).into_iter().map(|at| factor * part[at]);
            table.iter_mut().zip(lifted).for_each(|(cell, more)| *cell += more);
        }
        Some(table)
    }

    /// The variance of each cell of the unbiased table, where `shares` has the distribution over each mask.
    pub fn variances(&self, attributes: &[usize], sizes: &[usize], shares: &[Vec<f64>]) -> Option<Vec<f64>> {
        let interactions = self.of(attributes)?;
        let (all, cells) = ((1 << sizes.len()) - 1, sizes.iter().product::<usize>());
        let mut variances = vec![0.0; cells];
        for mask in parts(all) {
            // The views that hold T and nothing else of S, by inclusion and exclusion
            let mut scatter = Scatter::default();
            for more in (mask..=all).filter(|more| more & mask == mask) {
                let sign = if (more ^ mask).count_ones() % 2 == 0 { 1.0 } else { -1.0 };
                scatter.add(interactions[more].scatter, sign);
            }
            // What is left of sums that cancel is no view.
            if scatter.mean <= 1e-12 * interactions[mask].scatter.mean {
                continue;
            }
            let factor = |part: usize| {
                let part_cells: usize = sizes_of(sizes, part).iter().product();
                part_cells as f64 / cells as f64 / interactions[part].precision
            };
            let own = of_views(sizes, mask, scatter, factor, &shares[mask]);
            part_of(sizes, mask).into_iter().zip(&mut variances).for_each(|(at, sum)| *sum += own[at]);
        }
        Some(variances)
    }
}

/// What the views that hold T and nothing else of S add to the variance of each cell of the table over T.
fn of_views(
    sizes: &[usize],
    mask: usize,
    scatter: Scatter,
    factor: impl Fn(usize) -> f64,
    shares: &[f64],
) -> Vec<f64> {
    let own = sizes_of(sizes, mask);
    let axes = own.len();
    // The masks of the parts of T among all axes of S, in the order of those among the axes of T
    let factors: Vec<f64> = std::iter::once(0.0).chain(parts(mask).map(factor)).collect();
    let levels = levels_of(&own);
    let mut products = vec![1.0; 1 << axes];
    (0..shares.len())
        .map(|c| {
            let (mut length, mut first, mut second) = (0.0, 0.0, 0.0);
            for (x, pi) in shares.iter().enumerate() {
                let mut g = 0.0;
                for part in 1..1usize << axes {
                    let axis = part.trailing_zeros() as usize;
                    let same = levels[c * axes + axis] == levels[x * axes + axis];
                    products[part] =
                        products[part & (part - 1)] * (f64::from(u8::from(same)) - 1.0 / own[axis] as f64);
                    g += factors[part] * products[part];
                }
                length += g * g;
                first += pi * g;
                second += pi * g * g;
            }
            let spread = scatter.spread / shares.len() as f64;
            spread * length + scatter.tilt * second - scatter.mean * first * first
        })
        .collect()
}

/// The levels of each cell, one after the other.
pub(super) fn levels_of(sizes: &[usize]) -> Vec<usize> {
    let columns: Vec<Vec<usize>> = (0..sizes.len()).map(|axis| part_of(sizes, 1 << axis)).collect();
    (0..sizes.iter().product()).flat_map(|cell| columns.iter().map(move |column| column[cell])).collect()
}
