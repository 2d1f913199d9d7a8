//! Rows of features: a dense part, and a sparse part for what is mostly zero.
//!
//! Features are numbered through: first the dense ones, then the sparse ones.

/// Encoded rows, one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    dense_width: usize,
    sparse_width: usize,
    count: usize,
    dense: Vec<f32>,
    /// (feature, value), features counted from the first sparse one
    sparse: Vec<(u32, f32)>,
    /// Where each row's sparse part ends; empty without sparse features
    ends: Vec<usize>,
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<'a> {
    /// The dense features
    pub dense: &'a [f32],
    /// The sparse ones that are not zero, counted from the first sparse one
    pub sparse: &'a [(u32, f32)],
}

impl Row<'_> {
    /// |(x, 1)|: with the constant one of the intercept.
    pub fn norm(&self) -> f64 {
        let dense = self.dense.iter().map(|x| x * x).sum::<f32>();
        let sparse = self.sparse.iter().map(|(_, x)| x * x).sum::<f32>();
        f64::from(dense + sparse + 1.0).sqrt()
    }

    /// Whether no feature is infinite or not a number.
    pub fn is_finite(&self) -> bool {
        self.dense.iter().all(|x| x.is_finite()) && self.sparse.iter().all(|(_, x)| x.is_finite())
    }
}

impl Rows {
    /// The largest [norm](Row::norm) of a row, or one if there is none.
    pub fn longest(&self) -> f64 {
        self.iter().map(|row| row.norm()).fold(1.0, f64::max)
    }

    /// No rows yet, of so many features of either sort.
    pub fn new(dense_width: usize, sparse_width: usize) -> Self {
        Self { dense_width, sparse_width, ..Self::default() }
    }

    /// Rows without a sparse part; `dense` has a whole number of them.
    pub fn dense(width: usize, dense: Vec<f32>) -> Self {
        let count = dense.len().checked_div(width).unwrap_or(0);
        assert_eq!(count * width, dense.len(), "whole rows");
        Self { dense_width: width, count, dense, ..Self::default() }
    }

    /// One more row, whose two parts are appended by `write`.
    pub fn push_with(&mut self, write: impl FnOnce(&mut Vec<f32>, &mut Vec<(u32, f32)>)) {
        write(&mut self.dense, &mut self.sparse);
        self.count += 1;
        assert_eq!(self.dense.len(), self.count * self.dense_width, "a row of the stated width");
        if self.sparse_width > 0 {
            self.ends.push(self.sparse.len());
        }
    }

    /// One more row, the same as this one.
    pub fn push(&mut self, row: Row<'_>) {
        self.push_with(|dense, sparse| {
            dense.extend_from_slice(row.dense);
            sparse.extend_from_slice(row.sparse);
        });
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Forgets the rows and keeps the memory.
    pub fn clear(&mut self) {
        self.count = 0;
        self.dense.clear();
        self.sparse.clear();
        self.ends.clear();
    }

    /// Takes every feature to within `limit` of zero.
    pub fn clamp(&mut self, limit: f32) {
        let sparse = self.sparse.iter_mut().map(|(_, x)| x);
        self.dense.iter_mut().chain(sparse).for_each(|x| *x = x.clamp(-limit, limit));
    }

    /// The number of dense features.
    pub fn dense_width(&self) -> usize {
        self.dense_width
    }

    /// The number of sparse features.
    pub fn sparse_width(&self) -> usize {
        self.sparse_width
    }

    /// All features.
    pub fn width(&self) -> usize {
        self.dense_width + self.sparse_width
    }

    /// The dense parts of the rows of `range`, one after the other.
    pub fn dense_block(&self, range: std::ops::Range<usize>) -> &[f32] {
        &self.dense[range.start * self.dense_width..range.end * self.dense_width]
    }

    /// Row `index`.
    pub fn get(&self, index: usize) -> Row<'_> {
        let dense = &self.dense[index * self.dense_width..(index + 1) * self.dense_width];
        let sparse = if self.ends.is_empty() {
            &[][..]
        } else {
            let start = if index == 0 { 0 } else { self.ends[index - 1] };
            &self.sparse[start..self.ends[index]]
        };
        Row { dense, sparse }
    }

    /// All rows, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        (0..self.count).map(|index| self.get(index))
    }

    /// Bytes in memory, to tell when a block is full.
    pub fn bytes(&self) -> usize {
        4 * self.dense.len() + 8 * self.sparse.len() + 8 * self.ends.len()
    }
}
