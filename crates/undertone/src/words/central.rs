//! A central mechanism in words.

use crate::arguments;
use crate::exit::Usage;
use undertone_audit::registry::Mechanism;
use undertone_privacy::Epsilon;
use undertone_privacy::central::{CentralKind, ExponentialMechanism, NoisyHistogram};

/// A mechanism of a trusted curator, who sees true counts
///
/// exponential: the index of a large count. histogram: all counts, with discrete Laplace noise. The promise is about the
/// change of one label, which moves one count down and another up.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  undertone audit central --kind histogram --epsilon 1")]
pub(crate) struct CentralWords {
    /// Which mechanism
    #[arg(long, value_parser = arguments::one_of::<CentralKind>(CentralKind::ALL.map(CentralKind::name)))]
    pub(crate) kind: CentralKind,
    /// ε, the promise
    #[arg(long, value_name = "E", value_parser = arguments::epsilon, allow_hyphen_values = true)]
    pub(crate) epsilon: Epsilon,
}

impl CentralWords {
    /// What the options describe.
    pub(crate) fn mechanism(&self) -> Result<Mechanism, Usage> {
        Ok(match self.kind {
            CentralKind::Exponential => Mechanism::Exponential(ExponentialMechanism::new(self.epsilon)),
            CentralKind::Histogram => {
                Mechanism::Histogram(NoisyHistogram::new(self.epsilon).map_err(Usage::new)?)
            }
        })
    }
}
