//! `mechanism central`: what a trusted curator answers about true counts.

use super::integers::Integers;
use crate::digits::digits;
use crate::exit::Usage;
use crate::output;
use crate::words::CentralWords;
use serde::Serialize;
use std::io::Write;
use undertone_audit::registry::Mechanism;
use undertone_privacy::Randomizer;
use undertone_privacy::central::{CentralKind, ExponentialMechanism};
use undertone_privacy::exact::DiscreteLaplace;
use undertone_privacy::number::Bounds;

/// A mechanism of a trusted curator, who sees true labels
///
/// exponential: the index of a large count. histogram: all counts, with discrete Laplace noise. cell-sum: the sum of the numbers of a
/// cell. Their promise is about the change of one label, which moves one count down and another up. cell-votes, two-sided-sums and
/// floored-means answer for every cell of a public grid, and theirs is about the change of a whole record. Numbers lie from -1 to 1:
/// of those from -T to T the scale is T times, the variance T² times as large.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  undertone mechanism central --kind exponential --epsilon 1 --counts 10,8,5
  undertone mechanism central --kind histogram --epsilon 1 --json
  undertone mechanism central --kind two-sided-sums --epsilon 1")]
pub(crate) struct Central {
    #[command(flatten)]
    words: CentralWords,
    /// True counts that exponential and histogram answer about
    #[arg(long, value_name = "N,N,…", value_delimiter = ',')]
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
        let kind = self.words.kind;
        let of_counts = matches!(kind, CentralKind::Exponential | CentralKind::Histogram);
        if !of_counts && !self.counts.is_empty() {
            return Err(Usage::new(format!(
                "--kind {} answers about people in cells, not about --counts: leave them out",
                kind.name()
            )));
        }
        let facts = Facts {
            kind: kind.name(),
            trust: "central: the curator sees every true label",
            epsilon: self.words.epsilon.get(),
            change: match kind {
                CentralKind::Exponential | CentralKind::Histogram | CentralKind::CellSum => "label",
                CentralKind::CellVotes | CentralKind::TwoSidedSums | CentralKind::FlooredMeans => "record",
            },
            counts: self.counts.clone(),
            probabilities: None,
            noise_scale: None,
            variance: None,
            floor: None,
            integers: Integers::new(),
        };
        Ok(match self.words.mechanism()? {
            Mechanism::Exponential(mechanism) => {
                let probability = |index: usize| mechanism.ln_likelihood(&(index as u32), &self.counts).exp();
                let probabilities = (0..self.counts.len()).map(probability).collect::<Vec<_>>();
                let probabilities = (!probabilities.is_empty()).then_some(probabilities);
                Facts { probabilities, integers: rate(&mechanism), ..facts }
            }
            Mechanism::CellVotes(mechanism) => Facts { integers: rate(&mechanism.choice()), ..facts },
            Mechanism::Histogram(mechanism) => {
                facts.with_noise(mechanism.noise(), 1.0, "is the scale of each bin's noise: at least 2/ε")
            }
            Mechanism::CellSum(mechanism) => {
                let step = step(mechanism.bounds());
                facts.with_noise(
                    mechanism.noise(),
                    step,
                    "is the scale of the noise in steps of 2T/2^20: at least 2T/ε",
                )
            }
            Mechanism::TwoSidedSums(mechanism) => {
                let step = step(mechanism.bounds());
                facts.with_noise(
                    mechanism.noise(),
                    step,
                    "is the scale of each sum's noise in steps of 2T/2^20: at least 4T/ε",
                )
            }
            Mechanism::FlooredMeans(mechanism) => {
                let step = mechanism.decode(1) - mechanism.decode(0);
                let meaning =
                    "is the scale of each mean's noise in steps of T/2^30: at least 4T/((n₀ + 1)·ε)";
                let floor = Some(mechanism.floor());
                Facts { floor, ..facts.with_noise(mechanism.noise(), step, meaning) }
            }
            // Words of central mechanisms describe no other.
            _ => facts,
        })
    }
}

/// The width of the bounds over the steps of their grid.
fn step(bounds: Bounds) -> f64 {
    (bounds.high() - bounds.low()) / f64::from(bounds.steps())
}

fn rate(mechanism: &ExponentialMechanism) -> Integers {
    let (numerator, shift) = mechanism.rate();
    Integers::new().and("rate_numerator", numerator, "over").and(
        "rate_denominator",
        1u64 << shift,
        "is α, what one more count weighs: at most ε/2",
    )
}

/// Everything about a mechanism that can be put in a number.
#[derive(Serialize)]
struct Facts {
    kind: &'static str,
    trust: &'static str,
    epsilon: f64,
    /// Of what the promise hides the change: one label, or one record
    change: &'static str,
    counts: Vec<u64>,
    /// Of each index
    probabilities: Option<Vec<f64>>,
    /// Of the noise of each answer
    noise_scale: Option<f64>,
    /// Of each answer
    variance: Option<f64>,
    /// n₀
    #[serde(skip_serializing_if = "Option::is_none")]
    floor: Option<u32>,
    integers: Integers,
}

impl Facts {
    /// Of noise on a grid of this step.
    fn with_noise(self, noise: DiscreteLaplace, step: f64, meaning: &str) -> Self {
        let scale = noise.scale();
        let integers = Integers::new().and("scale_numerator", scale.numerator(), "over").and(
            "scale_denominator",
            scale.denominator(),
            meaning,
        );
        let variance = Some(noise.variance() * step * step);
        Self { noise_scale: Some(scale.get() * step), variance, integers, ..self }
    }

    fn explain(&self, out: &mut impl Write) -> anyhow::Result<()> {
        writeln!(out, "{}: {}", self.kind, self.trust)?;
        writeln!(out, "\nPromise\n  ε = {} for the change of one {}", self.epsilon, self.change)?;
        writeln!(out, "\nIntegers that run")?;
        self.integers.explain(out)?;
        if let Some(probabilities) = &self.probabilities {
            writeln!(out, "\nThe answer is")?;
            for (index, (count, p)) in self.counts.iter().zip(probabilities).enumerate() {
                writeln!(out, "  index {index:<6} of count {count:<12} with probability {p:.10}")?;
            }
        }
        if let Some(floor) = self.floor {
            writeln!(out, "\nMeans are of n₀ = {floor} people at least")?;
        }
        if let (Some(scale), Some(variance)) = (self.noise_scale, self.variance) {
            writeln!(
                out,
                "\nNoise of each answer\n  scale {}, exact variance {}",
                digits(scale),
                digits(variance)
            )?;
        }
        Ok(())
    }
}
