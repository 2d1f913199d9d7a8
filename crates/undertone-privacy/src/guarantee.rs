//! What is promised to a person, in the four currencies of the field.

use crate::PrivacyError;
use crate::error::Shown;
use core::fmt;

/// Declares a newtype over `f64` whose value was checked when it was built.
macro_rules! checked_number {
    ($(#[$doc:meta])* $name:ident, $valid:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
        pub struct $name(f64);

        impl $name {
            /// Checks `value` once, so that nobody has to again.
            pub fn new(value: f64) -> Result<Self, PrivacyError> {
                let valid: fn(f64) -> bool = $valid;
                if valid(value) { Ok(Self(value)) } else { Err(PrivacyError::$name { value }) }
            }

            /// The number itself.
            pub fn get(self) -> f64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Shown(self.0).fmt(f)
            }
        }
    };
}

checked_number!(
    /// ε: no report is more than e^ε times likelier under one input than under another.
    Epsilon,
    |value| value > 0.0 && value.is_finite()
);
checked_number!(
    /// δ: the probability mass on which the promise of ε may fail.
    Delta,
    |value| value > 0.0 && value < 1.0
);
checked_number!(
    /// μ: two inputs are as hard to tell apart as N(0, 1) and N(μ, 1).
    Mu,
    |value| value > 0.0 && value.is_finite()
);
checked_number!(
    /// ρ: every Rényi divergence of order α between two inputs is at most ρ·α.
    Rho,
    |value| value > 0.0 && value.is_finite()
);

impl Epsilon {
    /// e^ε, infinite above about 709.
    pub fn exp(self) -> f64 {
        libm::exp(self.0)
    }

    /// t = e^-ε. Formulas in (t, m) neither overflow at large ε nor cancel at small ε.
    pub fn t(self) -> f64 {
        libm::exp(-self.0)
    }

    /// m = 1 - e^-ε, without cancellation.
    pub fn m(self) -> f64 {
        -libm::expm1(-self.0)
    }
}

/// A privacy promise about one report of one person.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Guarantee {
    /// ε-differential privacy.
    Pure(Epsilon),
    /// (ε, δ)-differential privacy.
    Approximate(Epsilon, Delta),
    /// μ-Gaussian differential privacy.
    Gaussian(Mu),
    /// ρ-zero-concentrated differential privacy.
    Concentrated(Rho),
}

impl Guarantee {
    /// What this currency is called, for messages.
    pub fn currency(&self) -> &'static str {
        match self {
            Self::Pure(_) => "pure ε",
            Self::Approximate(..) => "(ε, δ)",
            Self::Gaussian(_) => "μ-GDP",
            Self::Concentrated(_) => "ρ-zCDP",
        }
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pure(epsilon) => write!(f, "ε = {epsilon}"),
            Self::Approximate(epsilon, delta) => write!(f, "(ε = {epsilon}, δ = {delta})"),
            Self::Gaussian(mu) => write!(f, "μ = {mu}"),
            Self::Concentrated(rho) => write!(f, "ρ = {rho}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_promise_that_is_no_number_is_refused_with_its_value() {
        for value in [0.0, -1.0, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(Epsilon::new(value), Err(PrivacyError::Epsilon { value }));
            assert_eq!(Mu::new(value), Err(PrivacyError::Mu { value }));
            assert_eq!(Rho::new(value), Err(PrivacyError::Rho { value }));
            assert_eq!(Delta::new(value), Err(PrivacyError::Delta { value }));
        }
        assert!(Epsilon::new(f64::NAN).is_err() && Delta::new(f64::NAN).is_err());
        assert_eq!(Delta::new(1.0), Err(PrivacyError::Delta { value: 1.0 }));
        assert_eq!(
            Epsilon::new(-2.5).unwrap_err().to_string(),
            "epsilon is -2.5, but has to be positive and finite"
        );
    }
}
