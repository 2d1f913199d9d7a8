//! What is left behind: points and slopes as CSV, a picture for each axis, a page.

use super::law::Law;
use super::scan::{Axis, LOWER_BOUND, Point, name};
use super::{Findings, page};
use crate::output::write_file;
use crate::plot::{Line, LogLog, Stroke};
use anyhow::{Context, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use undertone_learn::convex::experiment::Method;

/// Where the files go.
pub(super) struct Folder {
    path: PathBuf,
    force: bool,
}

const POINTS: &str = "convex-points.csv";
const SLOPES: &str = "convex-slopes.csv";
const PAGE: &str = "convex.html";

impl Folder {
    /// Makes the folder, and refuses one with files of ours unless `force` is set.
    pub(super) fn open(path: &Path, force: bool) -> anyhow::Result<Self> {
        fs::create_dir_all(path).with_context(|| format!("{} cannot be made", path.display()))?;
        let pictures = Axis::ALL.map(picture_name);
        for name in [POINTS, SLOPES, PAGE].into_iter().chain(pictures.iter().map(String::as_str)) {
            let file = path.join(name);
            ensure!(force || !file.exists(), "{} exists; --force replaces it", file.display());
        }
        Ok(Self { path: path.to_owned(), force })
    }

    /// Writes everything and returns what was written.
    pub(super) fn write(&self, findings: &Findings) -> anyhow::Result<Vec<PathBuf>> {
        let pictures = Axis::ALL.map(|axis| (axis, picture(axis, &findings.points)));
        let mut files = vec![
            (POINTS.to_owned(), points_csv(&findings.points)?),
            (SLOPES.to_owned(), slopes_csv(&findings.laws)?),
        ];
        let mut drawn = Vec::new();
        for (axis, svg) in pictures {
            let svg = svg?;
            drawn.push(svg.clone());
            files.push((picture_name(axis), svg));
        }
        files.push((PAGE.to_owned(), page::html(findings, &drawn)));
        files
            .into_iter()
            .map(|(name, contents)| {
                let path = self.path.join(name);
                write_file(&path, &contents, self.force)?;
                Ok(path)
            })
            .collect()
    }
}

fn picture_name(axis: Axis) -> String {
    format!("convex-{}.svg", axis.name())
}

fn points_csv(points: &[Point]) -> anyhow::Result<String> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    for point in points {
        csv.serialize(point)?;
    }
    Ok(String::from_utf8(csv.into_inner()?)?)
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
