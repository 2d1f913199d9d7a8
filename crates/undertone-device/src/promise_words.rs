//! Promises in the words of the ledger's file.

use serde::{Deserialize, Serialize};
use undertone_privacy::{Delta, Epsilon, Guarantee, Mu, PrivacyError, Rho};

/// A promise with the numbers that it has.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PromiseWords {
    Pure { epsilon: f64 },
    Approximate { epsilon: f64, delta: f64 },
    Gaussian { mu: f64 },
    Concentrated { rho: f64 },
}

impl From<Guarantee> for PromiseWords {
    fn from(promise: Guarantee) -> Self {
        match promise {
            Guarantee::Pure(epsilon) => Self::Pure { epsilon: epsilon.get() },
            Guarantee::Approximate(epsilon, delta) => {
                Self::Approximate { epsilon: epsilon.get(), delta: delta.get() }
            }
            Guarantee::Gaussian(mu) => Self::Gaussian { mu: mu.get() },
            Guarantee::Concentrated(rho) => Self::Concentrated { rho: rho.get() },
        }
    }
}

impl TryFrom<PromiseWords> for Guarantee {
    type Error = PrivacyError;

    fn try_from(words: PromiseWords) -> Result<Self, PrivacyError> {
        Ok(match words {
            PromiseWords::Pure { epsilon } => Self::Pure(Epsilon::new(epsilon)?),
            PromiseWords::Approximate { epsilon, delta } => {
                Self::Approximate(Epsilon::new(epsilon)?, Delta::new(delta)?)
            }
            PromiseWords::Gaussian { mu } => Self::Gaussian(Mu::new(mu)?),
            PromiseWords::Concentrated { rho } => Self::Concentrated(Rho::new(rho)?),
        })
    }
}
