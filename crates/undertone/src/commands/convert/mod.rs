//! `convert`: between the promises ε, (ε, δ), μ-GDP and ρ-zCDP, for one report or many.

mod total;

use crate::arguments;
use crate::digits::{all_digits, digits};
use crate::exit::Usage;
use crate::output;
use crate::promise::Promise;
use serde::Serialize;
use std::f64::consts::LN_10;
use std::io::Write;
use std::num::NonZeroU32;
use total::{Promises, Total, calibrated};
use undertone_privacy::{Delta, Epsilon, Guarantee, Mu, PrivacyError, Rho};

/// Below this, a δ is also shown by its logarithm.
const COMFORTABLE: f64 = 1e-300;

/// The values of δ in the table of a promise that has none.
const DELTAS: [f64; 5] = [1e-3, 1e-5, 1e-6, 1e-9, 1e-12];

/// Convert a promise, or what several amount to, into the other currencies: the missing number is solved for
///
/// --epsilon E: the μ and ρ that follow from pure ε. --epsilon E --delta D: the largest μ and ρ that imply (ε, δ), to
/// calibrate noise. --mu M or --rho R: what follows; with --epsilon E its δ, with --delta D its ε.
///
/// What follows is rounded up and what suffices is rounded down, so that no loss is ever understated. A promise that
/// is repeated or composed is composed in each currency by itself, which is where its loss is smallest.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  undertone convert --epsilon 1
  undertone convert --epsilon 1 --delta 1e-5
  undertone convert --mu 0.5 --delta 1e-6 --times 30
  undertone convert --mu 1 --with epsilon=0.5 --with rho=0.1 --epsilon 4 --json")]
pub(crate) struct Convert {
    /// ε: a pure promise; beside --mu or --rho, the ε whose δ is asked for
    #[arg(long, value_name = "E", value_parser = arguments::epsilon, allow_hyphen_values = true)]
    epsilon: Option<Epsilon>,
    /// δ of (ε, δ); beside --mu or --rho, the δ whose ε is asked for
    #[arg(long, value_name = "D", value_parser = arguments::delta, allow_hyphen_values = true)]
    delta: Option<Delta>,
    /// μ: a promise of Gaussian differential privacy
    #[arg(long, value_name = "M", value_parser = arguments::mu, allow_hyphen_values = true)]
    mu: Option<Mu>,
    /// ρ: a promise of zero-concentrated differential privacy
    #[arg(long, value_name = "R", value_parser = arguments::rho, allow_hyphen_values = true)]
    rho: Option<Rho>,
    /// Make the promise so many times to the same person
    #[arg(long, value_name = "N", value_parser = arguments::count, allow_hyphen_values = true, default_value = "1")]
    times: NonZeroU32,
    /// And this one once: epsilon=E, epsilon=E,delta=D, mu=M or rho=R; may be given often
    #[arg(long = "with", value_name = "PROMISE", value_parser = arguments::promise, allow_hyphen_values = true)]
    others: Vec<Guarantee>,
    /// For so many people who hide together
    #[arg(long, value_name = "K", value_parser = arguments::count, allow_hyphen_values = true, default_value = "1")]
    group: NonZeroU32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What is asked about a promise.
#[derive(Clone, Copy, Debug)]
enum Question {
    /// The other currencies
    Currencies,
    DeltaAt(Epsilon),
    EpsilonAt(Delta),
}

impl Convert {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let (promise, question) = self.promise()?;
        let once = self.others.iter().map(|&other| (other, NonZeroU32::MIN));
        let promises = Promises::new(std::iter::once((promise, self.times)).chain(once), self.group)
            .map_err(|error| Usage::new(format!("for a group of {}: {error}", self.group)))?;
        let answer = Answer::new(promise, &promises, question)?;
        if self.json {
            return output::json(&answer, out);
        }
        self.recall(promise, out)?;
        answer.explain(out)
    }

