//! A symmetric matrix by its eigenvalues, and as the vector svec in which it is told.

use crate::LearnError;
use linfa_linalg::eigh::EighInto;
use ndarray::Array2;
use std::f64::consts::SQRT_2;

/// S = UΛU', the eigenvectors in the columns of U.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrum {
    /// λ
    pub values: Vec<f64>,
    vectors: Array2<f64>,
}

/// The place of entry (i, j), j ≤ i, in svec.
pub(super) fn place(i: usize, j: usize) -> usize {
    i * (i + 1) / 2 + j
}

/// Adds `factor`·aa' to the matrix whose svec this is.
pub(super) fn add_outer(svec: &mut [f64], a: &[f64], factor: f64) {
    let pairs =
        a.iter().enumerate().flat_map(|(i, x)| a[..=i].iter().enumerate().map(move |(j, y)| (i, j, x * y)));
    for (entry, (i, j, product)) in svec.iter_mut().zip(pairs) {
        *entry += factor * product * if i == j { 1.0 } else { SQRT_2 };
    }
}

impl Spectrum {
    /// c·I in p dimensions.
    pub fn multiple(p: usize, c: f64) -> Self {
        Self { values: vec![c; p], vectors: Array2::eye(p) }
    }

    /// Of the matrix whose svec this is: off the diagonal an entry is told times √2.
    pub fn of_svec(p: usize, svec: &[f64]) -> Result<Self, LearnError> {
        if svec.len() != p * (p + 1) / 2 {
            return Err(LearnError::Columns { found: svec.len(), expected: p * (p + 1) / 2 });
        }
        let entry = |(i, j): (usize, usize)| {
            if i == j { svec[place(i, i)] } else { svec[place(i.max(j), i.min(j))] / SQRT_2 }
        };
        let matrix = Array2::from_shape_fn((p, p), entry);
        let (values, vectors) = matrix.eigh_into().map_err(|error| LearnError::Source(Box::new(error)))?;
        Ok(Self { values: values.to_vec(), vectors })
    }

    /// p.
    pub fn dimension(&self) -> usize {
        self.values.len()
    }

    /// U'x: x in the coordinates of the eigenvectors.
    pub fn inward(&self, x: &[f64]) -> Vec<f64> {
        self.vectors.columns().into_iter().map(|u| u.iter().zip(x).map(|(u, x)| u * x).sum()).collect()
    }

    /// Uc: from those coordinates back.
    pub fn outward(&self, c: &[f64]) -> Vec<f64> {
        self.vectors.rows().into_iter().map(|u| u.iter().zip(c).map(|(u, c)| u * c).sum()).collect()
    }

    /// svec of UΛU'.
    pub fn svec(&self) -> Vec<f64> {
        let p = self.dimension();
        let entry = |i: usize, j: usize| -> f64 {
            let rows = self.vectors.row(i).into_iter().zip(self.vectors.row(j));
            rows.zip(&self.values).map(|((a, b), value)| a * b * value).sum()
        };
        let weight = |i, j| if i == j { 1.0 } else { SQRT_2 };
        (0..p).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|(i, j)| weight(i, j) * entry(i, j)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_and_its_svec_are_each_other() {
        // [[2, 1], [1, 2]] has the eigenvalues 1 and 3
        let spectrum = Spectrum::of_svec(2, &[2.0, SQRT_2, 2.0]).unwrap();
        let mut values = spectrum.values.clone();
        values.sort_by(f64::total_cmp);
        assert!((values[0] - 1.0).abs() < 1e-12 && (values[1] - 3.0).abs() < 1e-12);
        for (a, b) in spectrum.svec().iter().zip([2.0, SQRT_2, 2.0]) {
            assert!((a - b).abs() < 1e-12);
        }
        let there_and_back = spectrum.outward(&spectrum.inward(&[0.3, -0.7]));
        assert!((there_and_back[0] - 0.3).abs() < 1e-12 && (there_and_back[1] + 0.7).abs() < 1e-12);
    }

    #[test]
    fn the_length_of_svec_is_that_of_the_eigenvalues() {
        let svec: Vec<f64> = (0..55).map(|k| f64::from(k * 37 % 19) - 9.0).collect();
        let spectrum = Spectrum::of_svec(10, &svec).unwrap();
        let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
        assert!((square(&svec) / square(&spectrum.values) - 1.0).abs() < 1e-10);
        assert!(svec.iter().zip(spectrum.svec()).all(|(a, b)| (a - b).abs() < 1e-9));
    }

    #[test]
    fn a_vector_of_another_length_is_refused() {
        assert!(Spectrum::of_svec(3, &[1.0; 5]).is_err());
    }
}
