//! What the paper claims about decays and budgets, and what came out.

use super::super::claim::Claim;
use super::super::extent::{DECAYS, fraction};
use super::super::run::{Estimator, Run, What, noise_name};
use super::super::section::Error;
use super::place;
use undertone_learn::evaluation::Figure;
use undertone_learn::online::laws::{Budgets, Design, Law};
use undertone_learn::online_study::Noise;

/// A run of less is not over: the start is forgotten like e^-this.
const FORGOTTEN: f64 = 5.0;

/// A setting with the two numbers that were compared.
fn compared(run: &Run, sgd: Figure, asgd: Figure, holds: bool) -> (String, bool) {
    (format!("{} (SGD {:.3}, ASGD {:.3})", place(run), sgd.value, asgd.value), holds)
}

/// Of all runs whose α is one of these, whether the average is better.
fn average_wins(
    runs: &[Run],
    alphas: &[f64],
    figure: fn(&Run, Estimator) -> Figure,
    wins: bool,
) -> Vec<(String, bool)> {
    let chosen = runs.iter().filter(|run| alphas.contains(&run.what.alpha()));
    chosen
        .map(|run| {
            let (sgd, asgd) = (figure(run, Estimator::Sgd), figure(run, Estimator::Asgd));
            compared(run, sgd, asgd, (asgd.value < sgd.value) == wins)
        })
        .collect()
}

/// With less noise the distance is smaller, at the end and beyond two standard errors of the opposite.
fn falls_with_mu(runs: &[Run]) -> Vec<(String, bool)> {
    let pairs = runs.windows(2).filter(|pair| {
        pair[0].what.alpha().total_cmp(&pair[1].what.alpha()).is_eq()
            && pair[0].what.people == pair[1].what.people
    });
    pairs
        .flat_map(|pair| {
            [Estimator::Sgd, Estimator::Asgd].map(|estimator| {
                let (more, less) = (pair[0].distance(estimator), pair[1].distance(estimator));
                let error = more.standard_error.hypot(less.standard_error);
                let words = format!(
                    "{}, {} against {}",
                    place(&pair[1]),
                    estimator.name(),
                    noise_name(&pair[0].what.noise)
                );
                (words, less.value < more.value + 2.0 * error)
            })
        })
        .collect()
}

/// How far runs at α = 1 are from their start, which is all that forgetting leaves of it.
fn stays(runs: &[Run]) -> Vec<(String, bool)> {
    let ends = runs.iter().filter(|run| run.what.alpha() > 0.99);
    ends.map(|run| {
        let start = run.what.people.model(run.what.weighting).map(|model| model.start()).unwrap_or_default();
        let from: f64 = start.iter().zip(run.what.people.truth()).map(|(a, b)| (a - b) * (a - b)).sum();
        let end = run.distance(Estimator::Sgd);
        (format!("{} ({:.2} of {from:.0} at the start)", place(run), end.value), end.value > 0.1 * from)
    })
    .collect()
}

/// Which α is best for the average, among the published ones.
fn best_decay(runs: &[Run], error: Error, claimed: f64) -> Vec<(String, bool)> {
    let mut settings = Vec::new();
    for run in runs.iter().filter(|run| run.what.alpha().total_cmp(&claimed).is_eq()) {
        let same = |other: &&Run| other.what.people == run.what.people && other.what.noise == run.what.noise;
        let figure = |run: &Run| match error {
            Error::Distance => run.distance(Estimator::Asgd).value,
            Error::Excess => run.excess(Estimator::Asgd).value,
        };
        let Some(best) = runs.iter().filter(same).min_by(|a, b| figure(a).total_cmp(&figure(b))) else {
            continue;
        };
        let words = format!("{} (best at α = {})", place(run), fraction(best.what.alpha()));
        settings.push((words, best.what.alpha().total_cmp(&claimed).is_eq()));
    }
    settings
}

/// LDP-SGD against the bound of Theorem 3, and against its exact limit, where the start is forgotten.
///
/// > E|θ_n - θ*|² ≤ B²·η/(m·n^α),   → (η/2)·n^-α·tr(A⁻¹S)
fn against_theory(runs: &[Run]) -> anyhow::Result<Vec<(String, bool)>> {
    let mut settings = Vec::new();
    for run in runs.iter().filter(|run| run.what.alpha() < 1.0) {
        let What { people, noise, weighting, steps, .. } = run.what;
        let law = law(run)?;
        let n = run.marks.last().copied().unwrap_or_default();
        let predicted = law.predict(&steps, n);
        let limit = predicted.last_iterate_error.filter(|_| predicted.transient_exponent >= FORGOTTEN);
        if let Some(limit) = limit {
            let model = people.model(weighting)?;
            let farthest = model.radius() + model.ball()?.centre.iter().map(|c| c * c).sum::<f64>().sqrt();
            let square = farthest * farthest + noise.second_moment(&model)?;
            let bound = square * steps.at(n) / law.least_curvature();
            let figure = run.distance(Estimator::Sgd);
            let words =
                format!("{}: {:.3} ± {:.3}", place(run), figure.value / limit, figure.standard_error / limit);
            settings.push((words, figure.value < bound));
        }
    }
    Ok(settings)
}

