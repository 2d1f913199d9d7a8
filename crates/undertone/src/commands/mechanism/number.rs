//! `mechanism number`: how a bounded number becomes an integer, in the integers that run.

use super::integers::{Integers, OF_WORDS};
use crate::digits::digits;
use crate::exit::Usage;
use crate::output::{self, Drawing};
use crate::{arguments, number_chart};
use serde::Serialize;
use std::io::Write;
use std::str::FromStr;
use undertone_privacy::number::{
    Bounds, Hybrid, NumberKind, NumberMechanism, NumberRandomizer, OneBit, Piecewise,
};
use undertone_privacy::{Epsilon, PrivacyError};

/// A mechanism that reports an integer about a number in an interval
///
/// laplace: discrete Laplace noise. one-bit: a bit, likelier to be one the larger the number. piecewise: a window
/// around the number, likelier than the rest. hybrid: piecewise or one bit, by a coin. bins: randomized response on the
/// best number of bins. piecewise-best, hybrid-best: with the window of least worst-case variance instead of the
/// published one. best: whichever has the least worst-case variance at this ε.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  undertone mechanism number --low -1 --high 1 --epsilon 1
  undertone mechanism number --kind bins --low 0 --high 100 --epsilon 2 --json
  undertone mechanism number --low -1 --high 1 --epsilon 1 --svg number.svg")]
pub(crate) struct Number {
    /// Which mechanism
    #[arg(long, default_value = "best", value_parser = arguments::one_of::<Choice>(Choice::names()))]
    kind: Choice,
    /// The lower end of the interval, to which smaller numbers are clamped
    #[arg(long, value_name = "A", value_parser = arguments::number, allow_hyphen_values = true)]
    low: f64,
    /// The upper end, to which larger numbers are clamped
    #[arg(long, value_name = "B", value_parser = arguments::number, allow_hyphen_values = true)]
    high: f64,
    /// ε, the promise
    #[arg(long, value_name = "E", value_parser = arguments::epsilon, allow_hyphen_values = true)]
    epsilon: Epsilon,
    #[command(flatten)]
    drawing: Drawing,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A kind, or whichever is best.
#[derive(Clone, Copy, Debug)]
enum Choice {
    Best,
    Kind(NumberKind),
}

impl Choice {
    const BEST: &str = "best";

    fn names() -> impl Iterator<Item = &'static str> {
        NumberKind::ALL.into_iter().map(NumberKind::name).chain([Self::BEST])
    }
}

impl FromStr for Choice {
    type Err = PrivacyError;

    fn from_str(name: &str) -> Result<Self, PrivacyError> {
        if name == Self::BEST { Ok(Self::Best) } else { name.parse().map(Self::Kind) }
    }
}

impl Number {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let bounds = Bounds::new(self.low, self.high).map_err(Usage::new)?;
        let mechanism = match self.kind {
            Choice::Best => NumberMechanism::best(bounds, self.epsilon),
            Choice::Kind(kind) => NumberMechanism::new(kind, bounds, self.epsilon),
        }
        .map_err(Usage::new)?;
        let facts = Facts::new(&mechanism, self.epsilon)?;
        let drawn = self.drawing.write(|| number_chart::svg(bounds, &mechanism, self.epsilon))?;
        if self.json {
            return output::json(&facts, out);
        }
        facts.explain(matches!(self.kind, Choice::Best), out)?;
        compare(&mechanism, self.epsilon, out)?;
        if let Some(path) = drawn {
            writeln!(out, "\nDrawn in {}", path.display())?;
        }
        Ok(())
    }
}

/// Everything about a mechanism that can be put in a number.
#[derive(Serialize)]
struct Facts {
    kind: &'static str,
    low: f64,
    high: f64,
    epsilon: f64,
    realised_epsilon: f64,
    variance_worst: f64,
    variance_at_low: f64,
    variance_at_mid: f64,
    grid_steps: u32,
    integers: Integers,
    /// None if every integer may be reported
    report_least: Option<i64>,
    report_most: Option<i64>,
    report_bits: u32,
    decoder: Vec<Decoded>,
}

