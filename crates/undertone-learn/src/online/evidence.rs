//! What intervals are made of, and what tells whether to believe them.

use super::bend::Pull;
use super::intervals::{MOST_ON_BORDER, too_few};
use super::mix::TierMix;
use super::scaling::RandomScaling;
use super::{Doubt, Estimate, Tiers};
use serde::{Deserialize, Serialize};
use undertone_privacy::gradient::RecordModel;

/// What was seen since the burn-in, or since the mix of budgets changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Evidence {
    scaling: RandomScaling,
    mix: TierMix,
    /// Steps that ended on the border of the feasible set
    on_border: u64,
    /// Σa
    factors: f64,
    /// Ση_i·a²·ĝ_j² of each coordinate
    squares: Vec<f64>,
}

impl Evidence {
    pub(super) fn new(parameters: usize, tiers: usize) -> Self {
        Self {
            scaling: RandomScaling::new(parameters),
            mix: TierMix::new(tiers),
            on_border: 0,
            factors: 0.0,
            squares: vec![0.0; parameters],
        }
    }

    /// Takes in an iterate and the report that led to it, with η_i and a. Random scaling compares the beginning of a run with
    /// its end; where the mix of budgets has changed in between, all begins anew, at a report that the reports alone decide.
    pub(super) fn observe(
        &mut self,
        point: &[f64],
        estimate: &Estimate<'_>,
        eta: f64,
        factor: f64,
        on_border: bool,
    ) {
        self.scaling.observe(point);
        self.mix.observe(estimate.tier);
        self.on_border += u64::from(on_border);
        self.factors += factor;
        for (sum, g) in self.squares.iter_mut().zip(estimate.gradient) {
            *sum += eta * (factor * g) * (factor * g);
        }
        if self.mix.is_at_end_of_block() && self.mix.drifted() {
            *self = Self::new(self.squares.len(), self.mix.tiers());
        }
    }

    pub(super) fn scaling(&self) -> &RandomScaling {
        &self.scaling
    }

    /// (AΣ)_jj = ½·η·E\[a²ĝ_j²\] in the mean over iterates.
    pub(super) fn pull(&self, model: &RecordModel) -> Pull {
        let twice = 2.0 * self.scaling.count().max(1) as f64;
        Pull::of(model, &self.squares.iter().map(|sum| sum / twice).collect::<Vec<f64>>())
    }

    /// k·η·a·m, where a is the mean factor of the steps that were made.
    pub(super) fn correlation_times(&self, eta: f64, curvature: f64) -> f64 {
        self.factors * eta * curvature
    }

    /// What speaks against intervals, whatever the curvature.
    pub(super) fn doubts(&self, tiers: &Tiers) -> impl Iterator<Item = Doubt> {
        let iterates = self.scaling.count();
        let share = self.on_border as f64 / iterates.max(1) as f64;
        let border = (share > MOST_ON_BORDER).then_some(Doubt::OnBorder { share });
        let changed = self.mix.drifted().then_some(Doubt::MixChanged);
        let unlike = tiers.shares().filter(|shares| self.mix.is_unlike(shares));
        let unlike = unlike.map(|_| Doubt::MixUnlikeShares);
        [too_few(iterates), border, changed, unlike].into_iter().flatten()
    }

    pub(super) fn is_of(&self, parameters: usize, tiers: usize) -> bool {
        self.scaling.is_of(parameters) && self.mix.is_of(tiers) && self.squares.len() == parameters
    }
}
