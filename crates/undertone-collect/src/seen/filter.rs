//! A Bloom filter of fixed size: "certainly new" for nearly everything that is new, without a look at the disk.
//!
//! A key sets one bit in each of the eight words of one block, so that a question touches one cache line. It may say
//! "perhaps seen" of what is new, which costs a read of the disk and nothing else; it never says "new" of what it was told.

/// Eight odd multipliers; which is of no importance, only that they differ.
const MULTIPLIERS: [u32; 8] =
    [0x9e37_79b1, 0x85eb_ca6b, 0xc2b2_ae35, 0x27d4_eb2f, 0x1656_67b1, 0xd3a2_646d, 0xfd70_46c5, 0xb55a_4f09];

#[derive(Clone, Copy)]
#[repr(align(32))]
struct Block([u32; 8]);

pub(super) struct Filter {
    blocks: Vec<Block>,
    added: u64,
}

impl Filter {
    pub(super) fn new(bytes: usize) -> Self {
        Self { blocks: vec![Block([0; 8]); (bytes / 32).clamp(1, 1 << 31)], added: 0 }
    }

    /// How many keys it is good for: at ten bits a key about one new key in a hundred looks familiar.
    fn capacity(&self) -> u64 {
        self.blocks.len() as u64 * 256 / 10
    }

    /// Whether forgetting all that is not among `live` keys is worth reading those again.
    pub(super) fn is_worn(&self, live: u64) -> bool {
        self.added > self.capacity() && self.added > 2 * live
    }

    pub(super) fn clear(&mut self) {
        self.blocks.fill(Block([0; 8]));
        self.added = 0;
    }

    pub(super) fn add(&mut self, hash: u64) {
        let block = self.block_of(hash);
        for (word, bit) in self.blocks[block].0.iter_mut().zip(bits(hash)) {
            *word |= bit;
        }
        self.added += 1;
    }

    pub(super) fn may_contain(&self, hash: u64) -> bool {
        // Without a branch for each word: most are decided by all of them anyway.
        let missing = self.blocks[self.block_of(hash)].0.iter().zip(bits(hash));
        missing.fold(0, |missing, (word, bit)| missing | (bit & !word)) == 0
    }

    /// The upper half of the hash as a fraction of the blocks.
    fn block_of(&self, hash: u64) -> usize {
        (((hash >> 32) * self.blocks.len() as u64) >> 32) as usize
    }
}

/// One bit for each word, from the lower half of the hash.
fn bits(hash: u64) -> [u32; 8] {
    MULTIPLIERS.map(|multiplier| 1 << ((hash as u32).wrapping_mul(multiplier) >> 27))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(seed: u64) -> impl Iterator<Item = u64> {
        (0u64..).map(move |i| siphasher::sip::SipHasher13::new_with_keys(seed, 0).hash(&i.to_le_bytes()))
    }

    #[test]
    fn what_was_added_is_never_called_new() {
        let mut filter = Filter::new(1 << 10);
        for hash in hashes(1).take(5_000) {
            filter.add(hash);
            assert!(filter.may_contain(hash));
        }
        assert!(hashes(1).take(5_000).all(|hash| filter.may_contain(hash)), "even when it is far too small");
    }

    #[test]
    fn at_capacity_about_one_new_key_in_a_hundred_looks_familiar() {
        let mut filter = Filter::new(1 << 16);
        let capacity = filter.capacity() as usize;
        hashes(2).take(capacity).for_each(|hash| filter.add(hash));
        assert!(!filter.is_worn(0), "as many as it is good for");
        let familiar = hashes(3).take(100_000).filter(|&hash| filter.may_contain(hash)).count();
        // Eight bits of a block with Poisson(25.6) keys: 1.1 %. Five standard deviations are 0.17 %.
        assert!((800..1_500).contains(&familiar), "{familiar} of 100,000");
    }
}
