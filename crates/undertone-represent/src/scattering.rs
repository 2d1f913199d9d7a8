//! Images as what a few fixed filters see in them: how much of a stroke of each direction is where.
//!
//! An image is correlated with Morlet waves of eight directions at two scales, the moduli are blurred to a coarse grid, and so
//! are the moduli of the second scale's waves on those of the first (J. Bruna and S. Mallat, *Invariant Scattering Convolution
//! Networks*). The coarse grid forgets small shifts, the second order keeps what blurring would lose: 1 + 8 + 8 + 64 channels.
//!
//! As many images as a vector register has numbers are treated at once, number beside number, so that every step is one for all of them.

#![expect(
    clippy::inline_always,
    reason = "what is not inlined into the dispatch is compiled without its vector instructions"
)]

use crate::error::same;
use crate::waves::{ANGLES, Morlet, Waves};
use crate::{Matrix, RepresentError};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// 1 + 8 + 8 + 64.
const CHANNELS: usize = 1 + 2 * ANGLES + ANGLES * ANGLES;
/// Pixels of the image to one of the grid.
const POOLING: usize = 4;
/// Sides of images that are taken: of larger ones the covariances alone would take more than a gigabyte or two.
const SIDES: std::ops::RangeInclusive<usize> = 8..=64;
/// Images that a core treats in a row: a multiple of what any register has.
const TOGETHER: usize = 64;

/// The side of a square image of so many pixels.
pub(crate) fn side(pixels: usize) -> Result<usize, RepresentError> {
    let side = pixels.isqrt();
    if side * side != pixels || !SIDES.contains(&side) {
        return Err(RepresentError::Image { pixels, least: *SIDES.start(), most: *SIDES.end() });
    }
    Ok(side)
}

/// The filters for images of one size.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "usize", into = "usize")]
pub struct Scattering {
    side: usize,
    fine: Waves,
    coarse: Waves,
    /// From the image, and from every other pixel of it, to the grid
    pool: Pooling,
    pool_half: Pooling,
}

/// The filters follow from the side.
impl PartialEq for Scattering {
    fn eq(&self, other: &Self) -> bool {
        self.side == other.side
    }
}

impl Scattering {
    /// The filters for images of so many pixels, which have to be square.
    pub fn new(pixels: usize) -> Result<Self, RepresentError> {
        let side = side(pixels)?;
        let grid = side.div_ceil(POOLING);
        let frequency = 3.0 * PI / 4.0;
        Ok(Self {
            side,
            fine: Waves::new(side, 1, Morlet { width: 0.8, frequency, radius: 5 }),
            coarse: Waves::new(side, 2, Morlet { width: 1.6, frequency: frequency / 2.0, radius: 9 }),
            pool: Pooling::new(side, grid),
            pool_half: Pooling::new(side.div_ceil(2), grid),
        })
    }

    /// How many features an image has.
    pub fn features(&self) -> usize {
        Self::features_of(self.side * self.side)
    }

    /// How many an image of so many pixels has.
    pub(crate) fn features_of(pixels: usize) -> usize {
        CHANNELS * pixels.isqrt().div_ceil(POOLING).pow(2)
    }

    /// How many features of an image, one after the other, are of one kind.
    pub fn kind(&self) -> usize {
        self.pool.grid * self.pool.grid
    }

    /// The features of images, one in a row, on all cores.
    pub fn transform(&self, images: &Matrix) -> Result<Matrix, RepresentError> {
        let pixels = self.side * self.side;
        same("an image", "pixels", images.columns(), pixels)?;
        images.check_finite("a pixel")?;
        let mut out = Matrix::zeros(images.rows(), self.features());
        out.values_mut()
            .par_chunks_mut(TOGETHER * self.features())
            .zip(images.values().par_chunks(TOGETHER * pixels))
            .for_each(|(out, images)| Arch::new().dispatch(Some { of: self, images, out }));
        Ok(out)
    }
}

impl TryFrom<usize> for Scattering {
    type Error = RepresentError;

    fn try_from(pixels: usize) -> Result<Self, RepresentError> {
        Self::new(pixels)
    }
}

impl From<Scattering> for usize {
    fn from(scattering: Scattering) -> Self {
        scattering.side * scattering.side
    }
}

/// Some images and where their features go.
struct Some<'a> {
    of: &'a Scattering,
    images: &'a [f32],
    out: &'a mut [f32],
}

impl WithSimd for Some<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { of, images, out } = self;
        let (pixels, features) = (of.side * of.side, of.features());
        let mut room = Room::<S>::new(of, simd);
        let (mut beside, mut found) = (vec![0.0; pixels * S::F32_LANES], vec![0.0; features * S::F32_LANES]);
        let groups = images.chunks(S::F32_LANES * pixels).zip(out.chunks_mut(S::F32_LANES * features));
        for (images, out) in groups {
            for (lane, image) in images.chunks_exact(pixels).enumerate() {
                for (number, &pixel) in image.iter().enumerate() {
                    beside[number * S::F32_LANES + lane] = pixel;
                }
            }
            room.features(of, simd, S::as_simd_f32s(&beside).0, S::as_mut_simd_f32s(&mut found).0);
            for (lane, out) in out.chunks_exact_mut(features).enumerate() {
                for (number, feature) in out.iter_mut().enumerate() {
                    *feature = found[number * S::F32_LANES + lane];
                }
            }
        }
    }
}

