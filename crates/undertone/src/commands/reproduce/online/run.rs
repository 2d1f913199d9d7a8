//! One setting, run many times, and its errors.

use super::extent::{ETA, Extent};
use crate::exit::Usage;
use indicatif::ProgressBar;
use rayon::prelude::*;
use serde::Serialize;
use std::cell::Cell;
use undertone_learn::evaluation::{Figure, mean};
use undertone_learn::online::Steps;
use undertone_learn::online::laws::DesignKind;
use undertone_learn::online_study::{Excess, Kept, Noise, Path, People, Place, Setting};
use undertone_privacy::gradient::{Weight, Weighting};
use undertone_privacy::{Epsilon, Mu};

/// Which point of a path is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Estimator {
    Sgd,
    Asgd,
    /// The average that forgets its start, which is ours
    Decayed,
}

impl Estimator {
    pub(super) const ALL: [Self; 3] = [Self::Sgd, Self::Asgd, Self::Decayed];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sgd => "LDP-SGD",
            Self::Asgd => "LDP-ASGD",
            Self::Decayed => "decaying average",
        }
    }

    fn of(self, place: &Place) -> &[f64] {
        match self {
            Self::Sgd => &place.last,
            Self::Asgd => &place.average,
            Self::Decayed => &place.decayed,
        }
    }
}

/// What is run.
#[derive(Clone, Copy, Debug)]
pub(super) struct What {
    pub(super) figure: &'static str,
    pub(super) people: People,
    pub(super) noise: Noise,
    pub(super) weighting: Weighting,
    pub(super) steps: Steps,
    /// Whether the descent begins where it should end
    pub(super) at_truth: bool,
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) what: What,
    pub(super) marks: Vec<u64>,
    /// For each estimator and mark, |θ - θ*|² of every replication, and of β alone
    distances: [Vec<Vec<f64>>; 3],
    coefficients: [Vec<Vec<f64>>; 3],
    /// F(θ) - F(θ*)
    excesses: [Vec<Vec<f64>>; 3],
    /// Where every replication ended
    pub(super) ends: Vec<Place>,
}

/// One number of the study.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Point {
    pub(super) figure: &'static str,
    pub(super) model: &'static str,
    pub(super) dimension: usize,
    pub(super) mechanism: String,
    pub(super) weights: &'static str,
    pub(super) alpha: f64,
    pub(super) estimator: Estimator,
    pub(super) people: u64,
    /// E|θ - θ*|²
    pub(super) distance: f64,
    pub(super) distance_error: f64,
    /// E|β - β*|²
    pub(super) coefficients: f64,
    /// E F(θ) - F(θ*)
    pub(super) excess: f64,
    pub(super) excess_error: f64,
}

/// Runs settings one after the other, each with randomness of its own.
pub(super) struct Laboratory<'a> {
    pub(super) extent: &'a Extent,
    pub(super) seed: u64,
    pub(super) bar: &'a ProgressBar,
    runs: Cell<u64>,
}

impl<'a> Laboratory<'a> {
    pub(super) fn new(extent: &'a Extent, seed: u64, bar: &'a ProgressBar) -> Self {
        Self { extent, seed, bar, runs: Cell::new(0) }
    }

    /// A seed that no other run has.
    pub(super) fn next_seed(&self) -> u64 {
        let number = self.runs.get() + 1;
        self.runs.set(number);
        self.seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub(super) fn run(&self, what: What, replications: usize) -> anyhow::Result<Run> {
        self.bar.set_message(format!("{}: {}", what.figure, what.words()));
        let model = what.people.model(what.weighting).map_err(Usage::new)?;
        let kept = Kept { decayed: true, ..Kept::default() };
        let setting = Setting { model, noise: what.noise, steps: what.steps, kept };
        let truth = what.people.truth();
        let start = if what.at_truth { truth.clone() } else { model.start() };
        let marks = Extent::marks(self.extent.people);
        let progress = |people| self.bar.inc(people);
        let paths =
            setting.replicate(what.people, &start, &marks, replications, self.next_seed(), &progress)?;
        let excess = Excess::new(what.people, model);
        let square = |theta: &[f64], length: usize| -> f64 {
            theta.iter().zip(&truth).take(length).map(|(a, b)| (a - b) * (a - b)).sum()
        };
        let of_all = |of: &(dyn Fn(&[f64]) -> f64 + Sync)| {
            Estimator::ALL.map(|estimator| -> Vec<Vec<f64>> {
                let at =
                    |mark: usize| paths.par_iter().map(|path: &Path| of(estimator.of(&path[mark]))).collect();
                (0..marks.len()).map(at).collect()
            })
        };
        Ok(Run {
            what,
            distances: of_all(&|theta| square(theta, truth.len())),
            coefficients: of_all(&|theta| square(theta, what.people.dimension + 1)),
            excesses: of_all(&|theta| excess.of(theta)),
            marks,
            ends: paths.into_iter().filter_map(|mut path| path.pop()).collect(),
        })
    }
}

impl Run {
    /// |θ - θ*|² of every replication after each number of people.
    pub(super) fn distances(&self, estimator: Estimator) -> &[Vec<f64>] {
        &self.distances[estimator as usize]
    }

