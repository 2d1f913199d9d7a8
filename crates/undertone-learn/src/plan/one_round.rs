//! Before anyone is asked one question about the whole record: which question.
//!
//! What a method would give is seen on a reference population of which everything is known, near-elliptical records with logistic
//! labels ([`Population`]): the answers of n people in law, what the method makes of them, and the excess risk of that, over a few
//! draws. Real records may be harder; the order of the methods is what to take from it. Descents along copies have their bound
//! βR²/n + σR/√n instead.

use crate::LearnError;
use crate::bernstein::{GridChoice, Problem, Surrogate, choose_grid};
use crate::convex::Feasible;
use crate::copies::Layout;
use crate::means::{Mean, Means, PEOPLE_PER_STATISTIC};
use crate::moments::study::{Population, Sample, noisy_moments_of};
use crate::moments::{MarginLoss, OneRound, check_size, most_covariates, share_for};
use crate::one_round::copies_bound;
use serde::Serialize;
use undertone_privacy::number::Bounds;
use undertone_privacy::statistic::{Moment, MomentRelease, PointLoss, RecordMoments, Response};
use undertone_privacy::survey::{AnsweringKind, NumberAnswering};
use undertone_privacy::vector::stream::PublicStream;
use undertone_privacy::vector::{GaussianCopies, VectorRandomizer};
use undertone_privacy::{Delta, Epsilon};

/// The reference population, and how many of its records are known.
const SEED: u64 = 2026;
const RECORDS: usize = 2000;
/// Collections that are drawn.
const DRAWS: u64 = 8;
/// Beyond these, nothing is drawn: it would take minutes.
const MOST_DRAWN: usize = 60;
const MOST_CELLS: f64 = 8192.0;

/// What is to be learnt, and from whom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OneRoundProblem {
    /// f
    pub loss: MarginLoss,
    /// R: weights lie in the ball, or the box, of this radius, records in the unit ball
    pub radius: f64,
    /// p
    pub covariates: usize,
    /// n
    pub people: u64,
    /// ε
    pub epsilon: Epsilon,
    /// δ, of Gaussian copies
    pub delta: Delta,
}

/// What the methods of one round would give.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OneRoundPlan {
    /// p
    pub covariates: usize,
    /// n
    pub n: u64,
    /// ε
    pub epsilon: f64,
    /// δ, of copies alone
    pub delta: f64,
    /// f
    pub loss: MarginLoss,
    /// R
    pub radius: f64,
    /// The excess risk of the constant predictor on the reference population
    pub constant: Option<f64>,
    /// Best first; those that do not fit at the end
    pub methods: Vec<OneRoundMethod>,
    /// The name of the one to take, or `none`
    pub choice: String,
    /// Why
    pub reason: String,
    /// What fits so many people
    pub largest: Largest,
}

/// The largest numbers of covariates that n people fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Largest {
    /// Of moments
    pub moments: usize,
    /// Of losses on the coarsest grid, two nodes for each coefficient
    pub losses: usize,
}

/// What one method would give.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OneRoundMethod {
    /// Its name
    pub name: &'static str,
    /// The mean excess risk over draws
    pub excess_risk: Option<f64>,
    /// Of the mean
    pub standard_error: Option<f64>,
    /// The excess risk is at most this, where that is known
    pub bound: Option<f64>,
    /// The expected squared error of a mean vector that it rests on, or the variance of the risk at a corner
    pub noise: Option<f64>,
    /// What it would ask, or why it does not fit
    pub what: String,
}

/// Looks at every method of one round.
pub fn one_round_plan(problem: &OneRoundProblem) -> Result<OneRoundPlan, LearnError> {
    let &OneRoundProblem { loss, radius, covariates, people, epsilon, delta } = problem;
    OneRound::new(loss, radius)?;
    check_size(people, covariates, epsilon)?;
    let reference = (covariates <= MOST_DRAWN).then(|| Reference::new(problem)).transpose()?;
    let mut methods = vec![moments(problem, reference.as_ref())?, losses(problem, reference.as_ref())?];
    if loss != MarginLoss::Squared {
        methods.push(copies(problem, "algorithm-4", Layout::Printed, 2)?);
        methods.push(copies(problem, "algorithm-4, blossom", Layout::Blossom, 1)?);
    }
    let figure = |method: &OneRoundMethod| method.excess_risk.or(method.bound).unwrap_or(f64::INFINITY);
    methods.sort_by(|a, b| figure(a).total_cmp(&figure(b)));
    let constant = reference.map(|reference| reference.constant);
    let (choice, reason) = choose(&methods[0], figure(&methods[0]), constant);
    let largest =
        Largest { moments: most_covariates(people, epsilon)?.unwrap_or(0), losses: largest_axes(people) };
    Ok(OneRoundPlan {
        covariates,
        n: people,
        epsilon: epsilon.get(),
        delta: delta.get(),
        loss,
        radius,
        constant,
        methods,
        choice,
        reason,
        largest,
    })
}

