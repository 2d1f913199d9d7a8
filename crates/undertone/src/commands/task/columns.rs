//! Columns of a private record, as people name them on the command line, with everything public about them.

use std::str::FromStr;
use undertone_report::{CategoryWords, EncodingWords};

/// A column with its mean and standard deviation, if they were given.
#[derive(Clone, Debug)]
pub(super) struct Scaled {
    pub(super) column: String,
    pub(super) constants: Option<(f64, f64)>,
}

/// A column with all its values.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub(super) column: String,
    pub(super) values: Vec<String>,
}

/// A column with its bounds.
#[derive(Clone, Debug)]
pub(super) struct Bounded {
    pub(super) column: String,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Listed {
    /// A level for each of these values.
    pub(super) fn encoding(values: Vec<String>) -> EncodingWords {
        EncodingWords::Category(CategoryWords::Values { values, other: false, missing: false })
    }
}

impl FromStr for Scaled {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((column, constants)) = text.rsplit_once('=') else {
            return Ok(Self { column: text.to_owned(), constants: None });
        };
        let wrong = || format!("`{text}` is not COLUMN=MEAN,SD with two numbers, the second above zero");
        let (mean, deviation) = constants.split_once(',').ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(wrong);
        let (mean, deviation) = (number(mean)?, number(deviation)?);
        if deviation > 0.0 {
            Ok(Self { column: column.to_owned(), constants: Some((mean, deviation)) })
        } else {
            Err(wrong())
        }
    }
}

impl FromStr for Listed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (column, values) =
            text.split_once('=').ok_or_else(|| format!("`{text}` is not COLUMN=VALUE,VALUE,…"))?;
        let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
        if values.len() < 2 {
            return Err(format!("`{column}` has one value, and a category has at least two"));
        }
        Ok(Self { column: column.to_owned(), values })
    }
}

impl FromStr for Bounded {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not COLUMN=LOW,HIGH with two numbers, the smaller first");
        let (column, bounds) = text.rsplit_once('=').ok_or_else(wrong)?;
        let (low, high) = bounds.split_once(',').ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(wrong);
        let (low, high) = (number(low)?, number(high)?);
        if low < high { Ok(Self { column: column.to_owned(), low, high }) } else { Err(wrong()) }
    }
}
