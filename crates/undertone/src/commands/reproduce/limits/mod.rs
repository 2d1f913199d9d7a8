//! `reproduce limits`: how fast learning under label privacy can be, in every setting of Table I.

mod claims;
mod doubt;
mod extent;
mod order;
mod page;
mod picture;
mod row;

use super::claim::{Claim, Verdict};
use super::folder::csv;
use super::options::Options;
use crate::output;
use crate::progress::progress_bar;
use claims::Found;
use doubt::Doubt;
use extent::Extent;
use order::Order;
use row::Row;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// All files begin with this.
const OURS: &str = "limits";

/// Limits of learning under label privacy: slopes of excess risk for classes, bounded numbers and heavy tails
///
/// Devices or a curator keep labels, in one and two dimensions; a curator who keeps whole records and learning without privacy stand
/// beside. Each claim of Zhao, Ma, Shen, Wang, Fan, On Theoretical Limits of Learning with Label Differential Privacy, is put beside
/// what came out: our learners, those printed, and the slope of the lower bound.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  undertone reproduce limits --quick
  undertone reproduce limits -o limits --seed 1")]
pub(crate) struct Limits {
    #[command(flatten)]
    options: Options,
}

/// All that was found.
struct Findings {
    seed: u64,
    quick: bool,
    repetitions: u64,
    found: Vec<Found>,
    claims: Vec<Claim>,
    doubt: Doubt,
    /// File names without their end, and what is drawn
    pictures: Vec<(String, String)>,
    files: Vec<PathBuf>,
}

/// What a machine reads of it.
#[derive(Serialize)]
struct Summary<'a> {
    /// Nobody's data: people and reports come from the seed
    simulation: bool,
    seed: u64,
    quick: bool,
    repetitions: u64,
    claims: Vec<&'a Claim>,
    orders: Vec<&'a Order>,
    rows: Vec<&'a Row>,
    closer: &'a [doubt::Piece],
    files: &'a [PathBuf],
}

impl Limits {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let folder = self.options.folder(OURS)?;
        let seed = self.options.seed()?;
        let mut findings = self.find(seed)?;
        if let Some(folder) = folder {
            findings.files = folder.write(findings.contents()?, &page::html(&findings))?;
        }
        if self.options.json { output::json(&findings.summary(), out) } else { findings.explain(out) }
    }

    fn find(&self, seed: u64) -> anyhow::Result<Findings> {
        let extent = if self.options.quick { Extent::QUICK } else { Extent::FULL };
        let places = extent.places()?;
        let work = places.iter().map(|place| place.repetitions * place.people.iter().sum::<u64>());
        let bar = progress_bar(work.sum());
        let measure = |place| row::measure(place, seed, &bar);
        let measured = places.iter().map(measure).collect::<anyhow::Result<Vec<_>>>()?;
        bar.finish_and_clear();
        let doubt = doubt::look(&extent, seed, &measured)?;
        let pictures = measured.iter().map(picture::picture).collect::<anyhow::Result<Vec<_>>>()?;
        let with_orders = |measured| Found { orders: order::orders(&measured), measured };
        let found: Vec<Found> = measured.into_iter().map(with_orders).collect();
        let (quick, repetitions, files) = (self.options.quick, extent.repetitions, Vec::new());
        Ok(Findings {
            seed,
            quick,
            repetitions,
            claims: claims::claims(&found),
            found,
            doubt,
            pictures,
            files,
        })
    }
}

impl Findings {
    fn claims(&self) -> impl Iterator<Item = &Claim> {
        self.claims.iter().chain(&self.doubt.claims)
    }

    fn orders(&self) -> impl Iterator<Item = &Order> {
        self.found.iter().flat_map(|found| &found.orders)
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.found.iter().flat_map(|found| &found.measured.rows)
    }

    /// Files by name, but for the page.
    fn contents(&self) -> anyhow::Result<Vec<(String, String)>> {
        let tables = [
            ("numbers.csv".to_owned(), csv(&self.rows().collect::<Vec<_>>())?),
            ("slopes.csv".to_owned(), csv(&self.orders().collect::<Vec<_>>())?),
            ("closer.csv".to_owned(), csv(&self.doubt.pieces)?),
            ("claims.csv".to_owned(), csv(&self.claims().collect::<Vec<_>>())?),
        ];
        let pictures = self.pictures.iter().chain([&self.doubt.picture]);
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
            orders: self.orders().collect(),
            rows: self.rows().collect(),
            closer: &self.doubt.pieces,
            files: &self.files,
        }
    }

    fn explain(&self, out: &mut impl Write) -> anyhow::Result<()> {
        writeln!(out, "Simulation, seed {}: {} repetitions\n", self.seed, self.repetitions)?;
        writeln!(out, "Slopes of excess risk in N, and those of Table I for the same N")?;
        for order in self.orders() {
            let Order { setting, method, slope, standard_error, table, .. } = order;
            let measured = format!("{slope:.3} ± {standard_error:.3}");
            writeln!(out, "  {setting:<48} {method:<20} {measured}   {table:.3}   {}", order.verdict())?;
        }
        writeln!(out)?;
        for Claim { source, says, found, verdict } in self.claims() {
            writeln!(out, "  {:<15} {source}: {says}\n{:18}{found}", verdict.name(), "")?;
        }
        let failed = self.claims().filter(|claim| claim.verdict != Verdict::Reproduced).count();
        writeln!(out, "\n{failed} of {} claims did not reproduce in all settings", self.claims().count())?;
        for file in &self.files {
            writeln!(out, "Written: {}", file.display())?;
        }
        Ok(())
    }
}