    /// F(θ) - F(θ*).
    pub(super) fn excesses(&self, estimator: Estimator) -> &[Vec<f64>] {
        &self.excesses[estimator as usize]
    }

    /// E|θ - θ*|² at the end.
    pub(super) fn distance(&self, estimator: Estimator) -> Figure {
        self.distances(estimator).last().map_or_else(|| mean(&[]), |values| mean(values))
    }

    /// E F(θ) - F(θ*) at the end.
    pub(super) fn excess(&self, estimator: Estimator) -> Figure {
        self.excesses(estimator).last().map_or_else(|| mean(&[]), |values| mean(values))
    }

    pub(super) fn points(&self) -> Vec<Point> {
        let What { figure, people, steps, weighting, .. } = self.what;
        let mut points = Vec::new();
        for estimator in Estimator::ALL {
            for (place, &count) in self.marks.iter().enumerate() {
                let of = |values: &[Vec<Vec<f64>>; 3]| mean(&values[estimator as usize][place]);
                let (distance, excess) = (of(&self.distances), of(&self.excesses));
                points.push(Point {
                    figure,
                    model: kind_name(people.kind),
                    dimension: people.dimension,
                    mechanism: noise_name(&self.what.noise),
                    weights: weighting.weight.name(),
                    alpha: steps.alpha(),
                    estimator,
                    people: count,
                    distance: distance.value,
                    distance_error: distance.standard_error,
                    coefficients: of(&self.coefficients).value,
                    excess: excess.value,
                    excess_error: excess.standard_error,
                });
            }
        }
        points
    }
}

impl What {
    /// With the published weights, and steps of η = 0.2.
    pub(super) fn published(
        figure: &'static str,
        people: People,
        noise: Noise,
        alpha: f64,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            figure,
            people,
            noise,
            weighting: weights(Weight::Square)?,
            steps: Steps::new(ETA, alpha, 0)?,
            at_truth: false,
        })
    }

    /// α.
    pub(super) fn alpha(&self) -> f64 {
        self.steps.alpha()
    }

    fn words(&self) -> String {
        format!(
            "{}, d = {}, {}, α = {}",
            kind_name(self.people.kind),
            self.people.dimension,
            noise_name(&self.noise),
            super::extent::fraction(self.alpha())
        )
    }
}

/// Weights with R² = 2.
pub(super) fn weights(weight: Weight) -> anyhow::Result<Weighting> {
    Ok(Weighting::new(weight, 2f64.sqrt())?)
}

/// Gaussian noise, or none.
pub(super) fn gaussian(mu: Option<f64>) -> anyhow::Result<Noise> {
    Ok(mu.map_or(Ok(Noise::None), |mu| Mu::new(mu).map(Noise::Gaussian))?)
}

pub(super) fn epsilon(value: f64) -> anyhow::Result<Epsilon> {
    Ok(Epsilon::new(value)?)
}

pub(super) fn kind_name(kind: DesignKind) -> &'static str {
    match kind {
        DesignKind::Linear => "linear",
        DesignKind::Logistic => "logistic",
    }
}

pub(super) fn noise_name(noise: &Noise) -> String {
    match noise {
        Noise::None => "no privacy".to_owned(),
        Noise::Gaussian(mu) => format!("μ = {}", mu.get()),
        Noise::GaussianBetween(low, high) => format!("μ ~ Unif({}, {})", low.get(), high.get()),
        Noise::Laplace(epsilon) => format!("Laplace, ε = {}", epsilon.get()),
        Noise::L2Laplace(epsilon) => format!("l2-Laplace, ε = {}", epsilon.get()),
        Noise::Duchi(epsilon) => format!("Duchi, ε = {}", epsilon.get()),
        Noise::PrivUnit(epsilon) => format!("PrivUnit, ε = {}", epsilon.get()),
    }
}
