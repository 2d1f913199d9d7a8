//! What whole records have taught: where the learner stands, and what is known so far.

use super::App;
use super::auth::require;
use super::problem::Problem;
use crate::collector::tokens::Role;
use crate::promise::Promise;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use undertone_learn::live::RecordEstimate;
use undertone_learn::online::{Interval, Level};
use undertone_report::{POINT_MEDIA_TYPE, Task};

/// Where devices take their gradients now.
///
/// Shown whatever the number of reports: nobody could answer without it, and it is made of randomized gradients alone.
#[utoipa::path(
    get, path = "/v1/point",
    responses(
        (status = 200, description = "the task's id, the version, θ", body = Vec<u8>, content_type = "application/vnd.undertone.point"),
        (status = 401, body = Problem),
        (status = 404, description = "this task asks for labels", body = Problem),
        (status = 503, description = "the learner is behind", body = Problem),
    ),
)]
pub(super) async fn point(State(app): State<App>, headers: HeaderMap) -> Result<Response, Problem> {
    require(&app.collector, &headers, Role::Submit)?;
    let point = app.collector.learning.point().ok_or_else(no_records)?;
    let behind = app.collector.reader.len().saturating_sub(point.version);
    if behind > app.collector.collection().learner.stale() / 2 {
        // A gradient there would be paid for and refused.
        return Err(Problem::busy("the learner is behind; ask again in a moment"));
    }
    let bytes = point.to_bytes(app.collector.format.task_id());
    Ok(([(header::CONTENT_TYPE, POINT_MEDIA_TYPE)], bytes).into_response())
}

/// Each parameter: the last point, the mean of all, and its 95 % interval or why there is none.
#[utoipa::path(
    get, path = "/v1/estimate",
    responses(
        (status = 200, body = serde_json::Value), (status = 401, body = Problem),
        (status = 404, description = "this task asks for labels", body = Problem),
        (status = 409, description = "too few reports", body = Problem),
    ),
)]
pub(super) async fn estimate(State(app): State<App>, headers: HeaderMap) -> Result<Response, Problem> {
    require(&app.collector, &headers, Role::Read)?;
    let view = app.collector.view();
    let records = view.records.as_ref().ok_or_else(no_records)?;
    if !app.collector.is_shown(&view) {
        return Err(Problem::too_few(view.reports, app.collector.collection().min_reports));
    }
    Ok(Json(Shown::new(records, app.collector.task())).into_response())
}

/// What is known so far, and what it cost.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    estimate: &'a RecordEstimate,
    /// Of each parameter V/n, where V is the diagonal of random scaling: its interval is the mean ± c·√(V/n)
    scatter: Option<Vec<f64>>,
    /// c of these intervals
    critical: f64,
    /// The weakest promise that anybody was given: no other has a larger ε, μ or δ
    largest: Option<Promise>,
}

impl<'a> Shown<'a> {
    fn new(estimate: &'a RecordEstimate, task: &Task) -> Self {
        let critical = Level::NINETY_FIVE.critical_value();
        let scatter = |interval: &Interval| (interval.half_width / critical).powi(2);
        let intervals = estimate.intervals.as_ref().ok();
        let tiers = task.collection.as_ref().map_or(&[][..], |collection| &collection.tiers);
        let chosen = tiers.iter().zip(&estimate.tiers).filter(|(_, reports)| **reports > 0);
        let weakest = chosen.map(|(level, _)| *level).reduce(f64::max);
        Self {
            estimate,
            scatter: intervals.map(|intervals| intervals.coordinates.iter().map(scatter).collect()),
            critical,
            largest: weakest.and_then(|level| task.promise_at(level).ok()).map(Promise::from),
        }
    }
}

fn no_records() -> Problem {
    let detail = "this task asks for labels, so that there are neither points nor parameters";
    Problem::new(StatusCode::NOT_FOUND, "no-records", "there are no records", detail)
}
