//! Table 1: the orders of four errors in n.
//!
//! Slopes of ln(error) against ln n over the last decade of people. A replication is correlated with itself along n, so that
//! standard errors come from leaving out one replication after the other.

use super::claim::{Claim, Verdict};
use super::extent::fraction;
use super::run::{Estimator, Laboratory, Run, What, gaussian, kind_name};
use super::section::Section;
use crate::commands::reproduce::slope::{Slope, fit};
use serde::Serialize;
use undertone_learn::online::Steps;
use undertone_learn::online::laws::DesignKind;
use undertone_learn::online_study::People;

const TABLE: &str = "Table 1";
/// One from each column of the table, away from its borders.
const ALPHAS: [f64; 4] = [0.25, 0.4, 0.6, 0.8];
const MU: f64 = 3.0;
/// Steps are FIRST·(1 + i/OFFSET)^-α: after a few thousand people noise is in balance with them, whatever α is.
const FIRST: f64 = 0.1;
const OFFSET: u64 = 1000;
/// A slope this near to an order, beside two standard errors, has it.
const NEAR: f64 = 0.1;
/// Marks of the last decade.
const DECADE: usize = 5;

/// An order and what was measured.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Order {
    pub(super) error: &'static str,
    pub(super) model: &'static str,
    pub(super) alpha: f64,
    /// The exponent that the paper states as a bound; none where it states none
    pub(super) claimed: Option<f64>,
    /// That of smooth losses with an invertible Hessian
    pub(super) smooth: f64,
    pub(super) measured: Slope,
    pub(super) verdict: Verdict,
}

/// Runs the table.
pub(super) fn run(laboratory: &Laboratory) -> anyhow::Result<(Section, Vec<Order>)> {
    let replications = laboratory.extent.replications;
    let (mut orders, mut points) = (Vec::new(), Vec::new());
    for kind in [DesignKind::Linear, DesignKind::Logistic] {
        for alpha in ALPHAS {
            let people = People { kind, dimension: 3 };
            let published = What::published(TABLE, people, gaussian(Some(MU))?, alpha)?;
            let steps = Steps::new(FIRST * (OFFSET as f64).powf(alpha), alpha, OFFSET)?;
            let run = laboratory.run(What { steps, at_truth: true, ..published }, replications)?;
            points.extend(run.points());
            orders.extend(of_run(&run));
        }
    }
    let claim = |says: &str, errors: [&str; 2]| {
        let own = orders.iter().filter(|order| errors.contains(&order.error));
        let settings: Vec<(String, bool)> =
            own.map(|order| (order.words(), order.verdict == Verdict::Reproduced)).collect();
        Claim::of_listed(TABLE, says, &settings, "")
    };
    let claims = vec![
        claim(
            "distances fall as fast as stated for LDP-SGD and LDP-ASGD, or faster",
            ["distance, SGD", "distance, ASGD"],
        ),
        claim(
            "losses fall as fast as stated for LDP-SGD and LDP-ASGD, or faster",
            ["loss, SGD", "loss, ASGD"],
        ),
    ];
    let section = Section {
        title: "Table 1: orders in n".to_owned(),
        about: format!(
            "d = 3, μ = {MU}, steps {FIRST}·(1 + i/{OFFSET})^-α, {replications} replications that begin at the truth, so that noise is all there is; \
slopes of ln(error) against ln n over the last decade of people, standard errors by leaving out replications. Orders of the \
paper are bounds: a claim is reproduced if errors fall at least as fast."
        ),
        points,
        claims,
        pictures: Vec::new(),
    };
    Ok((section, orders))
}

fn of_run(run: &Run) -> Vec<Order> {
    let (people, a) = (run.what.people, run.what.alpha());
    // Table 1, corrected: below 1/3 it states nothing about losses, though Theorem 6 does.
    let loss = if a < 1.0 / 3.0 {
        None
    } else {
        Some(if a < 0.5 { 0.5 * (3.0 * a - 1.0) } else { (a / 2.0).min(1.0 - a) })
    };
    let averaged_loss = if a < 1.0 / 3.0 { None } else { Some(a.min(1.0 - a)) };
    let averaged = (2.0 * a).min(1.0);
    let rows = [
        ("distance, SGD", Some(a), a, run.distances(Estimator::Sgd)),
        ("distance, ASGD", Some(averaged), averaged, run.distances(Estimator::Asgd)),
        ("loss, SGD", loss, a, run.excesses(Estimator::Sgd)),
        ("loss, ASGD", averaged_loss, averaged, run.excesses(Estimator::Asgd)),
    ];
    rows.into_iter()
        .filter_map(|(error, claimed, smooth, values)| {
            let measured = slope(&run.marks, values)?;
            let bound = -claimed.unwrap_or(0.0);
            let holds = measured.slope <= bound + NEAR + 2.0 * measured.standard_error;
            let verdict = if holds { Verdict::Reproduced } else { Verdict::NotReproduced };
            let model = kind_name(people.kind);
            Some(Order {
                error,
                model,
                alpha: a,
                claimed: claimed.map(|order| -order),
                smooth: -smooth,
                measured,
                verdict,
            })
        })
        .collect()
}

impl Order {
    pub(super) fn words(&self) -> String {
        let Self { error, model, alpha, measured, .. } = self;
        format!(
            "{error}, {model}, α = {}: {:.3} ± {:.3}",
            fraction(*alpha),
            measured.slope,
            measured.standard_error
        )
    }
}

/// The slope of the mean over the last decade, and its standard error by the jackknife.
fn slope(marks: &[u64], values: &[Vec<f64>]) -> Option<Slope> {
    let first = marks.len().saturating_sub(DECADE);
    let count = values.first()?.len();
    let sums: Vec<f64> = values[first..].iter().map(|values| values.iter().sum()).collect();
    let without = |left_out: Option<usize>| -> Option<f64> {
        let places = marks[first..].iter().zip(&values[first..]).zip(&sums);
        let points: Vec<(f64, f64, f64)> = places
            .map(|((&mark, values), sum)| {
                let rest = left_out.map_or(*sum, |r| sum - values[r]);
                ((mark as f64).ln(), rest.ln(), 0.0)
            })
            .collect();
        Some(fit(&points)?.slope)
    };
    let slope = without(None)?;
    let each = (0..count).map(|r| without(Some(r))).collect::<Option<Vec<f64>>>()?;
    let mean = each.iter().sum::<f64>() / count as f64;
    let spread: f64 = each.iter().map(|slope| (slope - mean).powi(2)).sum();
    Some(Slope { slope, standard_error: (spread * (count - 1) as f64 / count as f64).sqrt() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_power_has_its_order_and_no_error() {
        let marks = [100, 200, 400, 800];
        let values: Vec<Vec<f64>> = marks.iter().map(|&n| vec![3.0 / n as f64; 4]).collect();
        let found = slope(&marks, &values).unwrap();
        assert!((found.slope + 1.0).abs() < 1e-12 && found.standard_error < 1e-9, "{found:?}");
    }
}