fn choose(best: &OneRoundMethod, figure: f64, constant: Option<f64>) -> (String, String) {
    let Some(constant) = constant else {
        let reason = "moments measure best, and so many covariates are not drawn; project them to fewer";
        return ("moments".into(), reason.into());
    };
    if figure >= constant {
        let reason = "noise is expected to cost more than any method gains over the constant predictor";
        return ("none".into(), reason.into());
    }
    (
        best.name.into(),
        format!(
            "it leaves {:.0} % of the constant's excess risk, the least of all",
            100.0 * figure / constant
        ),
    )
}

/// The most p with 20·2^p ≤ n.
fn largest_axes(people: u64) -> usize {
    (people / u64::from(PEOPLE_PER_STATISTIC)).checked_ilog2().unwrap_or(0) as usize
}

/// Records that are known, and what can be done with them at best.
struct Reference {
    sample: Sample,
    least: f64,
    constant: f64,
}

impl Reference {
    fn new(problem: &OneRoundProblem) -> Result<Self, LearnError> {
        let sample = Population::new(problem.covariates, SEED)?.sample(RECORDS, 0);
        let least = sample.risk(problem.loss, &sample.optimum(problem.loss, problem.radius));
        let constant = sample.risk(problem.loss, &vec![0.0; problem.covariates]) - least;
        Ok(Self { sample, least, constant })
    }

    /// Mean and standard error of the excess risk of what `learn` makes of each draw.
    fn excess(
        &self,
        loss: MarginLoss,
        mut learn: impl FnMut(u64) -> Result<Vec<f64>, LearnError>,
    ) -> Result<(f64, f64), LearnError> {
        let draws = (0..DRAWS).map(|draw| Ok(self.sample.risk(loss, &learn(draw)?) - self.least));
        let draws = draws.collect::<Result<Vec<f64>, LearnError>>()?;
        let n = DRAWS as f64;
        let mean = draws.iter().sum::<f64>() / n;
        let square: f64 = draws.iter().map(|x| (x - mean).powi(2)).sum();
        Ok((mean, (square / (n - 1.0) / n).sqrt()))
    }
}

fn moments(problem: &OneRoundProblem, reference: Option<&Reference>) -> Result<OneRoundMethod, LearnError> {
    let &OneRoundProblem { loss, radius, covariates, people, epsilon, .. } = problem;
    let share = share_for(loss, radius, people, covariates, epsilon)?;
    let response = if loss == MarginLoss::Squared { Response::Number } else { Response::Sign };
    let release = MomentRelease::new(RecordMoments::new(covariates, response)?, epsilon, share)?;
    let tellers = people as f64 * release.probability(Moment::First);
    let noise = release.codebook(Moment::First).variance_at_norm(1.0) / tellers;
    let method = OneRound::new(loss, radius)?;
    let excess = reference.map(|reference| {
        let truth = reference.sample.moments();
        reference.excess(loss, |draw| {
            method.minimum(&noisy_moments_of(&release, truth.clone(), people as f64, SEED + draw)?)
        })
    });
    let excess = excess.transpose()?;
    Ok(OneRoundMethod {
        name: "moments",
        excess_risk: excess.map(|(mean, _)| mean),
        standard_error: excess.map(|(_, error)| error),
        bound: None,
        noise: Some(noise),
        what: format!("{:.0} % of people tell the second moment, the others the first", 100.0 * share),
    })
}

