//! Near-elliptical records with logistic labels.
//!
//! x is normal with the eigenvalues 1, …, 0.3, evenly spaced along random axes, and brought onto the unit sphere;
//! y = ±1 with P(y = 1 | x) = 1/(1 + e^(-4√p·⟨u, x⟩)) for a random unit vector u, so that margins are about 4 in size.

use super::Sample;
use crate::LearnError;
use undertone_privacy::vector::stream::PublicStream;

/// The steepness of labels in units of 1/√p, the size of ⟨u, x⟩.
const STRENGTH: f64 = 4.0;

/// A population of records.
#[derive(Clone, Debug)]
pub struct Population {
    seed: u128,
    /// Rows √λ_i·a_i with orthonormal a_i
    axes: Vec<Vec<f64>>,
    /// u
    direction: Vec<f64>,
}

impl Population {
    /// The instance of this seed with p covariates, at least one.
    pub fn new(covariates: usize, seed: u64) -> Result<Self, LearnError> {
        let last = (covariates.max(2) - 1) as f64;
        let values: Vec<f64> = (0..covariates).map(|i| 1.0 - 0.7 * i as f64 / last).collect();
        Self::with_eigenvalues(&values, seed)
    }

    /// The same with other eigenvalues, none of them negative.
    pub fn with_eigenvalues(values: &[f64], seed: u64) -> Result<Self, LearnError> {
        let covariates = values.len();
        if covariates == 0 {
            return Err(LearnError::Columns { found: 0, expected: 1 });
        }
        let seed = u128::from(seed) << 64;
        let mut vectors: Vec<Vec<f64>> = (0..=covariates as u64)
            .map(|lane| {
                let mut vector = vec![0.0; covariates];
                PublicStream::new(seed, lane).fill_normal(&mut vector);
                vector
            })
            .collect();
        let mut direction = vectors.pop().unwrap_or_default();
        normalise(&mut direction);
        // Orthonormal by Gram and Schmidt
        for i in 0..covariates {
            let (done, rest) = vectors.split_at_mut(i);
            for a in done.iter() {
                let along: f64 = a.iter().zip(&rest[0]).map(|(a, b)| a * b).sum();
                rest[0].iter_mut().zip(a).for_each(|(b, a)| *b -= along * a);
            }
            normalise(&mut rest[0]);
        }
        for (axis, value) in vectors.iter_mut().zip(values) {
            for a in axis {
                *a *= value.sqrt();
            }
        }
        Ok(Self { seed, axes: vectors, direction })
    }

    /// n records, the same for the same `part` of the population.
    pub fn sample(&self, people: usize, part: u64) -> Sample {
        let p = self.direction.len();
        let mut stream = PublicStream::new(self.seed + 1, part);
        let (mut x, mut y) = (Vec::with_capacity(people * p), Vec::with_capacity(people));
        let mut normal = vec![0.0; p];
        for _ in 0..people {
            stream.fill_normal(&mut normal);
            let mut record = vec![0.0; p];
            for (axis, z) in self.axes.iter().zip(&normal) {
                record.iter_mut().zip(axis).for_each(|(x, a)| *x += z * a);
            }
            normalise(&mut record);
            let score: f64 = record.iter().zip(&self.direction).map(|(x, u)| x * u).sum();
            let chance = 1.0 / (1.0 + (-STRENGTH * (p as f64).sqrt() * score).exp());
            let uniform = (stream.next_word() >> 11) as f64 / (1u64 << 53) as f64;
            y.push(if uniform < chance { 1.0 } else { -1.0 });
            x.extend(record);
        }
        Sample::new(p, x, y)
    }
}

fn normalise(vector: &mut [f64]) {
    let norm = vector.iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
    for x in vector {
        *x /= norm;
    }
}
