//! Bernstein grids: how people answer about the loss at a node, and what that costs.

mod claims;
mod collection;
mod earlier;
mod instance;

use super::extent::Extent;
use super::row::{Cell, Laboratory, Row, beside};
use super::section::{Section, chart, line};
use crate::plot::Stroke;
use claims::claims;
use collection::weights;
use earlier::earlier;
use instance::Instance;
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use undertone_learn::bernstein::Problem;
use undertone_learn::moments::MarginLoss;
use undertone_privacy::Epsilon;
use undertone_privacy::statistic::{LossAt, PointLoss};

const SECTION: &str = "grids";
const BUDGETS: [f64; 2] = [1.0, 4.0];
const LAPLACE: &str = "Algorithm 2, k = 3, h = 2";
const REJECTION: &str = "Algorithm 3, k = 3, h = 2";
const COARSE: &str = "Algorithm 3, k = 2, h = 1";
const STRINGS: &str = "Algorithm 8, k = 2, h = 2";
const BIT: &str = "one bit, k = 2, h = 2";
const FINE_BIT: &str = "one bit, k = 3, h = 2";
const CONSTANT: &str = "constant";
const METHODS: [&str; 7] = [LAPLACE, REJECTION, COARSE, STRINGS, BIT, FINE_BIT, CONSTANT];

/// How many settings each repetition has.
pub(super) fn settings(extent: &Extent) -> u64 {
    (extent.grids.0.len() * extent.grids.1.len()) as u64
}

/// Runs the comparison.
pub(super) fn run(laboratory: &Laboratory<'_>) -> anyhow::Result<Section> {
    let (sizes, axes) = laboratory.extent.grids;
    let mut rows = Vec::new();
    for &p in axes {
        let Instance { population, test, least } = Instance::find(laboratory, p)?;
        let risk = |w: &[f64]| test.risk(MarginLoss::Logistic, w);
        for &people in sizes {
            rows.extend(laboratory.repeat(SECTION, "excess risk", |repetition| {
                let train = population.sample(people as usize, people + repetition);
                let mut rng = ChaCha12Rng::seed_from_u64(laboratory.seed(&[6, p as u64, people, repetition]));
                let mut cells = Vec::new();
                let mut tell = |epsilon: Option<f64>, method, w: &[f64]| {
                    let earlier = epsilon.and_then(|epsilon| earlier(p, people, epsilon, method));
                    let (setting, value) = (format!("logistic, p = {p}"), risk(w) - least);
                    cells.push(Cell { setting, people, epsilon, method, value, earlier });
                };
                tell(None, CONSTANT, &vec![0.0; p]);
                for budget in BUDGETS {
                    for (method, w) in weights(&train, Epsilon::new(budget)?, &mut rng)? {
                        tell(Some(budget), method, &w);
                    }
                }
                Ok(cells)
            })?);
        }
    }
    Ok(Section {
        title: "Bernstein grids: excess risk",
        about: "Logistic loss of the same family on [-1, 1]^p, an instance whose best weights are no corner; people answer \
about the loss at one node of a grid of degree k, or with Algorithm 2 about all nodes at ε/(k+1)^p each, and the iterated polynomial of order h is minimised."
            .to_owned(),
        claims: claims(&rows),
        pictures: pictures(&rows)?,
        rows,
    })
}

/// The logistic loss at the nodes of a grid on [-1, 1]^p.
fn statistics(p: usize, degree: u32) -> anyhow::Result<LossAt> {
    let (low, high) = (vec![-1.0; p], vec![1.0; p]);
    let problem = Problem { loss: PointLoss::Logistic, low: &low, high: &high, radius: 1.0 };
    Ok(problem.statistics(degree)?)
}

fn pictures(rows: &[Row]) -> anyhow::Result<Vec<(String, String)>> {
    let mut settings: Vec<&str> = rows.iter().map(|row| row.setting.as_str()).collect();
    settings.dedup();
    let mut pictures = Vec::new();
    for setting in settings {
        let bits = || {
            rows.iter().filter(|row| row.method == BIT && row.setting == setting && row.epsilon == Some(1.0))
        };
        let lines = METHODS.map(|method| {
            let at = bits().filter_map(|row| Some((row.people as f64, beside(rows, row, method)?)));
            line(method, at, if method == CONSTANT { Stroke::Limit } else { Stroke::Whole })
        });
        let name = setting.trim_start_matches("logistic, p = ");
        let title = format!("Grids: {setting}, ε = 1");
        pictures.push((format!("grids-p{name}"), chart(title, "people", "excess risk", lines)?));
    }
    Ok(pictures)
}
