//! What was measured: the excess risk of a method in a setting with so many people.

use super::extent::Place;
use indicatif::ProgressBar;
use serde::Serialize;
use undertone_learn::nonparametric::study::Method;

/// One number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Row {
    pub(super) setting: String,
    pub(super) dimension: u32,
    pub(super) epsilon: f64,
    pub(super) method: &'static str,
    pub(super) people: u64,
    pub(super) excess: f64,
    pub(super) standard_error: f64,
    pub(super) repetitions: u64,
}

/// All numbers of a setting.
pub(super) struct Measured {
    pub(super) place: Place,
    pub(super) rows: Vec<Row>,
}

impl Measured {
    pub(super) fn of(&self, method: Method) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.method == method.name())
    }

    /// How many times the excess of another method one has, first and last, each with its standard error.
    pub(super) fn ratios(&self, method: Method, other: Method) -> Option<[(f64, f64); 2]> {
        let mut pairs = self.of(method).zip(self.of(other)).map(|(a, b)| {
            let ratio = a.excess / b.excess;
            (ratio, ratio * (a.standard_error / a.excess).hypot(b.standard_error / b.excess))
        });
        let first = pairs.next()?;
        Some([first, pairs.last()?])
    }
}

/// Runs all methods in one setting.
pub(super) fn measure(place: &Place, seed: u64, bar: &ProgressBar) -> anyhow::Result<Measured> {
    let repetitions = place.repetitions;
    let mut rows = Vec::new();
    for &people in &place.people {
        let figures = place.setting.excesses(people, &Method::ALL, repetitions, seed, &|| bar.inc(people))?;
        rows.extend(Method::ALL.iter().zip(figures).map(|(method, figure)| Row {
            setting: place.name.clone(),
            dimension: place.setting.dimension,
            epsilon: place.setting.epsilon.get(),
            method: method.name(),
            people,
            excess: figure.value,
            standard_error: figure.standard_error,
            repetitions,
        }));
    }
    Ok(Measured { place: place.clone(), rows })
}
