//! One figure or table of the paper, run again: points, pictures, claims.

use super::claim::Claim;
use super::run::{Estimator, Point, Run};
use crate::plot::{Line, LogLog, Stroke};

/// What is left of a figure.
#[derive(Default)]
pub(super) struct Section {
    pub(super) title: String,
    /// What was run, in a sentence
    pub(super) about: String,
    pub(super) points: Vec<Point>,
    /// File names without their end, and what is drawn
    pub(super) pictures: Vec<(String, String)>,
    pub(super) claims: Vec<Claim>,
}

/// What is drawn of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Error {
    Distance,
    Excess,
}

impl Error {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Distance => "distance",
            Self::Excess => "loss",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Distance => "squared distance from the truth",
            Self::Excess => "loss above the least",
        }
    }

    /// Of an estimator, along the run.
    fn of(self, point: &Point) -> (f64, f64) {
        match self {
            Self::Distance => (point.distance, point.distance_error),
            Self::Excess => (point.excess, point.excess_error),
        }
    }
}

/// A trajectory of one run, with bars of two standard errors; none if it is nowhere positive.
pub(super) fn trajectory(
    run: &Run,
    estimator: Estimator,
    error: Error,
    name: String,
    stroke: Stroke,
) -> Option<Line> {
    let points = run.points().into_iter().filter(|point| point.estimator == estimator);
    let drawable = points.map(|point| (point.people as f64, error.of(&point))).filter(|(_, (y, _))| *y > 0.0);
    let (points, bars): (Vec<_>, Vec<_>) = drawable.map(|(x, (y, bar))| ((x, y), 2.0 * bar)).unzip();
    (!points.is_empty()).then_some(Line { name, points, bars, stroke })
}

/// Trajectories in one chart.
pub(super) fn chart(
    title: String,
    error: Error,
    lines: impl IntoIterator<Item = Option<Line>>,
) -> anyhow::Result<String> {
    LogLog {
        title,
        x_name: "people".to_owned(),
        y_name: error.words().to_owned(),
        lines: lines.into_iter().flatten().collect(),
        mark: None,
    }
    .svg()
}
