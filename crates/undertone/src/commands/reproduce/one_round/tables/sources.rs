//! Which tables are looked for, where, and what is learnt from them.

use super::crossing::{Crossing, as_it_is, binary};
use super::learning::{Feature, Target, sample};
use super::table::Table;
use Feature::{Is, Number};
use anyhow::{Context, ensure};
use std::path::{Path, PathBuf};
use undertone_learn::moments::study::Sample;

/// A table to learn from.
pub(super) struct Learning {
    pub(super) name: String,
    pub(super) sample: Sample,
    /// Whether a number is predicted
    pub(super) is_number: bool,
    /// Whether the first covariate is the same for everybody
    pub(super) intercept: bool,
}

/// What is found in a folder.
#[derive(Default)]
pub(in super::super) struct Tables {
    pub(super) learning: Vec<Learning>,
    pub(super) crossings: Vec<(&'static str, Crossing)>,
}

impl Tables {
    /// How many settings each repetition has.
    pub(in super::super) fn settings(&self) -> u64 {
        (self.learning.len() + self.crossings.len()) as u64
    }
}

/// A table: its name, which is that of a folder or a file, and the files in the folder.
struct Source {
    name: &'static str,
    files: &'static [&'static str],
    learning: Option<(&'static [Feature], Target)>,
    crossing: Option<fn(&Table) -> Crossing>,
}

const SOURCES: [Source; 5] = [
    Source {
        name: "adult",
        files: &["train", "test"],
        learning: Some((
            &[
                Number("age"),
                Number("education_num"),
                Number("capital_gain"),
                Number("capital_loss"),
                Number("hours_per_week"),
                Is("sex", "Male"),
                Is("marital_status", "Married-civ-spouse"),
            ],
            Target::Is("income", ">50K"),
        )),
        crossing: Some(binary),
    },
    Source {
        name: "pima",
        files: &["pima"],
        learning: Some((
            &[
                Number("pregnant"),
                Number("glucose"),
                Number("pressure"),
                Number("triceps"),
                Number("insulin"),
                Number("mass"),
                Number("pedigree"),
                Number("age"),
            ],
            Target::Is("diabetes", "pos"),
        )),
        crossing: None,
    },
    Source {
        name: "breast-cancer-wdbc",
        files: &["wdbc"],
        learning: Some((
            &[
                Number("radius_mean"),
                Number("texture_mean"),
                Number("perimeter_mean"),
                Number("area_mean"),
                Number("smoothness_mean"),
                Number("compactness_mean"),
                Number("concavity_mean"),
                Number("concave points_mean"),
                Number("symmetry_mean"),
                Number("fractal_dimension_mean"),
            ],
            Target::Is("diagnosis", "M"),
        )),
        crossing: None,
    },
    Source {
        name: "diamonds",
        files: &["diamonds"],
        learning: Some((
            &[Number("carat"), Number("depth"), Number("table"), Number("x"), Number("y"), Number("z")],
            Target::Number("price"),
        )),
        crossing: None,
    },
    Source { name: "nursery", files: &["nursery"], learning: None, crossing: Some(as_it_is) },
];

/// Reads the tables that are in a folder, each by itself or in a folder of its own; says which are not.
pub(in super::super) fn open(folder: &Path) -> anyhow::Result<(Tables, Vec<String>)> {
    ensure!(folder.is_dir(), "{} is no folder", folder.display());
    let (mut tables, mut skipped) = (Tables::default(), Vec::new());
    for source in &SOURCES {
        let paths = find(folder, source);
        if paths.is_empty() {
            skipped.push(format!("{} is not in {}", source.name, folder.display()));
            continue;
        }
        let table = Table::read(&paths)?;
        if let Some((features, target)) = &source.learning {
            let is_number = matches!(target, Target::Number(_));
            for (intercept, with) in [(false, ""), (true, " with intercept")] {
                let sample = sample(&table, features, target, intercept).with_context(|| source.name)?;
                tables.learning.push(Learning {
                    name: format!("{}{with}", source.name),
                    sample,
                    is_number,
                    intercept,
                });
            }
        }
        if let Some(cross) = source.crossing {
            tables.crossings.push((source.name, cross(&table)));
        }
    }
    Ok((tables, skipped))
}

fn find(folder: &Path, source: &Source) -> Vec<PathBuf> {
    let either = |stem: PathBuf| {
        let with = |end: &str| PathBuf::from(format!("{}{end}", stem.display()));
        [".csv", ".csv.gz"].map(with).into_iter().find(|path| path.is_file())
    };
    let own = source.files.iter().filter_map(|file| either(folder.join(source.name).join(file)));
    let own: Vec<PathBuf> = own.collect();
    if own.is_empty() { either(folder.join(source.name)).into_iter().collect() } else { own }
}
