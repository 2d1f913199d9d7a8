//! LDP-SGD and LDP-ASGD, one report at a time.

use super::average::Average;
use super::intervals::{LEAST_ITERATES, MOST_ON_BORDER, doubts_of_steps};
use super::mix::TierMix;
use super::{Doubt, Intervals, Level, RandomScaling, Refused, Steps, Tiers};
use crate::LearnError;
use serde::{Deserialize, Serialize};
use undertone_privacy::gradient::RecordModel;

/// What is fixed and public before the first report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OnlineOptions {
    /// η_i
    pub steps: Steps,
    /// n₀: iterates that no mean counts
    pub burn_in: u64,
    /// s: 0 for the mean of Polyak and Ruppert, 3 for one that forgets the start sooner
    pub decay: f64,
    /// How much reports of each budget count
    pub tiers: Tiers,
}

impl OnlineOptions {
    /// The published method: no burn-in, the plain mean, all reports alike.
    pub fn published(steps: Steps) -> Result<Self, LearnError> {
        Ok(Self { steps, burn_in: 0, decay: 0.0, tiers: Tiers::alike(1)? })
    }
}

/// What a report says: an unbiased gradient at a θ that was public, and the budget that paid for it.
#[derive(Clone, Copy, Debug)]
pub struct Estimate<'a> {
    /// ĝ
    pub gradient: &'a [f64],
    /// Which of the tiers
    pub tier: usize,
}

/// A descent after some reports: a function of model, options, start and the reports in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct OnlineSgd {
    model: RecordModel,
    state: State,
}

/// All that a snapshot holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct State {
    options: OnlineOptions,
    /// i
    reports: u64,
    /// θ_i
    point: Vec<f64>,
    average: Average,
    /// What intervals are made of, for 1/2 < α < 1
    evidence: Option<Evidence>,
}

/// What was seen since the burn-in, or since intervals began anew.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Evidence {
    scaling: RandomScaling,
    mix: TierMix,
    /// Steps that ended on the border of the feasible set
    on_border: u64,
}

impl Evidence {
    fn new(parameters: usize, tiers: usize) -> Self {
        Self { scaling: RandomScaling::new(parameters), mix: TierMix::new(tiers), on_border: 0 }
    }
}

impl OnlineSgd {
    /// Before any report, at `start`, which is projected first.
    pub fn new(model: RecordModel, options: OnlineOptions, mut start: Vec<f64>) -> Result<Self, LearnError> {
        let parameters = model.parameters();
        if start.len() != parameters {
            let (what, expected) = ("the length of the start", "that of θ");
            return Err(LearnError::Parameter { what, value: start.len() as f64, expected });
        }
        if let Some(&value) = start.iter().find(|value| !value.is_finite()) {
            return Err(LearnError::Parameter {
                what: "a coordinate of the start",
                value,
                expected: "finite",
            });
        }
        model.project(&mut start);
        let average = Average::new(parameters, options.decay)?;
        let evidence =
            options.steps.allow_intervals().then(|| Evidence::new(parameters, options.tiers.count()));
        Ok(Self { model, state: State { options, reports: 0, point: start, average, evidence } })
    }

    /// Learns from one report.
    pub fn observe(&mut self, estimate: Estimate<'_>) -> Result<(), LearnError> {
        self.observe_batch(&[estimate])
    }

