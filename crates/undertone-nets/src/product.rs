//! Products of matrices, row after row in slices.
//!
//! Each product runs on one core and in one order of additions. Work is shared out above, by images ([`training`](crate::training)), so that the
//! same seed gives the same weights however many cores there are.

pub(crate) use faer::MatRef;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, Par};

/// A matrix of so many columns.
pub(crate) fn rows(values: &[f32], columns: usize) -> MatRef<'_, f32> {
    MatRef::from_row_major_slice(values, values.len() / columns, columns)
}

/// out = a·b.
pub(crate) fn set(out: &mut [f32], a: MatRef<'_, f32>, b: MatRef<'_, f32>) {
    multiply(out, a, b, Accum::Replace);
}

/// out += a·b.
pub(crate) fn add(out: &mut [f32], a: MatRef<'_, f32>, b: MatRef<'_, f32>) {
    multiply(out, a, b, Accum::Add);
}

fn multiply(out: &mut [f32], a: MatRef<'_, f32>, b: MatRef<'_, f32>, how: Accum) {
    let out = MatMut::from_row_major_slice_mut(out, a.nrows(), b.ncols());
    matmul(out, how, a, b, 1.0, Par::Seq);
}

/// Every row of `out` becomes `row`.
pub(crate) fn fill_rows(out: &mut [f32], row: &[f32]) {
    for out in out.chunks_exact_mut(row.len()) {
        out.copy_from_slice(row);
    }
}

/// sums += the sum of all rows of `values`.
pub(crate) fn add_rows(sums: &mut [f32], values: &[f32]) {
    for row in values.chunks_exact(sums.len()) {
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += value;
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "small integers are exact")]
mod tests {
    use super::*;

    #[test]
    fn products_are_sums_of_products() {
        let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let b = [1.0, -1.0, 0.0, 2.0];
        let mut out = [0.0; 6];
        set(&mut out, rows(&a, 2), rows(&b, 2));
        assert_eq!(out, [1.0, 3.0, 3.0, 5.0, 5.0, 7.0]);
        add(&mut out, rows(&a, 2), rows(&b, 2));
        assert_eq!(out, [2.0, 6.0, 6.0, 10.0, 10.0, 14.0]);
        let mut turned = [0.0; 4];
        set(&mut turned, rows(&a, 2).transpose(), rows(&a, 2));
        assert_eq!(turned, [35.0, 44.0, 44.0, 56.0]);
    }
}
