//! Public columns as they come out of a table, before they are numbers.

/// A few thousand rows of a table, column by column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// All of the same length
    pub columns: Vec<Column>,
    /// The number of rows
    pub rows: usize,
}

/// The cells of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Numbers; NaN where the cell is empty
    Numbers(Vec<f64>),
    /// Categories or texts
    Words(Words),
    /// As many numbers in each row, one row after the other
    Vectors {
        /// How many
        width: usize,
        /// rows × width of them
        values: Vec<f32>,
    },
}

/// A column of strings in one piece of memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    text: String,
    ends: Vec<usize>,
    missing: Vec<bool>,
}

impl Words {
    /// One more cell; `None` where it is empty.
    pub fn push(&mut self, cell: Option<&str>) {
        self.text.push_str(cell.unwrap_or_default());
        self.ends.push(self.text.len());
        self.missing.push(cell.is_none());
    }

    /// The number of cells.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The cell of a row.
    pub fn get(&self, row: usize) -> Option<&str> {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        (!self.missing[row]).then(|| &self.text[start..self.ends[row]])
    }

    /// The cells in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<&str>> {
        (0..self.len()).map(|row| self.get(row))
    }
}

impl<'a> FromIterator<Option<&'a str>> for Words {
    fn from_iter<I: IntoIterator<Item = Option<&'a str>>>(cells: I) -> Self {
        let mut words = Self::default();
        cells.into_iter().for_each(|cell| words.push(cell));
        words
    }
}
