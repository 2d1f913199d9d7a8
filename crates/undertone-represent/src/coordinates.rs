//! From what is known of people to where they are: features of their kind, scaled, and the directions in which they differ most.

use crate::error::same;
use crate::principal::ROUNDING;
use crate::ranks::Ranks;
use crate::{Matrix, Patches, Principal, RepresentError, Scattering, SparseRows};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Added to the standard deviation of a feature, as a part of their mean.
const SOFTENING: f64 = 0.1;

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// Columns, which are taken as they are
    Columns,
    /// Columns, by the rank of each value among everybody's
    Ranks,
    /// Pixels of a square image, seen by fixed filters
    Strokes,
    /// Pixels of a square image, in which patches are looked for that are usual in the images, whichever way round
    Patches,
}

impl Kind {
    /// How many features a row of so many columns has.
    pub fn features(self, columns: usize) -> usize {
        match self {
            Self::Columns | Self::Ranks => columns,
            Self::Strokes => Scattering::features_of(columns),
            Self::Patches => Patches::FEATURES,
        }
    }

    /// Multiplications that make them of a row; those of filters are few.
    pub fn operations(self, columns: usize) -> f64 {
        match self {
            Self::Columns | Self::Ranks | Self::Strokes => 0.0,
            Self::Patches => columns as f64 * Patches::OPERATIONS,
        }
    }
}

/// A map from rows to coordinates, the most telling first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coordinates {
    extractor: Extractor,
    /// What each feature is multiplied by
    scale: Vec<f32>,
    principal: Principal,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Extractor {
    Columns,
    Ranks(Ranks),
    Strokes(Scattering),
    Patches(Patches),
}

impl Extractor {
    fn features(&self, rows: &Matrix) -> Result<Matrix, RepresentError> {
        match self {
            Self::Columns => Ok(rows.clone()),
            Self::Ranks(ranks) => ranks.transform(rows),
            Self::Strokes(scattering) => scattering.transform(rows),
            Self::Patches(patches) => patches.transform(rows),
        }
    }

    /// What makes features of one kind as wide as those of another; columns are as wide as they were meant to be.
    fn scale(&self, features: &Matrix) -> Vec<f32> {
        let kind = match self {
            Self::Columns | Self::Ranks(_) => return vec![1.0; features.columns()],
            Self::Strokes(scattering) => scattering.kind(),
            Self::Patches(_) => 1,
        };
        let width = |moments: &[(f64, f64)]| {
            let n = moments.len() as f64;
            let mean = moments.iter().map(|m| m.0).sum::<f64>() / n;
            let square = moments.iter().map(|m| m.1).sum::<f64>() / n;
            let variance = square - mean * mean;
            // Divided by a width that is only rounding, rounding would be as wide as the rest
            if variance > ROUNDING * ROUNDING * square { variance.sqrt() } else { 0.0 }
        };
        let widths: Vec<f64> = moments(features).chunks(kind).map(width).collect();
        // What hardly varies is not made to vary as much as the rest
        let soft = SOFTENING * widths.iter().sum::<f64>() / widths.len() as f64;
        // Where nothing varies at all, nothing is to be seen
        let scale = |width: f64| if width + soft > 0.0 { (1.0 / (width + soft)) as f32 } else { 0.0 };
        widths.iter().flat_map(|&width| vec![scale(width); kind]).collect()
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
        if rows.columns() == 0 {
            return Err(RepresentError::Constant { people: rows.rows() });
        }
        let extractor = match kind {
            Kind::Columns => Extractor::Columns,
            Kind::Ranks => Extractor::Ranks(Ranks::fit(rows)?),
            Kind::Strokes => Extractor::Strokes(Scattering::new(rows.columns())?),
            Kind::Patches => Extractor::Patches(Patches::fit(rows)?),
        };
        let mut features = extractor.features(rows)?;
        let scale = extractor.scale(&features);
        scaled(&mut features, &scale);
        let principal = Principal::fit(&features, count)?;
        let coordinates = principal.project(&features)?;
        Ok((Self { extractor, scale, principal }, coordinates))
    }

