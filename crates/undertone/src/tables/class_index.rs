//! From the cells of a label column to the places of their classes.
//!
//! A whole number is its digits, a truth value `true` or `false`; words stand for themselves.

use super::{TableFile, Unlabelled};
use anyhow::{Context, bail};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, downcast_integer_array};
use arrow_schema::DataType;
use std::collections::HashMap;
use undertone_privacy::label::Label;

/// Stands for a cell that no class has.
const UNKNOWN: u32 = u32::MAX;
/// Whole numbers below it are looked up in a table.
const TABLE: u64 = 1 << 16;
/// A column with more values than this is no label.
const MOST_CLASSES: usize = 1 << 20;
/// The classes that an error message shows.
const SHOWN: usize = 10;

/// Classes and where to find them.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClassIndex {
    names: Vec<String>,
    by_name: HashMap<String, u32>,
    /// The labels of the numbers 0, 1, 2, …, as far as they are classes
    table: Vec<u32>,
    /// The labels of the other numbers
    by_number: HashMap<i64, u32>,
}

/// What a cell holds.
enum Cell {
    Missing,
    Name(String),
    /// A number with a fraction
    Fraction(f64),
}

impl ClassIndex {
    /// The index of these classes, which differ.
    pub(crate) fn new(names: impl IntoIterator<Item = String>) -> Self {
        let mut index = Self::default();
        names.into_iter().for_each(|name| index.insert(name));
        index
    }

    /// The classes that occur in a column of a table, numbers by their size and words by the alphabet; `seen` hears of
    /// every batch.
    pub(crate) fn classes_in(
        table: &TableFile,
        column: usize,
        unlabelled: Unlabelled,
        mut seen: impl FnMut(u64),
    ) -> anyhow::Result<Vec<String>> {
        let (mut index, mut row) = (Self::default(), 1);
        for batch in table.batches()? {
            let batch = batch?;
            let cells = batch.column(column).as_ref();
            for stretch in unlabelled.stretches(cells) {
                let learnt =
                    index.learn(&cells.slice(stretch.start, stretch.len()), row + stretch.start as u64);
                learnt.with_context(|| table.path().display().to_string())?;
            }
            row += batch.num_rows() as u64;
            seen(batch.num_rows() as u64);
        }
        let (path, name) = (table.path().display(), table.schema().field(column).name());
        let classes = index.into_sorted();
        match &classes[..] {
            [] => bail!("{path}: the table has no rows"),
            [only] => bail!("{path}: every `{name}` is `{only}`; at least two classes are needed"),
            _ => Ok(classes),
        }
    }

    /// Whether cells of this type can be labels.
    pub(crate) fn reads(data_type: &DataType) -> bool {
        match data_type {
            DataType::Dictionary(_, values) => Self::reads(values),
            DataType::Boolean | DataType::Float32 | DataType::Float64 => true,
            other => other.is_integer() || other.is_string(),
        }
    }

    /// Appends the labels of `cells`, the first of which is in `first_row` of the table.
    pub(crate) fn look_up(
        &self,
        cells: &dyn Array,
        first_row: u64,
        labels: &mut Vec<Label>,
    ) -> anyhow::Result<()> {
        let start = labels.len();
        self.append(cells, labels);
        match labels[start..].iter().position(|label| label.0 == UNKNOWN) {
            None => Ok(()),
            Some(place) => self.refuse(cells, place, first_row + place as u64),
        }
    }

    /// The label of a cell that is written like this: the class of that name, or of that whole number.
    pub(crate) fn find(&self, cell: &str) -> Option<Label> {
        let number = || self.of_number(cell.parse().ok().and_then(whole));
        let label = self.by_name.get(cell).map_or_else(number, |&label| Label(label));
        (label.0 != UNKNOWN).then_some(label)
    }

    /// Makes a class of each value of `cells` that is none yet.
    fn learn(&mut self, cells: &dyn Array, first_row: u64) -> anyhow::Result<()> {
        let mut labels = Vec::new();
        self.append(cells, &mut labels);
        for place in (0..cells.len()).filter(|&place| labels[place].0 == UNKNOWN) {
            match cell(cells, place) {
                Cell::Name(name) if self.by_name.contains_key(&name) => {}
                Cell::Name(_) if self.names.len() == MOST_CLASSES => {
                    bail!("the label has more than {MOST_CLASSES} different values")
                }
                Cell::Name(name) => self.insert(name),
                _ => self.refuse(cells, place, first_row + place as u64)?,
            }
        }
        Ok(())
    }

    fn into_sorted(self) -> Vec<String> {
        let mut names = self.names;
        if names.iter().all(|name| number(name).is_some()) {
            names.sort_by_key(|name| number(name));
        } else {
            names.sort();
        }
        names
    }

    fn insert(&mut self, name: String) {
        let label = self.names.len() as u32;
        match number(&name) {
            Some(number) if (number as u64) < TABLE => {
                let place = number as usize;
                self.table.resize(self.table.len().max(place + 1), UNKNOWN);
                self.table[place] = label;
            }
            Some(number) => _ = self.by_number.insert(number, label),
            None => {}
        }
        self.by_name.insert(name.clone(), label);
        self.names.push(name);
    }