/// Where a core works.
struct Room<S: Simd> {
    padded_fine: Vec<S::f32s>,
    padded_coarse: Vec<S::f32s>,
    /// Moduli at the first scale: a map for each angle
    fine: Vec<S::f32s>,
    /// Moduli at the second
    coarse: Vec<S::f32s>,
    /// Rows of a map on the grid
    rows: Vec<S::f32s>,
}

impl<S: Simd> Room<S> {
    #[inline(always)]
    fn new(of: &Scattering, simd: S) -> Self {
        let zeros = |count: usize| vec![simd.splat_f32s(0.0); count];
        Self {
            padded_fine: zeros(of.fine.padded()),
            padded_coarse: zeros(of.coarse.padded()),
            fine: zeros(ANGLES * of.fine.out().pow(2)),
            coarse: zeros(ANGLES * of.coarse.out().pow(2)),
            rows: zeros(of.side * of.pool.grid),
        }
    }

    /// The features of as many images as stand side by side.
    #[inline(always)]
    fn features(&mut self, of: &Scattering, simd: S, images: &[S::f32s], out: &mut [S::f32s]) {
        let Self { padded_fine, padded_coarse, fine, coarse, rows } = self;
        // Loops and no closures: a closure that is handed on is compiled by itself, without the vector instructions
        let (kind, pixels, small) = (of.kind(), of.side * of.side, of.coarse.out().pow(2));
        let (plain, rest) = out.split_at_mut(kind);
        let (first, rest) = rest.split_at_mut(ANGLES * kind);
        of.pool.of(simd, images, rows, plain);
        of.fine.moduli(simd, images, padded_fine, fine);
        for (map, out) in fine.chunks_exact(pixels).zip(first.chunks_exact_mut(kind)) {
            of.pool.of(simd, map, rows, out);
        }
        // The second scale on the image, then on each map of the first
        for (source, out) in rest.chunks_exact_mut(ANGLES * kind).enumerate() {
            let seen = if source == 0 { images } else { &fine[(source - 1) * pixels..][..pixels] };
            of.coarse.moduli(simd, seen, padded_coarse, coarse);
            for (map, out) in coarse.chunks_exact(small).zip(out.chunks_exact_mut(kind)) {
                of.pool_half.of(simd, map, rows, out);
            }
        }
    }
}

/// From a square of a side to a grid: weights of a Gauss curve of half a cell around the middle of each cell, of sum one, along both axes.
#[derive(Clone, Debug)]
struct Pooling {
    side: usize,
    grid: usize,
    /// For each cell of a line, the weights of the pixels of a line
    weights: Vec<f32>,
}

impl Pooling {
    fn new(side: usize, grid: usize) -> Self {
        let cell = side as f64 / grid as f64;
        let weight = |at: usize, cell_at: usize| {
            let away = at as f64 - ((cell_at as f64 + 0.5) * cell - 0.5);
            (-away * away / (2.0 * (cell / 2.0) * (cell / 2.0))).exp()
        };
        let line = |c: usize| {
            let total: f64 = (0..side).map(|at| weight(at, c)).sum();
            (0..side).map(move |at| (weight(at, c) / total) as f32)
        };
        Self { side, grid, weights: (0..grid).flat_map(line).collect() }
    }

