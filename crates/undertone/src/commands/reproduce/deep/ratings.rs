//! Ratings of films, from one to five, by a table `user_id,movie_id,rating`.
//!
//! Four in five ratings are asked for, by a public hash of the row; the others judge. Who rated what is public here, and how well they
//! liked it is not. Rows of a person stand together: where only the first are asked for, the others among those judge.
//!
//! By default a rating is reported as a number, by the best mechanism for those, and a person and a thing are what
//! [factors](undertone_learn::factors) are told of it.

use super::people::{Input, Judge, Learnt, People, Public, Raters, Secrets};
use super::setting::Set;
use crate::tables::{TableFile, numbers};
use anyhow::{bail, ensure};
use std::path::Path;
use undertone_learn::Regressor;
use undertone_learn::factors::Factors;
use undertone_learn::features::Rows;
use undertone_learn::numbers::{NumberChannel, NumberValues};
use undertone_learn::split::{Purpose, place};
use undertone_privacy::Epsilon;
use undertone_privacy::number::{Bounds, NumberMechanism};

/// K
const RATINGS: u32 = 5;
/// The share of ratings that judge.
const JUDGES: f64 = 0.2;
/// Numbers of people and things have to be below this, which a float of 24 bits holds exactly.
const MOST: f64 = 1e6;

/// Some ratings, by numbers of people and things.
#[derive(Default)]
struct Part {
    ids: Vec<f32>,
    labels: Vec<u32>,
}

impl Part {
    fn push(&mut self, [user, movie, rating]: [f64; 3]) {
        self.ids.extend([user as f32, movie as f32]);
        self.labels.push(rating as u32 - 1);
    }

    fn rows(&self) -> Rows {
        Rows::dense(2, self.ids.clone())
    }
}

fn judges(row: u64) -> bool {
    place(row, Purpose::Test) < JUDGES
}

/// How many of so many rows are asked for.
pub(super) fn to_ask(rows: u64) -> usize {
    (0..rows).filter(|&row| !judges(row)).count()
}

pub(super) fn people(path: &Path, count: usize) -> anyhow::Result<People> {
    let table = TableFile::open(path)?.select(["user_id", "movie_id", "rating"])?;
    let (mut asked, mut others) = (Part::default(), Part::default());
    let (mut row, mut ends) = (0, [0; 2]);
    for batch in table.batches()? {
        let batch = batch?;
        let [users, movies, ratings] = [0, 1, 2].map(|column| numbers(batch.column(column)));
        for ((user, movie), rating) in users?.into_iter().zip(movies?).zip(ratings?) {
            let is_name = |id: f64| id.fract() == 0.0 && (0.0..MOST).contains(&id);
            let is_rating = rating.fract() == 0.0 && (1.0..=f64::from(RATINGS)).contains(&rating);
            let wrong = [
                (!is_name(user), "the user has to be a whole number from 0 to 999999"),
                (!is_name(movie), "the movie has to be a whole number from 0 to 999999"),
                (!is_rating, "the rating has to be from 1 to 5"),
            ];
            if let Some((_, problem)) = wrong.iter().find(|(is_wrong, _)| *is_wrong) {
                let (path, row) = (path.display(), row + 1);
                bail!("{path}: row {row} is user {user}, movie {movie}, rating {rating}; {problem}");
            }
            // The numbers of all are known, whoever is asked.
            ends = [ends[0].max(user as usize + 1), ends[1].max(movie as usize + 1)];
            if asked.labels.len() < count {
                let part = if judges(row) { &mut others } else { &mut asked };
                part.push([user, movie, rating]);
            }
            row += 1;
        }
    }
    ensure!(!others.labels.is_empty(), "{}: {row} ratings leave nobody to judge", path.display());
    let input = Input::Ids { people: ends[0], things: ends[1] };
    let public = Public { rows: asked.rows(), input, classes: RATINGS };
    let judge = Judge::new(Set::Ratings, others.rows(), others.labels);
    Ok(People { public, secrets: Secrets::new(asked.labels), judge })
}

/// Factors of a person and a thing, each by its number.
struct Meeting {
    factors: Factors,
    ends: [usize; 2],
}

/// The rows of ids as categories.
fn categories(ids: &Rows, [people, things]: [usize; 2]) -> Rows {
    let mut rows = Rows::new(0, people + things);
    for row in ids.iter() {
        let [person, thing] = [row.dense[0] as u32, row.dense[1] as u32];
        rows.push_with(|_, sparse| sparse.extend([(person, 1.0), (people as u32 + thing, 1.0)]));
    }
    rows
}

impl Regressor for Meeting {
    fn predict(&self, rows: &Rows) -> Vec<f64> {
        let ratings = self.factors.predict(&categories(rows, self.ends));
        ratings.into_iter().map(|rating| rating.clamp(1.0, f64::from(RATINGS))).collect()
    }
}

/// Our default.
pub(super) fn factors(epsilon: Epsilon, public: &Public, devices: &mut dyn Raters) -> anyhow::Result<Learnt> {
    let Input::Ids { people, things } = public.input else { bail!("ratings are of ids") };
    let bounds = Bounds::new(1.0, f64::from(RATINGS))?;
    let mechanism = NumberMechanism::best(bounds, epsilon)?;
    let (channel, mut numbers) = (NumberChannel::of_mechanism(mechanism), NumberValues::new());
    for person in 0..public.rows.len() as u64 {
        channel.push(devices.rate(person, &mechanism)?, &mut numbers)?;
    }
    let ends = [people, things];
    let factors = Factors::fit(&categories(&public.rows, ends), numbers.values())?;
    Ok(Learnt::Ratings(Box::new(Meeting { factors, ends })))
}
