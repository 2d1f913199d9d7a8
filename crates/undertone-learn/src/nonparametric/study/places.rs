//! Where people are: evenly in the unit cube; and where their models are judged: one place in each of many small cubes.

use crate::features::Rows;
use rand_core::Rng;

/// A number that is even on [0, 1).
pub(super) fn unit(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// A standard normal variable, by the method of Box and Müller.
pub(super) fn normal(rng: &mut impl Rng) -> f64 {
    let radius = (-2.0 * (1.0 - unit(rng)).ln()).sqrt();
    radius * (std::f64::consts::TAU * unit(rng)).cos()
}

/// A coordinate, which a 32-bit float holds exactly.
fn coordinate(rng: &mut impl Rng) -> f32 {
    (rng.next_u64() >> 40) as f32 * (1.0 / (1u32 << 24) as f32)
}

/// So many people in the unit cube.
pub(super) fn people(count: u64, dimension: u32, rng: &mut impl Rng) -> Rows {
    let width = dimension as usize;
    Rows::dense(width, (0..count as usize * width).map(|_| coordinate(rng)).collect())
}

/// A place in each of `side`^d cubes: an average over them is unbiased for that over the whole, with less noise than as
/// many places anywhere.
pub(super) fn strata(side: u32, dimension: u32, rng: &mut impl Rng) -> Rows {
    let width = dimension as usize;
    let mut places = Vec::new();
    for cube in 0..side.pow(dimension) {
        for axis in 0..dimension {
            let step = cube / side.pow(axis) % side;
            places.push((step as f32 + coordinate(rng)) / side as f32);
        }
    }
    Rows::dense(width, places)
}
