//! `reproduce deep`: networks on private labels, as published, beside what we do by default.

mod claims;
mod clock;
mod figure;
mod images;
mod learning;
mod looking;
mod networks;
mod page;
mod people;
mod picture;
mod plan;
mod provenance;
mod published;
mod ratings;
mod record;
mod setting;
mod sources;
mod synthetic;
mod table;
#[cfg(test)]
mod tests;
mod unfinished;
mod work;

use super::claim::{Claim, Verdict};
use super::folder::{Folder, csv};
use super::options::Options;
use crate::exit::Usage;
use crate::{arguments, output};
use anyhow::{Context, bail, ensure};
use figure::Turned;
use networks::Network;
use plan::{Extent, Plan};
use record::{Record, Run};
use serde::Serialize;
use setting::{Budget, Method, Part, Set, Setting};
use sources::Source;
use std::io::Write;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use table::{Mean, Table};
use unfinished::Unfinished;

/// All files begin with this.
const OURS: &str = "deep";

/// Deep learning with private labels: accuracy of the published stages of networks, and of our default
///
/// Table 4 of Ghazi, Golowich, Kumar, Manurangsi, Zhang, Deep Learning with Label Differential Privacy, on mnist and fashion-mnist, its
/// errors of MovieLens ratings, and what stages, temperature, split and mixup do. Beside each number of the paper stands our run of
/// its method and our default, with standard errors. Every run is recorded as it ends: what was interrupted goes on when the same
/// command is given again, and what is recorded is not done again.
#[derive(clap::Args, Debug)]
#[command(
    mut_arg("output", |arg| arg.required(true).help("Write runs, means and claims as CSV, pictures as SVG and a page that shows everything into this folder, and go on with what is there")),
    mut_arg("quick", |arg| arg.help("A minute instead of hours: few people, a small network; without --data on images that the program makes itself. Fails unless ours is better than LP-2ST and LP-2ST better than LP-1ST, by two standard errors")),
    mut_arg("seed", |arg| arg.default_value("101").help("The first seed; each repetition has the next. Up to 100 they are for development, from 101 on for confirmation")),
    mut_arg("force", |arg| arg.help("Begin anew, in the place of what is there")),
    after_help = "Examples:
  undertone reproduce deep --quick -o deep
  undertone reproduce deep --data data -o deep --only fashion --epsilon 1,4 --repetitions 5"
)]
pub(crate) struct Deep {
    #[command(flatten)]
    options: Options,
    /// The folder in which mnist and fashion-mnist (IDX files) and ml-1m (ratings.parquet) lie
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// These parts only [default: all but synthetic; without --data, for --quick, synthetic and figures]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    only: Vec<Part>,
    /// These ε only; inf for no privacy [default: those of the paper, 0.5 for images, and 0.25 for mnist]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = budget, allow_hyphen_values = true)]
    epsilon: Vec<Budget>,
    /// These methods only, of the tables [default: lp-1st,lp-2st,ours]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    method: Vec<Method>,
    /// Seeds of each setting [default: 3, quick 5]
    #[arg(long, value_name = "N", value_parser = arguments::count, allow_hyphen_values = true)]
    repetitions: Option<NonZeroU32>,
    /// Epochs of each stage of a network, at most [default: 10, ratings 20, quick 4 and 5]; from 40 on, batches, steps and what is done to images are as published
    #[arg(long, value_name = "N", value_parser = arguments::count, allow_hyphen_values = true)]
    epochs: Option<NonZeroU32>,
    /// The network for images: mlp, cnn, inception (the paper's) or inception/N, with one in N of its filters [default: cnn, quick mlp]
    #[arg(long, value_parser = networks::for_images)]
    network: Option<Network>,
    /// Ask the first so many only [default: everybody, figures 10000, quick 4000]
    #[arg(long, value_name = "N", value_parser = arguments::people, allow_hyphen_values = true)]
    people: Option<u64>,
}

fn budget(text: &str) -> anyhow::Result<Budget> {
    Budget::new(arguments::number(text)?)
}

/// What there is to run.
struct Available {
    /// Each part with the place of its people among the sources
    parts: Vec<(Part, usize)>,
    sources: Vec<Source>,
    /// Why sets are left out
    left_out: Vec<String>,
}

/// All that was found, now and before.
struct Findings {
    seed: u64,
    quick: bool,
    runs: Vec<Run>,
    means: Vec<Mean>,
    tables: Vec<Table>,
    turned: Vec<Turned>,
    claims: Vec<Claim>,
    /// What was not run, and why
    left_out: Vec<String>,
    /// File names without their end, and what is drawn: of tables and of knobs
    pictures: [Vec<(String, String)>; 2],
    files: Vec<PathBuf>,
}

/// What a machine reads of it.
#[derive(Serialize)]
struct Summary<'a> {
    /// Labels and reports are nobody's today: devices are simulated
    simulation: bool,
    seed: u64,
    quick: bool,
    claims: &'a [Claim],
    means: Vec<table::Row>,
    runs: &'a [Run],
    left_out: &'a [String],
    files: &'a [PathBuf],
}

