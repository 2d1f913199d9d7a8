//! Figures 5 and 6: every decay of the steps under every budget, linear and logistic.

mod claims;

use super::extent::{DECAYS, fraction};
use super::run::{Estimator, Laboratory, Run, What, gaussian, kind_name, noise_name, weights};
use super::section::{Error, Section, chart, trajectory};
use crate::plot::Stroke;
use undertone_learn::online::laws::DesignKind;
use undertone_learn::online_study::{Noise, People};
use undertone_privacy::gradient::Weight;

/// Runs Figure 5, the linear one, or Figure 6.
pub(super) fn run(laboratory: &Laboratory, kind: DesignKind) -> anyhow::Result<Section> {
    let figure = if kind == DesignKind::Linear { "Figure 5" } else { "Figure 6" };
    let extent = laboratory.extent;
    let (mut runs, mut ours, mut pictures) = (Vec::new(), Vec::new(), Vec::new());
    for &dimension in extent.dimensions {
        let people = People { kind, dimension };
        for alpha in DECAYS {
            let first = runs.len();
            for &mu in extent.budgets {
                let what = What::published(figure, people, gaussian(mu)?, alpha)?;
                runs.push(laboratory.run(what, extent.replications)?);
            }
            // Ours where the paper advises to be: weights R/|x| and an average that forgets
            let first_of_ours = ours.len();
            for &mu in extent.budgets.iter().filter(|_| fraction(alpha) == "1/2") {
                let what = What::published(figure, people, gaussian(mu)?, alpha)?;
                ours.push(
                    laboratory
                        .run(What { weighting: weights(Weight::Linear)?, ..what }, extent.replications)?,
                );
            }
            for error in [Error::Distance, Error::Excess] {
                let own = &ours[first_of_ours..];
                let picture = picture(kind, dimension, alpha, error, &runs[first..], own)?;
                let name = figure.to_lowercase().replace(' ', "-");
                let place = fraction(alpha).replace('/', "-");
                pictures.push((format!("{name}-d{dimension}-alpha-{place}-{}", error.name()), picture));
            }
        }
    }
    let claims = if kind == DesignKind::Linear {
        claims::linear(&runs, &ours)?
    } else {
        claims::logistic(&runs, &ours)?
    };
    Ok(Section {
        title: format!("{figure}: decays and budgets, {} regression", kind_name(kind)),
        about: format!(
            "η = 0.2, {} replications; whole lines are LDP-SGD, dashed ones LDP-ASGD. At α = 1/2 also weights R/|x| with the \
average that forgets its start.",
            extent.replications
        ),
        points: runs.iter().chain(&ours).flat_map(Run::points).collect(),
        pictures,
        claims,
    })
}

fn picture(
    kind: DesignKind,
    dimension: usize,
    alpha: f64,
    error: Error,
    runs: &[Run],
    ours: &[Run],
) -> anyhow::Result<String> {
    let published = runs.iter().flat_map(|run| {
        let name = noise_name(&run.what.noise);
        [
            trajectory(run, Estimator::Sgd, error, name.clone(), Stroke::Whole),
            trajectory(run, Estimator::Asgd, error, format!("{name}, averaged"), Stroke::Companion),
        ]
    });
    let ours = ours.iter().filter(|run| run.what.noise != Noise::None).map(|run| {
        let name = format!("ours, {}", noise_name(&run.what.noise));
        trajectory(run, Estimator::Decayed, error, name, Stroke::Whole)
    });
    chart(
        format!("{} regression, d = {dimension}, α = {}", kind_name(kind), fraction(alpha)),
        error,
        published.chain(ours),
    )
}

/// Which setting a run has.
fn place(run: &Run) -> String {
    let What { people, noise, .. } = &run.what;
    format!("d = {}, α = {}, {}", people.dimension, fraction(run.what.alpha()), noise_name(noise))
}
