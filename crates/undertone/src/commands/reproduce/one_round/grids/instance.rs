//! Who is asked, and who judges.

use super::statistics;
use crate::commands::reproduce::one_round::row::Laboratory;
use undertone_learn::bernstein::Surrogate;
use undertone_learn::means::{Mean, Means};
use undertone_learn::moments::MarginLoss;
use undertone_learn::moments::study::{Population, Sample};

/// Repetitions have a part of the population each; this one judges.
const JUDGES: u64 = u64::MAX;
/// Instances that are tried, and how far inside of the box some best weight has to be.
const INSTANCES: u64 = 200;
const INSIDE: f64 = 0.8;

/// A population whose best weights are no corner of the box: there, any polynomial that falls towards it would do.
pub(super) struct Instance {
    pub(super) population: Population,
    pub(super) test: Sample,
    /// The least risk on those who judge
    pub(super) least: f64,
}

impl Instance {
    /// The first of them that has such weights.
    pub(super) fn find(laboratory: &Laboratory<'_>, p: usize) -> anyhow::Result<Self> {
        for number in 0..INSTANCES {
            let population = Population::new(p, laboratory.seed(&[5, p as u64, number]))?;
            let test = population.sample(laboratory.extent.judges, JUDGES);
            let best = best(p, |w| test.risk(MarginLoss::Logistic, w))?;
            if best.iter().any(|w| w.abs() < INSIDE) {
                let least = test.risk(MarginLoss::Logistic, &best);
                return Ok(Self { population, test, least });
            }
        }
        anyhow::bail!("no instance of {INSTANCES} has its best weights inside of the box")
    }
}

/// Nearly the best weights on the box: the least of a fine polynomial through exact risks.
fn best(p: usize, risk: impl Fn(&[f64]) -> f64) -> anyhow::Result<Vec<f64>> {
    let statistics = statistics(p, 6)?;
    let grid = statistics.grid();
    let mut means = Vec::new();
    for node in 0..grid.nodes() {
        means.push(Some(Mean { value: risk(&grid.node(node)?), variance: 0.0, answers: 1 }));
    }
    Ok(Surrogate::fit(grid.clone(), 4, &Means::new(means))?.minimise().w)
}
