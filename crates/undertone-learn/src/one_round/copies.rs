//! Weights from noisy copies, as published: most people are descended along, and the others say what it was worth.

use super::{Constant, SurveyFit};
use crate::LearnError;
use crate::copies::{
    BernsteinSlope, CopiesDescent, DescentOptions, Layout, Mixture, PolynomialRisk, SlopeOracle,
    smooth_hinge_slope,
};
use crate::held_out::HELD_OUT;
use crate::moments::MarginLoss;
use crate::split::is_held_out;
use undertone_privacy::Unbiased;
use undertone_privacy::vector::GaussianCopies;

/// β of the smoothed hinge and of the smoothed steps.
const BETA: f64 = 0.25;
/// Steps of a descent, if there are people enough.
const STEPS: u64 = 1000;

/// Where gradients come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopiesMethod {
    /// The hinge, smoothed
    Algorithm4,
    /// A mixture of absolute values
    Algorithm5,
    /// The slope of the loss itself
    Direct,
}

/// A descent and its judges. Reports are shown twice: all to [`learn`](Self::learn), then all to [`judge`](Self::judge).
pub struct CopiesFit {
    loss: MarginLoss,
    mechanism: GaussianCopies,
    descent: CopiesDescent,
    risk: PolynomialRisk,
    radius: f64,
    shown: u64,
    judged: Judged,
}

#[derive(Clone, Copy, Debug, Default)]
struct Judged {
    shown: u64,
    count: f64,
    sum: f64,
    squares: f64,
    /// Of the outer copies' first coordinate
    first: f64,
}

/// The degree that so many inner copies make.
fn degree_of(layout: Layout, inner: usize) -> Result<usize, LearnError> {
    let fits = (1..=inner).find(|&degree| layout.inner(degree) >= inner);
    fits.filter(|&degree| layout.inner(degree) == inner).ok_or(LearnError::Parameter {
        what: "the number of inner copies",
        value: inner as f64,
        expected: "d(d+1) for some degree d",
    })
}

/// The polynomial slope of a loss, the hinge being smoothed.
fn slope_of(loss: MarginLoss, degree: usize, radius: f64) -> Result<BernsteinSlope, LearnError> {
    BernsteinSlope::new(degree, radius, |t| match loss {
        MarginLoss::Hinge => smooth_hinge_slope(t, BETA),
        _ => loss.slope(t),
    })
}

/// σ with E|G|² = E\[P̂²\]·(|z|² + p·σ₀²) ≤ σ²: copies of u have the variance σ₁²·|w|²/(4R²), and |w| is at most R.
fn gradient_noise(layout: Layout, slope: &BernsteinSlope, mechanism: &GaussianCopies) -> f64 {
    let inner = layout.second_moment(slope.coefficients(), 0.5, 0.25 * mechanism.inner_variance());
    let p = mechanism.ball().dimension() as f64;
    (inner * (1.0 + p * mechanism.outer_variance())).sqrt()
}

/// f'' of the smoothed hinge is at most 1/(2β), that of the logistic loss 1/4.
fn smoothness(loss: MarginLoss) -> f64 {
    if loss == MarginLoss::Logistic { 0.25 } else { 0.5 / BETA }
}

/// What the descent of n people along such copies is off at most, on average and beside the error of the polynomial: β·R²/n + σ·R/√n.
pub(crate) fn copies_bound(
    layout: Layout,
    degree: usize,
    loss: MarginLoss,
    mechanism: &GaussianCopies,
    radius: f64,
    people: u64,
) -> Result<f64, LearnError> {
    let (n, slope) = (people as f64, slope_of(loss, degree, radius)?);
    let noise = gradient_noise(layout, &slope, mechanism);
    Ok(smoothness(loss) * radius * radius / n + noise * radius / n.sqrt())
}

impl CopiesFit {
    /// Before any of `people` is shown; weights stay within `radius`.
    pub fn new(
        method: CopiesMethod,
        layout: Layout,
        loss: MarginLoss,
        mechanism: GaussianCopies,
        radius: f64,
        people: u64,
    ) -> Result<Self, LearnError> {
        let degree = degree_of(layout, mechanism.inner())?;
        let loss = if method == CopiesMethod::Algorithm4 { MarginLoss::Hinge } else { loss };
        let slope = slope_of(loss, degree, radius)?;
        let oracle = match method {
            CopiesMethod::Algorithm4 => SlopeOracle::hinge(layout, degree, BETA, radius)?,
            CopiesMethod::Algorithm5 => {
                SlopeOracle::mixture(layout, degree, BETA, Mixture::of(loss, radius)?)?
            }
            CopiesMethod::Direct => SlopeOracle::direct(layout, degree, loss, radius)?,
        };
        let options = DescentOptions {
            order: 1.0,
            batch: (people / STEPS).max(1),
            noise: gradient_noise(layout, &slope, &mechanism),
            smoothness: smoothness(loss),
            seed: 0,
        };
        let descent = CopiesDescent::new(mechanism, oracle, options)?;
        let risk = PolynomialRisk::new(layout, slope);
        Ok(Self { loss, mechanism, descent, risk, radius, shown: 0, judged: Judged::default() })
    }

    /// The loss that is descended.
    pub fn loss(&self) -> MarginLoss {
        self.loss
    }

    /// Takes one more report, unless its person is to judge.
    pub fn learn(&mut self, report: &Vec<i64>) -> Result<(), LearnError> {
        let judges = is_held_out(self.shown, HELD_OUT);
        self.shown += 1;
        if judges { Ok(()) } else { self.descent.observe(report) }
    }

