//! From interactions with noise to tables that are distributions and agree with each other.
//!
//! Fewer attributes are known better. So tables are made from one attribute on to k: the tables over all but one of A
//! predict that over A by maximum entropy, and what the pooled interaction of A says beyond that prediction counts as far
//! as it is more than noise,
//!
//! > q + (1 - E|noise|²/|r|²)₊·r,  r = interaction of A - that of q
//!
//! (James, Stein, *Estimation with quadratic loss*, 1961). Where no view holds A, the prediction stands. Cells are kept
//! above a thousandth of the prediction, and fitted to the tables over fewer attributes once more, so that all tables agree.

use super::fitting::fit;
use super::pooled::Pooled;
use super::table::{chosen, interaction, sizes_of};

/// No cell falls below this share of its prediction.
const LEAST: f64 = 1e-3;

/// The fitted tables over all parts of some attributes with so many levels, by mask; that of the empty one is one.
pub(super) fn fitted(pooled: &Pooled, attributes: &[usize], sizes: &[usize]) -> Vec<Vec<f64>> {
    let mut tables: Vec<Vec<f64>> = vec![vec![1.0]];
    for mask in 1..1usize << sizes.len() {
        let own = sizes_of(sizes, mask);
        // In the order of the axes of the table: those of the mask
        let without: Vec<&[f64]> = (0..sizes.len())
            .filter(|axis| mask >> axis & 1 == 1)
            .map(|axis| tables[mask & !(1 << axis)].as_slice())
            .collect();
        let cells: usize = own.iter().product();
        let mut table = vec![1.0 / cells as f64; cells];
        fit(&mut table, &own, &without);
        if let Some(found) = pooled.get(&chosen(attributes, mask)) {
            let mut expected = table.clone();
            interaction(&mut expected, &own);
            let residual: Vec<f64> = found.cells.iter().zip(&expected).map(|(a, b)| a - b).collect();
            let kept = beyond_noise(&residual, &own, found.precision);
            for (cell, r) in table.iter_mut().zip(residual) {
                *cell = (*cell + kept * r).max(LEAST * *cell);
            }
            fit(&mut table, &own, &without);
        }
        tables.push(table);
    }
    tables
}

/// (1 - E|noise|²/|r|²)₊, where the noise of an interaction of D dimensions in a table of K cells has D/(K·U).
fn beyond_noise(residual: &[f64], sizes: &[usize], precision: f64) -> f64 {
    let dimension: f64 = sizes.iter().map(|&size| size as f64 - 1.0).product();
    let square: f64 = residual.iter().map(|r| r * r).sum();
    let noise = dimension / (residual.len() as f64 * precision);
    if square > noise { 1.0 - noise / square } else { 0.0 }
}
