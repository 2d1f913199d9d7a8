//! What people's budgets do to the noise of a descent: the mean of 1/μ².

use crate::LearnError;
use undertone_privacy::Mu;

/// E\[1/μ²\] over all people; zero without privacy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budgets {
    inverse_square: f64,
}

impl Budgets {
    /// No noise at all: μ = ∞.
    pub const NO_PRIVACY: Self = Self { inverse_square: 0.0 };

    /// The same for all.
    pub fn alike(mu: Mu) -> Self {
        Self { inverse_square: mu.get().powi(-2) }
    }

    /// Uniform between two: E\[1/μ²\] = 1/(low·high).
    pub fn uniform(low: Mu, high: Mu) -> Self {
        Self { inverse_square: 1.0 / (low.get() * high.get()) }
    }

    /// A share of all people for each μ.
    pub fn tiers(tiers: &[(f64, Mu)]) -> Result<Self, LearnError> {
        let total: f64 = tiers.iter().map(|(share, _)| share).sum();
        if let Some((value, _)) = tiers.iter().find(|(share, _)| !(0.0..=1.0).contains(share)) {
            let (what, expected) = ("the share of a tier", "from 0 to 1");
            return Err(LearnError::Parameter { what, value: *value, expected });
        }
        if (total - 1.0).abs() > 1e-9 {
            let (what, expected) = ("the sum of the shares of tiers", "one");
            return Err(LearnError::Parameter { what, value: total, expected });
        }
        Ok(Self { inverse_square: tiers.iter().map(|(share, mu)| share * mu.get().powi(-2)).sum() })
    }

    /// E\[1/μ²\].
    pub fn mean_inverse_square(&self) -> f64 {
        self.inverse_square
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mu(value: f64) -> Mu {
        Mu::new(value).unwrap()
    }

    #[test]
    fn budgets_between_one_and_two_count_like_the_root_of_two() {
        let (uniform, alike) = (Budgets::uniform(mu(1.0), mu(2.0)), Budgets::alike(mu(2f64.sqrt())));
        assert!((uniform.mean_inverse_square() - 0.5).abs() < 1e-15);
        assert!((alike.mean_inverse_square() - 0.5).abs() < 1e-15);
        let tiers = Budgets::tiers(&[(0.5, mu(0.5)), (0.5, mu(3.0))]).unwrap();
        assert!((tiers.mean_inverse_square() - 37.0 / 18.0).abs() < 1e-12);
        assert!(Budgets::tiers(&[(0.5, mu(1.0))]).is_err());
        assert!(Budgets::tiers(&[(1.5, mu(1.0)), (-0.5, mu(1.0))]).is_err());
    }
}
