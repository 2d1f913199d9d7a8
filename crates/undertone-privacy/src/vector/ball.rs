//! What a vector is before it is randomized: integers inside a sphere, whatever the floats did.
//!
//! A gradient computed with floating-point numbers may exceed its proved bound by a rounding, and a sensitivity
//! that holds "up to rounding" does not hold. So a vector of the ball of radius r becomes integers k on a public
//! grid of [`STEPS`] steps to the radius, and a clamp in integer arithmetic makes sure that
//!
//! > k_1² + … + k_p² ≤ STEPS²
//!
//! Two such vectors are at most 2·STEPS apart in l2, exactly. Every mechanism of this module works in these units;
//! the radius enters only what decodes a report. In l1 they are at most ⌈2·STEPS·√p⌉ apart, unless vectors are known to keep
//! away from the corners ([`Ball::within_l1`]); then a second clamp makes sure that they do.

use crate::PrivacyError;
use alloc::vec;
use alloc::vec::Vec;

/// Grid steps to the radius.
pub const STEPS: u32 = 1 << 20;

/// The public ball that vectors come from: its dimension and radius. A centre other than zero is subtracted by the
/// caller beforehand and added to the estimate afterwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    dimension: usize,
    radius: f64,
    /// Δ₁, the largest l1 distance of two vectors in steps, below 2^32
    l1_diameter: u64,
}

impl Ball {
    /// The largest dimension: coordinate-wise Laplace noise then still fits its exact arithmetic at ε = 10^-6.
    pub const MOST_DIMENSION: usize = 1 << 20;

    /// A ball of this radius, positive and finite, in 1 to 2^20 dimensions.
    pub fn new(dimension: usize, radius: f64) -> Result<Self, PrivacyError> {
        if !(1..=Self::MOST_DIMENSION).contains(&dimension) {
            return Err(PrivacyError::Dimension { dimension, least: 1, most: Self::MOST_DIMENSION });
        }
        if !(1e-100..=1e100).contains(&radius) {
            return Err(PrivacyError::Radius { value: radius });
        }
        // ⌈2·STEPS·√p⌉ = ⌈√(4·STEPS²·p)⌉
        let square = 4 * u64::from(STEPS).pow(2) * dimension as u64 - 1;
        Ok(Self { dimension, radius, l1_diameter: square.isqrt() + 1 })
    }

    /// The part of the ball whose vectors have |v_1| + … + |v_p| ≤ `length`; all of it if that is √p·r or more.
    ///
    /// A float chooses the integer, and no promise hangs on it: [`clamp_steps`](Self::clamp_steps) keeps vectors within
    /// whatever was chosen.
    #[must_use]
    pub fn within_l1(self, length: f64) -> Self {
        let corner = self.radius * libm::sqrt(self.dimension as f64);
        // Whatever is as long as a corner but for its roundings is the whole ball, as is what is no number.
        if length < corner * (1.0 - 1e-9) {
            let half = libm::ceil(length.max(0.0) / self.radius * f64::from(STEPS)).max(1.0) as u64;
            Self { l1_diameter: self.l1_diameter.min(2 * half), ..self }
        } else {
            self
        }
    }

    /// Δ₁ in steps: no two vectors have a larger l1 distance.
    pub fn l1_diameter(self) -> u64 {
        self.l1_diameter
    }

    /// The largest Σ|k| of a vector, half of [`l1_diameter`](Self::l1_diameter).
    fn most_l1(self) -> u64 {
        self.l1_diameter / 2
    }

    /// The number of coordinates.
    pub fn dimension(self) -> usize {
        self.dimension
    }

    /// The radius.
    pub fn radius(self) -> f64 {
        self.radius
    }

    /// The grid point for `vector`; one outside the ball is scaled back onto the sphere.
    ///
    /// A vector that holds anything but finite numbers becomes the centre: refusing it would speak about the data.
    /// Only a wrong length, which is public, is an error. No branch depends on the values.
    pub fn clamp(self, vector: &[f64]) -> Result<BallVector, PrivacyError> {
        self.check_length(vector.len())?;
        let finite = f64::from(u8::from(vector.iter().fold(true, |all, x| all & x.is_finite())));
        // Dividing by the largest entry first, so that neither tiny nor huge entries are lost in their squares
        let largest = vector.iter().fold(f64::MIN_POSITIVE, |most, x| most.max(libm::fabs(*x)));
        let norm = libm::sqrt(vector.iter().map(|x| (x / largest) * (x / largest)).sum());
        // |vector| / radius, but at most one
        let length = (largest / self.radius * norm).min(1.0);
        let scale = finite * length * f64::from(STEPS) / norm.max(f64::MIN_POSITIVE);
        // `as` turns what is not a number into zero and saturates the rest
        let steps: Vec<i64> = vector.iter().map(|x| libm::rint(x / largest * scale) as i64).collect();
        self.clamp_steps(&steps)
    }

