//! `plan`: which mechanism, how many people, which error to expect, before anyone is asked.

mod labels;
mod limits;
mod one_round;
mod online;
mod pilot;

use crate::arguments;
use std::io::Write;

/// Choose a mechanism before anyone is asked: the exact risk bound of each, and what none can beat
///
/// The bound is for learning by stochastic gradient descent from n reports: radius · lipschitz · √(second moment / n),
/// where the second moment is the worst over all gradients of length one. Beside the label mechanisms it is given for every
/// other way to learn: vectors that people are asked for one after the other, Gaussian noise with --delta, and answers among
/// likely labels with --top and --miss.
///
/// With --online it is the error of learning from gradients of whole records, one person after the other, in a design of
/// which everything is known: normal covariates, and a regression or a label that depends on all of them.
///
/// With --one-round it is which question to ask about whole records, once: moments, losses on a grid, or noisy copies.
///
/// With --task it is how fast the risk of learning by cells or neighbours can fall at all, under each model of trust, and the
/// width of cells, the number of neighbours and the bound of labels to begin with; with --pilot, which some people have answered
/// beforehand, the bound in units of the label.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:
  undertone plan --classes 10 --epsilon 1 --n 100000
  undertone plan --classes 10 --epsilon 1 --n 100000 --radius 5 --lipschitz 1.4 --svg plan.svg
  undertone plan --classes 100 --epsilon 1 --n 100000 --radius 5 --loss softmax --longest 2 --target 0.5
  undertone plan --classes 5 --epsilon 1 --n 12960 --radius 5 --loss softmax --features data/nursery.csv.gz --without nursery
  undertone plan --classes 100 --epsilon 1 --n 100000 --delta 1e-6 --top 5 --miss 0.01
  undertone plan --online linear --dimension 5 --mu 1 --eta 0.2 --alpha 0.5 --n 300000
  undertone plan --online logistic --dimension 2 --mu 3 --eta 5 --alpha 0.6 --n 300000 --weights linear --target-width 0.1
  undertone plan --online linear --dimension 5 --epsilon 3 --tiers 3,1 --shares 0.8,0.2 --eta 0.2 --alpha 0.5 --n 300000
  undertone plan --one-round --covariates 10 --n 100000 --epsilon 1 --loss hinge --radius 4
  undertone plan --task classification --trust label-local --n 100000 --epsilon 1 --dimension 2 --beta 1 --classes 10 --target 0.01
  undertone plan --task heavy --trust label-local --n 95000 --epsilon 1 --dimension 2 --beta 1 --moments 3 --pilot pilot.parquet",
    group = clap::ArgGroup::new("law").args(["online", "task"])
)]
pub(crate) struct Plan {
    /// How many people report
    #[arg(long, value_name = "N", value_parser = arguments::people, allow_hyphen_values = true)]
    n: u64,
    /// d, features; with --online, covariates beside the constant
    #[arg(long, value_name = "D", value_parser = arguments::dimension, allow_hyphen_values = true, requires = "law")]
    dimension: Option<usize>,
    #[command(flatten)]
    labels: labels::Labels,
    #[command(flatten)]
    online: online::Online,
    #[command(flatten)]
    one_round: one_round::OneRound,
    #[command(flatten)]
    limits: limits::Limits,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Plan {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        if let Some(problem) = self.one_round.problem(&self.labels, self.n)? {
            return one_round::run(&problem, self.json, out);
        }
        if let Some(problem) = self.limits.problem(self.n, self.dimension, &self.labels)? {
            let pilot = self.limits.pilot(&problem)?;
            return limits::run(&problem, self.labels.target, pilot.as_ref(), self.json, out);
        }
        match self.online.descent(self.dimension, &self.labels)? {
            Some(descent) => descent.run(self.n, self.json, out),
            None => self.labels.run(self.n, self.json, out),
        }
    }
}
