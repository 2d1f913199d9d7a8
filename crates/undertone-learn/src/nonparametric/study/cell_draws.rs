//! Many people at once: what a curator releases, drawn cell by cell.
//!
//! Who lies in a cell and what their clipped labels add up to are normal variables with the exact means and variances, which sums of
//! thousands of bounded numbers are; the noise is the mechanism's own. N may then be a billion.

use super::places::normal;
use super::setting::{Setting, generator};
use super::waves::{self, Waves};
use crate::LearnError;
use crate::evaluation::{Figure, mean};
use crate::nonparametric::rates::cells_per_axis;
use rayon::prelude::*;
use undertone_privacy::central::NoisySum;
use undertone_privacy::number::Bounds;

impl Setting {
    /// The excess risk of means of cells, for numbers and a curator.
    pub fn excess_by_cells(&self, people: u64, repetitions: u64, seed: u64) -> Result<Figure, LearnError> {
        let parts = cells_per_axis(self.width(people)?)?;
        let one = |repetition| self.cells(people, parts, seed, repetition);
        let runs = (0..repetitions).into_par_iter().map(one).collect::<Result<Vec<f64>, _>>()?;
        Ok(mean(&runs))
    }

    /// What cells cannot show, ∫η² less the mean of η̄², and what the answers are off: all cells weigh alike.
    fn cells(&self, people: u64, parts: u32, seed: u64, repetition: u64) -> Result<f64, LearnError> {
        let mut rng = generator(seed, people, repetition);
        let axes = Waves::draw(self.dimension, &mut rng).cell_means(parts);
        let cells = parts.pow(self.dimension);
        let expected = people as f64 / f64::from(cells);
        let (mut seen, mut error) = (0.0, 0.0);
        for cell in 0..cells {
            let step = |axis: usize| (cell / parts.pow(axis as u32) % parts) as usize;
            let truth: f64 = axes.iter().enumerate().map(|(axis, means)| means[step(axis)]).sum();
            let n = (expected + expected.sqrt() * normal(&mut rng)).round().max(1.0);
            let clip = self.cell_clip(n);
            let (first, second) = self.label_moments(clip);
            let spread = ((second - (first * truth).powi(2)) / n).sqrt();
            let bounds = Bounds::new(-clip, clip)?;
            let steps = NoisySum::new(bounds, self.epsilon)?.noise().sample(&mut rng);
            let noise = 2.0 * clip * steps as f64 / f64::from(bounds.steps()) / n;
            let answer = (first * truth + spread * normal(&mut rng) + noise).clamp(-clip, clip);
            seen += truth * truth;
            error += (answer - truth).powi(2);
        }
        Ok(waves::square(self.dimension) + (error - seen) / f64::from(cells))
    }
}
