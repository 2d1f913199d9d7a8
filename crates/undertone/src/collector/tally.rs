//! What became of everything that was sent, by reason.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Counts since the collector was started. There are as many reasons as the program knows, so the table stays small
/// whatever strangers send.
#[derive(Debug, Default)]
pub(super) struct Tally {
    counts: Mutex<Counts>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub(super) accepted: u64,
    pub(super) refused: BTreeMap<&'static str, u64>,
}

impl Tally {
    pub(super) fn accept(&self, reports: u64) {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).accepted += reports;
    }

    pub(super) fn refuse(&self, reason: &'static str) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.refused.entry(reason).or_default() += 1;
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
