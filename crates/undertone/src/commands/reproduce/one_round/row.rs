//! What was measured: a method in a setting, many times over.

use super::extent::Extent;
use indicatif::ProgressBar;
use rayon::prelude::*;
use serde::Serialize;
use undertone_learn::evaluation::{Figure, mean};

/// One repetition of a method in a setting.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) setting: String,
    pub(super) people: u64,
    /// None where there is no privacy
    pub(super) epsilon: Option<f64>,
    pub(super) method: &'static str,
    pub(super) value: f64,
    /// What an independent simulation had measured
    pub(super) earlier: Option<f64>,
}

/// All repetitions of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Row {
    pub(super) section: &'static str,
    pub(super) setting: String,
    pub(super) people: u64,
    pub(super) epsilon: Option<f64>,
    pub(super) method: &'static str,
    pub(super) measure: &'static str,
    pub(super) value: f64,
    pub(super) standard_error: f64,
    pub(super) repetitions: usize,
    pub(super) earlier: Option<f64>,
}

/// What repetitions need to know.
pub(super) struct Laboratory<'a> {
    pub(super) extent: &'a Extent,
    pub(super) seed: u64,
    pub(super) bar: &'a ProgressBar,
}

impl Laboratory<'_> {
    /// A seed for one purpose: the output of SplitMix64 (Steele, Lea, Flood, *Fast splittable pseudorandom number generators*,
    /// 2014), as often as the path is long.
    pub(super) fn seed(&self, path: &[u64]) -> u64 {
        path.iter().fold(self.seed, |seed, step| {
            let mut z = seed ^ step.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        })
    }

    /// Runs all repetitions on all processors; each returns the same cells in the same order.
    pub(super) fn repeat(
        &self,
        section: &'static str,
        measure: &'static str,
        one: impl Fn(u64) -> anyhow::Result<Vec<Cell>> + Sync,
    ) -> anyhow::Result<Vec<Row>> {
        let runs = (0..self.extent.repetitions)
            .into_par_iter()
            .map(|repetition| {
                let cells = one(repetition);
                self.bar.inc(1);
                cells
            })
            .collect::<anyhow::Result<Vec<_>>>()?;
        let Some(first) = runs.first() else { return Ok(Vec::new()) };
        let row = |(place, cell): (usize, &Cell)| {
            let values: Vec<f64> = runs.iter().map(|run| run[place].value).collect();
            let Figure { value, standard_error } = mean(&values);
            let Cell { setting, people, epsilon, method, earlier, .. } = cell.clone();
            let repetitions = values.len();
            Row {
                section,
                setting,
                people,
                epsilon,
                method,
                measure,
                value,
                standard_error,
                repetitions,
                earlier,
            }
        };
        Ok(first.iter().enumerate().map(row).collect())
    }
}

impl Row {
    /// Where it was measured.
    pub(super) fn place(&self) -> String {
        let epsilon = self.epsilon.map_or_else(String::new, |epsilon| format!(", ε = {epsilon}"));
        format!("{}, n = {}{epsilon}", self.setting, self.people)
    }

    /// The value with its standard error.
    pub(super) fn words(&self) -> String {
        format!("{:.4} ± {:.4}", self.value, self.standard_error)
    }

    /// How many combined standard errors this is below another.
    pub(super) fn below(&self, other: &Self) -> f64 {
        let error = self.standard_error.hypot(other.standard_error).max(f64::MIN_POSITIVE);
        (other.value - self.value) / error
    }
}

/// What a method had in the same place as another row; methods without privacy have it at every ε.
pub(super) fn beside<'a>(rows: &'a [Row], row: &Row, method: &str) -> Option<&'a Row> {
    rows.iter().find(|other| {
        other.method == method
            && other.setting == row.setting
            && other.people == row.people
            && (other.epsilon.is_none() || other.epsilon == row.epsilon)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_become_a_mean_with_its_error_and_seeds_differ() {
        let bar = ProgressBar::hidden();
        let laboratory =
            Laboratory { extent: &Extent { repetitions: 4, ..Extent::QUICK }, seed: 1, bar: &bar };
        let one = |repetition: u64| {
            let (setting, value) = ("a".to_owned(), repetition as f64);
            Ok(vec![Cell { setting, people: 7, epsilon: None, method: "m", value, earlier: None }])
        };
        let rows = laboratory.repeat("s", "error", one).unwrap();
        // 0, 1, 2, 3: variance 5/3, of the mean 5/12
        assert!(
            (rows[0].value - 1.5).abs() < 1e-12
                && (rows[0].standard_error.powi(2) - 5.0 / 12.0).abs() < 1e-12
        );
        assert_eq!((rows[0].repetitions, rows[0].place()), (4, "a, n = 7".to_owned()));
        let mut seeds: Vec<u64> =
            (0..100).flat_map(|a| (0..100).map(move |b| [a, b])).map(|path| laboratory.seed(&path)).collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 10_000);
    }
}
