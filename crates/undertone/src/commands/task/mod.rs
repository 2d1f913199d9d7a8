//! `task`: the public document of a collection. What is done with it is one file, and one line in the list below.

mod check;
mod civil_time;
mod columns;
pub(crate) mod document;
mod doubts;
mod explained;
mod functional;
mod id;
mod new;
mod record;
mod running;
mod show;
mod survey;

pub(crate) use new::encoding;

use std::io::Write;

/// Make, show and check the public document of a collection
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Example:\n  undertone task new people.csv --label income --classes low,middle,high --epsilon 1 -o task.toml\n  undertone task show task.toml",
    arg_required_else_help = true
)]
pub(crate) struct Task {
    #[command(subcommand)]
    what: Command,
}

super::commands! {
    New(Box<new::New>),
    Record(Box<record::Record>),
    Survey(Box<survey::Survey>),
    Show(show::Show),
    Check(check::Check),
    Id(id::Id),
}

impl Task {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        self.what.run(out)
    }
}
