//! What is looked up: a report or a token, hashed once.

use super::TOKENS;
use super::shelf::Entry;
use siphasher::sip::SipHasher13;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// A report of a unit within a generation, or a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// SipHash of all the rest
    pub(super) hash: u64,
    pub(super) generation: u64,
    /// The unit of time within the generation; 0 for tokens
    pub(super) unit: u32,
    pub(super) id: [u8; 16],
}

impl Key {
    pub(super) fn new(secret: &[u8; 16], generation: u64, unit: u32, id: [u8; 16]) -> Self {
        let mut bytes = [0; 28];
        bytes[..16].copy_from_slice(&id);
        bytes[16..24].copy_from_slice(&generation.to_le_bytes());
        bytes[24..].copy_from_slice(&unit.to_le_bytes());
        Self { hash: SipHasher13::new_with_key(secret).hash(&bytes), generation, unit, id }
    }

    /// The key under which an entry is on the shelf of a generation.
    pub(super) fn of_entry(secret: &[u8; 16], generation: u64, entry: &Entry) -> Self {
        let unit = if generation == TOKENS { 0 } else { entry.number };
        Self::new(secret, generation, unit, entry.id)
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// For maps of keys: they have their hash.
pub(super) type Prehashed = BuildHasherDefault<TakeHash>;

#[derive(Default)]
pub(super) struct TakeHash(u64);

impl Hasher for TakeHash {
    fn write(&mut self, _: &[u8]) {
        // A key gives a number and nothing else.
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
