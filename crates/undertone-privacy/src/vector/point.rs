//! One of K public points, with an exact Gaussian on every coordinate.
//!
//! > report = k_y + round(s·N), s ≥ Δ/μ
//!
//! where k_1, …, k_K are integer points that everybody knows, such as the gradients that a person's label could have, and Δ
//! is the greatest distance between two of them.
//!
//! **Privacy.** The points are integers, so the report is round(k_y + s·N): a function of the true Gaussian mechanism on
//! points at most Δ apart, and Δ² is computed in integers: exactly (Δ/s)-GDP, and Δ/s ≤ μ.
//!
//! **Utility.** E|report − k_y|² is that of the noise in each coordinate. A ball around the points has a diameter of up to
//! √2·Δ, so that [`Gaussian`](super::Gaussian) would need up to twice the variance.

use crate::exact::RoundedGaussian;
use crate::label::Label;
use crate::{DeviceSafe, Guarantee, Mu, PrivacyError, Randomizer, Unbiased};
use alloc::vec;
use alloc::vec::Vec;
use rand_core::CryptoRng;

/// K integer points, one for each label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PublicPoints {
    /// corner·e_k in K coordinates, whose distances are √2·corner exactly
    Corners {
        /// K
        labels: u32,
        /// The one coordinate that is not zero
        corner: u32,
    },
    /// Any, all of the same dimension
    Given(Vec<Vec<i64>>),
}

impl PublicPoints {
    /// K.
    pub fn labels(&self) -> u32 {
        match self {
            Self::Corners { labels, .. } => *labels,
            Self::Given(points) => points.len() as u32,
        }
    }

    /// The number of coordinates.
    pub fn dimension(&self) -> usize {
        match self {
            Self::Corners { labels, .. } => *labels as usize,
            Self::Given(points) => points.first().map_or(0, Vec::len),
        }
    }

    /// The point of a label below K. All points are gone through, so that what is looked at does not tell which.
    pub fn point(&self, label: u32) -> Vec<i64> {
        match self {
            Self::Corners { labels, corner } => {
                (0..*labels).map(|k| i64::from(*corner) * i64::from(k == label)).collect()
            }
            Self::Given(points) => {
                let mut sum = vec![0; self.dimension()];
                for (k, point) in (0..).zip(points) {
                    let keep = i64::from(k == label).wrapping_neg();
                    sum.iter_mut().zip(point).for_each(|(sum, x)| *sum |= x & keep);
                }
                sum
            }
        }
    }

    /// Δ², exactly; the largest number there is if it is larger.
    pub fn sensitivity_squared(&self) -> u128 {
        match self {
            Self::Corners { corner, .. } => 2 * u128::from(*corner).pow(2),
            Self::Given(points) => {
                let square = |a: &[i64], b: &[i64]| -> u128 {
                    let squares = a.iter().zip(b).map(|(a, b)| u128::from(a.abs_diff(*b)).pow(2));
                    squares.fold(0, u128::saturating_add)
                };
                let pairs = points
                    .iter()
                    .enumerate()
                    .flat_map(|(i, a)| points[..i].iter().map(move |b| square(a, b)));
                pairs.max().unwrap_or(0)
            }
        }
    }
}

/// Gaussian noise on one of K public points.
#[derive(Clone, Debug, PartialEq)]
pub struct NoisyPoint {
    points: PublicPoints,
    mu: Mu,
    noise: RoundedGaussian,
}

impl NoisyPoint {
    /// The least noise on these points that keeps μ-GDP. Points that are all alike need none, and get the least there is.
    pub fn new(points: PublicPoints, mu: Mu) -> Result<Self, PrivacyError> {
        if points.labels() < 2 {
            return Err(PrivacyError::TooFewLabels { labels: points.labels() });
        }
        if let PublicPoints::Given(given) = &points
            && let Some(odd) = given.iter().find(|point| point.len() != points.dimension())
        {
            return Err(PrivacyError::WrongLength { length: odd.len(), dimension: points.dimension() });
        }
        // ⌈Δ⌉ in integers; one more makes up for the rounding of the quotient
        let square = points.sensitivity_squared();
        if square == u128::MAX {
            return Err(PrivacyError::Scale { numerator: u64::MAX, denominator: 1 });
        }
        let root = square.isqrt();
        let distance = root.saturating_add(u128::from(root.saturating_mul(root) < square));
        let scale = libm::ceil(distance as f64 / mu.get()) as u64;
        Ok(Self { points, mu, noise: RoundedGaussian::new(scale.saturating_add(1))? })
    }

