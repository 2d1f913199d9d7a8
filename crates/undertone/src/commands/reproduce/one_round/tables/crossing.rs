//! Tables as records of a few attributes with few levels.

use super::table::{Column, Table};
use std::collections::BTreeMap;

/// Attributes and what people have of them.
pub(super) struct Crossing {
    pub(super) levels: Vec<u32>,
    pub(super) records: Vec<Vec<u32>>,
}

/// Every column of words with all its levels, in their order.
pub(super) fn as_it_is(table: &Table) -> Crossing {
    crossing(table, |column| {
        let cells: Vec<String> = match column {
            Column::Words(values) => values.clone(),
            Column::Numbers(values) => values.iter().map(f64::to_string).collect(),
        };
        let mut numbers: BTreeMap<&str, u32> = cells.iter().map(|cell| (cell.as_str(), 0)).collect();
        (0..).zip(numbers.values_mut()).for_each(|(place, number)| *number = place);
        cells.iter().map(|cell| numbers[cell.as_str()]).collect()
    })
}

/// Every column as yes or no: above the median, or unlike the commonest word. Columns that are one or the other for
/// everybody are left out.
pub(super) fn binary(table: &Table) -> Crossing {
    crossing(table, |column| match column {
        Column::Numbers(values) => {
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let median = sorted[sorted.len() / 2];
            values.iter().map(|&value| u32::from(value > median)).collect()
        }
        Column::Words(values) => {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            for value in values {
                *counts.entry(value.as_str()).or_default() += 1;
            }
            let commonest =
                counts.iter().max_by_key(|(_, count)| **count).map(|(word, _)| (*word).to_owned());
            values.iter().map(|value| u32::from(Some(value) != commonest.as_ref())).collect()
        }
    })
}

fn crossing(table: &Table, of: impl Fn(&Column) -> Vec<u32>) -> Crossing {
    let columns = table.columns.iter().map(|(_, column)| of(column));
    let levels = |column: &Vec<u32>| column.iter().max().map_or(0, |most| most + 1);
    let columns: Vec<Vec<u32>> = columns.filter(|column| levels(column) > 1).collect();
    let rows = columns.first().map_or(0, Vec::len);
    let records = (0..rows).map(|row| columns.iter().map(|column| column[row]).collect()).collect();
    Crossing { levels: columns.iter().map(levels).collect(), records }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_numbered_and_halved() {
        let table = Table {
            columns: vec![
                ("a".to_owned(), Column::Numbers(vec![1.0, 5.0, 3.0, 9.0])),
                ("b".to_owned(), Column::Words(["v", "u", "w", "v"].map(str::to_owned).to_vec())),
                ("c".to_owned(), Column::Words(vec!["x".to_owned(); 4])),
            ],
        };
        let whole = as_it_is(&table);
        assert_eq!((whole.levels, &whole.records[2]), (vec![4, 3], &vec![1, 2]));
        let halves = binary(&table);
        assert_eq!(halves.levels, [2, 2]);
        assert_eq!(halves.records, [[0, 0], [0, 1], [0, 1], [1, 0]]);
    }
}
