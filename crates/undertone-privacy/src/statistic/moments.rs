//! The first and the second moment of a record (x, y), each in a unit ball.
//!
//! With |x| ≤ 1 and |y| ≤ 1 the first is y·x and the second
//!
//! > svec(xx') = (x_i² for i = j, √2·x_i·x_j for j < i), |svec(xx')|² = Σ_ij x_i²·x_j² = |x|⁴
//!
//! row by row, so that distances are those of matrices and p(p+1)/2 numbers tell them. Generalized linear losses
//! f(y⟨w, x⟩) with labels ±1 need nothing but z = y·x, whose second moment is zz' = xx'; linear regression needs y·x and
//! xx'. Hence both have the same two vectors, and differ in which y they allow.

use crate::PrivacyError;
use crate::vector::{Ball, BallVector};
use alloc::vec::Vec;
use core::f64::consts::SQRT_2;

/// What may stand for y. Anything else makes the record none, which is the centre.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// A label, -1 or 1
    Sign,
    /// A number, clamped to [-1, 1]
    Number,
}

/// Which moment is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Moment {
    /// y·x
    First,
    /// svec(xx')
    Second,
}

/// Records of p covariates and a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordMoments {
    covariates: usize,
    response: Response,
}

/// Both moments of one record, on the grids of their balls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MomentVectors {
    /// y·x
    pub first: BallVector,
    /// svec(xx')
    pub second: BallVector,
}

impl RecordMoments {
    /// The largest p whose second moment fits a ball: p(p+1)/2 ≤ 2^20.
    pub const MOST_COVARIATES: usize = 1447;

    /// Records of `covariates` numbers, from 1 to [`MOST_COVARIATES`](Self::MOST_COVARIATES).
    pub fn new(covariates: usize, response: Response) -> Result<Self, PrivacyError> {
        if !(1..=Self::MOST_COVARIATES).contains(&covariates) {
            return Err(PrivacyError::Dimension {
                dimension: covariates,
                least: 1,
                most: Self::MOST_COVARIATES,
            });
        }
        Ok(Self { covariates, response })
    }

    /// p.
    pub fn covariates(&self) -> usize {
        self.covariates
    }

    /// What may stand for y.
    pub fn response(&self) -> Response {
        self.response
    }

    /// The unit ball of a moment.
    pub fn ball(&self, moment: Moment) -> Result<Ball, PrivacyError> {
        let p = self.covariates;
        Ball::new(
            match moment {
                Moment::First => p,
                Moment::Second => p * (p + 1) / 2,
            },
            1.0,
        )
    }

    /// Both moments of (x, y). An x outside the unit ball is scaled back onto it; only its length, which is public, can be
    /// wrong.
    pub fn of(&self, x: &[f64], y: f64) -> Result<MomentVectors, PrivacyError> {
        let (first, second) = (self.ball(Moment::First)?, self.ball(Moment::Second)?);
        let unit = first.value_of(&first.clamp(x)?);
        let y = match self.response {
            Response::Sign => sign(y),
            Response::Number => y.clamp(-1.0, 1.0),
        };
        // 0·y is zero for a number and none for what is none.
        let one = 1.0 + 0.0 * y;
        let product: Vec<f64> = unit.iter().map(|x| y * x).collect();
        let square: Vec<f64> = unit
            .iter()
            .enumerate()
            .flat_map(|(i, a)| {
                unit[..=i].iter().enumerate().map(move |(j, b)| {
                    let weight = if i == j { 1.0 } else { SQRT_2 };
                    one * weight * a * b
                })
            })
            .collect();
        Ok(MomentVectors { first: first.clamp(&product)?, second: second.clamp(&square)? })
    }
}

/// y if it is -1 or 1, and no number otherwise.
#[expect(clippy::float_cmp, reason = "a label is -1 or 1 exactly, or none")]
fn sign(y: f64) -> f64 {
    if y == 1.0 || y == -1.0 { y } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(response: Response) -> RecordMoments {
        RecordMoments::new(2, response).unwrap()
    }

    /// Both moments as floats.
    fn values(response: Response, x: [f64; 2], y: f64) -> (Vec<f64>, Vec<f64>) {
        let moments = moments(response);
        let vectors = moments.of(&x, y).unwrap();
        let value = |moment, vector| moments.ball(moment).unwrap().value_of(vector);
        (value(Moment::First, &vectors.first), value(Moment::Second, &vectors.second))
    }

    fn close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 3e-6, "{found:?} for {expected:?}");
        }
    }

    #[test]
    fn a_record_becomes_its_product_and_its_square() {
        let (first, second) = values(Response::Sign, [0.6, -0.8], -1.0);
        close(&first, &[-0.6, 0.8]);
        // (x_1², √2·x_2·x_1, x_2²)
        close(&second, &[0.36, -0.48 * SQRT_2, 0.64]);
        let (first, second) = values(Response::Number, [0.3, 0.4], 0.5);
        close(&first, &[0.15, 0.2]);
        close(&second, &[0.09, 0.12 * SQRT_2, 0.16]);
    }

    #[test]
    fn the_second_moment_is_as_long_as_the_square_of_the_first() {
        for x in [[0.6, -0.8], [0.1, 0.2], [1.0, 0.0], [30.0, 40.0]] {
            let vectors = moments(Response::Sign).of(&x, 1.0).unwrap();
            let (first, second) = (vectors.first.relative_norm(), vectors.second.relative_norm());
            assert!((second - first * first).abs() < 1e-5 && first <= 1.0 && second <= 1.0, "{x:?}");
        }
    }

    #[test]
    fn what_is_no_record_is_the_centre_of_both_balls() {
        let none = |response, x: [f64; 2], y| {
            let vectors = moments(response).of(&x, y).unwrap();
            assert_eq!((vectors.first.square(), vectors.second.square()), (0, 0), "{x:?}, {y}");
        };
        for y in [0.0, 2.0, 0.999, f64::NAN, f64::INFINITY] {
            none(Response::Sign, [0.6, 0.8], y);
        }
        none(Response::Number, [0.6, 0.8], f64::NAN);
        none(Response::Sign, [f64::NAN, 0.1], 1.0);
        // A number beyond the end is the end.
        assert_eq!(values(Response::Number, [0.6, 0.8], 7.0), values(Response::Number, [0.6, 0.8], 1.0));
    }

    #[test]
    fn numbers_of_covariates_that_fit_no_ball_are_refused() {
        assert!(RecordMoments::new(RecordMoments::MOST_COVARIATES, Response::Sign).is_ok());
        let most = RecordMoments::MOST_COVARIATES;
        assert!(most * (most + 1) / 2 <= Ball::MOST_DIMENSION);
        assert!((most + 1) * (most + 2) / 2 > Ball::MOST_DIMENSION);
        for p in [0, most + 1] {
            assert!(matches!(
                RecordMoments::new(p, Response::Sign),
                Err(PrivacyError::Dimension { dimension, .. }) if dimension == p
            ));
        }
        let wrong = moments(Response::Sign).of(&[1.0], 1.0);
        assert_eq!(wrong, Err(PrivacyError::WrongLength { length: 1, dimension: 2 }));
    }
}
