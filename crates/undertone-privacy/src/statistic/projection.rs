//! A public random projection: few covariates from many, before anything is randomized.
//!
//! > x → Gx/|Gx|, G a p'×p matrix of independent standard normal entries from a public seed
//!
//! Row i of G is the normal variables of lane i of the public stream of the seed, so that every device computes the same
//! matrix. G is drawn without a look at anybody's data, and what a device computes from its own record before it randomizes
//! costs no privacy. Inner products survive up to about 1/√p' (Johnson, Lindenstrauss, *Extensions of Lipschitz mappings into
//! a Hilbert space*, 1984), whereas the noise of second moments grows with the cube of the number of covariates.

use crate::PrivacyError;
use crate::vector::stream::PublicStream;
use alloc::vec;
use alloc::vec::Vec;

/// A public p'×p matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    from: usize,
    rows: Vec<Vec<f64>>,
}

impl Projection {
    /// The most entries of a matrix: what a device can hold.
    pub const MOST_ENTRIES: usize = 1 << 24;

    /// The projection of this seed from `from` covariates to `to` of them, fewer.
    pub fn new(seed: u128, from: usize, to: usize) -> Result<Self, PrivacyError> {
        if from == 0 || from > Self::MOST_ENTRIES / to.max(1) {
            return Err(PrivacyError::Dimension {
                dimension: from,
                least: 1,
                most: Self::MOST_ENTRIES / to.max(1),
            });
        }
        if !(1..=from).contains(&to) {
            return Err(PrivacyError::Dimension { dimension: to, least: 1, most: from });
        }
        let row = |lane: u64| {
            let mut row = vec![0.0; from];
            PublicStream::new(seed, lane).fill_normal(&mut row);
            row
        };
        Ok(Self { from, rows: (0..to as u64).map(row).collect() })
    }

    /// p, how many covariates a record has.
    pub fn from(&self) -> usize {
        self.from
    }

    /// p', how many are left.
    pub fn to(&self) -> usize {
        self.rows.len()
    }

    /// Gx/|Gx|, or zero where Gx is; what is not finite stays so, and is the centre in the end.
    pub fn apply(&self, x: &[f64]) -> Result<Vec<f64>, PrivacyError> {
        if x.len() != self.from {
            return Err(PrivacyError::WrongLength { length: x.len(), dimension: self.from });
        }
        // By the largest entry first, so that neither tiny nor huge records are lost in their squares
        let largest = x.iter().fold(f64::MIN_POSITIVE, |most, x| most.max(libm::fabs(*x)));
        let product = |row: &Vec<f64>| row.iter().zip(x).map(|(g, x)| g * (x / largest)).sum::<f64>();
        let projected: Vec<f64> = self.rows.iter().map(product).collect();
        let norm = libm::sqrt(projected.iter().map(|y| y * y).sum()).max(f64::MIN_POSITIVE);
        Ok(projected.into_iter().map(|y| y / norm).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn norm(x: &[f64]) -> f64 {
        libm::sqrt(x.iter().map(|x| x * x).sum())
    }

    #[test]
    fn it_is_the_same_for_everybody_and_its_images_are_unit_vectors() {
        let projection = Projection::new(7, 50, 8).unwrap();
        assert_eq!(projection, Projection::new(7, 50, 8).unwrap());
        assert_ne!(projection, Projection::new(8, 50, 8).unwrap());
        assert_eq!((projection.from(), projection.to()), (50, 8));
        let x: Vec<f64> = (0..50).map(|j| libm::sin(f64::from(j))).collect();
        let image = projection.apply(&x).unwrap();
        assert!((norm(&image) - 1.0).abs() < 1e-12);
        // However long the record is
        for scale in [1e-200, 1e200] {
            let scaled: Vec<f64> = x.iter().map(|x| x * scale).collect();
            let again = projection.apply(&scaled).unwrap();
            assert!(image.iter().zip(again).all(|(a, b)| (a - b).abs() < 1e-12));
        }
        assert_eq!(projection.apply(&[0.0; 50]).unwrap(), [0.0; 8]);
    }

    #[test]
    fn cosines_survive_up_to_one_over_the_root_of_the_dimension() {
        // E⟨Ga, Gb⟩/p' = ⟨a, b⟩, with a variance of (1 + ⟨a, b⟩²)/p' for unit vectors
        let (p, to, cosine) = (40, 10, 0.6);
        let mut a = vec![0.0; p];
        let mut b = vec![0.0; p];
        a[0] = 1.0;
        (b[0], b[1]) = (cosine, 0.8);
        let rounds = 2000u32;
        let products = (0..rounds).map(|seed| {
            let projection = Projection::new(u128::from(seed), p, to).unwrap();
            projection.rows.iter().map(|g| g[0] * (cosine * g[0] + 0.8 * g[1])).sum::<f64>() / to as f64
        });
        let mean = products.sum::<f64>() / f64::from(rounds);
        let deviation = libm::sqrt((1.0 + cosine * cosine) / to as f64 / f64::from(rounds));
        assert!((mean - cosine).abs() < 5.0 * deviation, "{mean}");
    }

    #[test]
    fn sizes_that_make_no_sense_are_refused() {
        for (from, to) in [(0, 0), (5, 0), (5, 6), (usize::MAX, 2)] {
            assert!(
                matches!(Projection::new(1, from, to), Err(PrivacyError::Dimension { .. })),
                "{from}, {to}"
            );
        }
        let wrong = Projection::new(1, 5, 2).unwrap().apply(&[1.0; 4]);
        assert_eq!(wrong, Err(PrivacyError::WrongLength { length: 4, dimension: 5 }));
    }
}
