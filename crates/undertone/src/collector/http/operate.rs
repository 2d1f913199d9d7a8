//! What an operator can do.

use super::App;
use super::auth::require;
use super::body::Held;
use super::problem::Problem;
use super::reports::trouble;
use crate::collector::mark;
use crate::collector::tokens::Role;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use std::sync::atomic::Ordering;
use utoipa::ToSchema;

/// The most tokens of one request.
const MOST: u32 = 100_000;

/// Tokens to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// How many
    count: u32,
    /// Reports that each admits
    #[serde(default = "one")]
    cap: u32,
}

fn one() -> u32 {
    1
}

/// Tokens of admission, to be handed to devices: one goes with each report, in the header `undertone-admission`.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Made {
    tokens: Vec<String>,
}

/// Make tokens of admission.
#[utoipa::path(
    post, path = "/v1/operate/admission", request_body = Wanted,
    responses((status = 200, body = Made), (status = 401, body = Problem), (status = 422, body = Problem)),
)]
pub(super) async fn admission(
    State(app): State<App>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Made>, Problem> {
    require(&app.collector, &headers, Role::Operate)?;
    let body = Held::read(body, &app).await?;
    let wanted: Wanted = serde_json::from_slice(body.bytes())
        .map_err(|error| Problem::report("no-json", format!("{{\"count\": N}} was expected: {error}")))?;
    if !(1..=MOST).contains(&wanted.count) || wanted.cap == 0 {
        let detail = format!("from 1 to {MOST} tokens, each for at least one report, can be made at once");
        return Err(Problem::report("bad-count", detail));
    }
    let made: anyhow::Result<Vec<String>> =
        (0..wanted.count).map(|_| app.collector.admission.issue(wanted.cap)).collect();
    Ok(Json(Made { tokens: made.map_err(|error| Problem::internal(format!("{error:#}")))? }))
}

/// Stop taking reports, until it is opened again; also over restarts.
#[utoipa::path(post, path = "/v1/operate/close", responses((status = 200, body = String), (status = 401, body = Problem)))]
pub(super) async fn close(State(app): State<App>, headers: HeaderMap) -> Result<&'static str, Problem> {
    set_closed(&app, &headers, true)?;
    Ok("closed\n")
}

/// Take reports again, as far as the task's own window allows.
#[utoipa::path(post, path = "/v1/operate/open", responses((status = 200, body = String), (status = 401, body = Problem)))]
pub(super) async fn open(State(app): State<App>, headers: HeaderMap) -> Result<&'static str, Problem> {
    set_closed(&app, &headers, false)?;
    Ok("open\n")
}

/// Reports in files that any engine reads.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Sealed {
    /// How many, from the beginning of the log
    reports: u64,
    /// Where the files are: a folder for each ε that people may choose
    folders: Vec<String>,
}

/// Close the present segment of the log and write it as Parquet, so that everything stored so far can be read there.
///
/// The answer comes when the files are there.
#[utoipa::path(
    post, path = "/v1/operate/seal",
    responses(
        (status = 200, body = Sealed), (status = 401, body = Problem),
        (status = 404, description = "this task asks for whole records", body = Problem),
        (status = 409, description = "too few reports", body = Problem),
        (status = 500, description = "the files cannot be written", body = Problem),
        (status = 503, description = "the log cannot be written", body = Problem),
    ),
)]
pub(super) async fn seal(State(app): State<App>, headers: HeaderMap) -> Result<Json<Sealed>, Problem> {
    require(&app.collector, &headers, Role::Operate)?;
    let (reports, minimum) = (app.collector.reader.len(), app.collector.collection().min_reports);
    if reports < minimum {
        return Err(Problem::too_few(reports, minimum));
    }
    let sealing = app.collector.sealing.as_ref().ok_or_else(|| {
        let detail = "this task asks for whole records, whose gradients stay in the log";
        Problem::new(StatusCode::NOT_FOUND, "no-files", "there are no files", detail)
    })?;
    let end = app.collector.close_segment().await.map_err(trouble)?;
    sealing.reach(end).await.map_err(Problem::internal)?;
    let folders = sealing.folders().iter().map(|folder| folder.display().to_string()).collect();
    Ok(Json(Sealed { reports: sealing.reports(), folders }))
}

fn set_closed(app: &App, headers: &HeaderMap, closed: bool) -> Result<(), Problem> {
    require(&app.collector, headers, Role::Operate)?;
    mark(&app.closed_mark, closed).map_err(|error| Problem::internal(format!("{error:#}")))?;
    app.collector.closed.store(closed, Ordering::Relaxed);
    Ok(())
}
