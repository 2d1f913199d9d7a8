//! A table of people who do not exist: the stand-in for the US insurance data.

use crate::arguments;
use crate::exit::Usage;
use crate::output;
use crate::progress::progress_bar;
use crate::table_writer::TableWriter;
use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use rayon::prelude::*;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use undertone_learn::online_study::insurance::{
    CONDITIONS, COVERAGE, EXERCISE, HEADER, OCCUPATIONS, Person, REGIONS,
};

/// Rows that are made at once.
const BATCH: u64 = 1 << 16;
/// Rows of a file beyond which nobody means it.
const MOST_ROWS: u64 = 1 << 32;

/// A table of insurance charges: a million people who do not exist, the same for the same seed
///
/// All columns are independent and uniform, and charges are a sum over them with a normal error of 900 dollars. FILE is Parquet
/// if its name ends in .parquet and CSV otherwise, packed if it ends in .gz.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  undertone simulate insurance --rows 100000 --seed 1 -o insurance.csv.gz")]
pub(crate) struct Insurance {
    /// How many people
    #[arg(long, value_name = "N", value_parser = arguments::people, allow_hyphen_values = true, default_value = "1000000")]
    rows: u64,
    /// Of the whole table
    #[arg(long, value_name = "SEED", value_parser = arguments::seed, default_value = "1")]
    seed: u64,
    /// Where to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace FILE if it exists
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Summary {
    /// Nobody's data
    simulation: bool,
    rows: u64,
    seed: u64,
    output: String,
}

impl Insurance {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        if self.rows > MOST_ROWS {
            return Err(Usage::new(format!("--rows: {} are too many, at most {MOST_ROWS}", self.rows)).into());
        }
        let schema = schema();
        let mut writer = TableWriter::create(&self.output, self.force, schema.clone())?;
        let bar = progress_bar(self.rows);
        for first in (0..self.rows).step_by(BATCH as usize) {
            let rows = first..(first + BATCH).min(self.rows);
            let people: Vec<Person> = rows.into_par_iter().map(|row| Person::new(self.seed, row)).collect();
            writer.write(&RecordBatch::try_new(schema.clone(), columns(&people))?)?;
            bar.inc(people.len() as u64);
        }
        writer.finish()?;
        bar.finish_and_clear();
        let Self { rows, seed, .. } = *self;
        let summary = Summary { simulation: true, rows, seed, output: self.output.display().to_string() };
        if self.json {
            return output::json(&summary, out);
        }
        writeln!(
            out,
            "Simulation with seed {seed}: {rows} people who do not exist written to {}",
            summary.output
        )?;
        Ok(())
    }
}

fn schema() -> SchemaRef {
    let kind = |name: &str| match name {
        "age" | "children" => DataType::Int32,
        "bmi" | "charges" => DataType::Float64,
        _ => DataType::Utf8,
    };
    Arc::new(Schema::new(HEADER.map(|name| Field::new(name, kind(name), false)).to_vec()))
}

/// The columns of [`HEADER`].
fn columns(people: &[Person]) -> Vec<ArrayRef> {
    let whole = |of: fn(&Person) -> u8| -> ArrayRef {
        Arc::new(Int32Array::from_iter_values(people.iter().map(|person| i32::from(of(person)))))
    };
    let number = |of: fn(&Person) -> f64| -> ArrayRef {
        Arc::new(Float64Array::from_iter_values(people.iter().map(of)))
    };
    let word = |words: &[&'static str], of: fn(&Person) -> u8| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(people.iter().map(|person| words[usize::from(of(person))])))
    };
    vec![
        whole(|person| person.age),
        word(&["female", "male"], |person| u8::from(person.male)),
        number(|person| f64::from(person.bmi) / 100.0),
        whole(|person| person.children),
        word(&["no", "yes"], |person| u8::from(person.smoker)),
        word(&REGIONS, |person| person.region),
        word(&CONDITIONS, |person| person.medical),
        word(&CONDITIONS, |person| person.family),
        word(&EXERCISE, |person| person.exercise),
        word(&OCCUPATIONS, |person| person.occupation),
        word(&COVERAGE, |person| person.coverage),
        number(Person::charges),
    ]
}
