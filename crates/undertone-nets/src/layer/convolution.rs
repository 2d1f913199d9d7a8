//! Filters that are moved over an image, as products of matrices.
//!
//! The patches of a few images at a time are laid out as rows ([`Patches`](super::patches::Patches)), so few that they stay in the cache, and
//! multiplied by the filters. Laying them out again for the gradient is cheaper than keeping them: nine copies of a number
//! for 18 multiplications with each filter.

use super::patches::Patches;
use super::{Backward, Image, Layer, Mode, sized};
use crate::coins::Coins;
use crate::product::{add, add_rows, fill_rows, rows, set};

/// Numbers of patches at a time: half a megabyte.
const AT_A_TIME: usize = 1 << 17;

/// y = filters at each place of x, plus an intercept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Convolution {
    patches: Patches,
    filters: usize,
}

impl Convolution {
    /// Filters of `size` by `size` pixels. `size` is not larger than the image with its padding.
    pub fn new(image: Image, filters: usize, size: usize, stride: usize, padding: usize) -> Self {
        assert!(stride > 0 && size > 0 && size <= image.height.min(image.width) + 2 * padding, "filters fit");
        Self { patches: Patches { image, size, stride, padding }, filters }
    }

    /// What comes out.
    pub fn output(&self) -> Image {
        Image { height: self.patches.rows(), width: self.patches.columns(), channels: self.filters }
    }

    /// The matrix of the filters, and how many of the numbers are in it.
    fn matrix(&self) -> usize {
        self.patches.width() * self.filters
    }

    /// Images at a time.
    fn block(&self) -> usize {
        (AT_A_TIME / (self.patches.count() * self.patches.width())).max(1)
    }

    /// Lays out the patches of some images.
    fn gather(&self, images: &[f32], into: &mut [f32]) {
        let each = self.patches.count() * self.patches.width();
        for (image, into) in images.chunks_exact(self.inputs()).zip(into.chunks_exact_mut(each)) {
            self.patches.gather(image, into);
        }
    }
}

impl Layer for Convolution {
    fn inputs(&self) -> usize {
        self.patches.image.len()
    }

    fn outputs(&self) -> usize {
        self.output().len()
    }

    fn weights(&self) -> usize {
        self.matrix() + self.filters
    }

    /// Patches of some images, unless they are the pixels.
    fn room(&self, examples: usize) -> usize {
        let each = self.patches.count() * self.patches.width();
        if self.patches.are_pixels() { 0 } else { each * self.block().min(examples) }
    }

    /// As those of [`Dense`](super::Dense).
    fn initialise(&self, weights: &mut [f32], coins: &mut Coins) {
        let (matrix, intercept) = weights.split_at_mut(self.matrix());
        coins.fill_normal(matrix, (2.0 / self.patches.width() as f64).sqrt());
        intercept.fill(0.0);
    }

    fn forward(&self, weights: &[f32], input: &[f32], output: &mut [f32], _: Mode, room: &mut Vec<f32>) {
        let (matrix, intercept) = weights.split_at(self.matrix());
        let (matrix, width) = (rows(matrix, self.filters), self.patches.width());
        fill_rows(output, intercept);
        if self.patches.are_pixels() {
            return add(output, rows(input, width), matrix);
        }
        let block = self.block();
        let images = input.chunks(block * self.inputs());
        for (images, output) in images.zip(output.chunks_mut(block * self.outputs())) {
            let laid_out = sized(room, output.len() / self.filters * width);
            self.gather(images, laid_out);
            add(output, rows(laid_out, width), matrix);
        }
    }

