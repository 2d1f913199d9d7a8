//! Features and reports side by side, as often as a learner wants to see them.

use crate::LearnError;
use crate::features::Rows;
use crate::labels::LabelVectors;

/// Some people: their public features and what their reports say. All three have the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Examples {
    /// Public features
    pub rows: Rows,
    /// a(S) with E\[a | y\] = e_y
    pub unbiased: LabelVectors,
    /// P(S | ·) up to a factor
    pub likelihood: LabelVectors,
}

/// Blocks of examples in a fixed order, from memory or from a file that is read again for each pass.
pub trait Source {
    /// Shows every block to `visit`, in order.
    fn pass(&mut self, visit: &mut dyn FnMut(&Examples) -> Result<(), LearnError>) -> Result<(), LearnError>;
}

impl Source for Vec<Examples> {
    fn pass(&mut self, visit: &mut dyn FnMut(&Examples) -> Result<(), LearnError>) -> Result<(), LearnError> {
        self.iter().try_for_each(visit)
    }
}

impl Examples {
    /// Nobody yet; `rows` is empty and says how wide the features are.
    pub fn new(rows: Rows) -> Self {
        Self { rows, ..Self::default() }
    }

    /// Forgets everybody and keeps the memory.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.unbiased.clear();
        self.likelihood.clear();
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.rows.bytes() + self.unbiased.bytes() + self.likelihood.bytes()
    }

    /// How many people.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is nobody.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// People whose labels are known: what learners see where nothing was randomized.
    pub fn certain(rows: Rows, labels: impl IntoIterator<Item = u32>) -> Self {
        let unbiased = LabelVectors::certain(labels);
        Self { rows, likelihood: unbiased.clone(), unbiased }
    }

    /// Leaves nobody, and room for people like those of `other`.
    pub(crate) fn clear_like(&mut self, other: &Self) {
        if (self.rows.dense_width(), self.rows.sparse_width())
            == (other.rows.dense_width(), other.rows.sparse_width())
        {
            self.clear();
        } else {
            *self = Self::new(Rows::new(other.rows.dense_width(), other.rows.sparse_width()));
        }
    }

    /// One more person: the one of `row` of `other`.
    pub(crate) fn push_from(&mut self, other: &Self, row: usize) {
        self.rows.push(other.rows.get(row));
        for (into, from) in [(&mut self.unbiased, &other.unbiased), (&mut self.likelihood, &other.likelihood)]
        {
            let vector = from.get(row);
            into.push(vector.base, vector.entries.iter().copied());
        }
    }
}
