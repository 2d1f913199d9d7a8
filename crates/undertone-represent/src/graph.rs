//! Functions that hardly change between people who are alike: the leading eigenvectors of the graph of neighbours.
//!
//! Two people of whom one is among the nearest of the other are tied by exp(-|x - y|²/(σ_x·σ_y)), σ the distance to the seventh
//! neighbour, so that sparse regions count like dense ones (L. Zelnik-Manor and P. Perona, *Self-Tuning Spectral Clustering*). With D
//! the sums of the ties, D^-1/2·A·D^-1/2 has eigenvalues in \[-1, 1\], and those near one belong to functions that respect the ties.

use crate::spectrum::leading;
use crate::{Matrix, Neighbours, RepresentError, SparseRows};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Neighbours of each.
pub(crate) const NEIGHBOURS: usize = 15;
/// The neighbour whose distance is the measure of a neighbourhood.
const MEASURE: usize = 7;

/// A basis over the people that are tied, and what is needed to vote for others.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GraphBasis {
    /// Columns are orthonormal, the smoothest first
    pub vectors: Matrix,
    /// The distance to the seventh neighbour of each
    measure: Vec<f32>,
}

impl GraphBasis {
    /// The `count` smoothest functions over the people.
    pub fn new(people: &Matrix, count: usize) -> Result<Self, RepresentError> {
        if people.rows() < 2 * count {
            let needed = format!("{count} functions on their graph");
            return Err(RepresentError::TooFew { people: people.rows(), needed });
        }
        let neighbours = Neighbours::find(people, people, NEIGHBOURS, true)?;
        let measure: Vec<f32> = (0..people.rows()).map(|person| measure(&neighbours, person)).collect();
        let ties = ties(&neighbours, &measure)?;
        let spectrum = leading(people.rows(), count, -1.0, |v| ties.times(v))?;
        Ok(Self { vectors: spectrum.vectors, measure })
    }

    /// The distance to the seventh neighbour of each of the people.
    pub(crate) fn measure(&self) -> &[f32] {
        &self.measure
    }

    /// How much each neighbour of others counts, in the order of `neighbours`; the sum for each person is one. `measures` are
    /// those of the people who are neighbours.
    pub(crate) fn votes_by(measures: &[f32], neighbours: &Neighbours) -> Vec<f32> {
        let mut votes = Vec::with_capacity(neighbours.who.len());
        for person in 0..neighbours.people() {
            let own = measure(neighbours, person);
            let start = votes.len();
            votes.extend(neighbours.of(person).map(|(who, square)| tie(square, own, measures[who])));
            let total: f32 = votes[start..].iter().sum();
            let even = 1.0 / neighbours.count as f32;
            // So far away that nothing is left of anybody: all count alike
            votes[start..].iter_mut().for_each(|vote| *vote = if total > 0.0 { *vote / total } else { even });
        }
        votes
    }
}

fn measure(neighbours: &Neighbours, person: usize) -> f32 {
    let (_, square) = neighbours.of(person).nth(MEASURE - 1).expect("more neighbours than that");
    square.sqrt() + 1e-9
}

fn tie(square: f32, one: f32, other: f32) -> f32 {
    (-square / (one * other)).exp()
}

/// D^-1/2·A·D^-1/2, row by row.
fn ties(neighbours: &Neighbours, measure: &[f32]) -> Result<SparseRows, RepresentError> {
    let people = measure.len();
    // Everybody's ties in both directions: a tie is the same from either end, so that a pair may stand twice and is kept once.
    let mut ties: Vec<Vec<(u32, f32)>> = vec![Vec::with_capacity(2 * NEIGHBOURS); people];
    for person in 0..people {
        for (who, square) in neighbours.of(person) {
            let weight = tie(square, measure[person], measure[who]);
            ties[person].push((who as u32, weight));
            ties[who].push((person as u32, weight));
        }
    }
    ties.par_iter_mut().for_each(|ties| {
        ties.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        ties.dedup_by_key(|tie| tie.0);
    });
    let sum = |ties: &Vec<(u32, f32)>| ties.iter().map(|tie| tie.1).sum::<f32>();
    let root: Vec<f32> = ties.iter().map(|ties| sum(ties).max(f32::MIN_POSITIVE).sqrt()).collect();
    let mut out = SparseRows::new(people);
    for (person, ties) in ties.iter().enumerate() {
        out.push(ties.iter().map(|&(who, weight)| (who, weight / (root[person] * root[who as usize]))))?;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two clouds far apart.
    fn clouds(people: usize) -> Matrix {
        Matrix::from_fn(people, 3, |i, j| (i % 2) as f32 * 50.0 + ((i * 3 + j) as f32 * 1.3).sin())
    }

    #[test]
    fn two_clouds_are_told_apart_by_the_first_two_functions() {
        let basis = GraphBasis::new(&clouds(200), 4).unwrap();
        // The first two span what is constant (times √D) on each cloud: rows of one cloud point the same way, those of both are orthogonal
        let direction = |i: usize| {
            let row = &basis.vectors.row(i)[..2];
            let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt();
            [row[0] / norm, row[1] / norm]
        };
        let cosine =
            |i: usize, j: usize| -> f32 { direction(i).iter().zip(direction(j)).map(|(a, b)| a * b).sum() };
        for i in 2..200 {
            let (same, other) = (cosine(i, i % 2), cosine(i, 1 - i % 2));
            assert!((same - 1.0).abs() < 1e-2 && other.abs() < 1e-2, "{i}: {same} {other}");
        }
    }

    #[test]
    fn the_ties_are_symmetric_and_their_greatest_eigenvalue_is_one() {
        let people = clouds(60);
        let neighbours = Neighbours::find(&people, &people, NEIGHBOURS, true).unwrap();
        let measure: Vec<f32> = (0..60).map(|person| measure(&neighbours, person)).collect();
        let ties = ties(&neighbours, &measure).unwrap();
        let whole = ties.times(&Matrix::from_fn(60, 60, |i, j| f32::from(u8::from(i == j))));
        for i in 0..60 {
            for j in 0..60 {
                assert!((whole.row(i)[j] - whole.row(j)[i]).abs() < 1e-6);
            }
        }
        let found = leading(60, 2, -1.0, |v| ties.times(v)).unwrap();
        assert!((found.values[0] - 1.0).abs() < 1e-4, "{:?}", found.values);
    }

    #[test]
    fn votes_of_each_add_to_one_and_the_nearest_counts_most() {
        let people = clouds(100);
        let basis = GraphBasis::new(&people, 4).unwrap();
        let far = Matrix::new(3, vec![0.1, 0.2, 0.3, 1e6, 0.0, 0.0]).unwrap();
        let neighbours = Neighbours::find(&far, &people, NEIGHBOURS, false).unwrap();
        let votes = GraphBasis::votes_by(basis.measure(), &neighbours);
        for votes in votes.chunks_exact(NEIGHBOURS) {
            assert!((votes.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{votes:?}");
        }
        assert!(votes[0] >= votes[NEIGHBOURS - 1]);
    }
}