    fn backward(&self, mut pass: Backward<'_>) {
        let (matrix, _) = pass.weights.split_at(self.matrix());
        let (matrix, width) = (rows(matrix, self.filters), self.patches.width());
        let (of_matrix, of_intercept) = pass.gradient.split_at_mut(self.matrix());
        add_rows(of_intercept, pass.slope);
        if self.patches.are_pixels() {
            let slope = rows(pass.slope, self.filters);
            add(of_matrix, rows(pass.input, width).transpose(), slope);
            if let Some(back) = pass.back {
                add(back, slope, matrix.transpose());
            }
            return;
        }
        let (block, each) = (self.block(), self.patches.count() * width);
        let images = pass.input.chunks(block * self.inputs());
        for (number, (images, slope)) in images.zip(pass.slope.chunks(block * self.outputs())).enumerate() {
            let laid_out = sized(pass.room, slope.len() / self.filters * width);
            self.gather(images, laid_out);
            let slope = rows(slope, self.filters);
            add(of_matrix, rows(laid_out, width).transpose(), slope);
            if let Some(back) = &mut pass.back {
                // ∂L/∂patches, in the same place
                set(laid_out, slope, matrix.transpose());
                let back = &mut back[number * block * self.inputs()..][..images.len()];
                for (laid_out, back) in laid_out.chunks_exact(each).zip(back.chunks_exact_mut(self.inputs()))
                {
                    self.patches.scatter(laid_out, back);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::gradient_check::{check, normal};
    use super::*;

    const IMAGE: Image = Image { height: 5, width: 4, channels: 2 };

    #[test]
    fn it_is_the_sum_over_the_pixels_of_a_patch() {
        let layer = Convolution::new(IMAGE, 3, 3, 1, 1);
        let (input, weights) = (normal(IMAGE.len(), 0), normal(layer.weights(), 1));
        let mut output = vec![0.0; layer.outputs()];
        layer.forward(&weights, &input, &mut output, Mode::Training, &mut Vec::new());
        let pixel = |y: usize, x: usize, channel: usize| {
            let inside = (1..=5).contains(&y) && (1..=4).contains(&x);
            if inside { input[((y - 1) * 4 + x - 1) * 2 + channel] } else { 0.0 }
        };
        for (place, &found) in output.iter().enumerate() {
            let (y, x, filter) = (place / 12, place / 3 % 4, place % 3);
            let mut sum = weights[54 + filter];
            for part in 0..18 {
                let (a, b, channel) = (part / 6, part / 2 % 3, part % 2);
                sum += weights[part * 3 + filter] * pixel(y + a, x + b, channel);
            }
            assert!((sum - found).abs() < 1e-4, "{place}: {found} for {sum}");
        }
    }

    #[test]
    fn its_gradient_is_the_difference() {
        for (size, stride, padding) in [(3, 1, 0), (3, 1, 1), (3, 2, 1), (1, 1, 0)] {
            check(&Convolution::new(IMAGE, 3, size, stride, padding), &normal(2 * IMAGE.len(), 0));
        }
    }

    #[test]
    fn images_that_do_not_fit_together_into_the_cache_are_taken_one_after_the_other() {
        let layer = Convolution::new(Image { height: 28, width: 28, channels: 8 }, 2, 3, 1, 1);
        assert!(layer.block() < 5);
        let (input, weights) = (normal(5 * layer.inputs(), 0), normal(layer.weights(), 1));
        let pass = |input: &[f32]| {
            let (mut output, mut gradient, mut back) =
                (vec![0.0; input.len() / 4], vec![0.0; weights.len()], vec![0.0; input.len()]);
            let mut room = Vec::new();
            layer.forward(&weights, input, &mut output, Mode::Training, &mut room);
            layer.backward(Backward {
                weights: &weights,
                input,
                output: &output,
                slope: &output,
                gradient: &mut gradient,
                back: Some(&mut back),
                room: &mut room,
            });
            (output, gradient, back)
        };
        let (output, gradient, back) = pass(&input);
        let mut sum = vec![0.0; gradient.len()];
        for (number, image) in input.chunks_exact(layer.inputs()).enumerate() {
            let (alone, of_one, back_alone) = pass(image);
            assert_eq!(alone, output[number * alone.len()..][..alone.len()]);
            assert_eq!(back_alone, back[number * image.len()..][..image.len()]);
            sum.iter_mut().zip(of_one).for_each(|(sum, one)| *sum += one);
        }
        for (sum, all) in sum.iter().zip(&gradient) {
            assert!((sum - all).abs() < 1e-3 * all.abs().max(100.0), "{sum} for {all}");
        }
    }
}
