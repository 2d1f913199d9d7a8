//! How many cells people can fill.

/// Fewer people to a statistic than this say too little. With so many on average, a cell is empty with probability e^-20.
pub const PEOPLE_PER_STATISTIC: u32 = 20;

/// The largest b with b^`axes` cells for `people` and `spare` more that need nobody.
pub(crate) fn largest_base(axes: usize, people: u64, spare: f64) -> u32 {
    let most = people as f64 / f64::from(PEOPLE_PER_STATISTIC) + spare;
    let fits = |base: f64| base.powi(axes as i32) <= most;
    // A root may be off by a rounding; the base above it is looked at, and the one below has to fit.
    let root = most.powf(1.0 / axes as f64).floor();
    let base = [root + 1.0, root, root - 1.0].into_iter().find(|&base| fits(base));
    base.unwrap_or(0.0).clamp(0.0, f64::from(u32::MAX)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_base_has_too_many_cells() {
        for axes in 1..=12 {
            for people in [20, 100, 4_320, 10_000, 1_000_000, 20 * 7u64.pow(5)] {
                let base = f64::from(largest_base(axes, people, 0.0));
                let needed = |base: f64| base.powi(axes as i32) * 20.0;
                assert!(needed(base) <= people as f64 && needed(base + 1.0) > people as f64);
            }
        }
        assert_eq!(largest_base(3, 4_320, 0.0), 6);
        assert_eq!(largest_base(2, 300, 1.0), 4);
    }
}
