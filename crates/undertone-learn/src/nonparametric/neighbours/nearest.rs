//! The k nearest of a stream of points, without a heap.
//!
//! Candidates no farther than the bound are appended; when there are twice as many as wanted, the k nearest are selected
//! and the rest forgotten, which lowers the bound. That costs a constant for each candidate, whatever k is. A candidate is one
//! word, its distance above its number: floats that are not negative are ordered like their bits, so words are ordered by
//! (distance, number) and ties have one outcome.

#![expect(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched call is compiled for the least of processors"
)]

use super::blocks::LANES;

/// The nearest so far.
#[derive(Clone, Debug)]
pub(super) struct Nearest {
    k: usize,
    /// |x - x'|² of the last of them, infinite as long as there are fewer than k
    bound: f32,
    /// Room for a block after the candidates, of which there are fewer than twice k
    words: Vec<u64>,
    len: usize,
}

impl Nearest {
    /// None yet of k.
    pub(super) fn new(k: usize) -> Self {
        Self { k, bound: f32::INFINITY, words: vec![0; 2 * k + 2 * LANES], len: 0 }
    }

    /// None yet.
    pub(super) fn clear(&mut self) {
        (self.bound, self.len) = (f32::INFINITY, 0);
    }

    #[inline(always)]
    pub(super) fn bound(&self) -> f32 {
        self.bound
    }

    /// Looks at a block of candidates; a distance that is no number belongs to nobody.
    #[inline(always)]
    pub(super) fn offer(&mut self, distances: &[f32; LANES], numbers: &[u32; LANES]) {
        for (distance, number) in distances.iter().zip(numbers) {
            self.words[self.len] = u64::from(distance.to_bits()) << 32 | u64::from(*number);
            self.len += usize::from(*distance <= self.bound);
        }
        if self.len >= self.k + (self.k / 2).max(LANES) {
            self.select();
        }
    }

    /// Forgets all but the k nearest.
    #[inline(never)]
    fn select(&mut self) {
        if self.len >= self.k {
            let (_, last, _) = self.words[..self.len].select_nth_unstable(self.k - 1);
            self.bound = f32::from_bits((*last >> 32) as u32);
            self.len = self.k;
        }
    }

    /// The numbers of the k nearest, in no order.
    pub(super) fn numbers(&mut self) -> impl Iterator<Item = u32> {
        self.select();
        self.words[..self.len].iter().map(|&word| word as u32)
    }

    /// The same, the nearest first.
    pub(super) fn in_order(&mut self) -> impl Iterator<Item = u32> {
        self.select();
        self.words[..self.len].sort_unstable();
        self.words[..self.len].iter().map(|&word| word as u32)
    }
}
