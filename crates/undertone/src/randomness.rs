//! Where random words come from.

use anyhow::Context;
use getrandom::SysRng;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

/// A generator seeded by the operating system or, for a simulation that is to be repeated exactly, by `seed`.
pub(crate) fn generator(seed: Option<u64>) -> anyhow::Result<ChaCha20Rng> {
    match seed {
        Some(seed) => Ok(ChaCha20Rng::seed_from_u64(seed)),
        None => ChaCha20Rng::try_from_rng(&mut SysRng).context("the operating system gives no randomness"),
    }
}
