//! `simulate`: methods compared on a table whose labels are known, or a table of people who do not exist.

mod averages;
mod comparison;
mod data;
mod insurance;
mod interactive;
mod methods;
mod networks;
mod numbers;
mod represented;
mod staged;
#[cfg(test)]
mod tests;

pub(crate) use comparison::Promise;
pub(crate) use data::{Data, TEST_SHARE};
pub(crate) use methods::{Method, StageOptions};

use crate::exit::Usage;
use comparison::Comparison;
use std::io::Write;

/// Compare methods on a table whose labels are known: accuracy with standard errors
///
/// Every person of the table is asked once by a simulated device; a method learns from the reports alone and is judged by
/// the true labels of the people in --test, or of one in four who are not asked. An ε of `inf` asks for the labels
/// themselves; methods in stages and interactive ones have nothing to ask about then, and are the default.
#[derive(clap::Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:
  undertone simulate letter.csv.gz --label letter --epsilon 1,2,4 --method default,debiased,rr-naive
  undertone simulate houses.csv.gz --label price --low 0 --high 5 --epsilon 1,inf --method default,laplace
  undertone simulate insurance -o insurance.csv.gz"
)]
pub(crate) struct Simulate {
    #[command(subcommand)]
    people: Option<Command>,
    #[command(flatten)]
    comparison: Option<Comparison>,
}

super::commands! {
    Insurance(insurance::Insurance),
}

impl Simulate {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        match (&self.people, &self.comparison) {
            (Some(people), _) => people.run(out),
            (None, Some(comparison)) => comparison.run(out),
            (None, None) => Err(Usage::new("a table and its --label are needed, or what to simulate").into()),
        }
    }
}
