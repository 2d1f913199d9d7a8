//! Examples in pieces of about the same size.
//!
//! One example that is left over would make a step as long as that of a whole batch, and its statistics would count like those of many. So a
//! rest of less than half a piece joins the piece before it, and a longer one is a piece of its own.

use std::ops::Range;

/// Pieces of `0..count`, one after the other: all but the last of this size.
pub(super) fn pieces(count: usize, size: usize) -> impl ExactSizeIterator<Item = Range<usize>> {
    let whole = count / size + usize::from(count % size >= size.div_ceil(2));
    let number = whole.max(usize::from(count > 0));
    (0..number).map(move |piece| {
        let end = if piece + 1 == number { count } else { (piece + 1) * size };
        piece * size..end
    })
}

/// The most examples that are in one of the pieces of `0..count`.
pub(super) fn longest(count: usize, size: usize) -> usize {
    size.saturating_add(size.saturating_sub(1) / 2).min(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(count: usize, size: usize) -> Vec<usize> {
        pieces(count, size).map(|piece| piece.len()).collect()
    }

    #[test]
    fn less_than_half_a_piece_joins_the_one_before_it() {
        assert_eq!(lengths(8, 4), [4, 4]);
        assert_eq!(lengths(9, 4), [4, 5]);
        assert_eq!(lengths(10, 4), [4, 4, 2]);
        assert_eq!(lengths(12, 5), [5, 7]);
        assert_eq!(lengths(13, 5), [5, 5, 3]);
        assert_eq!((lengths(1, 4), lengths(3, 1), lengths(0, 4)), (vec![1], vec![1, 1, 1], vec![]));
        assert_eq!(lengths(3, usize::MAX), [3]);
    }

    #[test]
    fn everybody_is_in_one_piece_and_none_is_longer_or_shorter_than_it_may_be() {
        for (count, size) in (0..60).flat_map(|count| (1..20).map(move |size| (count, size))) {
            let all: Vec<usize> = pieces(count, size).flatten().collect();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
            let lengths = lengths(count, size);
            let least = size.div_ceil(2).min(count);
            assert!(
                lengths.iter().all(|&n| n >= least && n <= longest(count, size)),
                "{count} by {size}: {lengths:?}"
            );
        }
        assert_eq!(longest(usize::MAX, usize::MAX), usize::MAX);
    }
}
