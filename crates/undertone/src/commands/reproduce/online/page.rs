//! The page: each claim beside what came out, and the pictures.

use super::Findings;
use super::claim::{Claim, Verdict};
use super::extent::fraction;
use super::orders::Order;
use super::section::Section;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#222;\
background:#fdfdfb}table{border-collapse:collapse;width:100%}th,td{padding:.25rem .6rem;border-bottom:1px solid #ddd;\
text-align:left;vertical-align:top}td.n{text-align:right;font-variant-numeric:tabular-nums}tr.no td{background:#fbe9e2}\
tr.partly td{background:#fdf5dd}figure{display:inline-block;width:32rem;margin:.5rem}svg{max-width:100%;height:auto}";

/// One self-contained page.
pub(super) fn html(findings: &Findings) -> String {
    let Findings { seed, people, replications, .. } = findings;
    let size = if findings.quick { "a quick run with few people" } else { "a full run" };
    let sections: String = findings.sections.iter().map(|section| part(section, findings)).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Online learning under local privacy</title>\n\
<style>{STYLE}</style>\n<h1>Online learning under local privacy</h1>\n\
<p><b>Simulation</b> with seed {seed}: {people} people in {replications} replications ({size}). Every person's device reports a \
private gradient once, and the model takes a step. Beside the claims of Shi, Xie, Jiang, Kong, He, <i>Non-Asymptotic Analysis of \
Online Local Private Learning with SGD</i>, stands what came out, with noise of the right scale (the printed variances 4/μ and \
8·ln(1.25/δ)/ε break their promises below 1), σ projected to [0.1, 20], and standard errors.</p>\n{}{sections}</html>\n",
        summary(findings)
    )
}

/// What did not come out as claimed.
fn summary(findings: &Findings) -> String {
    let of =
        |verdict: Verdict| findings.claims().filter(|claim| claim.verdict == verdict).collect::<Vec<_>>();
    let (all, no, partly) = (findings.claims().count(), of(Verdict::NotReproduced), of(Verdict::Partly));
    let list = |claims: &[&Claim]| -> String {
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

fn part(section: &Section, findings: &Findings) -> String {
    let claims: String = section.claims.iter().map(row).collect();
    let orders = if section.title.starts_with("Table 1") { table(&findings.orders) } else { String::new() };
    let pictures = section.pictures.iter().map(|(_, svg)| format!("<figure>{svg}</figure>\n"));
    let pictures = pictures.collect::<Vec<_>>().concat();
    format!(
        "<h2>{}</h2>\n<p>{}</p>\n<table><tr><th>claim<th>what came out<th>verdict</tr>\n{claims}</table>\n{orders}{pictures}",
        section.title, section.about
    )
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

fn table(orders: &[Order]) -> String {
    let rows: String = orders.iter().map(order_row).collect();
    format!(
        "<table><tr><th>slope of ln(error) in ln n<th>model<th>α<th>stated bound<th>smooth losses<th>measured</tr>\n{rows}</table>\n"
    )
}

fn order_row(order: &Order) -> String {
    let class = if order.verdict == Verdict::Reproduced { "" } else { " class=\"no\"" };
    let claimed = order.claimed.map_or_else(|| "–".to_owned(), |claimed| format!("{claimed:.2}"));
    let measured = format!("{:.3} ± {:.3}", order.measured.slope, order.measured.standard_error);
    let cells =
        [claimed, format!("{:.2}", order.smooth), measured].map(|cell| format!("<td class=\"n\">{cell}"));
    let alpha = fraction(order.alpha);
    format!("<tr{class}><td>{}<td>{}<td>{alpha}{}</tr>\n", order.error, order.model, cells.concat())
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
