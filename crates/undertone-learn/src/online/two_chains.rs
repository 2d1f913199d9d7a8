//! Two descents on alternating reports, one with η and one with η/2: is the mean of iterates biased?
//!
//! Where the loss is curved, iterates that spread around the optimum have a mean beside it, by about η times a constant. No
//! interval shows it, since it is not random. Half of the step has half of the bias, so that
//!
//! > θ̄(η) - θ̄(η/2) ≈ half of the bias of θ̄(η),   2·θ̄(η/2) - θ̄(η) has none to first order (Richardson)
//!
//! A difference beyond its half width is a flag. The chains share no report, hence are independent.

use super::{Estimate, Interval, Intervals, Level, OnlineOptions, OnlineSgd, Refused};
use crate::LearnError;
use serde::Serialize;
use undertone_privacy::gradient::RecordModel;

/// The two descents.
#[derive(Clone, Debug, PartialEq)]
pub struct TwoChains {
    whole: OnlineSgd,
    half: OnlineSgd,
}

/// One coordinate, seen by both.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// θ̄(η) - θ̄(η/2), with the half width of a difference of independent intervals
    pub difference: Interval,
    /// 2·θ̄(η/2) - θ̄(η)
    pub corrected: Interval,
}

impl Comparison {
    /// Whether the difference is more than chance explains.
    pub fn is_biased(&self) -> bool {
        !self.difference.covers(0.0)
    }

    fn of(whole: &Interval, half: &Interval) -> Self {
        let with = |estimate, a: f64, b: f64| Interval { estimate, half_width: a.hypot(b) };
        Self {
            difference: with(whole.estimate - half.estimate, whole.half_width, half.half_width),
            corrected: with(2.0 * half.estimate - whole.estimate, whole.half_width, 2.0 * half.half_width),
        }
    }
}

impl TwoChains {
    /// Before any report, both at `start`, with the η of `options` and half of it.
    pub fn new(model: RecordModel, options: OnlineOptions, start: Vec<f64>) -> Result<Self, LearnError> {
        options.steps.check_intervals()?;
        let halved = OnlineOptions { steps: options.steps.halved(), ..options.clone() };
        let whole = OnlineSgd::new(model, options, start.clone())?;
        Ok(Self { whole, half: OnlineSgd::new(model, halved, start)? })
    }

    /// The θ that the next person is asked about.
    pub fn point(&self) -> &[f64] {
        if self.is_whole_next() { self.whole.point() } else { self.half.point() }
    }

    fn is_whole_next(&self) -> bool {
        self.reports().is_multiple_of(2)
    }

    /// i of both together: the version of [`point`](Self::point).
    pub fn reports(&self) -> u64 {
        self.whole.reports() + self.half.reports()
    }

    /// Learns from a report on [`point`](Self::point).
    pub fn observe(&mut self, estimate: Estimate<'_>) -> Result<(), LearnError> {
        self.observe_at(self.reports(), estimate)
    }

    /// Learns from a report on the point of an earlier version, which belongs to the chain whose point it was: those of even
    /// versions are of the first.
    pub fn observe_at(&mut self, version: u64, estimate: Estimate<'_>) -> Result<(), LearnError> {
        if version.is_multiple_of(2) { self.whole.observe(estimate) } else { self.half.observe(estimate) }
    }

    /// The descent with η.
    pub fn whole(&self) -> &OnlineSgd {
        &self.whole
    }

    /// The descent with η/2.
    pub fn half(&self) -> &OnlineSgd {
        &self.half
    }

    /// Each coordinate, unless one of the chains has no intervals. `curvature` is m, as for [`OnlineSgd::intervals`].
    pub fn compare(&self, level: Level, curvature: Option<f64>) -> Result<Vec<Comparison>, Refused> {
        let Intervals { coordinates: whole, .. } = self.whole.intervals(level, curvature)?;
        let Intervals { coordinates: half, .. } = self.half.intervals(level, curvature)?;
        Ok(whole.iter().zip(&half).map(|(whole, half)| Comparison::of(whole, half)).collect())
    }

    /// The state, to be given to [`restore`](Self::restore).
    pub fn snapshot(&self) -> Result<Vec<u8>, LearnError> {
        let both = (self.whole.snapshot()?, self.half.snapshot()?);
        postcard::to_stdvec(&both).map_err(|error| LearnError::Source(Box::new(error)))
    }

    /// The state that a snapshot of the same model and options holds, to the last bit.
    pub fn restore(model: RecordModel, options: &OnlineOptions, snapshot: &[u8]) -> Result<Self, LearnError> {
        let (whole, half): (Vec<u8>, Vec<u8>) =
            postcard::from_bytes(snapshot).map_err(|error| LearnError::Source(Box::new(error)))?;
        let halved = OnlineOptions { steps: options.steps.halved(), ..options.clone() };
        let whole = OnlineSgd::restore(model, options, &whole)?;
        Ok(Self { whole, half: OnlineSgd::restore(model, &halved, &half)? })
    }
}
