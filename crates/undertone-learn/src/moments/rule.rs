//! What to ask and how to solve, before anybody is asked.

use super::closure::{Closure, MarginLoss};
use super::estimate::Moments;
use crate::LearnError;
use undertone_privacy::Epsilon;
use undertone_privacy::statistic::{RecordMoments, Response};
use undertone_privacy::vector::{Ball, Codebook, VectorRandomizer};

/// The closure that measures best: normal margins, but skew-normal ones for the logistic loss of many covariates whose
/// second moment is known well.
///
/// On near-elliptical records the margins of few covariates are closer to normal than to skew-normal ones, and for the hinge
/// skew-normal margins cost up to five times as much at every number of covariates that was tried. From ten covariates on the
/// logistic loss gains by them as soon as p³·v is below 1/25, v the variance of a coordinate of the second moment.
pub fn closure_for(loss: MarginLoss, moments: &Moments) -> Closure {
    let p = moments.covariates();
    let known = moments.second().is_some() && (p as f64).powi(3) * moments.second_variance() < 0.04;
    match loss {
        MarginLoss::Squared => Closure::Quadratic,
        MarginLoss::Logistic if known && p >= 8 => Closure::SkewNormal,
        MarginLoss::Logistic | MarginLoss::Hinge => Closure::Gauss,
    }
}

/// ρ, the share of people who tell the second moment, for n people with p covariates and weights in a ball of radius R.
///
/// The error of S is felt p times over in S⁻¹, and has p² coordinates: what decides is u = n/(p³·B), B the variance of a
/// coordinate. Where it is small the second moment is mostly noise, and is drawn to a multiple of I. Records have
/// coordinates of about 1/√p, so that margins are about R/√p in size: where they do not reach the bend of a loss, at 1/2 for
/// the hinge and beyond 1 for the logistic loss, the first moment is nearly all that counts.
///
/// Somebody is always asked, for records need not be near a multiple of I: with a constant covariate, or with covariates that
/// go together, margins spread several times as far as I/p has it, and weights that rest on it are far too sure of themselves. Along
/// the direction of the answer the spread is one number, which few people tell well enough however many covariates there are.
pub fn share_for(
    loss: MarginLoss,
    radius: f64,
    people: u64,
    covariates: usize,
    epsilon: Epsilon,
) -> Result<f64, LearnError> {
    let p = covariates as f64;
    let noise = length_squared(covariates, epsilon)? / p;
    let u = people as f64 / (p.powi(3) * noise);
    let straight = match loss {
        MarginLoss::Logistic => radius <= p.sqrt(),
        MarginLoss::Hinge => radius <= p.sqrt() / 3.0,
        MarginLoss::Squared => false,
    };
    Ok(match (straight, u) {
        (true, ..20.0) => 0.1,
        (true, _) => 0.2,
        (false, ..15.0) => 0.3,
        (false, _) => 0.5,
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
        // B = 6.2 at p = 20, ε = 1: u = n/49600; in tenths
        let share = |loss, radius| {
            move |n| (10.0 * share_for(loss, radius, n, 20, epsilon(1.0)).unwrap()).round() as u32
        };
        let people = [10_000, 800_000, 2_000_000];
        assert_eq!(people.map(share(MarginLoss::Logistic, 18.0)), [3, 5, 5]);
        assert_eq!(people.map(share(MarginLoss::Logistic, 1.0)), [1, 1, 2]);
        // At R = 2 margins of 0.4 are near the bend of the hinge.
        assert_eq!(people.map(share(MarginLoss::Hinge, 1.0)), [1, 1, 2]);
        assert_eq!(people.map(share(MarginLoss::Hinge, 2.0)), [3, 5, 5]);
        assert_eq!(people.map(share(MarginLoss::Squared, 1.0)), [3, 5, 5]);
    }

    #[test]
    fn margins_are_skew_where_there_are_many_covariates_and_their_second_moment_is_known() {
        let moments = |p: usize, variance| {
            Moments::new(vec![0.0; p], 0.0, Some((vec![0.0; p * (p + 1) / 2], variance))).unwrap()
        };
        let logistic = |moments: &Moments| closure_for(MarginLoss::Logistic, moments);
        assert_eq!(logistic(&moments(10, 3e-5)), Closure::SkewNormal);
        assert_eq!(logistic(&moments(10, 5e-5)), Closure::Gauss);
        assert_eq!(logistic(&moments(5, 0.0)), Closure::Gauss);
        assert_eq!(logistic(&Moments::new(vec![0.0; 10], 0.0, None).unwrap()), Closure::Gauss);
        assert_eq!(closure_for(MarginLoss::Hinge, &moments(20, 0.0)), Closure::Gauss);
        assert_eq!(closure_for(MarginLoss::Squared, &moments(20, 0.0)), Closure::Quadratic);
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
