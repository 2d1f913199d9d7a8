//! People in three parts: what everybody may see, what only devices know, and what a judge knows of others.
//!
//! Whoever learns gets [`Public`] and [`Devices`], and neither can give a label away: a device forgets its label as it answers, by a
//! mechanism and once. The labels of a [`Judge`] are those of other people, who are never asked, and all that leaves a judge is a number
//! about a finished model. The fields are private to this file, so that there is no other way.

use super::networks::Image;
use super::setting::Set;
use anyhow::bail;
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use undertone_learn::evaluation::terms::predicted;
use undertone_learn::features::Rows;
use undertone_learn::represented::{Limits, Seen, Sight};
use undertone_learn::shelf::Shelf;
use undertone_learn::stages::Devices;
use undertone_learn::{Classifier, LearnError, Regressor};
use undertone_privacy::Randomizer;
use undertone_privacy::label::{Label, LabelMechanism, LabelSet};
use undertone_privacy::number::{NumberMechanism, NumberRandomizer};

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    Image(Image),
    /// The numbers of a person and of a thing, each below its bound
    Ids {
        people: usize,
        things: usize,
    },
}

/// What everybody may see of those who are asked.
pub(super) struct Public {
    pub(super) rows: Rows,
    pub(super) input: Input,
    /// K
    pub(super) classes: u32,
}

/// What only devices know.
pub(super) struct Secrets(Vec<u32>);

/// Everybody.
pub(super) struct People {
    pub(super) public: Public,
    pub(super) secrets: Secrets,
    pub(super) judge: Judge,
}

impl Public {
    /// Everybody as their images show them. What lies on the shelf is not made again.
    pub(super) fn seen(&self, shelf: &dyn Shelf) -> Result<Seen, LearnError> {
        let bytes = Limits::default().bytes;
        let seen = Seen::new(&self.rows, Sight::Image, self.classes as usize, bytes, shelf);
        // A study has no option for memory.
        seen.map_err(|error| error.helped_by("ask fewer people (--people)"))
    }
}

impl Secrets {
    pub(super) fn new(labels: Vec<u32>) -> Self {
        Self(labels)
    }

    /// A device for everybody, with coins of this seed.
    pub(super) fn devices(&self, seed: u64) -> Simulated {
        let labels = self.0.iter().map(|&label| Some(Label(label))).collect();
        Simulated { labels, rng: ChaCha12Rng::seed_from_u64(seed) }
    }
}

/// Devices that are asked for a label, or for the rating that it stands for, 1 for the first: for one of them, once.
pub(super) trait Raters: Devices {
    fn rate(&mut self, person: u64, mechanism: &NumberMechanism) -> Result<i64, LearnError>;
}

/// Devices, each of which has its label until it has answered.
pub(super) struct Simulated {
    labels: Vec<Option<Label>>,
    rng: ChaCha12Rng,
}

impl Simulated {
    fn take(&mut self, person: u64) -> Result<Label, LearnError> {
        let label = self.labels.get_mut(person as usize).and_then(Option::take);
        label.ok_or(LearnError::AskedTwice { person })
    }
}

impl Devices for Simulated {
    fn answer(&mut self, person: u64, mechanism: &LabelMechanism) -> Result<LabelSet, LearnError> {
        let label = self.take(person)?;
        Ok(mechanism.randomize(&label, &mut self.rng)?)
    }
}

impl Raters for Simulated {
    fn rate(&mut self, person: u64, mechanism: &NumberMechanism) -> Result<i64, LearnError> {
        let rating = f64::from(self.take(person)?.0 + 1);
        Ok(mechanism.report(&mechanism.bounds().place(rating)?, &mut self.rng)?)
    }
}

/// A finished model.
pub(super) enum Learnt {
    Labels(Box<dyn Classifier>),
    Ratings(Box<dyn Regressor>),
}

impl Learnt {
    /// The label of each row. A model of ratings has none, and is judged by how far it is off.
    fn labels(&self, rows: &Rows) -> anyhow::Result<Vec<u32>> {
        let Self::Labels(model) = self else { bail!("ratings are no labels") };
        let probabilities = model.probabilities(rows);
        Ok(probabilities.chunks_exact(model.classes()).map(|p| predicted(p) as u32).collect())
    }

