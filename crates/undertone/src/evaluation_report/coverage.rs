//! How often sets or intervals hold the truth, and how large they are.

use super::json::entry;
use super::text::percent;
use crate::digits::digits;
use serde::ser::SerializeMap;
use undertone_learn::evaluation::Figure;

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MeasuredCoverage {
    /// The share of people whose truth is to be held
    pub(crate) promised: f64,
    /// The share of those whose truth is; from reports about numbers, what it is at least
    pub(crate) held: Figure,
    pub(crate) at_least: bool,
    pub(crate) size: Size,
}

/// How large they are on average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Size {
    /// Classes in a set
    Classes(f64),
    /// From end to end
    Width(f64),
}

impl MeasuredCoverage {
    /// The name, the value and what to compare it with.
    pub(super) fn lines(&self) -> Vec<(&'static str, String, String)> {
        let side = if self.at_least { "at least " } else { "" };
        let promised = format!("{:.2} % were promised", 100.0 * self.promised);
        let held = format!("{side}{}", percent(self.held));
        match self.size {
            Size::Classes(size) => vec![
                ("label in its set", held, promised),
                ("classes in a set", format!("{size:.2}"), "on average".into()),
            ],
            Size::Width(width) => vec![
                ("number in its interval", held, promised),
                ("width of an interval", digits(width), "on average".into()),
            ],
        }
    }

    pub(super) fn serialize<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("coverage_promised", &self.promised)?;
        entry(map, "coverage", self.held)?;
        map.serialize_entry("coverage_at_least", &self.at_least)?;
        match self.size {
            Size::Classes(size) => map.serialize_entry("set_size", &size),
            Size::Width(width) => map.serialize_entry("interval_width", &width),
        }
    }
}
