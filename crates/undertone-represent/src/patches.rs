//! Images as how much of each of some learnt patches is where, whichever way round.
//!
//! Patches of the images, freed of their brightness, contrast and correlations, are sorted into directions by k-means on the sphere; an image is
//! then the sums, over the cells of a coarse grid, of how far its patches lie along each direction (A. Coates and A. Ng, *Learning Feature
//! Representations with K-Means*). Each direction goes with its mirror image, and an image has the same features as its mirror image: up to
//! where the grid cuts pixels that it cannot share out evenly: right for things that are seen from either side, wrong for letters. Square roots keep the brightest patches from drowning the others.

use crate::error::same;
use crate::matrix::multiply;
use crate::scattering::side;
use crate::spectrum::symmetric;
use crate::spread::Spread;
use crate::{Matrix, RepresentError};
use faer::{Mat, MatMut, MatRef, Par};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The side of a patch; there is one around each pixel.
const SIDE: usize = 7;
const PATCH: usize = SIDE * SIDE;
/// Directions, each of which has its mirror image.
const DIRECTIONS: usize = 256;
/// The side of the grid.
const GRID: usize = 5;
/// Added to the variance of a patch, so that faint noise stays faint.
const CONTRAST: f32 = 0.01;
/// Added to the variances of whitened directions, as a part of their mean.
const SOFTENING: f64 = 0.1;
/// Patches that the directions are learnt from.
const SAMPLE: usize = 50_000;
/// Rounds of k-means.
const ROUNDS: usize = 10;
/// Sampled patches of less variance say nothing about directions.
const FAINT: f32 = 1e-3;
/// Patches of less variance are flat.
const FLAT: f32 = 1e-6;

/// Directions of patches of images of one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Patches {
    side: usize,
    /// From a patch to how far it lies along each direction and along each mirrored one
    directions: Matrix,
    /// What is subtracted from that: the directions of the mean patch
    mean: Vec<f32>,
}

impl Patches {
    /// Directions learnt from square images, by a fixed public stream.
    pub fn fit(images: &Matrix) -> Result<Self, RepresentError> {
        let side = side(images.columns())?;
        images.check_finite("a pixel")?;
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let sample = sample(images, side, &mut rng)?;
        let spread = Spread::of(&sample)?;
        let whitening = whitening(&spread.covariance)?;
        let shift = Matrix::new(PATCH, spread.mean)?.times(&whitening);
        let mut white = sample.times(&whitening);
        for row in white.values_mut().chunks_exact_mut(PATCH) {
            row.iter_mut().zip(shift.values()).for_each(|(x, shift)| *x -= shift);
            normalise(row);
        }
        let found = k_means(&white, DIRECTIONS, &mut rng);
        let both = Matrix::from_fn(2 * DIRECTIONS, PATCH, |i, j| {
            if i < DIRECTIONS { found.row(i)[j] } else { found.row(i - DIRECTIONS)[mirrored(j)] }
        });
        let directions = crate::matrix::product(whitening.view(), both.view().transpose());
        let mean = crate::matrix::product(shift.view(), both.view().transpose()).values().to_vec();
        Ok(Self { side, directions, mean })
    }

    /// How many features an image has.
    pub const FEATURES: usize = GRID * GRID * DIRECTIONS;
    /// Multiplications for each of its pixels.
    pub(crate) const OPERATIONS: f64 = (PATCH * 2 * DIRECTIONS) as f64;

    /// Refuses directions of something else than patches, as a document may have them.
    fn check(&self) -> Result<(), RepresentError> {
        same("a direction", "pixels", self.directions.rows(), PATCH)?;
        same("what patches have", "directions", self.directions.columns(), 2 * DIRECTIONS)?;
        same("the mean patch", "directions", self.mean.len(), 2 * DIRECTIONS)?;
        self.directions.check_finite("a direction")
    }

    /// The features of images, one in a row, on all cores.
    pub fn transform(&self, images: &Matrix) -> Result<Matrix, RepresentError> {
        self.check()?;
        let pixels = self.side.saturating_mul(self.side);
        same("an image", "pixels", images.columns(), pixels)?;
        images.check_finite("a pixel")?;
        let mut out = Matrix::zeros(images.rows(), Self::FEATURES);
        out.values_mut()
            .par_chunks_mut(Self::FEATURES)
            .zip(images.values().par_chunks(pixels))
            .for_each_init(
                || (vec![0.0; pixels * PATCH], vec![0.0; pixels * 2 * DIRECTIONS]),
                |(patches, along), (out, image)| self.one(image, out, patches, along),
            );
        Ok(out)
    }

