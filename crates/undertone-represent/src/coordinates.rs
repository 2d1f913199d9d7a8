//! From what is known of people to where they are: features of their kind, scaled, and the directions in which they differ most.

use crate::{Matrix, Principal, RepresentError, Scattering};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// Columns, which are taken as they are
    Columns,
    /// Pixels of a square image, seen by fixed filters
    Strokes,
}

/// A map from rows to coordinates, the most telling first.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Coordinates {
    extractor: Extractor,
    /// What each feature is multiplied by
    scale: Vec<f32>,
    principal: Principal,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Extractor {
    Columns,
    Strokes(Scattering),
}

impl Extractor {
    fn features(&self, rows: &Matrix) -> Result<Matrix, RepresentError> {
        match self {
            Self::Columns => Ok(rows.clone()),
            Self::Strokes(scattering) => scattering.transform(rows),
        }
    }

    /// What makes features of one kind as wide as those of another; columns are as wide as they were meant to be.
    fn scale(&self, features: &Matrix) -> Vec<f32> {
        match self {
            Self::Columns => vec![1.0; features.columns()],
            Self::Strokes(scattering) => {
                let kind = scattering.kind();
                let variance = |moments: &[(f64, f64)]| {
                    let n = moments.len() as f64;
                    let mean = moments.iter().map(|m| m.0).sum::<f64>() / n;
                    moments.iter().map(|m| m.1).sum::<f64>() / n - mean * mean
                };
                let one = |moments: &[(f64, f64)]| (1.0 / variance(moments).max(1e-12).sqrt()) as f32;
                moments(features).chunks(kind).flat_map(|moments| vec![one(moments); moments.len()]).collect()
            }
        }
    }
}

/// The means of each column and of its square.
fn moments(rows: &Matrix) -> Vec<(f64, f64)> {
    let width = rows.columns();
    let mut sums = vec![(0.0, 0.0); width];
    for row in rows.values().chunks_exact(width) {
        for (sum, &x) in sums.iter_mut().zip(row) {
            sum.0 += f64::from(x);
            sum.1 += f64::from(x) * f64::from(x);
        }
    }
    let n = rows.rows() as f64;
    sums.iter().map(|sum| (sum.0 / n, sum.1 / n)).collect()
}

fn scaled(features: &mut Matrix, scale: &[f32]) {
    features.values_mut().par_chunks_mut(scale.len()).for_each(|row| {
        row.iter_mut().zip(scale).for_each(|(x, scale)| *x *= scale);
    });
}

impl Coordinates {
    /// The map that the rows suggest, to `count` coordinates or as many as there are, and where the rows are.
    pub fn fit(kind: Kind, rows: &Matrix, count: usize) -> Result<(Self, Matrix), RepresentError> {
        let extractor = match kind {
            Kind::Columns => Extractor::Columns,
            Kind::Strokes => Extractor::Strokes(Scattering::new(rows.columns())?),
        };
        let mut features = extractor.features(rows)?;
        let scale = extractor.scale(&features);
        scaled(&mut features, &scale);
        let principal = Principal::fit(&features, count)?;
        let coordinates = principal.project(&features)?;
        Ok((Self { extractor, scale, principal }, coordinates))
    }

    /// Where others are.
    pub fn project(&self, rows: &Matrix) -> Result<Matrix, RepresentError> {
        let mut features = self.extractor.features(rows)?;
        if features.columns() != self.scale.len() {
            return Err(RepresentError::Shape {
                what: "a row",
                unit: "features",
                found: features.columns(),
                expected: self.scale.len(),
            });
        }
        scaled(&mut features, &self.scale);
        self.principal.project(&features)
    }
}
