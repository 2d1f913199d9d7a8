//! What is run: everything that a result depends on, in one line.

use super::networks::Network;
pub(super) use crate::seed_purpose::Purpose;
use clap::ValueEnum;
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use undertone_learn::LearnError;
use undertone_privacy::Epsilon;

/// A part of the study, as `--only` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Part {
    /// Table 4, handwritten digits
    Mnist,
    /// Table 4, articles of clothing
    Fashion,
    /// MovieLens-1M
    Ratings,
    /// Images that this program makes itself
    Synthetic,
    /// Accuracy against stages, temperature, split and mixup
    Figures,
}

/// Whose labels are learnt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Set {
    Mnist,
    Fashion,
    Ratings,
    Synthetic,
}

/// How they are learnt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
pub(super) enum Method {
    /// Randomized response believed, as published
    #[serde(rename = "LP-1ST")]
    #[value(name = "lp-1st")]
    OneStage,
    /// Later people answer among the labels that a first network holds for likely, as published
    #[serde(rename = "LP-2ST")]
    #[value(name = "lp-2st")]
    TwoStages,
    /// The same once more
    #[serde(rename = "LP-3ST")]
    #[value(name = "lp-3st")]
    ThreeStages,
    /// What this program does by default
    #[serde(rename = "ours")]
    Ours,
}

/// ε, or none at all.
///
/// Without privacy reports are made with ε = 40: a lie has probability below 10^-16, so that they are the labels, and come the same way.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Deserialize)]
pub(super) struct Budget(f64);

/// What is done to the stages of the published method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Knobs {
    /// Less than one sharpens what later people are asked about
    pub(super) temperature: f64,
    /// The share of people in the first stage, if that of the method is not taken
    pub(super) first_share: Option<f64>,
    /// α in the first stage, half of it later; none for images as they are
    pub(super) mixup: Option<f64>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Setting {
    pub(super) part: Part,
    pub(super) set: Set,
    pub(super) method: Method,
    pub(super) epsilon: Budget,
    /// Of devices and networks
    pub(super) seed: u64,
    /// The first so many of those who can be asked
    pub(super) people: usize,
    /// None where no network is trained
    pub(super) network: Option<Network>,
    pub(super) epochs: Option<usize>,
    pub(super) temperature: Option<f64>,
    pub(super) first_share: Option<f64>,
    pub(super) mixup: Option<f64>,
}

impl Budget {
    /// Positive; infinite for no privacy.
    pub(super) fn new(value: f64) -> anyhow::Result<Self> {
        if value != f64::INFINITY {
            Epsilon::new(value)?;
        }
        Ok(Self(value))
    }

    /// What devices are told.
    pub(super) fn epsilon(self) -> Result<Epsilon, LearnError> {
        Ok(Epsilon::new(self.0.min(40.0))?)
    }

    pub(super) fn is_private(self) -> bool {
        self.0.is_finite()
    }

    pub(super) fn is(self, value: f64) -> bool {
        self.0.total_cmp(&value).is_eq()
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_private() { self.0.fmt(f) } else { f.write_str("∞") }
    }
}

/// A number, or the word that Rust and Python read as infinity, for which JSON has none.
impl Serialize for Budget {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_private() { serializer.serialize_f64(self.0) } else { serializer.serialize_str("inf") }
    }
}

impl Set {
    pub(super) const ALL: [Self; 4] = [Self::Mnist, Self::Fashion, Self::Ratings, Self::Synthetic];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Mnist => "mnist",
            Self::Fashion => "fashion",
            Self::Ratings => "ratings",
            Self::Synthetic => "synthetic",
        }
    }

    /// Whether smaller is better.
    pub(super) fn is_error(self) -> bool {
        self == Self::Ratings
    }

    /// What is measured.
    pub(super) fn measure(self) -> &'static str {
        if self.is_error() { "RMSE" } else { "accuracy, %" }
    }

    /// A value as people write it.
    pub(super) fn words(self, value: f64) -> String {
        if self.is_error() { format!("{value:.4}") } else { format!("{:.2}", 100.0 * value) }
    }
}

