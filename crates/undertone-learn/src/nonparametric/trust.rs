//! Who has to be trusted with what: the columns of the table of rates.
//!
//! | model | who sees a true label | features | neighbours differ in |
//! |---|---|---|---|
//! | label-local | nobody but the person's device | public | one person's label |
//! | full-local | nobody but the person's device | private | one person's record |
//! | label-central | a curator | public | one label |
//! | full-central | a curator | private | one record |
//! | none | everybody | public | – |

use crate::LearnError;
use crate::stages::Trust;
use serde::{Deserialize, Serialize};

/// A model of trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrustModel {
    /// Devices randomize labels; features are public
    LabelLocal,
    /// A curator keeps labels; features are public
    LabelCentral,
    /// Devices randomize whole records
    FullLocal,
    /// A curator keeps whole records
    FullCentral,
    /// Nothing is private
    None,
}

impl TrustModel {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::LabelLocal, Self::LabelCentral, Self::FullLocal, Self::FullCentral, Self::None];

    /// What people type.
    pub fn name(self) -> &'static str {
        match self {
            Self::LabelLocal => "label-local",
            Self::LabelCentral => "label-central",
            Self::FullLocal => "full-local",
            Self::FullCentral => "full-central",
            Self::None => "none",
        }
    }

    /// What averages of reports need.
    pub(super) fn of_devices() -> Self {
        Self::LabelLocal
    }

    /// The model of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|model| model.name() == name)
    }

    /// Who sees true labels in it.
    pub fn needs(self) -> Trust {
        match self {
            Self::LabelLocal | Self::FullLocal => Trust::Local,
            Self::LabelCentral | Self::FullCentral | Self::None => Trust::Central,
        }
    }

    /// Refuses what needs a curator where there is none.
    pub fn check(self, available: Trust, what: &'static str) -> Result<(), LearnError> {
        match (self.needs(), available) {
            (Trust::Central, Trust::Local) => Err(LearnError::Central { what }),
            _ => Ok(()),
        }
    }
}

/// What every model of this folder says of itself: who had to be trusted, and what it predicts. The two are fields of the model, or of
/// the document in it.
macro_rules! trust_and_output {
    ($model:ident $(, $document:ident)?) => {
        impl $model {
            /// Who had to be trusted.
            pub fn trust(&self) -> $crate::nonparametric::TrustModel {
                self.$($document.)?trust
            }

            /// The same, of true labels that somebody has seen.
            pub(in crate::nonparametric) fn of_true_labels(mut self) -> Self {
                self.$($document.)?trust = $crate::nonparametric::TrustModel::None;
                self
            }

            /// What is predicted.
            pub fn output(&self) -> $crate::nonparametric::Output {
                self.$($document.)?output
            }
        }
    };
}
pub(super) use trust_and_output;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_task_refuses_whatever_needs_a_curator() {
        for model in TrustModel::ALL {
            assert_eq!(TrustModel::named(model.name()), Some(model));
            let local = matches!(model, TrustModel::LabelLocal | TrustModel::FullLocal);
            assert_eq!(model.check(Trust::Local, "the sum").is_ok(), local);
            assert!(model.check(Trust::Central, "the sum").is_ok());
        }
        assert_eq!(TrustModel::named("Label-Local"), None);
    }
}
