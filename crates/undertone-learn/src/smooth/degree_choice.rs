//! How many cosines, and who is asked about which.
//!
//! With |c_v| ≤ m_v over a family of queries, people are divided as π_v ∝ m_v: for a single query that has the least variance
//! there is, V·(Σ|c_v|)²/n. The number of cosines on an axis, t, is that with the least
//!
//! > max over queries of  missed(t) + 2·√(V/n·Σ_v c_v²/π_v)

use super::Query;
use crate::LearnError;
use crate::means::{PEOPLE_PER_STATISTIC, largest_base};
use undertone_privacy::statistic::Allocation;

/// Cosines on an axis that are tried, as long as there are not more functions than that.
const LARGEST_DEGREES: u32 = 64;
const MOST_FUNCTIONS: f64 = 16_384.0;

/// A basis for a family of queries.
#[derive(Clone, Debug, PartialEq)]
pub struct DegreeChoice {
    /// t
    pub degrees: u32,
    /// Who is asked about which function
    pub allocation: Allocation,
    /// The largest error among the queries: what is missed and two standard errors
    pub error: f64,
}

/// Refuses a basis with fewer than twenty people to a function, and says which is the largest that they fill.
pub fn check_degrees(axes: usize, degrees: u32, people: u64) -> Result<(), LearnError> {
    let cells = functions(axes, degrees);
    let needed = cells * f64::from(PEOPLE_PER_STATISTIC);
    if needed <= people as f64 {
        return Ok(());
    }
    let fitting = match largest_degrees(axes, people) {
        0 | 1 => "none".to_owned(),
        largest => format!("{largest} at most"),
    };
    let what = "a basis of cosines up to";
    Err(LearnError::TooFine { what, size: degrees, axes, cells, needed, people, fitting })
}

/// t^p - 1.
fn functions(axes: usize, degrees: u32) -> f64 {
    f64::from(degrees).powi(axes as i32) - 1.0
}

/// The largest t with t^p - 1 ≤ n/20: the constant needs nobody.
fn largest_degrees(axes: usize, people: u64) -> u32 {
    largest_base(axes, people, 1.0)
}

/// People divided among the functions of t = `degrees` cosines as the queries need them.
pub fn allocate(queries: &[Query], degrees: u32) -> Result<Allocation, LearnError> {
    let mut sizes: Vec<f64> = Vec::new();
    for query in queries {
        let coefficients = query.coefficients(degrees);
        sizes.resize(coefficients.len(), 0.0);
        for (size, c) in sizes.iter_mut().zip(coefficients) {
            *size = size.max(c.abs());
        }
    }
    Ok(Allocation::proportional(sizes.get(1..).unwrap_or(&[]))?)
}

/// The number of cosines and the division of `people` with the least error, an answer having a variance of `answer_variance`.
pub fn choose_degrees(
    queries: &[Query],
    people: u64,
    answer_variance: f64,
) -> Result<DegreeChoice, LearnError> {
    let axes = queries.first().ok_or(LearnError::NoReports)?.axes();
    if let Some(query) = queries.iter().find(|query| query.axes() != axes) {
        return Err(LearnError::Columns { found: query.axes(), expected: axes });
    }
    check_degrees(axes, 2, people)?;
    let mut best: Option<DegreeChoice> = None;
    let tried = 2..=largest_degrees(axes, people).min(LARGEST_DEGREES);
    for degrees in tried.filter(|&t| functions(axes, t) <= MOST_FUNCTIONS) {
        let allocation = allocate(queries, degrees)?;
        let error = |query: &Query| {
            let noise: f64 = query.coefficients(degrees)[1..]
                .iter()
                .enumerate()
                .filter(|(_, c)| **c != 0.0)
                .map(|(v, c)| c * c / allocation.share(v))
                .sum();
            query.missed(degrees as usize) + 2.0 * (answer_variance / people as f64 * noise).sqrt()
        };
        let error = queries.iter().map(error).fold(0.0, f64::max);
        if best.as_ref().is_none_or(|best| error < best.error) {
            best = Some(DegreeChoice { degrees, allocation, error });
        }
    }
    best.ok_or(LearnError::NoReports)
}
