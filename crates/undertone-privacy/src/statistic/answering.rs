//! Which label mechanism answers a question of K answers.

use crate::label::{LabelKind, LabelMechanism};
use crate::{Epsilon, PrivacyError};

/// Which label mechanism answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answering {
    /// That of least variance, subset selection
    Best,
    /// As published: randomized response below 3·e^ε + 2 answers, optimized unary encoding from there on
    Published,
}

impl Answering {
    pub(super) fn mechanism(self, labels: u32, epsilon: Epsilon) -> Result<LabelMechanism, PrivacyError> {
        match self {
            Self::Best => LabelMechanism::best(labels, epsilon),
            // K - 2 < 3·e^ε, with t = e^-ε
            Self::Published if (f64::from(labels) - 2.0) * epsilon.t() < 3.0 => {
                LabelKind::Rr.mechanism(labels, epsilon)
            }
            Self::Published => LabelKind::Oue.mechanism(labels, epsilon),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_published_randomized_response_gives_way_to_bits_at_ten_answers_or_so() {
        // 3·e + 2 = 10.15 at ε = 1
        let epsilon = Epsilon::new(1.0).unwrap();
        let published = |labels| Answering::Published.mechanism(labels, epsilon).unwrap();
        assert!(matches!(published(10), LabelMechanism::RandomizedResponse(_)));
        assert!(matches!(published(11), LabelMechanism::Bits(_)));
        assert!(matches!(Answering::Best.mechanism(11, epsilon).unwrap(), LabelMechanism::Subset(_)));
    }
}