    /// What the options say and what they ask.
    fn promise(&self) -> Result<(Guarantee, Question), Usage> {
        let promise = match (self.mu, self.rho) {
            (Some(_), Some(_)) => {
                return Err(Usage::new(
                    "--mu and --rho are two promises; to compose them, write --with rho=R",
                ));
            }
            (Some(mu), None) => Guarantee::Gaussian(mu),
            (None, Some(rho)) => Guarantee::Concentrated(rho),
            (None, None) => {
                let promise = match (self.epsilon, self.delta) {
                    (Some(epsilon), None) => Guarantee::Pure(epsilon),
                    (Some(epsilon), Some(delta)) => Guarantee::Approximate(epsilon, delta),
                    (None, Some(_)) => {
                        return Err(Usage::new(
                            "--delta alone is no promise: --epsilon, --mu or --rho is missing",
                        ));
                    }
                    (None, None) => {
                        return Err(Usage::new("the promise is missing: --epsilon, --mu or --rho"));
                    }
                };
                return Ok((promise, Question::Currencies));
            }
        };
        let question = match (self.epsilon, self.delta) {
            (None, None) => Question::Currencies,
            (Some(epsilon), None) => Question::DeltaAt(epsilon),
            (None, Some(delta)) => Question::EpsilonAt(delta),
            (Some(_), Some(_)) => {
                return Err(Usage::new(format!(
                    "beside {promise} either --epsilon or --delta can be given, the other is solved for"
                )));
            }
        };
        Ok((promise, question))
    }

    /// What was put in.
    fn recall(&self, promise: Guarantee, out: &mut impl Write) -> anyhow::Result<()> {
        writeln!(out, "Promise")?;
        let times = match self.times.get() {
            1 => String::new(),
            times => format!(", {times} times to the same person"),
        };
        writeln!(out, "  {promise}{times}")?;
        for other in &self.others {
            writeln!(out, "  and {other}")?;
        }
        if self.group.get() > 1 {
            writeln!(out, "  for a group of {} people", self.group)?;
        }
        Ok(())
    }
}

/// The four numbers, and which of them are answers.
#[derive(Serialize)]
struct Answer {
    epsilon: Option<f64>,
    delta: Option<f64>,
    mu: Option<f64>,
    rho: Option<f64>,
    /// ln δ, where δ was solved for: it tells apart what a float δ cannot
    ln_delta: Option<f64>,
    solved_for: Vec<&'static str>,
    direction: Direction,
    /// Pairs that hold, where neither ε nor δ was given
    pairs: Vec<Pair>,
}

/// How the answers relate to the promise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Direction {
    /// They follow from it, and are rounded up
    Implied,
    /// They suffice for it, and are rounded down
    Calibrated,
}

/// An (ε, δ) that follows.
#[derive(Serialize)]
struct Pair {
    epsilon: f64,
    delta: f64,
}

impl Answer {
    /// What `promises` amount to, of which `first` was given on its own.
    fn new(first: Guarantee, promises: &Promises, question: Question) -> Result<Self, Usage> {
        let together = |error: PrivacyError| Usage::new(format!("together they are no promise: {error}"));
        if promises.has_approximate() {
            return Self::beside_approximate(promises, question, together);
        }
        let total = promises.total().map_err(together)?;
        let Total { pure, mu, rho } = total;
        let known = Self {
            epsilon: pure.map(Epsilon::get),
            delta: None,
            mu: mu.map(Mu::get),
            rho: rho.map(Rho::get),
            ln_delta: None,
            solved_for: Vec::new(),
            direction: Direction::Implied,
            pairs: Vec::new(),
        };
        Ok(match question {
            Question::DeltaAt(epsilon) => {
                let (delta, ln_delta) = total.delta_at(epsilon);
                Self {
                    epsilon: Some(epsilon.get()),
                    delta: Some(delta),
                    ln_delta: Some(ln_delta),
                    solved_for: vec!["delta"],
                    ..known
                }
            }
            Question::EpsilonAt(delta) => {
                let epsilon = total
                    .epsilon_at(delta)
                    .map_err(|error| Usage::new(format!("no ε follows at δ = {delta}: {error}")))?;
                Self {
                    epsilon: Some(epsilon.get()),
                    delta: Some(delta.get()),
                    solved_for: vec!["epsilon"],
                    ..known
                }
            }
            Question::Currencies => {
                let given = Promise::from(first);
                let mut solved_for = Vec::new();
                solved_for.extend((mu.is_some() && given.mu.is_none()).then_some("mu"));
                solved_for.extend((rho.is_some() && given.rho.is_none()).then_some("rho"));
                let pairs = if pure.is_some() { Vec::new() } else { pairs(&total) };
                Self { solved_for, pairs, ..known }
            }
        })
    }

