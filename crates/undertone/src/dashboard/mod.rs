//! The page on which an operator watches a collection, in a few files that the program carries within itself.
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

/// Its script, `app.js`, and the modules that this imports: names beside the page, and texts as
/// `text/javascript; charset=utf-8`.
pub(crate) const SCRIPTS: &[(&str, &str)] = &[
    ("app.js", include_str!("app.js")),
    ("arrivals.js", include_str!("arrivals.js")),
    ("bars.js", include_str!("bars.js")),
    ("connection.js", include_str!("connection.js")),
    ("curve.js", include_str!("curve.js")),
    ("elements.js", include_str!("elements.js")),
    ("line_chart.js", include_str!("line_chart.js")),
    ("overview.js", include_str!("overview.js")),
    ("parameters.js", include_str!("parameters.js")),
    ("scale.js", include_str!("scale.js")),
    ("shares.js", include_str!("shares.js")),
    ("words.js", include_str!("words.js")),
];

/// Its looks, `style.css` beside the page, as `text/css; charset=utf-8`.
pub(crate) fn style() -> &'static str {
    include_str!("style.css")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_policy_is_one_header_line_that_allows_nothing_inline_and_nobody_else() {
        assert!(CONTENT_SECURITY_POLICY.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
        assert!(CONTENT_SECURITY_POLICY.starts_with("default-src 'none'; "));
        for loophole in ["unsafe", "*", "http", "  "] {
            assert!(!CONTENT_SECURITY_POLICY.contains(loophole), "{loophole}");
        }
    }

    #[test]
    fn the_page_loads_its_own_script_and_style_and_nothing_else() {
        let loaded = |mark: &str| page().matches(mark).count();
        assert!(page().contains(r#"<script type="module" src="app.js">"#));
        assert!(page().contains(r#"<link rel="stylesheet" href="style.css">"#));
        assert_eq!(
            (loaded("<script"), loaded("src="), loaded("<link")),
            (1, 1, 2),
            "the other link is the icon, as data"
        );
        for inline in ["<style", " style=", " onclick=", " onload=", "href=\"http", "href=\"//"] {
            assert!(!page().contains(inline), "{inline}");
        }
    }

    #[test]
    fn the_scripts_import_each_other_and_nothing_else() {
        let mut imported = BTreeSet::from(["app.js"]);
        for (name, text) in SCRIPTS {
            let from: Vec<&str> =
                text.split(" from './").skip(1).filter_map(|rest| rest.split('\'').next()).collect();
            assert_eq!(from.len(), text.matches("import ").count(), "{name}");
            assert!(!text.contains("import("), "{name}");
            imported.extend(from);
        }
        assert_eq!(imported, SCRIPTS.iter().map(|(name, _)| *name).collect());
    }

    #[test]
    fn the_scripts_make_text_of_words_never_markup_or_code() {
        let scripts: String = SCRIPTS.iter().map(|(_, text)| *text).collect();
        for way in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "DOMParser",
            "eval(",
            "Function(",
        ] {
            assert!(!scripts.contains(way), "{way}");
        }
        // The one address is the name of SVG, which nobody asks for.
        assert_eq!(scripts.matches("http").count(), 1);
        assert!(scripts.contains("'http://www.w3.org/2000/svg'"));
    }

    #[test]
    fn the_style_loads_nothing() {
        for way in ["url(", "@import", "@font-face"] {
            assert!(!style().contains(way), "{way}");
        }
    }
}
