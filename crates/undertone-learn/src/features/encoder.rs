//! What public columns become: one fixed rule for each, part of the model.

use super::category::Category;
use super::fit::number_as_level;
use super::number::Number;
use super::text::Text;
use super::vector::Vector;
use super::{Batch, Column, Rows, check};
use crate::LearnError;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use undertone_report::{CategoryWords, ColumnKind, EncodingWords, FeatureColumn, TextWords};

/// Turns cells into features, in the way that an [`EncoderFit`](super::EncoderFit) has decided.
///
/// Features are numbered as in [`Rows`]: the dense ones of all columns in order, then the sparse ones of all columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<ColumnEncoder>", into = "Vec<ColumnEncoder>")]
pub struct Encoder {
    columns: Vec<FeatureColumn>,
    encodings: Vec<Encoding>,
    dense_width: usize,
    sparse_width: usize,
}

/// A column and its rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ColumnEncoder {
    pub(super) column: FeatureColumn,
    pub(super) encoding: Encoding,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Encoding {
    Number(Number),
    Category(Category),
    Text(Text),
    Vector(Vector),
}

impl Encoder {
    pub(super) fn new(columns: Vec<ColumnEncoder>) -> Result<Self, LearnError> {
        columns.iter().try_for_each(ColumnEncoder::check)?;
        let width = |dense: bool| {
            let of_sort = columns.iter().filter(|column| column.encoding.is_dense() == dense);
            of_sort.map(|column| column.encoding.width()).sum()
        };
        let (dense_width, sparse_width) = (width(true), width(false));
        if u32::try_from(sparse_width).is_err() {
            let expected = "below 2^32";
            let what = "the number of sparse features";
            return Err(LearnError::Parameter { what, value: sparse_width as f64, expected });
        }
        let (columns, encodings) = columns.into_iter().map(|fitted| (fitted.column, fitted.encoding)).unzip();
        Ok(Self { columns, encodings, dense_width, sparse_width })
    }

    /// The encoder that a task's words describe, one for each column.
    ///
    /// With the [`words`](Self::words) of an encoder that was fitted, it is that encoder, except that texts have no
    /// fitted idf: each of their words counts alike.
    pub fn from_words(columns: &[FeatureColumn], words: &[EncodingWords]) -> Result<Self, LearnError> {
        if columns.len() != words.len() {
            return Err(LearnError::Columns { found: words.len(), expected: columns.len() });
        }
        let column = |(column, words): (&FeatureColumn, &EncodingWords)| {
            words.check(column.kind).map_err(|problem| LearnError::Column {
                column: column.name.clone(),
                problem: format!("its encoding {problem}"),
            })?;
            Ok(ColumnEncoder { column: column.clone(), encoding: Encoding::from_words(column.kind, words) })
        };
        Self::new(columns.iter().zip(words).map(column).collect::<Result<_, LearnError>>()?)
    }

    /// What a task has to say for its reports to be encoded in this way, column by column.
    pub fn words(&self) -> Vec<EncodingWords> {
        self.encodings.iter().map(Encoding::words).collect()
    }

    /// The columns that are encoded, in the order in which [`encode`](Self::encode) expects them.
    pub fn columns(&self) -> &[FeatureColumn] {
        &self.columns
    }

    /// The pixels of the image that a row is, if all there is is one vector that may be an image.
    pub fn pixels(&self) -> Option<usize> {
        match &self.encodings[..] {
            [Encoding::Vector(vector)] if !vector.is_plain() => Some(vector.width()),
            _ => None,
        }
    }

    /// The number of features.
    pub fn width(&self) -> usize {
        self.dense_width + self.sparse_width
    }

    /// No rows yet, of the right widths.
    pub fn rows(&self) -> Rows {
        Rows::new(self.dense_width, self.sparse_width)
    }

    /// A name for each feature.
    pub fn feature_names(&self) -> Vec<String> {
        let of_sort = |dense: bool| {
            let columns = self.columns.iter().zip(&self.encodings);
            let columns = columns.filter(move |(_, encoding)| encoding.is_dense() == dense);
            columns.flat_map(|(column, encoding)| encoding.names(&column.name))
        };
        of_sort(true).chain(of_sort(false)).collect()
    }