/// What a report is worth.
#[derive(Serialize)]
struct Decoded {
    report: i64,
    value: f64,
}

impl Facts {
    fn new(mechanism: &NumberMechanism, epsilon: Epsilon) -> Result<Self, Usage> {
        let bounds = mechanism.bounds();
        let alphabet = mechanism.alphabet();
        let (low, high) = (bounds.low(), bounds.high());
        if !mechanism.worst_variance().is_finite() {
            return Err(Usage::new(format!(
                "the interval from {low} to {high} is so wide that no float holds the variance; use larger units"
            )));
        }
        Ok(Self {
            kind: mechanism.kind().name(),
            low,
            high,
            epsilon: epsilon.get(),
            realised_epsilon: mechanism.realised_epsilon(),
            variance_worst: mechanism.worst_variance(),
            variance_at_low: mechanism.variance_at(bounds.lowest()),
            variance_at_mid: mechanism.variance_at(bounds.middle()),
            grid_steps: bounds.steps(),
            integers: integers(mechanism),
            report_least: alphabet.as_ref().map(|reports| *reports.start()),
            report_most: alphabet.as_ref().map(|reports| *reports.end()),
            report_bits: report_bits(mechanism),
            decoder: corners(mechanism)
                .into_iter()
                .map(|report| Decoded { report, value: mechanism.decode(report) })
                .collect(),
        })
    }

    fn explain(&self, chosen: bool, out: &mut impl Write) -> anyhow::Result<()> {
        let Self { kind, low, high, epsilon, .. } = self;
        writeln!(
            out,
            "{kind}: a number in [{low}, {high}] becomes {}",
            match (self.report_least, self.report_most) {
                (Some(least), Some(most)) => format!("an integer from {least} to {most}"),
                _ => "an integer without bounds".to_string(),
            }
        )?;
        if chosen {
            writeln!(out, "(chosen: no kind has a smaller worst-case variance at this ε)")?;
        }

        let times = epsilon.exp();
        writeln!(out, "\nPromise")?;
        writeln!(
            out,
            "  ε = {epsilon}: no report is more than e^ε = {times:.6} times likelier under one number than another"
        )?;
        writeln!(out, "  realised loss, rounded up      {}", self.realised_epsilon)?;

        writeln!(out, "\nIntegers that run; a word is one of 2^64 = {}", 1u128 << 64)?;
        writeln!(
            out,
            "  {:<20}{:>21}   from low to high; a number is rounded to the nearest",
            "grid_steps", self.grid_steps
        )?;
        self.integers.explain(out)?;

        writeln!(out, "\nDecoder, unbiased; in even steps between the reports shown")?;
        for Decoded { report, value } in &self.decoder {
            writeln!(out, "  report {report:>12} becomes {value:>23}")?;
        }

        writeln!(out, "\nExact variances of one decoded report")?;
        writeln!(out, "  worst over all numbers         {:>23}", self.variance_worst)?;
        writeln!(out, "  at either end                  {:>23}", self.variance_at_low)?;
        writeln!(out, "  in the middle                  {:>23}", self.variance_at_mid)?;
        Ok(())
    }
}

/// The numbers that a device draws by.
fn integers(mechanism: &NumberMechanism) -> Integers {
    let none = Integers::new();
    match *mechanism {
        NumberMechanism::Laplace(laplace) => {
            let scale = laplace.noise().scale();
            none.and(
                "scale_numerator",
                scale.numerator(),
                "P(noise z) ∝ exp(-|z| · denominator / numerator),",
            )
            .and("scale_denominator", scale.denominator(), "in steps of the grid")
        }
        NumberMechanism::OneBit(one_bit) => of_one_bit(none, one_bit),
        NumberMechanism::Piecewise(piecewise) | NumberMechanism::PiecewiseBest(piecewise) => {
            of_piecewise(none, piecewise)
        }
        NumberMechanism::Hybrid(hybrid) | NumberMechanism::HybridBest(hybrid) => of_hybrid(none, hybrid),
        NumberMechanism::Bins(bins) => none
            .and("bins", bins.count(), "equispaced values; a number is rounded to either neighbour, unbiased")
            .and("truth_words", bins.truth_words(), format_args!("{OF_WORDS} report the number's own bin"))
            .and("lie_words", bins.lie_words(), "words report any one of the others"),
    }
}

