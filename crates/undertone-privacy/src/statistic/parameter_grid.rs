//! A box of parameters and the nodes of a grid on it.
//!
//! > w_i = low_i + (high_i - low_i)·v_i/k,   v ∈ {0, …, k}^p
//!
//! Nodes are numbered with the last axis fastest: the number is v written in base k+1.

use crate::PrivacyError;
use alloc::vec::Vec;

/// (k+1)^p nodes on a box.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterGrid {
    low: Vec<f64>,
    high: Vec<f64>,
    degree: u32,
    nodes: u32,
}

impl ParameterGrid {
    /// More nodes than this no collection could fill.
    pub const MOST_NODES: u32 = 1 << 24;

    /// Ends of the box are at most this.
    const FARTHEST: f64 = 1e6;

    /// The grid of degree k = `degree` on the box between `low` and `high`.
    pub fn new(low: &[f64], high: &[f64], degree: u32) -> Result<Self, PrivacyError> {
        let axes = low.len();
        if axes == 0 {
            return Err(PrivacyError::Dimension { dimension: 0, least: 1, most: 24 });
        }
        if high.len() != axes {
            return Err(PrivacyError::WrongLength { length: high.len(), dimension: axes });
        }
        for (&low, &high) in low.iter().zip(high) {
            if !(low < high && low.abs().max(high.abs()) <= Self::FARTHEST) {
                return Err(PrivacyError::Bounds { low, high });
            }
        }
        let count = degree.checked_add(1).and_then(|nodes| nodes.checked_pow(axes.try_into().ok()?));
        let nodes = count.filter(|&nodes| degree >= 1 && nodes <= Self::MOST_NODES);
        let Some(nodes) = nodes else {
            return Err(PrivacyError::Parameter { what: "the degree of the grid", value: degree.into() });
        };
        Ok(Self { low: low.into(), high: high.into(), degree, nodes })
    }

    /// p.
    pub fn axes(&self) -> usize {
        self.low.len()
    }

    /// k.
    pub fn degree(&self) -> u32 {
        self.degree
    }

    /// (k+1)^p.
    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    /// The lower end of each axis.
    pub fn low(&self) -> &[f64] {
        &self.low
    }

    /// The upper end of each axis.
    pub fn high(&self) -> &[f64] {
        &self.high
    }

    /// The parameters at a node.
    pub fn node(&self, number: u32) -> Result<Vec<f64>, PrivacyError> {
        if number >= self.nodes {
            return Err(PrivacyError::Parameter { what: "the number of the node", value: number.into() });
        }
        let (mut rest, base) = (number, self.degree + 1);
        let mut w: Vec<f64> = self.low.clone();
        for (w, high) in w.iter_mut().zip(&self.high).rev() {
            // Exact at both ends
            let share = f64::from(rest % base) / f64::from(self.degree);
            *w = *w * (1.0 - share) + high * share;
            rest /= base;
        }
        Ok(w)
    }

    /// The largest |w| on the box.
    pub fn longest(&self) -> f64 {
        let farthest = |(low, high): (&f64, &f64)| low.abs().max(high.abs());
        libm::sqrt(self.low.iter().zip(&self.high).map(farthest).map(|end| end * end).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_run_through_the_last_axis_first_and_reach_both_ends() {
        let grid = ParameterGrid::new(&[-1.0, 0.1], &[1.0, 0.7], 2).unwrap();
        assert_eq!(grid.nodes(), 9);
        assert_eq!(grid.node(0).unwrap(), [-1.0, 0.1]);
        assert_eq!(grid.node(2).unwrap(), [-1.0, 0.7]);
        assert_eq!(grid.node(3).unwrap(), [0.0, 0.1]);
        assert_eq!(grid.node(8).unwrap(), [1.0, 0.7]);
        assert!(grid.node(9).is_err());
        assert!((grid.longest() - 1.49f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn boxes_that_are_empty_and_grids_that_nobody_could_fill_are_refused() {
        for (low, high) in [(1.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY), (0.0, 1e7)] {
            assert!(ParameterGrid::new(&[low], &[high], 2).is_err(), "{low} to {high}");
        }
        let cube = |axes: usize, degree| {
            ParameterGrid::new(&alloc::vec![-1.0; axes], &alloc::vec![1.0; axes], degree)
        };
        assert!(cube(0, 2).is_err() && cube(2, 0).is_err() && cube(2, u32::MAX).is_err());
        assert!(cube(24, 1).is_ok() && cube(25, 1).is_err() && cube(3, 300).is_err());
        assert!(ParameterGrid::new(&[0.0], &[1.0, 1.0], 1).is_err());
    }
}
