//! Which method is nearer to the truth, and how tables agree with each other.

use super::*;
use crate::marginals::table::marginal;

#[test]
fn of_a_chain_of_eight_views_are_nearest_and_the_polynomial_is_no_better_than_guessing() {
    let (levels, like, people, times) = ([2; 8], 0.6, 20_000, 6);
    let sets: Vec<Vec<usize>> =
        (0..8).flat_map(|a| (a + 1..8).flat_map(move |b| (b + 1..8).map(move |c| vec![a, b, c]))).collect();
    let truth: Vec<Vec<f64>> = sets.iter().map(|set| chain_table(&levels, like, set)).collect();
    let mean = |answer: &dyn Fn(&[usize]) -> Vec<f64>| {
        let sum: f64 = sets.iter().zip(&truth).map(|(set, truth)| total_variation(&answer(set), truth)).sum();
        sum / sets.len() as f64
    };
    let guess = mean(&|_| vec![0.125; 8]);
    let measured = METHODS.map(|method| {
        let design = design(method, &levels, people as u64, 3);
        let values: Vec<f64> = (0..times)
            .map(|time| {
                let tally = collect(&design, &chain(&levels, like, people, 100 + time), time);
                let marginals = Marginals::new(&design, &tally).unwrap();
                mean(&|set| shares(&marginals, set))
            })
            .collect();
        summary(&values)
    });
    let [chebyshev, hadamard, published, direct, views] = measured;
    let below = |a: (f64, f64), b: (f64, f64)| b.0 - a.0 > 5.0 * a.1.hypot(b.1);
    assert!(below(views, hadamard) && below(views, direct) && below(hadamard, published), "{measured:?}");
    assert!(direct.0 < published.0 + 5.0 * direct.1.hypot(published.1), "{measured:?}");
    assert!(below(published, chebyshev) && chebyshev.0 > 0.8 * guess, "{measured:?}, {guess}");
}

#[test]
fn tables_of_views_are_distributions_and_agree_on_what_they_share() {
    let levels = [2, 3, 4, 2, 3];
    let design = design(Method::Views, &levels, 20_000, 3);
    let tally = collect(&design, &chain(&levels, 0.7, 20_000, 3), 3);
    let marginals = Marginals::new(&design, &tally).unwrap();
    let one = marginals.marginal(&[2]).unwrap();
    let mut together = 0;
    for other in [&[0, 1, 2][..], &[2, 3, 4], &[1, 2, 3], &[0, 2], &[2, 4]] {
        let table = marginals.marginal(other).unwrap();
        let cells: Vec<f64> = table.cells.iter().map(|cell| cell.share).collect();
        assert!(cells.iter().all(|&cell| cell >= 0.0) && (cells.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let axis = other.iter().position(|&a| a == 2).unwrap();
        let sums = marginal(&cells, &table.levels, 1 << axis);
        for (sum, cell) in sums.iter().zip(&one.cells) {
            assert!((sum - cell.share).abs() < 1e-6, "{sum} and {}", cell.share);
        }
        // So do the unbiased ones, to the last digits.
        let Some(cells) =
            table.cells.iter().map(|cell| Some(cell.unbiased?.value)).collect::<Option<Vec<f64>>>()
        else {
            continue;
        };
        together += 1;
        for (sum, cell) in marginal(&cells, &table.levels, 1 << axis).iter().zip(&one.cells) {
            assert!((sum - cell.unbiased.unwrap().value).abs() < 1e-12);
        }
    }
    assert!(together >= 2, "pairs at least are in views");
}

#[test]
fn what_no_view_holds_is_filled_in_by_maximum_entropy_with_an_interval_that_covers() {
    // So many attributes that three at a time are too many to cover: pairs are.
    let levels = [2u32; 70];
    let design = design(Method::Views, &levels, 200_000, 3);
    let records = chain(&levels, 0.8, 200_000, 9);
    let tally = collect(&design, &records, 9);
    let marginals = Marginals::new(&design, &tally).unwrap();
    let truth = chain_table(&levels[..3], 0.8, &[0, 1, 2]);
    let mut without = 0;
    for first in (0..66).step_by(3) {
        let table = marginals.marginal(&[first, first + 1, first + 2]).unwrap();
        for (cell, truth) in table.cells.iter().zip(&truth) {
            without += u32::from(cell.unbiased.is_none());
            assert!(
                (cell.interval.0..=cell.interval.1).contains(truth) || cell.unbiased.is_some(),
                "{cell:?}"
            );
        }
    }
    assert!(without > 50, "{without}");
}

#[test]
fn splitting_the_answers_between_machines_changes_nothing() {
    let levels = [2, 3, 2];
    let design = design(Method::Views, &levels, 500, 2);
    let records = chain(&levels, 0.5, 500, 4);
    let (left, right) = (collect(&design, &records[..200], 1), collect(&design, &records[200..], 2));
    let mut together = left.clone();
    together.merge(&right);
    let mut other = right;
    other.merge(&left);
    assert_eq!(together, other);
    assert_eq!(together.reports(), 500);
    let text = serde_json::to_string(&together).unwrap();
    assert_eq!(serde_json::from_str::<Tally>(&text).unwrap(), together);
}
