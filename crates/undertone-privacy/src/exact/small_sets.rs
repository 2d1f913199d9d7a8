//! Sets of a few integers below 64, as bits of a word, drawn from one word.

use rand_core::Rng;

/// The most sets, with their marks and ways to be drawn, that one word tells apart: of all words, one in 256 at most
/// is drawn again.
const MOST: u64 = 1 << 56;

/// Sets of `size` integers below `n`, one member of which is marked.
///
/// Floyd's method needs an even draw below each of n - size + 1, …, n, and the mark one below `size`. Let P be their
/// product. A uniform integer below P is the high half of word × P (see [`uniform_below`](super::uniform_below)), and
/// its digits come off one at a time: the high half of word × radix is the first, and the low half is the word for
/// the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallSets {
    n: u32,
    size: u32,
    /// P
    product: u64,
}

impl SmallSets {
    /// The sets of `size` among `n` integers, if they fit a word and one word can draw them.
    pub fn new(n: u32, size: u32) -> Option<Self> {
        if n > u64::BITS || size == 0 || size > n {
            return None;
        }
        let mut radices = (n - size + 1..=n).map(u64::from);
        let product = radices.try_fold(u64::from(size), u64::checked_mul);
        product.filter(|product| *product <= MOST).map(|product| Self { n, size, product })
    }

    /// A set and the member that is marked in it, all pairs of them with the same probability exactly.
    #[inline]
    pub fn draw(&self, rng: &mut impl Rng) -> (u64, u32) {
        let mut word = self.word(rng);
        let mut digit = |radix: u32| {
            let wide = u128::from(word) * u128::from(radix);
            word = wide as u64;
            (wide >> 64) as u32
        };
        let place = digit(self.size);
        let (mut set, mut marked) = (0u64, 0);
        for j in self.n - self.size..self.n {
            // j itself if the draw is already a member
            let draw = digit(j + 1);
            let member = if set >> draw & 1 == 1 { j } else { draw };
            set |= 1 << member;
            marked = if j - (self.n - self.size) == place { member } else { marked };
        }
        (set, marked)
    }

    /// A word that is not among the 2^64 mod P to spare.
    #[inline]
    fn word(&self, rng: &mut impl Rng) -> u64 {
        loop {
            let word = rng.next_u64();
            let low = word.wrapping_mul(self.product);
            if low >= self.product || low >= self.product.wrapping_neg() % self.product {
                return word;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use alloc::vec::Vec;
    use core::convert::Infallible;
    use rand_chacha::ChaCha12Rng;
    use rand_core::{SeedableRng, TryRng};

    /// Gives the words it was told to.
    struct Told(Vec<u64>);

    impl TryRng for Told {
        type Error = Infallible;

        fn try_next_u32(&mut self) -> Result<u32, Infallible> {
            unreachable!("sets are drawn from whole words")
        }

        fn try_next_u64(&mut self) -> Result<u64, Infallible> {
            Ok(self.0.remove(0))
        }

        fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
            unreachable!("sets are drawn from whole words")
        }
    }

    /// The first word whose product with `product` has the high half `rank`.
    fn first_word(rank: u64, product: u64) -> u64 {
        (u128::from(rank) << 64).div_ceil(u128::from(product)) as u64
    }

    #[test]
    fn every_set_with_its_mark_has_the_same_number_of_ranks() {
        for (n, size) in [(1, 1), (2, 1), (4, 2), (5, 3), (6, 6), (9, 3), (7, 4)] {
            let sets = SmallSets::new(n, size).unwrap();
            let mut counts: BTreeMap<(u64, u32), u64> = BTreeMap::new();
            for rank in 0..sets.product {
                // One further on than the first, which may be one to spare
                let (set, marked) = sets.draw(&mut Told(Vec::from([first_word(rank, sets.product) + 1])));
                assert!(set.count_ones() == size && set >> n == 0 && set >> marked & 1 == 1);
                *counts.entry((set, marked)).or_default() += 1;
            }
            let ways = (1..=u64::from(size)).product::<u64>();
            assert!(counts.values().all(|&count| count == ways), "{size} of {n}: {counts:?}");
            assert_eq!(counts.len() as u64 * ways, sets.product, "{size} of {n}");
        }
    }

    #[test]
    fn the_words_to_spare_are_drawn_again() {
        // P = 2·3·2 = 12 and 2^64 = 12·k + 4: every third rank has one word more, its first.
        let sets = SmallSets::new(3, 2).unwrap();
        assert_eq!(sets.product, 12);
        let spare = (0..12).filter(|&rank| {
            let mut told = Told(Vec::from([first_word(rank, 12), u64::MAX]));
            sets.draw(&mut told);
            told.0.is_empty()
        });
        assert_eq!(spare.count(), 4);
    }

    #[test]
    fn members_are_drawn_alike_where_they_are_too_many_to_list() {
        let (sets, mut rng) = (SmallSets::new(25, 7).unwrap(), ChaCha12Rng::seed_from_u64(1));
        let (mut members, mut marks) = ([0u32; 25], [0u32; 25]);
        for _ in 0..100_000 {
            let (set, marked) = sets.draw(&mut rng);
            (0..25).for_each(|i| members[i] += (set >> i & 1) as u32);
            marks[marked as usize] += 1;
        }
        for (counts, p) in [(members, 7f64 / 25.0), (marks, 1.0 / 25.0)] {
            let sigma = (100_000.0 * p * (1.0 - p)).sqrt();
            assert!(counts.iter().all(|&c| (f64::from(c) - 100_000.0 * p).abs() < 5.0 * sigma), "{counts:?}");
        }
    }

    #[test]
    fn sets_that_a_word_cannot_draw_are_refused() {
        assert!(SmallSets::new(65, 1).is_none() && SmallSets::new(64, 1).is_some());
        assert!(SmallSets::new(9, 0).is_none() && SmallSets::new(9, 10).is_none());
        // 17·63!/46! > 2^56
        assert!(SmallSets::new(63, 17).is_none());
    }
}
