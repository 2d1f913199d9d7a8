//! The one product that a surrogate is made of: weights against the first axis of a tensor, for all that is behind it at once.
//!
//! > out_w\[r\] = Σ_i weights_w\[i\]·tensor\[i, r\]
//!
//! for one or two lists of weights, the values of a basis and its derivatives: what is read once is multiplied twice. A tile of
//! 32 neighbouring r has its sums in registers over all i.

#![expect(
    clippy::inline_always,
    reason = "what is not inlined into what is dispatched is compiled for the least of processors"
)]

const LANES: usize = 8;
type Lanes = [f64; LANES];
/// Registers of a tile
const REGISTERS: usize = 4;

/// Contracts the first axis of `tensor` with each of `weights`; the length of the outputs is what is behind the axis.
pub(super) fn contract<const W: usize>(tensor: &[f64], weights: [&[f64]; W], outs: [&mut [f64]; W]) {
    pulp::Arch::new().dispatch(Contract { tensor, weights, outs });
}

struct Contract<'a, const W: usize> {
    tensor: &'a [f64],
    weights: [&'a [f64]; W],
    outs: [&'a mut [f64]; W],
}

impl<const W: usize> pulp::NullaryFnOnce for Contract<'_, W> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { tensor, weights, mut outs } = self;
        let behind = outs[0].len();
        let mut start = 0;
        while start + REGISTERS * LANES <= behind {
            tile::<W, REGISTERS>(tensor, &weights, start, behind, &mut outs);
            start += REGISTERS * LANES;
        }
        while start + LANES <= behind {
            tile::<W, 1>(tensor, &weights, start, behind, &mut outs);
            start += LANES;
        }
        for r in start..behind {
            for (weights, out) in weights.iter().zip(&mut outs) {
                let column = tensor[r..].iter().step_by(behind);
                out[r] = column.zip(*weights).fold(0.0, |sum, (&x, &w)| x.mul_add(w, sum));
            }
        }
    }
}

#[inline(always)]
fn tile<const W: usize, const V: usize>(
    tensor: &[f64],
    weights: &[&[f64]; W],
    start: usize,
    behind: usize,
    outs: &mut [&mut [f64]; W],
) {
    let mut sums = [[[0.0; LANES]; V]; W];
    for (i, row) in tensor.chunks_exact(behind).enumerate() {
        let row: &[Lanes] = &row[start..start + V * LANES].as_chunks().0[..V];
        for w in 0..W {
            let weight = weights[w][i];
            for v in 0..V {
                for lane in 0..LANES {
                    sums[w][v][lane] = row[v][lane].mul_add(weight, sums[w][v][lane]);
                }
            }
        }
    }
    for (out, sums) in outs.iter_mut().zip(&sums) {
        out[start..start + V * LANES].copy_from_slice(sums.as_flattened());
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