fn losses(problem: &OneRoundProblem, reference: Option<&Reference>) -> Result<OneRoundMethod, LearnError> {
    let &OneRoundProblem { loss, radius, covariates, people, epsilon, .. } = problem;
    let none = |what: String| OneRoundMethod {
        name: "losses",
        excess_risk: None,
        standard_error: None,
        bound: None,
        noise: None,
        what,
    };
    let (low, high) = (vec![-radius; covariates], vec![radius; covariates]);
    let point = match loss {
        MarginLoss::Logistic => PointLoss::Logistic,
        MarginLoss::Hinge => PointLoss::Hinge,
        MarginLoss::Squared => PointLoss::Squared { largest: 1.0 },
    };
    let asked = Problem { loss: point, low: &low, high: &high, radius: 1.0 };
    let worst = NumberAnswering::new(AnsweringKind::Best, Bounds::new(0.0, 1.0)?, epsilon)?.worst_variance();
    let GridChoice { degree, order, bound } = match choose_grid(&asked, people, worst.sqrt()) {
        Ok(choice) => choice,
        Err(error @ LearnError::TooFine { .. }) => return Ok(none(error.to_string())),
        Err(error) => return Err(error),
    };
    let cells = f64::from(degree + 1).powi(covariates as i32);
    let what = format!("degree {degree}, {cells} cells, operator of order {order}");
    let (least, most) = asked.statistics(degree)?.range_on_the_box();
    let noise = worst * (most - least).powi(2) * cells / people as f64;
    let plan = OneRoundMethod { bound: Some(bound), noise: Some(noise), ..none(what) };
    let Some(reference) = reference.filter(|_| cells <= MOST_CELLS) else { return Ok(plan) };
    let (at, ball) = (asked.statistics(degree)?, Feasible::ball(radius)?);
    let allocation = at.allocation()?;
    let mut truth = Vec::new();
    for node in 0..at.grid().nodes() {
        let mut sum = 0.0;
        for (x, y) in reference.sample.records() {
            sum += at.value(node, x, y)?;
        }
        let (low, high) = at.range(node)?;
        let answers = people as f64 * allocation.share(node as usize);
        let variance = if high > low { worst * (high - low).powi(2) / answers } else { 0.0 };
        truth.push(Mean { value: sum / RECORDS as f64, variance, answers: answers as u64 });
    }
    let (mean, error) = reference.excess(loss, |draw| {
        let mut noise = vec![0.0; truth.len()];
        PublicStream::new(u128::from(SEED), draw).fill_normal(&mut noise);
        let cell =
            |(mean, z): (&Mean, f64)| Some(Mean { value: mean.value + z * mean.variance.sqrt(), ..*mean });
        let means = Means::new(truth.iter().zip(noise).map(cell).collect());
        let mut w = Surrogate::fit(at.grid().clone(), order, &means)?.minimise().w;
        // Corners of the box are outside of the ball, where others may not look.
        ball.project(&mut w);
        Ok(w)
    })?;
    Ok(OneRoundMethod { excess_risk: Some(mean), standard_error: Some(error), ..plan })
}

fn copies(
    problem: &OneRoundProblem,
    name: &'static str,
    layout: Layout,
    degree: usize,
) -> Result<OneRoundMethod, LearnError> {
    let &OneRoundProblem { loss, radius, covariates, people, epsilon, delta } = problem;
    let ball = RecordMoments::new(covariates, Response::Sign)?.ball(Moment::First)?;
    let inner = layout.inner(degree);
    let mechanism = GaussianCopies::analytic(ball, inner, epsilon, delta)?;
    let bound = copies_bound(layout, degree, loss, &mechanism, radius, people)?;
    Ok(OneRoundMethod {
        name,
        excess_risk: None,
        standard_error: None,
        bound: Some(bound),
        noise: Some(covariates as f64 * mechanism.outer_variance() / people as f64),
        what: format!("degree {degree}, {} copies of each record, also under δ", inner + 1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(loss: MarginLoss, radius: f64, covariates: usize, people: u64) -> OneRoundPlan {
        let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
        one_round_plan(&OneRoundProblem { loss, radius, covariates, people, epsilon, delta }).unwrap()
    }

    #[test]
    fn moments_are_chosen_where_they_measure_best_and_their_risk_is_that_of_the_tables() {
        // Logistic, R = 1, p = 5, n = 10^5, ε = 1: 0.0003 for moments and 0.136 for the constant on another instance
        let plan = plan(MarginLoss::Logistic, 1.0, 5, 100_000);
        assert_eq!((plan.choice.as_str(), plan.methods[0].name), ("moments", "moments"));
        let excess = plan.methods[0].excess_risk.unwrap();
        assert!((0.0..0.003).contains(&excess), "{excess}");
        assert!((plan.constant.unwrap() - 0.136).abs() < 0.05);
        let find = |name: &str| plan.methods.iter().find(|method| method.name == name).unwrap();
        let grid = find("losses");
        assert!(grid.excess_risk.unwrap() < grid.bound.unwrap());
        assert!(find("algorithm-4").bound.unwrap() > find("algorithm-4, blossom").bound.unwrap());
        // 20·2^12 ≤ 10^5 < 20·2^13
        assert_eq!(plan.largest.losses, 12);
    }

    #[test]
    fn what_does_not_fit_is_said_with_what_does() {
        let plan = plan(MarginLoss::Hinge, 1.0, 20, 10_000);
        let grid = plan.methods.iter().find(|method| method.name == "losses").unwrap();
        assert!(grid.excess_risk.is_none() && grid.what.contains("fill"), "{}", grid.what);
        let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
        let problem = OneRoundProblem {
            loss: MarginLoss::Hinge,
            radius: 1.0,
            covariates: 500,
            people: 1000,
            epsilon,
            delta,
        };
        assert!(matches!(
            one_round_plan(&problem),
            Err(LearnError::TooManyCovariates { covariates: 500, .. })
        ));
    }

    #[test]
    fn where_noise_drowns_everything_nothing_is_chosen() {
        let plan = plan(MarginLoss::Logistic, 18.0, 20, 500);
        assert_eq!(plan.choice, "none");
        assert!(plan.reason.contains("constant"));
    }
}
