//! Who belongs to which part: decided by a fixed public hash of the row's number, never by what the row holds.
//!
//! The hash is the finalizer of SplitMix64, started at a constant for each purpose. It is no secret and need not be one:
//! parts only have to be independent of the labels, and of each other for different purposes.

/// What a split is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Rows that are kept from training, to choose or to judge by
    HeldOut,
    /// People who are asked at the same time
    Stage,
    /// Rows on which public features are looked at first
    Sample,
    /// Rows that a simulation judges by
    Test,
}

/// Where a row falls on [0, 1), evenly over all rows.
pub fn place(row: u64, purpose: Purpose) -> f64 {
    // 53 bits are a float without rounding.
    bits(row, purpose) as f64 / (1u64 << 53) as f64
}

/// ⌊N·u⌋ for the place u of a row on [0, 1): which of N equal parts it is in, counted from zero.
///
/// In integers, since N·u may be rounded up to the next part: there parts of different N would disagree about who is where.
pub fn part(row: u64, purpose: Purpose, count: u64) -> u64 {
    // Below N, as the bits are below 2^53
    ((u128::from(bits(row, purpose)) * u128::from(count)) >> 53) as u64
}

/// 2^53·u
fn bits(row: u64, purpose: Purpose) -> u64 {
    let start: u64 = match purpose {
        Purpose::HeldOut => 0x6865_6c64_206f_7574,
        Purpose::Stage => 0x7374_6167_6520_6f66,
        Purpose::Sample => 0x7361_6d70_6c65_206f,
        Purpose::Test => 0x7465_7374_206f_6e6c,
    };
    let mut word = start.wrapping_add(row.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^= word >> 31;
    word >> 11
}

/// Whether a row, counted from zero, is among the `share` of rows that are held out.
pub fn is_held_out(row: u64, share: f64) -> bool {
    place(row, Purpose::HeldOut) < share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_fall_where_they_always_fell() {
        let places = [0, 1, 1_000_000].map(|row| (place(row, Purpose::HeldOut) * 1e6) as u32);
        assert_eq!(places, [572_271, 333_394, 24_579]);
    }

    #[test]
    fn parts_are_those_that_floats_gave_where_floats_do_not_round() {
        let counts = [1, 2, 3, 5, 7, 20, 25, 1000, 1 << 30];
        for (row, count) in (0..20_000).flat_map(|row| counts.map(|count| (row, count))) {
            let by_float = (place(row, Purpose::Stage) * count as f64) as u64;
            assert_eq!(part(row, Purpose::Stage, count), by_float, "row {row} of {count}");
        }
        // Everybody is in one of N, and in the right one of them if each is cut in five.
        for (row, count) in (0..1000).flat_map(|row| [3, 5, u64::MAX / 5].map(|count| (row, count))) {
            let fine = part(row, Purpose::Stage, 5 * count);
            assert!(fine / 5 == part(row, Purpose::Stage, count) && fine / 5 < count, "row {row} of {count}");
        }
    }

    #[test]
    fn a_fifth_is_a_fifth_and_purposes_are_independent() {
        let n = 100_000u64;
        let held = |row: u64| is_held_out(row, 0.2);
        let first = |row: u64| place(row, Purpose::Stage) < 0.5;
        let count = |which: &dyn Fn(u64) -> bool| (0..n).filter(|&row| which(row)).count() as f64;
        // 5σ of a binomial: 5·√(n·p·(1-p))
        let close = |found: f64, p: f64| {
            assert!((found - n as f64 * p).abs() < 5.0 * (n as f64 * p * (1.0 - p)).sqrt(), "{found}");
        };
        close(count(&held), 0.2);
        close(count(&first), 0.5);
        close(count(&|row| held(row) && first(row)), 0.1);
        close(count(&|row| held(row) && held(row + 1)), 0.04);
    }
}
