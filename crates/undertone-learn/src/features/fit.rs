//! Looks at public columns, one batch after the other, and decides how to encode them.
//!
//! What is kept of a column does not grow with the number of rows: moments for numbers, counts of levels up to a limit
//! and hits of buckets for words, the largest value for vectors. No label is looked at, so fitting costs no privacy.

use super::category::LevelCounts;
use super::encoder::{ColumnEncoder, Encoding, Scratch};
use super::number::NumberFit;
use super::text::Text;
use super::vector::VectorFit;
use super::{Batch, Column, Encoder, EncoderOptions, Treatment, Words, check};
use crate::LearnError;
use std::fmt::Write;
use undertone_report::{ColumnKind, FeatureColumn};

/// A column of words with at most so many different cells is a category, unless nearly every row has its own.
const FEW: usize = 1000;
/// Texts have more words than this, on average.
const WORDS_OF_A_CATEGORY: u64 = 2;

/// An encoder in the making.
#[derive(Clone, Debug)]
pub struct EncoderFit {
    columns: Vec<(FeatureColumn, ColumnFit)>,
    options: EncoderOptions,
    rows: u64,
    scratch: Scratch,
}

#[derive(Clone, Debug)]
enum ColumnFit {
    Number(NumberFit),
    Category(LevelCounts),
    Text(Text),
    /// A category or a text: it will show
    Words(Box<WordsFit>),
    Vector(VectorFit),
    Skip,
}

#[derive(Clone, Debug)]
struct WordsFit {
    levels: LevelCounts,
    text: Text,
    cells: u64,
    words: u64,
}

impl EncoderFit {
    /// Nothing seen yet. Batches will have these columns, in this order.
    pub fn new(columns: &[FeatureColumn], options: EncoderOptions) -> Result<Self, LearnError> {
        if options.buckets == 0 {
            let expected = "at least one";
            return Err(LearnError::Parameter { what: "the number of buckets", value: 0.0, expected });
        }
        for said in &options.overrides {
            if columns.iter().all(|column| column.name != said.column) {
                return Err(LearnError::MissingColumn { column: said.column.clone() });
            }
        }
        let fit = |column: &FeatureColumn| Ok((column.clone(), ColumnFit::new(column, &options)?));
        let columns = columns.iter().map(fit).collect::<Result<_, LearnError>>()?;
        Ok(Self { columns, options, rows: 0, scratch: Scratch::default() })
    }

    /// Looks at some rows.
    pub fn observe(&mut self, batch: &Batch) -> Result<(), LearnError> {
        check::batch(batch, self.columns.iter().map(|(column, _)| column), self.rows)?;
        for ((_, fit), column) in self.columns.iter_mut().zip(&batch.columns) {
            fit.observe(column, &mut self.scratch);
        }
        self.rows += batch.rows as u64;
        Ok(())
    }

    /// Decides. The encoder knows nothing of columns that are skipped.
    pub fn finish(self) -> Result<Encoder, LearnError> {
        let options = self.options;
        let fitted = self.columns.into_iter().filter_map(|(column, fit)| {
            let encoding = fit.finish(&options)?;
            Some(ColumnEncoder { column, encoding })
        });
        Encoder::new(fitted.collect())
    }
}

impl ColumnFit {
    fn new(column: &FeatureColumn, options: &EncoderOptions) -> Result<Self, LearnError> {
        let treatment = options.treatment(&column.name);
        Ok(match (column.kind, treatment) {
            (_, Some(Treatment::Skip)) => Self::Skip,
            (ColumnKind::Number, None | Some(Treatment::Number)) => Self::Number(NumberFit::default()),
            (ColumnKind::Number | ColumnKind::Words, Some(Treatment::Category)) => {
                Self::Category(LevelCounts::default())
            }
            (ColumnKind::Words, Some(Treatment::Text)) => Self::Text(Text::new(options.buckets)),
            (ColumnKind::Words, None) => Self::Words(Box::new(WordsFit::new(options.buckets))),
            (ColumnKind::Vector(width), None | Some(Treatment::Number)) => {
                Self::Vector(VectorFit::new(width, treatment.is_some()))
            }
            (kind, Some(treatment)) => {
                let problem = format!("{kind} cannot be treated as {}", treatment.name());
                return Err(LearnError::Column { column: column.name.clone(), problem });
            }
        })
    }

    fn observe(&mut self, column: &Column, scratch: &mut Scratch) {
        match (self, column) {
            (Self::Number(fit), Column::Numbers(cells)) => cells.iter().for_each(|&x| fit.observe(x)),
            (Self::Category(levels), Column::Numbers(cells)) => {
                for &x in cells {
                    levels.observe(number_as_level(x, &mut scratch.level));
                }
            }
            (Self::Category(levels), Column::Words(words)) => {
                words.iter().for_each(|cell| levels.observe(cell));
            }
            (Self::Text(text), Column::Words(words)) => {
                words.iter().flatten().for_each(|cell| text.observe(cell, &mut scratch.terms));
            }
            (Self::Words(fit), Column::Words(words)) => fit.observe(words, scratch),
            (Self::Vector(fit), Column::Vectors { values, .. }) => fit.observe(values),
            (Self::Skip, _) => {}
            _ => unreachable!("the kinds were compared"),
        }
    }

    fn finish(self, options: &EncoderOptions) -> Option<Encoding> {
        let category = |levels: LevelCounts| levels.finish(options.least_level_count, options.buckets);
        Some(match self {
            Self::Number(fit) => Encoding::Number(fit.finish()),
            Self::Category(levels) => Encoding::Category(category(levels)),
            Self::Text(text) => Encoding::Text(text),
            Self::Words(fit) if fit.is_text() => Encoding::Text(fit.text),
            Self::Words(fit) => Encoding::Category(category(fit.levels)),
            Self::Vector(fit) => Encoding::Vector(fit.finish()),
            Self::Skip => return None,
        })
    }
}

impl WordsFit {
    fn new(buckets: u32) -> Self {
        Self { levels: LevelCounts::default(), text: Text::new(buckets), cells: 0, words: 0 }
    }

    fn observe(&mut self, words: &Words, scratch: &mut Scratch) {
        for cell in words.iter() {
            self.levels.observe(cell);
            if let Some(cell) = cell {
                self.text.observe(cell, &mut scratch.terms);
                self.cells += 1;
                self.words += cell.split_whitespace().count() as u64;
            }
        }
    }

    /// Cells of several words, most of which stand in one row only or of which there are very many.
    fn is_text(&self) -> bool {
        let wordy = self.words > WORDS_OF_A_CATEGORY * self.cells;
        let many = |distinct: usize| distinct > FEW || 2 * distinct as u64 > self.cells;
        wordy && self.levels.distinct().is_none_or(many)
    }
}

/// The level of a number that is a name rather than an amount: its shortest decimal form.
pub(super) fn number_as_level(x: f64, level: &mut String) -> Option<&str> {
    level.clear();
    // Writing to a string does not fail; adding zero takes the sign from a negative zero.
    let _ = write!(level, "{}", x + 0.0);
    (!x.is_nan()).then_some(level)
}
