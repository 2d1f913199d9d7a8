//! The people of a simulation: those who are asked, and those by whom the models are judged.

use crate::people::{Origin, People};
use std::sync::OnceLock;
use undertone_learn::auto::Untried;
use undertone_learn::evaluation::{Evaluation, Figure};
use undertone_learn::features::{Encoder, Row, Rows};
use undertone_learn::held_out::parts;
use undertone_learn::represented::{Limits, Seen, Sight};
use undertone_learn::split::{Purpose, place};
use undertone_learn::{Classifier, Examples, LearnError, Source};

/// The share of people who are not asked, where there is no other table.
pub(crate) const TEST_SHARE: f64 = 0.25;

/// Everybody, in memory.
pub(crate) struct Data {
    pub(crate) classes: usize,
    /// Those who are asked
    pub(crate) rows: Rows,
    /// What only their devices know
    pub(crate) labels: Vec<u32>,
    /// Those by whom models are judged
    pub(crate) test: Examples,
    /// Rows without a label
    pub(crate) left_out: u64,
    /// How columns became rows
    pub(super) encoder: Encoder,
    sight: Sight,
    /// What learners may take
    pub(super) limits: Limits,
    /// Those who are asked as their features show them, which is the same for all reports
    seen: OnceLock<Result<Seen, Untried>>,
}

impl Data {
    /// Some people of one table are not asked.
    pub(crate) fn split(people: &Origin, encoder: &Encoder) -> anyhow::Result<Self> {
        let mut data = Self::nobody(people, encoder);
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
    pub(crate) fn with_test(people: &Origin, test: &Origin, encoder: &Encoder) -> anyhow::Result<Self> {
        let mut data = Self::nobody(people, encoder);
        data.left_out += test.left_out();
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

    fn nobody(people: &Origin, encoder: &Encoder) -> Self {
        Self {
            classes: people.classes().len(),
            rows: encoder.rows(),
            labels: Vec::new(),
            test: Examples::new(encoder.rows()),
            left_out: people.left_out(),
            encoder: encoder.clone(),
            sight: Sight::of(encoder),
            limits: Limits::default(),
            seen: OnceLock::new(),
        }
    }

    /// How those who are asked are looked at.
    pub(super) fn sight(&self) -> Sight {
        self.sight.ranked(&self.rows, self.classes, (self.limits, self.learnings()))
    }

    /// How often what everybody looks like is learnt from.
    fn learnings(&self) -> usize {
        parts(self.rows.len()) + 1
    }

    /// Those who are asked, as their features show them, unless that takes too long or nothing is to be seen.
    pub(super) fn seen(&self) -> Result<Result<&Seen, Untried>, LearnError> {
        if self.seen.get().is_none() {
            let limits = (self.limits, self.learnings());
            let seen = Seen::within(&self.rows, self.sight(), self.classes, limits, &())?;
            self.seen.get_or_init(|| seen);
        }
        Ok(self.seen.wait().as_ref().map_err(Untried::clone))
    }

    /// How often a model is right about those who were not asked.
    pub(crate) fn accuracy(&self, model: &impl Classifier) -> Result<Figure, LearnError> {
        Ok(Evaluation::of(model, &mut vec![self.test.clone()])?.figures()?.accuracy)
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
