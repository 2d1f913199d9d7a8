//! The collector over HTTP.
//!
//! Every route is a function with its description, from which the OpenAPI document is made. Errors are problem documents.

mod answers;
mod auth;
mod body;
mod events;
mod metrics;
mod operate;
mod page;
mod problem;
mod rate;
mod records;
mod reports;
mod server;

pub(crate) use reports::ADMISSION;
pub(crate) use server::Server;

use super::Collector;
use super::config::{Config, Limits};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use metrics::Metrics;
use problem::Problem;
use rate::Rate;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{Semaphore, watch};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// What every route can reach.
#[derive(Clone)]
struct App {
    collector: Arc<Collector>,
    metrics: Arc<Metrics>,
    rate: Arc<Rate>,
    limits: Limits,
    /// Bytes that bodies of requests may take
    bodies: Arc<Semaphore>,
    /// What is there if an operator has closed the collection
    closed_mark: Arc<std::path::Path>,
    /// Whether the collector is about to stop
    stopping: watch::Receiver<bool>,
}

/// Where a request came from.
#[derive(Clone, Copy, Debug)]
struct Sender(IpAddr);

#[derive(OpenApi)]
#[openapi(info(
    title = "undertone collector",
    description = "Takes randomized reports, stores each once, and shows what can be learnt from all of them."
))]
struct Description;

/// All routes.
fn router(collector: Arc<Collector>, config: &Config, stopping: watch::Receiver<bool>) -> Router {
    let app = App {
        closed_mark: config.closed_mark(collector.task().id()).into(),
        collector,
        metrics: Arc::new(Metrics::new()),
        rate: Arc::new(Rate::new(config.limits.rate, config.limits.burst)),
        limits: config.limits,
        bodies: Arc::new(Semaphore::new(config.limits.bodies)),
        stopping,
    };
    let (router, description) = OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(answers::task))
        .routes(routes!(reports::one))
        .routes(routes!(reports::batch))
        .routes(routes!(reports::export))
        .routes(routes!(answers::model))
        .routes(routes!(answers::shares))
        .routes(routes!(answers::status))
        .routes(routes!(records::point))
        .routes(routes!(records::estimate))
        .routes(routes!(events::events))
        .routes(routes!(operate::admission))
        .routes(routes!(operate::close))
        .routes(routes!(operate::open))
        .routes(routes!(operate::seal))
        .routes(routes!(answers::health))
        .routes(routes!(metrics::metrics))
        .split_for_parts();
    let description = Arc::new(description);
    let document = move || async move { Json(description.as_ref().clone()) };
    router
        .route("/openapi.json", axum::routing::get(document))
        .merge(page::routes())
        .fallback(missing)
        .layer(middleware::from_fn_with_state(app.clone(), measure))
        .layer(DefaultBodyLimit::max(config.limits.body))
        .with_state(app)
}

async fn missing(request: Request) -> Problem {
    let detail = format!("there is nothing at {}", request.uri().path());
    Problem::new(axum::http::StatusCode::NOT_FOUND, "not-found", "there is no such resource", detail)
}

/// Refuses who is too fast, and measures the rest.
async fn measure(State(app): State<App>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let route = request.extensions().get::<axum::extract::MatchedPath>();
    let route = route.map_or_else(|| "other".to_owned(), |path| path.as_str().to_owned());
    let sender = request.extensions().get::<Sender>().copied();
    if sender.is_some_and(|Sender(address)| !app.rate.allows(address, began)) {
        app.metrics.request(&route, 429, began.elapsed());
        return Problem::too_fast().into_response();
    }
    let response = next.run(request).await;
    app.metrics.request(&route, response.status().as_u16(), began.elapsed());
    response
}
