//! What a seed is for: constants were chosen while looking at some, and are judged by others.

use serde::Serialize;

/// Seeds of either purpose are never averaged together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Purpose {
    Development,
    Confirmation,
}

impl Purpose {
    /// The first seed that nobody looks at while anything is chosen.
    pub(crate) const FIRST_CONFIRMATION: u64 = 101;

    pub(crate) fn of(seed: u64) -> Self {
        if seed < Self::FIRST_CONFIRMATION { Self::Development } else { Self::Confirmation }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Development => "development",
            Self::Confirmation => "confirmation",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_from_101_on_are_for_confirmation() {
        assert_eq!([0, 1, 100].map(Purpose::of), [Purpose::Development; 3]);
        assert_eq!([101, u64::MAX].map(Purpose::of), [Purpose::Confirmation; 2]);
    }
}
