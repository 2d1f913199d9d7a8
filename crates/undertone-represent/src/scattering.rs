//! Images as what a few fixed filters see in them: how much of a stroke of each direction is where.
//!
//! An image is correlated with Morlet waves of eight directions at two scales, the moduli are blurred to a coarse grid, and so
//! are the moduli of the second scale's waves on those of the first (J. Bruna and S. Mallat, *Invariant Scattering Convolution
//! Networks*). The coarse grid forgets small shifts, the second order keeps what blurring would lose: 1 + 8 + 8 + 64 channels.
//!
//! **Cost.** A correlation is a product of matrices: the rows of the image that a row of the output can see, times a matrix that is the
//! same for all rows away from the border. With a filter of radius r that is (2r + 1)/N of the dense product.

use crate::matrix::multiply;
use crate::{Matrix, RepresentError};
use faer::{MatMut, MatRef, Par};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Directions of the waves.
const ANGLES: usize = 8;
/// 1 + 8 + 8 + 64.
const CHANNELS: usize = 1 + 2 * ANGLES + ANGLES * ANGLES;
/// Pixels of the image to one of the grid.
const POOLING: usize = 4;
/// Sides of images that are taken.
const SIDES: std::ops::RangeInclusive<usize> = 8..=128;
/// Images that a core treats together: their moduli fit its cache.
const TOGETHER: usize = 64;

