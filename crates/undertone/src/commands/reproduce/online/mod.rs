//! `reproduce online`: online learning under local privacy, every figure and table of the study.

mod bias;
mod budgets;
mod decays;
mod extent;
mod files;
mod insurance;
mod mechanisms;
mod orders;
mod page;
mod run;
mod section;

use super::claim::{self, Claim, Verdict};
use super::options::Options;
use crate::output;
use crate::progress::progress_bar;
use extent::{DECAYS, Extent};
use orders::Order;
use run::{Laboratory, Point};
use section::Section;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use undertone_learn::online::laws::DesignKind;

/// Online learning under local privacy: LDP-SGD and its average, linear, logistic, and insurance charges
///
/// Simulated people report private gradients one after the other. Each claim of Shi, Xie, Jiang, Kong, He, Non-Asymptotic
/// Analysis of Online Local Private Learning with SGD, is put beside what came out: Figures 1, 2, 4, 5, 6, Table 1, and the
/// insurance study on people who do not exist. Our weights, averages and mechanisms run in the same pictures.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  undertone reproduce online --quick
  undertone reproduce online -o online --seed 1")]
pub(crate) struct Online {
    #[command(flatten)]
    options: Options,
}

/// All that was found.
struct Findings {
    seed: u64,
    quick: bool,
    people: u64,
    replications: usize,
    sections: Vec<Section>,
    orders: Vec<Order>,
    insurance: Vec<insurance::Row>,
    files: Vec<PathBuf>,
}

/// What a machine reads of it.
#[derive(Serialize)]
struct Summary<'a> {
    /// Nobody's data: people and reports come from the seed
    simulation: bool,
    seed: u64,
    quick: bool,
    people: u64,
    replications: usize,
    claims: Vec<&'a Claim>,
    orders: &'a [Order],
    points: Vec<&'a Point>,
    insurance: &'a [insurance::Row],
    files: &'a [PathBuf],
}

impl Online {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let folder = self.options.folder(files::OURS)?;
        let seed = self.options.seed()?;
        let extent = if self.options.quick { Extent::QUICK } else { Extent::FULL };
        let bar = progress_bar(work(&extent));
        let laboratory = Laboratory::new(&extent, seed, &bar);
        let (table, orders) = orders::run(&laboratory)?;
        let mut sections = vec![
            bias::run(&laboratory)?,
            budgets::run(&laboratory)?,
            table,
            mechanisms::run(&laboratory)?,
            decays::run(&laboratory, DesignKind::Linear)?,
            decays::run(&laboratory, DesignKind::Logistic)?,
        ];
        let (section, rows) = insurance::run(&laboratory)?;
        sections.push(section);
        bar.finish_and_clear();
        let Extent { people, replications, .. } = extent;
        let (quick, insurance, files) = (self.options.quick, rows, Vec::new());
        let mut findings = Findings { seed, quick, people, replications, sections, orders, insurance, files };
        if let Some(folder) = folder {
            findings.files = folder.write(files::contents(&findings)?, &page::html(&findings))?;
        }
        if self.options.json { output::json(&findings.summary(), out) } else { findings.explain(out) }
    }
}

/// Steps of the progress bar: people in all replications.
fn work(extent: &Extent) -> u64 {
    let grid = extent.dimensions.len() * extent.budgets.len() * (DECAYS.len() + 1);
    // Figure 1 with half of the replications, Figure 2, Table 1, Figure 4, Figures 5 and 6
    let runs = 3 * extent.replications.div_ceil(2) + extent.replications * (5 + 8 + 26 + 2 * grid);
    let studies = 4 * DECAYS.len() * extent.budgets.len() * extent.orders;
    extent.people * runs as u64 + extent.insured.0 * studies as u64
}

impl Findings {
    fn claims(&self) -> impl Iterator<Item = &Claim> {
        self.sections.iter().flat_map(|section| &section.claims)
    }

    fn summary(&self) -> Summary<'_> {
        Summary {
            simulation: true,
            seed: self.seed,
            quick: self.quick,
            people: self.people,
            replications: self.replications,
            claims: self.claims().collect(),
            orders: &self.orders,
            points: self.sections.iter().flat_map(|section| &section.points).collect(),
            insurance: &self.insurance,
            files: &self.files,
        }
    }

    fn explain(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let Self { seed, people, replications, .. } = self;
        writeln!(out, "Simulation, seed {seed}: {people} people in {replications} replications")?;
        for section in &self.sections {
            writeln!(out, "\n{}", section.title)?;
            for Claim { source, says, found, verdict } in &section.claims {
                writeln!(out, "  {:<15} {source}: {says}\n{:18}{found}", verdict.name(), "")?;
            }
        }
        writeln!(out, "\nOrders of errors in n: slopes of ln(error), begun at the truth")?;
        for order in &self.orders {
            let claimed = order.claimed.map_or_else(|| "none".to_owned(), |claimed| format!("{claimed:.2}"));
            writeln!(out, "  {}; stated {claimed}, smooth losses {:.2}", order.words(), order.smooth)?;
        }
        let failed = self.claims().filter(|claim| claim.verdict != Verdict::Reproduced).count();
        writeln!(out, "\n{failed} of {} claims did not reproduce in all settings", self.claims().count())?;
        for file in &self.files {
            writeln!(out, "Written: {}", file.display())?;
        }
        Ok(())
    }
}
