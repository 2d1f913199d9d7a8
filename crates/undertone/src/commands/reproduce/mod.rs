//! `reproduce`: what the papers claim, measured. What is reproduced is one folder, and one line in the list below.

mod claim;
mod claims_page;
mod convex;
mod deep;
mod folder;
mod limits;
mod one_round;
mod online;
mod options;
mod slope;

use std::io::Write;

/// Measure what the papers claim: ours beside theirs, as CSV, SVG and one HTML page
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  undertone reproduce convex -o laws\n  undertone reproduce online --quick -o online\n  undertone reproduce one-round --quick -o one-round\n  undertone reproduce limits --quick -o limits\n  undertone reproduce deep --quick -o deep",
    arg_required_else_help = true
)]
pub(crate) struct Reproduce {
    #[command(subcommand)]
    what: Command,
}

super::commands! {
    Convex(convex::Convex),
    Online(online::Online),
    OneRound(one_round::OneRound),
    Limits(limits::Limits),
    Deep(deep::Deep),
}

impl Reproduce {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        self.what.run(out)
    }
}
