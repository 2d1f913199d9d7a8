//! The page: each claim beside what came out, and the pictures.

use super::Findings;
use super::claim::Verdict;
use super::extent::fraction;
use super::orders::Order;
use super::section::Section;
use crate::commands::reproduce::claims_page::{self, STYLE};

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
        claims_page::summary(&findings.claims().collect::<Vec<_>>())
    )
}

fn part(section: &Section, findings: &Findings) -> String {
    let claims = claims_page::table(&section.claims);
    let orders = if section.title.starts_with("Table 1") { table(&findings.orders) } else { String::new() };
    let pictures = section.pictures.iter().map(|(_, svg)| format!("<figure>{svg}</figure>\n"));
    let pictures = pictures.collect::<Vec<_>>().concat();
    format!("<h2>{}</h2>\n<p>{}</p>\n{claims}{orders}{pictures}", section.title, section.about)
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
