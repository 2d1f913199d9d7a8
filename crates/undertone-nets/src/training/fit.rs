//! Epoch after epoch.

use super::checkpoint::{Best, Checkpoint, State};
use super::lane::{LANES, Lane, Step, predict};
use super::pieces::pieces;
use super::{Augmentation, Dataset, Scale, Training};
use crate::coins::{Coins, Purpose};
use crate::layer::Image;
use crate::network::Network;
use crate::{Architecture, Loss, NetError, Trained};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// How fast statistics follow the batches.
const STATISTICS: f32 = 0.1;
/// Weights that a core takes at a time
const WEIGHTS: usize = 1 << 14;

/// How far training has come.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Epochs that are over
    pub epoch: usize,
    /// Epochs there are to be at most
    pub epochs: usize,
    /// The mean loss of the last epoch
    pub loss: f64,
    /// What [judges](Hooks::judge) say: by how many nats reports that were kept aside are likelier than under even chances, if some were kept aside
    pub report_likelihood: Option<f64>,
    /// Whether the epoch was over before, and a checkpoint tells of it
    #[serde(skip)]
    pub is_found: bool,
}

/// What somebody makes of probabilities.
pub type Judge<'a> = dyn Fn(&[f32]) -> f64 + 'a;

/// Who wants to know, who judges, and where to go on.
#[derive(Clone, Copy, Default)]
pub struct Hooks<'a> {
    /// Is told after each epoch, and at once of those that a checkpoint has seen
    pub progress: Option<&'a dyn Fn(&Progress)>,
    /// How good the K probabilities are of each person who is kept aside, in the order in which they were pushed: the more the better
    pub judge: Option<&'a Judge<'a>>,
    /// Has the state after each epoch, under a name that only the same training has: what was interrupted goes on from there, what has ended is not done again
    pub checkpoints: Option<&'a Path>,
}

/// A network that was trained on `data`, from the weights of `start` if there is one.
///
/// Where somebody is kept aside and [judged](Hooks::judge), the weights are those of the epoch that the judge likes best; the
/// [patience](Training::patience) only says when to end. An epoch that leads nowhere ends training, too: in the best one before it, or in an
/// error if there is none.
pub fn fit(
    architecture: &Architecture,
    training: &Training,
    mut data: Dataset,
    start: Option<&Trained>,
    hooks: Hooks<'_>,
) -> Result<Trained, NetError> {
    check(architecture, training)?;
    let network = architecture.network(data.classes)?;
    let weights = first_weights(architecture, &network, training, start)?;
    check_people(&network, training, &data)?;
    data.rescale(match start {
        Some(start) => Some(start.scale),
        None => architecture.takes_names().then_some(Scale::NONE),
    });
    let weights = descent(&network, architecture.image(), training, &data, weights, hooks)?;
    Trained::new(architecture.clone(), data.classes, data.scale, weights)
}

/// Refuses a training that cannot be followed with such a network, before anybody is gathered for it.
pub fn check(architecture: &Architecture, training: &Training) -> Result<(), NetError> {
    training.check()?;
    if let Some(value) = training.mixup.filter(|_| architecture.takes_names()) {
        // The number between those of two things is the name of a third.
        let expected = "left out for a network of names, which cannot be mixed";
        return Err(NetError::Parameter { what: "α of mixup", value, expected });
    }
    let Some(Image { height, width, .. }) = architecture.image() else { return Ok(()) };
    let (side, Augmentation { shift, cutout, .. }) = (height.min(width), training.augmentation);
    match [("the shift", shift), ("what is cut out", cutout)].into_iter().find(|(_, pixels)| *pixels >= side)
    {
        Some((what, pixels)) => Err(NetError::Pixels { what, pixels, side }),
        None => Ok(()),
    }
}

fn first_weights(
    architecture: &Architecture,
    network: &Network,
    training: &Training,
    start: Option<&Trained>,
) -> Result<Vec<f32>, NetError> {
    match start {
        Some(start) if start.network != *network => {
            let found = Box::new((start.architecture().clone(), start.classes()));
            let expected = Box::new((architecture.clone(), network.outputs()));
            Err(NetError::Start { found, expected })
        }
        Some(start) => Ok(start.weights().to_vec()),
        None => Ok(network.initial(training.seed)),
    }
}