    /// The features of each column that is a category, column by column; nothing of the others.
    pub fn categories(&self) -> Vec<Option<Range<usize>>> {
        let (mut dense, mut sparse) = (0, self.dense_width);
        let features = |encoding: &Encoding| {
            let next = if encoding.is_dense() { &mut dense } else { &mut sparse };
            let range = *next..*next + encoding.width();
            *next = range.end;
            matches!(encoding, Encoding::Category(_)).then_some(range)
        };
        self.encodings.iter().map(features).collect()
    }

    /// The feature that each covariate of a device is, given the words of which this encoder was made: a device takes the
    /// values of a category in the order of the words, and features are in the order of their names.
    pub(crate) fn covariate_features(&self, words: &[EncodingWords]) -> Result<Vec<usize>, LearnError> {
        if words.len() != self.encodings.len() {
            return Err(LearnError::Columns { found: words.len(), expected: self.encodings.len() });
        }
        let (mut dense, mut sparse, mut features) = (0, self.dense_width, Vec::new());
        for (encoding, words) in self.encodings.iter().zip(words) {
            let next = if encoding.is_dense() { &mut dense } else { &mut sparse };
            let first = *next;
            *next += encoding.width();
            let known = match (encoding, words) {
                (
                    Encoding::Category(category),
                    EncodingWords::Category(CategoryWords::Values { values, .. }),
                ) => {
                    features.extend(
                        values.iter().filter_map(|value| Some(first + category.feature(Some(value))?)),
                    );
                    values.len()
                }
                _ => 0,
            };
            features.extend(first + known..*next);
        }
        Ok(features)
    }

    /// Whether a table with these columns can be encoded; it may have others too.
    pub fn check_columns(&self, available: &[FeatureColumn]) -> Result<(), LearnError> {
        for asked in &self.columns {
            let found = available.iter().find(|column| column.name == asked.name);
            let found = found.ok_or_else(|| LearnError::MissingColumn { column: asked.name.clone() })?;
            if found.kind != asked.kind {
                return Err(check::kind_differs(asked, found.kind));
            }
        }
        Ok(())
    }

    /// Appends the features of each row of `batch`, which has the columns of [`columns`](Self::columns) in order.
    ///
    /// After an error `rows` is as it was. The row that an error names is counted from one, within the batch.
    pub fn encode(&self, batch: &Batch, rows: &mut Rows) -> Result<(), LearnError> {
        check::batch(batch, self.columns.iter(), 0)?;
        assert_eq!(
            (rows.dense_width(), rows.sparse_width()),
            (self.dense_width, self.sparse_width),
            "rows of ours"
        );
        let mut scratch = Scratch::default();
        for row in 0..batch.rows {
            rows.push_with(|dense, sparse| {
                let mut draft = Draft { dense, sparse, first: 0 };
                for (encoding, column) in self.encodings.iter().zip(&batch.columns) {
                    encoding.write(column, row, &mut scratch, &mut draft);
                }
            });
        }
        Ok(())
    }
}

/// Memory that is used again for every cell.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    pub(super) terms: Vec<(u32, f32)>,
    pub(super) level: String,
}

/// A row in the making, as far as the columns before this one go.
struct Draft<'a> {
    dense: &'a mut Vec<f32>,
    sparse: &'a mut Vec<(u32, f32)>,
    /// The first sparse feature that belongs to none of them
    first: u32,
}

impl Draft<'_> {
    /// A one at that feature of a category, zeros elsewhere.
    fn mark(&mut self, category: &Category, feature: Option<usize>) {
        if category.is_dense() {
            let start = self.dense.len();
            self.dense.resize(start + category.width(), 0.0);
            if let Some(feature) = feature {
                self.dense[start + feature] = 1.0;
            }
        } else {
            self.sparse.extend(feature.map(|feature| (self.first + feature as u32, 1.0)));
        }
    }
}

