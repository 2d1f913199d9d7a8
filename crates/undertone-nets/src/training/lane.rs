//! Forward and back through a network, by parts of a batch.

use super::pieces::pieces;
use super::{Dataset, Training};
use crate::coins::{Coins, Purpose};
use crate::layer::{Image, Mode};
use crate::loss::softmax;
use crate::network::{Network, Tape};
use rayon::prelude::*;

/// Parts of a batch are shared out among so many lanes, each with a gradient of its own. More would keep more cores busy, and cost
/// more additions.
pub(super) const LANES: usize = 4;
/// Numbers of a tape that stay in the cache of a core, more or less
const TAPE: usize = 1 << 19;
/// Examples at least, where statistics are taken of them
const FOR_STATISTICS: usize = 16;

/// Examples that are taken at a time, but for the last ones of a batch.
pub(super) fn part(network: &Network, batch: usize) -> usize {
    let fitting = TAPE / network.numbers();
    let least = if network.statistics().next().is_some() { FOR_STATISTICS } else { 4 };
    fitting.max(least).min(batch.div_ceil(LANES)).max(1)
}

/// A step: which examples, at which weights.
pub(super) struct Step<'a> {
    pub(super) network: &'a Network,
    pub(super) weights: &'a [f32],
    pub(super) data: &'a Dataset,
    pub(super) training: &'a Training,
    /// The shape of the images, if they are any
    pub(super) image: Option<Image>,
    pub(super) epoch: usize,
    /// Rows of the data
    pub(super) batch: &'a [usize],
    /// How many were seen in this epoch before
    pub(super) first: usize,
}

/// One of several workers, and what it found in a step.
#[derive(Default)]
pub(super) struct Lane {
    tape: Tape,
    /// Σ of the gradients of its examples
    pub(super) gradient: Vec<f32>,
    /// Σ of their losses
    pub(super) loss: f64,
    /// How many parts
    pub(super) parts: usize,
    partner: Vec<f32>,
    probabilities: Vec<f32>,
}

impl Lane {
    /// Goes through those parts of the batch that belong to lane `number`.
    pub(super) fn run(&mut self, number: usize, step: &Step<'_>) {
        self.gradient.resize(step.network.weights(), 0.0);
        self.gradient.fill(0.0);
        (self.loss, self.parts) = (0.0, 0);
        let size = part(step.network, step.batch.len());
        for places in pieces(step.batch.len(), size).skip(number).step_by(LANES) {
            self.run_part(step, places);
        }
    }

    fn run_part(&mut self, step: &Step<'_>, places: std::ops::Range<usize>) {
        let Step { network, weights, data, training, .. } = *step;
        self.tape.set_examples(network, places.len());
        let mut shares = Vec::with_capacity(places.len());
        for (place, input) in places.clone().zip(self.tape.input().chunks_exact_mut(data.width)) {
            shares.push(step.write(place, input, &mut self.partner));
        }
        network.forward(weights, &mut self.tape, Mode::Training);
        let (scores, slopes) = self.tape.scores_and_slopes();
        self.probabilities.resize(data.classes, 0.0);
        slopes.fill(0.0);
        let each = scores.chunks_exact(data.classes).zip(slopes.chunks_exact_mut(data.classes));
        for ((place, share), (scores, slope)) in places.zip(shares).zip(each) {
            softmax(scores, &mut self.probabilities);
            for (row, share) in [(step.batch[place], share), (step.partner(place), 1.0 - share)] {
                if share > 0.0 {
                    let (p, t) = (&self.probabilities, data.target(row));
                    self.loss += training.loss.add_slope(p, t, share, slope);
                }
            }
        }
        network.backward(weights, &mut self.tape, &mut self.gradient);
        self.parts += 1;
    }
}

impl Step<'_> {
    /// The row that the one at `place` is mixed with: the next one of the batch.
    fn partner(&self, place: usize) -> usize {
        self.batch[(place + 1) % self.batch.len()]
    }

    /// Writes the input at `place` of the batch; the share of the row itself in it.
    fn write(&self, place: usize, input: &mut [f32], partner: &mut Vec<f32>) -> f32 {
        self.write_row(place, input);
        let Some(alpha) = self.training.mixup.filter(|_| self.batch.len() > 1) else { return 1.0 };
        let place_of_mix = (self.first + place) as u64;
        let mut coins = Coins::new(self.training.seed, Purpose::Mix, self.epoch as u64, place_of_mix);
        let share = coins.beta(alpha) as f32;
        partner.resize(input.len(), 0.0);
        self.write_row((place + 1) % self.batch.len(), partner);
        for (x, other) in input.iter_mut().zip(partner) {
            *x = share * *x + (1.0 - share) * *other;
        }
        share
    }

    /// The row at `place` of the batch, as it looks in this epoch.
    fn write_row(&self, place: usize, into: &mut [f32]) {
        let row = self.data.row(self.batch[place]);
        match self.image {
            Some(image) if !self.training.augmentation.is_none() => {
                let place = (self.first + place) as u64;
                let mut coins = Coins::new(self.training.seed, Purpose::Image, self.epoch as u64, place);
                let blank = self.data.scale.apply(0.0);
                self.training.augmentation.apply(image, row, blank, &mut coins, into);
            }
            _ => into.copy_from_slice(row),
        }
    }
}

/// How many of `count` rows are predicted at a time: more than in training, where there is room for it.
pub(super) fn together(network: &Network, count: usize) -> usize {
    let most = (8 * TAPE / network.numbers()).clamp(1, 32);
    part(network, count.max(1)).max(most)
}

/// Probabilities of rows that `write` writes, on all cores; even ones of a row that is beyond all numbers on its way.
pub(crate) fn predict(
    network: &Network,
    weights: &[f32],
    count: usize,
    write: impl Fn(usize, &mut [f32]) + Sync,
) -> Vec<f32> {
    let (size, classes) = (together(network, count), network.outputs());
    let mut probabilities = vec![0.0; count * classes];
    probabilities.par_chunks_mut(size * classes).enumerate().for_each_init(
        Tape::default,
        |tape, (number, into)| {
            tape.set_examples(network, into.len() / classes);
            for (at, input) in tape.input().chunks_exact_mut(network.inputs()).enumerate() {
                write(number * size + at, input);
            }
            network.forward(weights, tape, Mode::Prediction);
            let scores = tape.scores().chunks_exact(classes).zip(tape.finite(into.len() / classes));
            for (p, (scores, finite)) in into.chunks_exact_mut(classes).zip(scores) {
                if finite {
                    softmax(scores, p);
                } else {
                    p.fill(1.0 / classes as f32);
                }
            }
        },
    );
    probabilities
}
