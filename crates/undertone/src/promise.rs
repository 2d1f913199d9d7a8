//! Promises as machines read them.

use serde::Serialize;
use undertone_privacy::Guarantee;

/// A promise with one key for each number that it may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Promise {
    pub(crate) epsilon: Option<f64>,
    pub(crate) delta: Option<f64>,
    pub(crate) mu: Option<f64>,
    pub(crate) rho: Option<f64>,
}

impl From<Guarantee> for Promise {
    fn from(promise: Guarantee) -> Self {
        let none = Self::default();
        match promise {
            Guarantee::Pure(epsilon) => Self { epsilon: Some(epsilon.get()), ..none },
            Guarantee::Approximate(epsilon, delta) => {
                Self { epsilon: Some(epsilon.get()), delta: Some(delta.get()), ..none }
            }
            Guarantee::Gaussian(mu) => Self { mu: Some(mu.get()), ..none },
            Guarantee::Concentrated(rho) => Self { rho: Some(rho.get()), ..none },
        }
    }
}
