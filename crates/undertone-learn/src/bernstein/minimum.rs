//! The least value of a surrogate on its box.
//!
//! It need not be convex: noise is in it. All points of a lattice are looked at where they are few (201, 41² or 15³), some
//! thousand places where there are more than three axes, and a bounded quasi-Newton method descends from the best.

use super::operator::{basis_at, places};
use super::quasi_newton::descend;
use super::surrogate::{Surrogate, Workspace};
use crate::tensor::along_all_axes;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// Starts that are followed.
const STARTS: usize = 5;
/// Places that are looked at where a lattice would have too many.
const RANDOM: usize = 1000;

/// Where a surrogate is least.
#[derive(Clone, Debug, PartialEq)]
pub struct Minimum {
    /// The parameters
    pub w: Vec<f64>,
    /// The surrogate's value there, which is less than the risk: it was searched for
    pub value: f64,
    /// Of the surrogate at this w
    pub standard_error: f64,
}

pub(super) fn least(surrogate: &Surrogate) -> Minimum {
    let mut workspace = Workspace::default();
    let mut evaluate = |x: &[f64], gradient: &mut [f64]| surrogate.in_unit(x, gradient, &mut workspace);
    let mut best: Option<(f64, Vec<f64>)> = None;
    for mut x in starts(surrogate, &mut evaluate) {
        let value = descend(&mut x, &mut evaluate);
        if best.as_ref().is_none_or(|(least, _)| value < *least) {
            best = Some((value, x));
        }
    }
    let (value, x) = best.expect("there are places on every box");
    let w = surrogate.in_box(&x);
    let standard_error = surrogate.variance(&w).sqrt();
    Minimum { w, value, standard_error }
}

/// The best few of many places in the unit cube.
fn starts(surrogate: &Surrogate, evaluate: &mut impl FnMut(&[f64], &mut [f64]) -> f64) -> Vec<Vec<f64>> {
    let axes = surrogate.grid().axes();
    let mut found: Vec<(f64, Vec<f64>)> = match axes {
        1 => lattice(surrogate, 200),
        2 => lattice(surrogate, 40),
        3 => lattice(surrogate, 14),
        _ => {
            let mut rng = ChaCha8Rng::seed_from_u64(0);
            let mut gradient = vec![0.0; axes];
            let mut place = || (0..axes).map(|_| f64::from(rng.next_u32()) / f64::from(u32::MAX)).collect();
            let mut random: Vec<Vec<f64>> = (0..RANDOM).map(|_| place()).collect();
            random.push(vec![0.5; axes]);
            random.into_iter().map(|x| (evaluate(&x, &mut gradient), x)).collect()
        }
    };
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.into_iter().take(STARTS).map(|(_, x)| x).collect()
}

/// All points of a lattice with `count` + 1 places on each axis: the basis there as a matrix along each axis.
fn lattice(surrogate: &Surrogate, count: u32) -> Vec<(f64, Vec<f64>)> {
    let (axes, places) = (surrogate.grid().axes(), places(count));
    let matrix = basis_at(surrogate.grid().degree(), &places);
    let values = along_all_axes(surrogate.coefficients(), axes, &matrix);
    let place = |number: usize| {
        let mut rest = number;
        let mut x = vec![0.0; axes];
        for x in x.iter_mut().rev() {
            *x = places[rest % places.len()];
            rest /= places.len();
        }
        x
    };
    values.into_iter().enumerate().map(|(number, value)| (value, place(number))).collect()
}
