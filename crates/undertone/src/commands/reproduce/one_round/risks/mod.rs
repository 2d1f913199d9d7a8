//! Excess risks of generalized linear models: moments beside noisy copies.

mod claims;
mod copies;
mod earlier;
mod judge;
mod methods;

pub(super) use claims::claims;
pub(super) use judge::{Judge, Problem};
pub(super) use methods::cells;

use super::extent::Extent;
use super::row::{Laboratory, Row, beside};
use super::section::{Section, chart, line};
use crate::plot::Stroke;
use methods::{CONSTANT, METHODS, MOMENTS, PRINTED};
use undertone_learn::moments::MarginLoss;
use undertone_learn::moments::study::Population;

const SECTION: &str = "risks";
/// Repetitions have a part of the population each; this one judges.
const JUDGES: u64 = u64::MAX;

/// How many settings each repetition has.
pub(super) fn settings(extent: &Extent) -> u64 {
    (extent.covariates.len() * extent.people.len()) as u64
}

/// Runs the comparison on the synthetic family.
pub(super) fn run(laboratory: &Laboratory<'_>) -> anyhow::Result<Section> {
    let extent = laboratory.extent;
    let mut rows = Vec::new();
    for &covariates in extent.covariates {
        let population = Population::new(covariates, laboratory.seed(&[1, covariates as u64]))?;
        let test = population.sample(extent.judges, JUDGES);
        let judges: Vec<Judge<'_>> = [false, true]
            .into_iter()
            .flat_map(|large| {
                [MarginLoss::Logistic, MarginLoss::Hinge].map(|loss| Problem {
                    loss,
                    large,
                    covariates,
                    constant: None,
                })
            })
            .map(|problem| Judge::new(problem, &test))
            .collect();
        for &people in extent.people {
            rows.extend(laboratory.repeat(SECTION, "excess risk", |repetition| {
                let train = population.sample(people as usize, people + repetition);
                cells(
                    laboratory,
                    &train,
                    &judges,
                    extent.budgets,
                    &[2, covariates as u64, people, repetition],
                )
            })?);
        }
    }
    Ok(Section {
        title: "Generalized linear models: excess risk",
        about: format!(
            "Near-elliptical records on the unit sphere with logistic labels; R = 1 is the published setting, R = 4√p lets margins \
reach 4. Risks are judged on {} others, above the least there is on them. Moments keep a pure ε (noise by its law in the mean of many); \
copies keep (ε, 10^-6) on devices as they run, z = yx told instead of x and y, exact accounting, the best of three step sizes in \
hindsight of each repetition, up to 100000 people.",
            extent.judges
        ),
        claims: claims("Risks", &rows),
        pictures: pictures(&rows, "risks")?,
        rows,
    })
}

/// For each problem and the most people who told copies, against ε.
pub(super) fn pictures(rows: &[Row], file: &str) -> anyhow::Result<Vec<(String, String)>> {
    let full = |row: &&Row| row.method == MOMENTS && beside(rows, row, PRINTED).is_some();
    let shown: Vec<&Row> = rows.iter().filter(full).collect();
    let most = |setting: &str| shown.iter().filter(|row| row.setting == setting).map(|row| row.people).max();
    let mut settings: Vec<&str> = shown.iter().map(|row| row.setting.as_str()).collect();
    settings.sort_unstable();
    settings.dedup();
    let mut pictures = Vec::new();
    for setting in settings {
        let here: Vec<&&Row> =
            shown.iter().filter(|row| row.setting == setting && Some(row.people) == most(setting)).collect();
        let of = |method: &'static str| {
            let at = |row: &&&Row| Some((row.epsilon?, beside(rows, row, method)?));
            let stroke = if method == CONSTANT { Stroke::Limit } else { Stroke::Whole };
            line(method, here.iter().filter_map(at), stroke)
        };
        let title = format!("{setting}, n = {}", most(setting).unwrap_or_default());
        let name = file_name(setting);
        pictures.push((format!("{file}-{name}"), chart(title, "ε", "excess risk", METHODS.map(of))?));
    }
    Ok(pictures)
}

/// Letters and digits, with dashes between.
fn file_name(words: &str) -> String {
    let plain = words.replace('√', "r").replace(|c: char| !c.is_ascii_alphanumeric(), " ");
    plain.split_whitespace().collect::<Vec<_>>().join("-")
}
