//! Figures for Prometheus.

use super::App;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use std::time::Duration;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Request {
    route: String,
    status: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Route {
    route: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Reason {
    reason: &'static str,
}

/// What is counted while requests are served; what the collector knows anyway is read when somebody asks.
#[derive(Clone)]
pub(super) struct Metrics {
    requests: Family<Request, Counter>,
    seconds: Family<Route, Histogram>,
}

impl Metrics {
    pub(super) fn new() -> Self {
        let histogram = || Histogram::new(exponential_buckets(0.000_25, 2.0, 16));
        Self { requests: Family::default(), seconds: Family::new_with_constructor(histogram) }
    }

    pub(super) fn request(&self, route: &str, status: u16, took: Duration) {
        self.requests.get_or_create(&Request { route: route.to_owned(), status }).inc();
        self.seconds.get_or_create(&Route { route: route.to_owned() }).observe(took.as_secs_f64());
    }
}

/// Figures for Prometheus.
#[utoipa::path(get, path = "/metrics", responses((status = 200, body = String)))]
pub(super) async fn metrics(State(app): State<App>) -> Response {
    let (metrics, collector) = (&app.metrics, &app.collector);
    let mut registry = Registry::with_prefix("undertone");
    registry.register("http_requests", "Requests by route and status", metrics.requests.clone());
    let about = "Time to answer, by route";
    registry.register_with_unit("http_request_duration", about, Unit::Seconds, metrics.seconds.clone());
    let counts = collector.tally.counts();
    let counter = |value: u64| {
        let counter = Counter::<u64>::default();
        counter.inc_by(value);
        counter
    };
    registry.register("reports_accepted", "Reports stored since the start", counter(counts.accepted));
    registry.register("log_commits", "Syncs of the log since the start", counter(collector.commits()));
    let refused = Family::<Reason, Counter>::default();
    for (reason, count) in counts.refused {
        refused.get_or_create(&Reason { reason }).inc_by(count);
    }
    registry.register("reports_refused", "Reports refused since the start, by reason", refused);
    let gauge = |value: u64| {
        let gauge = Gauge::<i64>::default();
        gauge.set(value as i64);
        gauge
    };
    let (stored, learnt) = (collector.reader.len(), collector.view().reports);
    registry.register("log_reports", "Reports in the log", gauge(stored));
    registry.register(
        "learner_lag_reports",
        "Reports not learnt from yet",
        gauge(stored.saturating_sub(learnt)),
    );
    if let Some(sealing) = &collector.sealing {
        registry.register("log_sealed_reports", "Reports in Parquet files", gauge(sealing.reports()));
    }
    let mut text = String::new();
    match encode(&mut text, &registry) {
        Ok(()) => {
            let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
            ([(header::CONTENT_TYPE, kind)], text).into_response()
        }
        Err(error) => super::problem::Problem::internal(error.to_string()).into_response(),
    }
}
