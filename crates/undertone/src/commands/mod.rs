//! The commands: a command is one file, and one line in the list below.

mod audit;
mod convert;
mod demo;
mod evaluate;
mod mechanism;
mod plan;
mod predict;
mod privatize;
mod query;
mod reproduce;
mod send;
mod serve;
mod simulate;
mod task;
mod token;
mod train;

use std::io::Write;

/// Declares the enum of commands, each a struct whose doc comment is its help, with
/// `run(&self, out: &mut impl Write) -> anyhow::Result<()>`.
macro_rules! commands {
    ($($name:ident($command:ty),)*) => {
        #[derive(clap::Subcommand, Debug)]
        pub(crate) enum Command {
            $($name($command),)*
        }

        impl Command {
            pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
                match self { $(Self::$name(command) => command.run(out),)* }
            }
        }
    };
}
use commands;

commands! {
    Demo(demo::Demo),
    Plan(plan::Plan),
    Mechanism(mechanism::Mechanism),
    Convert(convert::Convert),
    Audit(audit::Audit),
    Task(task::Task),
    Privatize(privatize::Privatize),
    Train(train::Train),
    Predict(predict::Predict),
    Evaluate(evaluate::Evaluate),
    Query(query::Query),
    Serve(serve::Serve),
    Send(send::Send),
    Token(token::Token),
    Simulate(simulate::Simulate),
    Reproduce(reproduce::Reproduce),
}
