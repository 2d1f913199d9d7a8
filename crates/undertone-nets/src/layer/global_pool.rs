//! A whole image becomes one pixel.

use super::{Backward, Image, Layer, Mode};

/// The largest number of each channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobalPool {
    /// What comes in
    pub image: Image,
}

impl Layer for GlobalPool {
    fn inputs(&self) -> usize {
        self.image.len()
    }

    fn outputs(&self) -> usize {
        self.image.channels
    }

    fn forward(&self, _: &[f32], input: &[f32], output: &mut [f32], _: Mode, _: &mut Vec<f32>) {
        let channels = self.image.channels;
        for (image, y) in input.chunks_exact(self.inputs()).zip(output.chunks_exact_mut(channels)) {
            y.copy_from_slice(&image[..channels]);
            for pixel in image[channels..].chunks_exact(channels) {
                for (y, x) in y.iter_mut().zip(pixel) {
                    *y = y.max(*x);
                }
            }
        }
    }

    /// All of the slope goes to the first of the largest.
    fn backward(&self, pass: Backward<'_>) {
        let Some(back) = pass.back else { return };
        let (channels, inputs) = (self.image.channels, self.inputs());
        let after = pass.output.chunks_exact(channels).zip(pass.slope.chunks_exact(channels));
        let images = pass.input.chunks_exact(inputs).zip(back.chunks_exact_mut(inputs));
        for ((image, back), (y, slope)) in images.zip(after) {
            for (k, (y, slope)) in y.iter().zip(slope).enumerate() {
                let first = image[k..].iter().step_by(channels).position(|x| x >= y);
                if let Some(pixel) = first {
                    back[pixel * channels + k] += slope;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::gradient_check::{check, normal};
    use super::*;

    #[test]
    fn its_gradient_is_the_difference() {
        check(&GlobalPool { image: Image { height: 3, width: 2, channels: 4 } }, &normal(3 * 24, 0));
    }
}
