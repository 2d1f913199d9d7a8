//! How a public column becomes features, in the words of a document.
//!
//! Constants, so that an example can be encoded the moment it arrives, and the same by everyone. They have to come from
//! what is public: nobody's label may have been looked at.

use crate::{ColumnKind, maps};
use serde::{Deserialize, Serialize};

/// The most features that one column may be hashed into.
const MOST_BUCKETS: u32 = 1 << 24;

/// The rule for one column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EncodingWords {
    /// For numbers: moved and stretched
    Number(#[serde(deserialize_with = "maps::one")] Stretch),
    /// For numbers that are names, and for words: a feature for each value
    Category(#[serde(deserialize_with = "maps::one")] CategoryWords),
    /// For words: their words and pairs of words, hashed
    Text(#[serde(deserialize_with = "maps::one")] TextWords),
    /// For vectors: all numbers moved and stretched alike
    Vector(#[serde(deserialize_with = "maps::one")] Stretch),
}

/// A number moved and stretched.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "either mean and scale, or low and high, each a number, and missing = true if empty cells have a feature"
)]
pub enum Stretch {
    /// z = (x - mean)·scale
    Standard {
        /// What becomes zero
        mean: f64,
        /// One over what becomes one; zero for a column that says nothing
        scale: f64,
        /// Whether a feature marks empty cells
        #[serde(default, skip_serializing_if = "is_false")]
        missing: bool,
    },
    /// z from -1 at `low` to 1 at `high`
    Range {
        /// What becomes minus one
        low: f64,
        /// What becomes one
        high: f64,
        /// Whether a feature marks empty cells
        #[serde(default, skip_serializing_if = "is_false")]
        missing: bool,
    },
}

/// The values of a category.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "either values, a list of words, or buckets, a number; with values, other and missing may be true"
)]
pub enum CategoryWords {
    /// A feature for each of them
    Values {
        /// In any order
        values: Vec<String>,
        /// Whether there is a feature for any other value
        #[serde(default, skip_serializing_if = "is_false")]
        other: bool,
        /// Whether there is a feature for empty cells
        #[serde(default, skip_serializing_if = "is_false")]
        missing: bool,
    },
    /// A feature for each of so many hashes, and one for empty cells
    Hashed {
        /// How many
        buckets: u32,
    },
}

/// What there is to say about a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextWords {
    /// The number of features that its words are hashed into
    pub buckets: u32,
}

impl EncodingWords {
    /// What is wrong with it, for cells of this kind.
    pub fn check(&self, kind: ColumnKind) -> Result<(), String> {
        let fits = match self {
            Self::Number(_) => kind == ColumnKind::Number,
            Self::Category(_) => matches!(kind, ColumnKind::Number | ColumnKind::Words),
            Self::Text(_) => kind == ColumnKind::Words,
            Self::Vector(_) => matches!(kind, ColumnKind::Vector(_)),
        };
        if !fits {
            return Err(format!("is `{}`, which is for another kind of cells", self.name()));
        }
        match self {
            Self::Number(stretch) => stretch.check(),
            Self::Vector(stretch) => match stretch.missing() {
                true => Err("marks empty cells, of which a column of vectors has none".into()),
                false if stretch.mean_and_scale().1 == 0.0 => {
                    Err("has the scale 0, but a vector needs one above zero".into())
                }
                false => stretch.check(),
            },
            Self::Category(CategoryWords::Values { values, .. }) => distinct(values),
            Self::Category(CategoryWords::Hashed { buckets }) | Self::Text(TextWords { buckets }) => {
                check_buckets(*buckets)
            }
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Number(_) => "number",
            Self::Category(_) => "category",
            Self::Text(_) => "text",
            Self::Vector(_) => "vector",
        }
    }
}

impl Stretch {
    /// The mean and the scale of z = (x - mean)·scale.
    ///
    /// From -1 at low to 1 at high: mean = (low + high)/2, scale = 2/(high - low).
    pub fn mean_and_scale(self) -> (f64, f64) {
        match self {
            Self::Standard { mean, scale, .. } => (mean, scale),
            Self::Range { low, high, .. } => (low.midpoint(high), 1.0 / (0.5 * high - 0.5 * low)),
        }
    }

    /// Whether a feature marks empty cells.
    pub fn missing(self) -> bool {
        match self {
            Self::Standard { missing, .. } | Self::Range { missing, .. } => missing,
        }
    }

    fn check(self) -> Result<(), String> {
        let sound = match self {
            Self::Standard { mean, scale, .. } => mean.is_finite() && scale.is_finite() && scale >= 0.0,
            Self::Range { low, high, .. } => low.is_finite() && high.is_finite() && low < high,
        };
        match self {
            _ if sound && self.mean_and_scale().1.is_finite() => Ok(()),
            Self::Standard { mean, scale, .. } => Err(format!(
                "has mean {mean} and scale {scale}, which have to be finite and the scale not negative"
            )),
            Self::Range { low, high, .. } => Err(format!(
                "goes from {low} to {high}, which have to be finite, and apart, the lower one first"
            )),
        }
    }
}

fn distinct(values: &[String]) -> Result<(), String> {
    let mut sorted: Vec<&String> = values.iter().collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("names the value `{}` twice", pair[0])),
        None => Ok(()),
    }
}

fn check_buckets(buckets: u32) -> Result<(), String> {
    if (1..=MOST_BUCKETS).contains(&buckets) {
        Ok(())
    } else {
        Err(format!("has {buckets} buckets, but there have to be 1 to {MOST_BUCKETS}"))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(crate) fn is_false(value: &bool) -> bool {
    !value
}
