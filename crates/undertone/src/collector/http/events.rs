//! The status, as it changes.

use super::App;
use super::auth::require;
use super::problem::Problem;
use crate::collector::status::Status;
use crate::collector::tokens::Role;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use std::convert::Infallible;
use std::time::Duration;
use tokio_stream::wrappers::IntervalStream;
use tokio_stream::{Stream, StreamExt};

/// How often it is sent.
const PERIOD: Duration = Duration::from_secs(1);

/// The status once a second, as server-sent events named `status`.
#[utoipa::path(
    get, path = "/v1/events",
    responses((status = 200, content_type = "text/event-stream", body = Status), (status = 401, body = Problem)),
)]
pub(super) async fn events(
    State(app): State<App>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    require(&app.collector, &headers, Role::Read)?;
    let mut stopping = app.stopping.clone();
    let ticks = IntervalStream::new(tokio::time::interval(PERIOD)).map(move |_| {
        let event = Event::default().event("status");
        // A status is made of numbers and strings.
        Ok(event.json_data(app.collector.status()).unwrap_or_default())
    });
    let stopped = async move { drop(stopping.wait_for(|stop| *stop).await) };
    let until = futures_util::StreamExt::take_until(ticks, stopped);
    Ok(Sse::new(until).keep_alive(KeepAlive::default()))
}
