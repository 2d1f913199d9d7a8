//! `reproduce convex`: the laws of excess risk in K, n and ε.

mod files;
mod law;
mod page;
mod scan;

use super::options::Options;
use crate::progress::progress_bar;
use crate::{arguments, output};
use law::Law;
use scan::{Point, Scan};
use serde::Serialize;
use std::io::Write;
use std::num::NonZeroU32;
use std::path::PathBuf;

/// The √K law: excess risk against the number of classes, of people, and ε
///
/// Simulated people with labels of the hardest instance report; each method learns from them by stochastic gradient descent.
/// The slopes of the excess risk are put beside the orders that the papers claim for it.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  undertone reproduce convex --quick
  undertone reproduce convex -o laws --seed 1")]
pub(crate) struct Convex {
    #[command(flatten)]
    options: Options,
    /// Descents for each point, and a quarter of them for the interactive method, which is slow [default: 32, quick 48]
    #[arg(long, value_name = "N", value_parser = arguments::count, allow_hyphen_values = true)]
    repetitions: Option<NonZeroU32>,
}

/// All that was found.
#[derive(Serialize)]
struct Findings {
    /// Nobody's data: labels and reports come from this seed
    seed: u64,
    quick: bool,
    repetitions: u32,
    laws: Vec<Law>,
    points: Vec<Point>,
    files: Vec<PathBuf>,
}

impl Convex {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let folder = self.options.folder(files::OURS)?;
        let seed = self.options.seed()?;
        let scans = if self.options.quick { Scan::quick() } else { Scan::full() };
        let repetitions = self.repetitions.map_or(if self.options.quick { 48 } else { 32 }, NonZeroU32::get);
        let bar = progress_bar(scans.iter().map(|scan| scan.work(repetitions)).sum());
        let mut points = Vec::new();
        for scan in &scans {
            points.extend(scan.measure(repetitions, seed, &bar)?);
        }
        bar.finish_and_clear();
        let laws = Law::of(&points);
        let mut findings =
            Findings { seed, quick: self.options.quick, repetitions, laws, points, files: Vec::new() };
        if let Some(folder) = folder {
            let pictures = files::pictures(&findings.points)?;
            let page = page::html(&findings, &pictures);
            let contents = files::contents(&findings)?.into_iter().chain(pictures).collect();
            findings.files = folder.write(contents, &page)?;
        }
        if self.options.json {
            return output::json(&findings, out);
        }
        explain(&findings, out)
    }
}

fn explain(findings: &Findings, out: &mut impl Write) -> anyhow::Result<()> {
    writeln!(out, "Simulation, seed {}: {} descents for each point\n", findings.seed, findings.repetitions)?;
    writeln!(
        out,
        "{:<26}{:<21}{:>6}{:>9}{:>11}{:>17}   verdict",
        "slope of ln(excess risk)", "method", "order", "claimed", "predicted", "measured"
    )?;
    for law in &findings.laws {
        let Law { regime, method, order, claimed, predicted, verdict, .. } = law;
        let number =
            |slope: &Option<f64>| slope.map_or_else(|| "–".to_owned(), |slope| format!("{slope:.3}"));
        let (claimed, predicted) = (number(claimed), number(predicted));
        let (regime, verdict) = (regime.name(), verdict.name());
        writeln!(
            out,
            "{regime:<26}{method:<21}{order:>6}{claimed:>9}{predicted:>11}{:>17}   {verdict}",
            law.measured_in_words()
        )?;
    }
    writeln!(out, "\n{}", law::HOW_TO_READ)?;
    for file in &findings.files {
        writeln!(out, "Written: {}", file.display())?;
    }
    Ok(())
}
