//! `mechanism central`: what a trusted curator answers about true counts.

use super::integers::Integers;
use crate::digits::digits;
use crate::exit::Usage;
use crate::output;
use crate::words::CentralWords;
use serde::Serialize;
use std::io::Write;
use undertone_audit::registry::Mechanism;
use undertone_privacy::{PrivacyError, Randomizer};

/// A mechanism of a trusted curator, who sees true counts
///
/// exponential: the index of a large count. histogram: all counts, with discrete Laplace noise. The promise is about the
/// change of one label, which moves one count down and another up.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  undertone mechanism central --kind exponential --epsilon 1 --counts 10,8,5
  undertone mechanism central --kind histogram --epsilon 1 --counts 10,8,5 --json")]
pub(crate) struct Central {
    #[command(flatten)]
    words: CentralWords,
    /// The true counts to answer about
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', required = true)]
    counts: Vec<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Central {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let facts = self.facts()?;
        if self.json { output::json(&facts, out) } else { facts.explain(out) }
    }

    fn facts(&self) -> Result<Facts, Usage> {
        if self.counts.is_empty() {
            return Err(Usage::new(PrivacyError::NoCounts));
        }
        let mut facts = Facts {
            kind: self.words.kind.name(),
            trust: "central: the curator sees every true label",
            epsilon: self.words.epsilon.get(),
            counts: self.counts.clone(),
            probabilities: None,
            variance: None,
            integers: Integers::new(),
        };
        match self.words.mechanism()? {
            Mechanism::Exponential(mechanism) => {
                let probability = |index: usize| mechanism.ln_likelihood(&(index as u32), &self.counts).exp();
                facts.probabilities = Some((0..self.counts.len()).map(probability).collect());
                let (numerator, shift) = mechanism.rate();
                facts.integers = Integers::new().and("rate_numerator", numerator, "over").and(
                    "rate_denominator",
                    1u64 << shift,
                    "is α, what one more count weighs: at most ε/2",
                );
            }
            Mechanism::Histogram(mechanism) => {
                facts.variance = Some(mechanism.noise().variance());
                let scale = mechanism.noise().scale();
                facts.integers = Integers::new().and("scale_numerator", scale.numerator(), "over").and(
                    "scale_denominator",
                    scale.denominator(),
                    "is the scale of each bin's noise: at least 2/ε",
                );
            }
            _ => {
                return Err(Usage::new(format!(
                    "--kind {} answers about people in cells, not about --counts: `undertone audit central` judges it, and \
                     `undertone train --trust` runs it",
                    self.words.kind.name()
                )));
            }
        }
        Ok(facts)
    }
}

/// Everything about a mechanism that can be put in a number.
#[derive(Serialize)]
struct Facts {
    kind: &'static str,
    trust: &'static str,
    epsilon: f64,
    counts: Vec<u64>,
    /// Of each index
    probabilities: Option<Vec<f64>>,
    /// Of each bin
    variance: Option<f64>,
    integers: Integers,
}

impl Facts {
    fn explain(&self, out: &mut impl Write) -> anyhow::Result<()> {
        writeln!(out, "{}: {}", self.kind, self.trust)?;
        writeln!(out, "\nPromise\n  ε = {} for the change of one label", self.epsilon)?;
        writeln!(out, "\nIntegers that run")?;
        self.integers.explain(out)?;
        if let Some(probabilities) = &self.probabilities {
            writeln!(out, "\nThe answer is")?;
            for (index, (count, p)) in self.counts.iter().zip(probabilities).enumerate() {
                writeln!(out, "  index {index:<6} of count {count:<12} with probability {p:.10}")?;
            }
        }
        if let Some(variance) = self.variance {
            writeln!(out, "\nExact variance of each bin\n  {}", digits(variance))?;
        }
        Ok(())
    }
}
