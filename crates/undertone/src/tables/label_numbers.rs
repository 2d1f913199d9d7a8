//! From the cells of a label column to numbers.

use super::cells::{numbers, words};
use super::column_place;
use crate::exit::Usage;
use anyhow::{Context, bail};
use arrow_array::Array;
use arrow_schema::{DataType, Schema};

/// Where the column is that `--label` names, of which numbers can be read.
pub(crate) fn number_place(schema: &Schema, label: &str) -> Result<usize, Usage> {
    let place = column_place(schema, "--label", label)?;
    match schema.field(place).data_type() {
        DataType::FixedSizeList(..) => {
            Err(Usage::new(format!("column `{label}` holds vectors, of which none is a number")))
        }
        _ => Ok(place),
    }
}

/// Appends the number of each cell; `first_row` is that of the first, counted from one. What is missing or no finite number is an error
/// that names its row and what is there.
pub(crate) fn label_numbers(column: &dyn Array, first_row: u64, into: &mut Vec<f64>) -> anyhow::Result<()> {
    let found = match column.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Dictionary(..) => {
            let cells = words(column)?;
            let read = |row| match cells.get(row) {
                None => Ok(f64::NAN),
                Some(cell) => {
                    let number = cell.trim().parse().ok().filter(|number: &f64| number.is_finite());
                    let row = first_row + row as u64;
                    number.with_context(|| {
                        format!("row {row}: the label is `{cell}`, which is no finite number")
                    })
                }
            };
            (0..column.len()).map(read).collect::<anyhow::Result<Vec<f64>>>()?
        }
        _ => numbers(column).context("the label cannot be read")?,
    };
    if let Some(row) = found.iter().position(|number| !number.is_finite()) {
        let row = first_row + row as u64;
        bail!("row {row}: the label is missing; a device without a number has nothing to report");
    }
    into.extend(found);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Float64Array, Int32Array, StringArray};

    fn read(column: &dyn Array) -> Result<Vec<f64>, String> {
        let mut into = vec![7.0];
        label_numbers(column, 11, &mut into).map_err(|error| format!("{error:#}"))?;
        Ok(into)
    }

    #[test]
    fn numbers_are_read_whatever_they_are_stored_as() {
        let expected = Ok(vec![7.0, 1.0, -2.0]);
        assert_eq!(read(&Int32Array::from(vec![1, -2])), expected);
        assert_eq!(read(&Float64Array::from(vec![1.0, -2.0])), expected);
        assert_eq!(read(&StringArray::from(vec!["1", " -2e0 "])), expected);
    }

    #[test]
    fn what_is_no_number_is_refused_with_its_row_and_what_is_there() {
        let refused = |column: &dyn Array, message: &str| {
            let error = read(column).unwrap_err();
            assert!(error.starts_with("row 12: ") && error.contains(message), "{error}");
        };
        refused(&StringArray::from(vec!["1", "much"]), "`much`");
        refused(&StringArray::from(vec!["1", "nan"]), "`nan`");
        refused(&StringArray::from(vec!["1", "inf"]), "`inf`");
        refused(&StringArray::from(vec![Some("1"), None]), "missing");
        refused(&Float64Array::from(vec![Some(1.0), None]), "missing");
    }
}
