//! From interactions with noise to tables that are distributions and agree with each other.
//!
//! Fewer attributes are known better. So tables are made from one attribute on to k: the tables over all but one of A
//! predict that over A by maximum entropy, q, and what the pooled interaction of A says beyond that prediction counts as
//! far as it is more than noise (`shrinkage`):
//!
//! > q + factor·r,  r = interaction of A - that of q
//!
//! Where no view holds A, the prediction stands. Cells are kept above a thousandth of the prediction, and fitted to the
//! tables over fewer attributes once more, so that all tables agree.

use super::fitting::fit;
use super::pooled::{Interaction, Pooled};
use super::shrinkage::{Found, factors};
use super::table::{chosen, interaction};
use std::collections::BTreeMap;

/// No cell falls below this share of its prediction.
const LEAST: f64 = 1e-3;

/// Fitted tables over all sets of up to k attributes that a view holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hierarchy {
    levels: Vec<usize>,
    tables: BTreeMap<Vec<usize>, Vec<f64>>,
}

impl Hierarchy {
    /// Fits tables of up to `order` attributes with so many levels.
    pub fn new(pooled: &Pooled, levels: &[u32], order: usize) -> Self {
        let levels = levels.iter().map(|&count| count as usize).collect();
        let mut fitted = Self { levels, tables: BTreeMap::new() };
        for size in 1..=order {
            let (mut waiting, mut found) = (Vec::new(), Vec::new());
            for (set, told) in pooled.of_size(size) {
                let next = fitted.residual(set, told);
                found.push(next.found(told.precision));
                waiting.push(next);
            }
            let tables: Vec<_> = waiting
                .into_iter()
                .zip(factors(&found))
                .map(|(next, factor)| fitted.settled(next, factor))
                .collect();
            fitted.tables.extend(tables);
        }
        fitted
    }

    /// The tables over all parts of `attributes`, by mask; that of the empty one is one.
    pub fn tables(&self, attributes: &[usize]) -> Vec<Vec<f64>> {
        let mut tables: Vec<Vec<f64>> = vec![vec![1.0]];
        for mask in 1..1usize << attributes.len() {
            let set = chosen(attributes, mask);
            let axes = (0..attributes.len()).filter(|axis| mask >> axis & 1 == 1);
            let table = self.tables.get(&set).cloned().unwrap_or_else(|| {
                let without: Vec<&[f64]> = axes.map(|axis| tables[mask & !(1 << axis)].as_slice()).collect();
                likeliest(&self.sizes(&set), &without)
            });
            tables.push(table);
        }
        tables
    }

    fn sizes(&self, set: &[usize]) -> Vec<usize> {
        set.iter().map(|&a| self.levels[a]).collect()
    }

    /// The tables over all but one of `set`, which a view holds.
    fn without(&self, set: &[usize]) -> Vec<&[f64]> {
        let one = |axis: usize| {
            let rest: Vec<usize> =
                set.iter().enumerate().filter(|(i, _)| *i != axis).map(|(_, &a)| a).collect();
            // A view that holds a set holds its parts; the table over nothing is one.
            if rest.is_empty() { &[1.0][..] } else { &self.tables[&rest] }
        };
        (0..set.len()).map(one).collect()
    }

    fn residual(&self, set: &[usize], told: &Interaction) -> Beyond {
        let sizes = self.sizes(set);
        let prediction = likeliest(&sizes, &self.without(set));
        let mut expected = prediction.clone();
        interaction(&mut expected, &sizes);
        let residual = told.cells.iter().zip(&expected).map(|(a, b)| a - b).collect();
        Beyond { set: set.to_vec(), sizes, prediction, residual }
    }

    /// The table with so much of the residual in it.
    fn settled(&self, next: Beyond, factor: f64) -> (Vec<usize>, Vec<f64>) {
        let Beyond { set, sizes, prediction, residual } = next;
        let mut table: Vec<f64> =
            prediction.iter().zip(residual).map(|(q, r)| (q + factor * r).max(LEAST * q)).collect();
        fit(&mut table, &sizes, &self.without(&set));
        (set, table)
    }
}

/// What an interaction says beyond its prediction.
struct Beyond {
    set: Vec<usize>,
    sizes: Vec<usize>,
    prediction: Vec<f64>,
    residual: Vec<f64>,
}

impl Beyond {
    /// In a table of K cells, coefficients are K times the cells and there are K as many cells as directions: x = U·K·|r|².
    fn found(&self, precision: f64) -> Found {
        let dimension = self.sizes.iter().map(|&size| size as f64 - 1.0).product();
        let square: f64 = self.residual.iter().map(|r| r * r).sum();
        Found { dimension, precision, square: precision * self.residual.len() as f64 * square }
    }
}

/// The table of maximum entropy that has these sums over each axis.
fn likeliest(sizes: &[usize], without: &[&[f64]]) -> Vec<f64> {
    let cells: usize = sizes.iter().product();
    let mut table = vec![1.0 / cells as f64; cells];
    fit(&mut table, sizes, without);
    table
}
