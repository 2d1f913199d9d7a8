//! The people of a simulation: those who are asked, and those by whom the models are judged.

use crate::people::{Origin, People};
use undertone_learn::features::{Encoder, Row, Rows};
use undertone_learn::split::{Purpose, place};
use undertone_learn::{Examples, LearnError, Source};

/// One in so many is not asked, where there is no other table.
const TEST_SHARE: f64 = 0.25;

/// Everybody, in memory.
pub(super) struct Data {
    pub(super) classes: usize,
    /// Those who are asked
    pub(super) rows: Rows,
    /// What only their devices know
    pub(super) labels: Vec<u32>,
    /// Those by whom models are judged
    pub(super) test: Examples,
}

impl Data {
    /// Some people of one table are not asked.
    pub(super) fn split(people: &Origin, encoder: &Encoder) -> anyhow::Result<Self> {
        let mut data = Self::nobody(people.classes().len(), encoder);
        let mut row = 0;
        People::new(people, encoder, 0).pass(&mut |block| {
            for (features, label) in block.rows.iter().zip(labels(block)) {
                if place(row, Purpose::Test) < TEST_SHARE {
                    data.judge(features, label);
                } else {
                    data.rows.push(features);
                    data.labels.push(label);
                }
                row += 1;
            }
            Ok(())
        })?;
        data.checked()
    }

    /// The people of another table are not asked.
    pub(super) fn with_test(people: &Origin, test: &Origin, encoder: &Encoder) -> anyhow::Result<Self> {
        let mut data = Self::nobody(people.classes().len(), encoder);
        People::new(people, encoder, 0).pass(&mut |block| {
            block.rows.iter().for_each(|row| data.rows.push(row));
            data.labels.extend(labels(block));
            Ok(())
        })?;
        People::new(test, encoder, 0).pass(&mut |block| {
            for (features, label) in block.rows.iter().zip(labels(block)) {
                data.judge(features, label);
            }
            Ok(())
        })?;
        data.checked()
    }

    fn nobody(classes: usize, encoder: &Encoder) -> Self {
        Self { classes, rows: encoder.rows(), labels: Vec::new(), test: Examples::new(encoder.rows()) }
    }

    /// One more by whom models are judged.
    fn judge(&mut self, features: Row<'_>, label: u32) {
        self.test.rows.push(features);
        self.test.unbiased.push(0.0, [(label, 1.0)]);
        self.test.likelihood.push(0.0, [(label, 1.0)]);
    }

    fn checked(self) -> anyhow::Result<Self> {
        if self.rows.is_empty() || self.test.is_empty() {
            return Err(LearnError::NoReports.into());
        }
        Ok(self)
    }
}

/// The true labels of people whose labels are known.
fn labels(block: &Examples) -> impl Iterator<Item = u32> {
    block.unbiased.iter().map(|vector| vector.entries[0].0)
}
