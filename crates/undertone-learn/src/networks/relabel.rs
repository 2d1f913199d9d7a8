//! Labels made of what a model believes and what people reported, to train another model on.
//!
//! All of it is post-processing of reports. A model that was trained on the very reports has their noise in its beliefs: that is why
//! retraining from the first weights can still gain, as networks learn what is common before they learn noise by heart.

use crate::evaluation::terms::predicted;
use crate::features::Rows;
use crate::labels::{LabelVector, LabelVectors};
use crate::{Classifier, Examples, LearnError, Source};

/// What becomes of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relabel {
    /// The label that the model predicts, whatever was reported
    Predicted,
    /// The same, but only of people whose report names it; the others are left out: R. Das et al., *Retraining with predicted hard labels
    /// provably increases model accuracy* (2024)
    Consensus,
    /// q_k ∝ p_k·P(S | k): what is believed after the report, if p is what was believed before
    Posterior,
}

/// Examples with new labels, to be learnt with [`Loss::Soft`](super::Loss::Soft). They are made block by block, as they are asked for.
pub(super) struct Relabelled<'a, M> {
    model: &'a M,
    source: &'a mut dyn Source,
    how: Relabel,
}

impl<'a, M> Relabelled<'a, M> {
    pub(super) fn new(model: &'a M, source: &'a mut dyn Source, how: Relabel) -> Self {
        Self { model, source, how }
    }
}

impl<M: Classifier> Source for Relabelled<'_, M> {
    fn pass(&mut self, visit: &mut dyn FnMut(&Examples) -> Result<(), LearnError>) -> Result<(), LearnError> {
        let (model, how) = (self.model, self.how);
        self.source.pass(&mut |block| visit(&relabel(model, block, how)?))
    }
}

/// Those of a block who stay, with new labels.
fn relabel(model: &impl Classifier, examples: &Examples, how: Relabel) -> Result<Examples, LearnError> {
    let (classes, rows) = (model.classes(), &examples.rows);
    let mut kept = Examples::new(Rows::new(rows.dense_width(), rows.sparse_width()));
    let probabilities = model.probabilities(rows);
    if examples.likelihood.len() != rows.len() {
        return Err(LearnError::Parameter {
            what: "the number of reports with a likelihood",
            value: examples.likelihood.len() as f64,
            expected: "that of the rows",
        });
    }
    for (row, (p, report)) in probabilities.chunks_exact(classes).zip(examples.likelihood.iter()).enumerate()
    {
        let label = predicted(p) as u32;
        match how {
            Relabel::Consensus if !names(report, label, classes) => continue,
            Relabel::Predicted | Relabel::Consensus => kept.unbiased.push(0.0, [(label, 1.0)]),
            Relabel::Posterior => push_posterior(p, report, &mut kept.unbiased),
        }
        kept.rows.push(rows.get(row));
    }
    kept.likelihood = kept.unbiased.clone();
    Ok(kept)
}

/// Whether no label makes the report likelier, and some label makes it less likely.
fn names(report: LabelVector<'_>, label: u32, classes: usize) -> bool {
    let all = || (0..classes as u32).map(|k| report.at(k));
    let (top, least) = (all().fold(f32::MIN, f32::max), all().fold(f32::MAX, f32::min));
    report.at(label) >= top && top > least
}

fn push_posterior(p: &[f32], report: LabelVector<'_>, into: &mut LabelVectors) {
    let joint: Vec<f64> = (0u32..).zip(p).map(|(k, p)| f64::from(*p) * f64::from(report.at(k))).collect();
    let sum: f64 = joint.iter().sum();
    // A report that the model holds for impossible is believed all the same.
    let q = |k: usize| if sum > 0.0 { joint[k] / sum } else { f64::from(report.at(k as u32)) };
    let total: f64 = (0..p.len()).map(q).sum();
    into.push(0.0, (0..p.len()).map(|k| (k as u32, (q(k) / total) as f32)));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same belief about everybody.
    struct Same([f32; 3]);

    impl Classifier for Same {
        fn classes(&self) -> usize {
            3
        }

        fn probabilities(&self, rows: &Rows) -> Vec<f32> {
            self.0.repeat(rows.len())
        }
    }

    /// People 0, 1, 2 report labels 0, 1, 2, each four times as likely if true; a fourth says nothing.
    fn examples() -> Examples {
        let mut likelihood = LabelVectors::new();
        (0..3).for_each(|label| likelihood.push(1.0, [(label, 4.0)]));
        likelihood.push(1.0, []);
        let rows = Rows::dense(1, vec![0.0, 1.0, 2.0, 3.0]);
        Examples { rows, unbiased: likelihood.clone(), likelihood, ..Examples::default() }
    }

    #[test]
    fn those_whose_report_names_the_predicted_label_stay() {
        let model = Same([0.2, 0.5, 0.3]);
        let kept = relabel(&model, &examples(), Relabel::Consensus).unwrap();
        assert_eq!(kept, Examples::certain(Rows::dense(1, vec![1.0]), [1]));
        // Block by block the same
        let (first, others) = (examples().part(|row| row < 2), examples().part(|row| row >= 2));
        let (mut blocks, mut seen) = (vec![first, others], Vec::new());
        let visit = &mut |block: &Examples| {
            seen.push(block.clone());
            Ok(())
        };
        Relabelled::new(&model, &mut blocks, Relabel::Consensus).pass(visit).unwrap();
        assert_eq!((&seen[0], seen[1].len()), (&kept, 0));
        let all = relabel(&model, &examples(), Relabel::Predicted).unwrap();
        assert_eq!(all.unbiased, LabelVectors::certain([1; 4]));
    }

    #[test]
    fn beliefs_and_reports_are_multiplied() {
        let soft = relabel(&Same([0.2, 0.5, 0.3]), &examples(), Relabel::Posterior).unwrap();
        // 0.8, 0.5, 0.3 over their sum
        for (k, expected) in [(0, 0.5), (1, 0.3125), (2, 0.1875)] {
            assert!((soft.unbiased.get(0).at(k) - expected).abs() < 1e-6);
        }
        assert!((soft.unbiased.get(3).at(1) - 0.5).abs() < 1e-6);
        let impossible = relabel(&Same([0.0; 3]), &examples(), Relabel::Posterior).unwrap();
        assert!((impossible.unbiased.get(0).at(0) - 4.0 / 6.0).abs() < 1e-6);
    }
}
