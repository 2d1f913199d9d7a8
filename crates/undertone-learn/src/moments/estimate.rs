//! The moments of a population as far as they are known: unbiased, with the variance of each coordinate.

use super::spectrum::Spectrum;
use crate::LearnError;
use std::f64::consts::SQRT_2;

/// E\[yx\] and svec of E\[xx'\], both with isotropic noise.
#[derive(Clone, Debug, PartialEq)]
pub struct Moments {
    mean: Vec<f64>,
    mean_variance: f64,
    second: Option<(Vec<f64>, f64)>,
}

impl Moments {
    /// A mean with the variance of each of its coordinates, and, if anybody told it, the svec of the second moment with that
    /// of each of its own. A variance is zero for what is known exactly.
    pub fn new(
        mean: Vec<f64>,
        mean_variance: f64,
        second: Option<(Vec<f64>, f64)>,
    ) -> Result<Self, LearnError> {
        let p = mean.len();
        if p == 0 {
            return Err(LearnError::NoReports);
        }
        if let Some((svec, _)) = &second
            && svec.len() != p * (p + 1) / 2
        {
            return Err(LearnError::Columns { found: svec.len(), expected: p * (p + 1) / 2 });
        }
        let variances = [mean_variance].into_iter().chain(second.iter().map(|(_, variance)| *variance));
        for value in variances {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(LearnError::Parameter {
                    what: "the variance of a moment",
                    value,
                    expected: "non-negative",
                });
            }
        }
        Ok(Self { mean, mean_variance, second })
    }

    /// p.
    pub fn covariates(&self) -> usize {
        self.mean.len()
    }

    /// E\[yx\].
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The variance of each coordinate of the mean.
    pub fn mean_variance(&self) -> f64 {
        self.mean_variance
    }

    /// svec of E\[xx'\].
    pub fn second(&self) -> Option<&[f64]> {
        self.second.as_ref().map(|(svec, _)| svec.as_slice())
    }

    /// The variance of each coordinate of [`second`](Self::second).
    pub fn second_variance(&self) -> f64 {
        self.second.as_ref().map_or(0.0, |&(_, variance)| variance)
    }

    /// What is believed of the population: moments that some population has.
    ///
    /// - S is drawn towards T = (tr S/p)·I with the weight min(1, D·v/|S - T|²), D = p(p+1)/2 and v the variance of a
    ///   coordinate: the share of |S - T|² that is noise.
    /// - Where nobody told it S is I/p, that of records on the sphere, unless the mean refutes that: E\[xx'\] - E\[yx\]E\[yx\]' is
    ///   positive, so p·|mean|² > 1 cannot be. Then it is I, which is above every E\[xx'\], so that no margin is thought to be
    ///   surer than it is.
    /// - Eigenvalues below 0.05/p are lifted to it.
    /// - The mean is shortened by the factor 1 - (p-2)·v/|mean|² of James and Stein for p > 2.
    pub fn repaired(&self) -> Result<Repaired, LearnError> {
        let p = self.covariates();
        let square = self.mean_square();
        let noise = (p as f64 - 2.0).max(0.0) * self.mean_variance;
        let keep = if square > noise { 1.0 - noise / square } else { 0.0 };
        let mean = self.mean.iter().map(|x| keep * x).collect();
        let spectrum = match &self.second {
            Some((svec, variance)) => shrunk(Spectrum::of_svec(p, svec)?, svec.len() as f64 * variance),
            None if p as f64 * keep * keep * square > 1.0 => Spectrum::multiple(p, 1.0),
            None => Spectrum::multiple(p, 1.0 / p as f64),
        };
        Ok(Repaired { mean, spectrum })
    }

    /// |mean|².
    pub(super) fn mean_square(&self) -> f64 {
        self.mean.iter().map(|x| x * x).sum()
    }

    /// w'E\[xx'\]w without bias, if anybody told the second moment, with its standard deviation √v·|w|².
    pub(super) fn spread_along(&self, w: &[f64]) -> Option<(f64, f64)> {
        let (svec, variance) = self.second.as_ref()?;
        let pairs = w
            .iter()
            .enumerate()
            .flat_map(|(i, a)| w[..=i].iter().enumerate().map(move |(j, b)| (i, j, a * b)));
        let weight = |i, j| if i == j { 1.0 } else { SQRT_2 };
        let spread =
            svec.iter().zip(pairs).map(|(entry, (i, j, product))| entry * weight(i, j) * product).sum();
        let square: f64 = w.iter().map(|w| w * w).sum();
        Some((spread, variance.sqrt() * square))
    }
}

