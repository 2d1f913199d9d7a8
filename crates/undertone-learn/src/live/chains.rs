//! One descent, or two that share the reports.

use crate::LearnError;
use crate::online::{Estimate, OnlineOptions, OnlineSgd, TwoChains};
use undertone_privacy::gradient::RecordModel;

/// What the reports of a task move.
#[derive(Clone, Debug)]
pub(super) enum Chains {
    One(Box<OnlineSgd>),
    Two(Box<TwoChains>),
}

impl Chains {
    pub(super) fn new(model: RecordModel, options: OnlineOptions, two: bool) -> Result<Self, LearnError> {
        let start = model.start();
        Ok(if two {
            Self::Two(Box::new(TwoChains::new(model, options, start)?))
        } else {
            Self::One(Box::new(OnlineSgd::new(model, options, start)?))
        })
    }

    /// The descent with η, of which the estimate tells.
    pub(super) fn first(&self) -> &OnlineSgd {
        match self {
            Self::One(descent) => descent,
            Self::Two(chains) => chains.whole(),
        }
    }

    fn all(&self) -> impl Iterator<Item = &OnlineSgd> {
        let second = match self {
            Self::One(_) => None,
            Self::Two(chains) => Some(chains.half()),
        };
        std::iter::once(self.first()).chain(second)
    }

    pub(super) fn reports(&self) -> u64 {
        self.all().map(OnlineSgd::reports).sum()
    }

    /// Where the next gradient is to be taken.
    pub(super) fn point(&self) -> &[f64] {
        match self {
            Self::One(descent) => descent.point(),
            Self::Two(chains) => chains.point(),
        }
    }

    /// Learns from a gradient at the point of this version.
    pub(super) fn observe(&mut self, version: u64, estimate: Estimate<'_>) -> Result<(), LearnError> {
        match self {
            Self::One(descent) => descent.observe(estimate),
            Self::Two(chains) => chains.observe_at(version, estimate),
        }
    }

    /// The longest step that the next report can make, before the factor of its tier.
    pub(super) fn next_step(&self) -> f64 {
        self.all().map(|descent| descent.options().steps.at(descent.reports() + 1)).fold(0.0, f64::max)
    }

    pub(super) fn snapshot(&self) -> Result<Vec<u8>, LearnError> {
        match self {
            Self::One(descent) => descent.snapshot(),
            Self::Two(chains) => chains.snapshot(),
        }
    }

    /// What a snapshot of the same kind holds.
    pub(super) fn restored(&self, model: RecordModel, snapshot: &[u8]) -> Result<Self, LearnError> {
        let options = self.first().options();
        Ok(match self {
            Self::One(_) => Self::One(Box::new(OnlineSgd::restore(model, options, snapshot)?)),
            Self::Two(_) => Self::Two(Box::new(TwoChains::restore(model, options, snapshot)?)),
        })
    }
}
