//! The label mechanisms in one picture: worst-case second moment against ε.

use crate::epsilon_axis::EpsilonAxis;
use crate::plot::{LogLog, Stroke};
use undertone_privacy::Epsilon;
use undertone_privacy::label::{LabelKind, LabelRandomizer, lower_bound_second_moment};

/// All symmetric mechanisms for K = `labels` and what none can go below, with the mechanism `name` marked at its ε
/// and second moment.
pub(crate) fn svg(labels: u32, name: &str, epsilon: Epsilon, second_moment: f64) -> anyhow::Result<String> {
    let axis = EpsilonAxis::around(epsilon);
    // The older name draws no line of its own.
    let kinds = LabelKind::ALL.into_iter().filter(|&kind| kind.is_symmetric() && kind != LabelKind::Oue);
    let limit = axis.line("lower bound", Stroke::Limit, |epsilon| lower_bound_second_moment(labels, epsilon));
    let mut lines = vec![limit];
    lines.extend(kinds.map(|kind| {
        let (name, stroke) = match kind {
            LabelKind::BitsPaper => ("bits-paper, oue", Stroke::Dashed),
            LabelKind::SubsetPaper => (kind.name(), Stroke::Dashed),
            _ => (kind.name(), Stroke::Whole),
        };
        axis.line(name, stroke, |epsilon| {
            Ok(kind.mechanism(labels, epsilon)?.covariance().worst_case_second_moment())
        })
    }));
    LogLog {
        title: format!("Label mechanisms for {labels} classes: the less, the fewer people it takes"),
        x_name: "privacy loss ε".to_string(),
        y_name: "worst-case second moment".to_string(),
        lines,
        mark: Some((epsilon.get(), second_moment, format!("{name} at ε = {epsilon}"))),
    }
    .svg()
}
