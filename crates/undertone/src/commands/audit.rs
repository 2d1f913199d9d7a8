//! `audit`: is the promise kept?

use crate::digits::digits;
use crate::exit::Usage;
use crate::finding::{Finding, Outcome};
use crate::progress::progress_bar;
use crate::words::Words;
use crate::{arguments, output, randomness};
use anyhow::ensure;
use std::io::Write;
use undertone_audit::registry::{Kind, Mechanism, Setup};
use undertone_audit::{Auditor, Settings};
use undertone_privacy::Epsilon;

/// Check a promise against the code that runs: exactly where that can be done, and by likelihood-ratio tests on samples
///
/// The exact loss goes through every report, or through every pattern that the likelihood tells apart. The lower bound is
/// proved, with the stated confidence, by reports drawn from the very code that devices run. A promise counts as broken if
/// the exact loss is above it, if samples prove a larger loss beyond doubt (one in a million honest audits would err), or
/// if a report can be made from one input only. The exit code is 1 if any promise is broken.
#[derive(clap::Args, Debug)]
#[command(
    subcommand_value_name = "MECHANISM",
    subcommand_help_heading = "Mechanisms, described as in `undertone mechanism`",
    after_help = "Examples:
  undertone audit --all
  undertone audit label --kind oue --classes 10 --epsilon 1 --trials 1000000
  undertone audit vector --kind codebook --dimension 3 --radius 1 --epsilon 2 --json"
)]
pub(crate) struct Audit {
    /// Audit every mechanism there is: ten classes, numbers in [-1, 1], the unit ball in three dimensions, and the gradients
    /// of extreme records
    #[arg(long)]
    all: bool,
    /// ε of every mechanism, for --all; μ and ρ of those that promise these
    #[arg(long, value_name = "E", value_parser = arguments::epsilon, allow_hyphen_values = true, default_value = "1",
          requires = "all")]
    epsilon: Epsilon,
    /// Reports drawn under each of two inputs
    #[arg(long, value_name = "N", value_parser = arguments::trials, allow_hyphen_values = true, default_value = "100000",
          global = true)]
    trials: u64,
    /// The probability with which a lower bound is right
    #[arg(long, value_name = "C", value_parser = arguments::confidence, allow_hyphen_values = true, default_value = "0.99",
          global = true)]
    confidence: f64,
    /// Repeat an audit exactly; without it, randomness comes from the operating system
    #[arg(long, value_name = "SEED", value_parser = arguments::seed, global = true)]
    seed: Option<u64>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    words: Option<Words>,
}

impl Audit {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let subjects = self.subjects()?;
        let settings = Settings { trials: self.trials, confidence: self.confidence };
        let mut auditor = Auditor::new(settings, randomness::generator(self.seed)?);
        let progress = progress_bar(subjects.len() as u64);
        let mut findings = Vec::new();
        for (name, mechanism) in &subjects {
            progress.set_message(name.clone());
            findings.push(Finding::from(auditor.judge(name, mechanism)?));
            progress.inc(1);
        }
        progress.finish_and_clear();
        if self.json {
            output::json(&findings, out)?;
        } else {
            self.explain(&findings, out)?;
        }
        let broken: Vec<_> = findings.iter().filter(|finding| finding.verdict == Outcome::Broken).collect();
        ensure!(broken.is_empty(), "{} of {} promises are broken", broken.len(), findings.len());
        Ok(())
    }

    /// The mechanisms to audit, by name.
    fn subjects(&self) -> Result<Vec<(String, Mechanism)>, Usage> {
        match (&self.words, self.all) {
            (Some(words), false) => Ok(vec![words.mechanism()?]),
            (None, true) => {
                let setup = Setup::usual(self.epsilon).map_err(Usage::new)?;
                let named = |kind: Kind| Ok((kind.name(), Mechanism::new(kind, &setup).map_err(Usage::new)?));
                Kind::all().map(named).collect()
            }
            (Some(_), true) => Err(Usage::new("either --all or one mechanism, not both")),
            (None, false) => Err(Usage::new("which mechanism? name one, or --all of them")),
        }
    }

    fn explain(&self, findings: &[Finding], out: &mut impl Write) -> anyhow::Result<()> {
        let percent = 100.0 * self.confidence;
        writeln!(
            out,
            "{} trials under each of two inputs; lower bounds hold with {percent} % confidence",
            self.trials
        )?;
        writeln!(out, "\n{:<28}{:<26}{:>12}{:>12}   verdict", "mechanism", "promised", "exact", "at least")?;
        for finding in findings {
            let Finding { mechanism, promised, exact, lower_bound, verdict, .. } = finding;
            let exact = exact.map_or_else(|| "–".to_owned(), digits);
            writeln!(
                out,
                "{mechanism:<28}{promised:<26}{exact:>12}{:>12}   {verdict}",
                digits(*lower_bound)
            )?;
            for breach in &finding.breaches {
                writeln!(out, "    {breach}")?;
            }
        }
        if findings.iter().any(|finding| finding.verdict == Outcome::SimulationOnly) {
            writeln!(
                out,
                "\n{}: computed in floating point, so no report of it may leave a device",
                Outcome::SimulationOnly
            )?;
        }
        Ok(())
    }
}
