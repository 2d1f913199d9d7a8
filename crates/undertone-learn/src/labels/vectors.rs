//! Sparse vectors over the classes, one for each report.

/// A vector over the K classes: `base` everywhere but at `entries`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelVector<'a> {
    /// The value at every class that has no entry
    pub base: f32,
    /// Classes, each once and in rising order, and their values
    pub entries: &'a [(u32, f32)],
}

impl LabelVector<'_> {
    /// Σ_k a_k over all `classes`, in 64 bits: both parts may be thousands, and what is left is one.
    pub fn sum(&self, classes: usize) -> f32 {
        let base = f64::from(self.base);
        let entries = self.entries.iter().map(|&(_, value)| f64::from(value) - base).sum::<f64>();
        (base * classes as f64 + entries) as f32
    }

    /// a_k.
    pub fn at(&self, class: u32) -> f32 {
        match self.entries.binary_search_by_key(&class, |&(label, _)| label) {
            Ok(place) => self.entries[place].1,
            Err(_) => self.base,
        }
    }

    /// Σ_k a_k·z_k, in 64 bits for the same reason.
    pub fn dot(&self, scores: &[f32]) -> f32 {
        let base = f64::from(self.base);
        let all = if self.base == 0.0 { 0.0 } else { scores.iter().copied().map(f64::from).sum::<f64>() };
        let entry = |&(k, value): &(u32, f32)| (f64::from(value) - base) * f64::from(scores[k as usize]);
        (base * all + self.entries.iter().map(entry).sum::<f64>()) as f32
    }

    /// Σ_k a_k², in 64 bits, as it is summed over many reports.
    pub fn square(&self, classes: usize) -> f64 {
        let base = f64::from(self.base).powi(2);
        let entries = self.entries.iter().map(|&(_, value)| f64::from(value).powi(2) - base).sum::<f64>();
        base * classes as f64 + entries
    }

    /// z_k -= a_k.
    pub fn subtract_from(&self, scores: &mut [f32]) {
        if self.base != 0.0 {
            for z in scores.iter_mut() {
                *z -= self.base;
            }
        }
        for &(k, value) in self.entries {
            scores[k as usize] -= value - self.base;
        }
    }
}

/// One [`LabelVector`] after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabelVectors {
    bases: Vec<f32>,
    entries: Vec<(u32, f32)>,
    ends: Vec<usize>,
}

impl LabelVectors {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// e_y for each of these labels: what learners see where nothing was randomized.
    pub fn certain(labels: impl IntoIterator<Item = u32>) -> Self {
        let mut vectors = Self::new();
        for label in labels {
            vectors.push(0.0, [(label, 1.0)]);
        }
        vectors
    }

    /// One more, with entries at classes in rising order.
    pub fn push(&mut self, base: f32, entries: impl IntoIterator<Item = (u32, f32)>) {
        self.bases.push(base);
        self.entries.extend(entries);
        self.ends.push(self.entries.len());
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Forgets all and keeps the memory.
    pub fn clear(&mut self) {
        self.bases.clear();
        self.entries.clear();
        self.ends.clear();
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        8 * self.entries.len() + 12 * self.ends.len()
    }

    /// The vector of report `row`.
    pub fn get(&self, row: usize) -> LabelVector<'_> {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        LabelVector { base: self.bases[row], entries: &self.entries[start..self.ends[row]] }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = LabelVector<'_>> {
        (0..self.len()).map(|row| self.get(row))
    }

    /// Those of the rows of `range`.
    pub fn slice(&self, range: std::ops::Range<usize>) -> impl ExactSizeIterator<Item = LabelVector<'_>> {
        range.map(|row| self.get(row))
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the floats that are compared are exact")]
mod tests {
    use super::*;

    #[test]
    fn a_sparse_vector_is_the_dense_one_that_it_stands_for() {
        let mut vectors = LabelVectors::certain([2]);
        vectors.push(-0.5, [(1, 2.0), (3, 1.0)]);
        let dense = [-0.5, 2.0, -0.5, 1.0];
        let vector = vectors.get(1);
        assert_eq!(vector.sum(4), dense.iter().sum::<f32>());
        assert_eq!([0, 1, 2, 3].map(|k| vector.at(k)), dense);
        let scores = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(vector.dot(&scores), -0.5 + 4.0 - 2.0 + 8.0);
        assert_eq!(vector.square(4), 0.25 + 4.0 + 0.25 + 1.0);
        let mut left = scores;
        vector.subtract_from(&mut left);
        assert_eq!(left, [1.5, 0.0, 4.5, 7.0]);
        assert_eq!(vectors.get(0).dot(&scores), 4.0);
    }

    #[test]
    fn reports_of_fixed_size_sum_to_one_however_many_classes_there_are() {
        use crate::labels::Channel;
        use undertone_privacy::Epsilon;
        use undertone_privacy::label::LabelKind;
        for (classes, epsilon) in [(10, 1.0), (150, 0.1), (1000, 0.5), (1000, 0.1), (20_000, 1.0)] {
            for kind in [LabelKind::Rr, LabelKind::Subset] {
                let mechanism = kind.mechanism(classes, Epsilon::new(epsilon).unwrap()).unwrap();
                let size = mechanism.set_size().unwrap();
                let mut vectors = LabelVectors::new();
                let members: Vec<u32> = (0..size).collect();
                Channel::of_mechanism(&mechanism).push_unbiased(&members, &[], &mut vectors).unwrap();
                let sum = vectors.get(0).sum(classes as usize);
                // each of the K values is within 2^-25 of itself
                assert!((sum - 1.0).abs() < 3e-3, "{kind}, K = {classes}, ε = {epsilon}: {sum}");
            }
        }
    }
}
