//! The patches of an image as the rows of a matrix, and back.
//!
//! Row (i, j) has the pixels (s·i + a - p, s·j + b - p) for 0 ≤ a, b < size, a slowest, zeros outside of the image, where s
//! is the stride and p the padding. A convolution is that matrix times the filters.

use super::Image;

/// Which patches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patches {
    /// Of images like this
    pub image: Image,
    /// Pixels along each side
    pub size: usize,
    /// From one patch to the next
    pub stride: usize,
    /// Zeros around the image
    pub padding: usize,
}

impl Patches {
    /// Patches from top to bottom.
    pub(crate) fn rows(&self) -> usize {
        (self.image.height + 2 * self.padding - self.size) / self.stride + 1
    }

    /// Patches from left to right.
    pub(crate) fn columns(&self) -> usize {
        (self.image.width + 2 * self.padding - self.size) / self.stride + 1
    }

    /// All patches.
    pub(crate) fn count(&self) -> usize {
        self.rows() * self.columns()
    }

    /// Numbers in a patch.
    pub(crate) fn width(&self) -> usize {
        self.size * self.size * self.image.channels
    }

    /// Whether the patches are the pixels themselves.
    pub(crate) fn are_pixels(&self) -> bool {
        (self.size, self.stride, self.padding) == (1, 1, 0)
    }

    /// The patches of `image`.
    pub(crate) fn gather(&self, image: &[f32], into: &mut [f32]) {
        let strip = self.size * self.image.channels;
        for (i, row) in into.chunks_exact_mut(self.columns() * self.width()).enumerate() {
            for (j, patch) in row.chunks_exact_mut(self.width()).enumerate() {
                for (a, strip) in patch.chunks_exact_mut(strip).enumerate() {
                    match self.strip(i, j, a) {
                        Strip::Outside => strip.fill(0.0),
                        Strip::Inside(start) => strip.copy_from_slice(&image[start..start + strip.len()]),
                        Strip::Edge { start, skip, len } => {
                            strip.fill(0.0);
                            strip[skip..skip + len].copy_from_slice(&image[start..start + len]);
                        }
                    }
                }
            }
        }
    }

    /// Adds what is in the patches to the pixels it came from.
    pub(crate) fn scatter(&self, from: &[f32], image: &mut [f32]) {
        let strip = self.size * self.image.channels;
        for (i, row) in from.chunks_exact(self.columns() * self.width()).enumerate() {
            for (j, patch) in row.chunks_exact(self.width()).enumerate() {
                for (a, strip) in patch.chunks_exact(strip).enumerate() {
                    let (start, part) = match self.strip(i, j, a) {
                        Strip::Outside => continue,
                        Strip::Inside(start) => (start, strip),
                        Strip::Edge { start, skip, len } => (start, &strip[skip..skip + len]),
                    };
                    for (pixel, value) in image[start..start + part.len()].iter_mut().zip(part) {
                        *pixel += value;
                    }
                }
            }
        }
    }

    /// Where row `a` of the pixels of patch (i, j) lies in the image.
    #[inline]
    fn strip(&self, i: usize, j: usize, a: usize) -> Strip {
        let Image { height, width, channels } = self.image;
        let y = i * self.stride + a;
        if y < self.padding || y - self.padding >= height {
            return Strip::Outside;
        }
        let above = (y - self.padding) * width;
        // The pixels from left to right of the image with its zeros, and those of the image itself
        let (left, right) = (j * self.stride, j * self.stride + self.size);
        let (first, last) = (left.max(self.padding), right.min(self.padding + width));
        let start = (above + first - self.padding) * channels;
        if (first, last) == (left, right) {
            Strip::Inside(start)
        } else {
            Strip::Edge { start, skip: (first - left) * channels, len: (last - first) * channels }
        }
    }
}

/// A row of pixels of a patch.
enum Strip {
    Outside,
    Inside(usize),
    Edge { start: usize, skip: usize, len: usize },
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "copied numbers are the same")]
mod tests {
    use super::*;

    fn patches(size: usize, stride: usize, padding: usize) -> Patches {
        Patches { image: Image { height: 3, width: 4, channels: 1 }, size, stride, padding }
    }

    #[test]
    fn patches_of_three_by_four_pixels() {
        let image: Vec<f32> = (1..=12u8).map(f32::from).collect();
        let inside = patches(3, 1, 0);
        let mut rows = vec![9.0; inside.count() * 9];
        inside.gather(&image, &mut rows);
        assert_eq!(rows[..9], [1.0, 2.0, 3.0, 5.0, 6.0, 7.0, 9.0, 10.0, 11.0]);
        assert_eq!(rows[9..], [2.0, 3.0, 4.0, 6.0, 7.0, 8.0, 10.0, 11.0, 12.0]);
        let around = patches(3, 2, 1);
        assert_eq!((around.rows(), around.columns()), (2, 2));
        let mut rows = vec![9.0; 4 * 9];
        around.gather(&image, &mut rows);
        assert_eq!(rows[..9], [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 5.0, 6.0]);
        assert_eq!(rows[27..], [6.0, 7.0, 8.0, 10.0, 11.0, 12.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn scattering_is_the_transpose_of_gathering() {
        for patches in [patches(3, 1, 0), patches(3, 1, 1), patches(3, 2, 1), patches(1, 1, 0)] {
            let image: Vec<f32> = (1..=12u8).map(f32::from).collect();
            let weights: Vec<f32> = (0..patches.count() * patches.width()).map(|i| (i % 7) as f32).collect();
            let (mut rows, mut back) = (vec![0.0; weights.len()], vec![0.0; image.len()]);
            patches.gather(&image, &mut rows);
            patches.scatter(&weights, &mut back);
            // ⟨w, gather(x)⟩ = ⟨scatter(w), x⟩
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
            assert_eq!(dot(&weights, &rows), dot(&back, &image), "{patches:?}");
        }
    }
}