impl Method {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::OneStage => "LP-1ST",
            Self::TwoStages => "LP-2ST",
            Self::ThreeStages => "LP-3ST",
            Self::Ours => "ours",
        }
    }

    /// Of the published method; ours has none.
    pub(super) fn stages(self) -> Option<usize> {
        match self {
            Self::OneStage => Some(1),
            Self::TwoStages => Some(2),
            Self::ThreeStages => Some(3),
            Self::Ours => None,
        }
    }

    /// The share of people who are asked first: with two stages as in the paper's learning curves.
    pub(super) fn first_share(self) -> Option<f64> {
        match self {
            Self::TwoStages => Some(0.65),
            Self::ThreeStages => Some(0.5),
            Self::OneStage | Self::Ours => None,
        }
    }
}

impl Setting {
    /// The share of people in each stage; what the first leaves is shared evenly.
    pub(super) fn fractions(&self) -> Vec<f64> {
        let later = self.method.stages().unwrap_or(1) - 1;
        let Some(first) = self.first_share.filter(|_| later > 0) else { return vec![1.0] };
        let rest = std::iter::repeat_n((1.0 - first) / later as f64, later);
        std::iter::once(first).chain(rest).collect()
    }

    pub(super) fn purpose(&self) -> Purpose {
        Purpose::of(self.seed)
    }

    /// Whether only the seeds differ, and those are for the same purpose.
    pub(super) fn is_repetition_of(&self, other: &Self) -> bool {
        self.purpose() == other.purpose() && Self { seed: other.seed, ..self.clone() } == *other
    }

    /// For a name on the disk, which no other setting has.
    pub(super) fn slug(&self) -> String {
        let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
        let network = self.network.map_or_else(|| "-".to_owned(), |network| network.to_string());
        let Self { part, set, method, epsilon: Budget(epsilon), seed, people, .. } = self;
        let words = format!(
            "{part:?}_{}_{}_e{epsilon}_s{seed}_n{people}_{network}_{}_t{}_f{}_m{}",
            set.name(),
            method.name(),
            self.epochs.unwrap_or(0),
            number(self.temperature),
            number(self.first_share),
            number(self.mixup)
        );
        words.to_lowercase().replace('/', "over")
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, ε = {}, seed {}", self.set.name(), self.method.name(), self.epsilon, self.seed)
    }
}

#[cfg(test)]
pub(super) fn example(method: Method, epsilon: f64, seed: u64) -> Setting {
    Setting {
        part: Part::Fashion,
        set: Set::Fashion,
        method,
        epsilon: Budget::new(epsilon).unwrap(),
        seed,
        people: 60_000,
        network: method.stages().map(|_| Network::Cnn),
        epochs: method.stages().map(|_| 10),
        temperature: method.first_share().map(|_| 0.5),
        first_share: method.first_share(),
        mixup: method.stages().map(|_| 4.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_first_stage_leaves_is_shared_evenly() {
        let fractions = |method| example(method, 1.0, 1).fractions();
        assert_eq!(fractions(Method::OneStage), [1.0]);
        assert_eq!(fractions(Method::TwoStages), [0.65, 0.35]);
        assert_eq!(fractions(Method::ThreeStages), [0.5, 0.25, 0.25]);
    }

    #[test]
    fn repetitions_differ_in_their_seed_and_in_nothing_else() {
        let one = example(Method::TwoStages, 1.0, 1);
        assert!(example(Method::TwoStages, 1.0, 100).is_repetition_of(&one));
        for other in [
            example(Method::TwoStages, 1.0, 101),
            example(Method::TwoStages, 2.0, 1),
            example(Method::OneStage, 1.0, 1),
            Setting { mixup: None, ..one.clone() },
            Setting { people: 10, ..one.clone() },
        ] {
            assert!(!other.is_repetition_of(&one), "{other:?}");
            assert_ne!(other.slug(), one.slug());
        }
    }

    #[test]
    fn no_privacy_is_written_as_inf_and_read_again() {
        let written = |value: f64| serde_json::to_string(&Budget::new(value).unwrap()).unwrap();
        assert_eq!((written(0.5), written(f64::INFINITY)), ("0.5".to_owned(), "\"inf\"".to_owned()));
        assert!(Budget::new(0.0).is_err() && Budget::new(f64::NAN).is_err());
        assert!(Budget::new(f64::NEG_INFINITY).is_err());
        assert_eq!(Budget::new(f64::INFINITY).unwrap().to_string(), "∞");
    }
}