/// A and S of a run.
fn law(run: &Run) -> anyhow::Result<Law> {
    let What { people, noise, weighting, .. } = run.what;
    let budgets = match noise {
        Noise::Gaussian(mu) => Budgets::alike(mu),
        _ => Budgets::NO_PRIVACY,
    };
    Ok(Design::new(people.kind, weighting.weight, people.dimension)?.law(budgets))
}

/// All of the settings, in a row.
fn listed(settings: &[(String, bool)]) -> String {
    let words: Vec<&str> = settings.iter().map(|(words, _)| words.as_str()).collect();
    if words.is_empty() { "no run has forgotten its start".to_owned() } else { words.join("; ") }
}

/// What our weights and our average change at α = 1/2.
fn gain(runs: &[Run], ours: &[Run]) -> String {
    let each = ours.iter().filter_map(|own| {
        let published = runs.iter().find(|run| {
            run.what.people == own.what.people && run.what.noise == own.what.noise && run.what.alpha().total_cmp(&own.what.alpha()).is_eq()
        })?;
        let [theirs, weighted, both] = [
            published.distance(Estimator::Asgd).value,
            own.distance(Estimator::Asgd).value,
            own.distance(Estimator::Decayed).value,
        ];
        let place = format!("d = {}, {}", own.what.people.dimension, noise_name(&own.what.noise));
        Some(format!("{place}: {theirs:.4} published, {weighted:.4} with our weights, {both:.4} with the decaying average, too"))
    });
    each.collect::<Vec<_>>().join("; ")
}

pub(super) fn linear(runs: &[Run], ours: &[Run]) -> anyhow::Result<Vec<Claim>> {
    const FIGURE: &str = "Figure 5";
    Ok(vec![
        Claim::of_many(
            FIGURE,
            "for α ≤ 1/2 LDP-ASGD performs better than LDP-SGD across privacy settings",
            &average_wins(runs, &DECAYS[..2], Run::distance, true),
            "",
        ),
        Claim::of_many(
            FIGURE,
            "for α = 2/3 the distance of LDP-ASGD may exceed that of LDP-SGD",
            &average_wins(runs, &DECAYS[2..3], Run::distance, false),
            "",
        ),
        Claim::of_many(
            FIGURE,
            "at α = 1 neither estimator converges",
            &stays(runs),
            "It is η = 0.2 that is too small for it: \
with η above 1/(2m) the rate at α = 1 is 1/n",
        ),
        Claim::of_many(FIGURE, "a smaller μ means a larger distance", &falls_with_mu(runs), ""),
        Claim::of_many(
            "Section 4.3",
            "α = 1/2 is the best decay for the distance of LDP-ASGD",
            &best_decay(runs, Error::Distance, 0.5),
            &format!("Ours at α = 1/2, distances of averages: {}", gain(runs, ours)),
        ),
        Claim::of_many(
            "Section 4.3",
            "α = 1/3 is the best decay for the loss of LDP-ASGD",
            &best_decay(runs, Error::Excess, DECAYS[0]),
            "The advice maximises a ratio of two bounds, which is no error",
        ),
        Claim::of_listed(
            "Theorem 3",
            "the squared distance of LDP-SGD is at most C₀²(1 + Ω)·η/(m·n^α)",
            &against_theory(runs)?,
            "Numbers are measured over the exact limit (η/2)·n^-α·tr(A⁻¹S), where the start is forgotten",
        ),
    ])
}

pub(super) fn logistic(runs: &[Run], ours: &[Run]) -> anyhow::Result<Vec<Claim>> {
    const FIGURE: &str = "Figure 6";
    let (mut dimensions, mut curvatures): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for run in runs {
        let dimension = run.what.people.dimension.to_string();
        if !dimensions.contains(&dimension) {
            dimensions.push(dimension);
            curvatures.push(format!("{:.5}", law(run)?.least_curvature()));
        }
    }
    Ok(vec![
        Claim::of_many(
            FIGURE,
            "for any α from 1/3 to 2/3 LDP-ASGD achieves a smaller loss than LDP-SGD",
            &average_wins(runs, &DECAYS[..3], Run::excess, true),
            "Where the start is not forgotten the average remembers it longest",
        ),
        Claim::of_many(
            FIGURE,
            "the same of the distance",
            &average_wins(runs, &DECAYS[..3], Run::distance, true),
            &format!("Ours at α = 1/2, distances of averages: {}", gain(runs, ours)),
        ),
        Claim::of_many(FIGURE, "at α = 1 neither estimator converges", &stays(runs), ""),
        Claim::of_many(
            "Section 4.3",
            "α = 1/3 is the best decay for the loss of LDP-ASGD",
            &best_decay(runs, Error::Excess, DECAYS[0]),
            "",
        ),
        Claim::new(
            "Section 5.3",
            "strong convexity is no longer applicable to logistic regression",
            false,
            format!(
                "around the optimum the least curvature is {} for d = {}; measured over the limit of Theorem 3 where the start \
is forgotten: {}",
                curvatures.join(", "),
                dimensions.join(", "),
                listed(&against_theory(runs)?)
            ),
        ),
    ])
}
