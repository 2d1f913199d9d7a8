//! Sizes of heavy-tailed labels: P(R > r) = (ρ/r)^q for r ≥ ρ, q = 3.5, and ρ = 5/7 such that E R = 1.
//!
//! A label is ±R, plus with probability (1 + η(x))/2: its mean is η(x), E|y|³ = ρ³·q/(q - 3) = 2.551 everywhere, and it has no fourth
//! moment. Clipped at T its mean becomes η·E min(R, T): the tail that is cut off pulls towards zero, as in the worst case,
//! instead of cancelling as that of symmetric noise would.

use super::places::unit;
use rand_core::Rng;

/// p, the order of the moment that is said to be bounded
pub(super) const ORDER: f64 = 3.0;
/// What is said to bound it
pub(super) const MOMENT: f64 = 2.6;
/// E R², the variance of a label and more
pub(super) const SQUARE: f64 = LEAST * LEAST * INDEX / (INDEX - 2.0);
/// q
const INDEX: f64 = 3.5;
/// ρ
const LEAST: f64 = 5.0 / 7.0;

/// R.
pub(super) fn size(rng: &mut impl Rng) -> f64 {
    LEAST * (1.0 - unit(rng)).powf(-1.0 / INDEX)
}

/// E min(R, T)^j for j = 1, 2: ∫ j·r^(j-1)·P(R > r) dr up to T.
pub(super) fn clipped(clip: f64, j: i32) -> f64 {
    if clip <= LEAST {
        return clip.powi(j);
    }
    let j_float = f64::from(j);
    LEAST.powi(j) * (INDEX - j_float * (clip / LEAST).powf(j_float - INDEX)) / (INDEX - j_float)
}
