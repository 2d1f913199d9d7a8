//! One part of the study: what was measured, pictures of it, and claims.

use super::row::Row;
use crate::commands::reproduce::claim::Claim;
use crate::plot::{Line, LogLog, Stroke};

/// What is left of a part.
#[derive(Default)]
pub(super) struct Section {
    pub(super) title: &'static str,
    /// What was run, in a sentence or two
    pub(super) about: String,
    pub(super) rows: Vec<Row>,
    /// File names without their end, and what is drawn
    pub(super) pictures: Vec<(String, String)>,
    pub(super) claims: Vec<Claim>,
}

/// Rows, each at its x, as a line with bars of two standard errors; none if it is nowhere positive.
pub(super) fn line<'a>(
    name: &str,
    rows: impl IntoIterator<Item = (f64, &'a Row)>,
    stroke: Stroke,
) -> Option<Line> {
    let drawable = rows.into_iter().filter(|(_, row)| row.value > 0.0);
    let (points, bars): (Vec<_>, Vec<_>) =
        drawable.map(|(x, row)| ((x, row.value), 2.0 * row.standard_error)).unzip();
    (!points.is_empty()).then(|| Line { name: name.to_owned(), points, bars, stroke })
}

/// Lines in one chart.
pub(super) fn chart(
    title: String,
    x_name: &str,
    y_name: &str,
    lines: impl IntoIterator<Item = Option<Line>>,
) -> anyhow::Result<String> {
    let lines = lines.into_iter().flatten().collect();
    LogLog { title, x_name: x_name.to_owned(), y_name: y_name.to_owned(), lines, mark: None }.svg()
}
