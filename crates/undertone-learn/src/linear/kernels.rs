//! The two products of a linear model: scores z = W·x of many rows, and the sum of their outer products g·xᵀ.
//!
//! W is kept with the classes outermost here, so that eight neighbouring features fill the eight lanes of a register
//! whatever K is. A tile of two rows and five classes has ten running sums; it reads seven registers for ten products.
//! Lanes are added up in a fixed order: a result does not depend on the processor.

#![expect(
    clippy::inline_always,
    reason = "what is not inlined into `vectorized` is compiled for the least of processors"
)]

/// Eight floats that are worked on at once.
pub(super) const LANES: usize = 8;
pub(super) type Lanes = [f32; LANES];
/// Rows of a tile of scores
const ROWS: usize = 2;
/// Classes of a tile
const CLASSES: usize = 5;

/// The length of a class's weights for `width` features, whole registers.
pub(super) fn padded(width: usize) -> usize {
    width.next_multiple_of(LANES)
}

/// Work that is compiled once for each set of instructions, and run with the widest that this processor has.
///
/// Its `call` has to be inlined always: what is called out of line is compiled for the least of processors.
pub(super) fn vectorized<W: pulp::NullaryFnOnce>(work: W) -> W::Output {
    pulp::Arch::new().dispatch(work)
}

#[inline(always)]
pub(super) fn add_product(sum: &mut Lanes, x: Lanes, y: Lanes) {
    for lane in 0..LANES {
        sum[lane] = x[lane].mul_add(y[lane], sum[lane]);
    }
}

#[inline(always)]
pub(super) fn total(lanes: Lanes) -> f32 {
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// The features after the last whole register, and zeros.
#[inline(always)]
fn remainder(tail: &[f32]) -> Lanes {
    let mut lanes = [0.0; LANES];
    lanes[..tail.len()].copy_from_slice(tail);
    lanes
}

/// scores\[r·K + k\] += ⟨rows\[r\], W_k⟩, where W_k is `weights[k·stride..]` and `stride` is the [`padded`] width.
pub(super) struct AddScores<'a> {
    pub(super) rows: &'a [&'a [f32]],
    pub(super) weights: &'a [f32],
    pub(super) stride: usize,
    pub(super) scores: &'a mut [f32],
}

impl pulp::NullaryFnOnce for AddScores<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { rows, weights, stride, scores } = self;
        let classes = scores.len() / rows.len();
        let mut class = 0;
        while class < classes {
            let left = classes - class;
            match left {
                1 => class_block::<1>(rows, weights, stride, class, classes, scores),
                2 => class_block::<2>(rows, weights, stride, class, classes, scores),
                3 => class_block::<3>(rows, weights, stride, class, classes, scores),
                4 => class_block::<4>(rows, weights, stride, class, classes, scores),
                _ => class_block::<CLASSES>(rows, weights, stride, class, classes, scores),
            }
            class += left.min(CLASSES);
        }
    }
}

#[inline(always)]
fn class_block<const C: usize>(
    rows: &[&[f32]],
    weights: &[f32],
    stride: usize,
    class: usize,
    classes: usize,
    scores: &mut [f32],
) {
    let block: [&[f32]; C] =
        std::array::from_fn(|c| &weights[(class + c) * stride..(class + c + 1) * stride]);
    let mut write = |row: usize, sums: [f32; C]| {
        for (score, sum) in scores[row * classes + class..][..C].iter_mut().zip(sums) {
            *score += sum;
        }
    };
    let (pairs, last) = rows.as_chunks::<ROWS>();
    for (index, pair) in pairs.iter().enumerate() {
        let [first, second] = tile::<ROWS, C>(pair, block);
        write(ROWS * index, first);
        write(ROWS * index + 1, second);
    }
    if let [row] = last {
        let [sums] = tile::<1, C>(&[row], block);
        write(rows.len() - 1, sums);
    }
}

/// The R × C inner products of rows and classes.
#[inline(always)]
fn tile<const R: usize, const C: usize>(rows: &[&[f32]; R], classes: [&[f32]; C]) -> [[f32; C]; R] {
    let mut sums = [[[0f32; LANES]; C]; R];
    let whole = rows[0].len() / LANES;
    let xs: [&[Lanes]; R] = std::array::from_fn(|r| &rows[r].as_chunks::<LANES>().0[..whole]);
    let ws: [&[Lanes]; C] = std::array::from_fn(|c| &classes[c].as_chunks::<LANES>().0[..whole]);
    for i in 0..whole {
        let x: [Lanes; R] = std::array::from_fn(|r| xs[r][i]);
        for c in 0..C {
            let w = ws[c][i];
            for r in 0..R {
                add_product(&mut sums[r][c], x[r], w);
            }
        }
    }
    if rows[0].len() > whole * LANES {
        for r in 0..R {
            let x = remainder(&rows[r][whole * LANES..]);
            for c in 0..C {
                add_product(&mut sums[r][c], x, classes[c].as_chunks::<LANES>().0[whole]);
            }
        }
    }
    std::hint::black_box(sums).map(|row| row.map(total))
}

