//! Refusals as documents that programs can tell apart (RFC 9457).

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

/// Why a request was refused.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// `urn:undertone:problem:` and a name that stays
    #[serde(rename = "type")]
    kind: String,
    /// What it means, in general
    title: &'static str,
    /// The status of the answer
    status: u16,
    /// What it was this time
    detail: String,
    /// The same name, for counters
    #[serde(skip)]
    name: &'static str,
    #[serde(skip)]
    retry_after: Option<u32>,
}

impl Problem {
    pub(crate) fn new(
        status: StatusCode,
        name: &'static str,
        title: &'static str,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            kind: format!("urn:undertone:problem:{name}"),
            name,
            title,
            status: status.as_u16(),
            detail: detail.into(),
            retry_after: None,
        }
    }

    /// A report that is none, or not one of this task.
    pub(crate) fn report(name: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, name, "the report was refused", detail)
    }

    /// The name that stays.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Nobody said who they are, or they may not do this.
    pub(crate) fn unauthorized(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", "a bearer token is needed", detail)
    }

    /// There is nothing to show yet.
    pub(crate) fn too_few(reports: u64, minimum: u64) -> Self {
        let detail = format!("{reports} reports are in, and nothing is shown below {minimum}");
        Self::new(StatusCode::CONFLICT, "too-few-reports", "there are too few reports", detail)
    }

    /// More than this collector can take at the moment.
    pub(crate) fn busy(detail: impl Into<String>) -> Self {
        let busy = Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", "the collector is busy", detail);
        Self { retry_after: Some(1), ..busy }
    }

    /// More than one address may send.
    pub(crate) fn too_fast() -> Self {
        let (title, detail) = ("too many requests", "this address has sent more than its rate allows");
        let slow = Self::new(StatusCode::TOO_MANY_REQUESTS, "too-fast", title, detail);
        Self { retry_after: Some(1), ..slow }
    }

    /// Nothing that the sender could mend.
    pub(crate) fn internal(detail: impl Into<String>) -> Self {
        let title = "the collector cannot do this now";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", title, detail)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let retry_after = self.retry_after;
        let mut response = (status, Json(self)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}
