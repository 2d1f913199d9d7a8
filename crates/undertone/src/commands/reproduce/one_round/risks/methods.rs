//! Every method on the same people.

use super::copies;
use super::earlier::earlier;
use super::judge::{Judge, Problem};
use crate::commands::reproduce::one_round::row::{Cell, Laboratory};
use undertone_learn::copies::Layout;
use undertone_learn::moments::study::{Sample, noisy_moments};
use undertone_learn::moments::{MarginLoss, OneRound, share_for};
use undertone_privacy::Epsilon;
use undertone_privacy::statistic::{MomentRelease, RecordMoments, Response};

pub(super) const CONSTANT: &str = "constant";
pub(super) const OPEN: &str = "not private";
pub(super) const MOMENTS: &str = "moments (ours)";
pub(super) const PRINTED: &str = "Algorithm 4, d = 2";
pub(super) const BLOSSOM: &str = "blossom, d = 1";
/// In the order in which they are drawn.
pub(super) const METHODS: [&str; 5] = [MOMENTS, PRINTED, BLOSSOM, OPEN, CONSTANT];

/// With more people copies are not run: everybody would draw hundreds of normal numbers.
const MOST_WITH_COPIES: usize = 100_000;
/// With more people the best weights without privacy are not looked for: they lose nothing to speak of.
const MOST_IN_THE_OPEN: usize = 50_000;

/// The excess risk of every method that is for the problem, in a fixed order.
pub(in super::super) fn cells(
    laboratory: &Laboratory<'_>,
    train: &Sample,
    judges: &[Judge<'_>],
    budgets: &[f64],
    path: &[u64],
) -> anyhow::Result<Vec<Cell>> {
    let mut cells = Vec::new();
    let people = train.people() as u64;
    let mut tell = |problem: &Problem, epsilon: Option<f64>, method, value, earlier| {
        cells.push(Cell { setting: problem.name(), people, epsilon, method, value, earlier });
    };
    let seed = |purpose: u64| laboratory.seed(&[path, &[purpose]].concat());
    for judge in judges {
        tell(&judge.problem, None, CONSTANT, judge.constant(), None);
        if train.people() <= MOST_IN_THE_OPEN {
            let w = train.optimum(judge.problem.loss, judge.problem.radius());
            tell(&judge.problem, None, OPEN, judge.excess(&w), None);
        }
    }
    for (number, &budget) in (0u64..).zip(budgets) {
        let epsilon = Epsilon::new(budget)?;
        let found =
            |problem: &Problem| earlier(problem.loss, problem.large, problem.covariates, people, budget);
        for (place, judge) in (0u64..).zip(judges) {
            let value =
                judge.excess(&moments(train, judge.problem, epsilon, seed(100 + 10 * number + place))?);
            let found = found(&judge.problem).map(|[moments, ..]| moments);
            tell(&judge.problem, Some(budget), MOMENTS, value, found);
        }
        // Copies are for losses of margins.
        if train.people() > MOST_WITH_COPIES
            || judges.iter().any(|judge| judge.problem.loss == MarginLoss::Squared)
        {
            continue;
        }
        for (which, method, layout) in
            [(1, PRINTED, (Layout::Printed, 2)), (2, BLOSSOM, (Layout::Blossom, 1))]
        {
            let values = copies::excesses(train, judges, layout, epsilon, seed(10 * number + which as u64))?;
            for (judge, value) in judges.iter().zip(values) {
                tell(
                    &judge.problem,
                    Some(budget),
                    method,
                    value,
                    found(&judge.problem).map(|found| found[which]),
                );
            }
        }
    }
    Ok(cells)
}

/// The weights of one-round learning, or none where it says that the constant is better.
fn moments(train: &Sample, problem: Problem, epsilon: Epsilon, seed: u64) -> anyhow::Result<Vec<f64>> {
    let Problem { loss, covariates, .. } = problem;
    let share = share_for(loss, problem.radius(), train.people() as u64, covariates, epsilon)?;
    let response = if loss == MarginLoss::Squared { Response::Number } else { Response::Sign };
    let release = MomentRelease::new(RecordMoments::new(covariates, response)?, epsilon, share)?;
    let moments = noisy_moments(&release, train, seed)?;
    let method = OneRound::new(loss, problem.radius())?;
    let method = problem.constant.map_or(Ok(method), |constant| method.with_constant(constant))?;
    Ok(method.fit(&moments)?.weights)
}
