//! Who is taken for whom.
//!
//! Cell (j, k), the share of people of class j who are predicted k, is the mean of a_j·1{ŷ = k}. What is predicted is
//! public, so the share of a prediction is exact and precision is a mean over the people predicted k; recall divides
//! two estimates, R = x̄/z̄ with x = a_k·1{ŷ = k} and z = a_k, and has the standard error of its linear part:
//!
//! > se² = (1/n)·(1/(n-1))·Σ (x - R·z)² / z̄²

use super::figure::{Figure, of_sums};
use crate::labels::LabelVector;

/// Σa and Σa² of every class, over some people.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ClassSums {
    people: u64,
    /// Σ of the bases and of their squares, which every class shares
    base: [f64; 2],
    /// What the entries add to it
    over_base: Vec<[f64; 2]>,
}

impl ClassSums {
    pub(super) fn new(classes: usize) -> Self {
        Self { people: 0, base: [0.0; 2], over_base: vec![[0.0; 2]; classes] }
    }

    pub(super) fn add(&mut self, a: LabelVector<'_>) {
        let base = f64::from(a.base);
        self.people += 1;
        self.base[0] += base;
        self.base[1] += base * base;
        for &(k, value) in a.entries {
            let value = f64::from(value);
            let over = &mut self.over_base[k as usize];
            over[0] += value - base;
            over[1] += value * value - base * base;
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.people += other.people;
        let pairs = self.over_base.iter_mut().zip(&other.over_base);
        for (own, more) in pairs.chain([(&mut self.base, &other.base)]) {
            own[0] += more[0];
            own[1] += more[1];
        }
    }

    pub(super) fn people(&self) -> u64 {
        self.people
    }

    /// Σa_k and Σa_k².
    fn of(&self, class: usize) -> [f64; 2] {
        let [sum, squares] = self.over_base[class];
        [self.base[0] + sum, self.base[1] + squares]
    }

    /// The mean of a_k over `people`, to whom those not counted here contribute nothing.
    pub(super) fn mean(&self, class: usize, people: u64) -> Figure {
        let [sum, squares] = self.of(class);
        of_sums(sum, squares, people as f64)
    }
}

/// The part of class k among whom prediction k found: `found` counts the people predicted k, `all` everybody.
///
/// None where it cannot be told whether anybody is of class k: where Σz is within two standard errors of zero, unless it is a
/// plain count.
pub(super) fn recall(found: &ClassSums, all: &ClassSums, class: usize) -> Option<Figure> {
    let ([x, xx], [z, zz], n) = (found.of(class), all.of(class), all.people as f64);
    // Where nothing was randomized every a_k is zero or one.
    let counted = (zz - z).abs() <= 1e-9 * z;
    if z <= 0.0 || !(counted || z > 2.0 * n * of_sums(z, zz, n).standard_error) {
        return None;
    }
    let ratio = x / z;
    // Σ(x - R·z)², where x·z = x² since x is z or nothing; its mean is zero
    let residual = of_sums(0.0, xx - 2.0 * ratio * xx + ratio * ratio * zz, n);
    Some(Figure { value: ratio, standard_error: residual.standard_error / (z / n) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::LabelVectors;

    #[test]
    fn sums_of_sparse_vectors_are_those_of_the_dense_ones() {
        let mut vectors = LabelVectors::new();
        vectors.push(-0.5, [(1, 2.0)]);
        vectors.push(-0.25, [(0, 1.5), (2, 1.0)]);
        let mut sums = ClassSums::new(3);
        vectors.iter().for_each(|vector| sums.add(vector));
        let expected = [[1.0, 0.25 + 2.25], [1.75, 4.0 + 0.0625], [0.5, 0.25 + 1.0]];
        for (k, expected) in expected.iter().enumerate() {
            for (found, expected) in sums.of(k).iter().zip(expected) {
                assert!((found - expected).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn two_of_three_found_is_a_recall_of_two_thirds() {
        let (mut found, mut all) = (ClassSums::new(2), ClassSums::new(2));
        let labels = LabelVectors::certain([1, 1, 1, 0, 0]);
        labels.iter().for_each(|a| all.add(a));
        labels.iter().take(2).for_each(|a| found.add(a));
        let recall = recall(&found, &all, 1).unwrap();
        assert!((recall.value - 2.0 / 3.0).abs() < 1e-12);
        // Σ(x - R·z)² = 2·(1/3)² + (2/3)² = 2/3; n = 5, z̄ = 3/5
        assert!((recall.standard_error - (2.0 / 3.0 / 20.0f64).sqrt() / 0.6).abs() < 1e-12);
        assert_eq!(super::recall(&ClassSums::new(2), &ClassSums::new(2), 0), None);
    }

    #[test]
    fn there_is_no_recall_of_a_class_that_may_be_empty() {
        let (mut vectors, mut all) = (LabelVectors::new(), ClassSums::new(2));
        // Two who seem to be of the class and one who seems not to: 1.5 + 1.5 - 0.5, with a standard error of two
        vectors.push(-0.5, [(0, 1.5)]);
        vectors.push(-0.5, [(0, 1.5)]);
        vectors.push(-0.5, [(1, 1.5)]);
        vectors.iter().for_each(|a| all.add(a));
        assert_eq!(recall(&all, &all, 0), None);
        (0..30).for_each(|_| all.add(vectors.get(0)));
        assert!((recall(&all, &all, 0).unwrap().value - 1.0).abs() < 1e-12);
    }
}
