//! How mechanisms with public randomness are tried.

use super::number;
use crate::{Case, Reports};
use undertone_privacy::number::{NumberMechanism, NumberRandomizer};
use undertone_privacy::public::{
    CoordinateReport, GenProt, GenProtReport, OneCoordinate, PublicBit, RejectionBit,
};

/// Of up to so many coordinates each is looked at.
const FEW: u32 = 16;

/// Either bit about public draws all over the grid and far beyond: a promise holds for every draw, honest or not.
pub(super) fn rejection_bit(name: &str, mechanism: &RejectionBit) -> Case<RejectionBit> {
    let bounds = mechanism.bounds();
    let steps = i64::from(bounds.steps());
    let draws = (-2 * steps..=3 * steps).step_by(bounds.steps() as usize / 256);
    let reports = draws.flat_map(|public| [false, true].map(|bit| PublicBit { public, bit })).collect();
    Case::local(name, *mechanism, number::inputs(bounds), Reports::Representatives(reports))
}

/// Every index of strings at and beyond the ends of the interval and between, the first apart from the others: a
/// promise holds for all strings, and tells most where one is far above and the others far below.
pub(super) fn gen_prot(name: &str, mechanism: &GenProt) -> Case<GenProt> {
    let (bounds, strings) = (mechanism.bounds(), mechanism.strings());
    let steps = i64::from(bounds.steps());
    let places = [-steps, 0, steps / 4, steps / 2, steps, 2 * steps];
    let public = |own: i64, other: i64| (0..strings).map(|t| if t == 0 { own } else { other }).collect();
    let pairs = places.iter().flat_map(|&own| places.iter().map(move |&other| (own, other)));
    let reports = pairs
        .flat_map(|(own, other)| [0, 1].map(|index| GenProtReport { public: public(own, other), index }));
    let reports = Reports::Representatives(reports.collect());
    Case::local(name, *mechanism, number::inputs(bounds), reports)
}

/// What there is to answer, about every coordinate or, of many, the first and the last. Vectors differ most when they
/// differ in all coordinates.
pub(super) fn one_coordinate(
    name: &str,
    mechanism: &OneCoordinate<NumberMechanism>,
) -> Case<OneCoordinate<NumberMechanism>> {
    let (number, dimension) = (mechanism.number(), mechanism.dimension());
    let about = |answers: &[i64], coordinates: &[u32]| {
        let report = |coordinate, report| CoordinateReport { coordinate, report };
        let answer = |&coordinate: &u32| answers.iter().map(move |&answer| report(coordinate, answer));
        coordinates.iter().flat_map(answer).collect()
    };
    let reports = match number::reports(number) {
        Reports::All(answers) if dimension <= FEW => {
            Reports::All(about(&answers, &(0..dimension).collect::<Vec<_>>()))
        }
        Reports::All(answers) | Reports::Representatives(answers) => {
            Reports::Representatives(about(&answers, &[0, dimension - 1]))
        }
        Reports::Sampled => Reports::Sampled,
    };
    let inputs = number::inputs(number.bounds()).into_iter().map(|number| vec![number; dimension as usize]);
    Case::local(name, *mechanism, inputs.collect(), reports)
}
