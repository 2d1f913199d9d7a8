//! Tables of real people, on which nothing was tuned.

mod crossing;
mod learning;
mod sources;
mod table;

pub(super) use sources::{Tables, open};

use super::marginals::{self, Methods};
use super::risks::{self, Judge, Problem};
use super::row::{Cell, Laboratory};
use super::section::Section;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use sources::Learning;
use undertone_learn::moments::MarginLoss;
use undertone_learn::moments::study::Sample;

const BUDGETS: [f64; 2] = [1.0, 4.0];
/// ε of the marginals.
const CROSSED: [f64; 1] = [1.0];
const RATE: &str = "intercept, not private";

/// Runs both comparisons on what there is.
pub(super) fn run(laboratory: &Laboratory<'_>, tables: &Tables) -> anyhow::Result<Vec<Section>> {
    let mut sections = Vec::new();
    if !tables.learning.is_empty() {
        sections.push(risks(laboratory, tables)?);
    }
    if !tables.crossings.is_empty() {
        sections.push(crossings(laboratory, tables)?);
    }
    Ok(sections)
}

fn risks(laboratory: &Laboratory<'_>, tables: &Tables) -> anyhow::Result<Section> {
    let mut rows = Vec::new();
    for (number, Learning { name, sample, is_number, intercept }) in (0u64..).zip(&tables.learning) {
        let losses: &[MarginLoss] =
            if *is_number { &[MarginLoss::Squared] } else { &[MarginLoss::Logistic, MarginLoss::Hinge] };
        let mut found = laboratory.repeat("tables", "excess risk", |repetition| {
            let (train, test) = split(sample, laboratory.seed(&[8, number, repetition]));
            let problem = |&loss: &MarginLoss| {
                [false, true].map(|large| Problem {
                    loss,
                    large,
                    covariates: sample.covariates(),
                    constant: intercept.then_some(learning::INTERCEPT),
                })
            };
            let judges: Vec<Judge<'_>> =
                losses.iter().flat_map(problem).map(|problem| Judge::new(problem, &test)).collect();
            let mut cells = risks::cells(laboratory, &train, &judges, &BUDGETS, &[9, number, repetition])?;
            if *intercept {
                cells.extend(judges.iter().map(|judge| rate(&train, judge)));
            }
            Ok(cells)
        })?;
        for row in &mut found {
            row.setting = format!("{name}: {}", row.setting);
        }
        rows.extend(found);
    }
    Ok(Section {
        title: "Tables of real people: excess risk",
        about: "Three quarters of the people of each table report, the others judge, another split in each repetition. Covariates are \
standardised and brought into the unit ball with constants taken from the table as if they were public (a simulation), without and \
with an intercept."
            .to_owned(),
        claims: risks::claims("Tables", &rows),
        pictures: risks::pictures(&rows, "tables")?,
        rows,
    })
}

/// The best weights that look at no covariate but the intercept.
fn rate(train: &Sample, judge: &Judge<'_>) -> Cell {
    let (x, y) = train.records().map(|(x, y)| (x[0], y)).unzip();
    let problem = judge.problem;
    let mut w = Sample::new(1, x, y).optimum(problem.loss, problem.radius());
    w.resize(problem.covariates, 0.0);
    let (setting, people) = (problem.name(), train.people() as u64);
    Cell { setting, people, epsilon: None, method: RATE, value: judge.excess(&w), earlier: None }
}

/// Three quarters of the people and the others, at random.
fn split(sample: &Sample, seed: u64) -> (Sample, Sample) {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    let mut records: Vec<(&[f64], f64)> = sample.records().collect();
    // Fisher and Yates; a remainder of 64 bits is even enough for a simulation.
    for last in (1..records.len()).rev() {
        records.swap(last, (rng.next_u64() % (last as u64 + 1)) as usize);
    }
    let (train, test) = records.split_at(records.len() * 3 / 4);
    let part = |records: &[(&[f64], f64)]| {
        let x = records.iter().flat_map(|(x, _)| x.iter().copied()).collect();
        Sample::new(sample.covariates(), x, records.iter().map(|(_, y)| *y).collect())
    };
    (part(train), part(test))
}

fn crossings(laboratory: &Laboratory<'_>, tables: &Tables) -> anyhow::Result<Section> {
    let mut rows = Vec::new();
    for (number, (name, crossing)) in (0u64..).zip(&tables.crossings) {
        let setting = format!("{name}, {} attributes", crossing.levels.len());
        let methods = Methods::new(&setting, &crossing.levels, crossing.records.len() as u64, &CROSSED)?;
        rows.extend(laboratory.repeat("crossings", "total variation", |repetition| {
            methods.cells(&crossing.records, laboratory.seed(&[10, number, repetition]))
        })?);
    }
    Ok(Section {
        title: "Tables of real people: marginals of three attributes",
        about: "All tables over three attributes, ε = 1, everybody reports: nursery with all levels of its attributes, adult with \
every column as yes or no (numbers above their median, words unlike the commonest). Mean total variation from the tables of the people \
themselves; a table about which somebody would have had to be asked and nobody was is an even guess."
            .to_owned(),
        claims: marginals::claims("Tables, marginals", &rows),
        pictures: Vec::new(),
        rows,
    })
}