impl Deep {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let seed = self.options.seed()?;
        let Available { parts, sources, left_out } = self.available()?;
        let settings = self.settings(seed, &parts, &sources)?;
        if self.options.quick && !claims::has_order(&settings) {
            let usage = "--quick fails unless methods are in order, and no two of them are run that would have to be: on images, ours and LP-2ST, or \
LP-2ST and LP-1ST, at the same ε. Run more of them, or leave --quick out";
            return Err(Usage::new(usage).into());
        }
        let path = self.options.output.as_deref().context("--output is required")?;
        let (folder, mut record) = self.open(path)?;
        let sources_path = provenance::check(path, &record, &sources)?;
        work::run(&settings, &sources, &mut record, &Unfinished::new(path))?;
        let left_out = left_out.into_iter().chain(published::ELSEWHERE.map(str::to_owned)).collect();
        let mut findings = Findings::new(seed, self.options.quick, record.runs(), left_out)?;
        findings.files = vec![record_path(path), sources_path];
        findings.files.extend(folder.write(findings.contents()?, &page::html(&findings))?);
        if self.options.json {
            output::json(&findings.summary(), out)?;
        } else {
            findings.explain(out)?;
        }
        if self.options.quick { in_order(record.runs(), &settings) } else { Ok(()) }
    }

    /// The folder and what was recorded there before; refuses files of ours that no record belongs to.
    fn open(&self, path: &Path) -> anyhow::Result<(Folder, Record)> {
        let (record, force) = (record_path(path), self.options.force);
        let folder = Folder::open(path, OURS, force || record.exists())?;
        let record = Record::open(&record, force)?;
        if force {
            Unfinished::new(path).forget()?;
        }
        Ok((folder, record))
    }

    fn available(&self) -> anyhow::Result<Available> {
        if let Some(data) = &self.data {
            ensure!(data.is_dir(), "{} is no folder", data.display());
        }
        let made = self.options.quick && self.data.is_none();
        let usual: &[Part] = if made {
            &[Part::Synthetic, Part::Figures]
        } else {
            &[Part::Mnist, Part::Fashion, Part::Ratings, Part::Figures]
        };
        let wanted = if self.only.is_empty() { usual } else { &self.only };
        let (mut sources, mut left_out) = (Vec::<Source>::new(), Vec::new());
        for set in
            Set::ALL.into_iter().filter(|set| wanted.iter().any(|part| sets(*part, made).contains(set)))
        {
            match Source::find(set, self.data.as_deref())? {
                Ok(source) => sources.push(source),
                Err(why) => left_out.push(why),
            }
        }
        let place = |set: &Set| sources.iter().position(|source| source.set == *set);
        let people_of = |part: &Part| Some((*part, sets(*part, made).iter().find_map(place)?));
        let parts: Vec<(Part, usize)> = wanted.iter().filter_map(people_of).collect();
        if parts.is_empty() {
            let why = left_out.join("; ");
            return Err(Usage::new(format!("there is nothing to run: {why}; --quick needs no data")).into());
        }
        Ok(Available { parts, sources, left_out })
    }

    fn settings(
        &self,
        seed: u64,
        parts: &[(Part, usize)],
        sources: &[Source],
    ) -> anyhow::Result<Vec<Setting>> {
        let number = |count: Option<NonZeroU32>| count.map(NonZeroU32::get);
        let plan = Plan {
            extent: if self.options.quick { Extent::QUICK } else { Extent::FULL },
            seed,
            epsilons: self.epsilon.clone(),
            methods: self.method.clone(),
            repetitions: number(self.repetitions).map(u64::from),
            epochs: number(self.epochs).map(|epochs| epochs as usize),
            network: self.network,
            people: self.people.map(|people| usize::try_from(people).unwrap_or(usize::MAX)),
        };
        let mut settings = Vec::new();
        for &(part, source) in parts {
            settings.extend(plan.settings(part, &sources[source])?);
        }
        Ok(settings)
    }
}

/// The sets of which the first that is there is a part's.
fn sets(part: Part, made: bool) -> &'static [Set] {
    match part {
        Part::Mnist => &[Set::Mnist],
        Part::Fashion => &[Set::Fashion],
        Part::Ratings => &[Set::Ratings],
        Part::Synthetic => &[Set::Synthetic],
        Part::Figures if made => &[Set::Synthetic],
        Part::Figures => &[Set::Fashion, Set::Mnist],
    }
}

fn record_path(folder: &Path) -> PathBuf {
    folder.join(format!("{OURS}-runs.csv"))
}

/// An error if the methods did not come out in the order that they have to be in.
fn in_order(runs: &[Run], settings: &[Setting]) -> anyhow::Result<()> {
    let now: Vec<Run> = runs.iter().filter(|run| settings.contains(&run.setting)).cloned().collect();
    let disorder = claims::disorder(&table::tables(&table::means(&now)));
    if !disorder.is_empty() {
        bail!(
            "the methods are not in order, by {} standard errors: {}",
            claims::CLEARLY,
            disorder.join("; ")
        );
    }
    Ok(())
}

