//! How mechanisms with public randomness are tried.

use super::number;
use crate::{Case, Reports};
use undertone_privacy::number::{NumberMechanism, NumberRandomizer};
use undertone_privacy::public::{CoordinateReport, GenProt, OneCoordinate, PublicBit, RejectionBit};

/// Either bit about public draws all over the grid and far beyond: a promise holds for every draw, honest or not.
pub(super) fn rejection_bit(name: &str, mechanism: &RejectionBit) -> Case<RejectionBit> {
    let bounds = mechanism.bounds();
    let steps = i64::from(bounds.steps());
    let draws = (-2 * steps..=3 * steps).step_by(bounds.steps() as usize / 256);
    let reports = draws.flat_map(|public| [false, true].map(|bit| PublicBit { public, bit })).collect();
    Case::local(name, *mechanism, number::inputs(bounds), Reports::Representatives(reports))
}

/// Strings are drawn; the ends of the interval are the farthest apart.
pub(super) fn gen_prot(name: &str, mechanism: &GenProt) -> Case<GenProt> {
    let bounds = mechanism.bounds();
    let mut case = Case::new(name, *mechanism, vec![(bounds.lowest(), bounds.highest())], Reports::Sampled);
    case.inputs = number::inputs(bounds);
    case
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
