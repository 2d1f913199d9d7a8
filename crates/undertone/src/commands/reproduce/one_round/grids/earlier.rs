//! What an independent simulation found.

use super::{BIT, COARSE, FINE_BIT, LAPLACE, REJECTION};

/// p, n, ε, and what an independent simulation found for Algorithm 2, Algorithm 3 (k = 2, h = 1 and k = 3, h = 2), and the one bit
/// (k = 2 and 3), in two to six repetitions.
#[rustfmt::skip]
const EARLIER: [(usize, u64, f64, [f64; 5]); 12] = [
    (2, 10_000, 1.0, [0.0737, 0.0074, 0.0495, 0.0029, 0.0106]),
    (2, 10_000, 4.0, [0.0076, 0.0053, 0.0229, 0.0038, 0.0035]),
    (2, 100_000, 1.0, [0.0125, 0.0052, 0.0083, 0.0053, 0.0035]),
    (2, 100_000, 4.0, [0.0001, 0.0068, 0.0033, 0.0033, 0.0012]),
    (2, 1_000_000, 1.0, [0.0001, 0.0068, 0.0006, 0.0049, 0.0003]),
    (2, 1_000_000, 4.0, [0.0004, 0.0068, 0.0010, 0.0040, 0.0006]),
    (3, 10_000, 1.0, [0.1917, 0.0745, 0.1238, 0.0107, 0.0335]),
    (3, 10_000, 4.0, [0.0864, 0.0372, 0.0684, 0.0042, 0.0035]),
    (3, 100_000, 1.0, [0.0715, 0.0258, 0.0434, 0.0038, 0.0032]),
    (3, 100_000, 4.0, [0.0678, 0.0056, 0.0137, 0.0053, 0.0028]),
    (3, 1_000_000, 1.0, [0.0549, 0.0053, 0.0053, 0.0030, 0.0028]),
    (3, 1_000_000, 4.0, [0.0031, 0.0053, 0.0053, 0.0008, 0.0001]),
];

/// What it found for a method, if it was run.
pub(super) fn earlier(p: usize, n: u64, epsilon: f64, method: &str) -> Option<f64> {
    let (.., found) = EARLIER.iter().find(|line| (line.0, line.1, line.2) == (p, n, epsilon))?;
    let place = [LAPLACE, COARSE, REJECTION, BIT, FINE_BIT].iter().position(|other| *other == method)?;
    Some(found[place])
}
