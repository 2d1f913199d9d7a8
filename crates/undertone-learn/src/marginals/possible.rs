//! What tables over fewer attributes leave possible for one that no view holds.
//!
//! A cell is part of each of its sums, and what two sums A and B have in common, if they hold all attributes together, is
//! at least what does not fit beside each other (Fréchet, *Généralisation du théorème des probabilités totales*, 1935):
//!
//! > P(A) + P(B) - P(A∩B) ≤ P(c) ≤ P(A),  with P(∅) = 1
//!
//! for any masks with A ∪ B = S. With m sums in use, each at the level 0.05/m, all are right at once 95 times in 100;
//! P(|Z| > z) ≤ e^(-z²/2) makes z = √(2·ln(m/0.05)), on the safe side.

use super::table::part_of;
use crate::evaluation::Figure;

/// An interval for each cell of a table with so many levels, where `known` has the sums over each mask.
pub(super) fn possible(sizes: &[usize], known: &[Option<Vec<Figure>>]) -> Vec<(f64, f64)> {
    let all = known.len() - 1;
    let masks: Vec<usize> = (1..all).filter(|&mask| known[mask].is_some()).collect();
    let z = (2.0 * (masks.len() as f64 / 0.05).ln()).sqrt();
    let parts: Vec<Vec<usize>> = (0..=all).map(|mask| part_of(sizes, mask)).collect();
    let bound = |mask: usize, cell: usize, side: f64| match &known[mask] {
        _ if mask == 0 => 1.0,
        Some(table) => {
            let figure = table[parts[mask][cell]];
            figure.value + side * z * figure.standard_error
        }
        // Nothing is known of it but that it is a share.
        None => {
            if side > 0.0 {
                1.0
            } else {
                0.0
            }
        }
    };
    let interval = |cell: usize| {
        let high = masks.iter().map(|&mask| bound(mask, cell, 1.0)).fold(1.0, f64::min);
        let pairs =
            masks.iter().flat_map(|&a| masks.iter().map(move |&b| (a, b))).filter(|(a, b)| a | b == all);
        let low = pairs
            .map(|(a, b)| bound(a, cell, -1.0) + bound(b, cell, -1.0) - bound(a & b, cell, 1.0))
            .fold(0.0, f64::max);
        // Noise may leave nothing possible; then the sums contradict each other, and both ends are in doubt.
        (low.min(high).clamp(0.0, 1.0), high.max(low).clamp(0.0, 1.0))
    };
    (0..sizes.iter().product()).map(interval).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certain(values: &[f64]) -> Vec<Figure> {
        values.iter().map(|&value| Figure { value, standard_error: 0.0 }).collect()
    }

    #[test]
    fn two_attributes_of_known_shares_have_the_bounds_of_frechet() {
        // P(a) = 0.7, P(b) = 0.6: both at least 0.3 and at most 0.6
        let known = [None, Some(certain(&[0.3, 0.7])), Some(certain(&[0.4, 0.6])), None];
        let intervals = possible(&[2, 2], &known);
        let expected = [(0.0, 0.3), (0.0, 0.3), (0.1, 0.4), (0.3, 0.6)];
        for ((low, high), (a, b)) in intervals.into_iter().zip(expected) {
            assert!((low - a).abs() < 1e-12 && (high - b).abs() < 1e-12, "{low} {high}");
        }
    }

    #[test]
    fn noise_widens_both_ends() {
        let figure = |value| Figure { value, standard_error: 0.01 };
        let one = |p: f64| vec![figure(1.0 - p), figure(p)];
        let known = [None, Some(one(0.7)), Some(one(0.6)), None];
        // z = √(2·ln 40) = 2.716
        let (low, high) = possible(&[2, 2], &known)[3];
        assert!((low - (0.3 - 0.05432)).abs() < 1e-4 && (high - 0.62716).abs() < 1e-4, "{low} {high}");
    }
}
