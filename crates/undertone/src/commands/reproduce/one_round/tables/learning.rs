//! Tables with something to predict.
//!
//! **Simulation.** Columns are standardised by means and deviations, and shortened to a ball by the ninth decile of lengths, all
//! *taken from the table itself* as if they were public: real collections have to get such constants elsewhere.

use super::table::Table;
use undertone_learn::moments::study::Sample;

/// A covariate.
pub(super) enum Feature {
    Number(&'static str),
    Is(&'static str, &'static str),
}

/// What is predicted: whether a column has a word, or a number.
pub(super) enum Target {
    Is(&'static str, &'static str),
    Number(&'static str),
}

/// Deviations that a number is divided by to lie within [-1, 1].
const DEVIATIONS: f64 = 4.0;

/// The constant covariate beside x/(r·√2).
pub(super) const INTERCEPT: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// Records x/r with x standardised and shortened to length r, or (1, x/r)/√2 with an intercept.
pub(super) fn sample(
    table: &Table,
    features: &[Feature],
    target: &Target,
    intercept: bool,
) -> anyhow::Result<Sample> {
    let mut columns = Vec::new();
    for feature in features {
        columns.push(standardised(match feature {
            Feature::Number(name) => table.numbers(name)?.to_vec(),
            Feature::Is(name, word) => table.is(name, word)?,
        }));
    }
    let y: Vec<f64> = match target {
        Target::Is(name, word) => table.is(name, word)?.into_iter().map(|is| 2.0 * is - 1.0).collect(),
        Target::Number(name) => standardised(table.numbers(name)?.to_vec())
            .into_iter()
            .map(|y| (y / DEVIATIONS).clamp(-1.0, 1.0))
            .collect(),
    };
    let length = |row: usize| columns.iter().map(|column| column[row] * column[row]).sum::<f64>().sqrt();
    let mut lengths: Vec<f64> = (0..y.len()).map(length).collect();
    lengths.sort_by(f64::total_cmp);
    let radius = lengths[lengths.len() * 9 / 10];
    let share = if intercept { INTERCEPT } else { 1.0 };
    let mut x = Vec::with_capacity(y.len() * (columns.len() + 1));
    for row in 0..y.len() {
        let scale = share / radius.max(length(row)).max(f64::MIN_POSITIVE);
        x.extend(intercept.then_some(share));
        x.extend(columns.iter().map(|column| scale * column[row]));
    }
    Ok(Sample::new(columns.len() + usize::from(intercept), x, y))
}

/// Mean zero and deviation one; a constant column is zero.
fn standardised(mut values: Vec<f64>) -> Vec<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let deviation = (values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt();
    for x in &mut values {
        *x = if deviation > 0.0 { (*x - mean) / deviation } else { 0.0 };
    }
    values
}

#[cfg(test)]
mod tests {
    use super::super::table::Column;
    use super::*;

    #[test]
    fn records_are_in_the_unit_ball_with_an_intercept() {
        let table = Table {
            columns: vec![
                ("a".to_owned(), Column::Numbers(vec![1.0, 2.0, 3.0, 40.0])),
                ("b".to_owned(), Column::Words(["u", "v", "v", "u"].map(str::to_owned).to_vec())),
                ("c".to_owned(), Column::Numbers(vec![7.0; 4])),
            ],
        };
        let features = [Feature::Number("a"), Feature::Is("b", "u"), Feature::Number("c")];
        let sample = sample(&table, &features, &Target::Is("b", "v"), true).unwrap();
        assert_eq!(sample.covariates(), 4);
        for ((x, y), expected) in sample.records().zip([-1.0, 1.0, 1.0, -1.0]) {
            assert!((y - expected).abs() < 1e-12 && (x[0] - 0.5f64.sqrt()).abs() < 1e-12 && x[3] == 0.0);
            assert!(x.iter().map(|x| x * x).sum::<f64>() < 1.0 + 1e-12);
        }
        let without = super::sample(&table, &features[..1], &Target::Number("a"), false).unwrap();
        assert_eq!(without.covariates(), 1);
        assert!(without.records().all(|(x, y)| x[0].abs() <= 1.0 && y.abs() <= 1.0 && x[0] * y >= 0.0));
        assert!(super::sample(&table, &features, &Target::Number("b"), true).is_err());
        assert!(super::sample(&table, &[Feature::Number("d")], &Target::Number("a"), false).is_err());
    }
}
