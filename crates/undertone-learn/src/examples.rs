//! Features and reports side by side, as often as a learner wants to see them.

use crate::LearnError;
use crate::features::Rows;
use crate::labels::LabelVectors;
use crate::numbers::NumberValues;

/// Some people: their public features and what their reports say, about classes or about numbers. Whatever is not empty has the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Examples {
    /// Public features
    pub rows: Rows,
    /// a(S) with E\[a | y\] = e_y
    pub unbiased: LabelVectors,
    /// P(S | ·) up to a factor
    pub likelihood: LabelVectors,
    /// z with E\[z | y\] = y, and its variance, where labels are numbers
    pub numbers: NumberValues,
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

/// One block.
impl Source for &Examples {
    fn pass(&mut self, visit: &mut dyn FnMut(&Examples) -> Result<(), LearnError>) -> Result<(), LearnError> {
        visit(self)
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
        self.numbers.clear();
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.rows.bytes() + self.unbiased.bytes() + self.likelihood.bytes() + self.numbers.bytes()
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
        Self { rows, likelihood: unbiased.clone(), unbiased, ..Self::default() }
    }

    /// People whose numbers are known.
    pub fn certain_numbers(rows: Rows, numbers: impl IntoIterator<Item = f64>) -> Self {
        Self { rows, numbers: NumberValues::certain(numbers), ..Self::default() }
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

    /// Those whose row is wanted.
    #[must_use]
    pub fn part(&self, wanted: impl Fn(usize) -> bool) -> Self {
        let mut part = Self::default();
        part.clear_like(self);
        (0..self.len()).filter(|&row| wanted(row)).for_each(|row| part.push_from(self, row));
        part
    }

    /// One more person: the one of `row` of `other`.
    pub(crate) fn push_from(&mut self, other: &Self, row: usize) {
        self.rows.push(other.rows.get(row));
        for (into, from) in [(&mut self.unbiased, &other.unbiased), (&mut self.likelihood, &other.likelihood)]
        {
            if from.is_empty() {
                continue;
            }
            let vector = from.get(row);
            into.push(vector.base, vector.entries.iter().copied());
        }
        if let Some(&value) = other.numbers.values().get(row) {
            self.numbers.push(value, other.numbers.variances()[row]);
        }
    }
}
