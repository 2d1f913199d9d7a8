//! How much the reports of each public budget count.
//!
//! A report of tier t has the noise variance s_t² in each coordinate and, with a factor a_t on its step, adds a_t²·(v + s_t²) to
//! the variance of the score, v being the part that the records have themselves. With Σ share_t·a_t = 1 that is least at
//!
//! > a_t ∝ 1/(v + s_t²)
//!
//! and then the harmonic instead of the arithmetic mean of v + s_t². That is right only if people choose their tier
//! independently of their score given x.

use crate::LearnError;
use serde::{Deserialize, Serialize};
use undertone_report::SHARES_TOLERANCE;

/// A tier as it is declared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// The share of people in it, known to all beforehand
    pub share: f64,
    /// s², the variance of its noise in each coordinate
    pub noise: f64,
}

/// The factor of each tier.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tiers {
    factors: Vec<f64>,
    /// What people were said to choose, where the factors depend on it
    shares: Option<Vec<f64>>,
}

impl Tiers {
    /// As many tiers as this, whose reports count alike.
    pub fn alike(count: usize) -> Result<Self, LearnError> {
        if count == 0 {
            return Err(LearnError::Parameter {
                what: "the number of tiers",
                value: 0.0,
                expected: "at least one",
            });
        }
        Ok(Self { factors: vec![1.0; count], shares: None })
    }

    /// Each tier by its noise, where `spread` is v, the variance that a coordinate of the gradient has without any.
    pub fn by_budget(spread: f64, budgets: &[Budget]) -> Result<Self, LearnError> {
        let refuse = |what, value, expected| Err(LearnError::Parameter { what, value, expected });
        if !(spread > 0.0 && spread.is_finite()) {
            return refuse("the variance of gradients", spread, "positive and finite");
        }
        for Budget { share, noise } in budgets {
            if !(0.0..=1.0).contains(share) {
                return refuse("the share of a tier", *share, "from 0 to 1");
            }
            if !(*noise >= 0.0 && noise.is_finite()) {
                return refuse("the noise of a tier", *noise, "finite and not negative");
            }
        }
        let total: f64 = budgets.iter().map(|budget| budget.share).sum();
        if (total - 1.0).abs() > SHARES_TOLERANCE {
            return refuse("the sum of the shares of tiers", total, "one");
        }
        let precision = |budget: &Budget| 1.0 / (spread + budget.noise);
        let mean: f64 = budgets.iter().map(|budget| budget.share * precision(budget)).sum();
        let shares = budgets.iter().map(|budget| budget.share).collect();
        Ok(Self {
            factors: budgets.iter().map(|budget| precision(budget) / mean).collect(),
            shares: Some(shares),
        })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.factors.len()
    }

    /// a_t; none if there is no such tier.
    pub fn factor(&self, tier: usize) -> Option<f64> {
        self.factors.get(tier).copied()
    }

    /// The share of people in each tier, where it was declared.
    pub(super) fn shares(&self) -> Option<&[f64]> {
        self.shares.as_deref()
    }

    /// The largest of them.
    pub fn largest(&self) -> f64 {
        self.factors.iter().copied().fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (Σ share·a²·(v + s²), Σ share·(v + s²)): the variance with factors and without, in units of that at μ = 1.
    fn variances(spread: f64, budgets: &[Budget]) -> (f64, f64) {
        let tiers = Tiers::by_budget(spread, budgets).unwrap();
        let mean = |of: &dyn Fn(usize, &Budget) -> f64| -> f64 {
            budgets.iter().enumerate().map(|(t, budget)| budget.share * of(t, budget)).sum()
        };
        assert!((mean(&|t, _| tiers.factor(t).unwrap()) - 1.0).abs() < 1e-12);
        let with = mean(&|t, budget| tiers.factor(t).unwrap().powi(2) * (spread + budget.noise));
        (with, mean(&|_, budget| spread + budget.noise))
    }

    #[test]
    fn half_at_a_half_and_half_at_three_gain_nine_and_a_half_times() {
        let tier = |mu: f64| Budget { share: 0.5, noise: 1.0 / (mu * mu) };
        let (with, without) = variances(1e-9, &[tier(0.5), tier(3.0)]);
        // The harmonic and the arithmetic mean of 4 and 1/9
        assert!((without - 2.055_555).abs() < 1e-5 && (with - 0.216_216).abs() < 1e-5, "{with}, {without}");
    }

    #[test]
    fn factors_never_harm() {
        for spread in [0.01, 1.0, 100.0] {
            let budgets = [(0.2, 0.0), (0.5, 3.0), (0.3, 40.0)].map(|(share, noise)| Budget { share, noise });
            let (with, without) = variances(spread, &budgets);
            assert!(with <= without, "{with} > {without}");
        }
    }

    #[test]
    fn what_is_no_share_is_refused() {
        let tier = |share, noise| Budget { share, noise };
        assert!(Tiers::by_budget(1.0, &[tier(0.5, 1.0), tier(0.6, 1.0)]).is_err());
        // A third as people write it, which a task may hold too
        assert!(Tiers::by_budget(1.0, &[tier(0.333_333, 1.0), tier(0.666_666_5, 1.0)]).is_ok());
        assert!(Tiers::by_budget(1.0, &[tier(1.0, f64::INFINITY)]).is_err());
        assert!(Tiers::by_budget(0.0, &[tier(1.0, 1.0)]).is_err());
        assert!(Tiers::by_budget(1.0, &[]).is_err() && Tiers::alike(0).is_err());
    }
}