    /// The same of columns that are mostly zero, as those of texts and of many categories are.
    pub fn fit_sparse(rows: &SparseRows, count: usize) -> Result<(Self, Matrix), RepresentError> {
        let principal = Principal::fit_sparse(rows, count)?;
        let coordinates = principal.project_sparse(rows)?;
        let scale = vec![1.0; rows.columns()];
        Ok((Self { extractor: Extractor::Columns, scale, principal }, coordinates))
    }

    /// Where others are whose columns are mostly zero.
    pub fn project_sparse(&self, rows: &SparseRows) -> Result<Matrix, RepresentError> {
        match self.extractor {
            Extractor::Columns => self.principal.project_sparse(rows),
            // Filters look at every pixel, and zeros have their ranks
            Extractor::Ranks(_) | Extractor::Strokes(_) | Extractor::Patches(_) => self.project(&rows.full()),
        }
    }

    /// Where others are.
    pub fn project(&self, rows: &Matrix) -> Result<Matrix, RepresentError> {
        let mut features = self.extractor.features(rows)?;
        same("a row", "features", features.columns(), self.scale.len())?;
        scaled(&mut features, &self.scale);
        self.principal.project(&features)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_where_they_are_whether_or_not_their_zeros_are_written() {
        let full =
            Matrix::from_fn(200, 64, |i, j| if (i + j) % 5 < 2 { ((i * 64 + j) as f32).sin() } else { 0.0 });
        let mut sparse = SparseRows::new(64);
        for i in 0..200 {
            let row = full.row(i).iter().enumerate().filter(|(_, x)| **x != 0.0);
            sparse.push(row.map(|(j, &x)| (j as u32, x))).unwrap();
        }
        assert_eq!(sparse.full(), full);
        let (columns, coordinates) = Coordinates::fit_sparse(&sparse, 6).unwrap();
        let (strokes, _) = Coordinates::fit(Kind::Strokes, &full, 6).unwrap();
        for map in [&columns, &strokes] {
            let (one, other) = (map.project(&full).unwrap(), map.project_sparse(&sparse).unwrap());
            assert!(one.values().iter().zip(other.values()).all(|(a, b)| (a - b).abs() < 1e-4));
        }
        assert_eq!(columns.project_sparse(&sparse).unwrap(), coordinates);
        assert!(columns.project_sparse(&SparseRows::new(63)).is_err());
        assert!(matches!(
            Coordinates::fit_sparse(&SparseRows::new(3), 2),
            Err(RepresentError::TooFew { people: 0, .. })
        ));
    }

    /// Eight by eight pixels have fewer strokes than are written down as a whole, twelve by twelve more.
    const IMAGES: [(Kind, usize); 3] = [(Kind::Strokes, 8), (Kind::Strokes, 12), (Kind::Patches, 8)];

    #[test]
    fn in_images_that_are_all_alike_nothing_is_to_be_seen() {
        for (kind, side) in IMAGES {
            for grey in [0.0, 0.3, 0.7] {
                let images = Matrix::from_fn(70, side * side, |_, _| grey);
                let found = Coordinates::fit(kind, &images, 20);
                assert_eq!(
                    found.err(),
                    Some(RepresentError::Constant { people: 70 }),
                    "{kind:?} {side} {grey}"
                );
            }
        }
        let columns = Matrix::from_fn(70, 200, |_, j| j as f32 / 3.0);
        for kind in [Kind::Columns, Kind::Ranks] {
            let found = Coordinates::fit(kind, &columns, 20);
            assert_eq!(found.err(), Some(RepresentError::Constant { people: 70 }));
        }
    }

    #[test]
    fn one_pixel_tells_an_image_from_all_others() {
        for (kind, side) in IMAGES {
            let shade = |i: usize, pixel: usize| if (i, pixel) == (7, 40) { 0.9 } else { 0.5 };
            let images = Matrix::from_fn(70, side * side, shade);
            let (map, places) = Coordinates::fit(kind, &images, 20).unwrap();
            let away = |i: usize| (places.row(i)[0] - places.row(0)[0]).abs();
            let others = (0..70).filter(|&i| i != 7).map(away).fold(0.0, f32::max);
            assert!(away(7) > 1.0 && others < 1e-3, "{kind:?} {side}: {} and {others}", away(7));
            assert!(map.project(&images).unwrap().values().iter().all(|x| x.is_finite()));
        }
    }
}
