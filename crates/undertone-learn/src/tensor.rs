//! A matrix along one axis of a tensor, the last axis fastest.

use ndarray::{Array2, ArrayView2};

/// out\[a, r, b\] = Σ_i matrix\[r, i\]·tensor\[a, i, b\], i being the axis with so many steps behind it.
pub(crate) fn along_axis(tensor: &[f64], behind: usize, matrix: &Array2<f64>) -> Vec<f64> {
    let (rows, columns) = matrix.dim();
    let mut out = Vec::with_capacity(tensor.len() / columns * rows);
    for block in tensor.chunks_exact(columns * behind) {
        let block = ArrayView2::from_shape((columns, behind), block).expect("a chunk has as many numbers");
        out.extend(matrix.dot(&block));
    }
    out
}

/// The same matrix along each of the `axes` axes of a cube.
pub(crate) fn along_all_axes(tensor: &[f64], axes: usize, matrix: &Array2<f64>) -> Vec<f64> {
    let (rows, _) = matrix.dim();
    let mut behind = 1;
    let mut cube = tensor.to_vec();
    for _ in 0..axes {
        cube = along_axis(&cube, behind, matrix);
        behind *= rows;
    }
    cube
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn sums_and_differences_along_two_axes() {
        let matrix = array![[1.0, 1.0], [1.0, -1.0], [0.0, 2.0]];
        // [[1, 2], [3, 4]]: rows become (a+b, a-b, 2b), then columns
        let out = along_all_axes(&[1.0, 2.0, 3.0, 4.0], 2, &matrix);
        assert_eq!(out, [10.0, -2.0, 12.0, -4.0, 0.0, -4.0, 14.0, -2.0, 16.0]);
        let first = along_axis(&[1.0, 2.0, 3.0, 4.0], 2, &matrix);
        assert_eq!(first, [4.0, 6.0, -2.0, -2.0, 6.0, 8.0]);
    }
}
