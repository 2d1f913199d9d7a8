//! The page: each claim beside what came out, tables and pictures.

use super::Findings;
use super::row::Row;
use super::section::Section;
use crate::commands::reproduce::claims_page::{self, STYLE, escape};

/// One self-contained page.
pub(super) fn html(findings: &Findings) -> String {
    let Findings { seed, repetitions, .. } = findings;
    let size = if findings.quick { "a quick run" } else { "a full run" };
    let sections: String = findings.sections.iter().map(part).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Learning in one round</title>\n\
<style>{STYLE}</style>\n<h1>Learning in one round under local privacy</h1>\n\
<p><b>Simulation</b> with seed {seed}, {repetitions} repetitions ({size}). Everybody reports once. The algorithms of Wang, Gaboardi, \
Smith, Xu, <i>Empirical Risk Minimization in the Non-interactive Local Model of Differential Privacy</i>, run as corrected, beside \
what measures better; standard errors behind ±, and what an independent simulation had found under “earlier”.</p>\n{}{sections}</html>\n",
        claims_page::summary(&findings.claims().collect::<Vec<_>>())
    )
}

fn part(section: &Section) -> String {
    let pictures = section.pictures.iter().map(|(_, svg)| format!("<figure>{svg}</figure>\n"));
    format!(
        "<h2>{}</h2>\n<p>{}</p>\n{}{}{}",
        section.title,
        escape(&section.about),
        claims_page::table(&section.claims),
        pictures.collect::<String>(),
        table(&section.rows)
    )
}

fn table(rows: &[Row]) -> String {
    let rows: String = rows.iter().map(row).collect();
    format!(
        "<details><summary>All numbers</summary><table><tr><th>setting<th>method<th>measured<th>earlier</tr>\n{rows}</table></details>\n"
    )
}

fn row(row: &Row) -> String {
    let earlier = row.earlier.map_or_else(String::new, |earlier| format!("{earlier:.4}"));
    let (place, method) = (escape(&row.place()), escape(row.method));
    format!("<tr><td>{place}<td>{method}<td class=\"n\">{}<td class=\"n\">{earlier}</tr>\n", row.words())
}
