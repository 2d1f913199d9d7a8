//! Promises as machines read them, and as people do.

use crate::digits::{all_digits, digits};
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

/// What a promise means to somebody whose `secret`, a label or a record, it is about.
pub(crate) fn in_words(promise: &Guarantee, secret: &str) -> String {
    match promise {
        Guarantee::Pure(epsilon) => {
            let times = epsilon.exp();
            if times > 1e6 {
                return format!("{promise}: so large that reports give the {secret} away");
            }
            let (odds, chance) = (digits(times), 100.0 * times / (1.0 + times));
            format!(
                "{promise}: no report is more than {odds} times likelier under one {secret} than under another. \
                 Whoever found two {secret}s equally likely beforehand can be at most {chance:.1} % sure of one of them afterwards"
            )
        }
        Guarantee::Approximate(epsilon, delta) => format!(
            "{promise}: nothing that is reported is likelier under one {secret} than {} times its probability under \
             another, plus {}",
            digits(epsilon.exp()),
            all_digits(delta.get())
        ),
        Guarantee::Gaussian(mu) => format!(
            "{promise}: two {secret}s are as hard to tell apart by a report as two normal laws whose means are {} \
             standard deviations apart by one draw",
            all_digits(mu.get())
        ),
        Guarantee::Concentrated(rho) => format!(
            "{promise}: every Rényi divergence of order α between the reports of two {secret}s is at most {}·α",
            all_digits(rho.get())
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undertone_privacy::Epsilon;

    #[test]
    fn epsilon_ln_three_means_odds_of_three_to_one() {
        let words = |epsilon: f64| in_words(&Guarantee::Pure(Epsilon::new(epsilon).unwrap()), "label");
        assert!(words(3f64.ln()).contains("3.0000 times") && words(3f64.ln()).contains("75.0 % sure"));
        assert!(words(100.0).contains("give the label away"));
    }
}
