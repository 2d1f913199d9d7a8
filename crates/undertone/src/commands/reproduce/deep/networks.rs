//! The networks of the study, and how they are trained: as published, and as two cores allow.

pub(super) use undertone_learn::networks::{
    Architecture, Augmentation, Image, Loss, NetTrainer, Progress, Schedule, Training,
};

use super::people::{Input, Public};
use super::setting::{Set, Setting};
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// Epochs of the paper, for images of 28×28.
const PUBLISHED_EPOCHS: usize = 40;
/// The same for CIFAR-10; networks of ratings are trained "similarly", it says.
const PUBLISHED_EPOCHS_OF_RATINGS: usize = 200;
/// Widths of the layers of a network for anything.
const HIDDEN: [usize; 2] = [512, 256];
/// Length of the vectors of people and things.
const WIDTH: usize = 32;

/// A network by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) enum Network {
    /// Two dense layers
    Mlp,
    /// Two convolutions and a dense layer
    Cnn,
    /// The paper's for 28×28, with one in so many of its filters
    Inception(u8),
    /// People and things, in two branches
    Rating,
}

impl FromStr for Network {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        Ok(match text {
            "mlp" => Self::Mlp,
            "cnn" => Self::Cnn,
            "inception" => Self::Inception(1),
            "rating" => Self::Rating,
            _ => {
                let narrower = text.strip_prefix("inception/").and_then(|narrower| narrower.parse().ok());
                let narrower = narrower.filter(|narrower| (1..=16).contains(narrower));
                Self::Inception(narrower.context("mlp, cnn, inception or inception/N with N from 1 to 16")?)
            }
        })
    }
}

impl TryFrom<String> for Network {
    type Error = anyhow::Error;

    fn try_from(text: String) -> anyhow::Result<Self> {
        text.parse()
    }
}

impl From<Network> for String {
    fn from(network: Network) -> Self {
        network.to_string()
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mlp => f.write_str("mlp"),
            Self::Cnn => f.write_str("cnn"),
            Self::Inception(1) => f.write_str("inception"),
            Self::Inception(narrower) => write!(f, "inception/{narrower}"),
            Self::Rating => f.write_str("rating"),
        }
    }
}

/// A network for images, as `--network` names it.
pub(super) fn for_images(text: &str) -> anyhow::Result<Network> {
    match text.parse()? {
        Network::Rating => {
            bail!("this network is for ratings, and used there; images take mlp, cnn or inception")
        }
        network => Ok(network),
    }
}

impl Network {
    /// What it looks like for these people.
    pub(super) fn architecture(self, public: &Public) -> anyhow::Result<Architecture> {
        Ok(match (self, public.input) {
            (Self::Mlp, _) => Architecture::Mlp { inputs: public.rows.width(), hidden: HIDDEN.to_vec() },
            (Self::Cnn, Input::Image(image)) => Architecture::SmallCnn { image },
            (Self::Inception(narrower), Input::Image(image)) => {
                Architecture::Inception { image, narrower: narrower.into() }
            }
            (Self::Rating, Input::Ids { people, things }) => {
                Architecture::Rating { people, things, width: WIDTH }
            }
            (network, input) => bail!("a network `{network}` cannot take {input:?}"),
        })
    }
}

/// A sentence about the networks of some settings of one set that had fewer epochs than the paper's, if any had.
pub(super) fn shorter<'a>(settings: impl Iterator<Item = &'a Setting>) -> Option<String> {
    let settings = settings.filter_map(|setting| Some((published_epochs(setting.set), setting.epochs?)));
    let few: BTreeSet<(usize, usize)> = settings.filter(|(published, epochs)| epochs < published).collect();
    let (published, _) = few.first()?;
    let few = few.iter().map(|(_, epochs)| epochs.to_string()).collect::<Vec<_>>().join(" or ");
    Some(format!(
        "Networks with {few} epochs were trained shorter than published ({published} epochs for each stage): their numbers may be worse \
than the paper's for that reason."
    ))
}

fn published_epochs(set: Set) -> usize {
    if set.is_error() { PUBLISHED_EPOCHS_OF_RATINGS } else { PUBLISHED_EPOCHS }
}

/// How a setting is trained, with this mixup.
pub(super) fn training(setting: &Setting, mixup: Option<f64>) -> Training {
    let epochs = setting.epochs.unwrap_or(1);
    let training = match setting.set {
        Set::Ratings => for_ratings(epochs, setting.seed),
        Set::Mnist | Set::Fashion | Set::Synthetic => for_pixels(epochs, setting.seed),
    };
    Training { loss: Loss::Plain, mixup, ..training }
}

/// As published, if there are as many epochs. With fewer, steps are larger and more, and nothing is cut out of images.
fn for_pixels(epochs: usize, seed: u64) -> Training {
    let published = Training::as_published(epochs, seed);
    if epochs >= PUBLISHED_EPOCHS {
        return published;
    }
    let schedule = Schedule { peak: 0.05, ..published.schedule };
    let augmentation = Augmentation { cutout: 0, ..published.augmentation };
    Training { batch: 128, schedule, augmentation, ..published }
}

/// Large steps, as each touches few people and things; training ends when reports that were kept aside gain no more.
fn for_ratings(epochs: usize, seed: u64) -> Training {
    Training {
        batch: 512,
        schedule: Schedule { peak: 1.0, warm_up: 0.15 },
        l2: 1e-5,
        augmentation: Augmentation::default(),
        patience: Some(2),
        ..Training::as_published(epochs, seed)
    }
}

#[cfg(test)]
mod tests {
    use super::super::setting::{Method, example};
    use super::*;

    #[test]
    fn networks_are_said_to_be_trained_shorter_where_they_are_and_only_there() {
        let said = |epochs: &[usize], set| {
            let settings: Vec<Setting> = epochs
                .iter()
                .map(|&epochs| Setting { set, epochs: Some(epochs), ..example(Method::OneStage, 1.0, 1) })
                .chain([example(Method::Ours, 1.0, 1)])
                .collect();
            shorter(settings.iter())
        };
        let images = said(&[40, 10, 4, 10], Set::Fashion).unwrap();
        assert!(images.starts_with("Networks with 4 or 10 epochs were trained shorter"), "{images}");
        assert!(images.contains("(40 epochs for each stage)"), "{images}");
        assert_eq!((said(&[40, 50], Set::Mnist), said(&[], Set::Mnist)), (None, None));
        assert!(said(&[40], Set::Ratings).unwrap().contains("(200 epochs"));
    }

    #[test]
    fn networks_are_read_as_they_are_written() {
        for name in ["mlp", "cnn", "inception", "inception/4", "rating"] {
            assert_eq!(name.parse::<Network>().unwrap().to_string(), name);
        }
        for name in ["", "vgg", "inception/0", "inception/17", "inception/x"] {
            assert!(name.parse::<Network>().is_err(), "{name}");
        }
        assert!(for_images("rating").is_err());
    }
}
