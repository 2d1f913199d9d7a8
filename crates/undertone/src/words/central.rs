//! A central mechanism in words.

use crate::arguments;
use crate::exit::Usage;
use undertone_audit::registry::{Kind, Mechanism, Setup};
use undertone_privacy::Epsilon;
use undertone_privacy::central::CentralKind;

/// A mechanism of a trusted curator, who sees true counts
///
/// exponential: the index of a large count. histogram: all counts, with discrete Laplace noise. cell-sum: the sum of the numbers of a
/// cell. Their promise is about the change of one label. cell-votes, two-sided-sums and floored-means answer for every cell of a
/// public grid, and theirs is about the change of a whole record.
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
        let setup = Setup::usual(self.epsilon).map_err(Usage::new)?;
        Mechanism::new(Kind::Central(self.kind), &setup).map_err(Usage::new)
    }
}