/// gradient_k = Σ_r deltas\[r·K + k\]·rows\[r\] for each class, laid out like the weights.
pub(super) struct OuterProducts<'a> {
    pub(super) rows: &'a [&'a [f32]],
    pub(super) deltas: &'a [f32],
    pub(super) stride: usize,
    pub(super) gradient: &'a mut [f32],
}

impl pulp::NullaryFnOnce for OuterProducts<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { rows, deltas, stride, gradient } = self;
        let classes = deltas.len() / rows.len();
        let width = rows[0].len();
        let mut feature = 0;
        while feature < width {
            let registers = if feature + 2 * LANES <= width { 2 } else { 1 };
            let mut class = 0;
            while class < classes {
                let left = classes - class;
                let at = (feature, class, stride);
                match (registers, left) {
                    (2, 1) => feature_block::<2, 1>(rows, deltas, at, gradient),
                    (2, 2) => feature_block::<2, 2>(rows, deltas, at, gradient),
                    (2, 3) => feature_block::<2, 3>(rows, deltas, at, gradient),
                    (2, 4) => feature_block::<2, 4>(rows, deltas, at, gradient),
                    (2, _) => feature_block::<2, CLASSES>(rows, deltas, at, gradient),
                    (_, 1) => feature_block::<1, 1>(rows, deltas, at, gradient),
                    (_, 2) => feature_block::<1, 2>(rows, deltas, at, gradient),
                    (_, 3) => feature_block::<1, 3>(rows, deltas, at, gradient),
                    (_, 4) => feature_block::<1, 4>(rows, deltas, at, gradient),
                    (_, _) => feature_block::<1, CLASSES>(rows, deltas, at, gradient),
                }
                class += left.min(CLASSES);
            }
            feature += registers * LANES;
        }
    }
}

/// V registers of features for C classes.
#[inline(always)]
fn feature_block<const V: usize, const C: usize>(
    rows: &[&[f32]],
    deltas: &[f32],
    (feature, class, stride): (usize, usize, usize),
    gradient: &mut [f32],
) {
    let classes = deltas.len() / rows.len();
    let mut sums = [[[0f32; LANES]; V]; C];
    for (row, delta) in rows.iter().zip(deltas.chunks_exact(classes)) {
        let delta: &[f32] = &delta[class..class + C];
        let xs: [Lanes; V] = match row.get(feature..feature + V * LANES) {
            Some(xs) => std::array::from_fn(|v| xs.as_chunks::<LANES>().0[v]),
            None => [remainder(&row[feature..]); V],
        };
        for c in 0..C {
            for v in 0..V {
                add_product(&mut sums[c][v], xs[v], [delta[c]; LANES]);
            }
        }
    }
    for (c, sums) in sums.iter().enumerate() {
        let start = (class + c) * stride + feature;
        gradient[start..start + V * LANES].copy_from_slice(sums.as_flattened());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers between -1 and 1 that repeat late.
    fn numbers(count: usize, factor: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * factor + 5) % 101) as f32 / 50.0 - 1.0).collect()
    }

    /// Sums of at most 41 products of at most one, each rounded to within 2^-24 of sums of at most 41.
    const ROUNDING: f32 = 41.0 * 41.0 / 16_777_216.0;

    #[test]
    fn tiles_of_any_shape_give_the_products_that_loops_give() {
        for (count, width, classes) in
            (1..6).flat_map(|n| (1..42).flat_map(move |d| [1, 2, 3, 4, 5, 6, 9, 13].map(|k| (n, d, k))))
        {
            let stride = padded(width);
            let values = numbers(count * width, 37);
            let rows: Vec<&[f32]> = values.chunks_exact(width).collect();
            let mut weights = numbers(classes * stride, 29);
            weights.chunks_exact_mut(stride).for_each(|class| class[width..].fill(0.0));

            let before = numbers(count * classes, 17);
            let mut scores = before.clone();
            vectorized(AddScores { rows: &rows, weights: &weights, stride, scores: &mut scores });
            for (i, (score, before)) in scores.iter().zip(&before).enumerate() {
                let (row, class) = (rows[i / classes], &weights[i % classes * stride..]);
                let expected = before + row.iter().zip(class).map(|(x, w)| x * w).sum::<f32>();
                assert!(
                    (score - expected).abs() < ROUNDING,
                    "{count}×{width}×{classes}: {score} for {expected}"
                );
            }

            let mut gradient = vec![f32::NAN; classes * stride];
            vectorized(OuterProducts { rows: &rows, deltas: &before, stride, gradient: &mut gradient });
            for (class, gradient) in gradient.chunks_exact(stride).enumerate() {
                for (feature, found) in gradient.iter().enumerate() {
                    let terms = rows.iter().zip(before.chunks_exact(classes));
                    let expected: f32 =
                        terms.map(|(row, delta)| row.get(feature).map_or(0.0, |x| x * delta[class])).sum();
                    assert!(
                        (found - expected).abs() < ROUNDING,
                        "{count}×{width}×{classes}: {found}, {expected}"
                    );
                }
            }
        }
    }
}
