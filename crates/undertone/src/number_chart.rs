//! The number mechanisms in one picture: worst-case variance against ε.

use crate::epsilon_axis::EpsilonAxis;
use crate::plot::{LogLog, Stroke};
use undertone_privacy::Epsilon;
use undertone_privacy::number::{Bounds, NumberKind, NumberMechanism, NumberRandomizer};

/// All mechanisms for numbers within `bounds`, with one of them marked at its ε and worst variance.
pub(crate) fn svg(bounds: Bounds, mechanism: &NumberMechanism, epsilon: Epsilon) -> anyhow::Result<String> {
    let axis = EpsilonAxis::around(epsilon);
    let line = |kind: NumberKind| {
        // Dashed as published, where there is a better form
        let stroke = match kind {
            NumberKind::Piecewise | NumberKind::Hybrid => Stroke::Dashed,
            _ => Stroke::Whole,
        };
        axis.line(kind.name(), stroke, |epsilon| {
            Ok(NumberMechanism::new(kind, bounds, epsilon)?.worst_variance())
        })
    };
    let mut lines = Vec::from(NumberKind::ALL.map(line));
    // Dashes go on top, so that both of two lines that coincide can be seen.
    lines.sort_by_key(|line| matches!(line.stroke, Stroke::Dashed));
    let (low, high) = (bounds.low(), bounds.high());
    LogLog {
        title: format!("Mechanisms for a number in [{low}, {high}]: the less, the fewer people it takes"),
        x_name: "privacy loss ε".to_string(),
        y_name: "worst-case variance".to_string(),
        lines,
        mark: Some((
            epsilon.get(),
            mechanism.worst_variance(),
            format!("{} at ε = {epsilon}", mechanism.kind()),
        )),
    }
    .svg()
}
