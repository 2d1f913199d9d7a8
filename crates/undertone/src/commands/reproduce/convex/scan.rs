//! What is measured: along the number of classes, of people, and ε.

use crate::exit::Usage;
use indicatif::ProgressBar;
use serde::Serialize;
use undertone_learn::convex::HardInstance;
use undertone_learn::convex::experiment::{Measured, Method, Setting};
use undertone_privacy::Epsilon;

/// What changes along a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Axis {
    Classes,
    People,
    Epsilon,
}

/// Settings that differ in one thing.
pub(super) struct Scan {
    axis: Axis,
    /// K, ε, n
    settings: Vec<(u32, f64, u64)>,
}

/// One method in one setting.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Point {
    pub(super) axis: Axis,
    pub(super) method: &'static str,
    pub(super) classes: u32,
    pub(super) epsilon: f64,
    pub(super) n: u64,
    /// α of the instance on which the method does worst
    pub(super) alpha: Option<f64>,
    pub(super) excess_risk: f64,
    pub(super) standard_error: f64,
    /// R₀·G/√n with the exact second moment
    pub(super) risk_bound: Option<f64>,
    /// n is too small for an instance that is hard enough: left out of the slopes
    pub(super) capped: bool,
}

impl Point {
    /// Where it lies along its axis.
    pub(super) fn x(&self) -> f64 {
        match self.axis {
            Axis::Classes => f64::from(self.classes),
            Axis::People => self.n as f64,
            Axis::Epsilon => self.epsilon,
        }
    }
}

impl Axis {
    pub(super) const ALL: [Self; 3] = [Self::Classes, Self::People, Self::Epsilon];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Classes => "classes",
            Self::People => "people",
            Self::Epsilon => "epsilon",
        }
    }
}

/// The name of the line that no method can go below.
pub(super) const LOWER_BOUND: &str = "lower bound";

pub(super) fn name(method: Method) -> &'static str {
    match method {
        Method::Subset => "subset (ours)",
        Method::AlgorithmOne => "Algorithm 1 (bits)",
        Method::RandomizedResponse => "randomized response",
        Method::Duchi => "Duchi (interactive)",
    }
}

impl Scan {
    pub(super) fn full() -> [Self; 3] {
        Self::all(
            ([4, 8, 16, 32, 64], 1 << 19),
            (8, (12..=18).map(|power| 1 << power).collect()),
            (32, vec![0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 5.0, 8.0], 1 << 19),
        )
    }

    pub(super) fn quick() -> [Self; 3] {
        Self::all(
            ([4, 8, 16], 1 << 13),
            (4, vec![1 << 10, 1 << 11, 1 << 12, 1 << 13]),
            (8, vec![0.5, 1.0, 2.0, 4.0, 6.0], 1 << 13),
        )
    }

    /// ε = 1 where it does not change.
    fn all<const N: usize>(
        (classes, n): ([u32; N], u64),
        (of_people, people): (u32, Vec<u64>),
        (of_epsilon, epsilons, n_of_epsilon): (u32, Vec<f64>, u64),
    ) -> [Self; 3] {
        [
            Self { axis: Axis::Classes, settings: classes.iter().map(|&k| (k, 1.0, n)).collect() },
            Self { axis: Axis::People, settings: people.into_iter().map(|n| (of_people, 1.0, n)).collect() },
            Self {
                axis: Axis::Epsilon,
                settings: epsilons.into_iter().map(|e| (of_epsilon, e, n_of_epsilon)).collect(),
            },
        ]
    }

    /// Steps of the progress bar: people in all descents.
    pub(super) fn work(&self, repetitions: u32) -> u64 {
        let descents: u64 = Method::ALL.iter().map(|method| Method::descents(of(*method, repetitions))).sum();
        self.settings.iter().map(|(_, _, n)| n * descents).sum()
    }

    pub(super) fn measure(
        &self,
        repetitions: u32,
        seed: u64,
        bar: &ProgressBar,
    ) -> anyhow::Result<Vec<Point>> {
        let mut points = Vec::new();
        for (place, &(classes, epsilon, n)) in self.settings.iter().enumerate() {
            let checked = Epsilon::new(epsilon).map_err(Usage::new)?;
            let setting = Setting { labels: classes, epsilon: checked, people: n };
            let point = |method, measured: Measured| Point {
                axis: self.axis,
                method: name(method),
                classes,
                epsilon,
                n,
                alpha: Some(measured.alpha),
                excess_risk: measured.excess,
                standard_error: measured.standard_error,
                risk_bound: Some(measured.bound),
                capped: measured.capped,
            };
            for (number, method) in Method::ALL.into_iter().enumerate() {
                bar.set_message(format!("K = {classes}, ε = {epsilon}, n = {n}: {}", name(method)));
                // Every point has randomness of its own.
                let own = (self.axis as u64) << 32 | (place as u64) << 8 | number as u64;
                let seed = seed.wrapping_add(own.wrapping_mul(0x9e37_79b9_7f4a_7c15));
                let measured = method.measure(setting, of(method, repetitions), seed, &|| bar.inc(n))?;
                points.push(point(method, measured));
            }
            points.push(Point {
                axis: self.axis,
                method: LOWER_BOUND,
                classes,
                epsilon,
                n,
                alpha: None,
                excess_risk: HardInstance::lower_bound(classes, checked, n)?,
                standard_error: 0.0,
                risk_bound: None,
                capped: false,
            });
        }
        Ok(points)
    }
}

/// The interactive method draws a vector for each person and is repeated less often.
fn of(method: Method, repetitions: u32) -> u32 {
    let few = if method == Method::Duchi { repetitions.div_ceil(4) } else { repetitions };
    few.max(2)
}
