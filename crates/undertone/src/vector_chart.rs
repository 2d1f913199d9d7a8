//! The vector mechanisms in one picture: variance at the radius against ε.

use crate::epsilon_axis::EpsilonAxis;
use crate::plot::{Line, LogLog, Stroke};
use undertone_privacy::vector::{Ball, VectorKind, VectorMechanism};
use undertone_privacy::{Epsilon, Guarantee, PrivacyError};

/// All pure mechanisms for vectors of a ball, with `mechanism` marked.
///
/// One under another promise is marked at `epsilon`, the pure ε that implies its promise, on a line of its own.
pub(crate) fn svg(mechanism: &VectorMechanism, epsilon: Epsilon) -> anyhow::Result<String> {
    let axis = EpsilonAxis::around(epsilon);
    let (ball, kind, promise) = (mechanism.ball(), mechanism.kind(), mechanism.guarantee());
    let pure = |kind: VectorKind| {
        let name = if kind.is_device_safe() { kind.to_string() } else { format!("{kind} (simulated)") };
        let stroke = if kind.is_device_safe() { Stroke::Whole } else { Stroke::Dashed };
        axis.line(&name, stroke, |epsilon| variance(kind, ball, Guarantee::Pure(epsilon)))
    };
    let mut lines: Vec<Line> = VectorKind::ALL.into_iter().map(pure).collect();
    let own = match promise {
        Guarantee::Pure(_) => None,
        Guarantee::Approximate(_, delta) => {
            let at = |epsilon| variance(kind, ball, Guarantee::Approximate(epsilon, delta));
            Some(axis.line(&format!("{kind} at δ = {delta}"), Stroke::Whole, at))
        }
        Guarantee::Gaussian(_) => {
            let at =
                |epsilon| variance(kind, ball, Guarantee::Gaussian(Guarantee::Pure(epsilon).to_gaussian()?));
            Some(axis.line(&format!("{kind} at the μ that ε implies"), Stroke::Whole, at))
        }
        Guarantee::Concentrated(_) => {
            let at = |epsilon| {
                variance(kind, ball, Guarantee::Concentrated(Guarantee::Pure(epsilon).to_concentrated()?))
            };
            Some(axis.line(&format!("{kind} at the ρ that ε implies"), Stroke::Whole, at))
        }
    };
    lines.extend(own);
    // Kinds that keep no pure promise have no points.
    lines.retain(|line| !line.points.is_empty());
    // Dashes go on top, so that both of two lines that coincide can be seen.
    lines.sort_by_key(|line| matches!(line.stroke, Stroke::Dashed));
    let (dimension, radius) = (ball.dimension(), ball.radius());
    LogLog {
        title: format!(
            "Vectors of {dimension} coordinates, radius {radius}: the less, the fewer people it takes"
        ),
        x_name: "privacy loss ε".to_string(),
        y_name: "variance at the radius, all coordinates".to_string(),
        lines,
        mark: Some((epsilon.get(), mechanism.variance_at_norm(radius), format!("{kind} at {promise}"))),
    }
    .svg()
}

fn variance(kind: VectorKind, ball: Ball, promise: Guarantee) -> Result<f64, PrivacyError> {
    Ok(VectorMechanism::new(kind, ball, promise)?.variance_at_norm(ball.radius()))
}
