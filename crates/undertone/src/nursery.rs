//! The data of the demonstration: how 12,960 applications to a nursery school were ranked.

use anyhow::Context;
use flate2::read::GzDecoder;
use undertone_privacy::label::Label;

/// Nursery, UCI Machine Learning Repository, CC BY 4.0; see `data/README.md`.
const TABLE: &[u8] = include_bytes!("../../../data/nursery.csv.gz");

/// The classes, from the least to the most urgent.
pub(crate) const CLASSES: [&str; 5] = ["not_recom", "recommend", "very_recom", "priority", "spec_prior"];

/// The label of each row.
pub(crate) fn labels() -> anyhow::Result<Vec<Label>> {
    let mut table = csv::Reader::from_reader(GzDecoder::new(TABLE));
    let column = table.headers()?.iter().position(|name| name == "nursery").context("no column `nursery`")?;
    table
        .records()
        .map(|row| {
            let row = row?;
            let name = row.get(column).unwrap_or_default();
            let label = (0..).zip(CLASSES).find(|&(_, class)| class == name);
            Ok(Label(label.with_context(|| format!("no class `{name}`"))?.0))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classes_have_the_published_sizes() {
        let labels = labels().unwrap();
        let size = |class: u32| labels.iter().filter(|label| label.0 == class).count();
        assert_eq!([0, 1, 2, 3, 4].map(size), [4320, 2, 328, 4266, 4044]);
    }
}
