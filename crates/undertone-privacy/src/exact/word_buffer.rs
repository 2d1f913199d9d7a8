//! Words drawn many at a time, for columns.

use core::convert::Infallible;
use rand_core::{CryptoRng, TryCryptoRng, TryRng};

/// The half words held at once: enough for a generator to work in its widest blocks.
const HALVES: usize = 256;

/// A generator in front of another, from which it takes words by the hundred: the same words, at less cost each.
/// Words that nobody asked for are dropped with it.
pub struct WordBuffer<'a, R> {
    rng: &'a mut R,
    bytes: [u8; 4 * HALVES],
    next: usize,
}

impl<'a, R: CryptoRng> WordBuffer<'a, R> {
    /// A buffer, still empty, in front of `rng`.
    pub fn new(rng: &'a mut R) -> Self {
        Self { rng, bytes: [0; 4 * HALVES], next: HALVES }
    }

    #[cold]
    fn refill(&mut self) {
        self.rng.fill_bytes(&mut self.bytes);
        self.next = 0;
    }
}

impl<R: CryptoRng> TryRng for WordBuffer<'_, R> {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        if self.next == HALVES {
            self.refill();
        }
        let (halves, _) = self.bytes.as_chunks::<4>();
        let half = u32::from_le_bytes(halves[self.next]);
        self.next += 1;
        Ok(half)
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        // A last half that is left alone is dropped.
        if self.next + 1 >= HALVES {
            self.refill();
        }
        let start = 4 * self.next;
        self.next += 2;
        let (words, _) = self.bytes[start..].as_chunks::<8>();
        Ok(u64::from_le_bytes(words[0]))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.rng.fill_bytes(bytes);
        Ok(())
    }
}

impl<R: CryptoRng> TryCryptoRng for WordBuffer<'_, R> {}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::{Rng, SeedableRng};

    #[test]
    fn the_words_are_those_of_the_generator_behind() {
        let (mut plain, mut behind) = (ChaCha12Rng::seed_from_u64(1), ChaCha12Rng::seed_from_u64(1));
        let mut buffered = WordBuffer::new(&mut behind);
        for _ in 0..1000 {
            assert_eq!(buffered.next_u64(), plain.next_u64());
        }
    }
}
