//! How mechanisms with public randomness are tried.

use super::number;
use crate::{Case, Reports};
use undertone_privacy::number::{NumberMechanism, NumberRandomizer};
use undertone_privacy::public::{
    CoordinateReport, GenProt, GenProtReport, OneCoordinate, PublicBit, RejectionBit,
};

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

/// Every answer about every coordinate; vectors differ most when they differ in all coordinates.
pub(super) fn one_coordinate(
    name: &str,
    mechanism: &OneCoordinate<NumberMechanism>,
) -> Case<OneCoordinate<NumberMechanism>> {
    let (bounds, dimension) = (mechanism.number().bounds(), mechanism.dimension());
    let reports = mechanism.number().alphabet().map_or(Reports::Sampled, |answers| {
        let about = |coordinate| answers.clone().map(move |report| CoordinateReport { coordinate, report });
        Reports::All((0..dimension).flat_map(about).collect())
    });
    let inputs = number::inputs(bounds).into_iter().map(|number| vec![number; dimension as usize]).collect();
    Case::local(name, *mechanism, inputs, reports)
}
