//! The label mechanisms in one picture: worst-case second moment against ε.

use crate::plot::{Line, LogLog, Stroke};
use undertone_privacy::label::{LabelKind, LabelRandomizer, lower_bound_second_moment};
use undertone_privacy::{Epsilon, PrivacyError};

/// Points on each line.
const POINTS: u32 = 121;

/// All symmetric mechanisms for K = `labels` and what none can go below, with the mechanism `name` marked at its ε
/// and second moment.
pub(crate) fn svg(labels: u32, name: &str, epsilon: Epsilon, second_moment: f64) -> anyhow::Result<String> {
    let here = epsilon.get();
    // From a tenth to ten, or as far as it takes to show this ε
    let (least, most) = (f64::min(0.1, here / 2.0), f64::max(10.0, here * 2.0));
    let grid: Vec<f64> =
        (0..POINTS).map(|i| least * (most / least).powf(f64::from(i) / f64::from(POINTS - 1))).collect();
    let line = |name: &str, stroke, value: &dyn Fn(Epsilon) -> Result<f64, PrivacyError>| {
        let at = |&x: &f64| Some((x, value(Epsilon::new(x).ok()?).ok()?));
        // Where ε is too small for 64 bits, the line begins later.
        Line { name: name.to_string(), points: grid.iter().filter_map(at).collect(), stroke }
    };
    // The older name draws no line of its own.
    let kinds = LabelKind::ALL.into_iter().filter(|&kind| kind.is_symmetric() && kind != LabelKind::Oue);
    let limit = line("lower bound", Stroke::Limit, &|epsilon| lower_bound_second_moment(labels, epsilon));
    let mut lines = vec![limit];
    lines.extend(kinds.map(|kind| {
        let (name, stroke) = match kind {
            LabelKind::BitsPaper => ("bits-paper, oue", Stroke::Dashed),
            LabelKind::SubsetPaper => (kind.name(), Stroke::Dashed),
            _ => (kind.name(), Stroke::Whole),
        };
        let second_moment =
            |epsilon| Ok(kind.mechanism(labels, epsilon)?.covariance().worst_case_second_moment());
        line(name, stroke, &second_moment)
    }));
    LogLog {
        title: format!("Label mechanisms for {labels} classes: the less, the fewer people it takes"),
        x_name: "privacy loss ε".to_string(),
        y_name: "worst-case second moment".to_string(),
        lines,
        mark: (here, second_moment, format!("{name} at ε = {here}")),
    }
    .svg()
}