    fn one(&self, image: &[f32], out: &mut [f32], patches: &mut [f32], along: &mut [f32]) {
        let (side, width) = (self.side, 2 * DIRECTIONS);
        let mut flat = vec![false; side * side];
        for (at, patch) in patches.chunks_exact_mut(PATCH).enumerate() {
            cut(image, side, (at / side, at % side), patch);
            flat[at] = contrast(patch) < FLAT;
        }
        let pixels = side * side;
        multiply(
            MatMut::from_row_major_slice_mut(along, pixels, width),
            MatRef::from_row_major_slice(patches, pixels, PATCH),
            self.directions.view(),
            Par::Seq,
        );
        let mut cells = vec![0.0f32; GRID * GRID * width];
        for (at, along) in along.chunks_exact(width).enumerate().filter(|(at, _)| !flat[*at]) {
            let cell = at / side * GRID / side * GRID + at % side * GRID / side;
            let sums = &mut cells[cell * width..][..width];
            for ((sum, x), mean) in sums.iter_mut().zip(along).zip(&self.mean) {
                *sum += (x - mean).max(0.0);
            }
        }
        // A direction in a cell is its mirror image in the cell across
        for (cell, out) in out.chunks_exact_mut(DIRECTIONS).enumerate() {
            let across = cell / GRID * GRID + (GRID - 1 - cell % GRID);
            let (own, mirror) = (&cells[cell * width..], &cells[across * width + DIRECTIONS..]);
            for ((out, a), b) in out.iter_mut().zip(own).zip(mirror) {
                *out = (a + b).sqrt();
            }
        }
    }
}

/// Where a pixel of a patch goes if left and right are changed.
fn mirrored(at: usize) -> usize {
    at / SIDE * SIDE + (SIDE - 1 - at % SIDE)
}

/// The patch around a pixel; there is nothing beyond the image.
fn cut(image: &[f32], side: usize, (y, x): (usize, usize), patch: &mut [f32]) {
    let reach = SIDE / 2;
    for (dy, row) in patch.chunks_exact_mut(SIDE).enumerate() {
        let line = (y + dy).checked_sub(reach).filter(|&line| line < side);
        for (dx, value) in row.iter_mut().enumerate() {
            let column = (x + dx).checked_sub(reach).filter(|&column| column < side);
            *value = line.zip(column).map_or(0.0, |(line, column)| image[line * side + column]);
        }
    }
}

/// Frees a patch of its brightness and contrast, and tells its variance.
fn contrast(patch: &mut [f32]) -> f32 {
    let mean = patch.iter().sum::<f32>() / PATCH as f32;
    for x in patch.iter_mut() {
        *x -= mean;
    }
    let variance = patch.iter().map(|x| x * x).sum::<f32>() / PATCH as f32;
    let scale = 1.0 / (variance + CONTRAST).sqrt();
    for x in patch {
        *x *= scale;
    }
    variance
}

/// Patches that are not faint, and their mirror images.
fn sample(images: &Matrix, side: usize, rng: &mut ChaCha8Rng) -> Result<Matrix, RepresentError> {
    let mut below = |bound: usize| (rng.next_u64() % bound as u64) as usize;
    let mut values = Vec::new();
    for _ in 0..2 * SAMPLE {
        let mut patch = [0.0; PATCH];
        cut(images.row(below(images.rows())), side, (below(side), below(side)), &mut patch);
        if contrast(&mut patch) > FAINT && values.len() < 2 * SAMPLE * PATCH {
            values.extend_from_slice(&patch);
            values.extend((0..PATCH).map(|at| patch[mirrored(at)]));
        }
    }
    if values.len() < DIRECTIONS * PATCH {
        return Err(RepresentError::Constant { people: images.rows() });
    }
    Matrix::new(PATCH, values)
}

/// U·(S + s̄/10)^-1/2·U' for the covariance USU'.
fn whitening(covariance: &Matrix) -> Result<Matrix, RepresentError> {
    let (values, vectors) = symmetric(&Mat::from_fn(PATCH, PATCH, |i, j| f64::from(covariance.row(i)[j])))?;
    let soft = SOFTENING * values.iter().sum::<f64>() / PATCH as f64;
    let scaled =
        Matrix::from_fn(PATCH, PATCH, |i, j| vectors.row(i)[j] / (values[j].max(0.0) + soft).sqrt() as f32);
    Ok(crate::matrix::product(scaled.view(), vectors.view().transpose()))
}

