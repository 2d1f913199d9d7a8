//! Tables over three attributes: Chebyshev's polynomial, characters, direct answers, views.

mod methods;

pub(super) use methods::{CHEBYSHEV, DIRECT, EVEN, HADAMARD, Methods, RAW, VIEWS};

use super::row::{Laboratory, Row, beside};
use super::section::{Section, chart, line};
use crate::commands::reproduce::claim::Claim;
use crate::plot::Stroke;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};

const SECTION: &str = "marginals";
const ATTRIBUTES: usize = 8;
/// Of ones, and how much an attribute has of the one before it: the even guess is then 0.38 off and the product of all
/// attributes 0.31, as in the earlier simulation.
const ONES: f64 = 0.33;
const LIKE: f64 = 0.71;
/// So many combined standard errors are a difference.
const FAR: f64 = 2.0;
/// ε, and what an independent simulation found for the polynomial as it is and projected, characters, direct answers and views.
const EARLIER: [(f64, [f64; 5]); 2] =
    [(1.0, [0.640, 0.327, 0.063, 0.143, 0.045]), (2.0, [0.371, 0.241, 0.034, 0.054, 0.017])];

/// How many settings each repetition has.
pub(super) const SETTINGS: u64 = 1;

/// Runs the comparison on a chain.
pub(super) fn run(laboratory: &Laboratory<'_>) -> anyhow::Result<Section> {
    let (people, budgets) = laboratory.extent.tables;
    let methods = Methods::new("chain of 8", &[2; ATTRIBUTES], people, budgets)?;
    let mut rows = laboratory.repeat(SECTION, "total variation", |repetition| {
        let records = chain(people, laboratory.seed(&[3, repetition]));
        methods.cells(&records, laboratory.seed(&[4, repetition]))
    })?;
    if people == 100_000 {
        for row in &mut rows {
            row.earlier = earlier(row);
        }
    }
    Ok(Section {
        title: "Marginals of three attributes: total variation",
        about: format!(
            "{people} people with {ATTRIBUTES} attributes of two levels along a Markov chain; the mean total variation of all tables over \
three attributes from those of the people themselves. The polynomial is of Algorithm 6 with literals; direct answers are as published, \
randomized response or unary encoding."
        ),
        claims: claims("Marginals", &rows),
        pictures: vec![("marginals".to_owned(), picture(&rows)?)],
        rows,
    })
}

fn earlier(row: &Row) -> Option<f64> {
    let (_, found) = EARLIER.iter().find(|(epsilon, _)| Some(*epsilon) == row.epsilon)?;
    let place = [RAW, CHEBYSHEV, HADAMARD, DIRECT, VIEWS].iter().position(|method| *method == row.method)?;
    Some(found[place])
}

/// People of the stationary chain: with probability 0.71 an attribute is the one before it, otherwise drawn anew.
fn chain(people: u64, seed: u64) -> Vec<Vec<u32>> {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    let mut with = move |chance: f64| (rng.next_u64() >> 11) as f64 / ((1u64 << 53) as f64) < chance;
    let mut record = || {
        let mut record: Vec<u32> = Vec::with_capacity(ATTRIBUTES);
        for _ in 0..ATTRIBUTES {
            let before = record.last().copied().filter(|_| with(LIKE));
            record.push(before.unwrap_or_else(|| u32::from(with(ONES))));
        }
        record
    };
    (0..people).map(|_| record()).collect()
}

/// What is claimed, for any people.
pub(super) fn claims(source: &'static str, rows: &[Row]) -> Vec<Claim> {
    let below = |method: &'static str, others: &[&str]| -> Vec<(String, bool)> {
        let pairs = rows
            .iter()
            .filter(|row| row.method == method)
            .flat_map(|row| others.iter().filter_map(move |other| Some((row, beside(rows, row, other)?))));
        let tell = |(row, other): (&Row, &Row)| {
            let words =
                format!("{}: {} against {} of {}", row.place(), row.words(), other.words(), other.method);
            (words, row.below(other) > FAR)
        };
        pairs.map(tell).collect()
    };
    let guess: Vec<(String, bool)> = rows
        .iter()
        .filter(|row| row.method == CHEBYSHEV)
        .filter_map(|row| Some((row, beside(rows, row, EVEN)?)))
        .map(|(row, even)| {
            let words = format!("{}: {} against {}", row.place(), row.words(), even.words());
            (words, row.value > even.value / 2.0)
        })
        .collect();
    vec![
        Claim::of_listed(
            source,
            "views are nearest to the truth",
            &below(VIEWS, &[HADAMARD, DIRECT, CHEBYSHEV]),
            "",
        ),
        Claim::of_listed(
            source,
            "characters are nearer than direct answers and the polynomial",
            &below(HADAMARD, &[DIRECT, CHEBYSHEV]),
            "",
        ),
        Claim::of_listed(
            source,
            "projecting the polynomial's tables to distributions helps",
            &below(CHEBYSHEV, &[RAW]),
            "",
        ),
        Claim::of_listed(
            source,
            "even projected, the polynomial is more than half as far off as an even guess",
            &guess,
            "",
        ),
    ]
}

fn picture(rows: &[Row]) -> anyhow::Result<String> {
    let lines = [RAW, CHEBYSHEV, HADAMARD, DIRECT, VIEWS, EVEN].map(|method| {
        let views = rows.iter().filter(|row| row.method == VIEWS);
        let at = |row: &'_ Row| Some((row.epsilon?, beside(rows, row, method)?));
        let stroke = if method == EVEN { Stroke::Limit } else { Stroke::Whole };
        line(method, views.filter_map(at), stroke)
    });
    chart("Tables over three of eight attributes".to_owned(), "ε", "total variation", lines)
}
