//! The page: each claim beside what was measured, and the pictures.

use super::law::{HOW_TO_READ, Law, Verdict};
use super::{Findings, scan};

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222;\
background:#fdfdfb}table{border-collapse:collapse;width:100%}th,td{padding:.25rem .6rem;border-bottom:1px solid #ddd;\
text-align:left}td.n{text-align:right;font-variant-numeric:tabular-nums}tr.no td{background:#fbe9e2}svg{max-width:100%;height:auto}";

/// One self-contained page with `pictures` inside.
pub(super) fn html(findings: &Findings, pictures: &[(String, String)]) -> String {
    let rows: String = findings.laws.iter().map(row).collect();
    let figures: String =
        pictures.iter().map(|(_, svg)| format!("<figure>{svg}</figure>\n")).collect::<Vec<_>>().concat();
    let Findings { seed, repetitions, .. } = findings;
    let size = if findings.quick { "a quick run with few people" } else { "a full run" };
    format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Excess risk under local label privacy</title>\n\
<style>{STYLE}</style>\n<h1>Excess risk under local label privacy</h1>\n\
<p>Simulation with seed {seed}, {repetitions} descents for each point ({size}). Labels come from the instance of Theorem 2 of \
<i>Convex Optimization with Local Label Differential Privacy</i> on which the method does worst; every method learns by \
projected stochastic gradient descent with the step of its exact second moment. <i>{}</i> is the bound that no ε-private learner \
can go below on that family, with its constant. Bars in the pictures are two standard errors.</p>\n{}\
<table><tr><th>slope of ln(excess risk)<th>method<th>order<th>claimed<th>predicted<th>measured<th>verdict</tr>\n{rows}</table>\n\
<p>{HOW_TO_READ}</p>\n{figures}</html>\n",
        scan::LOWER_BOUND,
        summary(&findings.laws),
    )
}

/// What did not come out as claimed, in a sentence.
fn summary(laws: &[Law]) -> String {
    let failed: Vec<String> = laws
        .iter()
        .filter(|law| law.verdict == Verdict::NotReproduced)
        .map(|law| format!("{} ({})", law.method, law.regime.name()))
        .collect();
    if failed.is_empty() {
        "<p><b>Every claimed order was reproduced.</b></p>\n".to_owned()
    } else {
        let count = laws.len();
        format!(
            "<p><b>{} of {count} claims did not reproduce at these sizes:</b> {}.</p>\n",
            failed.len(),
            failed.join("; ")
        )
    }
}

fn row(law: &Law) -> String {
    let class = if law.verdict == Verdict::NotReproduced { " class=\"no\"" } else { "" };
    let number = |slope: Option<f64>| slope.map_or_else(|| "–".to_owned(), |slope| format!("{slope:.3}"));
    let cells = [law.order.to_string(), number(law.claimed), number(law.predicted), law.measured_in_words()];
    let cells = cells.map(|cell| format!("<td class=\"n\">{cell}")).concat();
    let left_out = if law.capped > 0 { format!(", {} left out", law.capped) } else { String::new() };
    format!(
        "<tr{class}><td>{}<td>{}{cells}<td>{} ({} points{left_out})</tr>\n",
        law.regime.name(),
        law.method,
        law.verdict.name().to_lowercase(),
        law.points,
    )
}