impl ColumnEncoder {
    /// Refuses what no fit has decided: an encoder may come from a file.
    fn check(&self) -> Result<(), LearnError> {
        let (problem, fits) = match (&self.encoding, self.column.kind) {
            (Encoding::Number(number), kind) => (number.problem(), kind == ColumnKind::Number),
            (Encoding::Category(category), kind) => {
                (category.problem(), matches!(kind, ColumnKind::Number | ColumnKind::Words))
            }
            (Encoding::Text(text), kind) => (text.problem(), kind == ColumnKind::Words),
            (Encoding::Vector(vector), kind) => {
                (vector.problem(), kind == ColumnKind::Vector(vector.width() as u32))
            }
        };
        match problem.or((!fits).then_some("its encoding is for another kind of cells")) {
            None => Ok(()),
            Some(problem) => {
                Err(LearnError::Column { column: self.column.name.clone(), problem: problem.into() })
            }
        }
    }
}

impl Encoding {
    fn from_words(kind: ColumnKind, words: &EncodingWords) -> Self {
        match (words, kind) {
            (EncodingWords::Number(stretch), _) => Self::Number(Number::from_words(*stretch)),
            (EncodingWords::Category(category), _) => Self::Category(Category::from_words(category)),
            (EncodingWords::Text(TextWords { buckets }), _) => Self::Text(Text::new(*buckets)),
            (EncodingWords::Vector(stretch), ColumnKind::Vector(width)) => {
                Self::Vector(Vector::from_words(width, *stretch))
            }
            (EncodingWords::Vector(_), _) => unreachable!("the kinds were compared"),
        }
    }

    fn words(&self) -> EncodingWords {
        match self {
            Self::Number(number) => EncodingWords::Number(number.words()),
            Self::Category(category) => EncodingWords::Category(category.words()),
            Self::Text(text) => EncodingWords::Text(TextWords { buckets: text.width() as u32 }),
            Self::Vector(vector) => EncodingWords::Vector(vector.words()),
        }
    }

    fn write(&self, column: &Column, row: usize, scratch: &mut Scratch, draft: &mut Draft<'_>) {
        match (self, column) {
            (Self::Number(number), Column::Numbers(cells)) => number.write(cells[row], draft.dense),
            (Self::Category(category), Column::Numbers(cells)) => {
                draft.mark(category, category.feature(number_as_level(cells[row], &mut scratch.level)));
            }
            (Self::Category(category), Column::Words(words)) => {
                draft.mark(category, category.feature(words.get(row)));
            }
            (Self::Text(text), Column::Words(words)) => {
                let cell = words.get(row).unwrap_or_default();
                text.write(cell, draft.first, &mut scratch.terms, draft.sparse);
            }
            (Self::Vector(vector), Column::Vectors { width, values }) => {
                vector.write(&values[row * width..(row + 1) * width], draft.dense);
            }
            _ => unreachable!("the kinds were compared"),
        }
        if !self.is_dense() {
            draft.first += self.width() as u32;
        }
    }

    fn names(&self, column: &str) -> Vec<String> {
        match self {
            Self::Number(number) => number.names(column),
            Self::Category(category) => category.names(column),
            Self::Text(text) => text.names(column),
            Self::Vector(vector) => vector.names(column),
        }
    }

    fn width(&self) -> usize {
        match self {
            Self::Number(number) => number.width(),
            Self::Category(category) => category.width(),
            Self::Text(text) => text.width(),
            Self::Vector(vector) => vector.width(),
        }
    }

    fn is_dense(&self) -> bool {
        match self {
            Self::Number(_) | Self::Vector(_) => true,
            Self::Category(category) => category.is_dense(),
            Self::Text(_) => false,
        }
    }
}

impl TryFrom<Vec<ColumnEncoder>> for Encoder {
    type Error = LearnError;

    fn try_from(columns: Vec<ColumnEncoder>) -> Result<Self, LearnError> {
        Self::new(columns)
    }
}

impl From<Encoder> for Vec<ColumnEncoder> {
    fn from(encoder: Encoder) -> Self {
        let columns = encoder.columns.into_iter().zip(encoder.encodings);
        columns.map(|(column, encoding)| ColumnEncoder { column, encoding }).collect()
    }
}