    fn append(&self, cells: &dyn Array, labels: &mut Vec<Label>) {
        let start = labels.len();
        downcast_integer_array! {
            cells => self.append_numbers(cells.values(), labels),
            DataType::Float32 => {
                let values = cells.as_primitive::<Float32Type>().values();
                labels.extend(values.iter().map(|&value| self.of_number(whole(f64::from(value)))));
            }
            DataType::Float64 => {
                let values = cells.as_primitive::<Float64Type>().values();
                labels.extend(values.iter().map(|&value| self.of_number(whole(value))));
            }
            DataType::Boolean => {
                let [no, yes] = ["false", "true"].map(|name| self.of_name(Some(name)));
                labels.extend(cells.as_boolean().values().iter().map(|value| if value { yes } else { no }));
            }
            DataType::Utf8 => labels.extend(cells.as_string::<i32>().iter().map(|name| self.of_name(name))),
            DataType::LargeUtf8 => labels.extend(cells.as_string::<i64>().iter().map(|name| self.of_name(name))),
            DataType::Utf8View => labels.extend(cells.as_string_view().iter().map(|name| self.of_name(name))),
            DataType::Dictionary(..) => self.append_dictionary(cells, labels),
            _ => labels.extend(std::iter::repeat_n(Label(UNKNOWN), cells.len())),
        }
        if let Some(nulls) = cells.nulls().filter(|nulls| nulls.null_count() > 0) {
            for (label, valid) in labels[start..].iter_mut().zip(nulls) {
                *label = if valid { *label } else { Label(UNKNOWN) };
            }
        }
    }

    fn append_numbers<N: Copy + TryInto<i64>>(&self, values: &[N], labels: &mut Vec<Label>) {
        labels.extend(values.iter().map(|&value| self.of_number(value.try_into().ok())));
    }

    fn append_dictionary(&self, cells: &dyn Array, labels: &mut Vec<Label>) {
        let dictionary = cells.as_any_dictionary();
        let mut of_value = Vec::new();
        self.append(dictionary.values().as_ref(), &mut of_value);
        if of_value.is_empty() {
            labels.extend(std::iter::repeat_n(Label(UNKNOWN), cells.len()));
        } else {
            labels.extend(dictionary.normalized_keys().into_iter().map(|key| of_value[key]));
        }
    }

    #[inline]
    fn of_number(&self, number: Option<i64>) -> Label {
        let Some(number) = number else { return Label(UNKNOWN) };
        match self.table.get(number as usize) {
            Some(&label) => Label(label),
            None => Label(self.by_number.get(&number).copied().unwrap_or(UNKNOWN)),
        }
    }

    fn of_name(&self, name: Option<&str>) -> Label {
        Label(name.and_then(|name| self.by_name.get(name).copied()).unwrap_or(UNKNOWN))
    }

    /// Why the cell at `place` has no label.
    fn refuse(&self, cells: &dyn Array, place: usize, row: u64) -> anyhow::Result<()> {
        match cell(cells, place) {
            Cell::Missing => bail!("row {row}: the label is missing"),
            Cell::Fraction(value) => bail!("row {row}: label {value} is not a whole number"),
            Cell::Name(name) => {
                let shown: Vec<String> =
                    self.names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
                let more = if self.names.len() > SHOWN { ", …" } else { "" };
                bail!(
                    "row {row}: label `{name}` is not among the {} classes {}{more}",
                    self.names.len(),
                    shown.join(", ")
                )
            }
        }
    }
}

fn cell(cells: &dyn Array, place: usize) -> Cell {
    if cells.is_null(place) {
        return Cell::Missing;
    }
    let name = |name: &str| if name.is_empty() { Cell::Missing } else { Cell::Name(name.to_owned()) };
    downcast_integer_array! {
        cells => Cell::Name(cells.value(place).to_string()),
        DataType::Float32 => of_float(f64::from(cells.as_primitive::<Float32Type>().value(place))),
        DataType::Float64 => of_float(cells.as_primitive::<Float64Type>().value(place)),
        DataType::Boolean => Cell::Name(cells.as_boolean().value(place).to_string()),
        DataType::Utf8 => name(cells.as_string::<i32>().value(place)),
        DataType::LargeUtf8 => name(cells.as_string::<i64>().value(place)),
        DataType::Utf8View => name(cells.as_string_view().value(place)),
        DataType::Dictionary(..) => {
            let dictionary = cells.as_any_dictionary();
            cell(dictionary.values().as_ref(), dictionary.normalized_keys()[place])
        }
        _ => Cell::Missing,
    }
}

fn of_float(value: f64) -> Cell {
    match whole(value) {
        Some(number) => Cell::Name(number.to_string()),
        None if value.is_nan() => Cell::Missing,
        None => Cell::Fraction(value),
    }
}

/// The whole number that a float is, if its size leaves no doubt which.
fn whole(value: f64) -> Option<i64> {
    (value.fract().abs() <= 0.0 && value.abs() < 2f64.powi(53)).then_some(value as i64)
}

/// The number that a class is, if it is written as a column of numbers would have it.
fn number(name: &str) -> Option<i64> {
    name.parse::<i64>().ok().filter(|number| number.to_string() == name)
}
