//! Where to begin reading: one place for each mebibyte of the log, so that nobody who reads on has to pass over all frames
//! since the beginning of a segment.

/// Frames that begin closer together share a place.
const APART: u64 = 1 << 20;

/// The position of the first report of some frames, and where in its segment each begins; both rise.
#[derive(Default)]
pub(super) struct Places(Vec<(u64, u64)>);

impl Places {
    /// A frame begins here, after all that were noted before.
    pub(super) fn note(&mut self, position: u64, offset: u64) {
        // In a new segment offsets begin anew.
        let far = |&(_, last): &(u64, u64)| offset < last || offset - last >= APART;
        if self.0.last().is_none_or(far) {
            self.0.push((position, offset));
        }
    }

    /// A place at or before a position, within the segment that begins at `first`.
    pub(super) fn before(&self, position: u64, first: u64) -> Option<u64> {
        let after = self.0.partition_point(|&(place, _)| place <= position);
        let &(place, offset) = self.0[..after].last()?;
        (place >= first).then_some(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_a_mebibyte_apart_and_belong_to_their_segment() {
        let mut places = Places::default();
        for frame in 0..30 {
            places.note(10 * frame, 68 + frame * APART / 4);
        }
        assert_eq!(places.0.len(), 8);
        // The next segment begins at position 300.
        places.note(300, 68);
        places.note(310, 70);
        let cases =
            [(0, 0, Some(68)), (39, 0, Some(68)), (40, 0, Some(68 + APART)), (299, 0, Some(68 + 7 * APART))];
        for (position, first, offset) in cases.into_iter().chain([(315, 300, Some(68)), (315, 301, None)]) {
            assert_eq!(places.before(position, first), offset, "{position}");
        }
    }
}
