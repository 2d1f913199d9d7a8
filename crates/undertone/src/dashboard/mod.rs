//! The page on which an operator watches a collection, in three files that the program carries within itself.
//!
//! It asks `v1/status`, listens to `v1/events`, both relative to where the page is, and loads nothing else: neither
//! who runs the collector nor who looks at it becomes known to anybody. Class names and other words of a task are put
//! in place as text; [`CONTENT_SECURITY_POLICY`] makes the browser refuse everything else, should the script ever err.

/// What the browser may do with the page: its own script and style, questions to its own collector, nothing more. No
/// text can become a script or markup, no other page can frame it.
pub(crate) const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

/// The page, as `text/html; charset=utf-8`.
pub(crate) fn page() -> &'static str {
    include_str!("index.html")
}

/// Its script, `app.js` beside the page, as `text/javascript; charset=utf-8`.
pub(crate) fn script() -> &'static str {
    include_str!("app.js")
}

/// Its looks, `style.css` beside the page, as `text/css; charset=utf-8`.
pub(crate) fn style() -> &'static str {
    include_str!("style.css")
}
