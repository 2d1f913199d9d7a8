//! A mechanism with public randomness in words.

use crate::arguments;
use crate::exit::Usage;
use undertone_audit::registry::{Mechanism, STRINGS};
use undertone_privacy::Epsilon;
use undertone_privacy::number::{Bounds, NumberMechanism};
use undertone_privacy::public::{GenProt, OneCoordinate, PublicKind, RejectionBit};

/// A mechanism that answers about public random strings
///
/// rejection-bit: whether a public draw could have been one's own noisy answer. gen-prot: which of --strings public
/// draws could have been. one-coordinate: one public coordinate of --dimension, by the best mechanism for a number.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  undertone audit public --kind gen-prot --low 0 --high 1 --epsilon 1")]
pub(crate) struct PublicWords {
    /// Which mechanism
    #[arg(long, value_parser = arguments::one_of::<PublicKind>(PublicKind::ALL.map(PublicKind::name)))]
    pub(crate) kind: PublicKind,
    /// The lower end of the interval, to which smaller numbers are clamped
    #[arg(long, value_name = "A", value_parser = arguments::number, allow_hyphen_values = true)]
    low: f64,
    /// The upper end, to which larger numbers are clamped
    #[arg(long, value_name = "B", value_parser = arguments::number, allow_hyphen_values = true)]
    high: f64,
    /// ε, the promise
    #[arg(long, value_name = "E", value_parser = arguments::epsilon, allow_hyphen_values = true)]
    pub(crate) epsilon: Epsilon,
    /// Public strings for each person, for --kind gen-prot
    #[arg(long, value_name = "T", default_value_t = STRINGS)]
    strings: u32,
    /// Coordinates of the vector, for --kind one-coordinate
    #[arg(long, value_name = "D", default_value_t = 10)]
    dimension: u32,
}

impl PublicWords {
    /// What the options describe.
    pub(crate) fn mechanism(&self) -> Result<Mechanism, Usage> {
        let bounds = Bounds::new(self.low, self.high).map_err(Usage::new)?;
        match self.kind {
            PublicKind::RejectionBit => RejectionBit::new(bounds, self.epsilon).map(Mechanism::RejectionBit),
            PublicKind::GenProt => GenProt::new(bounds, self.strings, self.epsilon).map(Mechanism::GenProt),
            PublicKind::OneCoordinate => NumberMechanism::best(bounds, self.epsilon)
                .and_then(|number| OneCoordinate::new(self.dimension, number))
                .map(Mechanism::OneCoordinate),
        }
        .map_err(Usage::new)
    }
}
