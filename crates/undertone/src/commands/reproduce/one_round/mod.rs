//! `reproduce one-round`: risk minimisation, marginals and smooth queries from people who answer once.

mod extent;
mod grids;
mod kernels;
mod marginals;
mod page;
mod risks;
mod row;
mod section;
mod tables;

use super::claim::{Claim, Verdict};
use super::folder::csv;
use super::options::Options;
use crate::output;
use crate::progress::progress_bar;
use extent::Extent;
use row::{Laboratory, Row};
use section::Section;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// All files begin with this.
const OURS: &str = "one-round";

/// Learning in one round: risk minimisation, marginals and smooth queries from people who answer once
///
/// The algorithms of Wang, Gaboardi, Smith, Xu, Empirical Risk Minimization in the Non-interactive Local Model of Differential
/// Privacy, corrected, beside what measures better: moments for generalized linear models, one direct bit for Bernstein grids, views
/// for marginals, chosen cosines for smooth queries. Each claim is put beside what came out, with standard errors.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  undertone reproduce one-round --quick
  undertone reproduce one-round -o one-round --seed 1 --data data")]
pub(crate) struct OneRound {
    #[command(flatten)]
    options: Options,
    /// Also run on the tables adult, pima, wdbc, diamonds and nursery (.csv or .csv.gz) that are in this folder
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

/// All that was found.
struct Findings {
    seed: u64,
    quick: bool,
    repetitions: u64,
    sections: Vec<Section>,
    /// What was not run, and why
    skipped: Vec<String>,
    files: Vec<PathBuf>,
}

/// What a machine reads of it.
#[derive(Serialize)]
struct Summary<'a> {
    /// People of tables exist, but none of them reported anything
    simulation: bool,
    seed: u64,
    quick: bool,
    repetitions: u64,
    claims: Vec<&'a Claim>,
    rows: Vec<&'a Row>,
    skipped: &'a [String],
    files: &'a [PathBuf],
}

impl OneRound {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let folder = self.options.folder(OURS)?;
        let seed = self.options.seed()?;
        let extent = if self.options.quick { Extent::QUICK } else { Extent::FULL };
        let (tables, skipped) = match &self.data {
            Some(path) => tables::open(path)?,
            None => Default::default(),
        };
        let work = risks::settings(&extent) + marginals::SETTINGS + grids::settings(&extent);
        let work = work + kernels::SETTINGS + tables.settings();
        let bar = progress_bar(work * extent.repetitions);
        let laboratory = Laboratory { extent: &extent, seed, bar: &bar };
        let mut sections = vec![
            risks::run(&laboratory)?,
            marginals::run(&laboratory)?,
            grids::run(&laboratory)?,
            kernels::run(&laboratory)?,
        ];
        sections.extend(tables::run(&laboratory, &tables)?);
        bar.finish_and_clear();
        let (quick, repetitions, files) = (self.options.quick, extent.repetitions, Vec::new());
        let mut findings = Findings { seed, quick, repetitions, sections, skipped, files };
        if let Some(folder) = folder {
            findings.files = folder.write(findings.contents()?, &page::html(&findings))?;
        }
        if self.options.json { output::json(&findings.summary(), out) } else { findings.explain(out) }
    }
}

impl Findings {
    fn claims(&self) -> impl Iterator<Item = &Claim> {
        self.sections.iter().flat_map(|section| &section.claims)
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.sections.iter().flat_map(|section| &section.rows)
    }

    /// Files by name, but for the page.
    fn contents(&self) -> anyhow::Result<Vec<(String, String)>> {
        let (rows, claims) = (self.rows().collect::<Vec<_>>(), self.claims().collect::<Vec<_>>());
        let tables = [("numbers.csv".to_owned(), csv(&rows)?), ("claims.csv".to_owned(), csv(&claims)?)];
        let pictures = self.sections.iter().flat_map(|section| &section.pictures);
        Ok(tables
            .into_iter()
            .chain(pictures.map(|(name, svg)| (format!("{name}.svg"), svg.clone())))
            .collect())
    }

    fn summary(&self) -> Summary<'_> {
        Summary {
            simulation: true,
            seed: self.seed,
            quick: self.quick,
            repetitions: self.repetitions,
            claims: self.claims().collect(),
            rows: self.rows().collect(),
            skipped: &self.skipped,
            files: &self.files,
        }
    }

    fn explain(&self, out: &mut impl Write) -> anyhow::Result<()> {
        writeln!(out, "Simulation, seed {}: {} repetitions", self.seed, self.repetitions)?;
        for section in &self.sections {
            writeln!(out, "\n{}\n{}", section.title, section.about)?;
            for row in &section.rows {
                writeln!(out, "  {:<50} {:<28} {}", row.place(), row.method, row.words())?;
            }
            for Claim { source, says, found, verdict } in &section.claims {
                writeln!(out, "  {:<15} {source}: {says}\n{:18}{found}", verdict.name(), "")?;
            }
        }
        let failed = self.claims().filter(|claim| claim.verdict != Verdict::Reproduced).count();
        writeln!(out, "\n{failed} of {} claims did not reproduce in all settings", self.claims().count())?;
        for skipped in &self.skipped {
            writeln!(out, "Skipped: {skipped}")?;
        }
        for file in &self.files {
            writeln!(out, "Written: {}", file.display())?;
        }
        Ok(())
    }
}
