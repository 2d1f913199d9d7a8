//! A chart for each setting: every method, and the slope that cannot be beaten.

use super::row::Measured;
use crate::plot::{Line, LogLog, Stroke};
use undertone_learn::nonparametric::study::Method;

/// Values against people, with bars of two standard errors.
pub(super) fn line(name: &str, points: impl IntoIterator<Item = (u64, f64, f64)>, stroke: Stroke) -> Line {
    let drawable = points.into_iter().filter(|(_, y, _)| *y > 0.0);
    let (points, bars) = drawable.map(|(n, y, error)| ((n as f64, y), 2.0 * error)).unzip();
    Line { name: name.to_owned(), points, bars, stroke }
}

/// Lines in one chart.
pub(super) fn chart(title: &str, lines: Vec<Line>) -> anyhow::Result<String> {
    let lines = lines.into_iter().filter(|line| !line.points.is_empty()).collect();
    let (x_name, y_name) = ("people".to_owned(), "excess risk".to_owned());
    LogLog { title: title.to_owned(), x_name, y_name, lines, mark: None }.svg()
}

/// The chart of a setting. Table I has no constants: its line goes through our last point.
pub(super) fn picture(measured: &Measured) -> anyhow::Result<(String, String)> {
    let mut lines: Vec<Line> = Method::ALL
        .iter()
        .map(|&method| {
            let points = measured.of(method).map(|row| (row.people, row.excess, row.standard_error));
            let stroke = if method == Method::FullPrinted { Stroke::Companion } else { Stroke::Whole };
            line(method.name(), points, stroke)
        })
        .collect();
    let rate = |people: u64| measured.place.setting.problem(people).rate();
    if let Some(last) = measured.of(Method::Ours).last() {
        let scale = last.excess / rate(last.people);
        let points = measured.place.people.iter().map(|&people| (people, scale * rate(people), 0.0));
        let mut bound = line("slope of the lower bound (Table I)", points, Stroke::Limit);
        bound.bars.clear();
        lines.insert(0, bound);
    }
    Ok((measured.place.file.clone(), chart(&measured.place.name, lines)?))
}
