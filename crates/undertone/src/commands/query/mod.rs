//! `query`: what the answers to a survey, or private labels, say. What is asked is one file, and one line in the list below.

mod density;
mod frequencies;
mod marginal;
mod tables;

use std::io::Write;

/// Ask what reports say: frequencies, tables over several columns, densities
///
/// Every answer comes with an interval. Asking costs no privacy, however often: devices have answered once.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:
  undertone query frequencies reports.parquet
  undertone query marginal reports.parquet --columns smoker,region --csv table.csv --svg table.svg
  undertone query density reports.parquet --bandwidth 3 --svg density.svg",
    arg_required_else_help = true
)]
pub(crate) struct Query {
    #[command(subcommand)]
    what: Command,
}

super::commands! {
    Frequencies(frequencies::Frequencies),
    Marginal(marginal::Marginal),
    Density(density::Density),
}

impl Query {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        self.what.run(out)
    }
}
