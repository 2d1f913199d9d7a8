//! Which network suits which columns, and how it is trained unless somebody knows better.

use super::{Architecture, Augmentation, Image, Inputs, Loss, NetTrainer, Schedule, Training};
use crate::LearnError;
use crate::features::Encoder;
use std::ops::Range;
use undertone_report::{ColumnKind, FeatureColumn};

/// The usual number of times that people are seen, all epochs together: images, which take long, and others.
const SEEN_IMAGES: u64 = 600_000;
const SEEN_ROWS: u64 = 3_000_000;
/// Images are moved by up to this part of their side.
const SHIFT: usize = 14;
/// The most features that dense layers take.
const MOST_INPUTS: usize = 1 << 20;

/// Networks by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetKind {
    /// Dense layers on all features
    Mlp,
    /// Two layers of filters on images
    Cnn,
    /// The published blocks of filters on images, with a quarter of the filters
    Inception,
    /// Two categories that meet, such as people and things
    Rating,
}

impl NetKind {
    /// Whether there is such a network for the features of these columns.
    pub fn suits(self, encoder: &Encoder) -> bool {
        self.architecture(encoder).and_then(|(network, _)| Ok(network.network(2)?)).is_ok()
    }

    /// How it is trained on so many people, if there is nothing better to go by; in so many epochs if they are given.
    pub fn training(self, people: u64, epochs: Option<usize>, loss: Loss, seed: u64) -> Training {
        let images = matches!(self, Self::Cnn | Self::Inception);
        let seen = if images { SEEN_IMAGES } else { SEEN_ROWS };
        let epochs = epochs.unwrap_or((seen / people.max(1)).clamp(10, 60) as usize);
        let (peak, l2) = if self == Self::Rating { (1.0, 1e-5) } else { (0.1, 1e-4) };
        Training {
            batch: 256,
            schedule: Schedule { peak, warm_up: 0.15 },
            l2,
            mixup: None,
            augmentation: Augmentation::default(),
            loss,
            patience: Some((epochs / 4).max(3)),
            ..Training::as_published(epochs, seed)
        }
    }

    /// Trains networks for the features of these columns. Images are moved a little each time, if a fourteenth of their side is a pixel.
    pub fn trainer(
        self,
        encoder: &Encoder,
        classes: usize,
        mut training: Training,
    ) -> Result<NetTrainer<'static>, LearnError> {
        let (architecture, inputs) = self.architecture(encoder)?;
        training.augmentation.shift = architecture.image().map_or(0, |image| image.width / SHIFT);
        Ok(NetTrainer { inputs, ..NetTrainer::new(architecture, classes, training) })
    }

    /// What it looks like for these columns, and how their features get into it.
    fn architecture(self, encoder: &Encoder) -> Result<(Architecture, Inputs), LearnError> {
        let architecture = match self {
            Self::Mlp => Architecture::Mlp { inputs: inputs(encoder)?, hidden: vec![256, 128] },
            Self::Cnn => Architecture::SmallCnn { image: image(encoder.columns())? },
            Self::Inception => Architecture::Inception { image: image(encoder.columns())?, narrower: 4 },
            Self::Rating => {
                let names = names(encoder)?;
                // One more than there are features: for levels that have none
                let [people, things] = [&names[0], &names[1]].map(|range| range.len() + 1);
                return Ok((Architecture::Rating { people, things, width: 32 }, Inputs::Names(names)));
            }
        };
        Ok((architecture, Inputs::Features))
    }
}

/// As many features as there are.
fn inputs(encoder: &Encoder) -> Result<usize, LearnError> {
    let features = encoder.width();
    if features <= MOST_INPUTS {
        return Ok(features);
    }
    Err(LearnError::TooManyInputs { features, most: MOST_INPUTS })
}

/// The only column as an image: vectors whose length is a square.
fn image(columns: &[FeatureColumn]) -> Result<Image, LearnError> {
    let [FeatureColumn { name, kind: ColumnKind::Vector(width) }] = columns else {
        return Err(LearnError::NoImage { columns: columns.len() });
    };
    let side = width.isqrt() as usize;
    if side.pow(2) == *width as usize {
        return Ok(Image { height: side, width: side, channels: 1 });
    }
    let problem = format!("a vector of {width} numbers is no square image");
    Err(LearnError::Column { column: name.clone(), problem })
}

