//! Parquet: columns with types, read a batch at a time.
//!
//! Lists of numbers that all have the same length are vectors; they come out as lists of fixed size.

use super::{Batches, batch_rows, kinds};
use anyhow::{Context, bail, ensure};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, FixedSizeListArray, GenericListArray, OffsetSizeTrait, RecordBatch};
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// A Parquet file, its metadata read.
#[derive(Debug)]
pub(super) struct ParquetTable {
    metadata: ArrowReaderMetadata,
    schema: SchemaRef,
}

impl ParquetTable {
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let metadata = ArrowReaderMetadata::load(&File::open(path)?, ArrowReaderOptions::new());
        let metadata = metadata.context("not a whole Parquet file")?;
        let mut table = Self { schema: metadata.schema().clone(), metadata };
        ensure!(table.rows() > 0, "there are no rows");
        table.schema = table.with_widths(path)?;
        Ok(table)
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub(super) fn rows(&self) -> u64 {
        self.metadata.metadata().file_metadata().num_rows().max(0) as u64
    }

    /// The columns at these places, in this order.
    pub(super) fn batches(&self, path: &Path, places: &[usize]) -> anyhow::Result<Batches> {
        let schema = Arc::new(self.schema.project(places)?);
        let size = batch_rows(schema.fields().iter().map(|field| field.data_type()));
        let mut row = 1;
        let batches = self.stored(path, places, size)?.map(move |batch| {
            let batch = batch?;
            let column = |field: &FieldRef| {
                let column = batch.column_by_name(field.name()).context("a column got lost")?;
                fixed_size(column, field, row)
            };
            let columns = schema.fields().iter().map(column).collect::<anyhow::Result<_>>()?;
            row += batch.num_rows() as u64;
            Ok(RecordBatch::try_new(Arc::clone(&schema), columns)?)
        });
        Ok(Box::new(batches))
    }

    /// Columns as they are stored, in the order of the file.
    fn stored(&self, path: &Path, places: &[usize], size: usize) -> anyhow::Result<Batches> {
        let builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(File::open(path)?, self.metadata.clone());
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), places.iter().copied());
        let batches = builder.with_projection(mask).with_batch_size(size).build()?;
        Ok(Box::new(batches.map(|batch| batch.context("cannot be read"))))
    }

    /// The schema, where each list of numbers has the length that it has in the first row.
    fn with_widths(&self, path: &Path) -> anyhow::Result<SchemaRef> {
        let stored = self.metadata.schema();
        let is_list = |place: &usize| list_item(stored.field(*place).data_type()).is_some();
        let lists: Vec<usize> = (0..stored.fields().len()).filter(is_list).collect();
        if lists.is_empty() {
            return Ok(Arc::clone(stored));
        }
        let first = self.stored(path, &lists, 1)?.next().context("there are no rows")??;
        let widen = |field: &FieldRef| -> anyhow::Result<FieldRef> {
            let (Some(item), Some(column)) =
                (list_item(field.data_type()), first.column_by_name(field.name()))
            else {
                return Ok(Arc::clone(field));
            };
            let width = first_length(column);
            ensure!(width > 0, "row 1, column `{}`: the vector is missing", field.name());
            let item = Arc::new(Field::new("item", item.data_type().clone(), item.is_nullable()));
            let data_type = DataType::FixedSizeList(item, i32::try_from(width)?);
            Ok(Arc::new(Field::new(field.name(), data_type, field.is_nullable())))
        };
        let fields = stored.fields().iter().map(widen).collect::<anyhow::Result<Vec<_>>>()?;
        Ok(Arc::new(Schema::new(fields)))
    }
}

/// What is in a list of numbers of any length.
fn list_item(data_type: &DataType) -> Option<&FieldRef> {
    match data_type {
        DataType::List(item) | DataType::LargeList(item) => {
            kinds::is_number(item.data_type()).then_some(item)
        }
        _ => None,
    }
}

/// The length of the list in the first row; zero where there is none.
fn first_length(column: &ArrayRef) -> usize {
    let there = column.is_valid(0);
    let length = column.as_list_opt::<i32>().map(|lists| lists.value_length(0) as usize);
    let length = length.or_else(|| column.as_list_opt::<i64>().map(|lists| lists.value_length(0) as usize));
    length.filter(|_| there).unwrap_or(0)
}

/// The column as `field` wants it: lists, the first of which is in row `row`, all of one length.
fn fixed_size(column: &ArrayRef, field: &Field, row: u64) -> anyhow::Result<ArrayRef> {
    let DataType::FixedSizeList(item, width) = field.data_type() else { return Ok(Arc::clone(column)) };
    match column.data_type() {
        DataType::List(_) => of_one_length(column.as_list::<i32>(), (item, *width), field.name(), row),
        DataType::LargeList(_) => of_one_length(column.as_list::<i64>(), (item, *width), field.name(), row),
        _ => Ok(Arc::clone(column)),
    }
}

fn of_one_length<O: OffsetSizeTrait>(
    lists: &GenericListArray<O>,
    (item, width): (&FieldRef, i32),
    name: &str,
    first: u64,
) -> anyhow::Result<ArrayRef> {
    for (row, list) in (first..).zip(0..lists.len()) {
        let length = lists.value_length(list).as_usize();
        if lists.is_null(list) {
            bail!("row {row}, column `{name}`: the vector is missing");
        }
        ensure!(
            length == width as usize,
            "row {row}, column `{name}`: {length} number(s), but {width} in row 1"
        );
    }
    let start = lists.value_offsets()[0].as_usize();
    let values = lists.values().slice(start, lists.len() * width as usize);
    Ok(Arc::new(FixedSizeListArray::try_new(Arc::clone(item), width, values, None)?))
}
