//! The one product that a surrogate is made of: weights against the first axis of a tensor, for all that is behind it at once.
//!
//! > out_w\[r\] = Σ_i weights_w\[i\]·tensor\[i, r\]
//!
//! for one or two lists of weights, the values of a basis and its derivatives: what is read once is multiplied twice. A tile of
//! a few registers of neighbouring r has its sums in registers over all i. Each sum runs over i in order with fused
//! multiply-adds, so that it does not depend on how wide the registers of a processor are.

#![expect(
    clippy::inline_always,
    reason = "what is not inlined into what is dispatched is compiled for the least of processors"
)]

use pulp::Simd;

/// Registers of a tile for each list: the fastest of one to six, as memory is what is waited for.
const REGISTERS: usize = 3;

/// Contracts the first axis of `tensor` with each of `weights`; the length of the outputs is what is behind the axis.
pub(super) fn contract<const W: usize>(tensor: &[f64], weights: [&[f64]; W], outs: [&mut [f64]; W]) {
    pulp::Arch::new().dispatch(Contract { tensor, weights, outs });
}

struct Contract<'a, const W: usize> {
    tensor: &'a [f64],
    weights: [&'a [f64]; W],
    outs: [&'a mut [f64]; W],
}

impl<const W: usize> pulp::WithSimd for Contract<'_, W> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let behind = self.outs[0].len();
        let mut start = 0;
        while start + REGISTERS * S::F64_LANES <= behind {
            self.tile::<S, REGISTERS>(simd, start);
            start += REGISTERS * S::F64_LANES;
        }
        while start + S::F64_LANES <= behind {
            self.tile::<S, 1>(simd, start);
            start += S::F64_LANES;
        }
        for r in start..behind {
            for (weights, out) in self.weights.iter().zip(&mut self.outs) {
                let column = self.tensor[r..].iter().step_by(behind);
                out[r] = column.zip(*weights).fold(0.0, |sum, (&x, &w)| x.mul_add(w, sum));
            }
        }
    }
}

impl<const W: usize> Contract<'_, W> {
    /// The sums of V registers that begin at `start`.
    #[inline(always)]
    fn tile<S: Simd, const V: usize>(&mut self, simd: S, start: usize) {
        let range = start..start + V * S::F64_LANES;
        let mut sums = [[simd.splat_f64s(0.0); V]; W];
        for (i, row) in self.tensor.chunks_exact(self.outs[0].len()).enumerate() {
            let row = &S::as_simd_f64s(&row[range.clone()]).0[..V];
            for (sums, weights) in sums.iter_mut().zip(&self.weights) {
                let weight = simd.splat_f64s(weights[i]);
                for (sum, &x) in sums.iter_mut().zip(row) {
                    *sum = simd.mul_add_f64s(x, weight, *sum);
                }
            }
        }
        for (out, sums) in self.outs.iter_mut().zip(&sums) {
            S::as_mut_simd_f64s(&mut out[range.clone()]).0.copy_from_slice(sums);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_of_any_shape_give_the_sums_that_loops_give() {
        for (rows, behind) in (1..6).flat_map(|rows| (1..80).map(move |behind| (rows, behind))) {
            let number = |i: usize, factor: usize| ((i * factor + 5) % 101) as f64 / 50.0 - 1.0;
            let tensor: Vec<f64> = (0..rows * behind).map(|i| number(i, 37)).collect();
            let weights = [29, 17].map(|factor| (0..rows).map(|i| number(i, factor)).collect::<Vec<_>>());
            let mut outs = [vec![f64::NAN; behind], vec![f64::NAN; behind]];
            let [first, second] = &mut outs;
            contract(&tensor, [&weights[0], &weights[1]], [first, second]);
            let mut alone = vec![f64::NAN; behind];
            contract(&tensor, [&weights[1]], [&mut alone]);
            assert_eq!(alone, outs[1]);
            for (weights, out) in weights.iter().zip(&outs) {
                for (r, found) in out.iter().enumerate() {
                    let sum: f64 = (0..rows).map(|i| weights[i] * tensor[i * behind + r]).sum();
                    assert!((found - sum).abs() < 1e-14, "{rows}×{behind}: {found}, {sum}");
                }
            }
        }
    }
}
