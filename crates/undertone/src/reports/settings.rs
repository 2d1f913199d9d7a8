//! How Parquet files are written here.
//!
//! Whole numbers are written as packed differences (`DELTA_BINARY_PACKED`): random labels take hardly more space than
//! from a dictionary, and less than half the time. Floats are written as they are, words through a dictionary. No
//! statistics: nobody looks for a range of reports.

use arrow_schema::Schema;
use parquet::arrow::ArrowSchemaConverter;
use parquet::basic::{Compression, Encoding, Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};

/// Rows of a row group, unless [`ROW_GROUP_BYTES`] come first.
const ROW_GROUP_ROWS: usize = 1 << 20;

/// The encoded bytes after which a row group ends: what a writer holds in memory.
const ROW_GROUP_BYTES: usize = 32 << 20;

/// Settings for a file of these columns.
pub(crate) fn writer_properties(schema: &Schema) -> Result<WriterPropertiesBuilder, ParquetError> {
    let mut settings = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_dictionary_enabled(false)
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_max_row_group_bytes(Some(ROW_GROUP_BYTES));
    for column in ArrowSchemaConverter::new().convert(schema)?.columns() {
        settings = match column.physical_type() {
            Type::INT32 | Type::INT64 => {
                settings.set_column_encoding(column.path().clone(), Encoding::DELTA_BINARY_PACKED)
            }
            Type::BYTE_ARRAY => settings.set_column_dictionary_enabled(column.path().clone(), true),
            _ => settings,
        };
    }
    Ok(settings)
}
