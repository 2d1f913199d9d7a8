//! Tables over a few attributes: sums over axes, what the parts have to say about the whole, pure interactions.
//!
//! A table is a run of cells, row by row, with the size of each axis beside it. A set of axes is a mask: bit i stands for
//! axis i.

/// The sizes of the axes in `mask`.
pub(super) fn sizes_of(sizes: &[usize], mask: usize) -> Vec<usize> {
    sizes.iter().enumerate().filter(|(axis, _)| mask >> axis & 1 == 1).map(|(_, &size)| size).collect()
}

/// For each cell of a table, which cell of the table over the axes in `mask` it is part of.
pub(super) fn part_of(sizes: &[usize], mask: usize) -> Vec<usize> {
    let mut parts = vec![0];
    for (axis, &size) in sizes.iter().enumerate() {
        let kept = mask >> axis & 1;
        // An axis that is kept numbers its levels, any other leaves the number as it is.
        parts = parts
            .iter()
            .flat_map(|&part| (0..size).map(move |level| if kept == 1 { part * size + level } else { part }))
            .collect();
    }
    parts
}

/// The table over the axes in `mask`: sums over all others.
pub(super) fn marginal(cells: &[f64], sizes: &[usize], mask: usize) -> Vec<f64> {
    let mut sums = vec![0.0; sizes_of(sizes, mask).iter().product()];
    for (part, cell) in part_of(sizes, mask).into_iter().zip(cells) {
        sums[part] += cell;
    }
    sums
}

/// Takes the mean along each axis off: what is left is the interaction of all axes and of no fewer.
///
/// > Π = ⊗_j (I - J/L_j), J being all ones
pub(super) fn interaction(cells: &mut [f64], sizes: &[usize]) {
    let mut stride = cells.len();
    for &size in sizes {
        stride /= size;
        for block in cells.chunks_mut(stride * size) {
            for at in 0..stride {
                let mean = (0..size).map(|level| block[level * stride + at]).sum::<f64>() / size as f64;
                (0..size).for_each(|level| block[level * stride + at] -= mean);
            }
        }
    }
}

/// All masks of the axes in `mask` but the empty one.
pub(super) fn parts(mask: usize) -> impl Iterator<Item = usize> {
    (1..=mask).filter(move |part| part & !mask == 0)
}

/// Those of `attributes` that `mask` stands for.
pub(super) fn chosen(attributes: &[usize], mask: usize) -> Vec<usize> {
    sizes_of(attributes, mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_over_axes_are_those_worked_out_by_hand() {
        let cells = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert_eq!(marginal(&cells, &[2, 3], 0b01), [6.0, 15.0]);
        assert_eq!(marginal(&cells, &[2, 3], 0b10), [5.0, 7.0, 9.0]);
        assert_eq!(marginal(&cells, &[2, 3], 0), [21.0]);
        assert_eq!(part_of(&[2, 3], 0b10), [0, 1, 2, 0, 1, 2]);
        assert_eq!(chosen(&[4, 7, 9], 0b101), [4, 9]);
    }

    #[test]
    fn a_table_is_the_sum_of_the_interactions_of_its_parts() {
        let sizes = [2, 3, 4];
        let cells: Vec<f64> = (0..24).map(|i| f64::from(i * i % 17)).collect();
        let mut sum = vec![cells.iter().sum::<f64>() / 24.0; 24];
        for mask in parts(0b111) {
            let mut table = marginal(&cells, &sizes, mask);
            let own = sizes_of(&sizes, mask);
            interaction(&mut table, &own);
            // No sum over any axis is left.
            assert!((0..own.len()).all(|axis| {
                marginal(&table, &own, ((1 << own.len()) - 1) & !(1 << axis)).iter().all(|x| x.abs() < 1e-9)
            }));
            let share = table.len() as f64 / 24.0;
            part_of(&sizes, mask).iter().zip(&mut sum).for_each(|(&part, cell)| *cell += table[part] * share);
        }
        assert!(sum.iter().zip(&cells).all(|(a, b)| (a - b).abs() < 1e-9));
    }
}
