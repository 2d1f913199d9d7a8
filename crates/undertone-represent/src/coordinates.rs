//! From what is known of people to where they are: features of their kind, scaled, and the directions in which they differ most.

use crate::error::same;
use crate::principal::{Principal, ROUNDING};
use crate::ranks::Ranks;
use crate::scattering::side;
use crate::spectrum::SPARE;
use crate::spread::{BLOCK, Spread, Sums};
use crate::{Matrix, Patches, RepresentError, Scattering, SparseRows};
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

    /// Whether so many columns are the pixels of an image that can be looked at.
    pub fn is_image(columns: usize) -> bool {
        side(columns).is_ok()
    }

    /// Multiplications that make them of a row, twice; those of filters are few.
    pub fn operations(self, columns: usize) -> f64 {
        match self {
            Self::Columns | Self::Ranks | Self::Strokes => 0.0,
            Self::Patches => 2.0 * columns as f64 * Patches::OPERATIONS,
        }
    }

    /// The most bytes that finding `count` coordinates of so many people takes beside their rows: those coordinates, the features of a
    /// block, the covariances of features, and four sets of vectors over them.
    pub fn bytes(self, people: usize, columns: usize, count: usize) -> u64 {
        let (features, count) = (self.features(columns) as u64, count as u64);
        let block = people.min(BLOCK) as u64 * (columns as u64 + 2 * features);
        4 * (people as u64 * count + block + features * features + 4 * features * (count + SPARE as u64))
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
    fn features(&self, rows: Matrix) -> Result<Matrix, RepresentError> {
        match self {
            Self::Columns => Ok(rows),
            Self::Ranks(ranks) => ranks.transform(rows),
            Self::Strokes(scattering) => scattering.transform(&rows),
            Self::Patches(patches) => patches.transform(&rows),
        }
    }

    /// What a row is made of.
    fn unit(&self) -> &'static str {
        match self {
            Self::Columns | Self::Ranks(_) => "a feature",
            Self::Strokes(_) | Self::Patches(_) => "a pixel",
        }
    }

    /// What makes features of one kind as wide as those of another; columns are as wide as they were meant to be.
    fn scale(&self, spread: &Spread) -> Vec<f32> {
        let features = spread.mean.len();
        let kind = match self {
            Self::Columns | Self::Ranks(_) => return vec![1.0; features],
            Self::Strokes(scattering) => scattering.kind(),
            Self::Patches(_) => 1,
        };
        let width = |first: usize| {
            let columns = (first..first + kind).map(|column| spread.column(column));
            let average = |of: fn((f64, f64)) -> f64| columns.clone().map(of).sum::<f64>() / kind as f64;
            let (mean, square) =
                (average(|(mean, _)| mean), average(|(mean, variance)| mean * mean + variance));
            let variance = square - mean * mean;
            // Divided by a width that is only rounding, rounding would be as wide as the rest
            if variance > ROUNDING * ROUNDING * square { variance.sqrt() } else { 0.0 }
        };
        let widths: Vec<f64> = (0..features).step_by(kind).map(width).collect();
        // What hardly varies is not made to vary as much as the rest
        let soft = SOFTENING * widths.iter().sum::<f64>() / widths.len() as f64;
        // Where nothing varies at all, nothing is to be seen
        let scale = |width: f64| if width + soft > 0.0 { (1.0 / (width + soft)) as f32 } else { 0.0 };
        widths.iter().flat_map(|&width| vec![scale(width); kind]).collect()
    }
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
        rows.check_finite(extractor.unit())?;
        // Features of everybody are made twice, a few people at a time, and never are in memory together
        let mut sums = Sums::new(kind.features(rows.columns()));
        for block in rows.blocks(BLOCK) {
            sums.add(extractor.features(block)?)?;
        }
        let mut spread = sums.finish();
        let scale = extractor.scale(&spread);
        spread.scale(&scale);
        let principal = Principal::fit(spread, count)?;
        let map = Self { extractor, scale, principal };
        let coordinates = map.project(rows)?;
        Ok((map, coordinates))
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
        rows.check_finite(self.extractor.unit())?;
        let mut places = Vec::with_capacity(rows.rows() * self.principal.coordinates());
        for block in rows.blocks(BLOCK) {
            let mut features = self.extractor.features(block)?;
            same("a row", "features", features.columns(), self.scale.len())?;
            scaled(&mut features, &self.scale);
            places.extend_from_slice(self.principal.project(&features)?.values());
        }
        Matrix::new(self.principal.coordinates(), places)
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

    #[test]
    fn a_row_is_where_it_is_in_whatever_block_and_is_named_by_its_number_among_all() {
        let rows = Matrix::from_fn(2 * BLOCK + 3, 5, |i, j| ((i * (j + 1)) as f32 * 0.37).sin() + j as f32);
        for kind in [Kind::Columns, Kind::Ranks] {
            let (map, places) = Coordinates::fit(kind, &rows, 3).unwrap();
            assert_eq!((places.rows(), places.columns()), (rows.rows(), 3));
            for i in [0, BLOCK - 1, BLOCK, 2 * BLOCK + 2] {
                let alone = map.project(&rows.select(&[i])).unwrap();
                let same = alone.values().iter().zip(places.row(i)).all(|(a, b)| (a - b).abs() < 1e-5);
                assert!(same, "{kind:?} {i}: {:?} for {alone:?}", places.row(i));
            }
            let mut bad = rows.clone();
            bad.row_mut(BLOCK + 4)[2] = f32::NAN;
            for found in [Coordinates::fit(kind, &bad, 3).err(), map.project(&bad).err()] {
                assert!(matches!(found, Some(RepresentError::NotFinite { row, .. }) if row == BLOCK + 5));
            }
        }
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