/// The features of the two categories that are all columns.
fn names(encoder: &Encoder) -> Result<[Range<usize>; 2], LearnError> {
    match &encoder.categories()[..] {
        [Some(first), Some(second)] => Ok([first.clone(), second.clone()]),
        columns => Err(LearnError::NoPairs { columns: columns.len() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::{Batch, Column, EncoderFit, EncoderOptions};

    fn encoder(columns: &[(&str, ColumnKind)], options: &[&str]) -> Encoder {
        let column = |&(name, kind): &(&str, ColumnKind)| FeatureColumn { name: name.into(), kind };
        let columns: Vec<FeatureColumn> = columns.iter().map(column).collect();
        let overrides = options.iter().map(|text| text.parse().unwrap()).collect();
        let mut fit =
            EncoderFit::new(&columns, EncoderOptions { overrides, ..EncoderOptions::default() }).unwrap();
        let cells = |column: &FeatureColumn| match column.kind {
            ColumnKind::Vector(width) => {
                Column::Vectors { width: width as usize, values: vec![1.0; 1000 * width as usize] }
            }
            _ => Column::Numbers((0..1000).map(|row| f64::from(row % 100)).collect()),
        };
        fit.observe(&Batch { columns: columns.iter().map(cells).collect(), rows: 1000 }).unwrap();
        fit.finish().unwrap()
    }

    fn refused(kind: NetKind, encoder: &Encoder) -> String {
        let training = kind.training(1000, None, Loss::Forward, 1);
        kind.trainer(encoder, 3, training).err().unwrap().to_string()
    }

    #[test]
    fn a_square_vector_is_an_image_and_nothing_else_is() {
        let square = encoder(&[("image", ColumnKind::Vector(784))], &[]);
        let training = NetKind::Cnn.training(60_000, None, Loss::Forward, 1);
        assert_eq!(training.epochs, 10);
        let trainer = NetKind::Cnn.trainer(&square, 10, training).unwrap();
        let image = Image { height: 28, width: 28, channels: 1 };
        assert_eq!(trainer.architecture, Architecture::SmallCnn { image });
        assert_eq!(trainer.training.augmentation.shift, 2);
        let long = encoder(&[("wave", ColumnKind::Vector(785))], &[]);
        assert!(refused(NetKind::Cnn, &long).contains("`wave`: a vector of 785 numbers is no square image"));
        let table = encoder(&[("a", ColumnKind::Number), ("b", ColumnKind::Number)], &[]);
        assert!(refused(NetKind::Inception, &table).contains("2 public columns"));
        let tiny = encoder(&[("image", ColumnKind::Vector(9))], &[]);
        assert!(NetKind::Cnn.suits(&square) && NetKind::Mlp.suits(&table));
        assert!(!NetKind::Cnn.suits(&long) && !NetKind::Cnn.suits(&table) && !NetKind::Cnn.suits(&tiny));
    }

    #[test]
    fn more_features_than_dense_layers_take_are_refused_with_what_makes_fewer() {
        let texts = |buckets| {
            let columns = [FeatureColumn { name: "said".into(), kind: ColumnKind::Words }];
            let overrides = vec!["said=text".parse().unwrap()];
            let options = EncoderOptions { overrides, buckets, ..EncoderOptions::default() };
            let mut fit = EncoderFit::new(&columns, options).unwrap();
            let said = [Some("one two"), Some("three")].into_iter().collect();
            fit.observe(&Batch { columns: vec![Column::Words(said)], rows: 2 }).unwrap();
            fit.finish().unwrap()
        };
        let most = texts(1 << 20);
        let training = NetKind::Mlp.training(1000, None, Loss::Forward, 1);
        let network = NetKind::Mlp.trainer(&most, 3, training).unwrap().architecture.network(3);
        assert!(network.is_ok_and(|network| network.inputs() == 1 << 20));
        let refusal = refused(NetKind::Mlp, &texts((1 << 20) + 1));
        for word in ["at most 1048576 features", "make 1048577", "--buckets", "--column NAME=skip"] {
            assert!(refusal.contains(word), "{refusal}");
        }
    }

    #[test]
    fn two_categories_are_people_and_things() {
        let columns = [("person", ColumnKind::Number), ("thing", ColumnKind::Number)];
        let both = encoder(&columns, &["person=category", "thing=category"]);
        let training = NetKind::Rating.training(1000, Some(7), Loss::Forward, 1);
        let trainer = NetKind::Rating.trainer(&both, 5, training).unwrap();
        assert_eq!(trainer.architecture, Architecture::Rating { people: 101, things: 101, width: 32 });
        assert_eq!(trainer.inputs, Inputs::Names([0..100, 100..200]));
        let one = encoder(&columns, &["person=category"]);
        assert!(refused(NetKind::Rating, &one).contains("two columns that are categories"));
    }
}
