//! Where the features of private records lie, as it was said before anybody looked: `age=0..100`, `town=Ely|Bath`.
//!
//! Under full privacy neither the scale of a column nor its levels may come from the table, so that columns without a domain are
//! not looked at.

use crate::exit::Usage;
use crate::tables::TableFile;
use anyhow::{Context, bail, ensure};
use std::str::FromStr;
use undertone_learn::LearnError;
use undertone_learn::features::Encoder;
use undertone_learn::nonparametric::cells::{Axes, Side};
use undertone_report::{CategoryWords, ColumnKind, EncodingWords, FeatureColumn, Stretch};

/// No column has more levels than this, each of which is a feature.
const MOST_LEVELS: usize = 1000;

/// A column and where its cells lie.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Domain {
    name: String,
    cells: Cells,
}

#[derive(Clone, Debug, PartialEq)]
enum Cells {
    /// A number: beyond the ends counts as an end, and an empty cell as the middle
    Range(f64, f64),
    /// One of these words: any other, and an empty cell, is none of them
    Levels(Vec<String>),
}

impl Domain {
    /// The column.
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

impl FromStr for Domain {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        const SHAPES: &str = "a domain is NAME=LOW..HIGH for a number or NAME=WORD|WORD for words";
        let (name, cells) = text.split_once('=').context(SHAPES)?;
        ensure!(!name.is_empty() && !cells.is_empty(), SHAPES);
        let cells = match cells.split_once("..") {
            Some((low, high)) => {
                let [low, high] = [low, high].map(|end| end.trim().parse::<f64>());
                let (low, high) = (low.context(SHAPES)?, high.context(SHAPES)?);
                ensure!(
                    low.is_finite() && high.is_finite() && low < high,
                    "`{name}` goes from {low} to {high}, which have to be finite, the lower one first"
                );
                Cells::Range(low, high)
            }
            None => Cells::Levels(levels(name, cells)?),
        };
        Ok(Self { name: name.to_owned(), cells })
    }
}

fn levels(name: &str, cells: &str) -> anyhow::Result<Vec<String>> {
    let levels: Vec<String> = cells.split('|').map(|level| level.trim().to_owned()).collect();
    if levels.len() > MOST_LEVELS {
        bail!("`{name}` has {} levels, at most {MOST_LEVELS} are possible", levels.len());
    }
    let repeated = levels.iter().enumerate().find(|(place, level)| levels[..*place].contains(level));
    match repeated {
        Some((_, level)) => bail!("`{name}` names `{level}` twice"),
        None => Ok(levels),
    }
}

/// Refuses what is no column of the table.
pub(super) fn check_columns<'a>(
    names: impl IntoIterator<Item = &'a str>,
    table: &TableFile,
) -> Result<(), Usage> {
    let known: Vec<&str> = table.schema().fields().iter().map(|field| field.name().as_str()).collect();
    match names.into_iter().find(|name| !known.contains(name)) {
        Some(name) => Err(Usage::new(format!(
            "--domain {name}: {} has no such column, but {}",
            table.path().display(),
            known.join(", ")
        ))),
        None => Ok(()),
    }
}

/// The columns, in order.
pub(super) fn columns(domain: &[Domain]) -> Vec<FeatureColumn> {
    let column = |of: &Domain| FeatureColumn {
        name: of.name.clone(),
        kind: match of.cells {
            Cells::Range(..) => ColumnKind::Number,
            Cells::Levels(_) => ColumnKind::Words,
        },
    };
    domain.iter().map(column).collect()
}

/// How they become features: a number goes from -1 to 1, and each level is zero or one.
pub(super) fn encoder(domain: &[Domain]) -> Result<Encoder, LearnError> {
    let words = |of: &Domain| match &of.cells {
        &Cells::Range(low, high) => EncodingWords::Number(Stretch::Range { low, high, missing: false }),
        Cells::Levels(levels) => EncodingWords::Category(CategoryWords::Values {
            values: levels.clone(),
            other: false,
            missing: false,
        }),
    };
    Encoder::from_words(&columns(domain), &domain.iter().map(words).collect::<Vec<_>>())
}

/// The axes of those features, one for each column.
pub(super) fn axes(domain: &[Domain]) -> Result<Axes, LearnError> {
    let side = |of: &Domain| match &of.cells {
        Cells::Range(..) => Side::Range(-1.0, 1.0),
        Cells::Levels(levels) => Side::Levels(levels.len() as u32),
    };
    Axes::of_domain(&domain.iter().map(side).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn domain(text: &str) -> Domain {
        text.parse().unwrap()
    }

    #[test]
    fn columns_have_one_axis_each_and_words_a_feature_for_each_level() {
        let domain = ["age=0..100", "town=Ely|Bath|York", "x=-1.5..2e3"].map(domain);
        assert_eq!(encoder(&domain).unwrap().width(), 5);
        assert_eq!(axes(&domain).unwrap().axes().len(), 3);
        assert_eq!(axes(&domain).unwrap().dimension(), 2);
        assert_eq!(columns(&domain)[1].kind, ColumnKind::Words);
    }

    #[test]
    fn what_is_no_domain_is_refused() {
        for text in ["age", "age=", "=0..1", "age=1..0", "age=0..inf", "age=a..b", "town=Ely|Ely", "age=1..1"]
        {
            assert!(text.parse::<Domain>().is_err(), "{text}");
        }
        let many: Vec<String> = (0..1001).map(|level| format!("l{level}")).collect();
        assert!(format!("town={}", many.join("|")).parse::<Domain>().is_err());
    }
}