fn of_one_bit(integers: Integers, one_bit: OneBit) -> Integers {
    integers
        .and("low_words", one_bit.low_words(), format_args!("{OF_WORDS} report a one at the lower end"))
        .and("step_words", one_bit.step_words(), "more words do for every step of the grid")
}

fn of_piecewise(integers: Integers, piecewise: Piecewise) -> Integers {
    let words = piecewise.near().heads();
    integers.and("window_reach", piecewise.reach(), "steps of the grid to either side of the number").and(
        "window_words",
        words,
        format_args!("{OF_WORDS} report an integer of the window"),
    )
}

fn of_hybrid(integers: Integers, hybrid: Hybrid) -> Integers {
    let words = hybrid.blend().heads();
    let blend = integers.and(
        "piecewise_words",
        words,
        format_args!("{OF_WORDS} report as piecewise, the rest one bit"),
    );
    let blend = if words == 0 { blend } else { of_piecewise(blend, hybrid.piecewise()) };
    of_one_bit(blend, hybrid.one_bit())
}

/// Reports between which the decoder is a straight line.
fn corners(mechanism: &NumberMechanism) -> Vec<i64> {
    match mechanism {
        NumberMechanism::Laplace(laplace) => vec![0, i64::from(laplace.bounds().steps())],
        NumberMechanism::Hybrid(hybrid) | NumberMechanism::HybridBest(hybrid) => {
            let mut reports = ends(hybrid);
            if hybrid.blend().heads() > 0 {
                reports.extend(ends(&hybrid.piecewise()));
                reports.sort_unstable();
            }
            reports
        }
        _ => ends(mechanism),
    }
}

/// The least and the largest report.
fn ends(mechanism: &impl NumberRandomizer) -> Vec<i64> {
    mechanism.alphabet().map_or(Vec::new(), |reports| vec![*reports.start(), *reports.end()])
}

/// Bits that tell all reports apart; 64 if there is no end to them.
fn report_bits(mechanism: &NumberMechanism) -> u32 {
    mechanism.alphabet().map_or(u64::BITS, |reports| {
        let most = reports.end().abs_diff(*reports.start());
        u64::BITS - most.leading_zeros()
    })
}

/// Every kind beside this one, the best first.
fn compare(mechanism: &NumberMechanism, epsilon: Epsilon, out: &mut impl Write) -> anyhow::Result<()> {
    let mut all = Vec::new();
    for kind in NumberKind::ALL {
        all.push(NumberMechanism::new(kind, mechanism.bounds(), epsilon).map_err(Usage::new)?);
    }
    let least = all.iter().map(NumberMechanism::worst_variance).fold(f64::INFINITY, f64::min);
    let times = |worst: f64| if worst > least { worst / least } else { 1.0 };
    // What is equal but for its rounding stays in the order of preference.
    all.sort_by_cached_key(|one| (times(one.worst_variance()) * 1e6).round() as u64);
    writeln!(out, "\nEvery kind at ε = {epsilon}")?;
    writeln!(out, "  {:<16}{:>16}{:>12}{:>16}", "mechanism", "worst variance", "× least", "bits a report")?;
    for other in &all {
        let (worst, kind) = (other.worst_variance(), other.kind());
        let here = if kind == mechanism.kind() { "   ← this one" } else { "" };
        writeln!(
            out,
            "  {kind:<16}{:>16}{:>12}{:>16}{here}",
            digits(worst),
            digits(times(worst)),
            report_bits(other)
        )?;
    }
    Ok(())
}
