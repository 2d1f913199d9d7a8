//! How good the model has become, told by reports that it had not seen.
//!
//! At each checkpoint the mean of all points so far is put aside. The reports from there to the next checkpoint are not in
//! it, so that the mean of a_(its guess) over them is unbiased for its accuracy. Checkpoints are a third apart, so that the
//! last ones are judged by the most.

use crate::evaluation::{Figure, Moments};
use crate::features::Row;
use crate::labels::LabelVector;
use crate::linear::{LinearModel, OnlineLinear};
use crate::{Classifier, LearnError};
use serde::{Deserialize, Serialize};

/// The first checkpoint.
const FIRST: u64 = 200;

/// The model of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CurvePoint {
    /// The reports that it has learnt from
    pub reports: u64,
    /// The reports that came after, by which it was judged
    pub judges: u64,
    /// Its accuracy on these, from the reports alone
    pub accuracy: Figure,
}

/// The points so far, and the one in the making.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Curve {
    /// The reports that each has learnt from, and how it did
    done: Vec<(u64, Moments)>,
    /// The last checkpoint's model and how it does
    judged: Option<(u64, LinearModel, Moments)>,
}

impl Curve {
    /// Judges the model of the last checkpoint by one more report.
    pub(super) fn judge(&mut self, row: Row<'_>, label: LabelVector<'_>) {
        if let Some((_, model, moments)) = &mut self.judged {
            let mut scores = vec![0.0; model.classes()];
            model.weights.scores(row, &mut scores);
            let guess = (0..).zip(&scores).max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(class, _)| class);
            moments.add(f64::from(label.at(guess)));
        }
    }

    /// Puts the model aside if it has learnt from `reports` that make a checkpoint.
    pub(super) fn advance(&mut self, reports: u64, learner: &OnlineLinear) -> Result<(), LearnError> {
        let next = self.judged.as_ref().map_or(FIRST, |(last, ..)| last + last / 3);
        if reports >= next {
            let model = learner.model()?;
            let before = self.judged.replace((reports, model, Moments::default()));
            self.done.extend(before.map(|(reports, _, moments)| (reports, moments)));
        }
        Ok(())
    }

    /// All points; the last as far as it has come, if that is far enough to be as clear as those before.
    pub(super) fn points(&self) -> Vec<CurvePoint> {
        let last = self.judged.as_ref().filter(|(reports, _, moments)| 4 * moments.count >= *reports);
        let last = last.map(|(reports, _, moments)| (*reports, *moments));
        let point = |(reports, moments): (u64, Moments)| CurvePoint {
            reports,
            judges: moments.count,
            accuracy: moments.figure(),
        };
        self.done.iter().copied().chain(last).map(point).collect()
    }
}
