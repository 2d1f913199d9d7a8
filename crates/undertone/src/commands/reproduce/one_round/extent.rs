//! How much is run: the whole study, or as much of it as a few seconds allow.

/// Sizes of everything.
pub(super) struct Extent {
    pub(super) repetitions: u64,
    /// p of the risks
    pub(super) covariates: &'static [usize],
    /// n of the risks
    pub(super) people: &'static [u64],
    /// ε of the risks
    pub(super) budgets: &'static [f64],
    /// Of whom risks are judged
    pub(super) judges: usize,
    /// n of the tables, and their ε
    pub(super) tables: (u64, &'static [f64]),
    /// n of the grids, and their p
    pub(super) grids: (&'static [u64], &'static [usize]),
    /// n of smooth queries
    pub(super) smooth: u64,
}

impl Extent {
    pub(super) const FULL: Self = Self {
        repetitions: 20,
        covariates: &[2, 5, 10, 20],
        people: &[10_000, 100_000, 1_000_000],
        budgets: &[1.0, 2.0, 4.0],
        judges: 40_000,
        tables: (100_000, &[0.5, 1.0, 2.0]),
        grids: (&[10_000, 100_000, 1_000_000], &[2, 3]),
        smooth: 100_000,
    };
    pub(super) const QUICK: Self = Self {
        repetitions: 4,
        covariates: &[5],
        people: &[10_000],
        budgets: &[1.0, 4.0],
        judges: 5000,
        tables: (30_000, &[1.0, 2.0]),
        grids: (&[10_000], &[2]),
        smooth: 20_000,
    };
}
