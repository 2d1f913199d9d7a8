//! What every reproduction can be asked for.

use super::folder::Folder;
use crate::{arguments, randomness};
use rand_core::Rng;
use std::path::PathBuf;

/// Where to, how much, which seed.
#[derive(clap::Args, Debug)]
pub(super) struct Options {
    /// Also write all numbers and claims as CSV, pictures as SVG and a page that shows everything, into this folder
    #[arg(short, long, value_name = "DIR")]
    pub(super) output: Option<PathBuf>,
    /// Seconds instead of minutes: fewer people, repetitions and settings
    #[arg(long)]
    pub(super) quick: bool,
    /// Repeat a simulation exactly; without it, a seed is drawn and printed
    #[arg(long, value_name = "SEED", value_parser = arguments::seed)]
    seed: Option<u64>,
    /// Replace files that exist
    #[arg(long, requires = "output")]
    pub(super) force: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

impl Options {
    /// The folder, if one was named, without files of ours: what stands in the way is better found before the work than after it.
    pub(super) fn folder(&self, ours: &'static str) -> anyhow::Result<Option<Folder>> {
        self.output.as_ref().map(|path| Folder::open(path, ours, self.force)).transpose()
    }

    /// The seed that was named, or one that nobody knows beforehand.
    pub(super) fn seed(&self) -> anyhow::Result<u64> {
        self.seed.map_or_else(|| Ok(randomness::generator(None)?.next_u64()), Ok)
    }
}
