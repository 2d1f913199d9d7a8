//! Reports in, and out again.

use super::App;
use super::auth::require;
use super::body::Held;
use super::problem::Problem;
use crate::collector::intake::{Refusal, Trouble};
use crate::collector::tokens::Role;
use crate::collector::{Collector, Verdict};
use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use tokio_stream::wrappers::ReceiverStream;
use undertone_collect::Admission;
use undertone_report::batch::{self, BatchError};
use undertone_report::{JSON_MEDIA_TYPE, MEDIA_TYPE, Spelling};
use utoipa::{IntoParams, ToSchema};

/// The header of a token of admission.
pub(crate) const ADMISSION: &str = "undertone-admission";
/// Reports of one chunk of an export.
const CHUNK: usize = 1024;
/// The largest batch, whatever its bytes.
const MOST_REPORTS: usize = 10_000;

/// What became of one report.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Receipt {
    /// `accepted`, or `duplicate` if it was there before: either way it is stored, once
    outcome: &'static str,
    /// Of what was accepted, its place in the log
    position: Option<u64>,
}

/// What became of a batch.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct BatchReceipt {
    accepted: usize,
    duplicates: usize,
    /// Everything else, by its place in the batch
    refused: Vec<PlacedRefusal>,
}

/// A report of a batch that was refused.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PlacedRefusal {
    /// Counted from zero
    index: usize,
    #[serde(flatten)]
    refusal: Refusal,
}

/// Send one report.
///
/// The answer comes after the report is durable. The same bytes may be sent again whenever an answer got lost.
#[utoipa::path(
    post, path = "/v1/reports",
    request_body(content(
        (Vec<u8> = "application/vnd.undertone.report"),
        (serde_json::Value = "application/vnd.undertone.report+json"),
    )),
    responses(
        (status = 201, description = "stored", body = Receipt),
        (status = 200, description = "stored before", body = Receipt),
        (status = 401, body = Problem), (status = 422, description = "refused", body = Problem),
        (status = 429, body = Problem), (status = 503, body = Problem),
    ),
)]
pub(super) async fn one(
    State(app): State<App>,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<Receipt>), Problem> {
    require(&app.collector, &headers, Role::Submit)?;
    let (admission, body) = read(&app, &headers, body).await.map_err(counted(&app))?;
    let report = app.collector.format.read_one(body.bytes(), spelling(&headers));
    let verdict = app.collector.take(vec![report], admission).await;
    let verdict = verdict.map_err(trouble).map_err(counted(&app))?.pop();
    match verdict {
        Some(Verdict::Accepted(position)) => {
            Ok((StatusCode::CREATED, Json(Receipt { outcome: "accepted", position: Some(position) })))
        }
        Some(Verdict::Duplicate) => {
            Ok((StatusCode::OK, Json(Receipt { outcome: "duplicate", position: None })))
        }
        Some(Verdict::Refused(refusal)) => Err(Problem::report(refusal.reason, refusal.detail)),
        None => Err(Problem::internal("the report got lost")),
    }
}

