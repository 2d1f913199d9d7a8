//! Where training goes on after it was interrupted.
//!
//! A checkpoint is named after a digest of everything that the result depends on, judges included, so that another training finds nothing,
//! and one that has ended is not done again. It is written beside its place and moved there, whole or not at all.

use super::{Dataset, Judge, Progress, Training};
use crate::NetError;
use crate::coins::{Coins, Purpose};
use crate::network::Network;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Training between two epochs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    /// So many are over
    pub(super) epochs: usize,
    pub(super) weights: Vec<f32>,
    /// The last step
    pub(super) velocity: Vec<f32>,
    /// By the reports that were kept aside, if some were
    pub(super) best: Option<Best>,
    /// Whether the last epoch led nowhere: another try would, too
    pub(super) diverged: bool,
    /// How each epoch before that went
    pub(super) history: Vec<Progress>,
}

/// The best weights so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Best {
    pub(super) gain: f64,
    pub(super) epochs: usize,
    pub(super) weights: Vec<f32>,
}

impl State {
    pub(super) fn new(weights: Vec<f32>) -> Self {
        let (velocity, history) = (vec![0.0; weights.len()], Vec::new());
        Self { epochs: 0, velocity, weights, best: None, diverged: false, history }
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, postcard::Error> {
        let mut state: Self = postcard::from_bytes(bytes)?;
        state.history.iter_mut().for_each(|epoch| epoch.is_found = true);
        Ok(state)
    }

    fn to_bytes(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_stdvec(self)
    }

    /// Whether all epochs are over, the last one led nowhere, or too many have brought nothing.
    pub(super) fn is_over(&self, training: &Training) -> bool {
        let since = self.best.as_ref().map_or(0, |best| self.epochs.saturating_sub(best.epochs));
        let tired = training.patience.is_some_and(|patience| since >= patience);
        self.diverged || self.epochs >= training.epochs || tired
    }
}

/// A place for the state.
pub(super) struct Checkpoint {
    path: PathBuf,
}

impl Checkpoint {
    /// That of this training.
    pub(super) fn of(
        folder: &Path,
        network: &Network,
        training: &Training,
        data: &Dataset,
        start: &[f32],
        judge: Option<&Judge<'_>>,
    ) -> Self {
        let mut digest = Digest(0x756e_6465_7274_6f6e);
        digest.words([data.width, data.classes, data.training.len()].map(|n| n as u64));
        digest.text(&format!("{network:?} {training:?}"));
        for values in [&data.features, &data.targets, start] {
            digest.floats(values);
        }
        digest.words(data.aside.iter().map(|&row| row as u64));
        if let Some(judge) = judge {
            digest.words([judge(&made_up(data.aside.len(), data.classes)).to_bits()]);
        }
        Self { path: folder.join(format!("{:016x}.checkpoint", digest.0)) }
    }

    /// What is there, if anything is.
    pub(super) fn read(&self, weights: usize) -> Result<Option<State>, NetError> {
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(NetError::file(&self.path, error)),
        };
        let state = State::from_bytes(&bytes).map_err(|error| NetError::file(&self.path, error))?;
        let best = state.best.as_ref().map_or(weights, |best| best.weights.len());
        if [state.weights.len(), state.velocity.len(), best] != [weights; 3] {
            return Err(NetError::file(&self.path, "is a checkpoint of another network"));
        }
        Ok(Some(state))
    }

    pub(super) fn write(&self, state: &State) -> Result<(), NetError> {
        let bytes = state.to_bytes().map_err(|error| NetError::file(&self.path, error))?;
        replace_file(&self.path, &bytes)
    }
}

/// A file with these bytes, whole or as it was.
fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), NetError> {
    let replaced = || -> std::io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}", std::process::id()));
        let beside = path.with_file_name(name);
        let mut file = File::create(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    };
    replaced().map_err(|error| NetError::file(path, error))
}

/// Probabilities of so many people that have nothing to do with them: what a judge says of these tells it from other judges, of whom
/// nothing else is known here.
fn made_up(people: usize, classes: usize) -> Vec<f32> {
    let mut coins = Coins::new(0, Purpose::Judge, 0, 0);
    let mut all = Vec::with_capacity(people * classes);
    for _ in 0..people {
        let shares: Vec<f64> = (0..classes).map(|_| 1.0 + coins.uniform()).collect();
        let sum: f64 = shares.iter().sum();
        all.extend(shares.iter().map(|share| (share / sum) as f32));
    }
    all
}

/// Tells one training from another; it need not withstand anybody.
struct Digest(u64);

impl Digest {
    fn words(&mut self, words: impl IntoIterator<Item = u64>) {
        for word in words {
            self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }

    fn text(&mut self, text: &str) {
        self.words(text.bytes().map(u64::from));
    }

    fn floats(&mut self, values: &[f32]) {
        self.words([values.len() as u64]);
        self.words(values.iter().map(|value| u64::from(value.to_bits())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Architecture;

    fn state() -> State {
        let best = Best { gain: 0.5, epochs: 1, weights: vec![3.0] };
        let seen = Progress { epoch: 1, epochs: 9, loss: 0.25, report_likelihood: Some(0.5), is_found: true };
        let (weights, velocity) = (vec![1.0], vec![2.0]);
        State { epochs: 1, weights, velocity, best: Some(best), diverged: true, history: vec![seen] }
    }

    #[test]
    fn a_state_reads_back_and_one_that_was_cut_off_is_refused() {
        let (state, bytes) = (state(), state().to_bytes().unwrap());
        assert_eq!(State::from_bytes(&bytes).unwrap(), state);
        for end in 0..bytes.len() {
            assert!(State::from_bytes(&bytes[..end]).is_err(), "{end} of {} bytes", bytes.len());
        }
    }

    #[test]
    fn other_judges_are_another_training() {
        let network = Architecture::Mlp { inputs: 1, hidden: vec![] }.network(2).unwrap();
        let training = Training::as_published(1, 1);
        let path = |aside: [bool; 3], judge: Option<&Judge<'_>>| {
            let mut data = Dataset::new(1, 2);
            for aside in aside {
                data.push(|into| into.fill(1.0), &[1.0, 0.0], aside).unwrap();
            }
            Checkpoint::of(Path::new("x"), &network, &training, &data, &[], judge).path
        };
        let of_second = |probabilities: &[f32]| f64::from(probabilities[1]);
        let a_little_else = |probabilities: &[f32]| f64::from(probabilities[1]) + 1e-12;
        let usual = [false, true, false];
        let all = [
            path(usual, None),
            path(usual, Some(&of_second)),
            path(usual, Some(&a_little_else)),
            path([false, false, true], Some(&of_second)),
        ];
        assert_eq!(path(usual, Some(&of_second)), all[1]);
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
    }
}
