//! Iterative proportional fitting: the table that has given sums and is otherwise like the one it began with.
//!
//! Each step scales the cells so that the sums over one axis are right. If some table has all of the sums, the steps
//! tend to the one among them of least relative entropy to the start (Csiszár, *I-divergence geometry of probability
//! distributions and minimization problems*, 1975): from an even start that is the table of maximum entropy.

use super::table::part_of;

/// Rounds after which sums that contradict each other are left as they are.
const ROUNDS: usize = 60;
/// A round that changes no sum by more is the last.
const ENOUGH: f64 = 1e-9;

/// Fits `cells` to the sums over each axis: `without[axis]` is the table over all other axes.
pub(super) fn fit(cells: &mut [f64], sizes: &[usize], without: &[&[f64]]) {
    let all = (1usize << sizes.len()) - 1;
    let parts: Vec<Vec<usize>> = (0..sizes.len()).map(|axis| part_of(sizes, all & !(1 << axis))).collect();
    for _ in 0..ROUNDS {
        let mut change = 0f64;
        for (part, target) in parts.iter().zip(without) {
            let mut factors = vec![0.0; target.len()];
            part.iter().zip(&*cells).for_each(|(&part, cell)| factors[part] += cell);
            for (factor, target) in factors.iter_mut().zip(*target) {
                change = change.max((*factor - target).abs());
                // Where there is nothing to scale, nothing is.
                *factor = if *factor > 0.0 { target / *factor } else { 1.0 };
            }
            part.iter().zip(&mut *cells).for_each(|(&part, cell)| *cell *= factors[part]);
        }
        if change < ENOUGH {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::marginal;
    use super::*;

    /// The tables over all but one axis each.
    fn without(cells: &[f64], sizes: &[usize]) -> Vec<Vec<f64>> {
        let all = (1usize << sizes.len()) - 1;
        (0..sizes.len()).map(|axis| marginal(cells, sizes, all & !(1 << axis))).collect()
    }

    fn fitted(start: &[f64], sizes: &[usize], sums: &[Vec<f64>]) -> Vec<f64> {
        let mut cells = start.to_vec();
        fit(&mut cells, sizes, &sums.iter().map(Vec::as_slice).collect::<Vec<_>>());
        cells
    }

    fn near(a: &[f64], b: &[f64], tolerance: f64) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() < tolerance)
    }

    #[test]
    fn a_table_with_the_right_sums_is_a_fixed_point() {
        let cells: Vec<f64> = (1..=12).map(|i| f64::from(i) / 78.0).collect();
        assert!(near(&fitted(&cells, &[2, 3, 2], &without(&cells, &[2, 3, 2])), &cells, 1e-15));
    }

    #[test]
    fn sums_of_two_axes_give_the_product() {
        let (rows, columns) = (vec![0.3, 0.7], vec![0.2, 0.3, 0.5]);
        let cells = fitted(&[1.0 / 6.0; 6], &[2, 3], &[columns, rows]);
        assert!(near(&cells, &[0.06, 0.09, 0.15, 0.14, 0.21, 0.35], 1e-12));
    }

    #[test]
    fn from_an_even_start_no_interaction_of_all_axes_arises() {
        // P(x, y, z) of a chain has only interactions of two; its pairs lead back to it.
        let flip = |a: usize, b: usize| if a == b { 0.8 } else { 0.2 };
        let chain: Vec<f64> =
            (0..8).map(|c| 0.5 * flip(c >> 2, c >> 1 & 1) * flip(c >> 1 & 1, c & 1)).collect();
        let cells = fitted(&[0.125; 8], &[2, 2, 2], &without(&chain, &[2, 2, 2]));
        assert!(near(&cells, &chain, 1e-7), "{cells:?}");
    }

    #[test]
    fn rows_without_anything_to_scale_are_left() {
        let cells = fitted(&[0.0, 0.0, 0.5, 0.5], &[2, 2], &[vec![0.5, 0.5], vec![0.1, 0.9]]);
        assert!(cells.iter().all(|x| x.is_finite()));
    }
}
