//! How much answers can vary, mechanism and people together.
//!
//! The answer of a person drawn at random has a variance of E\[V(v)\] + Var(v), V(v) being that of the mechanism for a value v.
//! For a given mean it is largest for two values, as a linear function of distributions with one constraint. With values a and b,
//! the first in a share s of the people,
//!
//! > s·V(a) + (1-s)·V(b) + s·(1-s)·(a-b)²
//!
//! is largest at s = 1/2 + (V(a) - V(b))/(2·(a-b)²), cut to [0, 1]. For the direct bit that is C²/4 on an interval of one, what its
//! worst V is by itself: a bit is a bit, whoever tosses it.

use crate::LearnError;
use undertone_privacy::Unbiased;
use undertone_privacy::number::{Bounds, GridNumber};

/// Values at which mechanisms are looked at. A power of two, so that the ends and the middle are among them.
const PLACES: u32 = 64;

/// The largest variance that answers about one statistic can have, whatever the people are like: exact for the direct bit,
/// Laplace noise, the rejection bit and public strings, where it is reached at the ends; for other mechanisms as seen at 65
/// values.
pub fn worst_answer_variance(
    mechanism: &impl Unbiased<Input = GridNumber>,
    bounds: Bounds,
) -> Result<f64, LearnError> {
    let width = bounds.high() - bounds.low();
    let mut places = Vec::new();
    for i in 0..=PLACES {
        let value = bounds.low() + width * f64::from(i) / f64::from(PLACES);
        places.push((value, mechanism.variance(&bounds.place(value)?)));
    }
    let pairs = places.iter().flat_map(|&a| places.iter().map(move |&b| (a, b)));
    Ok(pairs.map(|(a, b)| of_two(a, b)).fold(0.0, f64::max))
}

/// The largest variance for two values, each with the variance of the mechanism there.
fn of_two((a, at_a): (f64, f64), (b, at_b): (f64, f64)) -> f64 {
    let square = (a - b) * (a - b);
    if square == 0.0 {
        return at_a;
    }
    let share = (0.5 + 0.5 * (at_a - at_b) / square).clamp(0.0, 1.0);
    share * at_a + (1.0 - share) * at_b + share * (1.0 - share) * square
}
