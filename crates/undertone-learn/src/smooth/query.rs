//! A function on a box as a series of cosines.
//!
//! With θ_i = (i + ½)π/N along an axis, the transform of type II gives
//!
//! > c_v = (2/N)·Σ_i f(cos θ_i)·cos(v·θ_i),   halved for v = 0
//!
//! exactly for polynomials of degree below N and, for others, up to what lies beyond N. N is doubled until the
//! upper half of the coefficients is nothing. A Gaussian kernel is a product of functions of one axis each, and so are its
//! coefficients: it costs p short transforms instead of one of N^p.

use crate::LearnError;
use crate::tensor::along_all_axes;
use ndarray::Array2;
use std::f64::consts::PI;
use undertone_privacy::number::Bounds;

/// The first N of an axis.
const FIRST: usize = 64;
/// The last N of an axis of a product.
const LAST: usize = 2048;
/// A dense transform has at most this many numbers.
const LARGEST: usize = 1 << 18;
/// The upper half of the coefficients is nothing if its sum is at most this share of all.
const NOTHING: f64 = 1e-9;

/// Coefficients of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    axes: usize,
    series: Series,
}

#[derive(Clone, Debug, PartialEq)]
enum Series {
    /// c_v = factor·Π_i c_{i, v_i}
    Product { factor: f64, of_axes: Vec<Vec<f64>> },
    /// c_v for v below `nodes` on each axis
    Dense { nodes: usize, coefficients: Vec<f64> },
}

impl Query {
    /// exp(-Σ_i (x_i - centre_i)²/(2·bandwidth_i²)), the centre inside of the box.
    pub fn kernel(bounds: &[Bounds], centre: &[f64], bandwidths: &[f64]) -> Result<Self, LearnError> {
        for given in [centre.len(), bandwidths.len()] {
            if given != bounds.len() {
                return Err(LearnError::Columns { found: given, expected: bounds.len() });
            }
        }
        let mut of_axes = Vec::new();
        for (axis, ((bounds, &centre), &bandwidth)) in bounds.iter().zip(centre).zip(bandwidths).enumerate() {
            of_axes.push(kernel_on(axis, *bounds, centre, bandwidth)?);
        }
        Ok(Self { axes: bounds.len(), series: Series::Product { factor: 1.0, of_axes } })
    }

    /// The kernel as a density: it integrates to one on all of space.
    pub fn density(bounds: &[Bounds], centre: &[f64], bandwidths: &[f64]) -> Result<Self, LearnError> {
        let mut query = Self::kernel(bounds, centre, bandwidths)?;
        if let Series::Product { factor, .. } = &mut query.series {
            *factor = bandwidths.iter().map(|h| 1.0 / ((2.0 * PI).sqrt() * h)).product();
        }
        Ok(query)
    }

    /// Any function of at most three coordinates of the box. One that is not smooth has a tail that does not end: what is
    /// known of it then is what lies within the largest transform.
    pub fn function(bounds: &[Bounds], f: impl Fn(&[f64]) -> f64) -> Result<Self, LearnError> {
        let axes = bounds.len();
        if !(1..=3).contains(&axes) {
            let (what, expected) = ("the number of axes of a function", "1, 2 or 3");
            return Err(LearnError::Parameter { what, value: axes as f64, expected });
        }
        let mut nodes = FIRST / axes;
        loop {
            let coefficients = dense(bounds, &f, nodes);
            if let Some(&value) = coefficients.iter().find(|c| !c.is_finite()) {
                return Err(LearnError::Parameter { what: "the function", value, expected: "finite" });
            }
            let query = Self { axes, series: Series::Dense { nodes, coefficients } };
            let more = (2 * nodes).pow(axes as u32) > LARGEST;
            if more || query.missed(nodes / 2) <= NOTHING * query.missed(0) {
                return Ok(query);
            }
            nodes *= 2;
        }
    }

    /// p.
    pub fn axes(&self) -> usize {
        self.axes
    }

    /// c_v for v ∈ {0, …, t-1}^p, t = `degrees`, the last axis fastest; the constant comes first.
    pub fn coefficients(&self, degrees: u32) -> Vec<f64> {
        let t = degrees as usize;
        let count = t.pow(self.axes as u32);
        (0..count).map(|number| self.coefficient(number, t)).collect()
    }

