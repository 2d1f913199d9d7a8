//! What a user may decide about the encoding, instead of leaving it to the features.

use crate::LearnError;
use std::str::FromStr;

/// Choices for a whole table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncoderOptions {
    /// Columns that are to be treated in another way than their cells suggest
    pub overrides: Vec<Override>,
    /// Features for each text, and the most for each category; 2^14 by default
    pub buckets: u32,
    /// How often a level has to be seen for a feature of its own; 5 by default
    pub least_level_count: u64,
}

/// A column and how to treat it, written `name=category`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// The name of the column
    pub column: String,
    /// What to make of it
    pub treatment: Treatment,
}

/// What to make of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// Standardised; of a vector, numbers that are no pixels
    Number,
    /// A feature for each level
    Category,
    /// Its words and pairs of words, hashed
    Text,
    /// Nothing: the column is not looked at
    Skip,
}

impl Default for EncoderOptions {
    fn default() -> Self {
        Self { overrides: Vec::new(), buckets: 1 << 14, least_level_count: 5 }
    }
}

impl EncoderOptions {
    /// What was said about a column; the last word counts.
    pub(super) fn treatment(&self, column: &str) -> Option<Treatment> {
        let said = self.overrides.iter().rev().find(|said| said.column == column);
        said.map(|said| said.treatment)
    }
}

impl Treatment {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Category => "category",
            Self::Text => "text",
            Self::Skip => "skip",
        }
    }
}

impl FromStr for Override {
    type Err = LearnError;

    fn from_str(text: &str) -> Result<Self, LearnError> {
        let problem = || LearnError::Override { text: text.to_owned() };
        // A name may hold an `=` itself, a treatment does not.
        let (column, word) = text.rsplit_once('=').ok_or_else(problem)?;
        let treatments = [Treatment::Number, Treatment::Category, Treatment::Text, Treatment::Skip];
        let treatment =
            treatments.into_iter().find(|treatment| treatment.name() == word).ok_or_else(problem)?;
        Ok(Self { column: column.to_owned(), treatment })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_override_is_a_name_and_a_treatment() {
        let said: Override = "a=b=category".parse().unwrap();
        assert_eq!(said, Override { column: "a=b".into(), treatment: Treatment::Category });
    }

    #[test]
    fn anything_else_is_refused_by_what_was_said() {
        for text in ["age", "age=words", "age=", ""] {
            let error = text.parse::<Override>().unwrap_err().to_string();
            assert_eq!(error, format!("`{text}` is not of the form COLUMN=number|category|text|skip"));
        }
    }

    #[test]
    fn the_last_word_counts() {
        let overrides = ["age=skip", "age=category"].map(|text| text.parse().unwrap()).to_vec();
        let options = EncoderOptions { overrides, ..EncoderOptions::default() };
        assert_eq!(options.treatment("age"), Some(Treatment::Category));
        assert_eq!(options.treatment("name"), None);
    }
}
