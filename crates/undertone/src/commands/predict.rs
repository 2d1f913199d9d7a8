//! From a model and public columns to predictions.

mod picture;

use crate::exit::Usage;
use crate::model_file;
use crate::new_file;
use crate::output;
use crate::progress::progress_bar;
use crate::table_writer::TableWriter;
use crate::tables;
use anyhow::ensure;
use arrow_array::{ArrayRef, Float32Array, Float64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use undertone_learn::evaluation::terms::predicted;
use undertone_learn::features::Rows;
use undertone_learn::nonparametric::{Coverage, PredictionSets};
use undertone_learn::{Classifier, Model};
use undertone_report::NumberWords;

/// Predict the label of each row of a table
///
/// The columns that the model was learnt with have to be there; others are not looked at. OUT is Parquet if its name ends in
/// .parquet and CSV otherwise, with one row for each row of the table, in the same order. Numbers are predicted within their bounds.
///
/// A model that was learnt with --coverage also writes the set of classes, separated by `|`, or the ends of the interval.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  undertone predict model.json people.csv -o predictions.csv --probabilities\n  \
                        undertone predict model.json people.csv -o predictions.csv --picture surface.svg --over age,income"
)]
pub(crate) struct Predict {
    /// What `train` has written
    model: PathBuf,
    /// CSV (also .gz), Parquet or IDX
    table: PathBuf,
    /// Where to write
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Also the probability of every class, in a column of its own
    #[arg(long)]
    probabilities: bool,
    /// Also draw what is predicted over one or two columns, as an SVG
    #[arg(long, value_name = "SVG")]
    picture: Option<PathBuf>,
    /// The columns to draw over, which hold numbers; the others are held at what is typical of the table
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', requires = "picture")]
    over: Vec<String>,
    /// Replace OUT and SVG if they exist
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Summary {
    rows: u64,
    label: String,
    output: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<String>,
}

impl Predict {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        new_file::refuse_input(&self.output, [&self.model, &self.table])?;
        if let Some(picture) = &self.picture {
            new_file::refuse_existing(picture, self.force)?;
            new_file::refuse_input(picture, [&self.model, &self.table, &self.output])?;
        }
        let model = model_file::read(&self.model)?;
        ensure!(
            model.number.is_none() || !self.probabilities,
            Usage::new("--probabilities: the model predicts a number, which has none")
        );
        let table = model_file::matching_table(&model, &self.table, None)?;
        let picture = self.picture.as_ref().map(|_| self.picture(&model, &table)).transpose()?;
        let mut sink = TableWriter::create(&self.output, self.force, self.schema(&model))?;
        let bar = progress_bar(table.rows());
        let mut rows = 0;
        for batch in table.batches()? {
            let predictions = self.predict(&model, &batch?, sink.schema())?;
            rows += predictions.num_rows() as u64;
            sink.write(&predictions)?;
            bar.set_position(rows);
        }
        sink.finish()?;
        bar.finish_and_clear();
        if let Some((path, picture)) = self.picture.as_ref().zip(picture) {
            output::write_file(path, &picture, self.force)?;
        }
        let summary = Summary {
            rows,
            label: model.label,
            output: self.output.display().to_string(),
            picture: self.picture.as_ref().map(|path| path.display().to_string()),
        };
        if self.json {
            return output::json(&summary, out);
        }
        writeln!(out, "{rows} predictions of `{}` written to {}", summary.label, summary.output)?;
        if let Some(picture) = &summary.picture {
            writeln!(out, "Drawn in {picture}")?;
        }
        Ok(())
    }

    fn schema(&self, model: &Model) -> SchemaRef {
        if model.number.is_some() {
            let field = |name| Field::new(name, DataType::Float64, false);
            let mut fields = vec![field("prediction")];
            if model.coverage.is_some() {
                fields.extend([field("low"), field("high")]);
            }
            return Arc::new(Schema::new(fields));
        }
        let chance = |name: String| Field::new(name, DataType::Float32, false);
        let mut fields = vec![Field::new("prediction", DataType::Utf8, false), chance("probability".into())];
        if model.coverage.is_some() {
            fields.push(Field::new("set", DataType::Utf8, false));
        }
        if self.probabilities {
            fields.extend(model.classes.iter().map(|class| chance(format!("probability:{class}"))));
        }
        Arc::new(Schema::new(fields))
    }

    fn predict(&self, model: &Model, batch: &RecordBatch, schema: &SchemaRef) -> anyhow::Result<RecordBatch> {
        let mut rows = model.encoder.rows();
        model.encoder.encode(&tables::features(batch, model.encoder.columns())?, &mut rows)?;
        if let Some(number) = model.number {
            return numbers(model, number, &rows, schema);
        }
        let probabilities = model.predictor.probabilities(&rows);
        let classes = model.classes.len();
        let each = || probabilities.chunks_exact(classes);
        let likeliest: Vec<usize> = each().map(predicted).collect();
        let names = likeliest.iter().map(|&class| model.classes[class].as_str());
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(StringArray::from_iter_values(names)),
            Arc::new(Float32Array::from_iter_values(each().zip(&likeliest).map(|(p, &class)| p[class]))),
        ];
        if let Some(Coverage::Sets(sets)) = &model.coverage {
            columns.push(Arc::new(StringArray::from_iter_values(each().map(|p| words(sets, p, model)))));
        }
        if self.probabilities {
            columns.extend(
                (0..classes).map(|class| {
                    Arc::new(Float32Array::from_iter_values(each().map(|p| p[class]))) as ArrayRef
                }),
            );
        }
        Ok(RecordBatch::try_new(schema.clone(), columns)?)
    }
}

/// Numbers, and the ends of their intervals where the model has any.
fn numbers(
    model: &Model,
    NumberWords { low, high }: NumberWords,
    rows: &Rows,
    schema: &SchemaRef,
) -> anyhow::Result<RecordBatch> {
    let numbers = model.numbers(rows);
    let column = |numbers: Vec<f64>| Arc::new(Float64Array::from(numbers)) as ArrayRef;
    let mut columns = Vec::new();
    if let Some(Coverage::Intervals(intervals)) = &model.coverage {
        let ends = numbers.iter().map(|&number| intervals.about(number, (low, high)));
        let (lows, highs) = ends.unzip();
        columns.extend([column(lows), column(highs)]);
    }
    columns.insert(0, column(numbers));
    Ok(RecordBatch::try_new(schema.clone(), columns)?)
}

/// The classes of a set, in order.
fn words(sets: &PredictionSets, probabilities: &[f32], model: &Model) -> String {
    let set = sets.set(probabilities);
    set.iter().map(|&class| model.classes[class as usize].as_str()).collect::<Vec<_>>().join("|")
}
