//! How much is run: the whole study, or as much of it as a few seconds allow.

/// Sizes of everything.
pub(super) struct Extent {
    /// People of each replication
    pub(super) people: u64,
    pub(super) replications: usize,
    /// d of Figures 5 and 6
    pub(super) dimensions: &'static [usize],
    /// μ of Figures 5 and 6 and of the insurance study; none is no noise
    pub(super) budgets: &'static [Option<f64>],
    /// People who learn and who judge, of the insurance study
    pub(super) insured: (u64, u64),
    /// Orders in which they come
    pub(super) orders: usize,
}

/// α of the steps, as published.
pub(super) const DECAYS: [f64; 4] = [1.0 / 3.0, 0.5, 2.0 / 3.0, 1.0];
/// η of the simulations, as published.
pub(super) const ETA: f64 = 0.2;
/// Where trajectories are looked at begins here.
const FIRST_MARK: f64 = 900.0;

impl Extent {
    pub(super) const FULL: Self = Self {
        people: 300_000,
        replications: 200,
        dimensions: &[5, 10, 20],
        budgets: &[Some(0.5), Some(1.0), Some(2.0), Some(3.0), None],
        insured: (800_000, 200_000),
        orders: 50,
    };
    pub(super) const QUICK: Self = Self {
        people: 10_000,
        replications: 16,
        dimensions: &[5],
        budgets: &[Some(1.0), Some(3.0), None],
        insured: (10_000, 5000),
        orders: 4,
    };

    /// Numbers of people after which replications are looked at: four in each decade up to all of them.
    pub(super) fn marks(people: u64) -> Vec<u64> {
        let back = |k: i32| (people as f64 * 10f64.powf(-f64::from(k) / 4.0)).round();
        let decades = (people as f64 / FIRST_MARK).log10();
        (0..=(4.0 * decades) as i32).rev().map(|k| back(k) as u64).collect()
    }
}

/// 1/3 and 2/3 as people write them.
pub(super) fn fraction(alpha: f64) -> String {
    let known = [(1.0 / 3.0, "1/3"), (0.5, "1/2"), (2.0 / 3.0, "2/3"), (0.25, "1/4"), (0.75, "3/4")];
    known
        .into_iter()
        .find(|(value, _)| (value - alpha).abs() < 1e-9)
        .map_or_else(|| alpha.to_string(), |(_, words)| words.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_rise_to_everybody() {
        let marks = Extent::marks(300_000);
        assert_eq!((marks[0], marks[marks.len() - 5], marks[marks.len() - 1]), (949, 30_000, 300_000));
        assert!(marks.is_sorted());
        assert_eq!(Extent::marks(10_000).len(), 5);
    }
}
