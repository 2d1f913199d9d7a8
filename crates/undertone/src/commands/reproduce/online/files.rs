//! What is left behind: points, orders, claims and the insurance study as CSV, a file for each picture, a page.

use super::{Findings, page};
use crate::output::write_file;
use anyhow::{Context, bail};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

/// All our files begin with this.
const OURS: &str = "online";

/// Where the files go.
pub(super) struct Folder {
    path: PathBuf,
    force: bool,
}

impl Folder {
    /// Makes the folder, and refuses one with files of ours unless `force` is set.
    pub(super) fn open(path: &Path, force: bool) -> anyhow::Result<Self> {
        let unreadable = || format!("{} cannot be made", path.display());
        fs::create_dir_all(path).with_context(unreadable)?;
        for entry in fs::read_dir(path).with_context(unreadable)? {
            let entry = entry.with_context(unreadable)?;
            if !force && entry.file_name().to_string_lossy().starts_with(OURS) {
                bail!("{} exists; --force replaces it", entry.path().display());
            }
        }
        Ok(Self { path: path.to_owned(), force })
    }

    /// Writes everything and returns what was written.
    pub(super) fn write(&self, findings: &Findings) -> anyhow::Result<Vec<PathBuf>> {
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
        let mut written = Vec::new();
        for (name, contents) in files {
            let path = self.path.join(format!("{OURS}-{name}"));
            write_file(&path, &contents, self.force)?;
            written.push(path);
        }
        let page = self.path.join(format!("{OURS}.html"));
        write_file(&page, &page::html(findings), self.force)?;
        written.push(page);
        Ok(written)
    }
}

fn csv(rows: &[impl Serialize]) -> anyhow::Result<String> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    for row in rows {
        csv.serialize(row)?;
    }
    Ok(String::from_utf8(csv.into_inner()?)?)
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
