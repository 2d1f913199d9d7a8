//! Where training goes on after it was interrupted.
//!
//! A checkpoint is named after a digest of everything that the result depends on, so that another training finds nothing, and one
//! that has ended is not done again. It is written beside its place and moved there, whole or not at all.
//!
//! Behind the state stands how its epochs went. Checkpoints of before that was kept end with the state; they are gone on from, and
//! nothing is known of their epochs.

use super::{Dataset, Progress, Training};
use crate::NetError;
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
    /// How each epoch went; written behind the rest
    #[serde(skip)]
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
        Self { epochs: 0, velocity: vec![0.0; weights.len()], weights, best: None, history: Vec::new() }
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, postcard::Error> {
        let (state, rest): (Self, &[u8]) = postcard::take_from_bytes(bytes)?;
        let history: Vec<Progress> = if rest.is_empty() { Vec::new() } else { postcard::from_bytes(rest)? };
        let found = history.into_iter().map(|epoch| Progress { is_found: true, ..epoch });
        Ok(Self { history: found.collect(), ..state })
    }

    fn to_bytes(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_extend(&self.history, postcard::to_stdvec(self)?)
    }

    /// Whether all epochs are over, or too many have brought nothing.
    pub(super) fn is_over(&self, training: &Training) -> bool {
        let since = self.best.as_ref().map_or(0, |best| self.epochs.saturating_sub(best.epochs));
        self.epochs >= training.epochs || training.patience.is_some_and(|patience| since >= patience)
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
    ) -> Self {
        let mut digest = Digest(0x756e_6465_7274_6f6e);
        digest.words([data.width, data.classes, data.training.len()].map(|n| n as u64));
        digest.text(&format!("{network:?} {training:?}"));
        for values in [&data.features, &data.targets, start] {
            digest.floats(values);
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

    fn state() -> State {
        let best = Best { gain: 0.5, epochs: 1, weights: vec![3.0] };
        let seen = Progress { epoch: 1, epochs: 9, loss: 0.25, report_likelihood: Some(0.5), is_found: true };
        let history = vec![seen];
        State { epochs: 1, weights: vec![1.0], velocity: vec![2.0], best: Some(best), history }
    }

    #[test]
    fn a_state_reads_back_with_its_epochs_and_one_of_before_they_were_kept_without() {
        let state = state();
        assert_eq!(State::from_bytes(&state.to_bytes().unwrap()).unwrap(), state);
        let before = postcard::to_stdvec(&state).unwrap();
        assert_eq!(State::from_bytes(&before).unwrap(), State { history: Vec::new(), ..state });
    }

    #[test]
    fn a_checkpoint_that_was_cut_off_is_refused() {
        let bytes = state().to_bytes().unwrap();
        let whole = postcard::to_stdvec(&state()).unwrap().len();
        for end in (0..bytes.len()).filter(|end| *end != whole) {
            assert!(State::from_bytes(&bytes[..end]).is_err(), "{end} of {} bytes", bytes.len());
        }
    }
}
