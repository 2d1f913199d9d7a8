//! The largest of each two by two pixels.

use super::{Backward, Image, Layer, Mode};

/// An image of half the height and width; what is left over at an odd edge is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxPool {
    /// What comes in
    pub image: Image,
}

impl MaxPool {
    /// What comes out.
    pub fn output(&self) -> Image {
        Image { height: self.image.height / 2, width: self.image.width / 2, channels: self.image.channels }
    }

    /// Where the four pixels of each pixel that comes out begin.
    fn four(&self, place: usize) -> [usize; 4] {
        let Image { width, channels, .. } = self.image;
        let (i, j) = (place / self.output().width, place % self.output().width);
        let first = (2 * i * width + 2 * j) * channels;
        [first, first + channels, first + width * channels, first + (width + 1) * channels]
    }
}

impl Layer for MaxPool {
    fn inputs(&self) -> usize {
        self.image.len()
    }

    fn outputs(&self) -> usize {
        self.output().len()
    }

    fn forward(&self, _: &[f32], input: &[f32], output: &mut [f32], _: Mode, _: &mut Vec<f32>) {
        let channels = self.image.channels;
        for (input, output) in input.chunks_exact(self.inputs()).zip(output.chunks_exact_mut(self.outputs()))
        {
            for (place, y) in output.chunks_exact_mut(channels).enumerate() {
                let [a, b, c, d] = self.four(place).map(|start| &input[start..start + channels]);
                for (k, y) in y.iter_mut().enumerate() {
                    *y = a[k].max(b[k]).max(c[k].max(d[k]));
                }
            }
        }
    }

    /// All of the slope goes to the first of the largest.
    fn backward(&self, pass: Backward<'_>) {
        let Some(back) = pass.back else { return };
        let (channels, inputs, outputs) = (self.image.channels, self.inputs(), self.outputs());
        let images = pass.input.chunks_exact(inputs).zip(back.chunks_exact_mut(inputs));
        let after = pass.output.chunks_exact(outputs).zip(pass.slope.chunks_exact(outputs));
        // One for each channel whose slope has not been given to anybody yet
        let mut left = vec![1.0f32; channels];
        for ((input, back), (output, slope)) in images.zip(after) {
            let pixels = output.chunks_exact(channels).zip(slope.chunks_exact(channels));
            for (place, (y, slope)) in pixels.enumerate() {
                left.fill(1.0);
                for start in self.four(place) {
                    let x = &input[start..start + channels];
                    let back = &mut back[start..start + channels];
                    give(x, y, slope, &mut left, back);
                }
            }
        }
    }
}

/// Gives what is left of the slope to those numbers of a pixel that are the largest.
fn give(x: &[f32], y: &[f32], slope: &[f32], left: &mut [f32], back: &mut [f32]) {
    // The same length for all, so that nothing is checked number by number
    let n = back.len();
    let (x, y, slope, left) = (&x[..n], &y[..n], &slope[..n], &mut left[..n]);
    for k in 0..n {
        let taken = if x[k] >= y[k] { left[k] } else { 0.0 };
        back[k] += taken * slope[k];
        left[k] -= taken;
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "copied numbers are the same")]
mod tests {
    use super::super::gradient_check::check;
    use super::*;

    #[test]
    fn its_gradient_is_the_difference() {
        for (image, count) in [((5, 4, 3), 2), ((2, 2, 70), 2)]
            .map(|((height, width, channels), count)| (Image { height, width, channels }, count))
        {
            // All different by a tenth at least: where two are equal there is no gradient.
            let all = (count * image.len()) as u32;
            let input: Vec<f32> = (0..all).map(|at| (at * 37 % all) as f32 / 10.0).collect();
            check(&MaxPool { image }, &input);
        }
    }

    #[test]
    fn of_equal_pixels_one_is_responsible() {
        let (layer, mut back) = (MaxPool { image: Image { height: 2, width: 2, channels: 1 } }, [0.0; 4]);
        layer.backward(Backward {
            weights: &[],
            input: &[1.0, 2.0, 2.0, 2.0],
            output: &[2.0],
            slope: &[3.0],
            gradient: &mut [],
            back: Some(&mut back),
            room: &mut Vec::new(),
        });
        assert_eq!(back, [0.0, 3.0, 0.0, 0.0]);
    }
}
