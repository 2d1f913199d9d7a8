//! Claims on a page: each beside what came out.

use super::claim::{Claim, Verdict};

/// How such a page looks.
pub(super) const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#222;\
background:#fdfdfb}table{border-collapse:collapse;width:100%}th,td{padding:.25rem .6rem;border-bottom:1px solid #ddd;\
text-align:left;vertical-align:top}td.n{text-align:right;font-variant-numeric:tabular-nums}tr.no td{background:#fbe9e2}\
tr.partly td{background:#fdf5dd}figure{display:inline-block;width:32rem;margin:.5rem}svg{max-width:100%;height:auto}";

/// What did not come out as claimed.
pub(super) fn summary(claims: &[&Claim]) -> String {
    let of = |verdict: Verdict| claims.iter().filter(|claim| claim.verdict == verdict).collect::<Vec<_>>();
    let (all, no, partly) = (claims.len(), of(Verdict::NotReproduced), of(Verdict::Partly));
    let list = |claims: &[&&Claim]| -> String {
        let items = claims.iter().map(|claim| format!("<li>{}: {}", claim.source, escape(&claim.says)));
        items.collect::<Vec<_>>().concat()
    };
    format!(
        "<p><b>Of {all} claims {} did not reproduce, {} only in some settings.</b></p>\n<p>Not reproduced:</p><ul>{}</ul>\n\
<p>In some settings:</p><ul>{}</ul>\n",
        no.len(),
        partly.len(),
        list(&no),
        list(&partly)
    )
}

/// The claims of a section as a table.
pub(super) fn table(claims: &[Claim]) -> String {
    let rows: String = claims.iter().map(row).collect();
    format!("<table><tr><th>claim<th>what came out<th>verdict</tr>\n{rows}</table>\n")
}

fn row(claim: &Claim) -> String {
    let class = match claim.verdict {
        Verdict::Reproduced => "",
        Verdict::Partly => " class=\"partly\"",
        Verdict::NotReproduced => " class=\"no\"",
    };
    let (says, found) = (escape(&claim.says), escape(&claim.found));
    format!(
        "<tr{class}><td>{}: {says}<td>{found}<td>{}</tr>\n",
        claim.source,
        claim.verdict.name().to_lowercase()
    )
}

/// `text` where markup is read.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