    /// The integer clamp: `steps` if it lies in the ball, else scaled back towards zero.
    ///
    /// > k_j ← trunc(k_j · STEPS / max(c, STEPS)), c = ⌈√Σk²⌉
    ///
    /// c ≥ |k| makes the new length at most STEPS in one pass, and c ≤ STEPS, that is |k| ≤ STEPS, changes nothing. The l1 norm is
    /// then brought down in the same way, which makes no coordinate larger; if only the sphere bounds it, it is small enough.
    pub fn clamp_steps(self, steps: &[i64]) -> Result<BallVector, PrivacyError> {
        self.check_length(steps.len())?;
        let most = i64::from(STEPS);
        let square: u128 =
            steps.iter().map(|k| u128::from(k.clamp(&-most, &most).unsigned_abs()).pow(2)).sum();
        let root = square.isqrt();
        let divisor = (root + u128::from(root * root < square)).max(u128::from(STEPS)) as i64;
        let mut steps: Vec<i32> =
            steps.iter().map(|k| ((*k).clamp(-most, most) * most / divisor) as i32).collect();
        // Σ trunc(|k_j|·L/max(Σ|k|, L)) ≤ L; both factors are below 2^31
        let most_l1 = self.most_l1();
        let divisor = steps.iter().map(|k| u64::from(k.unsigned_abs())).sum::<u64>().max(most_l1) as i64;
        for k in &mut steps {
            *k = (i64::from(*k) * most_l1 as i64 / divisor) as i32;
        }
        Ok(BallVector { steps, most_l1 })
    }

    /// The vector that a grid point stands for: radius · k / STEPS.
    pub fn value_of(self, vector: &BallVector) -> Vec<f64> {
        vector.steps.iter().map(|&k| self.length_of(f64::from(k))).collect()
    }

    /// A length in grid steps, in units of the data.
    pub(super) fn length_of(self, steps: f64) -> f64 {
        self.radius * (steps / f64::from(STEPS))
    }

    /// The square of a length in grid steps, in squared units of the data.
    pub(super) fn square_of(self, squared_steps: f64) -> f64 {
        self.radius * self.radius * (squared_steps / (f64::from(STEPS) * f64::from(STEPS)))
    }

    /// Refuses vectors that another ball has made, of another dimension or with another bound on their l1 norm. Neither is a
    /// matter of what the vector holds.
    pub(super) fn check(self, vector: &BallVector) -> Result<(), PrivacyError> {
        self.check_length(vector.steps.len())?;
        if vector.most_l1 <= self.most_l1() {
            return Ok(());
        }
        let value = self.length_of(vector.most_l1 as f64);
        Err(PrivacyError::Parameter { what: "the bound on the l1 norm of a vector of another ball", value })
    }

    fn check_length(self, length: usize) -> Result<(), PrivacyError> {
        if length == self.dimension {
            Ok(())
        } else {
            Err(PrivacyError::WrongLength { length, dimension: self.dimension })
        }
    }
}

/// An integer vector with Σk² ≤ STEPS², and with Σ|k| within the bound of its ball. Only a [`Ball`] makes one, so it holds for
/// every value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BallVector {
    steps: Vec<i32>,
    /// What its ball makes sure of
    most_l1: u64,
}

impl BallVector {
    /// The centre of a ball.
    pub fn zero(ball: Ball) -> Self {
        Self { steps: vec![0; ball.dimension], most_l1: ball.most_l1() }
    }

    /// The coordinates in grid steps.
    pub fn steps(&self) -> &[i32] {
        &self.steps
    }

    /// Σk², at most STEPS² = 2^40.
    pub fn square(&self) -> u64 {
        self.steps.iter().map(|&k| u64::from(k.unsigned_abs()).pow(2)).sum()
    }