fn check_people(network: &Network, training: &Training, data: &Dataset) -> Result<(), NetError> {
    let (found, expected) = (data.width, network.inputs());
    if found != expected {
        return Err(NetError::Shape { what: "a row of features", found, expected });
    }
    if data.training.is_empty() {
        return Err(NetError::Nobody);
    }
    if training.patience.is_some() && data.aside.is_empty() {
        return Err(NetError::NobodyAside);
    }
    Ok(())
}

/// The weights after training, from `start`.
fn descent(
    network: &Network,
    image: Option<Image>,
    training: &Training,
    data: &Dataset,
    start: Vec<f32>,
    hooks: Hooks<'_>,
) -> Result<Vec<f32>, NetError> {
    let judge = hooks.judge.filter(|_| !data.aside.is_empty());
    let checkpoint =
        hooks.checkpoints.map(|folder| Checkpoint::of(folder, network, training, data, &start, judge));
    let found = checkpoint.as_ref().map(|checkpoint| checkpoint.read(network.weights())).transpose()?;
    let mut state = found.flatten().unwrap_or_else(|| State::new(start));
    let tell = |seen: &Progress| hooks.progress.iter().for_each(|tell| tell(seen));
    state.history.iter().for_each(tell);
    let mut lanes: Vec<Lane> = (0..LANES).map(|_| Lane::default()).collect();
    while !state.is_over(training) {
        let loss = epoch(network, image, training, data, &mut state, &mut lanes);
        let seen = loss.map(|loss| {
            let report_likelihood = judge.map(|judge| judged(network, data, &mut state, judge));
            let (epoch, epochs) = (state.epochs, training.epochs);
            Progress { epoch, epochs, loss, report_likelihood, is_found: false }
        });
        state.diverged = seen.is_none();
        state.history.extend(seen);
        if let Some(checkpoint) = &checkpoint {
            checkpoint.write(&state)?;
        }
        seen.iter().for_each(tell);
    }
    match state.best {
        // Endless gain on what is trained on ends, too: the best epoch before it is kept.
        Some(best) => Ok(best.weights),
        None if state.diverged => Err(NetError::Diverged { epoch: state.epochs }),
        None => Ok(state.weights),
    }
}

