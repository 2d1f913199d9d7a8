//! What is left behind: points, orders, claims and the insurance study as CSV, a file for each picture, a page.

use super::Findings;
use crate::commands::reproduce::folder::csv;

/// All our files begin with this.
pub(super) const OURS: &str = "online";

/// All of them by name, but for the page.
pub(super) fn contents(findings: &Findings) -> anyhow::Result<Vec<(String, String)>> {
    let points: Vec<_> = findings.sections.iter().flat_map(|section| &section.points).collect();
    let claims: Vec<_> = findings.claims().collect();
    let mut files = vec![
        ("points.csv".to_owned(), csv(&points)?),
        ("orders.csv".to_owned(), orders_csv(findings)?),
        ("insurance.csv".to_owned(), csv(&findings.insurance)?),
        ("claims.csv".to_owned(), csv(&claims)?),
    ];
    for (name, svg) in findings.sections.iter().flat_map(|section| &section.pictures) {
        files.push((format!("{name}.svg"), svg.clone()));
    }
    Ok(files)
}

fn orders_csv(findings: &Findings) -> anyhow::Result<String> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record([
        "error",
        "model",
        "alpha",
        "claimed",
        "smooth",
        "measured",
        "standard_error",
        "verdict",
    ])?;
    for order in &findings.orders {
        csv.write_record([
            order.error.to_owned(),
            order.model.to_owned(),
            order.alpha.to_string(),
            order.claimed.map_or_else(String::new, |claimed| claimed.to_string()),
            order.smooth.to_string(),
            order.measured.slope.to_string(),
            order.measured.standard_error.to_string(),
            order.verdict.name().to_lowercase(),
        ])?;
    }
    Ok(String::from_utf8(csv.into_inner()?)?)
}