/// The filters for images of one size.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "usize", into = "usize")]
pub struct Scattering {
    side: usize,
    fine: Correlation,
    coarse: Correlation,
    /// From the image, and from every other pixel of it, to the grid
    pool: Matrix,
    pool_half: Matrix,
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
        let side = pixels.isqrt();
        if side * side != pixels || !SIDES.contains(&side) {
            return Err(RepresentError::Image { pixels, least: *SIDES.start(), most: *SIDES.end() });
        }
        let grid = side.div_ceil(POOLING);
        let frequency = 3.0 * PI / 4.0;
        Ok(Self {
            side,
            fine: Correlation::new(side, 1, Morlet { width: 0.8, frequency, radius: 5 }),
            coarse: Correlation::new(side, 2, Morlet { width: 1.6, frequency: frequency / 2.0, radius: 9 }),
            pool: pooling(side, grid),
            pool_half: pooling(side.div_ceil(2), grid),
        })
    }

    /// How many features an image has.
    pub fn features(&self) -> usize {
        CHANNELS * self.pool.columns()
    }

    /// How many features of an image, one after the other, are of one kind.
    pub fn kind(&self) -> usize {
        self.pool.columns()
    }

    /// The features of images, one in a row, on all cores.
    pub fn transform(&self, images: &Matrix) -> Result<Matrix, RepresentError> {
        let pixels = self.side * self.side;
        if images.columns() != pixels {
            return Err(RepresentError::Shape {
                what: "an image",
                unit: "pixels",
                found: images.columns(),
                expected: pixels,
            });
        }
        images.check_finite("a pixel")?;
        let mut out = Matrix::zeros(images.rows(), self.features());
        out.values_mut()
            .par_chunks_mut(TOGETHER * self.features())
            .zip(images.values().par_chunks(TOGETHER * pixels))
            .for_each_init(|| Room::new(self), |room, (out, images)| self.some(images, out, room));
        Ok(out)
    }

    /// The features of a few images on one core.
    fn some(&self, images: &[f32], out: &mut [f32], room: &mut Room) {
        let (pixels, features, cells) = (self.side * self.side, self.features(), self.pool.columns());
        let count = images.len() / pixels;
        let mut put = |channel: usize, map: &[f32], pool: &Matrix| {
            let map = MatRef::from_row_major_slice(map, count, pool.rows());
            let target = MatMut::from_row_major_slice_mut(&mut *out, count, features);
            multiply(target.subcols_mut(channel * cells, cells), map, pool.view(), Par::Seq);
        };
        put(0, images, &self.pool);
        let Room { product, fine, coarse } = room;
        self.fine.moduli(images, fine, product);
        let maps = |size: usize, angle: usize| angle * count * size..(angle + 1) * count * size;
        let small = self.pool_half.rows();
        for angle in 0..ANGLES {
            put(1 + angle, &fine[maps(pixels, angle)], &self.pool);
        }
        self.coarse.moduli(images, coarse, product);
        for angle in 0..ANGLES {
            put(1 + ANGLES + angle, &coarse[maps(small, angle)], &self.pool_half);
        }
        for first in 0..ANGLES {
            self.coarse.moduli(&fine[maps(pixels, first)], coarse, product);
            for second in 0..ANGLES {
                let channel = 1 + 2 * ANGLES + first * ANGLES + second;
                put(channel, &coarse[maps(small, second)], &self.pool_half);
            }
        }
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

/// Where a core works.
struct Room {
    /// Real and imaginary parts of one row of the output
    product: Vec<f32>,
    /// Moduli at the first scale: a map for each angle and image
    fine: Vec<f32>,
    /// Moduli at the second
    coarse: Vec<f32>,
}

impl Room {
    fn new(of: &Scattering) -> Self {
        let maps = |side: usize| vec![0.0; ANGLES * TOGETHER * side * side];
        Self {
            product: vec![0.0; TOGETHER * 2 * ANGLES * of.side],
            fine: maps(of.side),
            coarse: maps(of.side.div_ceil(2)),
        }
    }
}

/// A wave in an envelope.
#[derive(Clone, Copy, Debug)]
struct Morlet {
    width: f64,
    frequency: f64,
    radius: usize,
}

impl Morlet {
    /// The wave of an angle at pixels from -radius to radius, rows first: an envelope that is twice as long along the crests, times a wave,
    /// less as much of the envelope as makes its sum zero.
    fn filter(self, angle: f64) -> Vec<(f64, f64)> {
        const SLANT: f64 = 0.5;
        let Self { width, frequency, radius } = self;
        let reach = radius as i32;
        let at = |i: i32| {
            let size = 2 * reach + 1;
            let (y, x) = (f64::from(i / size - reach), f64::from(i % size - reach));
            let (sin, cos) = angle.sin_cos();
            let (u, v) = (x * cos + y * sin, y * cos - x * sin);
            let envelope = (-(u * u + SLANT * SLANT * v * v) / (2.0 * width * width)).exp();
            (envelope, frequency * u)
        };
        let points: Vec<(f64, f64)> = (0..(2 * reach + 1).pow(2)).map(at).collect();
        let total: f64 = points.iter().map(|(envelope, _)| envelope).sum();
        // The wave is even in its real part and odd in its imaginary one, whose sum is zero by itself.
        let mean: f64 = points.iter().map(|(envelope, phase)| envelope * phase.cos()).sum::<f64>() / total;
        let scale = SLANT / (2.0 * PI * width * width);
        let value = |&(envelope, phase): &(f64, f64)| {
            (scale * envelope * (phase.cos() - mean), scale * envelope * phase.sin())
        };
        points.iter().map(value).collect()
    }
}

/// Correlation with the waves of all angles, at every `stride`-th pixel.
#[derive(Clone, Debug)]
struct Correlation {
    side: usize,
    stride: usize,
    radius: usize,
    /// For an output row in the middle: rows are pixels of 2·radius + 1 image rows, columns are (angle, part, output column)
    band: Matrix,
}

impl Correlation {
    fn new(side: usize, stride: usize, wave: Morlet) -> Self {
        let (radius, out) = (wave.radius, side.div_ceil(stride));
        let size = 2 * radius + 1;
        let filters: Vec<_> = (0..ANGLES).map(|l| wave.filter(PI * l as f64 / ANGLES as f64)).collect();
        let band = Matrix::from_fn(size * side, 2 * ANGLES * out, |pixel, column| {
            let (y, x) = (pixel / side, pixel % side);
            let (angle, part, centre) = (column / (2 * out), column / out % 2, column % out * stride);
            // x = centre + dx with dx = at - radius
            match (x + radius).checked_sub(centre) {
                Some(at) if at < size => {
                    let (real, imaginary) = filters[angle][y * size + at];
                    (if part == 0 { real } else { imaginary }) as f32
                }
                _ => 0.0,
            }
        });
        Self { side, stride, radius, band }
    }

    /// The moduli of the waves on `images`: for each angle a map for each image.
    fn moduli(&self, images: &[f32], moduli: &mut [f32], product: &mut [f32]) {
        let (side, out) = (self.side, self.side.div_ceil(self.stride));
        let count = images.len() / (side * side);
        let images = MatRef::from_row_major_slice(images, count, side * side);
        let width = 2 * ANGLES * out;
        let product = &mut product[..count * width];
        for row in 0..out {
            let centre = row * self.stride;
            let (first, end) = (centre.saturating_sub(self.radius), (centre + self.radius + 1).min(side));
            let seen = images.subcols(first * side, (end - first) * side);
            let band = self.band.view().subrows((first + self.radius - centre) * side, (end - first) * side);
            multiply(MatMut::from_row_major_slice_mut(product, count, width), seen, band, Par::Seq);
            for (image, parts) in product.chunks_exact(width).enumerate() {
                for (angle, parts) in parts.chunks_exact(2 * out).enumerate() {
                    let (real, imaginary) = parts.split_at(out);
                    let target = &mut moduli[((angle * count + image) * out + row) * out..][..out];
                    for ((target, a), b) in target.iter_mut().zip(real).zip(imaginary) {
                        *target = (a * a + b * b).sqrt();
                    }
                }
            }
        }
    }
}

/// From a square of a side to a grid: weights of a Gauss curve of half a cell around the middle of each cell, of sum one.
fn pooling(side: usize, grid: usize) -> Matrix {
    let cell = side as f64 / grid as f64;
    let line = |at: usize, cell_at: usize| {
        let away = at as f64 - ((cell_at as f64 + 0.5) * cell - 0.5);
        (-away * away / (2.0 * (cell / 2.0) * (cell / 2.0))).exp()
    };
    let totals: Vec<f64> = (0..grid).map(|c| (0..side).map(|at| line(at, c)).sum()).collect();
    Matrix::from_fn(side * side, grid * grid, |pixel, c| {
        let weight = |at, c: usize| line(at, c) / totals[c];
        (weight(pixel / side, c / grid) * weight(pixel % side, c % grid)) as f32
    })
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
            let correlation = Correlation::new(side, stride, wave);
            let images = [image(side), vec![0.5; side * side]].concat();
            let out = side.div_ceil(stride);
            let (mut moduli, mut product) =
                (vec![0.0; ANGLES * 2 * out * out], vec![0.0; 2 * 2 * ANGLES * out]);
            correlation.moduli(&images, &mut moduli, &mut product);
            for angle in 0..ANGLES {
                for which in 0..2 {
                    let image = &images[which * side * side..][..side * side];
                    let expected = naive(wave, angle, image, side, stride);
                    let found = &moduli[(angle * 2 + which) * out * out..][..out * out];
                    let same = found.iter().zip(&expected).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-5);
                    assert!(same, "{angle} {which}: {found:?} for {expected:?}");
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
        let pool = pooling(12, 3);
        for cell in 0..9 {
            let sum: f32 = (0..144).map(|pixel| pool.row(pixel)[cell]).sum();
            assert!((sum - 1.0).abs() < 1e-5, "{sum}");
        }
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
