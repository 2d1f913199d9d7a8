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

/// In what the networks of some settings and their training are others than in the paper; all settings are of images, or of ratings. None if there
/// is no network.
pub(super) fn departures<'a>(settings: impl Iterator<Item = &'a Setting>) -> Option<String> {
    let trained: Vec<(&Setting, Network, usize)> =
        settings.filter_map(|setting| Some((setting, setting.network?, setting.epochs?))).collect();
    let (first, ..) = trained.first()?;
    let epochs: BTreeSet<usize> = trained.iter().map(|(.., epochs)| *epochs).collect();
    if first.set.is_error() {
        return Some(
            shorter(&epochs, PUBLISHED_EPOCHS_OF_RATINGS).map_or_else(String::new, |words| words + " ")
                + &of_ratings(),
        );
    }
    let networks: BTreeSet<Network> = trained.iter().map(|(_, network, _)| *network).collect();
    let sentences =
        [shorter(&epochs, PUBLISHED_EPOCHS), of_short_training(&epochs), Some(of_networks(&networks))];
    Some(sentences.into_iter().flatten().collect::<Vec<_>>().join(" "))
}

/// As in "4 or 10".
fn either<T: ToString>(all: impl Iterator<Item = T>) -> String {
    all.map(|one| one.to_string()).collect::<Vec<_>>().join(" or ")
}

/// About fewer epochs than the paper's.
fn shorter(epochs: &BTreeSet<usize>, published: usize) -> Option<String> {
    let few = either(epochs.range(..published));
    (!few.is_empty()).then(|| {
        format!(
            "Networks with {few} epochs were trained shorter than published ({published} epochs for each stage): their numbers may be worse \
than the paper's for that reason."
        )
    })
}

/// About what goes with fewer epochs, where there are.
fn of_short_training(epochs: &BTreeSet<usize>) -> Option<String> {
    let few = *epochs.range(..PUBLISHED_EPOCHS).next()?;
    let (ours, published) = (for_pixels(few, 0), Training::as_published(few, 0));
    Some(format!(
        "Their batches were of {} images instead of {}, their steps up to {} instead of {}, and squares of {} instead of {} pixels a side were \
cut out.",
        ours.batch,
        published.batch,
        ours.schedule.peak,
        published.schedule.peak,
        ours.augmentation.cutout,
        published.augmentation.cutout
    ))
}

/// About the networks themselves.
fn of_networks(networks: &BTreeSet<Network>) -> String {
    let others = either(networks.iter().filter(|network| **network != Network::Inception(1)));
    let other = if others.is_empty() {
        String::new()
    } else {
        format!("The paper's network is inception, not {others}. ")
    };
    let normalised = if networks.iter().any(|network| matches!(network, Network::Inception(_))) {
        "batches are normalised in parts, "
    } else {
        ""
    };
    format!(
        "{other}Whatever the epochs, {normalised}the last layer begins with a tenth of the usual weights, and what the paper does not say is ours: \
how far images are moved, how much is cut out, and which α and which temperature its tables are of."
    )
}

/// About ratings, which the paper trains "similarly" to CIFAR-10, with batches of 128.
fn of_ratings() -> String {
    let Training { batch, schedule, l2, .. } = for_ratings(1, 0);
    format!(
        "Batches are of {batch} ratings instead of 128, steps grow to {} and fall evenly instead of by tenths, λ is {l2} instead of 0.0001, nothing is \
mixed, the last layer begins with a tenth of the usual weights, and training ends when reports of one in eight who are kept aside gain no more \
instead of after all epochs. How wide the paper's layers are it does not say.",
        schedule.peak
    )
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

/// Batches, steps and images as published, if there are as many epochs. With fewer, steps are larger and more, and nothing is cut out of images.
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
    fn it_is_said_in_what_networks_are_others_than_published() {
        let said = |epochs: &[usize], set, network| {
            let settings: Vec<Setting> = epochs
                .iter()
                .map(|&epochs| {
                    let network = Some(network);
                    Setting { set, network, epochs: Some(epochs), ..example(Method::OneStage, 1.0, 1) }
                })
                .chain([example(Method::Ours, 1.0, 1)])
                .collect();
            departures(settings.iter())
        };
        let images = said(&[40, 10, 4, 10], Set::Fashion, Network::Cnn).unwrap();
        assert!(images.starts_with("Networks with 4 or 10 epochs were trained shorter"), "{images}");
        assert!(images.contains("(40 epochs for each stage)"), "{images}");
        for word in [
            "of 128 images instead of 265",
            "up to 0.05 instead of 0.02",
            "squares of 0 instead of 8",
            "not cnn",
            "a tenth",
        ] {
            assert!(images.contains(word), "{word}: {images}");
        }
        assert!(!images.contains("normalised"), "{images}");
        let whole = said(&[40, 50], Set::Mnist, Network::Inception(1)).unwrap();
        assert!(
            !whole.contains("shorter") && !whole.contains("instead") && !whole.contains("paper's network"),
            "{whole}"
        );
        assert!(whole.contains("normalised in parts") && whole.contains("a tenth"), "{whole}");
        assert!(said(&[40], Set::Mnist, Network::Inception(4)).unwrap().contains("not inception/4"));
        assert_eq!(said(&[], Set::Mnist, Network::Cnn), None);
        let ratings = said(&[40], Set::Ratings, Network::Rating).unwrap();
        for word in [
            "(200 epochs",
            "of 512 ratings instead of 128",
            "grow to 1 and",
            "λ is 0.00001 instead",
            "nothing is mixed",
            "gain no more",
        ] {
            assert!(ratings.contains(word), "{word}: {ratings}");
        }
        assert!(!said(&[200], Set::Ratings, Network::Rating).unwrap().contains("shorter"));
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
