//! The integers that run, each with its name and its meaning.

use serde::{Serialize, Serializer};
use std::fmt::Display;
use std::io::Write;

/// 2^64, as one of the integers' meanings
pub(super) const OF_WORDS: &str = "words out of 2^64";

/// What decides on a device. As JSON it is a map from names to text: JSON readers round integers beyond 2^53.
pub(super) struct Integers(Vec<Integer>);

struct Integer {
    name: &'static str,
    value: String,
    meaning: String,
}

impl Integers {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    /// One more, called `name` in JSON.
    pub(super) fn and(mut self, name: &'static str, value: impl Display, meaning: impl Display) -> Self {
        self.0.push(Integer { name, value: value.to_string(), meaning: meaning.to_string() });
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A line for each.
    pub(super) fn explain(&self, out: &mut impl Write) -> anyhow::Result<()> {
        for Integer { name, value, meaning } in &self.0 {
            writeln!(out, "  {name:<20}{value:>21}   {meaning}")?;
        }
        Ok(())
    }
}

impl Serialize for Integers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|integer| (integer.name, &integer.value)))
    }
}
