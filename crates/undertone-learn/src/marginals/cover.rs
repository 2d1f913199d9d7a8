//! Views: sets of attributes such that any few of them are together in one.

use undertone_privacy::PrivacyError;
use undertone_privacy::statistic::{Schema, Selections};

use super::table::{chosen, parts};

/// More sets than this are not covered one by one.
pub(super) const MOST_SETS: u64 = 50_000;

/// All sets of `sizes` attributes, by number.
pub(super) fn sets(
    schema: &Schema,
    sizes: std::ops::RangeInclusive<usize>,
) -> Result<Selections, PrivacyError> {
    Selections::new(vec![1; schema.attributes()], sizes)
}

/// The number of a set.
pub(super) fn number(sets: &Selections, set: &[usize]) -> Option<usize> {
    let letters: Vec<(usize, u32)> = set.iter().map(|&a| (a, 0)).collect();
    sets.number(&letters).map(|number| number as usize)
}

/// Views of at most `most_cells` cells, so that every set of `together` attributes lies in one; such a set that has more
/// cells itself is a view of its own.
///
/// A view begins with the first set that lies in none, and takes in, as long as it may, the attribute with which the
/// largest number of sets come into it, where a set that lies in r others already counts 1/(1 + r)².
pub(super) fn cover(
    schema: &Schema,
    together: usize,
    most_cells: f64,
) -> Result<Vec<Vec<usize>>, PrivacyError> {
    let sets = sets(schema, together..=together)?;
    if sets.count() > MOST_SETS {
        return Err(PrivacyError::TooManyQuestions { most: MOST_SETS });
    }
    let mut times = vec![0u32; sets.count() as usize];
    let mut views = Vec::new();
    for first in 0..sets.count() {
        if times[first as usize] > 0 {
            continue;
        }
        let start = sets.get(first).expect("the number is below the count");
        let mut view: Vec<usize> = start.into_iter().map(|(a, _)| a).collect();
        while let Some(attribute) = next(schema, &sets, &times, &view, most_cells) {
            view.push(attribute);
            view.sort_unstable();
        }
        for mask in parts((1 << view.len()) - 1).filter(|mask| mask.count_ones() as usize == together) {
            times[number(&sets, &chosen(&view, mask)).expect("a set of its size")] += 1;
        }
        views.push(view);
    }
    Ok(views)
}

/// The attribute that a view takes in next, if one fits.
fn next(schema: &Schema, sets: &Selections, times: &[u32], view: &[usize], most_cells: f64) -> Option<usize> {
    let levels = |a: usize| f64::from(schema.levels()[a]);
    let cells: f64 = view.iter().map(|&a| levels(a)).product();
    let fits = (0..schema.attributes()).filter(|a| !view.contains(a) && cells * levels(*a) <= most_cells);
    let gain = |attribute: usize| {
        let mut with = view.to_vec();
        with.push(attribute);
        with.sort_unstable();
        let own = 1 << with.iter().position(|&a| a == attribute).expect("it was put in");
        parts((1 << with.len()) - 1)
            .filter(|mask| mask & own != 0)
            .filter_map(|mask| number(sets, &chosen(&with, mask)))
            .map(|set| 1.0 / f64::from(1 + times[set]).powi(2))
            .sum::<f64>()
    };
    // Of several the first
    fits.map(|a| (gain(a), a)).reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, a)| a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_few_attributes_are_together_in_a_view_of_bounded_size() {
        let schema = Schema::new(vec![3, 5, 4, 4, 3, 2, 3, 3, 5]).unwrap();
        for together in 1..=3 {
            for most_cells in [4.0, 32.0, 100.0, 256.0] {
                let views = cover(&schema, together, most_cells).unwrap();
                for view in &views {
                    let cells = f64::from(schema.cells(view).unwrap());
                    assert!(cells <= most_cells || view.len() == together, "{view:?}");
                }
                let all = sets(&schema, together..=together).unwrap();
                for set in (0..all.count()).map(|i| all.get(i).unwrap()) {
                    assert!(views.iter().any(|view| set.iter().all(|(a, _)| view.contains(a))), "{set:?}");
                }
            }
        }
    }

    #[test]
    fn pairs_of_nine_binary_attributes_take_hardly_more_views_than_the_twelve_of_the_affine_plane() {
        let schema = Schema::new(vec![2; 9]).unwrap();
        let views = cover(&schema, 2, 8.0).unwrap().len();
        assert!((12..=16).contains(&views), "{views}");
    }

    #[test]
    fn too_many_sets_are_refused() {
        let schema = Schema::new(vec![2; 100]).unwrap();
        assert_eq!(cover(&schema, 3, 64.0), Err(PrivacyError::TooManyQuestions { most: MOST_SETS }));
        assert!(cover(&schema, 2, 16.0).unwrap().len() < 2000);
    }
}
