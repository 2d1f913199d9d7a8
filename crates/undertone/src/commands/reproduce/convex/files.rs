//! What is left behind: points and slopes as CSV, a picture for each axis, a page.

use super::Findings;
use super::law::Law;
use super::scan::{Axis, LOWER_BOUND, Point, name};
use crate::commands::reproduce::folder::csv;
use crate::plot::{Line, LogLog, Stroke};
use anyhow::Context;
use undertone_learn::convex::experiment::Method;

/// All our files begin with this.
pub(super) const OURS: &str = "convex";

/// Files by name, but for the page.
pub(super) fn contents(findings: &Findings) -> anyhow::Result<Vec<(String, String)>> {
    Ok(vec![
        ("points.csv".to_owned(), csv(&findings.points)?),
        ("slopes.csv".to_owned(), slopes_csv(&findings.laws)?),
    ])
}

/// A picture for each axis by its name.
pub(super) fn pictures(points: &[Point]) -> anyhow::Result<Vec<(String, String)>> {
    let drawn = |axis: Axis| Ok((format!("{}.svg", axis.name()), picture(axis, points)?));
    Axis::ALL.into_iter().map(drawn).collect()
}

fn slopes_csv(laws: &[Law]) -> anyhow::Result<String> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record([
        "slope",
        "method",
        "order",
        "claimed",
        "predicted",
        "measured",
        "standard_error",
        "points",
        "capped",
        "verdict",
    ])?;
    for law in laws {
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        csv.write_record([
            law.regime.name().to_owned(),
            law.method.to_owned(),
            law.order.to_string(),
            number(law.claimed),
            number(law.predicted),
            number(law.measured.map(|line| line.slope)),
            number(law.measured.map(|line| line.standard_error)),
            law.points.to_string(),
            law.capped.to_string(),
            law.verdict.name().to_lowercase(),
        ])?;
    }
    Ok(String::from_utf8(csv.into_inner()?)?)
}

/// All methods and the lower bound along one axis, with bars of two standard errors.
fn picture(axis: Axis, points: &[Point]) -> anyhow::Result<String> {
    let along: Vec<&Point> = points.iter().filter(|point| point.axis == axis).collect();
    let line = |method: &str, stroke| {
        let own: Vec<&&Point> = along.iter().filter(|point| point.method == method).collect();
        Line {
            name: method.to_owned(),
            points: own.iter().map(|point| (point.x(), point.excess_risk)).collect(),
            bars: own.iter().map(|point| 2.0 * point.standard_error).collect(),
            stroke,
        }
    };
    let mut lines = vec![line(LOWER_BOUND, Stroke::Limit)];
    lines.extend(Method::ALL.map(|method| {
        line(name(method), if method == Method::Subset { Stroke::Whole } else { Stroke::Dashed })
    }));
    let first = along.first().context("nothing was measured")?;
    let Point { classes, epsilon, n, .. } = first;
    let (x_name, fixed) = match axis {
        Axis::Classes => ("number of classes K", format!("ε = {epsilon}, n = {n}")),
        Axis::People => ("number of people n", format!("K = {classes}, ε = {epsilon}")),
        Axis::Epsilon => ("privacy loss ε", format!("K = {classes}, n = {n}")),
    };
    LogLog {
        title: format!("Excess risk on the hardest instance, {fixed}"),
        x_name: x_name.to_owned(),
        y_name: "excess risk".to_owned(),
        lines,
        mark: None,
    }
    .svg()
}
