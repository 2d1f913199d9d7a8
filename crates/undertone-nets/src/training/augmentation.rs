//! Images that are a little different each time.

use crate::coins::Coins;
use crate::layer::Image;
use serde::{Deserialize, Serialize};

/// What is done to an image. Nothing, by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Augmentation {
    /// It is moved by up to so many pixels along either side: a crop of the image with a margin
    pub shift: usize,
    /// Left and right change places, every other time
    pub flip: bool,
    /// A square of so many pixels is blanked with the mean of all pixels: T. DeVries, G. Taylor, *Improved regularization of
    /// convolutional neural networks with cutout* (2017). Its centre is any pixel.
    pub cutout: usize,
}

impl Augmentation {
    /// Whether images stay as they are.
    pub(crate) fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// A new version of `from`, where `blank` is what black has become and zero is the mean.
    pub(crate) fn apply(&self, image: Image, from: &[f32], blank: f32, coins: &mut Coins, to: &mut [f32]) {
        let Image { height, width, channels } = image;
        let span = 2 * self.shift + 1;
        // From 0 to 2·shift, of which `shift` is no move at all
        let (down, right) = (coins.below(span), coins.below(span));
        let flip = self.flip && coins.below(2) == 1;
        for (y, row) in to.chunks_exact_mut(width * channels).enumerate() {
            let source = (y + down).checked_sub(self.shift).filter(|y| *y < height);
            for (x, pixel) in row.chunks_exact_mut(channels).enumerate() {
                let x = if flip { width - 1 - x } else { x };
                let column = (x + right).checked_sub(self.shift).filter(|x| *x < width);
                match (source, column) {
                    (Some(y), Some(x)) => {
                        pixel.copy_from_slice(&from[(y * width + x) * channels..][..channels]);
                    }
                    _ => pixel.fill(blank),
                }
            }
        }
        if self.cutout > 0 {
            let around = |centre: usize, end: usize| {
                let first = centre.saturating_sub(self.cutout / 2);
                first..(centre + self.cutout.div_ceil(2)).min(end)
            };
            let (rows, columns) = (around(coins.below(height), height), around(coins.below(width), width));
            for y in rows {
                to[(y * width + columns.start) * channels..(y * width + columns.end) * channels].fill(0.0);
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "copied numbers are the same")]
mod tests {
    use super::*;
    use crate::coins::Purpose;

    const IMAGE: Image = Image { height: 4, width: 5, channels: 2 };

    fn versions(augmentation: Augmentation) -> Vec<Vec<f32>> {
        let from: Vec<f32> = (1..=40u8).map(f32::from).collect();
        let version = |place| {
            let mut to = vec![99.0; 40];
            let mut coins = Coins::new(1, Purpose::Image, 0, place);
            augmentation.apply(IMAGE, &from, -1.0, &mut coins, &mut to);
            to
        };
        (0..500).map(version).collect()
    }

    #[test]
    fn nothing_is_done_unless_asked_for() {
        let from: Vec<f32> = (1..=40u8).map(f32::from).collect();
        assert!(versions(Augmentation::default()).iter().all(|version| *version == from));
    }

    #[test]
    fn a_shift_keeps_neighbours_and_every_shift_occurs() {
        let mut seen = std::collections::BTreeSet::new();
        for version in versions(Augmentation { shift: 1, ..Augmentation::default() }) {
            let value = |y: usize, x: usize| version[(y * 5 + x) * 2];
            // The pixel in the middle came from there or beside it: value 2·(5y + x) + 1 for row y, column x
            seen.insert(value(1, 2) as u32);
            if value(2, 3) > 0.0 {
                assert_eq!(value(2, 3) - value(1, 2), 12.0);
            }
        }
        let expected = [0, 1, 2].iter().flat_map(|y| [1, 2, 3].map(|x| 2 * (5 * y + x) + 1));
        assert_eq!(seen, expected.collect());
    }

    #[test]
    fn a_mirrored_row_is_the_row_backwards_half_of_the_time() {
        let versions = versions(Augmentation { flip: true, ..Augmentation::default() });
        let mirrored = versions.iter().filter(|version| version[0] == 9.0).count();
        assert!(versions.iter().all(|v| v[..2] == [9.0, 10.0] || v[..2] == [1.0, 2.0]));
        // Five sigma of 500 fair coins
        assert!((195..=305).contains(&mirrored), "{mirrored}");
    }

    #[test]
    fn a_square_is_cut_out_at_most() {
        let versions = versions(Augmentation { cutout: 2, ..Augmentation::default() });
        for version in &versions {
            let gone = version.iter().filter(|x| **x == 0.0).count();
            assert!([2, 4, 8].contains(&gone), "{gone}");
        }
        assert!((0..40).all(|at| versions.iter().any(|version| version[at] == 0.0)));
    }
}
