//! Figure 1: clipped gradients against weighted ones.

use super::claim::Claim;
use super::run::{Estimator, Laboratory, Run, What, gaussian, weights};
use super::section::Section;
use crate::box_plot::{BoxPlot, Spread};
use undertone_learn::evaluation::{Figure, mean};
use undertone_learn::online::laws::DesignKind;
use undertone_learn::online_study::People;
use undertone_privacy::gradient::{Weight, Weighting};

const FIGURE: &str = "Figure 1";
/// The paper does not say at which norm it clips.
const CLIP: f64 = 1.0;
/// How many standard errors are a bias.
const FAR: f64 = 3.0;

/// Runs the figure.
pub(super) fn run(laboratory: &Laboratory) -> anyhow::Result<Section> {
    let people = People { kind: DesignKind::Logistic, dimension: 3 };
    let replications = laboratory.extent.replications.div_ceil(2);
    let mut runs = Vec::new();
    for weighting in [weights(Weight::Square)?, weights(Weight::Linear)?, Weighting::new(Weight::Clip, CLIP)?]
    {
        let what = What { weighting, ..What::published(FIGURE, people, gaussian(Some(1.0))?, 0.5)? };
        runs.push(laboratory.run(what, replications)?);
    }
    let names = ["weights R²/|x|²", "weights R/|x|", "clipped"];
    let mut pictures = Vec::new();
    for (estimator, file) in [(Estimator::Sgd, "sgd"), (Estimator::Asgd, "asgd")] {
        let boxes = runs.iter().zip(names).flat_map(|(run, name)| {
            let each = coordinates(run, estimator).into_iter().enumerate();
            // The name stands below the second of four.
            each.map(move |(j, values)| {
                Spread::of(if j == 1 { name.to_owned() } else { String::new() }, j, &values)
            })
        });
        let plot = BoxPlot {
            title: format!("{}, logistic regression, d = 3, μ = 1: coordinates that are 1", estimator.name()),
            y_name: "estimate".to_owned(),
            boxes: boxes.collect(),
            truth: Some(1.0),
        };
        pictures.push((format!("figure-1-{file}"), plot.svg()?));
    }
    let claims = vec![
        claim(&runs[2], "gradient clipping results in a positive bias", |bias| {
            bias.value > FAR * bias.standard_error
        }),
        claim(&runs[0], "the bias does not arise with Mallows weights", |bias| {
            bias.value.abs() < FAR * bias.standard_error
        }),
    ];
    Ok(Section {
        title: "Figure 1: clipping against weights".to_owned(),
        about: format!(
            "Logistic regression, d = 3, μ = 1, α = 1/2, {replications} replications, clipped at {CLIP}, which the paper does \
not state. The limits of clipped descents lie near (1.20, 1.28, 1.28, 1.28)."
        ),
        points: runs.iter().flat_map(Run::points).collect(),
        pictures,
        claims,
    })
}

/// The values of each coordinate at the end.
fn coordinates(run: &Run, estimator: Estimator) -> Vec<Vec<f64>> {
    let of = |j: usize| {
        run.ends
            .iter()
            .map(|end| if estimator == Estimator::Sgd { end.last[j] } else { end.average[j] })
            .collect()
    };
    (0..=run.what.people.dimension).map(of).collect()
}

fn claim(run: &Run, says: &str, holds: impl Fn(Figure) -> bool) -> Claim {
    let settings = [Estimator::Sgd, Estimator::Asgd].into_iter().flat_map(|estimator| {
        coordinates(run, estimator).into_iter().enumerate().map(move |(j, values)| {
            let bias = mean(&values.iter().map(|value| value - 1.0).collect::<Vec<_>>());
            (estimator, j, bias)
        })
    });
    let settings: Vec<(String, bool)> = settings
        .map(|(estimator, j, bias)| {
            let words = format!(
                "{} coordinate {j}: {:+.3} ± {:.3}",
                estimator.name(),
                bias.value,
                bias.standard_error
            );
            (words, holds(bias))
        })
        .collect();
    Claim::of_listed(FIGURE, says, &settings, "Numbers are mean deviations from 1")
}
