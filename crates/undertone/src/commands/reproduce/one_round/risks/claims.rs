//! What is claimed of the methods.

use super::methods::{BLOSSOM, CONSTANT, MOMENTS, PRINTED};
use crate::commands::reproduce::claim::Claim;
use crate::commands::reproduce::one_round::row::{Row, beside};

/// So many combined standard errors are a difference.
const FAR: f64 = 2.0;

/// The claims, as far as what they are about was run.
pub(in super::super) fn claims(source: &'static str, rows: &[Row]) -> Vec<Claim> {
    let of = |method: &'static str| rows.iter().filter(move |row| row.method == method);
    // Where both of two methods ran, and whether the first is better
    let below = |method: &'static str, other: &'static str, far: f64| -> Vec<(String, bool)> {
        let pairs = of(method).filter_map(|row| Some((row, beside(rows, row, other)?)));
        let tell = |(row, other): (&Row, &Row)| {
            (format!("{} ({} against {})", row.place(), row.words(), other.words()), row.below(other) > far)
        };
        pairs.map(tell).collect()
    };
    let constants = |row: &Row| beside(rows, row, CONSTANT).map(|constant| constant.value);
    let half: Vec<(String, bool)> = of(PRINTED)
        .filter_map(|row| Some((row, constants(row)?)))
        .map(|(row, constant)| {
            (format!("{} ({} of {constant:.4})", row.place(), row.words()), row.value > constant / 2.0)
        })
        .collect();
    let sizes: Vec<(String, bool)> = of(MOMENTS)
        .filter_map(|row| Some((row, row.earlier?)))
        .map(|(row, earlier)| {
            let least = row.value - FAR * row.standard_error;
            (format!("{} ({} against {earlier})", row.place(), row.words()), least <= 1.5 * earlier + 1e-4)
        })
        .collect();
    let all = [
        ("learning from moments in one round is below the constant predictor", below(MOMENTS, CONSTANT, FAR)),
        ("moments are never worse than the constant predictor", below(MOMENTS, CONSTANT, -FAR)),
        (
            "moments are below Algorithm 4 of degree 2, as printed but for its errors",
            below(MOMENTS, PRINTED, FAR),
        ),
        ("moments are below the blossom of degree 1", below(MOMENTS, BLOSSOM, FAR)),
        ("the blossom of degree 1 is below the printed layout of degree 2", below(BLOSSOM, PRINTED, 0.0)),
        ("Algorithm 4 leaves more than half of what the constant predictor loses", half),
        ("moments cost at most 1.5 times what the earlier simulation found, to two standard errors", sizes),
    ];
    all.into_iter()
        .filter(|(_, settings)| !settings.is_empty())
        .map(|(says, settings)| Claim::of_many(source, says, &settings, ""))
        .collect()
}