    /// The rating of each row, the first label being 1.
    pub(super) fn ratings(&self, rows: &Rows) -> Vec<f64> {
        match self {
            Self::Labels(model) => {
                model.probabilities(rows).chunks_exact(model.classes()).map(rating).collect()
            }
            Self::Ratings(model) => model.predict(rows),
        }
    }
}

/// Others, whose labels nobody asks for, and who tell how good a model is.
pub(super) struct Judge {
    set: Set,
    rows: Rows,
    labels: Vec<u32>,
}

/// What a judge says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Judged {
    /// The share of right answers, or the root of the mean squared error of ratings
    pub(super) value: f64,
    /// How far that is from the same of everybody, by whom the judge happens to know: one standard error
    pub(super) sampling_error: f64,
}

impl Judge {
    pub(super) fn new(set: Set, rows: Rows, labels: Vec<u32>) -> Self {
        Self { set, rows, labels }
    }

    /// How good a finished model is.
    pub(super) fn judge(&self, model: &Learnt) -> anyhow::Result<Judged> {
        let n = self.labels.len() as f64;
        if self.set.is_error() {
            let ratings = model.ratings(&self.rows);
            let each = ratings.iter().zip(&self.labels);
            let squares: Vec<f64> =
                each.map(|(rating, &label)| (rating - f64::from(label + 1)).powi(2)).collect();
            let mean = squares.iter().sum::<f64>() / n;
            let variance = squares.iter().map(|square| (square - mean).powi(2)).sum::<f64>() / n;
            let value = mean.sqrt();
            // The root of a mean, by its slope 1/(2·√mean)
            return Ok(Judged { value, sampling_error: (variance / n).sqrt() / (2.0 * value) });
        }
        let right = model.labels(&self.rows)?.iter().zip(&self.labels).filter(|(a, b)| a == b).count();
        let value = right as f64 / n;
        Ok(Judged { value, sampling_error: (value * (1.0 - value) / n).sqrt() })
    }
}

/// The mean of 1, …, K under probabilities.
fn rating(p: &[f32]) -> f64 {
    (1u32..).zip(p).map(|(k, p)| f64::from(k) * f64::from(*p)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use undertone_privacy::Epsilon;
    use undertone_privacy::label::LabelKind;

    /// Believes in the same label for everybody.
    struct Always(Vec<f32>);

    impl Classifier for Always {
        fn classes(&self) -> usize {
            self.0.len()
        }

        fn probabilities(&self, rows: &Rows) -> Vec<f32> {
            self.0.repeat(rows.len())
        }
    }

    fn always(p: &[f32]) -> Learnt {
        Learnt::Labels(Box::new(Always(p.to_vec())))
    }

    #[test]
    fn a_device_answers_once_and_forgets() {
        let secrets = Secrets::new(vec![2, 0]);
        let mut devices = secrets.devices(1);
        // With so little privacy everybody tells the truth.
        let mechanism = LabelKind::Rr.mechanism(3, Epsilon::new(40.0).unwrap()).unwrap();
        assert_eq!(devices.answer(0, &mechanism).unwrap().members(), [2]);
        assert!(matches!(devices.answer(0, &mechanism), Err(LearnError::AskedTwice { person: 0 })));
        assert_eq!(devices.answer(1, &mechanism).unwrap().members(), [0]);
        assert!(devices.labels.iter().all(Option::is_none));
        assert!(devices.answer(2, &mechanism).is_err());
    }

    #[test]
    fn a_judge_counts_right_answers_or_squares_what_ratings_are_off() {
        let rows = || Rows::dense(1, vec![0.0; 4]);
        let judge = Judge::new(Set::Mnist, rows(), vec![1, 1, 1, 0]);
        let Judged { value, sampling_error } = judge.judge(&always(&[0.1, 0.9])).unwrap();
        assert!((value - 0.75).abs() < 1e-12 && (sampling_error.powi(2) - 0.75 * 0.25 / 4.0).abs() < 1e-12);
        // A rating of 1.5 beside 1, 1, 1, 3: squares 1/4, 1/4, 1/4, 9/4, mean 3/4, variance 3/4
        let judge = Judge::new(Set::Ratings, rows(), vec![0, 0, 0, 2]);
        let Judged { value, sampling_error } = judge.judge(&always(&[0.5, 0.5, 0.0])).unwrap();
        assert!((value - 0.75f64.sqrt()).abs() < 1e-12);
        assert!((sampling_error - (0.75f64 / 4.0).sqrt() / (2.0 * 0.75f64.sqrt())).abs() < 1e-12);
    }
}
