//! Solving A·x = b for a symmetric positive definite A, whose lower triangle is packed row by row.

/// The place of (row, column), column ≤ row.
pub(super) fn place(row: usize, column: usize) -> usize {
    row * (row + 1) / 2 + column
}

/// x; nothing if A is not positive definite to working precision. `a` becomes L of A = L·Lᵀ.
pub(super) fn solve(a: &mut [f64], b: &[f64]) -> Option<Vec<f64>> {
    let n = b.len();
    for row in 0..n {
        for column in 0..=row {
            let (start, above) = (place(row, 0), place(column, 0));
            // L_rc = (A_rc - Σ_{k<c} L_rk·L_ck)/L_cc
            let products = a[start..start + column].iter().zip(&a[above..above + column]);
            let rest = a[start + column] - products.map(|(x, y)| x * y).sum::<f64>();
            a[start + column] = if row == column {
                // What is left of the diagonal is rounding where columns depend on each other.
                (rest > a[start + column] * 1e-13).then(|| rest.sqrt())?
            } else {
                rest / a[above + column]
            };
        }
    }
    let mut x = b.to_vec();
    for row in 0..n {
        let known: f64 = (0..row).map(|column| a[place(row, column)] * x[column]).sum();
        x[row] = (x[row] - known) / a[place(row, row)];
    }
    for row in (0..n).rev() {
        let known: f64 = (row + 1..n).map(|below| a[place(below, row)] * x[below]).sum();
        x[row] = (x[row] - known) / a[place(row, row)];
    }
    Some(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_equations_worked_by_hand() {
        // ((4, 2, 0), (2, 5, 2), (0, 2, 5))·(1, -1, 2) = (2, 1, 8)
        let mut a = [4.0, 2.0, 5.0, 0.0, 2.0, 5.0];
        let x = solve(&mut a, &[2.0, 1.0, 8.0]).unwrap();
        for (found, expected) in x.iter().zip([1.0, -1.0, 2.0]) {
            assert!((found - expected).abs() < 1e-14, "{x:?}");
        }
    }

    #[test]
    fn columns_that_depend_on_each_other_have_no_solution() {
        assert_eq!(solve(&mut [1.0, 1.0, 1.0], &[1.0, 1.0]), None);
        assert_eq!(solve(&mut [0.0], &[1.0]), None);
        assert_eq!(solve(&mut [f64::NAN], &[1.0]), None);
    }
}
