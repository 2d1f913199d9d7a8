//! The polynomial that stands for the risk.
//!
//! With c = (C_h ⊗ … ⊗ C_h)·means it is an ordinary tensor of Bernstein polynomials, Σ_v c_v·Π_i b_{v_i}(x_i), x being w on the
//! scale of the unit cube. Axes are contracted one after the other, the value and all partial derivatives together: the first
//! contraction reads the whole tensor once, and with the two lists b and b' of its axis costs 2·(k+1)^p multiplications; all that
//! follow have (k+1) times fewer.
//!
//! **Variance.** Σ_v (Π_i B_{v_i}(x_i))²·Var_v, the same contraction with the squares of the iterated basis.

use super::basis::Basis;
use super::contraction::contract;
use super::minimum::{self, Minimum};
use super::operator::iterated_operator;
use crate::LearnError;
use crate::means::Means;
use crate::tensor::along_all_axes;
use ndarray::Array2;
use std::borrow::Cow;
use undertone_privacy::statistic::ParameterGrid;

/// A polynomial on a box of parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Surrogate {
    grid: ParameterGrid,
    basis: Basis,
    lower: Basis,
    operator: Array2<f64>,
    /// c
    coefficients: Vec<f64>,
    /// Var_v
    variances: Vec<f64>,
}

/// Memory for evaluating surrogates, so that it is asked for once.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// Of one axis, k+1 each
    values: Vec<f64>,
    derivatives: Vec<f64>,
    /// Tensors before and after a contraction: the value, then the derivatives along the axes that are contracted
    before: Vec<f64>,
    after: Vec<f64>,
}

impl Surrogate {
    /// Of the means at the nodes of `grid`, iterated `order` times, h. Every node has to be answered.
    pub fn fit(grid: ParameterGrid, order: u32, means: &Means) -> Result<Self, LearnError> {
        if !(1..=8).contains(&order) {
            let (what, expected) = ("the order of the operator", "between 1 and 8");
            return Err(LearnError::Parameter { what, value: order.into(), expected });
        }
        let nodes = grid.nodes() as usize;
        if means.len() != nodes {
            return Err(LearnError::OtherFamily { statistics: nodes, others: means.len() });
        }
        let mut values = Vec::with_capacity(nodes);
        let mut variances = Vec::with_capacity(nodes);
        for (statistic, mean) in means.iter().enumerate() {
            let mean = mean.ok_or(LearnError::Unanswered { statistic })?;
            values.push(mean.value);
            variances.push(mean.variance);
        }
        let operator = iterated_operator(grid.degree(), order);
        let coefficients = along_all_axes(&values, grid.axes(), &operator);
        let (basis, lower) = (Basis::new(grid.degree()), Basis::new(grid.degree() - 1));
        Ok(Self { grid, basis, lower, operator, coefficients, variances })
    }

    /// Where the parameters lie.
    pub fn grid(&self) -> &ParameterGrid {
        &self.grid
    }

    /// The value at w, which is clamped to the box.
    pub fn value(&self, w: &[f64]) -> f64 {
        let weights = |x: f64, out: &mut [f64]| self.basis.values(x, out);
        self.contract_all(&self.coefficients, &self.to_unit(w), weights)
    }

    /// The value at w, which is clamped to the box, and its gradient.
    pub fn value_and_gradient(&self, w: &[f64], gradient: &mut [f64], workspace: &mut Workspace) -> f64 {
        let value = self.in_unit(&self.to_unit(w), gradient, workspace);
        for ((g, low), high) in gradient.iter_mut().zip(self.grid.low()).zip(self.grid.high()) {
            *g /= high - low;
        }
        value
    }

    /// The variance of the value at w, which is clamped to the box.
    pub fn variance(&self, w: &[f64]) -> f64 {
        let nodes = self.basis.degree() + 1;
        let mut plain = vec![0.0; nodes];
        let weights = |x: f64, out: &mut [f64]| {
            self.basis.values(x, &mut plain);
            for (out, column) in out.iter_mut().zip(self.operator.columns()) {
                let iterated: f64 = plain.iter().zip(column).map(|(b, c)| b * c).sum();
                *out = iterated * iterated;
            }
        };
        self.contract_all(&self.variances, &self.to_unit(w), weights)
    }

    /// Its least value on the box, as far as it is found from many starts.
    pub fn minimise(&self) -> Minimum {
        minimum::least(self)
    }

    /// w on the scale of the unit cube.
    fn to_unit(&self, w: &[f64]) -> Vec<f64> {
        let ends = self.grid.low().iter().zip(self.grid.high());
        w.iter().zip(ends).map(|(w, (low, high))| ((w - low) / (high - low)).clamp(0.0, 1.0)).collect()
    }

    /// A point of the unit cube as parameters, exact at both ends.
    pub(super) fn in_box(&self, x: &[f64]) -> Vec<f64> {
        let ends = self.grid.low().iter().zip(self.grid.high());
        x.iter().zip(ends).map(|(x, (low, high))| low * (1.0 - x) + high * x).collect()
    }

    /// c.
    pub(super) fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// Var_v.
    pub(super) fn variances(&self) -> &[f64] {
        &self.variances
    }

    /// The polynomial if the means had been off by so much more.
    pub(super) fn shifted(&self, noise: &[f64]) -> Self {
        let mut shifted = self.clone();
        let moved = along_all_axes(noise, self.grid.axes(), &self.operator);
        shifted.coefficients.iter_mut().zip(moved).for_each(|(c, moved)| *c += moved);
        shifted
    }

    /// Contracts every axis with the weights at its coordinate.
    fn contract_all(&self, tensor: &[f64], x: &[f64], mut weights: impl FnMut(f64, &mut [f64])) -> f64 {
        let nodes = self.basis.degree() + 1;
        let mut of_axis = vec![0.0; nodes];
        let mut rest = Cow::Borrowed(tensor);
        for &x in x {
            weights(x, &mut of_axis);
            let mut after = vec![0.0; rest.len() / nodes];
            contract(&rest, [&of_axis], [&mut after]);
            rest = Cow::Owned(after);
        }
        rest[0]
    }

    /// Value and gradient at a point of the unit cube.
    pub(super) fn in_unit(&self, x: &[f64], gradient: &mut [f64], workspace: &mut Workspace) -> f64 {
        let nodes = self.basis.degree() + 1;
        let Workspace { values, derivatives, before, after } = workspace;
        values.resize(nodes, 0.0);
        derivatives.resize(nodes, 0.0);
        let mut behind = self.coefficients.len();
        for (axis, &x) in x.iter().enumerate() {
            self.basis.values(x, values);
            Basis::derivatives(&self.lower, x, derivatives);
            let tensor = if axis == 0 { &self.coefficients } else { &*before };
            let length = behind;
            behind /= nodes;
            after.resize((axis + 2) * behind, 0.0);
            let (value, chains) = after.split_at_mut(behind);
            let (chains, own) = chains.split_at_mut(axis * behind);
            contract(&tensor[..length], [values, derivatives], [value, own]);
            for (chain, out) in tensor[length..].chunks_exact(length).zip(chains.chunks_exact_mut(behind)) {
                contract(chain, [values], [out]);
            }
            std::mem::swap(before, after);
        }
        gradient.copy_from_slice(&before[1..]);
        before[0]
    }
}