impl Findings {
    fn new(seed: u64, quick: bool, runs: &[Run], left_out: Vec<String>) -> anyhow::Result<Self> {
        let means = table::means(runs);
        let (tables, turned) = (table::tables(&means), figure::turned(&means));
        let numbered = |name: &str, before: usize| match before {
            0 => name.to_owned(),
            _ => format!("{name}-{}", before + 1),
        };
        let (mut of_tables, mut of_knobs) = (Vec::new(), Vec::new());
        for (place, table) in tables.iter().enumerate() {
            let before = tables[..place].iter().filter(|other| other.set == table.set).count();
            of_tables.push((numbered(table.set.name(), before), picture::of_table(table)?));
        }
        for (place, line) in turned.iter().enumerate() {
            let before = turned[..place].iter().filter(|other| other.knob == line.knob).count();
            of_knobs.push((numbered(line.knob.name(), before), picture::of_knob(line)?));
        }
        Ok(Self {
            seed,
            quick,
            runs: runs.to_vec(),
            claims: claims::claims(&tables, &turned),
            means,
            tables,
            turned,
            left_out,
            pictures: [of_tables, of_knobs],
            files: Vec::new(),
        })
    }

    /// Files by name, but for the record and the page.
    fn contents(&self) -> anyhow::Result<Vec<(String, String)>> {
        let tables =
            [("means.csv".to_owned(), csv(&self.rows())?), ("claims.csv".to_owned(), csv(&self.claims)?)];
        let pictures = self.pictures.iter().flatten();
        Ok(tables
            .into_iter()
            .chain(pictures.map(|(name, svg)| (format!("{name}.svg"), svg.clone())))
            .collect())
    }

    fn rows(&self) -> Vec<table::Row> {
        self.means.iter().map(Mean::row).collect()
    }

    fn summary(&self) -> Summary<'_> {
        Summary {
            simulation: true,
            seed: self.seed,
            quick: self.quick,
            claims: &self.claims,
            means: self.rows(),
            runs: &self.runs,
            left_out: &self.left_out,
            files: &self.files,
        }
    }

    fn explain(&self, out: &mut impl Write) -> anyhow::Result<()> {
        writeln!(out, "Simulated devices, seeds from {}: {} runs are recorded", self.seed, self.runs.len())?;
        writeln!(
            out,
            "± is the standard error over seeds; from one seed, judges ± is the sampling error of those who judge"
        )?;
        for table in &self.tables {
            explain_table(table, out)?;
        }
        for turned in &self.turned {
            let each = turned.notches.iter();
            let each = each.map(|notch| format!("{}: {}", notch.label(turned.knob), notch.mean.words()));
            writeln!(out, "\n{}\n  {}", turned.knob.words(), each.collect::<Vec<_>>().join(",  "))?;
        }
        if let Some(departures) = networks::departures(self.turned.iter().flat_map(Turned::settings)) {
            writeln!(out, "{departures}")?;
        }
        writeln!(out)?;
        for Claim { source, says, found, verdict } in &self.claims {
            writeln!(out, "  {:<15} {source}: {says}\n{:18}{found}", verdict.name(), "")?;
        }
        let failed = self.claims.iter().filter(|claim| claim.verdict != Verdict::Reproduced).count();
        writeln!(out, "\n{failed} of {} claims did not reproduce in all settings", self.claims.len())?;
        for left_out in &self.left_out {
            writeln!(out, "Left out: {left_out}")?;
        }
        for file in &self.files {
            writeln!(out, "Written: {}", file.display())?;
        }
        Ok(())
    }
}

/// A table for people: the paper's lines, ours, and what is to be known before they are compared.
fn explain_table(table: &Table, out: &mut impl Write) -> anyhow::Result<()> {
    writeln!(out, "\n{}: {}", table.title(), table.set.measure())?;
    let dash = || "–".to_owned();
    let mut lines = vec![("ε", table.epsilons.iter().map(ToString::to_string).collect::<Vec<_>>())];
    for (name, values) in table.published() {
        let cells = values.iter().map(|value| value.map_or_else(dash, |value| table.set.words(value)));
        lines.push((name, cells.collect()));
    }
    for own in &table.lines {
        let cells = own.cells.iter().map(|mean| mean.as_ref().map_or_else(dash, Mean::words));
        lines.push((&own.name, cells.collect()));
    }
    let width = lines.iter().flat_map(|(_, cells)| cells).map(|cell| cell.chars().count() + 3).max();
    let width = width.unwrap_or(0);
    for (name, cells) in lines {
        let cells = cells.iter().map(|cell| format!("{cell:>width$}")).collect::<Vec<_>>().concat();
        writeln!(out, "  {name:<28}{cells}")?;
    }
    if let Some(departures) = table.departures() {
        writeln!(out, "  {departures}")?;
    }
    Ok(())
}
