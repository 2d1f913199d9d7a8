//! Figure 4: Laplace noise against Gaussian noise, and the mechanisms that are better than both under a pure promise.

use super::budgets::words;
use super::claim::Claim;
use super::run::{Estimator, Laboratory, Run, What, epsilon, gaussian, noise_name};
use super::section::{Error, Section, chart, trajectory};
use crate::plot::Stroke;
use undertone_learn::online::laws::DesignKind;
use undertone_learn::online_study::{Noise, People};
use undertone_privacy::accounting::normal::cdf;
use undertone_privacy::{Guarantee, Mu};

const FIGURE: &str = "Figure 4";
const DIMENSIONS: [usize; 2] = [5, 10];
const PROMISES: [f64; 3] = [1.0, 2.0, 3.0];
/// Distances within this factor are about the same.
const ALIKE: f64 = 1.5;

/// Runs the figure.
pub(super) fn run(laboratory: &Laboratory) -> anyhow::Result<Section> {
    let replications = laboratory.extent.replications;
    let mut runs = Vec::new();
    for dimension in DIMENSIONS {
        let people = People { kind: DesignKind::Linear, dimension };
        for noise in noises()? {
            runs.push(laboratory.run(What::published(FIGURE, people, noise, 0.5)?, replications)?);
        }
    }
    let mut pictures = Vec::new();
    for dimension in DIMENSIONS {
        for (estimator, file) in [(Estimator::Sgd, "sgd"), (Estimator::Asgd, "asgd")] {
            let lines = runs
                .iter()
                .filter(|run| run.what.people.dimension == dimension)
                .filter(|run| shown(run))
                .map(|run| {
                    let stroke = match run.what.noise {
                        Noise::Gaussian(_) => Stroke::Limit,
                        Noise::Laplace(_) => Stroke::Dashed,
                        _ => Stroke::Whole,
                    };
                    trajectory(run, estimator, Error::Distance, noise_name(&run.what.noise), stroke)
                });
            let title = format!("Mechanisms: {}, linear, d = {dimension}, α = 1/2", estimator.name());
            pictures.push((format!("figure-4-d{dimension}-{file}"), chart(title, Error::Distance, lines)?));
        }
    }
    Ok(Section {
        title: "Figure 4: mechanisms".to_owned(),
        about: format!(
            "Linear regression, α = 1/2, {replications} replications. Laplace noise has the scale √q·Δ/ε on p = d + 2 \
coordinates: with q = d + 1 that is the largest l1 distance, less than the printed √p·Δ; l2-Laplace, Duchi's mechanism and PrivUnit keep the same pure promise (drawn for ε = 3, all in the CSV)."
        ),
        claims: claims(&runs)?,
        points: runs.iter().flat_map(Run::points).collect(),
        pictures,
    })
}

fn noises() -> anyhow::Result<Vec<Noise>> {
    let mut noises = vec![gaussian(Some(1.0))?];
    for value in PROMISES {
        noises.push(Noise::Laplace(epsilon(value)?));
    }
    for value in PROMISES {
        let epsilon = epsilon(value)?;
        noises.extend([Noise::L2Laplace(epsilon), Noise::Duchi(epsilon), Noise::PrivUnit(epsilon)]);
    }
    Ok(noises)
}

/// Whether a run is drawn: ours only at the weakest promise, or nobody could read the picture.
fn shown(run: &Run) -> bool {
    match run.what.noise {
        Noise::L2Laplace(epsilon) | Noise::Duchi(epsilon) | Noise::PrivUnit(epsilon) => epsilon.get() > 2.5,
        _ => true,
    }
}

fn claims(runs: &[Run]) -> anyhow::Result<Vec<Claim>> {
    let find = |dimension: usize, noise: Noise| {
        runs.iter().find(|run| run.what.people.dimension == dimension && run.what.noise == noise)
    };
    let three = epsilon(3.0)?;
    let compare = |dimension: usize, estimator: Estimator, noise: Noise| -> Option<(f64, String)> {
        let gdp = find(dimension, gaussian(Some(1.0)).ok()?)?.distance(estimator);
        let other = find(dimension, noise)?.distance(estimator);
        let found =
            format!("{}: 1-GDP {}, {} {}", estimator.name(), words(gdp), noise_name(&noise), words(other));
        Some((other.value / gdp.value, found))
    };
    let both = |dimension, noise| -> Vec<(f64, String)> {
        [Estimator::Sgd, Estimator::Asgd]
            .into_iter()
            .filter_map(|estimator| compare(dimension, estimator, noise))
            .collect()
    };
    let about = |dimension: usize, says: &str, holds: &dyn Fn(f64) -> bool| {
        let found = both(dimension, Noise::Laplace(three)).into_iter();
        let settings: Vec<(String, bool)> =
            found.map(|(ratio, words)| (format!("{words}, ratio {ratio:.2}"), holds(ratio))).collect();
        Claim::of_listed(FIGURE, says, &settings, "")
    };
    let as_gdp = Guarantee::Pure(three).to_gaussian()?.get();
    let advantages = [1.0, as_gdp].map(|mu: f64| 1.0 - 2.0 * cdf(-mu / 2.0));
    let moment = |dimension: usize| -> anyhow::Result<(f64, f64)> {
        let What { people, weighting, .. } =
            What::published(FIGURE, People { kind: DesignKind::Linear, dimension }, Noise::None, 0.5)?;
        let model = people.model(weighting)?;
        Ok(((model.parameters() as f64).ln(), Noise::Laplace(three).second_moment(&model)?.ln()))
    };
    let ((x, low), (next, high)) = (moment(5)?, moment(10)?);
    let order = (high - low) / (next - x);
    let better = DIMENSIONS.map(|dimension| {
        let ratios = both(dimension, Noise::PrivUnit(three))
            .into_iter()
            .map(|(ratio, _)| format!("{:.2}", 1.0 / ratio));
        format!(
            "d = {dimension}: 1-GDP has {} times the distance of PrivUnit (SGD, ASGD)",
            ratios.collect::<Vec<_>>().join(", ")
        )
    });
    Ok(vec![
        about(5, "at d = 5, 1-GDP and Laplace with ε = 3 have roughly equivalent distances", &|ratio| {
            (1.0 / ALIKE..=ALIKE).contains(&ratio)
        }),
        about(10, "at d = 10 GDP significantly outperforms Laplace with ε = 3", &|ratio| ratio > ALIKE),
        Claim::new(
            FIGURE,
            "1-GDP and pure ε = 3 give similar levels of protection",
            (as_gdp - Mu::new(1.0)?.get()).abs() < 0.1,
            format!(
                "pure ε = 3 is {as_gdp:.2}-GDP; whoever guesses between two records gains at most {:.3} under 1-GDP and {:.3} \
under ε = 3. At the same ε = 3, {}",
                advantages[0],
                advantages[1],
                better.join("; ")
            ),
        ),
        Claim::new(
            FIGURE,
            "Laplace noise depends on the dimension like d³",
            (order - 3.0).abs() < 0.1,
            format!(
                "E|noise|² = 8p(p-1)·r²/ε² exactly: its order in p between d = 5 and d = 10 is {order:.2}"
            ),
        ),
    ])
}