    /// Where some promise has a δ already, so that no μ or ρ follows.
    fn beside_approximate(
        promises: &Promises,
        question: Question,
        together: impl Fn(PrivacyError) -> Usage,
    ) -> Result<Self, Usage> {
        let whole = |epsilon: Epsilon, delta: Delta| Self {
            epsilon: Some(epsilon.get()),
            delta: Some(delta.get()),
            mu: None,
            rho: None,
            ln_delta: None,
            solved_for: vec!["epsilon"],
            direction: Direction::Implied,
            pairs: Vec::new(),
        };
        match question {
            Question::EpsilonAt(delta) => {
                let epsilon = promises.epsilon_beside_approximate(delta).map_err(|error| match error {
                    PrivacyError::Delta { .. } => {
                        Usage::new(format!("the (ε, δ) promises alone use up δ = {delta}"))
                    }
                    error => together(error),
                })?;
                Ok(whole(epsilon, delta))
            }
            _ if promises.has_gaussian_or_concentrated() => Err(Usage::new(
                "(ε, δ) beside μ or ρ adds up only at a δ for the whole: begin with the μ or ρ, \
                 as in --mu M --with epsilon=E,delta=D --delta WHOLE",
            )),
            _ => match promises.approximate().map_err(together)? {
                Guarantee::Approximate(epsilon, delta) => {
                    let (mu, rho) = calibrated(epsilon, delta);
                    Ok(Self {
                        mu: mu.map(Mu::get),
                        rho: rho.map(Rho::get),
                        solved_for: vec!["mu", "rho"],
                        direction: Direction::Calibrated,
                        ..whole(epsilon, delta)
                    })
                }
                other => Err(Usage::new(format!("{other} has no δ"))),
            },
        }
    }

    fn explain(&self, out: &mut impl Write) -> anyhow::Result<()> {
        match self.direction {
            Direction::Implied => writeln!(out, "\nWhat it amounts to")?,
            Direction::Calibrated => writeln!(out, "\nThe largest μ and ρ that imply it")?,
        }
        let numbers = [
            ("epsilon", "ε", self.epsilon),
            ("delta", "δ", self.delta),
            ("mu", "μ", self.mu),
            ("rho", "ρ", self.rho),
        ];
        for (name, letter, value) in numbers {
            let solved = if self.solved_for.contains(&name) { "   solved for" } else { "" };
            let logarithm =
                self.ln_delta.filter(|_| name == "delta" && value.is_some_and(|delta| delta < COMFORTABLE));
            match (value, logarithm) {
                (_, Some(ln_delta)) => {
                    writeln!(out, "  {letter}  10^{:.3}, ln δ = {ln_delta}{solved}", ln_delta / LN_10)?;
                }
                (Some(value), None) => writeln!(out, "  {letter}  {}{solved}", all_digits(value))?,
                (None, None) => writeln!(out, "  {letter}  none")?,
            }
        }
        if !self.pairs.is_empty() {
            writeln!(out, "\nPairs that hold, and many between them")?;
            writeln!(out, "  {:>10}   ε", "δ")?;
            for Pair { epsilon, delta } in &self.pairs {
                let epsilon = if *epsilon < COMFORTABLE { "0".to_string() } else { digits(*epsilon) };
                writeln!(out, "  {delta:>10e}   {epsilon}")?;
            }
        }
        match self.direction {
            Direction::Implied => {
                writeln!(out, "\nRounded up: the stated loss is never smaller than the true one.")?;
            }
            Direction::Calibrated => {
                writeln!(
                    out,
                    "\nμ and ρ do not follow from (ε, δ): noise calibrated to either keeps it. They are rounded down,"
                )?;
                writeln!(
                    out,
                    "and sums of ε and δ are rounded up: the stated loss is never smaller than the true one."
                )?;
            }
        }
        Ok(())
    }
}

/// A few (ε, δ) that follow from a promise without δ.
fn pairs(total: &Total) -> Vec<Pair> {
    let pair = |delta| Some(Pair { epsilon: total.epsilon_at(Delta::new(delta).ok()?).ok()?.get(), delta });
    DELTAS.into_iter().filter_map(pair).collect()
}