    /// Along x into `rows`, and those along y.
    #[inline(always)]
    fn of<S: Simd>(&self, simd: S, map: &[S::f32s], rows: &mut [S::f32s], out: &mut [S::f32s]) {
        let (side, grid) = (self.side, self.grid);
        for (row, target) in map.chunks_exact(side).zip(rows.chunks_exact_mut(grid)) {
            for (target, weights) in target.iter_mut().zip(self.weights.chunks_exact(side)) {
                let mut sum = simd.splat_f32s(0.0);
                for (x, weight) in row.iter().zip(weights) {
                    sum = simd.mul_add_e_f32s(*x, simd.splat_f32s(*weight), sum);
                }
                *target = sum;
            }
        }
        for (target, weights) in out.chunks_exact_mut(grid).zip(self.weights.chunks_exact(side)) {
            target.fill(simd.splat_f32s(0.0));
            for (row, weight) in rows.chunks_exact(grid).zip(weights) {
                for (target, x) in target.iter_mut().zip(row) {
                    *target = simd.mul_add_e_f32s(*x, simd.splat_f32s(*weight), *target);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums over pixels, as the definition says.
    fn naive(wave: Morlet, angle: usize, image: &[f32], side: usize, stride: usize) -> Vec<f64> {
        let filter = wave.filter(PI * angle as f64 / ANGLES as f64);
        let (radius, size) = (wave.radius as i32, 2 * wave.radius + 1);
        let out = side.div_ceil(stride);
        let at = |cell: usize| {
            let (cy, cx) = ((cell / out * stride) as i32, (cell % out * stride) as i32);
            let mut sum = (0.0, 0.0);
            for dy in -radius..=radius {
                for dx in -radius..=radius {
                    let (y, x) = (cy + dy, cx + dx);
                    if (0..side as i32).contains(&y) && (0..side as i32).contains(&x) {
                        let pixel = f64::from(image[y as usize * side + x as usize]);
                        let (a, b) = filter[(dy + radius) as usize * size + (dx + radius) as usize];
                        sum = (sum.0 + pixel * a, sum.1 + pixel * b);
                    }
                }
            }
            f64::hypot(sum.0, sum.1)
        };
        (0..out * out).map(at).collect()
    }

    fn image(side: usize) -> Vec<f32> {
        (0..side * side).map(|i| ((i * i) as f32 * 0.37).sin().abs()).collect()
    }

    #[test]
    fn moduli_are_those_of_the_sums_over_pixels() {
        let side = 15;
        for (stride, wave) in [
            (1, Morlet { width: 0.8, frequency: 2.0, radius: 5 }),
            (2, Morlet { width: 1.6, frequency: 1.0, radius: 9 }),
        ] {
            let waves = Waves::new(side, stride, wave);
            let out = side.div_ceil(stride);
            for image in [image(side), vec![0.5; side * side]] {
                let (mut padded, mut moduli) = (vec![0.0; waves.padded()], vec![0.0; ANGLES * out * out]);
                waves.moduli(pulp::Scalar, &image, &mut padded, &mut moduli);
                for angle in 0..ANGLES {
                    let expected = naive(wave, angle, &image, side, stride);
                    let found = &moduli[angle * out * out..][..out * out];
                    let same = found.iter().zip(&expected).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-5);
                    assert!(same, "{angle}: {found:?} for {expected:?}");
                }
            }
        }
    }

    #[test]
    fn waves_do_not_see_an_even_image_and_a_grid_cell_sees_its_mean() {
        let wave = Morlet { width: 0.8, frequency: 3.0 * PI / 4.0, radius: 5 };
        for angle in 0..ANGLES {
            let filter = wave.filter(PI * angle as f64 / ANGLES as f64);
            let sum = filter.iter().fold((0.0, 0.0), |sum, (a, b)| (sum.0 + a, sum.1 + b));
            assert!(sum.0.abs() < 1e-12 && sum.1.abs() < 1e-12, "{sum:?}");
        }
        let (mut rows, mut cells) = (vec![0.0; 12 * 3], vec![0.0; 9]);
        Pooling::new(12, 3).of(pulp::Scalar, &[2.5; 144], &mut rows, &mut cells);
        assert!(cells.iter().all(|cell: &f32| (cell - 2.5).abs() < 1e-5), "{cells:?}");
    }

    #[test]
    fn a_stroke_is_seen_by_the_waves_across_it() {
        // A vertical line: the wave along x (angle 0) sees it, the wave along y (angle 4) does not
        let side = 28;
        let scattering = Scattering::new(side * side).unwrap();
        let line = Matrix::from_fn(1, side * side, |_, pixel| f32::from(u8::from(pixel % side == 14)));
        let features = scattering.transform(&line).unwrap();
        let cells = 49;
        assert_eq!(features.columns(), CHANNELS * cells);
        let seen = |channel: usize| features.row(0)[channel * cells..][24];
        assert!(seen(1) > 5.0 * seen(1 + 4), "{} {}", seen(1), seen(1 + 4));
        assert!(seen(9) > 5.0 * seen(9 + 4), "{} {}", seen(9), seen(9 + 4));
    }

    #[test]
    fn an_image_has_its_features_in_whatever_company() {
        let scattering = Scattering::new(144).unwrap();
        let many = Matrix::from_fn(2 * TOGETHER + 3, 144, |i, j| ((i * 144 + j) as f32).sin());
        let together = scattering.transform(&many).unwrap();
        for i in [0, TOGETHER, 2 * TOGETHER + 2] {
            let alone = scattering.transform(&many.select(&[i])).unwrap();
            let same = alone.row(0).iter().zip(together.row(i)).all(|(a, b)| (a - b).abs() < 1e-5);
            assert!(same, "{i}");
        }
    }

    #[test]
    fn what_is_no_square_image_is_refused() {
        assert!(matches!(Scattering::new(783), Err(RepresentError::Image { pixels: 783, .. })));
        assert!(matches!(Scattering::new(16), Err(RepresentError::Image { pixels: 16, .. })));
        let scattering = Scattering::new(784).unwrap();
        assert!(matches!(
            scattering.transform(&Matrix::zeros(1, 100)),
            Err(RepresentError::Shape { found: 100, .. })
        ));
        let bad = Matrix::from_fn(2, 784, |i, j| if i == 1 && j == 3 { f32::INFINITY } else { 0.0 });
        assert!(matches!(scattering.transform(&bad), Err(RepresentError::NotFinite { row: 2, .. })));
    }
}
