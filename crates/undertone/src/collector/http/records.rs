//! What whole records have taught: where the learner stands, and what is known so far.

use super::App;
use super::auth::require;
use super::problem::Problem;
use crate::collector::tokens::Role;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use undertone_report::POINT_MEDIA_TYPE;

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
    Ok(Json(records).into_response())
}

fn no_records() -> Problem {
    let detail = "this task asks for labels, so that there are neither points nor parameters";
    Problem::new(StatusCode::NOT_FOUND, "no-records", "there are no records", detail)
}
