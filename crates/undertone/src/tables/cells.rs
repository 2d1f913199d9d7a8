//! The cells of Arrow columns, as plain numbers and words.

use anyhow::bail;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use undertone_learn::features::Words;

/// Numbers, NaN where a cell is missing; true is one, false is zero.
pub(crate) fn numbers(array: &dyn Array) -> anyhow::Result<Vec<f64>> {
    Ok(match array.data_type() {
        DataType::Null => vec![f64::NAN; array.len()],
        DataType::Boolean => array.as_boolean().iter().map(|cell| cell.map_or(f64::NAN, f64::from)).collect(),
        DataType::Int8 => primitive::<Int8Type>(array, f64::from),
        DataType::Int16 => primitive::<Int16Type>(array, f64::from),
        DataType::Int32 => primitive::<Int32Type>(array, f64::from),
        DataType::Int64 => primitive::<Int64Type>(array, |x| x as f64),
        DataType::UInt8 => primitive::<UInt8Type>(array, f64::from),
        DataType::UInt16 => primitive::<UInt16Type>(array, f64::from),
        DataType::UInt32 => primitive::<UInt32Type>(array, f64::from),
        DataType::UInt64 => primitive::<UInt64Type>(array, |x| x as f64),
        DataType::Float16 => primitive::<Float16Type>(array, f64::from),
        DataType::Float32 => primitive::<Float32Type>(array, f64::from),
        DataType::Float64 => primitive::<Float64Type>(array, |x| x),
        DataType::Dictionary(..) => {
            let values = numbers(array.as_any_dictionary().values())?;
            entries(array).map(|entry| entry.map_or(f64::NAN, |entry| values[entry])).collect()
        }
        other => bail!("{other} is not a number"),
    })
}

fn primitive<T: ArrowPrimitiveType>(array: &dyn Array, number: impl Fn(T::Native) -> f64) -> Vec<f64> {
    array.as_primitive::<T>().iter().map(|cell| cell.map_or(f64::NAN, &number)).collect()
}

/// Words; numbers are written in their shortest decimal form.
pub(crate) fn words(array: &dyn Array) -> anyhow::Result<Words> {
    Ok(match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().iter().collect(),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().collect(),
        DataType::Utf8View => array.as_string_view().iter().collect(),
        DataType::Dictionary(..) => {
            let values = words(array.as_any_dictionary().values())?;
            entries(array).map(|entry| entry.and_then(|entry| values.get(entry))).collect()
        }
        DataType::Boolean => array.as_boolean().iter().map(|cell| cell.map(truth)).collect(),
        DataType::Int64 => written(array.as_primitive::<Int64Type>().iter()),
        DataType::UInt64 => written(array.as_primitive::<UInt64Type>().iter()),
        DataType::Float32 => written(array.as_primitive::<Float32Type>().iter()),
        _ => written(numbers(array)?.into_iter().map(|x| (!x.is_nan()).then_some(x))),
    })
}

fn truth(cell: bool) -> &'static str {
    if cell { "true" } else { "false" }
}

fn written(numbers: impl Iterator<Item = Option<impl ToString>>) -> Words {
    let mut words = Words::default();
    numbers.for_each(|x| words.push(x.map(|x| x.to_string()).as_deref()));
    words
}

/// The place in the dictionary of each cell.
fn entries(array: &dyn Array) -> impl Iterator<Item = Option<usize>> {
    let dictionary = array.as_any_dictionary();
    // Without values there are no keys to look up.
    let keys =
        if dictionary.values().is_empty() { vec![0; array.len()] } else { dictionary.normalized_keys() };
    let there: Vec<bool> = (0..array.len()).map(|row| dictionary.keys().is_valid(row)).collect();
    keys.into_iter().zip(there).map(|(key, there)| there.then_some(key))
}

/// All numbers of a column of vectors.
pub(crate) fn vectors(array: &dyn Array) -> anyhow::Result<Vec<f32>> {
    let vectors = array.as_fixed_size_list();
    let width = vectors.value_length() as usize;
    let values = vectors.values().slice(vectors.value_offset(0) as usize, vectors.len() * width);
    Ok(match values.data_type() {
        DataType::UInt8 => {
            values.as_primitive::<UInt8Type>().values().iter().map(|&x| f32::from(x)).collect()
        }
        DataType::Float32 if values.null_count() == 0 => {
            values.as_primitive::<Float32Type>().values().to_vec()
        }
        _ => numbers(&values)?.into_iter().map(|x| x as f32).collect(),
    })
}

/// Refuses numbers that are not finite, and vectors that are missing or have gaps. The batch begins with row `first`.
pub(super) fn check(batch: &RecordBatch, first: u64) -> anyhow::Result<()> {
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        if let Some((row, problem)) = problem(column) {
            bail!("row {}, column `{}`: {problem}", first + row as u64, field.name());
        }
    }
    Ok(())
}

/// The first row of a column that is wrong, and why.
fn problem(column: &dyn Array) -> Option<(usize, String)> {
    match column.data_type() {
        DataType::Float16 => not_finite::<Float16Type>(column, f64::from),
        DataType::Float32 => not_finite::<Float32Type>(column, f64::from),
        DataType::Float64 => not_finite::<Float64Type>(column, |x| x),
        DataType::Dictionary(_, values) if values.is_floating() => {
            let (entry, problem) = problem(column.as_any_dictionary().values())?;
            let row = entries(column).position(|cell| cell == Some(entry))?;
            Some((row, problem))
        }
        DataType::FixedSizeList(..) => {
            let missing = (0..column.len()).find(|&row| column.is_null(row));
            if let Some(row) = missing {
                return Some((row, "the vector is missing".into()));
            }
            let vectors = column.as_fixed_size_list();
            let width = vectors.value_length().max(1) as usize;
            let values = vectors.values().slice(vectors.value_offset(0) as usize, vectors.len() * width);
            let gap = (0..values.len()).find(|&place| values.is_null(place));
            let gap = gap.map(|place| (place, "a number of the vector is missing".into()));
            gap.or_else(|| problem(&values)).map(|(place, problem)| (place / width, problem))
        }
        _ => None,
    }
}

fn not_finite<T: ArrowPrimitiveType>(
    array: &dyn Array,
    number: impl Fn(T::Native) -> f64,
) -> Option<(usize, String)> {
    let cells = array.as_primitive::<T>();
    // Slots of missing cells may hold anything.
    let bad = |&row: &usize| !number(cells.value(row)).is_finite() && cells.is_valid(row);
    let row = (0..cells.len()).find(bad)?;
    let x = number(cells.value(row));
    Some((row, format!("{x} is not a finite number; leave the cell empty if the value is missing")))
}
