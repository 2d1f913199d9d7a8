//! Figure 2: everybody the same budget, or each person an own one.

use super::claim::Claim;
use super::run::{Estimator, Laboratory, Run, What, gaussian, noise_name, weights};
use super::section::{Error, Section, chart, trajectory};
use crate::box_plot::{BoxPlot, Spread};
use crate::plot::Stroke;
use undertone_learn::evaluation::{Figure, mean};
use undertone_learn::online::laws::DesignKind;
use undertone_learn::online_study::{Noise, People};
use undertone_privacy::Mu;
use undertone_privacy::gradient::Weight;

const FIGURE: &str = "Figure 2";
/// The last so many marks are looked at: before, nobody has left the start.
const LATE: usize = 5;

/// Runs the figure.
pub(super) fn run(laboratory: &Laboratory) -> anyhow::Result<Section> {
    let people = People { kind: DesignKind::Linear, dimension: 5 };
    let own = Noise::GaussianBetween(Mu::new(1.0)?, Mu::new(2.0)?);
    let replications = laboratory.extent.replications;
    let run = |noise| laboratory.run(What::published(FIGURE, people, noise, 0.5)?, replications);
    let runs = [run(gaussian(Some(1.0))?)?, run(own)?, run(gaussian(Some(2.0))?)?, run(Noise::None)?];
    let ours = What { weighting: weights(Weight::Linear)?, ..runs[0].what };
    let ours = laboratory.run(ours, replications)?;
    let pairs = runs.iter().chain([&ours]).flat_map(|run| {
        let (name, weights) = (noise_name(&run.what.noise), run.what.weighting.weight);
        let name = if weights == Weight::Linear { format!("{name}, weights R/|x|") } else { name };
        [(Estimator::Sgd, Stroke::Whole), (Estimator::Asgd, Stroke::Companion)].map(|(estimator, stroke)| {
            trajectory(run, estimator, Error::Distance, format!("{name}, {}", estimator.name()), stroke)
        })
    });
    let left = chart("Budgets: linear regression, d = 5, α = 1/2".to_owned(), Error::Distance, pairs)?;
    Ok(Section {
        title: "Figure 2: own budgets".to_owned(),
        about: format!(
            "Linear regression, d = 5, α = 1/2, {replications} replications; bars are two standard errors."
        ),
        claims: claims(&runs),
        pictures: vec![("figure-2-left".to_owned(), left), ("figure-2-right".to_owned(), boxes(&runs[2])?)],
        points: runs.iter().chain([&ours]).flat_map(Run::points).collect(),
    })
}

/// The right panel: how distances are spread at μ = 2.
fn boxes(run: &Run) -> anyhow::Result<String> {
    let late = run.marks.len().saturating_sub(LATE);
    let boxes = (late..run.marks.len()).flat_map(|mark| {
        [Estimator::Sgd, Estimator::Asgd].into_iter().enumerate().map(move |(colour, estimator)| {
            let name = if colour == 0 { format!("n = {}", run.marks[mark]) } else { String::new() };
            Spread::of(name, colour, &run.distances(estimator)[mark])
        })
    });
    BoxPlot {
        title: "μ = 2: LDP-SGD (left of each pair) and LDP-ASGD".to_owned(),
        y_name: "squared distance from the truth".to_owned(),
        boxes: boxes.collect(),
        truth: None,
    }
    .svg()
}

fn claims(runs: &[Run; 4]) -> Vec<Claim> {
    let [one, own, two, _] = runs;
    let marks = &one.marks;
    let late = || marks.len().saturating_sub(LATE)..marks.len();
    let at = |run: &Run, mark: usize| mean(&run.distances(Estimator::Sgd)[mark]);
    let between: Vec<(String, bool)> = late()
        .map(|mark| {
            let [a, b, c] = [one, own, two].map(|run| at(run, mark));
            (
                format!("n = {}: {}, {}, {}", marks[mark], words(a), words(b), words(c)),
                a.value > b.value && b.value > c.value,
            )
        })
        .collect();
    let spread = |values: &[f64]| mean(&values.iter().map(|value| value * value).collect::<Vec<_>>()).value;
    let steadier: Vec<(String, bool)> = late()
        .map(|mark| {
            let [sgd, asgd] =
                [Estimator::Sgd, Estimator::Asgd].map(|estimator| &two.distances(estimator)[mark]);
            let (last, average) = (mean(sgd), mean(asgd));
            let deviations = [sgd, asgd].map(|values| (spread(values) - mean(values).value.powi(2)).max(0.0));
            let holds = average.value < last.value && deviations[1] < deviations[0];
            (format!("n = {}: SGD {}, ASGD {}", marks[mark], words(last), words(average)), holds)
        })
        .collect();
    vec![
        Claim::of_listed(
            FIGURE,
            "the distance for Unif(1, 2) lies between those of μ = 1 and μ = 2",
            &between,
            "Distances of LDP-SGD with μ = 1, Unif(1, 2), μ = 2",
        ),
        Claim::of_listed(
            FIGURE,
            "at μ = 2 LDP-ASGD has consistently lower variability and smaller distance than LDP-SGD",
            &steadier,
            "",
        ),
    ]
}

pub(super) fn words(figure: Figure) -> String {
    format!("{:.4} ± {:.4}", figure.value, figure.standard_error)
}
