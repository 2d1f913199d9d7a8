//! Epoch after epoch.

use super::checkpoint::{Best, Checkpoint, State};
use super::lane::{LANES, Lane, Step, predict};
use super::{Dataset, Training};
use crate::coins::{Coins, Purpose};
use crate::layer::Image;
use crate::network::Network;
use crate::{NetError, Progress};
use rayon::prelude::*;
use std::path::Path;
use undertone_learn::evaluation::terms::log_likelihood;

/// How fast statistics follow the batches.
const STATISTICS: f32 = 0.1;
/// Weights that a core takes at a time
const WEIGHTS: usize = 1 << 14;

/// Who wants to know, and where to go on.
#[derive(Clone, Copy, Default)]
pub(crate) struct Hooks<'a> {
    /// Is told after each epoch
    pub(crate) progress: Option<&'a dyn Fn(&Progress)>,
    /// Has the state after each epoch, under a name that only the same training has
    pub(crate) checkpoints: Option<&'a Path>,
}

/// The weights after training, from `start`.
pub(crate) fn fit(
    network: &Network,
    image: Option<Image>,
    training: &Training,
    data: &Dataset,
    start: Vec<f32>,
    hooks: Hooks<'_>,
) -> Result<Vec<f32>, NetError> {
    training.check()?;
    let checkpoint = hooks.checkpoints.map(|folder| Checkpoint::of(folder, network, training, data, &start));
    let found = checkpoint.as_ref().map(|checkpoint| checkpoint.read(network.weights())).transpose()?;
    let mut state = found.flatten().unwrap_or_else(|| State::new(start));
    let mut lanes: Vec<Lane> = (0..LANES).map(|_| Lane::default()).collect();
    while !state.is_over(training) {
        let loss = epoch(network, image, training, data, &mut state, &mut lanes)?;
        let gain = (!data.held_out.is_empty()).then(|| judge(network, data, &mut state));
        if let Some(checkpoint) = &checkpoint {
            checkpoint.write(&state)?;
        }
        if let Some(tell) = hooks.progress {
            tell(&Progress { epoch: state.epochs, epochs: training.epochs, loss, report_likelihood: gain });
        }
    }
    Ok(state.best.map_or(state.weights, |best| best.weights))
}

/// Sees everybody once; the mean loss.
fn epoch(
    network: &Network,
    image: Option<Image>,
    training: &Training,
    data: &Dataset,
    state: &mut State,
    lanes: &mut [Lane],
) -> Result<f64, NetError> {
    let epoch = state.epochs;
    let order = Coins::new(training.seed, Purpose::Order, epoch as u64, 0).permutation(data.training.len());
    let rows: Vec<usize> = order.into_iter().map(|place| data.training[place]).collect();
    let batches = rows.len().div_ceil(training.batch);
    let mut sum = 0.0;
    for (number, batch) in rows.chunks(training.batch).enumerate() {
        let first = number * training.batch;
        let weights = &state.weights;
        let step = Step { network, weights, data, training, image, epoch, batch, first };
        lanes.par_iter_mut().enumerate().for_each(|(number, lane)| lane.run(number, &step));
        let rate = training.schedule.rate(epoch * batches + number, training.epochs * batches);
        descend(network, training, state, lanes, batch.len(), rate as f32);
        sum += lanes.iter().map(|lane| lane.loss).sum::<f64>();
    }
    state.epochs += 1;
    if sum.is_finite() && state.weights.iter().all(|weight| weight.is_finite()) {
        Ok(sum / rows.len() as f64)
    } else {
        Err(NetError::Diverged { epoch: state.epochs })
    }
}

/// v ← μ·v + mean gradient + λ·w, w ← w - rate·v; statistics move towards those of the batch.
fn descend(
    network: &Network,
    training: &Training,
    state: &mut State,
    lanes: &[Lane],
    examples: usize,
    rate: f32,
) {
    let statistics: Vec<_> =
        network.statistics().map(|range| (range.clone(), state.weights[range].to_vec())).collect();
    let (momentum, l2) = (training.momentum as f32, training.l2 as f32);
    let share = 1.0 / examples as f32;
    let chunks = state.weights.par_chunks_mut(WEIGHTS).zip(state.velocity.par_chunks_mut(WEIGHTS));
    chunks.enumerate().for_each(|(number, (weights, velocity))| {
        let gradients: [&[f32]; LANES] =
            std::array::from_fn(|lane| &lanes[lane].gradient[number * WEIGHTS..][..weights.len()]);
        for (at, (w, v)) in weights.iter_mut().zip(velocity).enumerate() {
            let sum: f32 = gradients.iter().map(|gradient| gradient[at]).sum();
            *v = momentum * *v + sum * share + l2 * *w;
            *w -= rate * *v;
        }
    });
    let parts: usize = lanes.iter().map(|lane| lane.parts).sum();
    for (range, before) in statistics {
        state.velocity[range.clone()].fill(0.0);
        for (at, before) in range.zip(before) {
            let mean = lanes.iter().map(|lane| lane.gradient[at]).sum::<f32>() / parts as f32;
            state.weights[at] = before + STATISTICS * (mean - before);
        }
    }
}

/// By how many nats the reports that were kept aside are likelier than under even chances. The best weights are remembered.
fn judge(network: &Network, data: &Dataset, state: &mut State) -> f64 {
    let write = |at: usize, into: &mut [f32]| into.copy_from_slice(data.row(data.held_out[at]));
    let probabilities = predict(network, &state.weights, data.held_out.len(), write);
    let each = probabilities.chunks_exact(data.classes).zip(data.likelihood.iter());
    let gain = each.map(|(p, report)| log_likelihood(p, report)).sum::<f64>() / data.held_out.len() as f64;
    if state.best.as_ref().is_none_or(|best| gain > best.gain) {
        state.best = Some(Best { gain, epochs: state.epochs, weights: state.weights.clone() });
    }
    gain
}
