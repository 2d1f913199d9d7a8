//! How far images go along with waves of eight directions, many images at a time.
//!
//! **Symmetry.** A wave is even (its real part) or odd (its imaginary part) around its middle, and the wave of the angle π - θ is the
//! mirror image of that of θ. So pixels are folded first: with x(±dy, ±dx) the four pixels at the same distances from the middle, their sums with the
//! signs of (even, even), (odd, odd), (odd, even) and (even, odd) in (y, x) are all that any wave sees. Sixteen parts, each a sum over a
//! quarter of the filter, make eight complex numbers:
//!
//! > real(θ), real(π - θ) = EE ± OO and imaginary(θ), imaginary(π - θ) = OE ± EO
//!
//! A quarter of the multiplications remain, and they are done for as many images at once as a vector register holds.

#![expect(
    clippy::inline_always,
    reason = "what is not inlined into the dispatch is compiled without its vector instructions"
)]

use pulp::Simd;
use std::f64::consts::PI;

/// Directions of the waves.
pub(crate) const ANGLES: usize = 8;
/// Sums that are made at each place.
const PARTS: usize = 16;
/// Where the sums of each symmetry begin: those of angles 0..=4, 1..=3, 1..=4 and 0..=3.
const EVEN_EVEN: usize = 0;
const ODD_ODD: usize = 5;
const ODD_EVEN: usize = 8;
const EVEN_ODD: usize = 12;

/// A wave in an envelope.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Morlet {
    pub(crate) width: f64,
    pub(crate) frequency: f64,
    pub(crate) radius: usize,
}

