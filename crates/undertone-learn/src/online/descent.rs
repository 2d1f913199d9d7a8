//! LDP-SGD and LDP-ASGD, one report at a time.

use super::average::Average;
use super::bend;
use super::evidence::Evidence;
use super::intervals::{biased, doubts_of_steps};
use super::{Doubt, Intervals, Level, Refused, Steps, Tiers};
use crate::LearnError;
use serde::{Deserialize, Serialize};
use undertone_privacy::gradient::{RecordModel, Weight};

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
    /// Ση_i·a, the way that was really gone
    travelled: f64,
    average: Average,
    /// What intervals are made of, for 1/2 < α < 1
    evidence: Option<Evidence>,
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
        Ok(Self {
            model,
            state: State { options, reports: 0, point: start, travelled: 0.0, average, evidence },
        })
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
        let (moved, on_border) = self.step(estimates)?;
        let State { options, reports, point, travelled, average, evidence } = &mut self.state;
        *point = moved;
        for estimate in estimates {
            *reports += 1;
            // Every tier was looked up by `check`.
            let (eta, factor) =
                (options.steps.at(*reports), options.tiers.factor(estimate.tier).unwrap_or(1.0));
            *travelled += eta * factor;
            if *reports <= options.burn_in {
                continue;
            }
            average.observe(point);
            if let Some(evidence) = evidence {
                evidence.observe(point, estimate, eta, factor, on_border);
            }
        }
        Ok(())
    }

    /// Π(θ - Σ_j η_{i_j}·ĝ_j), and whether the projection moved it. Gradients that overflow into opposite directions leave no
    /// number behind, and are refused.
    fn step(&self, estimates: &[Estimate<'_>]) -> Result<(Vec<f64>, bool), LearnError> {
        let State { options, reports, point, .. } = &self.state;
        let mut moved = point.clone();
        for (i, Estimate { gradient, tier }) in (reports + 1..).zip(estimates) {
            let step = options.steps.at(i) * options.tiers.factor(*tier).unwrap_or(1.0);
            for (value, g) in moved.iter_mut().zip(*gradient) {
                *value -= step * g;
            }
        }
        let on_border = self.model.check_point(&moved).is_err();
        if on_border {
            self.model.project(&mut moved);
            self.model.check_point(&moved)?;
        }
        Ok((moved, on_border))
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

    /// An interval for each coordinate, around the mean of the iterates since the burn-in, or since the mix of budgets changed.
    /// `curvature` is m, the least eigenvalue of the Hessian, as a plan has it.
    pub fn intervals(&self, level: Level, curvature: Option<f64>) -> Result<Intervals, Refused> {
        let evidence = self.state.evidence.as_ref();
        let coordinates = || evidence.map_or(Vec::new(), |evidence| evidence.scaling().coordinates(level));
        Intervals::unless(self.doubts(curvature), level, coordinates)
    }

    /// The interval of l'θ, under the same conditions: the only one of [`Intervals::coordinates`].
    pub fn functional(
        &self,
        l: &[f64],
        level: Level,
        curvature: Option<f64>,
    ) -> Result<Intervals, LearnError> {
        let mut doubts = self.doubts_but_bias(curvature);
        let Some(evidence) = &self.state.evidence else { return Err(Refused { doubts }.into()) };
        let interval = evidence.scaling().functional(l, level)?;
        if let Some(bias) = self.bias(curvature) {
            let along = bias.iter().zip(l).map(|(bias, l)| bias * l).sum();
            doubts.extend(biased(bend::share(along, &interval)));
        }
        Ok(Intervals::unless(doubts, level, || vec![interval])?)
    }

    /// The intervals whatever speaks against them.
    #[cfg(test)]
    pub(crate) fn undoubted(&self, level: Level) -> Vec<super::Interval> {
        self.state.evidence.as_ref().map_or(Vec::new(), |evidence| evidence.scaling().coordinates(level))
    }

    /// How many iterates intervals are made of; none unless 1/2 < α < 1.
    pub fn interval_iterates(&self) -> Option<u64> {
        self.state.evidence.as_ref().map(|evidence| evidence.scaling().count())
    }

    /// What speaks against intervals.
    pub fn doubts(&self, curvature: Option<f64>) -> Vec<Doubt> {
        let mut doubts = self.doubts_but_bias(curvature);
        if let (Some(evidence), Some(bias)) = (&self.state.evidence, self.bias(curvature)) {
            let intervals = evidence.scaling().coordinates(Level::NINETY_FIVE);
            doubts.extend(biased(bend::largest_share(&bias, &intervals)));
        }
        doubts
    }

    fn doubts_but_bias(&self, curvature: Option<f64>) -> Vec<Doubt> {
        let OnlineOptions { steps, tiers, .. } = &self.state.options;
        let clipped = (self.model.weighting().weight == Weight::Clip).then_some(Doubt::Clipped);
        let mut doubts: Vec<Doubt> = clipped.into_iter().collect();
        let Some(evidence) = &self.state.evidence else {
            doubts.push(Doubt::Exponent { alpha: steps.alpha() });
            return doubts;
        };
        doubts.extend(evidence.doubts(tiers));
        match curvature {
            Some(m) => {
                let times = evidence.correlation_times(steps.at(self.state.reports.max(1)), m);
                doubts.extend(doubts_of_steps(m * self.state.travelled, times));
            }
            None => doubts.push(Doubt::CurvatureUnknown),
        }
        doubts
    }

    /// b of the mean of iterates, about; none if there are none, or m is not known, or the gradient is that of no loss.
    fn bias(&self, curvature: Option<f64>) -> Option<Vec<f64>> {
        let evidence = self.state.evidence.as_ref().filter(|evidence| evidence.scaling().count() > 0)?;
        let m = curvature.filter(|_| self.model.weighting().weight != Weight::Clip)?;
        Some(bend::bias(&self.model, evidence.scaling().mean(), evidence.pull(&self.model), m))
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
        let same = state.options == *options
            && model.check_point(&state.point).is_ok()
            && state.average.is_of(parameters)
            && state.evidence.is_some() == options.steps.allow_intervals()
            && state.evidence.as_ref().is_none_or(|evidence| evidence.is_of(parameters, tiers));
        if same { Ok(Self { model, state }) } else { Err(LearnError::Snapshot) }
    }
}
