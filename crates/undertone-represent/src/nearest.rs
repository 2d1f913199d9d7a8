//! Who is nearest to whom, exactly, by looking at everybody a block at a time.
//!
//! |q - x|² = |q|² + |x|² - 2⟨q, x⟩, and the products of a block of people with a block of others are one product of matrices; in a
//! hundred dimensions that beats any tree.

use crate::matrix::multiply;
use crate::{Matrix, RepresentError};
use faer::{MatMut, MatRef, Par};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// People who ask together on a core.
const ASKING: usize = 128;
/// People who are looked at together.
const SEEN: usize = 2048;

/// The nearest of each person, from near to far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Neighbours {
    /// How many each has
    pub count: usize,
    /// Who they are, person after person
    pub who: Vec<u32>,
    /// |q - x|² for each
    pub square: Vec<f32>,
}

impl Neighbours {
    /// The `count` nearest among `others` of each of `people`; nobody is their own neighbour if `others` are the same people.
    pub fn find(people: &Matrix, others: &Matrix, count: usize, same: bool) -> Result<Self, RepresentError> {
        if others.rows() < count + usize::from(same) {
            let needed = format!("{count} neighbours each");
            return Err(RepresentError::TooFew { people: others.rows(), needed });
        }
        if people.columns() != others.columns() {
            return Err(RepresentError::Shape {
                what: "a person",
                unit: "coordinates",
                found: people.columns(),
                expected: others.columns(),
            });
        }
        let norms: Vec<f32> = others.values().chunks_exact(others.columns()).map(square).collect();
        let mut found = vec![(f32::INFINITY, 0u32); people.rows() * count];
        found
            .par_chunks_mut(ASKING * count)
            .zip(people.values().par_chunks(ASKING * people.columns()))
            .enumerate()
            .for_each(|(block, (found, asking))| {
                let own = |asker: usize| same.then_some(block * ASKING + asker);
                search((asking, found), (others, &norms), count, own);
            });
        let who = found.iter().map(|&(_, who)| who).collect();
        Ok(Self { count, who, square: found.into_iter().map(|(square, _)| square.max(0.0)).collect() })
    }

    /// Of one person.
    pub fn of(&self, person: usize) -> impl Iterator<Item = (usize, f32)> + '_ {
        let range = person * self.count..(person + 1) * self.count;
        self.who[range.clone()].iter().map(|&who| who as usize).zip(self.square[range].iter().copied())
    }

    /// How many have neighbours.
    pub fn people(&self) -> usize {
        self.who.len() / self.count
    }
}

fn square(x: &[f32]) -> f32 {
    x.iter().map(|x| x * x).sum()
}

/// The nearest of a few people, into `found`.
fn search(
    (asking, found): (&[f32], &mut [(f32, u32)]),
    (others, norms): (&Matrix, &[f32]),
    count: usize,
    own: impl Fn(usize) -> Option<usize>,
) {
    let width = others.columns();
    let askers = asking.len() / width;
    let asking_view = MatRef::from_row_major_slice(asking, askers, width);
    let mut products = vec![0.0f32; askers * SEEN];
    for start in (0..others.rows()).step_by(SEEN) {
        let end = (start + SEEN).min(others.rows());
        let seen = MatRef::from_row_major_slice(others.block(start..end), end - start, width);
        let products = &mut products[..askers * (end - start)];
        multiply(
            MatMut::from_row_major_slice_mut(products, askers, end - start),
            asking_view,
            seen.transpose(),
            Par::Seq,
        );
        for (asker, products) in products.chunks_exact(end - start).enumerate() {
            let nearest = &mut found[asker * count..][..count];
            let mut worst = nearest[count - 1].0;
            // |x|² - 2⟨q, x⟩ orders like the distance; |q|² is added at the end
            for (offset, (product, norm)) in products.iter().zip(&norms[start..end]).enumerate() {
                let far = norm - 2.0 * product;
                if far < worst && own(asker) != Some(start + offset) {
                    insert(nearest, (far, (start + offset) as u32));
                    worst = nearest[count - 1].0;
                }
            }
        }
    }
    for (asker, nearest) in found.chunks_exact_mut(count).enumerate() {
        let own = square(&asking[asker * width..][..width]);
        for (far, _) in nearest {
            *far += own;
        }
    }
}

/// Puts one more into a list from near to far, and drops the last.
fn insert(nearest: &mut [(f32, u32)], new: (f32, u32)) {
    let mut at = nearest.len() - 1;
    while at > 0 && nearest[at - 1].0 > new.0 {
        nearest[at] = nearest[at - 1];
        at -= 1;
    }
    nearest[at] = new;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_those_that_sorting_everybody_finds() {
        let people = Matrix::from_fn(ASKING + 9, 7, |i, j| ((i * 7 + j) as f32 * 1.7).sin());
        let others = Matrix::from_fn(SEEN + 31, 7, |i, j| ((i * 7 + j) as f32 * 0.9).cos());
        let found = Neighbours::find(&people, &others, 5, false).unwrap();
        for person in [0, 1, ASKING - 1, ASKING, ASKING + 8] {
            let far = |who: usize| -> f32 {
                people.row(person).iter().zip(others.row(who)).map(|(a, b)| (a - b) * (a - b)).sum()
            };
            let mut all: Vec<usize> = (0..others.rows()).collect();
            all.sort_by(|&a, &b| far(a).total_cmp(&far(b)));
            let named: Vec<_> = found.of(person).collect();
            assert_eq!(named.len(), 5);
            for ((who, square), expected) in named.iter().zip(&all) {
                assert!(
                    (far(*expected) - square).abs() < 1e-5 && (far(*who) - square).abs() < 1e-5,
                    "{person}"
                );
            }
        }
    }

    #[test]
    fn nobody_is_their_own_neighbour_and_too_few_are_refused() {
        let people = Matrix::from_fn(20, 2, |i, _| i as f32);
        let found = Neighbours::find(&people, &people, 2, true).unwrap();
        assert!((0..20).all(|i| found.of(i).all(|(who, _)| who != i)));
        assert_eq!(found.of(0).map(|(who, _)| who).collect::<Vec<_>>(), [1, 2]);
        assert!(matches!(
            Neighbours::find(&people, &people, 20, true),
            Err(RepresentError::TooFew { people: 20, .. })
        ));
        assert!(matches!(
            Neighbours::find(&Matrix::zeros(1, 3), &people, 2, false),
            Err(RepresentError::Shape { found: 3, expected: 2, .. })
        ));
    }
}