impl Morlet {
    /// The wave of an angle at pixels from -radius to radius, rows first: an envelope that is twice as long along the crests, times a wave,
    /// less as much of the envelope as makes its sum zero.
    pub(crate) fn filter(self, angle: f64) -> Vec<(f64, f64)> {
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

/// Waves of all angles, at every `stride`-th pixel of images of a side.
#[derive(Clone, Debug)]
pub(crate) struct Waves {
    side: usize,
    stride: usize,
    radius: usize,
    /// For each (dy, dx) of a quarter, the weights of the sixteen parts
    weights: Vec<[f32; PARTS]>,
}

impl Waves {
    pub(crate) fn new(side: usize, stride: usize, wave: Morlet) -> Self {
        let (radius, size) = (wave.radius, 2 * wave.radius + 1);
        let filters: Vec<_> = (0..=4).map(|l| wave.filter(PI * f64::from(l) / ANGLES as f64)).collect();
        let weights = (0..(radius + 1) * (radius + 1)).map(|at| {
            let (dy, dx) = (at / (radius + 1), at % (radius + 1));
            // Where the distance is zero folding counts the pixel twice
            let twice = |d: usize| if d == 0 { 0.5 } else { 1.0 };
            let share = twice(dy) * twice(dx) / 4.0;
            let quarter = |angle: usize, signs: (f64, f64)| {
                let value = |down: bool, right: bool| {
                    let y = if down { radius + dy } else { radius - dy };
                    let x = if right { radius + dx } else { radius - dx };
                    filters[angle][y * size + x]
                };
                let (a, b, c, d) =
                    (value(true, true), value(true, false), value(false, true), value(false, false));
                let sum = |pick: fn((f64, f64)) -> f64| {
                    pick(a) + signs.1 * pick(b) + signs.0 * pick(c) + signs.0 * signs.1 * pick(d)
                };
                (share * sum(|z| z.0), share * sum(|z| z.1))
            };
            let mut parts = [0.0; PARTS];
            (0..=4).for_each(|l| parts[EVEN_EVEN + l] = quarter(l, (1.0, 1.0)).0 as f32);
            (1..=3).for_each(|l| parts[ODD_ODD + l - 1] = quarter(l, (-1.0, -1.0)).0 as f32);
            (1..=4).for_each(|l| parts[ODD_EVEN + l - 1] = quarter(l, (-1.0, 1.0)).1 as f32);
            (0..=3).for_each(|l| parts[EVEN_ODD + l] = quarter(l, (1.0, -1.0)).1 as f32);
            parts
        });
        Self { side, stride, radius, weights: weights.collect() }
    }

    /// The side of the maps of moduli.
    pub(crate) fn out(&self) -> usize {
        self.side.div_ceil(self.stride)
    }

    /// Numbers of an image with nothing around it.
    pub(crate) fn padded(&self) -> usize {
        (self.side + 2 * self.radius).pow(2)
    }

    /// The moduli of the waves on images, whose numbers stand side by side: a map for each angle. `padded` is working room; its border is zero
    /// and stays so.
    #[inline(always)]
    pub(crate) fn moduli<S: Simd>(
        &self,
        simd: S,
        images: &[S::f32s],
        padded: &mut [S::f32s],
        moduli: &mut [S::f32s],
    ) {
        let (side, radius, out) = (self.side, self.radius, self.out());
        let wide = side + 2 * radius;
        for (y, row) in images.chunks_exact(side).enumerate() {
            padded[(y + radius) * wide + radius..][..side].copy_from_slice(row);
        }
        for cell in 0..out * out {
            let (y, x) = (cell / out * self.stride + radius, cell % out * self.stride + radius);
            let sums = self.parts(simd, padded, y * wide + x);
            for (angle, modulus) in angles(simd, &sums).into_iter().enumerate() {
                moduli[angle * out * out + cell] = modulus;
            }
        }
    }

    /// The sixteen sums around a place.
    #[inline(always)]
    fn parts<S: Simd>(&self, simd: S, padded: &[S::f32s], middle: usize) -> [S::f32s; PARTS] {
        let wide = self.side + 2 * self.radius;
        let mut sums = [simd.splat_f32s(0.0); PARTS];
        for (dy, weights) in self.weights.chunks_exact(self.radius + 1).enumerate() {
            let below = &padded[middle + dy * wide - self.radius..][..=2 * self.radius];
            let above = &padded[middle - dy * wide - self.radius..][..=2 * self.radius];
            for (dx, weights) in weights.iter().enumerate() {
                let (right, left) = (self.radius + dx, self.radius - dx);
                let (sum, gap) =
                    (simd.add_f32s(below[right], below[left]), simd.sub_f32s(below[right], below[left]));
                let (sum_above, gap_above) =
                    (simd.add_f32s(above[right], above[left]), simd.sub_f32s(above[right], above[left]));
                let even_even = simd.add_f32s(sum, sum_above);
                let odd_even = simd.sub_f32s(sum, sum_above);
                let even_odd = simd.add_f32s(gap, gap_above);
                let odd_odd = simd.sub_f32s(gap, gap_above);
                let mut add = |part: usize, folded: S::f32s| {
                    sums[part] = simd.mul_add_e_f32s(simd.splat_f32s(weights[part]), folded, sums[part]);
                };
                add(0, even_even);
                add(1, even_even);
                add(2, even_even);
                add(3, even_even);
                add(4, even_even);
                add(5, odd_odd);
                add(6, odd_odd);
                add(7, odd_odd);
                add(8, odd_even);
                add(9, odd_even);
                add(10, odd_even);
                add(11, odd_even);
                add(12, even_odd);
                add(13, even_odd);
                add(14, even_odd);
                add(15, even_odd);
            }
        }
        sums
    }
}

/// The moduli of eight angles from sixteen sums.
#[inline(always)]
fn angles<S: Simd>(simd: S, sums: &[S::f32s; PARTS]) -> [S::f32s; ANGLES] {
    let modulus = |a: S::f32s, b: S::f32s| simd.sqrt_f32s(simd.mul_add_e_f32s(a, a, simd.mul_f32s(b, b)));
    let one = |l: usize| {
        let (real, turn) = (sums[EVEN_EVEN + l], sums[ODD_ODD + l - 1]);
        let (imaginary, other) = (sums[ODD_EVEN + l - 1], sums[EVEN_ODD + l]);
        modulus(simd.add_f32s(real, turn), simd.add_f32s(imaginary, other))
    };
    let mirrored = |l: usize| {
        let (real, turn) = (sums[EVEN_EVEN + l], sums[ODD_ODD + l - 1]);
        let (imaginary, other) = (sums[ODD_EVEN + l - 1], sums[EVEN_ODD + l]);
        modulus(simd.sub_f32s(real, turn), simd.sub_f32s(imaginary, other))
    };
    // Along x there is nothing odd in y, along y nothing odd in x
    let along_x = modulus(sums[EVEN_EVEN], sums[EVEN_ODD]);
    let along_y = modulus(sums[EVEN_EVEN + 4], sums[ODD_EVEN + 3]);
    [along_x, one(1), one(2), one(3), along_y, mirrored(3), mirrored(2), mirrored(1)]
}
