//! The data of the demonstration: how 12,960 applications to a nursery school were ranked.

use anyhow::Context;
use csv::StringRecord;
use flate2::read::GzDecoder;

/// Nursery, UCI Machine Learning Repository, CC BY 4.0; see `data/README.md`.
const TABLE: &[u8] = include_bytes!("../../../data/nursery.csv.gz");

/// The classes, from the least to the most urgent.
pub(crate) const CLASSES: [&str; 5] = ["not_recom", "recommend", "very_recom", "priority", "spec_prior"];

/// The column that families keep to themselves.
pub(crate) const LABEL: &str = "nursery";

/// All rows, the first of which has the names of the columns.
pub(crate) fn rows() -> anyhow::Result<Vec<StringRecord>> {
    let mut table = csv::ReaderBuilder::new().has_headers(false).from_reader(GzDecoder::new(TABLE));
    table.records().collect::<Result<_, _>>().context("the table in the program")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classes_have_the_published_sizes() {
        let rows = rows().unwrap();
        let column = rows[0].iter().position(|name| name == LABEL).unwrap();
        let size = |class: &str| rows.iter().filter(|row| &row[column] == class).count();
        assert_eq!(CLASSES.map(size), [4320, 2, 328, 4266, 4044]);
    }
}
