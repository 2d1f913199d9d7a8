//! Bodies of requests: how large one may be, how slow, and how much memory all of them may take together.
//!
//! What is read is laid end to end. A stranger may cut a body into as many pieces as it has bytes, and a piece that is kept as
//! it came takes more room than its byte.

use super::App;
use super::problem::Problem;
use axum::body::Body;
use axum::http::StatusCode;
use http_body_util::BodyExt;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, TryAcquireError};

/// The most that is set aside for a body before it comes.
const AHEAD: u64 = 16 << 10;

/// A body, and its share of the memory for bodies until it is dropped.
pub(super) struct Held {
    bytes: Vec<u8>,
    room: OwnedSemaphorePermit,
}

impl Held {
    /// The whole body, if it is small enough, comes soon enough, and there is room.
    pub(super) async fn read(body: Body, app: &App) -> Result<Self, Problem> {
        // Whoever says beforehand that it is too much need not send it.
        let announced = hyper::body::Body::size_hint(&body).lower();
        if announced > app.limits.body as u64 {
            return Err(too_large(app));
        }
        let room = app.bodies.clone().try_acquire_many_owned(0).map_err(no_room)?;
        let mut held = Self { bytes: Vec::with_capacity(announced.min(AHEAD) as usize), room };
        let patience = Duration::from_secs(app.limits.patience);
        let read = tokio::time::timeout(patience, held.fill(body, app)).await;
        let too_slow = |_| {
            let detail = format!("the body did not come within {} s", app.limits.patience);
            Problem::new(StatusCode::REQUEST_TIMEOUT, "too-slow", "the request is too slow", detail)
        };
        read.map_err(too_slow)??;
        Ok(held)
    }

    async fn fill(&mut self, mut body: Body, app: &App) -> Result<(), Problem> {
        while let Some(frame) = body.frame().await {
            // What is no data is a trailer, which nobody has asked for.
            let Ok(data) = frame.map_err(|_| too_large(app))?.into_data() else { continue };
            if self.bytes.len() + data.len() > app.limits.body {
                return Err(too_large(app));
            }
            // One piece comes from one read, of some ten thousand bytes.
            let room = app.bodies.clone().try_acquire_many_owned(data.len() as u32);
            self.room.merge(room.map_err(no_room)?);
            self.bytes.extend_from_slice(&data);
        }
        Ok(())
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

fn too_large(app: &App) -> Problem {
    let detail = format!("the body has more than {} bytes, or ended early", app.limits.body);
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", "the request is too large", detail)
}

fn no_room(_: TryAcquireError) -> Problem {
    Problem::busy("more bytes are being received than there is room for")
}
