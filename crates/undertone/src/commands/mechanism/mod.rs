//! `mechanism`: one mechanism laid open. What it randomizes is one file, and one line in the list below.

mod central;
mod integers;
mod label;
mod number;
mod public;
mod vector;

use std::io::Write;

/// Lay one mechanism open: probabilities as integers, realised loss, decoder, exact variances
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Example:\n  undertone mechanism label --kind subset --classes 10 --epsilon 1",
    arg_required_else_help = true
)]
pub(crate) struct Mechanism {
    #[command(subcommand)]
    of: Command,
}

super::commands! {
    Label(label::Label),
    Number(number::Number),
    Vector(vector::Vector),
    Public(public::Public),
    Central(central::Central),
}

impl Mechanism {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        self.of.run(out)
    }
}