/// Sees everybody once; the mean loss, none if it or a weight is no number any more.
fn epoch(
    network: &Network,
    image: Option<Image>,
    training: &Training,
    data: &Dataset,
    state: &mut State,
    lanes: &mut [Lane],
) -> Option<f64> {
    let epoch = state.epochs;
    let order = Coins::new(training.seed, Purpose::Order, epoch as u64, 0).permutation(data.training.len());
    let rows: Vec<usize> = order.into_iter().map(|place| data.training[place]).collect();
    let batches = pieces(rows.len(), training.batch);
    let steps = batches.len();
    // Slopes of the debiased loss are as long as its targets.
    let length = if training.loss == Loss::Debiased { data.length().max(1.0) } else { 1.0 };
    let mut sum = 0.0;
    for (number, places) in batches.enumerate() {
        let (first, batch, weights) = (places.start, &rows[places], &state.weights);
        let step = Step { network, weights, data, training, image, epoch, batch, first };
        lanes.par_iter_mut().enumerate().for_each(|(number, lane)| lane.run(number, &step));
        let rate = training.schedule.rate(epoch * steps + number, training.epochs * steps);
        descend(network, training, state, lanes, batch.len(), (rate / length) as f32);
        sum += lanes.iter().map(|lane| lane.loss).sum::<f64>();
    }
    state.epochs += 1;
    let is_finite = sum.is_finite() && state.weights.iter().all(|weight| weight.is_finite());
    is_finite.then(|| sum / rows.len() as f64)
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

/// What the judge says of these weights. The best ones are remembered.
fn judged(network: &Network, data: &Dataset, state: &mut State, judge: &Judge<'_>) -> f64 {
    let write = |at: usize, into: &mut [f32]| into.copy_from_slice(data.row(data.aside[at]));
    let gain = judge(&predict(network, &state.weights, data.aside.len(), write));
    if state.best.as_ref().is_none_or(|best| gain > best.gain) {
        state.best = Some(Best { gain, epochs: state.epochs, weights: state.weights.clone() });
    }
    gain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::gradient_check::normal;
    use crate::training::Schedule;
    use std::cell::RefCell;

    fn people(count: usize) -> Dataset {
        let mut data = Dataset::new(64, 2);
        for (row, image) in normal(count * 64, 3).chunks_exact(64).enumerate() {
            let label = [[1.0, 0.0], [0.0, 1.0]][row % 2];
            data.push(|into| into.copy_from_slice(image), &label, row % 5 == 4).unwrap();
        }
        data
    }

    const ARCHITECTURE: Architecture =
        Architecture::Inception { image: Image { height: 8, width: 8, channels: 1 }, narrower: 16 };

    fn training(batch: usize) -> Training {
        let augmentation = Augmentation { cutout: 3, ..Training::as_published(2, 1).augmentation };
        Training { batch, augmentation, ..Training::as_published(2, 1) }
    }

    fn weights(batch: usize, people: Dataset) -> Vec<f32> {
        fit(&ARCHITECTURE, &training(batch), people, None, Hooks::default()).unwrap().weights().to_vec()
    }

    #[test]
    fn images_are_neither_moved_out_of_themselves_nor_blanked_whole() {
        let moved = |shift, cutout| {
            let augmentation = Augmentation { shift, cutout, flip: true };
            check(&ARCHITECTURE, &Training { augmentation, ..training(9) }).map_err(|error| error.to_string())
        };
        assert_eq!(moved(7, 7), Ok(()));
        let refusal =
            |what| format!("{what} is 8 pixels, and has to be less than the side of an image, which is 8");
        assert_eq!(moved(8, 0), Err(refusal("the shift")));
        assert_eq!(moved(0, 8), Err(refusal("what is cut out")));
    }

    #[test]
    fn one_image_that_is_left_over_makes_no_step_of_its_own() {
        // 41 to train on, once one more than a batch
        assert_eq!(people(51).training.len(), 41);
        assert_eq!(weights(40, people(51)), weights(41, people(51)));
        assert_ne!(weights(27, people(51)), weights(41, people(51)));
    }

    #[test]
    fn names_are_not_mixed_and_another_network_is_not_started_from() {
        let refused = |architecture: &Architecture, training: &Training, start: Option<&Trained>| {
            let data = Dataset::new(2, 5);
            fit(architecture, training, data, start, Hooks::default()).unwrap_err().to_string()
        };
        let rating = Architecture::Rating { people: 3, things: 4, width: 2 };
        let mixed = refused(&rating, &training(1), None);
        assert!(mixed.starts_with("α of mixup is 4, but has to be left out"), "{mixed}");
        let mlp = |hidden: &[usize]| Architecture::Mlp { inputs: 2, hidden: hidden.to_vec() };
        let weights = mlp(&[3]).network(5).unwrap().initial(1);
        let start = Trained::new(mlp(&[3]), 5, Scale::NONE, weights).unwrap();
        let other = refused(&mlp(&[4, 3]), &training(1), Some(&start));
        assert_eq!(
            other,
            "the network to start from is a network of dense layers 2-3 for 5 classes, and what is trained is a network of dense layers 2-4-3 \
for 5 classes"
        );
        let plain = Training { mixup: None, ..training(1) };
        assert!(refused(&rating, &plain, None).contains("no reports"));
    }

    #[test]
    fn an_epoch_that_leads_nowhere_is_not_tried_again() {
        let folder = std::env::temp_dir().join(format!("undertone-diverged-{}", std::process::id()));
        let architecture = Architecture::Mlp { inputs: 64, hidden: vec![8] };
        // λ·rate is far above two: weights become some hundred times as large in each step, of which an epoch has one
        let schedule = Schedule { peak: 1.0, warm_up: 0.0 };
        let options = Training { epochs: 40, schedule, l2: 1e3, ..training(50) };
        let run = |judge: Option<&Judge<'_>>| {
            let told = RefCell::new(Vec::new());
            let tell = |seen: &Progress| told.borrow_mut().push((seen.epoch, seen.is_found));
            let hooks = Hooks { progress: Some(&tell), judge, checkpoints: Some(&folder) };
            (fit(&architecture, &options, people(51), None, hooks), told.into_inner())
        };
        // Whoever judges likes the first epoch best.
        let content = |_: &[f32]| 1.0;
        let (first, told) = run(Some(&content));
        assert!((2..40).contains(&told.len()) && told.iter().all(|(_, found)| !found), "{told:?}");
        let (again, found) = run(Some(&content));
        assert_eq!(again.unwrap(), first.unwrap());
        assert_eq!(found, told.iter().map(|&(epoch, _)| (epoch, true)).collect::<Vec<_>>());
        // Nobody has said which epoch was best.
        for found in [false, true] {
            let (error, told) = run(None);
            let epoch = told.len() + 1;
            assert!(matches!(error, Err(NetError::Diverged { epoch: at }) if at == epoch), "{error:?}");
            assert!(told.iter().all(|seen| seen.1 == found), "{told:?}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
