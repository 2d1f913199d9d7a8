//! Each channel gets mean β and deviation γ over the pixels of a batch.
//!
//! > y = γ·(x - m)/√(v + 1/1000) + β
//!
//! with m and v the mean and the variance of the images that a core takes at a time, some of a batch: S. Ioffe, C. Szegedy, *Batch
//! normalization* (2015), in the form of E. Hoffer, I. Hubara, D. Soudry, *Train longer, generalize better* (2017), which makes the result
//! independent of the number of cores. For predictions m and v are running means.

use super::{Backward, Layer, Mode};
use crate::coins::Coins;
use std::ops::Range;

/// Added to variances
const LEAST: f64 = 1e-3;

/// Weights: γ, β, m, v of each channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchNorm {
    /// Of an image
    pub pixels: usize,
    /// Of a pixel
    pub channels: usize,
}

impl BatchNorm {
    /// The mean of f over all pixels, for each channel.
    fn mean(&self, values: &[f32], f: impl Fn(usize, usize, f32) -> f32) -> Vec<f64> {
        let c = self.channels;
        let mut sums = vec![0f64; c];
        // 64 pixels in 32 bits, their sums in 64
        let mut part = vec![0f32; c];
        for (block, pixels) in values.chunks(64 * c).enumerate() {
            part.fill(0.0);
            for (row, pixel) in pixels.chunks_exact(c).enumerate() {
                for (k, (part, x)) in part.iter_mut().zip(pixel).enumerate() {
                    *part += f(block * 64 + row, k, *x);
                }
            }
            sums.iter_mut().zip(&part).for_each(|(sum, part)| *sum += f64::from(*part));
        }
        let count = (values.len() / c) as f64;
        sums.iter().map(|sum| sum / count).collect()
    }

    /// The mean and the variance of each channel.
    fn moments(&self, input: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let single = |values: Vec<f64>| values.into_iter().map(|x| x as f32).collect::<Vec<_>>();
        let mean = single(self.mean(input, |_, _, x| x));
        let variance = single(self.mean(input, |_, k, x| (x - mean[k]) * (x - mean[k])));
        (mean, variance)
    }
}

/// 1/√(v + 1/1000).
fn inverse_deviations(variance: &[f32]) -> Vec<f32> {
    variance.iter().map(|v| (1.0 / (f64::from(*v) + LEAST).sqrt()) as f32).collect()
}

impl Layer for BatchNorm {
    fn inputs(&self) -> usize {
        self.pixels * self.channels
    }

    fn outputs(&self) -> usize {
        self.pixels * self.channels
    }

    fn weights(&self) -> usize {
        4 * self.channels
    }

    fn statistics(&self) -> Range<usize> {
        2 * self.channels..4 * self.channels
    }

    fn initialise(&self, weights: &mut [f32], _: &mut Coins) {
        for (values, start) in weights.chunks_exact_mut(self.channels).zip([1.0, 0.0, 0.0, 1.0]) {
            values.fill(start);
        }
    }

    fn forward(&self, weights: &[f32], input: &[f32], output: &mut [f32], mode: Mode, _: &mut Vec<f32>) {
        let c = self.channels;
        let (mean, variance) = match mode {
            Mode::Training => self.moments(input),
            Mode::Prediction => (weights[2 * c..3 * c].to_vec(), weights[3 * c..].to_vec()),
        };
        let (gamma, beta) = weights[..2 * c].split_at(c);
        let scale: Vec<f32> = inverse_deviations(&variance).iter().zip(gamma).map(|(s, g)| s * g).collect();
        let shift: Vec<f32> = (0..c).map(|k| beta[k] - mean[k] * scale[k]).collect();
        for (y, x) in output.chunks_exact_mut(c).zip(input.chunks_exact(c)) {
            for k in 0..c {
                y[k] = x[k] * scale[k] + shift[k];
            }
        }
    }

    /// With x̂ = (x - m)/√(v + 1/1000) and s = ∂L/∂y: ∂L/∂γ = Σ s·x̂, ∂L/∂β = Σ s,
    ///
    /// > ∂L/∂x = γ/√(v + 1/1000)·(s - mean(s) - x̂·mean(s·x̂))
    fn backward(&self, pass: Backward<'_>) {
        let c = self.channels;
        let (mean, variance) = self.moments(pass.input);
        let inverse = inverse_deviations(&variance);
        let x_hat = |row: usize, k: usize| (pass.input[row * c + k] - mean[k]) * inverse[k];
        let of_shift = self.mean(pass.slope, |_, _, s| s);
        let of_scale = self.mean(pass.slope, |row, k, s| s * x_hat(row, k));
        let count = (pass.slope.len() / c) as f64;
        for k in 0..c {
            pass.gradient[k] += (count * of_scale[k]) as f32;
            pass.gradient[c + k] += (count * of_shift[k]) as f32;
            pass.gradient[2 * c + k] += mean[k];
            pass.gradient[3 * c + k] += variance[k];
        }
        let Some(back) = pass.back else { return };
        let (of_shift, of_scale): (Vec<f32>, Vec<f32>) =
            of_shift.iter().zip(&of_scale).map(|(a, b)| (*a as f32, *b as f32)).unzip();
        for (row, (back, slope)) in back.chunks_exact_mut(c).zip(pass.slope.chunks_exact(c)).enumerate() {
            for k in 0..c {
                let centred = slope[k] - of_shift[k] - x_hat(row, k) * of_scale[k];
                back[k] += pass.weights[k] * inverse[k] * centred;
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
        check(&BatchNorm { pixels: 4, channels: 3 }, &normal(3 * 12, 0));
        check(&BatchNorm { pixels: 50, channels: 1 }, &normal(2 * 50, 0));
    }

    #[test]
    fn a_channel_has_mean_zero_and_variance_one_in_training() {
        let layer = BatchNorm { pixels: 100, channels: 2 };
        let input: Vec<f32> = normal(400, 1).iter().map(|x| 3.0 * x + 5.0).collect();
        let mut weights = vec![0.0; 8];
        layer.initialise(&mut weights, &mut Coins::new(1, crate::coins::Purpose::Weights, 0, 0));
        let mut output = vec![0.0; 400];
        layer.forward(&weights, &input, &mut output, Mode::Training, &mut Vec::new());
        let (mean, variance) = layer.moments(&output);
        assert!(mean.iter().all(|m| m.abs() < 1e-5), "{mean:?}");
        // v/(v + 1/1000) with v near nine
        assert!(variance.iter().all(|v| (v - 1.0).abs() < 1e-3), "{variance:?}");
    }
}
