//! A number mechanism in words.

use crate::arguments;
use crate::exit::Usage;
use std::str::FromStr;
use undertone_privacy::number::{Bounds, NumberKind, NumberMechanism};
use undertone_privacy::{Epsilon, PrivacyError};

/// A mechanism that reports an integer about a number in an interval
///
/// laplace: discrete Laplace noise. one-bit: a bit, likelier to be one the larger the number. piecewise: a window
/// around the number, likelier than the rest. hybrid: piecewise or one bit, by a coin. bins: randomized response on the
/// best number of bins. piecewise-best, hybrid-best: with the window of least worst-case variance instead of the
/// published one. best: whichever has the least worst-case variance at this ε.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  undertone audit number --low -1 --high 1 --epsilon 1")]
pub(crate) struct NumberWords {
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
    pub(crate) epsilon: Epsilon,
}

impl NumberWords {
    /// What the options describe.
    pub(crate) fn mechanism(&self) -> Result<NumberMechanism, Usage> {
        let bounds = Bounds::new(self.low, self.high).map_err(Usage::new)?;
        match self.kind {
            Choice::Best => NumberMechanism::best(bounds, self.epsilon),
            Choice::Kind(kind) => NumberMechanism::new(kind, bounds, self.epsilon),
        }
        .map_err(Usage::new)
    }

    /// Whether the choice was left to the program.
    pub(crate) fn wants_the_best(&self) -> bool {
        matches!(self.kind, Choice::Best)
    }
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
