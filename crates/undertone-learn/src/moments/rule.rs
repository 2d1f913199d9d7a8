//! What to ask and how to solve, before anybody is asked.

use super::closure::{Closure, MarginLoss};
use crate::LearnError;
use undertone_privacy::Epsilon;
use undertone_privacy::statistic::{RecordMoments, Response};
use undertone_privacy::vector::{Ball, Codebook, VectorRandomizer};

/// The closure that measures best: skew-normal margins for the logistic loss, normal ones for the hinge.
///
/// On exact moments of near-elliptical records skew-normal margins are the closer ones for both losses at twenty covariates,
/// but for the hinge they are far more sensitive to the noise of S, at every number of covariates that was tried.
pub fn closure_for(loss: MarginLoss) -> Closure {
    match loss {
        MarginLoss::Logistic => Closure::SkewNormal,
        MarginLoss::Hinge => Closure::Gauss,
        MarginLoss::Squared => Closure::Quadratic,
    }
}

/// ρ, the share of people who tell the second moment, for n people with p covariates.
///
/// The error of S is felt p times over in S⁻¹, and has p² coordinates: what decides is u = n/(p³·B), B the variance of a
/// coordinate. Below u = 5 the second moment is mostly noise, and a multiple of I takes its place.
pub fn share_for(people: u64, covariates: usize, epsilon: Epsilon) -> Result<f64, LearnError> {
    let p = covariates as f64;
    let noise = length_squared(covariates, epsilon)? / p;
    let u = people as f64 / (p.powi(3) * noise);
    Ok(if u < 5.0 {
        0.0
    } else if u < 20.0 {
        0.2
    } else {
        0.4
    })
}

/// 1/m²: how much one report of a first moment scatters.
fn length_squared(covariates: usize, epsilon: Epsilon) -> Result<f64, LearnError> {
    Ok(Codebook::new(Ball::new(covariates, 1.0)?, epsilon)?.variance_at_norm(0.0))
}

/// The largest number of covariates that n people can tell anything about: the noise of the mean, 1/(m²·n), has to be below
/// one, the square of the longest mean that there is. None if even one covariate is too much.
pub fn most_covariates(people: u64, epsilon: Epsilon) -> Result<Option<usize>, LearnError> {
    let fits = |p: usize| Ok::<_, LearnError>(length_squared(p, epsilon)? < people as f64);
    if !fits(1)? {
        return Ok(None);
    }
    let (mut low, mut high) = (1, RecordMoments::MOST_COVARIATES + 1);
    while high - low > 1 {
        let middle = low.midpoint(high);
        if fits(middle)? { low = middle } else { high = middle }
    }
    Ok(Some(low))
}

/// Checks what is to be asked of n people; an error says the largest number of covariates that fits.
pub fn check_size(people: u64, covariates: usize, epsilon: Epsilon) -> Result<(), LearnError> {
    RecordMoments::new(covariates, Response::Sign)?;
    let most = most_covariates(people, epsilon)?.unwrap_or(0);
    if covariates > most {
        return Err(LearnError::TooManyCovariates { covariates, people, most });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epsilon(value: f64) -> Epsilon {
        Epsilon::new(value).unwrap()
    }

    #[test]
    fn the_more_people_the_more_of_them_tell_the_second_moment() {
        // B = 6.2 at p = 20, ε = 1: u = n/49600
        let share = |n| share_for(n, 20, epsilon(1.0)).unwrap();
        assert_eq!([10_000, 300_000, 2_000_000].map(share), [0.0, 0.2, 0.4]);
        assert_eq!(share_for(1_000_000, 2, epsilon(1.0)).unwrap(), 0.4);
    }

    #[test]
    fn what_is_too_large_is_refused_with_what_fits() {
        let most = most_covariates(1000, epsilon(1.0)).unwrap().unwrap();
        // 1/m² is about 6.3·p at ε = 1
        assert!((150..165).contains(&most), "{most}");
        assert!(check_size(1000, most, epsilon(1.0)).is_ok());
        let refused = check_size(1000, most + 1, epsilon(1.0)).unwrap_err();
        assert!(refused.to_string().contains(&most.to_string()), "{refused}");
        assert!(check_size(2, 1, epsilon(0.1)).is_err());
        assert!(check_size(1 << 40, RecordMoments::MOST_COVARIATES + 1, epsilon(1.0)).is_err());
    }
}
