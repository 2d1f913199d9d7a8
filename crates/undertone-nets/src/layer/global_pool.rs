//! A whole image becomes one pixel.

use super::{Backward, Image, Layer, Mode};

/// Which pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pooling {
    /// The largest number of each channel
    Largest,
    /// The mean of each channel
    Average,
}

/// One number for each channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobalPool {
    /// What comes in
    pub image: Image,
    /// What comes out
    pub pooling: Pooling,
}

impl GlobalPool {
    fn pixels(&self) -> f32 {
        (self.image.height * self.image.width) as f32
    }
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
                    *y = if self.pooling == Pooling::Largest { y.max(*x) } else { *y + x };
                }
            }
            if self.pooling == Pooling::Average {
                for y in y.iter_mut() {
                    *y /= self.pixels();
                }
            }
        }
    }

    fn backward(&self, pass: Backward<'_>) {
        let Some(back) = pass.back else { return };
        let (channels, inputs) = (self.image.channels, self.inputs());
        let after = pass.output.chunks_exact(channels).zip(pass.slope.chunks_exact(channels));
        let images = pass.input.chunks_exact(inputs).zip(back.chunks_exact_mut(inputs));
        for ((image, back), (y, slope)) in images.zip(after) {
            for (k, (y, slope)) in y.iter().zip(slope).enumerate() {
                let mut of_channel = back[k..].iter_mut().step_by(channels);
                match self.pooling {
                    Pooling::Average => of_channel.for_each(|back| *back += slope / self.pixels()),
                    // All of the slope goes to the first of the largest.
                    Pooling::Largest => {
                        let first = image[k..].iter().step_by(channels).position(|x| x >= y);
                        if let Some(back) = first.and_then(|first| of_channel.nth(first)) {
                            *back += slope;
                        }
                    }
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
        for pooling in [Pooling::Largest, Pooling::Average] {
            let image = Image { height: 3, width: 2, channels: 4 };
            check(&GlobalPool { image, pooling }, &normal(3 * 24, 0));
        }
    }
}
