//! How many hold each label, from reports alone, with the error that randomizing leaves.
//!
//! The mean of a_k over the reports is unbiased for the share of label k **among the people who reported**, as in
//! a census: nothing is said about anybody who was not asked. Its variance comes from the devices' coins alone,
//!
//! > Var = (1/n²)·Σ_i Var(a_k | y_i) = (π_k·A + (1 - π_k)·v)/n
//!
//! with π_k the share itself and A, v the mechanism's exact variances at the true and at another label. Only π_k has
//! to be estimated, by the estimate that is at hand.

use serde::{Deserialize, Serialize};
use undertone_privacy::label::{Covariance, Decoder, LabelRandomizer, ReportColumn};

/// The 97.5 % point of the normal distribution.
const TWO_SIDED_95: f64 = 1.959_963_984_540_054;

/// How many reports name each label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelCounts {
    seen: Vec<u64>,
    reports: u64,
}

impl LabelCounts {
    /// Before any report about so many labels.
    pub fn new(labels: u32) -> Self {
        Self { seen: vec![0; labels as usize], reports: 0 }
    }

    /// Takes in a report that names these labels.
    pub fn observe(&mut self, members: &[u32]) {
        for &member in members {
            self.seen[member as usize] += 1;
        }
        self.reports += 1;
    }

    /// K.
    pub fn labels(&self) -> usize {
        self.seen.len()
    }

    /// How many have reported.
    pub fn reports(&self) -> u64 {
        self.reports
    }

    /// The share of reports that name each label.
    pub fn noisy(&self) -> impl Iterator<Item = f64> {
        self.seen.iter().map(|&seen| seen as f64 / self.reports as f64)
    }
}

/// Counts reports of one mechanism that treats all labels alike.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelShares {
    decoder: Decoder,
    covariance: Covariance,
    counts: LabelCounts,
}

/// An estimated share and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Unbiased, hence at times below zero
    pub estimate: f64,
    /// That of the devices' coins
    pub standard_error: f64,
}

impl LabelShares {
    /// Before any report of `mechanism`.
    pub fn new(mechanism: &impl LabelRandomizer) -> Self {
        Self::of(mechanism, LabelCounts::new(mechanism.labels()))
    }

    /// After reports of `mechanism` that were counted.
    pub fn of(mechanism: &impl LabelRandomizer, counts: LabelCounts) -> Self {
        Self { decoder: mechanism.decoder(), covariance: mechanism.covariance(), counts }
    }

    /// Takes in a column of reports.
    pub fn observe(&mut self, column: &ReportColumn) {
        column.iter().for_each(|members| self.counts.observe(members));
    }

    /// How many have reported.
    pub fn reports(&self) -> u64 {
        self.counts.reports
    }

    /// The share of each label among those who have reported.
    pub fn shares(&self) -> Vec<Share> {
        let n = self.counts.reports as f64;
        let Decoder { in_value, out_value } = self.decoder;
        let Covariance { own, other, .. } = self.covariance;
        let share = |rate: f64| {
            let estimate = rate * in_value + (1.0 - rate) * out_value;
            let pi = estimate.clamp(0.0, 1.0);
            Share { estimate, standard_error: ((pi * own + (1.0 - pi) * other) / n).sqrt() }
        };
        self.counts.noisy().map(share).collect()
    }
}

impl Share {
    /// Half the width of the 95 % interval.
    pub fn margin(&self) -> f64 {
        TWO_SIDED_95 * self.standard_error
    }

    /// The 95 % interval, by the normal approximation.
    pub fn interval(&self) -> (f64, f64) {
        (self.estimate - self.margin(), self.estimate + self.margin())
    }

    /// Whether the interval contains `truth`.
    pub fn covers(&self, truth: f64) -> bool {
        (self.estimate - truth).abs() <= self.margin()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;
    use undertone_privacy::Epsilon;
    use undertone_privacy::label::{Label, LabelKind};

    #[test]
    fn two_labels_at_e_to_the_epsilon_three_count_as_worked_out_by_hand() {
        // p = 3/4, q = 1/4, so a = 3/2 in and -1/2 out; A = v = (3/16)/(1/4) = 3/4
        let mechanism = LabelKind::Rr.mechanism(2, Epsilon::new(3f64.ln()).unwrap()).unwrap();
        let mut learner = LabelShares::new(&mechanism);
        learner.counts = LabelCounts { seen: vec![60, 40], reports: 100 };
        let shares = learner.shares();
        assert!((shares[0].estimate - 0.7).abs() < 1e-9 && (shares[1].estimate - 0.3).abs() < 1e-9);
        assert!((shares[0].standard_error - 0.0075f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn ninety_five_percent_of_the_intervals_cover_for_every_symmetric_mechanism() {
        let truth = [0.5, 0.3, 0.15, 0.05];
        let labels: Vec<Label> = [0, 1, 2, 3]
            .iter()
            .flat_map(|&k| vec![Label(k); (2000.0 * truth[k as usize]) as usize])
            .collect();
        let mut rng = ChaCha20Rng::seed_from_u64(20);
        for kind in LabelKind::ALL.into_iter().filter(|kind| kind.is_symmetric()) {
            let mechanism = kind.mechanism(4, Epsilon::new(1.0).unwrap()).unwrap();
            let (mut column, mut covered) = (ReportColumn::new(), 0);
            for _ in 0..500 {
                column.clear();
                mechanism.randomize_column(&labels, &mut column, &mut rng).unwrap();
                let mut learner = LabelShares::new(&mechanism);
                learner.observe(&column);
                covered += learner.shares().iter().zip(truth).filter(|(s, t)| s.covers(*t)).count();
            }
            // 2000 intervals: 1900 expected; 5σ is 49, twice as much leaves room for their dependence
            assert!((1802..=1998).contains(&covered), "{kind:?}: {covered} of 2000");
        }
    }
}
