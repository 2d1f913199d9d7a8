//! Where random words come from.
//!
//! ChaCha with twelve rounds: the best attacks known stop short of eight, and randomizing a column waits for its words.

use anyhow::Context;
use getrandom::SysRng;
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;

/// A generator seeded by the operating system or, for a simulation that is to be repeated exactly, by `seed`.
pub(crate) fn generator(seed: Option<u64>) -> anyhow::Result<ChaCha12Rng> {
    match seed {
        Some(seed) => Ok(ChaCha12Rng::seed_from_u64(seed)),
        None => ChaCha12Rng::try_from_rng(&mut SysRng).context("the operating system gives no randomness"),
    }
}