    /// Σ|c_v| over all v that have t or more on some axis: f minus its series is never more.
    pub fn missed(&self, degrees: usize) -> f64 {
        match &self.series {
            Series::Product { factor, of_axes } => {
                let sum = |c: &[f64]| c.iter().map(|c| c.abs()).sum::<f64>();
                // Π(a_i + b_i) - Πa_i, one axis after the other, as the difference would cancel
                let (mut all, mut beyond) = (1.0, 0.0);
                for c in of_axes {
                    let (within, outside) = c.split_at(degrees.min(c.len()));
                    beyond = beyond * sum(c) + all * sum(outside);
                    all *= sum(within);
                }
                factor * beyond
            }
            Series::Dense { nodes, coefficients } => {
                let outside = |number: usize| {
                    let mut rest = number;
                    (0..self.axes).any(|_| {
                        let v = rest % nodes;
                        rest /= nodes;
                        v >= degrees
                    })
                };
                let beyond = coefficients.iter().enumerate().filter(|(number, _)| outside(*number));
                beyond.map(|(_, c)| c.abs()).sum()
            }
        }
    }

    /// c_v, v being `number` in base t.
    fn coefficient(&self, number: usize, t: usize) -> f64 {
        let mut rest = number;
        let mut digit = || {
            let v = rest % t;
            rest /= t;
            v
        };
        match &self.series {
            Series::Product { factor, of_axes } => {
                let of_axis = |c: &Vec<f64>| c.get(digit()).copied().unwrap_or(0.0);
                factor * of_axes.iter().rev().map(of_axis).product::<f64>()
            }
            Series::Dense { nodes, coefficients } => {
                let (mut place, mut behind, mut inside) = (0, 1, true);
                for _ in 0..self.axes {
                    let v = digit();
                    inside &= v < *nodes;
                    place += v * behind;
                    behind *= nodes;
                }
                if inside { coefficients[place] } else { 0.0 }
            }
        }
    }
}

/// The series of a Gaussian kernel on one axis.
fn kernel_on(axis: usize, bounds: Bounds, centre: f64, bandwidth: f64) -> Result<Vec<f64>, LearnError> {
    let (low, high) = (bounds.low(), bounds.high());
    if !(low..=high).contains(&centre) {
        let what = "the centre of a kernel";
        return Err(LearnError::OutsideDomain { what, axis, value: centre, low, high });
    }
    if !(bandwidth > 0.0 && bandwidth.is_finite()) {
        let (what, expected) = ("the bandwidth", "positive and finite");
        return Err(LearnError::Parameter { what, value: bandwidth, expected });
    }
    let mut nodes = FIRST;
    loop {
        let values: Vec<f64> = places(bounds, nodes)
            .map(|x| ((x - centre) / bandwidth).powi(2))
            .map(|square| (-0.5 * square).exp())
            .collect();
        let c = transform(nodes).dot(&ndarray::Array1::from(values)).to_vec();
        let sum = |c: &[f64]| c.iter().map(|c| c.abs()).sum::<f64>();
        if sum(&c[nodes / 2..]) <= NOTHING * sum(&c) && sum(&c) > 0.0 {
            return Ok(c);
        }
        nodes *= 2;
        if nodes > LAST {
            let (what, expected) = ("the bandwidth", "at least a few hundredths of the width of its axis");
            return Err(LearnError::Parameter { what, value: bandwidth, expected });
        }
    }
}

/// The values of f at N^p places, and the transform along every axis.
fn dense(bounds: &[Bounds], f: &impl Fn(&[f64]) -> f64, nodes: usize) -> Vec<f64> {
    let axes: Vec<Vec<f64>> = bounds.iter().map(|bounds| places(*bounds, nodes).collect()).collect();
    let mut x = vec![0.0; axes.len()];
    let value = |number: usize| {
        let mut rest = number;
        for (x, places) in x.iter_mut().zip(&axes).rev() {
            *x = places[rest % nodes];
            rest /= nodes;
        }
        f(&x)
    };
    let values: Vec<f64> = (0..nodes.pow(axes.len() as u32)).map(value).collect();
    along_all_axes(&values, axes.len(), &transform(nodes))
}

/// The places of an axis that have the cosines cos θ_i.
fn places(bounds: Bounds, nodes: usize) -> impl Iterator<Item = f64> {
    let (low, high) = (bounds.low(), bounds.high());
    (0..nodes).map(move |i| {
        let share = 0.5 * (1.0 + ((i as f64 + 0.5) * PI / nodes as f64).cos());
        low * (1.0 - share) + high * share
    })
}

/// (2/N)·cos(v·(i + ½)π/N), halved for v = 0.
fn transform(nodes: usize) -> Array2<f64> {
    let n = nodes as f64;
    Array2::from_shape_fn((nodes, nodes), |(v, i)| {
        // Angles repeat after 4N quarters of π/(2N): exact integers keep them small.
        let quarters = (v * (2 * i + 1)) % (4 * nodes);
        let cosine = (quarters as f64 * PI / (2.0 * n)).cos();
        if v == 0 { 1.0 / n } else { 2.0 / n * cosine }
    })
}