    /// Learns from reports that were all made at the same θ, each of which keeps its own index:
    ///
    /// > θ ← Π(θ - Σ_j η_{i_j}·ĝ_j)
    ///
    /// and the mean counts the new θ once for each. That is what reports up to b - 1 versions behind would have done. A mean
    /// gradient with one step for each batch would make fewer steps of the same length and forget the start later.
    ///
    /// A report that is refused is refused with its whole batch, and nothing changes.
    pub fn observe_batch(&mut self, estimates: &[Estimate<'_>]) -> Result<(), LearnError> {
        estimates.iter().try_for_each(|estimate| self.check(estimate))?;
        let State { options, reports, point, average, evidence } = &mut self.state;
        let first = *reports;
        for (i, Estimate { gradient, tier }) in (first + 1..).zip(estimates) {
            // Every tier was looked up by `check`.
            let step = options.steps.at(i) * options.tiers.factor(*tier).unwrap_or(1.0);
            for (value, g) in point.iter_mut().zip(*gradient) {
                *value -= step * g;
            }
        }
        let on_border = self.model.check_point(point).is_err();
        if on_border {
            self.model.project(point);
        }
        for Estimate { tier, .. } in estimates {
            *reports += 1;
            if *reports <= options.burn_in {
                continue;
            }
            average.observe(point);
            if let Some(evidence) = evidence {
                evidence.scaling.observe(point);
                evidence.mix.observe(*tier);
                evidence.on_border += u64::from(on_border);
            }
        }
        Ok(())
    }

    fn check(&self, estimate: &Estimate<'_>) -> Result<(), LearnError> {
        let (length, dimension) = (estimate.gradient.len(), self.state.point.len());
        if length != dimension {
            let (what, expected) = ("the length of a gradient", "that of θ");
            return Err(LearnError::Parameter { what, value: length as f64, expected });
        }
        if let Some(&value) = estimate.gradient.iter().find(|value| !value.is_finite()) {
            return Err(LearnError::Parameter {
                what: "a coordinate of a gradient",
                value,
                expected: "finite",
            });
        }
        if self.state.options.tiers.factor(estimate.tier).is_none() {
            let (value, expected) = (estimate.tier as f64, "one of those that were declared");
            return Err(LearnError::Parameter { what: "the tier of a report", value, expected });
        }
        Ok(())
    }

    /// θ_i: LDP-SGD, and what the next person is asked about.
    pub fn point(&self) -> &[f64] {
        &self.state.point
    }

    /// θ̄: LDP-ASGD; none before the end of the burn-in.
    pub fn mean(&self) -> Option<&[f64]> {
        self.state.average.mean()
    }

    /// i.
    pub fn reports(&self) -> u64 {
        self.state.reports
    }

    /// The options it was made with.
    pub fn options(&self) -> &OnlineOptions {
        &self.state.options
    }

    /// How many versions behind the next report may be, where `curvature` bounds the Hessian
    /// ([`largest_curvature`](super::largest_curvature)).
    pub fn most_stale(&self, curvature: f64) -> u64 {
        let OnlineOptions { steps, tiers, .. } = &self.state.options;
        steps.most_stale(self.state.reports + 1, curvature * tiers.largest())
    }

    /// An interval for each coordinate, around the mean of the iterates since the burn-in or since
    /// [`restart_intervals`](Self::restart_intervals). `curvature` is m, the least eigenvalue of the Hessian, as a plan has it.
    pub fn intervals(&self, level: Level, curvature: Option<f64>) -> Result<Intervals, Refused> {
        let coordinates = || self.scaling().map_or(Vec::new(), |scaling| scaling.coordinates(level));
        Intervals::unless(self.doubts(curvature), level, coordinates)
    }

    /// What intervals are made of, for linear functions of θ; none unless 1/2 < α < 1. It knows nothing of
    /// [`doubts`](Self::doubts).
    pub fn scaling(&self) -> Option<&RandomScaling> {
        self.state.evidence.as_ref().map(|evidence| &evidence.scaling)
    }

    /// What speaks against intervals.
    pub fn doubts(&self, curvature: Option<f64>) -> Vec<Doubt> {
        let steps = self.state.options.steps;
        let Some(Evidence { scaling, mix, on_border }) = &self.state.evidence else {
            return vec![Doubt::Exponent { alpha: steps.alpha() }];
        };
        let (mut doubts, iterates) = (Vec::new(), scaling.count());
        if iterates < LEAST_ITERATES {
            doubts.push(Doubt::TooFew { iterates });
        }
        let share = *on_border as f64 / iterates.max(1) as f64;
        if share > MOST_ON_BORDER {
            doubts.push(Doubt::OnBorder { share });
        }
        if mix.drifted() {
            doubts.push(Doubt::MixChanged);
        }
        match curvature {
            Some(m) => doubts.extend(doubts_of_steps(&steps, self.state.reports, iterates, m)),
            None => doubts.push(Doubt::CurvatureUnknown),
        }
        doubts
    }

    /// Begins the intervals anew, as has to be done where the mix of budgets changes. θ and its mean go on.
    pub fn restart_intervals(&mut self) {
        let (parameters, tiers) = (self.state.point.len(), self.state.options.tiers.count());
        if let Some(evidence) = &mut self.state.evidence {
            *evidence = Evidence::new(parameters, tiers);
        }
    }

    /// The state, to be given to [`restore`](Self::restore).
    pub fn snapshot(&self) -> Result<Vec<u8>, LearnError> {
        postcard::to_stdvec(&self.state).map_err(|error| LearnError::Source(Box::new(error)))
    }

    /// The state that a snapshot of the same model and options holds, to the last bit.
    pub fn restore(model: RecordModel, options: &OnlineOptions, snapshot: &[u8]) -> Result<Self, LearnError> {
        let state: State =
            postcard::from_bytes(snapshot).map_err(|error| LearnError::Source(Box::new(error)))?;
        let (parameters, tiers) = (model.parameters(), options.tiers.count());
        let whole = |evidence: &Evidence| evidence.scaling.is_of(parameters) && evidence.mix.is_of(tiers);
        let same = state.options == *options
            && model.check_point(&state.point).is_ok()
            && state.average.is_of(parameters)
            && state.evidence.is_some() == options.steps.allow_intervals()
            && state.evidence.as_ref().is_none_or(whole);
        if same { Ok(Self { model, state }) } else { Err(LearnError::Snapshot) }
    }
}