/// S drawn towards a multiple of I, given how much of its distance is `noise`, and lifted.
fn shrunk(mut spectrum: Spectrum, noise: f64) -> Spectrum {
    let p = spectrum.dimension() as f64;
    // No record is longer than one, and a trace that is mostly noise may be anything.
    let centre = (spectrum.values.iter().sum::<f64>() / p).clamp(0.05 / p, 1.0 / p);
    let distance: f64 = spectrum.values.iter().map(|value| (value - centre).powi(2)).sum();
    let weight = if noise < distance { noise / distance } else { 1.0 };
    for value in &mut spectrum.values {
        *value = (*value + weight * (centre - *value)).max(0.05 / p);
    }
    spectrum
}

/// Moments that a population can have.
#[derive(Clone, Debug, PartialEq)]
pub struct Repaired {
    /// E\[yx\]
    pub mean: Vec<f64>,
    /// Of E\[xx'\]
    pub spectrum: Spectrum,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_exactly_is_left_alone() {
        let svec = vec![0.5, 0.1, 0.3];
        let repaired =
            Moments::new(vec![0.2, -0.1], 0.0, Some((svec.clone(), 0.0))).unwrap().repaired().unwrap();
        assert!(repaired.spectrum.svec().iter().zip(&svec).all(|(a, b)| (a - b).abs() < 1e-12));
        assert_eq!(repaired.mean, [0.2, -0.1]);
    }

    #[test]
    fn what_is_all_noise_becomes_a_multiple_of_the_identity() {
        let noisy =
            Moments::new(vec![0.2; 3], 5.0, Some((vec![0.4, 0.3, 0.2, -0.3, 0.1, 0.2], 7.0))).unwrap();
        let repaired = noisy.repaired().unwrap();
        let centre = (0.4 + 0.2 + 0.2) / 3.0;
        assert!(repaired.spectrum.values.iter().all(|value| (value - centre).abs() < 1e-12));
        assert_eq!(repaired.mean, [0.0; 3]);
        let without = Moments::new(vec![0.2; 4], 0.0, None).unwrap().repaired().unwrap();
        assert_eq!(without.spectrum, Spectrum::multiple(4, 0.25));
    }

    #[test]
    fn a_mean_that_refutes_the_sphere_takes_the_second_moment_for_the_largest_there_is() {
        // p·|mean|² = 4·0.3²·4 > 1
        let repaired = Moments::new(vec![0.3; 4], 0.0, None).unwrap().repaired().unwrap();
        assert_eq!(repaired.spectrum, Spectrum::multiple(4, 1.0));
    }

    #[test]
    fn the_spread_along_weights_is_that_of_the_matrix() {
        // w'Sw = 0.5·4 + 2·0.1·2·(-1) + 0.3·1 for S = [[0.5, 0.1], [0.1, 0.3]]
        let svec = vec![0.5, 0.1 * SQRT_2, 0.3];
        let moments = Moments::new(vec![0.0; 2], 0.0, Some((svec, 0.04))).unwrap();
        let (spread, deviation) = moments.spread_along(&[2.0, -1.0]).unwrap();
        assert!((spread - 1.9).abs() < 1e-12 && (deviation - 1.0).abs() < 1e-12);
    }

    #[test]
    fn no_eigenvalue_stays_below_the_floor() {
        // [[0.5, 0.6], [0.6, 0.1]] has a negative one
        let svec = vec![0.5, 0.6 * std::f64::consts::SQRT_2, 0.1];
        let repaired = Moments::new(vec![0.0; 2], 0.0, Some((svec, 0.0))).unwrap().repaired().unwrap();
        let least = repaired.spectrum.values.iter().copied().fold(f64::INFINITY, f64::min);
        assert!((least - 0.025).abs() < 1e-15);
    }

    #[test]
    fn shortening_the_mean_lowers_its_error() {
        // James and Stein: with |mean|² = p·v the squared error falls, and this one is computed by hand.
        let moments = Moments::new(vec![1.0, 0.0, 0.0, 1.0], 0.25, None).unwrap();
        // 1 - 2·0.25/2
        assert_eq!(moments.repaired().unwrap().mean, [0.75, 0.0, 0.0, 0.75]);
    }

    #[test]
    fn moments_that_do_not_fit_each_other_are_refused() {
        assert!(Moments::new(vec![], 0.0, None).is_err());
        assert!(Moments::new(vec![0.0; 2], 0.0, Some((vec![0.0; 4], 0.0))).is_err());
        assert!(Moments::new(vec![0.0; 2], -1.0, None).is_err());
        assert!(Moments::new(vec![0.0; 2], 0.0, Some((vec![0.0; 3], f64::NAN))).is_err());
    }
}
