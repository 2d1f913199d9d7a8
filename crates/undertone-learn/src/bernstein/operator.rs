//! The iterated Bernstein operator as a matrix.
//!
//! The printed alternating sum Σ_{i=1}^{h} C(h, i)·(-1)^(i-1)·B^i is I - (I - B)^h. On the values at the nodes B is
//! M\[u, v\] = b_v(u/k), and
//!
//! > I - (I - M)^h = M·C_h,   C_h = Σ_{i<h} (I - M)^i,
//!
//! so that the iterated polynomial is an ordinary one with coefficients C_h·(values at the nodes). Printed, the powers have a wrong
//! index and the sum over v ends at h instead of k. Large h lead to M^-1, interpolation at equal distances, which is
//! ill-conditioned; up to 4 the sum of |B_v(x)| stays below 1.3.

use super::basis::Basis;
use ndarray::Array2;

/// C_h for degree k, by Horner's rule: C ← I + (I - M)·C, from C = I.
pub fn iterated_operator(degree: u32, order: u32) -> Array2<f64> {
    let nodes: Vec<f64> = (0..=degree).map(|u| f64::from(u) / f64::from(degree)).collect();
    let one = Array2::eye(nodes.len());
    let rest = &one - &basis_at(degree, &nodes);
    (1..order).fold(one.clone(), |c, _| &one + &rest.dot(&c))
}

/// Rows b_0(x), …, b_k(x) for places x between 0 and 1.
pub(super) fn basis_at(degree: u32, places: &[f64]) -> Array2<f64> {
    let basis = Basis::new(degree);
    let mut rows = Array2::zeros((places.len(), degree as usize + 1));
    for (mut row, &x) in rows.rows_mut().into_iter().zip(places) {
        basis.values(x, row.as_slice_mut().expect("rows are contiguous"));
    }
    rows
}

/// `count` + 1 places from 0 to 1, ends included.
pub(super) fn places(count: u32) -> Vec<f64> {
    (0..=count).map(|i| f64::from(i) / f64::from(count)).collect()
}

/// L1, the largest Σ_v |B_v(x)| over x: by how much the operator may enlarge an error at the nodes. On a lattice of 512.
pub fn largest_absolute_sum(degree: u32, order: u32) -> f64 {
    let rows = basis_at(degree, &places(512)).dot(&iterated_operator(degree, order));
    rows.rows().into_iter().map(|row| row.iter().map(|b| b.abs()).sum()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Σ_{i=1}^{h} C(h, i)·(-1)^(i-1)·M^i, with Σ over v from 0 to k.
    fn alternating_sum(degree: u32, order: u32) -> Array2<f64> {
        let nodes = places(degree);
        let m = basis_at(degree, &nodes);
        let mut power = Array2::eye(nodes.len());
        let mut sum = Array2::zeros(m.dim());
        let mut binomial = 1.0;
        for i in 1..=order {
            power = power.dot(&m);
            binomial = binomial * f64::from(order + 1 - i) / f64::from(i);
            let sign = if i % 2 == 1 { 1.0 } else { -1.0 };
            sum = sum + sign * binomial * &power;
        }
        sum
    }

    #[test]
    fn the_matrix_is_the_alternating_sum() {
        for (k, h) in [(1, 1), (2, 2), (3, 2), (5, 3), (9, 4)] {
            let ours = basis_at(k, &places(k)).dot(&iterated_operator(k, h));
            let difference = ours - alternating_sum(k, h);
            assert!(difference.iter().all(|d| d.abs() < 1e-12), "k = {k}, h = {h}");
        }
    }

    #[test]
    fn iterated_bases_sum_to_one_and_keep_straight_lines() {
        for (k, h) in [(1, 1), (2, 1), (3, 2), (7, 3), (12, 4)] {
            let rows = basis_at(k, &places(40)).dot(&iterated_operator(k, h));
            for (row, x) in rows.rows().into_iter().zip(places(40)) {
                let line: f64 = row.iter().zip(places(k)).map(|(b, node)| b * node).sum();
                assert!((row.sum() - 1.0).abs() < 1e-12 && (line - x).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn errors_at_the_nodes_grow_by_little_and_not_by_the_printed_power_of_two() {
        for k in 2..=16 {
            assert!((largest_absolute_sum(k, 1) - 1.0).abs() < 1e-12);
            for h in 2..=4 {
                let sum = largest_absolute_sum(k, h);
                // The printed bound is 2^h - 1.
                assert!((1.05..1.3).contains(&sum), "k = {k}, h = {h}: {sum}");
                let rows = basis_at(k, &places(512)).dot(&iterated_operator(k, h));
                let squares = rows.rows().into_iter().map(|row| row.iter().map(|b| b * b).sum::<f64>());
                assert!((squares.fold(0.0, f64::max) - 1.0).abs() < 1e-9);
            }
        }
    }
}