fn normalise(row: &mut [f32]) {
    let length = row.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-12);
    for x in row {
        *x /= length;
    }
}

/// Directions such that each row lies near one.
fn k_means(rows: &Matrix, count: usize, rng: &mut ChaCha8Rng) -> Matrix {
    let mut any = || (rng.next_u64() % rows.rows() as u64) as usize;
    let mut centres = rows.select(&(0..count).map(|_| any()).collect::<Vec<_>>());
    for _ in 0..ROUNDS {
        let near = crate::matrix::product(rows.view(), centres.view().transpose());
        let nearest: Vec<usize> = near
            .values()
            .par_chunks(count)
            .map(|row| (0..count).max_by(|&a, &b| row[a].total_cmp(&row[b])).expect("a centre"))
            .collect();
        let mut sums = Matrix::zeros(count, rows.columns());
        for (row, &centre) in nearest.iter().enumerate() {
            sums.row_mut(centre).iter_mut().zip(rows.row(row)).for_each(|(sum, x)| *sum += x);
        }
        for centre in 0..count {
            if sums.row(centre).iter().map(|x| x * x).sum::<f32>() < 1e-12 {
                sums.row_mut(centre).copy_from_slice(rows.row(any()));
            }
            normalise(sums.row_mut(centre));
        }
        centres = sums;
    }
    centres
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_has_the_features_of_its_mirror_image() {
        // Bars of three directions at several places; fifteen pixels are three for each cell
        let images = Matrix::from_fn(30, 225, |i, pixel| {
            let (y, x) = (pixel / 15, pixel % 15);
            let at = [x, y, usize::midpoint(x, y)][i % 3];
            f32::from(u8::from(at.abs_diff(2 + i / 3) < 2)) + 0.01 * ((i * 225 + pixel) as f32).sin()
        });
        let patches = Patches::fit(&images).unwrap();
        let mirror = Matrix::from_fn(30, 225, |i, pixel| images.row(i)[pixel / 15 * 15 + 14 - pixel % 15]);
        let (one, other) = (patches.transform(&images).unwrap(), patches.transform(&mirror).unwrap());
        assert_eq!(one.columns(), Patches::FEATURES);
        // Roots make 10⁻³ of the rounding 10⁻⁶ of what is nearly nothing
        let same = one.values().iter().zip(other.values()).all(|(a, b)| (a - b).abs() < 1e-2);
        assert!(same);
        let apart = one.row(0).iter().zip(one.row(1)).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(apart > 0.5, "{apart}");
    }

    #[test]
    fn mirroring_twice_is_nothing_and_patches_are_cut_with_nothing_beyond() {
        assert!((0..PATCH).all(|at| mirrored(mirrored(at)) == at));
        let image: Vec<f32> = (0..64).map(|i| i as f32).collect();
        let mut patch = [1.0; PATCH];
        cut(&image, 8, (0, 0), &mut patch);
        assert_eq!(patch[..24], [0.0; 24]);
        assert_eq!(patch[24..28], [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(patch[31..35], [8.0, 9.0, 10.0, 11.0]);
    }

    #[test]
    fn directions_are_those_of_the_rows() {
        // Rows along four axes, with noise: the four centres are the axes
        let rows = Matrix::from_fn(400, 4, |i, j| {
            f32::from(u8::from(i % 4 == j)) + 0.05 * ((i * 4 + j) as f32 * 1.7).sin()
        });
        let centres = k_means(&rows, 8, &mut ChaCha8Rng::seed_from_u64(1));
        for axis in 0..4 {
            let nearest = (0..8).map(|c| centres.row(c)[axis]).fold(0.0, f32::max);
            assert!(nearest > 0.99, "{axis}: {nearest}");
        }
    }

    #[test]
    fn images_that_are_no_squares_or_show_nothing_are_refused() {
        assert!(matches!(
            Patches::fit(&Matrix::zeros(3, 143)),
            Err(RepresentError::Image { pixels: 143, .. })
        ));
        assert!(matches!(Patches::fit(&Matrix::zeros(3, 144)), Err(RepresentError::Constant { people: 3 })));
    }
}
