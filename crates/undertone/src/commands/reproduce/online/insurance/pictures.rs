//! Losses and errors along the number of people, a picture for each decay.

use super::super::extent::{DECAYS, fraction};
use super::{ESTIMATORS, Row, WAYS, along, mechanisms};
use crate::plot::{Line, LogLog, Stroke};

/// What is drawn.
#[derive(Clone, Copy)]
struct Measured {
    task: &'static str,
    name: &'static str,
    /// Value and standard error
    of: fn(&Row) -> (f64, f64),
}

const ALL: [Measured; 3] = [
    Measured { task: "charges", name: "mean squared error", of: |row| (row.loss, row.loss_error) },
    Measured { task: "thirds", name: "cross-entropy", of: |row| (row.loss, row.loss_error) },
    Measured {
        task: "thirds",
        name: "share of errors",
        of: |row| (1.0 - row.accuracy.unwrap_or(f64::NAN), row.accuracy_error.unwrap_or(f64::NAN)),
    },
];

/// File names without their end, and what is drawn.
pub(super) fn of(rows: &[Row]) -> anyhow::Result<Vec<(String, String)>> {
    let mut pictures = Vec::new();
    for Measured { task, name, of } in ALL {
        for (_, _, coding) in WAYS {
            for alpha in DECAYS {
                let lines = mechanisms(rows).into_iter().flat_map(|mechanism| {
                    ESTIMATORS.into_iter().zip([Stroke::Whole, Stroke::Companion]).map(
                        move |(estimator, stroke)| {
                            let own = along(rows, task, coding, mechanism, alpha, estimator);
                            Line {
                                name: format!("{mechanism}, {estimator}"),
                                points: own.iter().map(|row| (row.people as f64, of(row).0)).collect(),
                                bars: own.iter().map(|row| 2.0 * of(row).1).collect(),
                                stroke,
                            }
                        },
                    )
                });
                let chart = LogLog {
                    title: format!("Insurance, {task}, coding {coding}, α = {}", fraction(alpha)),
                    x_name: "people".to_owned(),
                    y_name: name.to_owned(),
                    lines: lines.collect(),
                    mark: None,
                };
                let (place, name) = (fraction(alpha).replace('/', "-"), name.replace(' ', "-"));
                pictures.push((format!("insurance-{task}-{coding}-alpha-{place}-{name}"), chart.svg()?));
            }
        }
    }
    Ok(pictures)
}
