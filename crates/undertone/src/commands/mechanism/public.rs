//! `mechanism public`: numbers reported about public random strings.

use super::integers::{Integers, OF_WORDS};
use crate::digits::digits;
use crate::output;
use crate::words::PublicWords;
use serde::Serialize;
use std::io::Write;
use undertone_audit::registry::Mechanism;
use undertone_privacy::Unbiased;
use undertone_privacy::exact::DiscreteLaplace;
use undertone_privacy::number::{Bounds, GridNumber, NumberRandomizer};

/// A mechanism that answers about public random strings
///
/// rejection-bit: whether a public draw could have been one's own noisy answer. gen-prot: which of --strings public
/// draws could have been. one-coordinate: one public coordinate of --dimension, by the best mechanism for a number.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  undertone mechanism public --kind rejection-bit --low 0 --high 1 --epsilon 1
  undertone mechanism public --kind gen-prot --low 0 --high 1 --epsilon 1 --strings 16 --json")]
pub(crate) struct Public {
    #[command(flatten)]
    words: PublicWords,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Public {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let facts = Facts::new(&self.words)?;
        if self.json { output::json(&facts, out) } else { facts.explain(out) }
    }
}

/// Everything about a mechanism that can be put in a number. Variances are for each coordinate of a vector together.
#[derive(Serialize)]
struct Facts {
    kind: &'static str,
    epsilon: f64,
    realised_epsilon: f64,
    /// e₀, the loss of the noise that public strings stand for
    inner_epsilon: Option<f64>,
    variance_at_low: f64,
    variance_at_mid: f64,
    variance_at_high: f64,
    integers: Integers,
}

impl Facts {
    fn new(words: &PublicWords) -> anyhow::Result<Self> {
        let mut facts = Self {
            kind: words.kind.name(),
            epsilon: words.epsilon.get(),
            realised_epsilon: f64::NAN,
            inner_epsilon: None,
            variance_at_low: f64::NAN,
            variance_at_mid: f64::NAN,
            variance_at_high: f64::NAN,
            integers: Integers::new(),
        };
        match words.mechanism()? {
            Mechanism::RejectionBit(mechanism) => {
                facts.realised_epsilon = mechanism.realised_epsilon();
                facts.set_variances(mechanism.bounds(), |number| mechanism.variance(&number));
                let (least, most) = mechanism.one_words_range();
                facts.integers = noise(mechanism.public())
                    .and("least_one_words", least, format_args!("{OF_WORDS} say one, at least"))
                    .and("most_one_words", most, format_args!("{OF_WORDS} say one, at most"));
            }
            Mechanism::GenProt(mechanism) => {
                facts.realised_epsilon = mechanism.realised_epsilon();
                facts.inner_epsilon = Some(mechanism.inner_epsilon());
                facts.set_variances(mechanism.bounds(), |number| mechanism.variance(&number));
                let (least, most) = mechanism.accepting_words_range();
                facts.integers = noise(mechanism.public())
                    .and("strings", mechanism.strings(), "public strings for each person")
                    .and("least_accepting_words", least, format_args!("{OF_WORDS} accept a string, at least"))
                    .and("most_accepting_words", most, format_args!("{OF_WORDS} accept a string, at most"));
            }
            Mechanism::OneCoordinate(mechanism) => {
                let (number, dimension) = (mechanism.number(), mechanism.dimension());
                facts.realised_epsilon = number.realised_epsilon();
                let everywhere = |number| vec![number; dimension as usize];
                facts.set_variances(number.bounds(), |number| mechanism.variance(&everywhere(number)));
                facts.integers = Integers::new()
                    .and("dimension", dimension, "coordinates, of which a person answers about one")
                    .and("number", number.kind(), "is the mechanism for that one");
            }
            other => anyhow::bail!("{other:?} has no public randomness"),
        }
        Ok(facts)
    }

    fn set_variances(&mut self, bounds: Bounds, variance: impl Fn(GridNumber) -> f64) {
        self.variance_at_low = variance(bounds.lowest());
        self.variance_at_mid = variance(bounds.middle());
        self.variance_at_high = variance(bounds.highest());
    }

    fn explain(&self, out: &mut impl Write) -> anyhow::Result<()> {
        writeln!(out, "{}", self.kind)?;
        writeln!(out, "\nPromise, whatever the public strings are")?;
        writeln!(out, "  ε = {}", self.epsilon)?;
        writeln!(out, "  realised loss, rounded up      {}", self.realised_epsilon)?;
        if let Some(inner) = self.inner_epsilon {
            writeln!(out, "  loss of the noise it stands for {}", digits(inner))?;
        }
        writeln!(out, "\nIntegers that run; a word is one of 2^64 = {}", 1u128 << 64)?;
        self.integers.explain(out)?;
        writeln!(out, "\nExact variance of the unbiased estimate")?;
        writeln!(out, "  at the lower end               {}", digits(self.variance_at_low))?;
        writeln!(out, "  in the middle                  {}", digits(self.variance_at_mid))?;
        writeln!(out, "  at the upper end               {}", digits(self.variance_at_high))?;
        Ok(())
    }
}

/// The scale of public noise, in steps of the grid.
fn noise(public: DiscreteLaplace) -> Integers {
    Integers::new().and("scale_numerator", public.scale().numerator(), "over").and(
        "scale_denominator",
        public.scale().denominator(),
        "is the scale of public noise, in steps of the grid",
    )
}
