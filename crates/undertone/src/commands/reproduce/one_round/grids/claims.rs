//! What is claimed of the ways to answer.

use super::{BIT, CONSTANT, FINE_BIT, LAPLACE, REJECTION, STRINGS};
use crate::commands::reproduce::claim::Claim;
use crate::commands::reproduce::one_round::row::{Row, beside};

const SOURCE: &str = "Grids";
/// So many combined standard errors are a difference.
const FAR: f64 = 2.0;

/// The claims.
pub(super) fn claims(rows: &[Row]) -> Vec<Claim> {
    let pairs =
        |method: &'static str, others: &'static [&'static str], holds: &dyn Fn(&Row, &Row) -> bool| {
            let pairs = rows.iter().filter(|row| row.method == method).flat_map(|row| {
                others.iter().filter_map(move |other| Some((row, beside(rows, row, other)?)))
            });
            let tell = |(row, other): (&Row, &Row)| {
                (
                    format!("{}: {} against {} of {}", row.place(), row.words(), other.words(), other.method),
                    holds(row, other),
                )
            };
            pairs.map(tell).collect::<Vec<_>>()
        };
    let below = |row: &Row, other: &Row| row.below(other) > FAR;
    let not_above = |row: &Row, other: &Row| row.below(other) > -FAR;
    vec![
        Claim::of_many(
            SOURCE,
            "one bit is far below the constant predictor",
            &pairs(BIT, &[CONSTANT], &below),
            "",
        ),
        Claim::of_many(
            SOURCE,
            "one bit is no worse than the corrected rejection bit on the same grid",
            &pairs(FINE_BIT, &[REJECTION], &not_above),
            "",
        ),
        Claim::of_many(
            SOURCE,
            "one bit is no worse than an index of public strings on the same grid",
            &pairs(BIT, &[STRINGS], &not_above),
            "",
        ),
        Claim::of_many(
            SOURCE,
            "one bit is no worse than splitting ε among all nodes on the same grid",
            &pairs(FINE_BIT, &[LAPLACE], &not_above),
            "",
        ),
    ]
}