    /// |k| / STEPS, the length as a share of the radius.
    pub fn relative_norm(&self) -> f64 {
        libm::sqrt(self.square() as f64) / f64::from(STEPS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::{Rng, SeedableRng};

    const SPHERE: u64 = (STEPS as u64).pow(2);

    #[test]
    fn a_vector_inside_the_ball_becomes_its_grid_point() {
        let ball = Ball::new(2, 5.0).unwrap();
        let vector = ball.clamp(&[1.25, -2.5]).unwrap();
        assert_eq!(vector.steps(), [1 << 18, -(1 << 19)]);
        assert_eq!(ball.value_of(&vector), [1.25, -2.5]);
        assert_eq!(ball.clamp(&[0.0, -0.0]).unwrap(), BallVector::zero(ball));
    }

    #[test]
    fn a_vector_outside_the_ball_is_scaled_back_onto_it() {
        let ball = Ball::new(2, 5.0).unwrap();
        // a 3-4-5 triangle, ten times too long
        let value = ball.value_of(&ball.clamp(&[30.0, 40.0]).unwrap());
        assert!((value[0] - 3.0).abs() < 1e-5 && (value[1] - 4.0).abs() < 1e-5, "{value:?}");
    }

    #[test]
    fn what_is_not_finite_becomes_the_centre() {
        let ball = Ball::new(3, 1.0).unwrap();
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(ball.clamp(&[0.5, bad, 0.25]).unwrap(), BallVector::zero(ball));
        }
    }

    #[test]
    fn no_vector_of_floats_leaves_the_sphere() {
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        for dimension in [1, 2, 3, 7, 50] {
            for radius in [1e-100, 1.0 / 3.0, 1.0, 1e100] {
                let ball = Ball::new(dimension, radius).unwrap();
                for _ in 0..200 {
                    // every pattern of bits is a float, and some are on purpose about as large as the radius
                    let bits: Vec<f64> = (0..dimension).map(|_| f64::from_bits(rng.next_u64())).collect();
                    let near: Vec<f64> =
                        bits.iter().map(|x| radius * (1.0 + x.clamp(-1.0, 1.0) * 1e-15)).collect();
                    assert!(ball.clamp(&bits).unwrap().square() <= SPHERE);
                    assert!(ball.clamp(&near).unwrap().square() <= SPHERE);
                }
            }
        }
    }

    #[test]
    fn no_vector_of_integers_leaves_the_sphere_and_one_pass_suffices() {
        let mut rng = ChaCha12Rng::seed_from_u64(2);
        let edges = [i64::MIN, i64::MAX, -1, 0, 1, i64::from(STEPS), i64::from(STEPS) + 1, -i64::from(STEPS)];
        for dimension in [1, 2, 5, 100] {
            let ball = Ball::new(dimension, 1.0).unwrap();
            for _ in 0..2000 {
                let steps: Vec<i64> = (0..dimension)
                    .map(|_| match rng.next_u64() % 3 {
                        0 => edges[(rng.next_u64() % 8) as usize],
                        1 => rng.next_u64() as i64,
                        _ => rng.next_u64() as i64 >> 43,
                    })
                    .collect();
                let clamped = ball.clamp_steps(&steps).unwrap();
                assert!(clamped.square() <= SPHERE, "{steps:?}");
                let again: Vec<i64> = clamped.steps().iter().map(|&k| i64::from(k)).collect();
                assert_eq!(ball.clamp_steps(&again).unwrap(), clamped);
            }
        }
    }

    #[test]
    fn the_grid_costs_a_vector_on_the_sphere_a_step_and_a_half_in_each_coordinate_at_most() {
        let mut rng = ChaCha12Rng::seed_from_u64(3);
        let ball = Ball::new(6, 2.0).unwrap();
        for _ in 0..2000 {
            let vector: Vec<f64> = (0..6).map(|_| (rng.next_u64() as i64) as f64).collect();
            let norm = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
            let value = ball.value_of(&ball.clamp(&vector).unwrap());
            for (x, y) in vector.iter().zip(value) {
                // half a step of rounding, at most √6/2 steps of scaling shared between coordinates, one of truncation
                assert!((x / norm * 2.0 - y).abs() < 2.8 * 2.0 / f64::from(STEPS));
            }
        }
    }

    #[test]
    fn no_vector_leaves_the_part_of_a_ball_that_an_l1_norm_cuts_out() {
        let mut rng = ChaCha12Rng::seed_from_u64(4);
        for dimension in [1, 2, 7, 100] {
            let whole = Ball::new(dimension, 2.0).unwrap();
            for share in [1e-9, 0.1, 0.7, 1.0, f64::INFINITY] {
                let cut = whole.within_l1(share * 2.0 * (dimension as f64).sqrt());
                assert_eq!(cut == whole, share >= 1.0, "{dimension} {share}");
                let most = cut.l1_diameter() / 2;
                for _ in 0..200 {
                    let steps: Vec<i64> = (0..dimension).map(|_| rng.next_u64() as i64 >> 43).collect();
                    let clamped = cut.clamp_steps(&steps).unwrap();
                    let length: u64 = clamped.steps().iter().map(|k| u64::from(k.unsigned_abs())).sum();
                    assert!(clamped.square() <= SPHERE && length <= most, "{steps:?}");
                    // and those within both are left as they are
                    let again: Vec<i64> = clamped.steps().iter().map(|&k| i64::from(k)).collect();
                    assert_eq!(cut.clamp_steps(&again).unwrap(), clamped);
                    let inside = whole.clamp_steps(&again).unwrap();
                    assert_eq!(inside.steps(), clamped.steps());
                    assert_eq!(cut.check(&inside).is_err(), cut != whole);
                    assert!(whole.check(&clamped).is_ok());
                }
            }
        }
    }

    #[test]
    fn a_ball_or_a_length_that_makes_no_sense_is_refused() {
        assert!(matches!(Ball::new(0, 1.0), Err(PrivacyError::Dimension { dimension: 0, .. })));
        assert!(Ball::new(Ball::MOST_DIMENSION + 1, 1.0).is_err());
        for value in [0.0, -1.0, f64::INFINITY] {
            assert_eq!(Ball::new(1, value), Err(PrivacyError::Radius { value }));
        }
        let wrong = PrivacyError::WrongLength { length: 2, dimension: 3 };
        assert_eq!(Ball::new(3, 1.0).unwrap().clamp(&[0.0, 0.0]), Err(wrong));
    }
}
