//! The dashboard: its own files, and nothing from anywhere else.

use super::App;
use crate::dashboard;
use axum::Router;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

pub(super) fn routes() -> Router<App> {
    let page = Router::new()
        .route("/", get(|| async { file("text/html; charset=utf-8", dashboard::page()) }))
        .route("/style.css", get(|| async { file("text/css; charset=utf-8", dashboard::style()) }));
    dashboard::SCRIPTS.iter().fold(page, |page, &(name, text)| {
        page.route(
            &format!("/{name}"),
            get(move || async move { file("text/javascript; charset=utf-8", text) }),
        )
    })
}

fn file(kind: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, dashboard::CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, text).into_response()
}