    /// The points.
    pub fn points(&self) -> &PublicPoints {
        &self.points
    }

    /// The noise of each coordinate.
    pub fn noise(&self) -> RoundedGaussian {
        self.noise
    }
}

impl Randomizer for NoisyPoint {
    type Input = Label;
    type Report = Vec<i64>;

    fn guarantee(&self) -> Guarantee {
        Guarantee::Gaussian(self.mu)
    }

    fn randomize(&self, &Label(label): &Label, rng: &mut impl CryptoRng) -> Result<Vec<i64>, PrivacyError> {
        let labels = self.points.labels();
        if label >= labels {
            return Err(PrivacyError::UnknownLabel { label, labels });
        }
        let noisy = |k: i64| k.saturating_add(self.noise.sample(rng));
        Ok(self.points.point(label).into_iter().map(noisy).collect())
    }

    fn ln_likelihood(&self, report: &Vec<i64>, &Label(label): &Label) -> f64 {
        if report.len() != self.points.dimension() {
            return f64::NEG_INFINITY;
        }
        let point = self.points.point(label);
        report.iter().zip(point).map(|(r, k)| self.noise.ln_pmf(r.saturating_sub(k))).sum()
    }
}

impl DeviceSafe for NoisyPoint {}

impl Unbiased for NoisyPoint {
    fn truth(&self, &Label(label): &Label) -> Vec<f64> {
        self.points.point(label).into_iter().map(|k| k as f64).collect()
    }

    fn estimate(&self, report: &Vec<i64>) -> Vec<f64> {
        report.iter().map(|&k| k as f64).collect()
    }

    fn variance(&self, _input: &Label) -> f64 {
        self.points.dimension() as f64 * self.noise.variance()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    fn mu(value: f64) -> Mu {
        Mu::new(value).unwrap()
    }

    #[test]
    fn the_scale_is_the_greatest_distance_over_mu() {
        // 3-4-5, and a third point in between
        let points = PublicPoints::Given(vec![vec![0, 0], vec![300, 400], vec![100, 100]]);
        let mechanism = NoisyPoint::new(points, mu(0.5)).unwrap();
        assert_eq!(mechanism.noise().scale(), 1001);
        let corners = PublicPoints::Corners { labels: 5, corner: 1000 };
        // √2·1000/2 = 707.1, with ⌈Δ⌉ = 1415
        assert_eq!(NoisyPoint::new(corners, mu(2.0)).unwrap().noise().scale(), 709);
    }

    #[test]
    fn corners_are_the_points_that_they_stand_for() {
        let corners = PublicPoints::Corners { labels: 4, corner: 77 };
        let given = PublicPoints::Given((0..4).map(|k| corners.point(k)).collect());
        assert_eq!(corners.sensitivity_squared(), given.sensitivity_squared());
        assert_eq!((corners.labels(), corners.dimension()), (given.labels(), given.dimension()));
        let draw = |points: &PublicPoints| {
            let mechanism = NoisyPoint::new(points.clone(), mu(1.0)).unwrap();
            mechanism.randomize(&Label(2), &mut ChaCha12Rng::seed_from_u64(1)).unwrap()
        };
        assert_eq!(draw(&corners), draw(&given));
    }

    #[test]
    fn points_that_make_no_sense_are_refused() {
        let refused = |points| NoisyPoint::new(points, mu(1.0)).unwrap_err();
        assert_eq!(refused(PublicPoints::Given(vec![vec![1]])), PrivacyError::TooFewLabels { labels: 1 });
        let odd = PublicPoints::Given(vec![vec![1, 2], vec![1]]);
        assert_eq!(refused(odd), PrivacyError::WrongLength { length: 1, dimension: 2 });
        // No noise is wide enough.
        let far = PublicPoints::Given(vec![vec![i64::MIN], vec![i64::MAX]]);
        assert!(matches!(refused(far), PrivacyError::Scale { .. }));
        let mechanism = NoisyPoint::new(PublicPoints::Corners { labels: 3, corner: 1 }, mu(1.0)).unwrap();
        let unknown = mechanism.randomize(&Label(3), &mut ChaCha12Rng::seed_from_u64(1));
        assert_eq!(unknown, Err(PrivacyError::UnknownLabel { label: 3, labels: 3 }));
        assert!(mechanism.ln_likelihood(&vec![0; 2], &Label(0)).is_infinite());
    }
}