/// Send many reports.
///
/// Binary: each report behind its length, four bytes, big-endian. JSON: an array. Each report has an outcome of its own.
#[utoipa::path(
    post, path = "/v1/batches",
    request_body(content(
        (Vec<u8> = "application/vnd.undertone.reports"), (Vec<serde_json::Value> = "application/json"),
    )),
    responses(
        (status = 200, description = "what became of each", body = BatchReceipt),
        (status = 401, body = Problem), (status = 422, body = Problem),
        (status = 429, body = Problem), (status = 503, body = Problem),
    ),
)]
pub(super) async fn batch(
    State(app): State<App>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<BatchReceipt>, Problem> {
    require(&app.collector, &headers, Role::Submit)?;
    let (admission, body) = read(&app, &headers, body).await.map_err(counted(&app))?;
    let reports = app.collector.format.read_batch(body.bytes(), spelling(&headers), MOST_REPORTS);
    let no_batch = |error: BatchError| Problem::report(error.reason(), error.to_string());
    let reports = reports.map_err(no_batch).map_err(counted(&app))?;
    let verdicts = app.collector.take(reports, admission).await;
    let verdicts = verdicts.map_err(trouble).map_err(counted(&app))?;
    let mut receipt = BatchReceipt::default();
    for (index, verdict) in verdicts.into_iter().enumerate() {
        match verdict {
            Verdict::Accepted(_) => receipt.accepted += 1,
            Verdict::Duplicate => receipt.duplicates += 1,
            Verdict::Refused(refusal) => receipt.refused.push(PlacedRefusal { index, refusal }),
        }
    }
    Ok(Json(receipt))
}

/// How an export is written.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
enum ExportForm {
    /// Each report behind its length
    #[default]
    Binary,
    /// One JSON document a line
    Lines,
}

#[derive(Debug, Deserialize, IntoParams)]
pub(crate) struct Export {
    /// The first position of the log to export
    #[serde(default)]
    from: u64,
    /// `binary` or `lines`
    #[serde(default)]
    #[param(inline)]
    format: ExportForm,
}

/// All reports, in the order of the log.
#[utoipa::path(
    get, path = "/v1/reports", params(Export),
    responses(
        (status = 200, content_type = "application/vnd.undertone.reports"),
        (status = 401, body = Problem), (status = 409, description = "too few reports", body = Problem),
    ),
)]
pub(super) async fn export(
    State(app): State<App>,
    headers: HeaderMap,
    Query(export): Query<Export>,
) -> Result<Response, Problem> {
    require(&app.collector, &headers, Role::Operate)?;
    let (reports, minimum) = (app.collector.reader.len(), app.collector.collection().min_reports);
    if reports < minimum {
        return Err(Problem::too_few(reports, minimum));
    }
    let media = match export.format {
        ExportForm::Binary => batch::MEDIA_TYPE,
        ExportForm::Lines => "application/x-ndjson",
    };
    // A few chunks at a time, whatever the size of the log and the patience of the reader
    let (sender, chunks) = tokio::sync::mpsc::channel::<Result<Bytes, std::io::Error>>(4);
    tokio::task::spawn_blocking(move || {
        if let Err(error) = write_export(&app.collector, &export, &sender) {
            drop(sender.blocking_send(Err(std::io::Error::other(error.to_string()))));
        }
    });
    Ok(([(header::CONTENT_TYPE, media)], Body::from_stream(ReceiverStream::new(chunks))).into_response())
}

fn write_export(
    collector: &Collector,
    export: &Export,
    sender: &tokio::sync::mpsc::Sender<Result<Bytes, std::io::Error>>,
) -> anyhow::Result<()> {
    let mut reports = collector.reader.read(export.from)?.peekable();
    while reports.peek().is_some() {
        let mut chunk = Vec::new();
        for stored in reports.by_ref().take(CHUNK) {
            let body = stored?.body;
            match export.format {
                ExportForm::Binary => chunk.extend(batch::join([&body])),
                ExportForm::Lines => {
                    chunk.extend(collector.format.to_json(&collector.format.decode(&body)?)?.bytes());
                    chunk.push(b'\n');
                }
            }
        }
        // Whoever has gone away wants no more.
        if sender.blocking_send(Ok(chunk.into())).is_err() {
            return Ok(());
        }
    }
    Ok(())
}

/// What comes with reports, and the reports.
async fn read(app: &App, headers: &HeaderMap, body: Body) -> Result<(Option<Admission>, Held), Problem> {
    let admission = admission(&app.collector, headers)?;
    Ok((admission, Held::read(body, app).await?))
}

/// For `map_err`: counts a refusal of a whole request, of which nobody knows how many reports it would have had, as one.
fn counted(app: &App) -> impl Fn(Problem) -> Problem {
    |problem| {
        app.collector.tally.refuse(problem.name());
        problem
    }
}

/// The token of admission, if one was sent; an error if it is none of ours.
fn admission(collector: &Collector, headers: &HeaderMap) -> Result<Option<Admission>, Problem> {
    let Some(token) = headers.get(ADMISSION) else { return Ok(None) };
    let admission = token.to_str().ok().and_then(|token| collector.admission.check(token));
    admission.map(Some).ok_or_else(|| {
        Problem::report("admission-forged", "this token of admission was not made here, or not for this task")
    })
}

fn spelling(headers: &HeaderMap) -> Spelling {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or(MEDIA_TYPE);
    let essence = |text: &str| text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let json = essence(kind) == essence(JSON_MEDIA_TYPE) || essence(kind) == "application/json";
    if json { Spelling::Json } else { Spelling::Binary }
}

pub(super) fn trouble(trouble: Trouble) -> Problem {
    match trouble {
        Trouble::Busy => Problem::busy("more reports are waiting to be stored than may"),
        Trouble::Broken => {
            let title = "reports cannot be stored";
            let detail = "the log has failed: the reason is in the messages of the collector";
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "log-failed", title, detail)
        }
    }
}
