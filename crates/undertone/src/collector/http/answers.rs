//! What was asked and what has been learnt.

use super::App;
use super::auth::require;
use super::problem::Problem;
use crate::collector::status::{self, ClassShare, Status};
use crate::collector::tokens::Role;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

/// The shares of all classes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Shares {
    /// The reports that they come from
    reports: u64,
    /// Class by class, with 95 % intervals
    #[serde(rename = "shares")]
    classes: Vec<ClassShare>,
    influence: crate::collector::learning::Influence,
}

/// The task: what is asked, under which promise, by which mechanism.
#[utoipa::path(get, path = "/v1/task", responses((status = 200, body = serde_json::Value)))]
pub(super) async fn task(State(app): State<App>) -> Response {
    let id = HeaderValue::from_str(&format!("\"{}\"", app.collector.task.id()));
    let mut response = app.collector.task.to_json().into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.extend(id.ok().map(|id| (header::ETAG, id)));
    response
}

/// The current model. Its version is the number of reports that it has learnt from.
#[utoipa::path(
    get, path = "/v1/model",
    responses(
        (status = 200, body = serde_json::Value), (status = 401, body = Problem),
        (status = 404, description = "this task learns no model", body = Problem),
        (status = 409, description = "too few reports", body = Problem),
    ),
)]
pub(super) async fn model(State(app): State<App>, headers: HeaderMap) -> Result<Response, Problem> {
    require(&app.collector, &headers, Role::Read)?;
    let view = app.collector.view();
    if !app.collector.is_shown(&view) {
        return Err(Problem::too_few(view.reports, app.collector.collection().min_reports));
    }
    let none =
        || Problem::new(StatusCode::NOT_FOUND, "no-model", "there is no model", "this task learns none");
    let model = view.model.as_ref().ok_or_else(none)?;
    let document = model.to_json().map_err(|error| Problem::internal(error.to_string()))?;
    let version = ("undertone-model-version", view.reports.to_string());
    Ok(([(header::CONTENT_TYPE.as_str(), "application/json".to_owned()), version], document).into_response())
}

/// The share of each class, with its interval and how far fake reports can have moved it.
#[utoipa::path(
    get, path = "/v1/shares",
    responses(
        (status = 200, body = Shares), (status = 401, body = Problem),
        (status = 404, description = "people answer among some classes only", body = Problem),
        (status = 409, description = "too few reports", body = Problem),
    ),
)]
pub(super) async fn shares(State(app): State<App>, headers: HeaderMap) -> Result<Json<Shares>, Problem> {
    require(&app.collector, &headers, Role::Read)?;
    let view = app.collector.view();
    if !app.collector.is_shown(&view) {
        return Err(Problem::too_few(view.reports, app.collector.collection().min_reports));
    }
    let shares = status::shares(&app.collector.task.classes, &view);
    let none = || {
        let detail = "people answer among some classes only, so that shares of all cannot be told";
        Problem::new(StatusCode::NOT_FOUND, "no-shares", "there are no shares", detail)
    };
    Ok(Json(Shares {
        reports: view.reports,
        classes: shares.ok_or_else(none)?,
        influence: view.influence(app.collector.collection().min_reports),
    }))
}

/// Everything that the dashboard shows.
#[utoipa::path(
    get, path = "/v1/status",
    responses((status = 200, body = Status), (status = 401, body = Problem)),
)]
pub(super) async fn status(State(app): State<App>, headers: HeaderMap) -> Result<Json<Status>, Problem> {
    require(&app.collector, &headers, Role::Read)?;
    Ok(Json(app.collector.status()))
}

/// Whether reports can be stored and learnt from.
#[utoipa::path(
    get, path = "/healthz",
    responses((status = 200, body = String), (status = 503, body = Problem)),
)]
pub(super) async fn health(State(app): State<App>) -> Result<&'static str, Problem> {
    let sick = |detail: &str| {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unhealthy", "the collector is not well", detail)
    };
    if !app.collector.can_store().await {
        return Err(sick("the log has failed: the reason is in the messages of the collector"));
    }
    if !app.collector.learning.is_well() {
        return Err(sick("learning has stopped: the reason is in the messages of the collector"));
    }
    Ok("ok\n")
}
