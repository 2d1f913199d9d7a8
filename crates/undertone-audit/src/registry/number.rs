//! How number mechanisms are tried.

use crate::{Case, Reports};
use undertone_privacy::number::{Bounds, GridNumber, NumberMechanism, NumberRandomizer};

/// Up to so many reports are all listed.
const MOST: i64 = 4096;

/// Any two numbers are neighbours; the ends of the interval are the farthest.
pub(super) fn case(name: &str, mechanism: &NumberMechanism) -> Case<NumberMechanism> {
    let bounds = mechanism.bounds();
    let reports = match mechanism.alphabet() {
        Some(range) if range.end() - range.start() < MOST => Reports::All(range.collect()),
        alphabet => {
            let steps = i64::from(bounds.steps());
            // Noise without end is looked at well beyond the grid on either side.
            let (first, last) =
                alphabet.map_or((-9 * steps, 10 * steps), |range| (*range.start(), *range.end()));
            Reports::Representatives(representatives(bounds, first, last))
        }
    };
    Case::local(name, *mechanism, inputs(bounds), reports)
}

/// Both ends, the middle, and points between.
pub(super) fn inputs(bounds: Bounds) -> Vec<GridNumber> {
    let share = |part: f64| bounds.low() + part * (bounds.high() - bounds.low());
    // A share of the interval is a number, so it has a place.
    let between = [0.3, 0.75].into_iter().filter_map(|part| bounds.place(share(part)).ok());
    [bounds.lowest(), bounds.middle(), bounds.highest()].into_iter().chain(between).collect()
}

/// Reports all over the range, closely around its ends and around every input, whether reports are counted from the
/// lower end of the grid or from its middle: the likelihood changes at few places and stays the same between.
fn representatives(bounds: Bounds, first: i64, last: i64) -> Vec<i64> {
    let middle = i64::from(bounds.middle().index());
    let indices = inputs(bounds).into_iter().map(|input| i64::from(input.index()));
    let corners = indices.flat_map(|index| [index, index - middle]).chain([first, last]);
    let around = corners.flat_map(|corner| corner - 2..=corner + 2);
    let stride = ((last - first) / MOST).max(1) as usize;
    let mut reports: Vec<i64> = (first..=last).step_by(stride).chain(around).collect();
    reports.retain(|report| (first..=last).contains(report));
    reports.sort_unstable();
    reports.dedup();
    reports
}