    /// Has the weights judged by this report, if its person was not learnt from.
    pub fn judge(&mut self, report: &Vec<i64>) {
        let judged = &mut self.judged;
        let judges = is_held_out(judged.shown, HELD_OUT);
        judged.shown += 1;
        if judges {
            let copies = self.mechanism.estimate(report);
            let gain = self.risk.estimate(&copies, self.descent.weights());
            judged.count += 1.0;
            judged.sum += gain;
            judged.squares += gain * gain;
            judged.first += copies[0];
        }
    }

    /// The weights and what the judges say, for covariates that were divided by `scale`, the first of which is constant.
    pub fn finish(self, scale: f64) -> Result<SurveyFit, LearnError> {
        let Judged { count, sum, squares, first, .. } = self.judged;
        if count < 2.0 {
            return Err(LearnError::NoReports);
        }
        let (mean, variance) = (sum / count, (squares - sum * sum / count) / (count - 1.0) / count);
        let response = scale * first / count;
        let noise = scale * scale * self.mechanism.outer_variance() / count;
        let constant = Constant::of_noisy(self.loss, response, noise, scale, self.radius);
        let fitted = self.loss.at(0.0) + mean;
        Ok(SurveyFit::judged(self.descent.weights().to_vec(), &constant, fitted, variance.max(0.0).sqrt()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Worth;
    use super::*;
    use crate::moments::study::Population;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;
    use undertone_privacy::statistic::{Moment, RecordMoments, Response};
    use undertone_privacy::{Mu, Randomizer};

    fn fit(method: CopiesMethod, layout: Layout, inner: usize, mu: f64) -> Result<SurveyFit, LearnError> {
        let records = RecordMoments::new(2, Response::Sign).unwrap();
        let ball = records.ball(Moment::First).unwrap();
        let mechanism = GaussianCopies::gdp(ball, inner, Mu::new(mu).unwrap()).unwrap();
        let sample = Population::new(2, 3).unwrap().sample(8000, 1);
        let mut rng = ChaCha12Rng::seed_from_u64(5);
        let told =
            |(x, y): (&[f64], f64)| mechanism.randomize(&records.of(x, y).unwrap().first, &mut rng).unwrap();
        let reports: Vec<Vec<i64>> = sample.records().map(told).collect();
        let mut fit = CopiesFit::new(method, layout, MarginLoss::Logistic, mechanism, 1.0, 8000)?;
        for report in &reports {
            fit.learn(report)?;
        }
        for report in &reports {
            fit.judge(report);
        }
        fit.finish(1.0)
    }

    #[test]
    fn what_judges_say_is_what_the_sample_has_where_noise_is_little() {
        let sample = Population::new(2, 3).unwrap().sample(8000, 1);
        let fit = fit(CopiesMethod::Direct, Layout::Blossom, 2, 20.0).unwrap();
        assert_eq!(fit.expected.worth, Worth::Fitted);
        let truth = sample.risk(MarginLoss::Logistic, &fit.weights);
        // The polynomial of degree two is within 0.01 of the loss on [-1, 1].
        let reach = 5.0 * fit.expected.standard_error + 0.01;
        assert!((fit.expected.fitted - truth).abs() < reach, "{fit:?} for {truth}");
    }

    #[test]
    fn where_there_is_nothing_to_learn_one_in_ten_at_most_are_said_to_be_worth_it() {
        let records = RecordMoments::new(2, Response::Sign).unwrap();
        let ball = records.ball(Moment::First).unwrap();
        let mechanism = GaussianCopies::gdp(ball, 2, Mu::new(2.0).unwrap()).unwrap();
        let (rounds, people) = (60, 2000);
        let fitted = (0..rounds).filter(|&seed| {
            // Labels of people who were born elsewhere
            let [xs, ys] = [1, 2].map(|part| Population::new(2, 3).unwrap().sample(people, 2 * seed + part));
            let mut rng = ChaCha12Rng::seed_from_u64(seed);
            let reports: Vec<Vec<i64>> = xs
                .records()
                .zip(ys.records())
                .map(|((x, _), (_, y))| {
                    mechanism.randomize(&records.of(x, y).unwrap().first, &mut rng).unwrap()
                })
                .collect();
            let mut fit = CopiesFit::new(
                CopiesMethod::Direct,
                Layout::Blossom,
                MarginLoss::Logistic,
                mechanism,
                1.0,
                people as u64,
            )
            .unwrap();
            for report in &reports {
                fit.learn(report).unwrap();
            }
            for report in &reports {
                fit.judge(report);
            }
            fit.finish(1.0).unwrap().expected.worth == Worth::Fitted
        });
        let (fitted, expected) = (fitted.count() as f64, 0.1 * rounds as f64);
        assert!(fitted < expected + 3.0 * expected.sqrt(), "{fitted} of {rounds}");
    }

    #[test]
    fn every_method_runs_by_its_name_and_says_where_it_drowns() {
        for method in [CopiesMethod::Algorithm4, CopiesMethod::Algorithm5, CopiesMethod::Direct] {
            let good = fit(method, Layout::Printed, 2, 20.0).unwrap();
            assert_eq!(good.expected.worth, Worth::Fitted, "{method:?}: {good:?}");
            let drowned = fit(method, Layout::Printed, 12, 0.05).unwrap();
            assert_ne!(drowned.expected.worth, Worth::Fitted, "{method:?}: {drowned:?}");
        }
        assert!(matches!(
            fit(CopiesMethod::Direct, Layout::Printed, 3, 1.0),
            Err(LearnError::Parameter { value, .. }) if (value - 3.0).abs() < 1e-9
        ));
    }
}
