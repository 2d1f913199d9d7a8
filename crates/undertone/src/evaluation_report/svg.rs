//! Pieces of pictures. Colours are left to the page, which knows whether it is light or dark.

use std::fmt::{self, Write};

/// An SVG of this size in its own units, as wide as the page allows but no wider than its units.
pub(super) struct Picture {
    body: String,
    width: f64,
    height: f64,
    name: String,
}

impl Picture {
    /// An empty one; `name` is what it shows, for whoever cannot see it.
    pub(super) fn new(name: &str, width: f64, height: f64) -> Self {
        Self { body: String::new(), width, height, name: name.to_string() }
    }

    pub(super) fn line(&mut self, class: &str, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2]) {
        self.push(format_args!(
            r#"<line class="{class}" x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}"/>"#
        ));
    }

    /// A rectangle that says `title` when it is pointed at.
    pub(super) fn rectangle(
        &mut self,
        class: &str,
        [x, y]: [f64; 2],
        size: [f64; 2],
        strength: f64,
        title: &str,
    ) {
        let ([width, height], title) = (size.map(|side| side.max(0.0)), escape(title));
        self.push(format_args!(
            r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" fill-opacity="{strength:.3}"><title>{title}</title></rect>"#
        ));
    }

    pub(super) fn circle(&mut self, class: &str, [x, y]: [f64; 2], radius: f64, title: &str) {
        let title = escape(title);
        self.push(format_args!(
            r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="{radius:.1}"><title>{title}</title></circle>"#
        ));
    }

    pub(super) fn text(&mut self, class: &str, [x, y]: [f64; 2], text: &str) {
        let text = escape(text);
        self.push(format_args!(r#"<text class="{class}" x="{x:.1}" y="{y:.1}">{text}</text>"#));
    }

    /// A text that reads upwards.
    pub(super) fn upright(&mut self, class: &str, [x, y]: [f64; 2], text: &str) {
        let text = escape(text);
        self.push(format_args!(
            r#"<text class="{class}" transform="translate({x:.1} {y:.1}) rotate(-90)">{text}</text>"#
        ));
    }

    /// The whole of it.
    pub(super) fn finish(self) -> String {
        let Self { body, width, height, name } = self;
        let name = escape(&name);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" style=\"max-width:{width:.0}px\" \
             role=\"img\" aria-label=\"{name}\">\n{body}</svg>\n"
        )
    }

    fn push(&mut self, piece: fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = writeln!(self.body, "{piece}");
    }
}

/// `text` where markup is read.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// At most `most` characters of `text`.
pub(super) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_string();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}
