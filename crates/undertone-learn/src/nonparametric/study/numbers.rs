//! Numbers, bounded or not: each method learns from the same people, and is judged where nobody is.

use super::pareto::{self, MOMENT, ORDER};
use super::places::{people as people_of, strata, unit};
use super::printed::CellMeans;
use super::setting::{Method, Setting};
use super::waves::{BETA, Waves};
use crate::LearnError;
use crate::features::Rows;
use crate::nonparametric::cells::Partition;
use crate::nonparametric::central::{Clipping, FullNumbers, PublicGrid, release_numbers};
use crate::nonparametric::neighbours::NeighbourModel;
use crate::nonparametric::rates::{
    Task, cells_per_axis, central_clip, central_regression_width, heavy_neighbours, local_clip, neighbours,
};
use crate::nonparametric::{CellModel, NumberReports, TrustModel};
use rand_chacha::ChaCha12Rng;
use undertone_privacy::number::{Bounds, NumberKind, NumberMechanism, NumberRandomizer};

/// Places where a model is judged, along each axis; fewer where each costs a search
const SIDES: [u32; 2] = [4096, 64];
const SEARCHED: [u32; 2] = [4096, 20];

/// A repetition: people, and what is true.
struct Sample {
    rows: Rows,
    labels: Vec<f64>,
    judges: Rows,
}

pub(super) fn excess(
    setting: &Setting,
    people: u64,
    methods: &[Method],
    rng: &mut ChaCha12Rng,
) -> Result<Vec<f64>, LearnError> {
    let waves = Waves::draw(setting.dimension, rng);
    let rows = people_of(people, setting.dimension, rng);
    let label = |mean: f64, rng: &mut ChaCha12Rng| {
        let size = if setting.task == Task::Heavy { pareto::size(rng) } else { 1.0 };
        if unit(rng) < 0.5 * (1.0 + mean) { size } else { -size }
    };
    let labels = rows.iter().map(|row| label(waves.at(row), rng)).collect();
    let sides = if setting.trust == TrustModel::LabelLocal { SEARCHED } else { SIDES };
    let judges = strata(sides[setting.dimension as usize - 1], setting.dimension, rng);
    let sample = Sample { rows, labels, judges };
    let one = |&method: &Method| -> Result<f64, LearnError> {
        let predictions = predict(setting, method, &sample, rng)?;
        let each = sample.judges.iter().zip(predictions);
        Ok(each.map(|(row, said)| (waves.at(row) - said).powi(2)).sum::<f64>() / sample.judges.len() as f64)
    };
    methods.iter().map(one).collect()
}

fn predict(
    setting: &Setting,
    method: Method,
    sample: &Sample,
    rng: &mut ChaCha12Rng,
) -> Result<Vec<f64>, LearnError> {
    let local = setting.trust == TrustModel::LabelLocal;
    let single = match method {
        Method::Ours if local => ours_local(setting, sample, rng)?,
        Method::Printed if local => printed_local(setting, sample, rng)?,
        Method::Ours => {
            let partition = Partition::cubes(&sample.rows, setting.width(sample.people())?)?;
            // Cells answer as the rule has them: few people are handed up only where the noise would be all there is.
            let least = 3.0 / setting.epsilon.get();
            let Sample { rows, labels, judges } = sample;
            release_numbers(partition, rows, labels, setting.clipping()?, least, setting.epsilon, rng)?
                .0
                .predict(judges)?
        }
        Method::Printed => return printed_central(setting, sample, rng),
        Method::Full | Method::FullPrinted => full(setting, method, sample, rng)?,
        Method::NonPrivate => certain(setting, sample)?,
    };
    Ok(single.into_iter().map(f64::from).collect())
}

impl Sample {
    fn people(&self) -> u64 {
        self.rows.len() as u64
    }
}

impl Setting {
    /// How a curator of ours keeps labels bounded.
    fn clipping(&self) -> Result<Clipping, LearnError> {
        Ok(match self.task {
            Task::Heavy => Clipping::Moment { order: ORDER, bound: MOMENT },
            _ => Clipping::Bounds(within(1.0)?),
        })
    }
}

/// [-T, T].
fn within(clip: f64) -> Result<Bounds, LearnError> {
    Ok(Bounds::new(-clip, clip)?)
}

/// The best device for numbers, and the corrected k and T.
fn ours_local(setting: &Setting, sample: &Sample, rng: &mut ChaCha12Rng) -> Result<Vec<f32>, LearnError> {
    let (n, d, epsilon) = (sample.people(), setting.dimension, setting.epsilon);
    let (k, clip) = if setting.task == Task::Heavy {
        let k = (setting.constant * heavy_neighbours(n, d, BETA, ORDER, epsilon.get())).min(n as f64);
        (k, local_clip(ORDER, MOMENT, k, epsilon.get()))
    } else {
        let noise = NumberMechanism::best(within(1.0)?, epsilon)?.worst_variance();
        (setting.constant * neighbours(n, d, BETA, 1.0 + noise), 1.0)
    };
    let mechanism = NumberMechanism::best(within(clip)?, epsilon)?;
    average(&mechanism, k, sample, rng)
}

/// Laplace noise and the printed k; T = (k·ε²)^(1/(2p)) for heavy tails.
fn printed_local(setting: &Setting, sample: &Sample, rng: &mut ChaCha12Rng) -> Result<Vec<f32>, LearnError> {
    let k = setting.printed_neighbours(sample.people());
    let clip = match setting.task {
        Task::Heavy => (k * setting.epsilon.get().powi(2)).powf(0.5 / ORDER),
        _ => 1.0,
    };
    let mechanism = NumberMechanism::new(NumberKind::Laplace, within(clip)?, setting.epsilon)?;
    average(&mechanism, k, sample, rng)
}

/// Devices report, and neighbours average.
fn average(
    mechanism: &NumberMechanism,
    k: f64,
    sample: &Sample,
    rng: &mut ChaCha12Rng,
) -> Result<Vec<f32>, LearnError> {
    let (reports, _) = NumberReports::ask(mechanism, &sample.labels, rng)?;
    let k = k.round().clamp(1.0, sample.people() as f64) as usize;
    NeighbourModel::new(&sample.rows, reports.targets(), k)?.predict(&sample.judges)
}

/// Eq. 23 and 28; T = (ε·N·h^d)^(1/p) for heavy tails.
fn printed_central(
    setting: &Setting,
    sample: &Sample,
    rng: &mut ChaCha12Rng,
) -> Result<Vec<f64>, LearnError> {
    let width = setting.printed_width(sample.people());
    let bounds = within(match setting.task {
        Task::Heavy => printed_clip(setting, sample, width),
        _ => 1.0,
    })?;
    let means = CellMeans::release(width, &sample.rows, &sample.labels, bounds, setting, rng)?;
    Ok(sample.judges.iter().map(|row| means.at(row)).collect())
}

fn printed_clip(setting: &Setting, sample: &Sample, width: f64) -> f64 {
    let occupancy = sample.people() as f64 * width.powf(f64::from(setting.dimension));
    (setting.epsilon.get() * occupancy).powf(1.0 / ORDER)
}

/// A curator answers for all cubes: two sums, or eq. 33–36 with n₀ = N·h^d/2.
fn full(
    setting: &Setting,
    method: Method,
    sample: &Sample,
    rng: &mut ChaCha12Rng,
) -> Result<Vec<f32>, LearnError> {
    let curator = Setting { trust: TrustModel::LabelCentral, ..*setting };
    // Constants of devices are those of neighbours.
    let constant = if setting.trust == TrustModel::LabelLocal { 1.0 } else { setting.constant };
    let people = sample.people();
    let printed = method == Method::FullPrinted;
    let width = if printed {
        curator.printed_width(people)
    } else {
        Setting { constant, ..curator }.width(people)?
    };
    let parts = cells_per_axis(width)?;
    let occupancy = people as f64 / f64::from(parts).powf(f64::from(setting.dimension));
    let clip = match (setting.task, printed) {
        (Task::Heavy, false) => central_clip(ORDER, MOMENT, occupancy, setting.epsilon.get()),
        (Task::Heavy, true) => printed_clip(setting, sample, width),
        _ => 1.0,
    };
    let release = if printed {
        FullNumbers::FlooredAsPublished((0.5 * occupancy).ceil() as u32)
    } else {
        FullNumbers::TwoSided
    };
    let grid = PublicGrid::new(&vec![(0.0, 1.0); setting.dimension as usize], parts)?;
    let Sample { rows, labels, judges } = sample;
    grid.release_numbers(rows, labels, within(clip)?, release, setting.epsilon, rng)?.0.predict(judges)
}

/// Without privacy, by the same sort of average: of neighbours for devices, of cells for a curator.
fn certain(setting: &Setting, sample: &Sample) -> Result<Vec<f32>, LearnError> {
    let most = sample.labels.iter().fold(1.0f64, |most, label| most.max(label.abs()));
    let (reports, _) = NumberReports::certain(within(most)?, &sample.labels)?;
    if setting.trust == TrustModel::LabelLocal {
        let variance = if setting.task == Task::Heavy { pareto::SQUARE } else { 1.0 };
        let k = neighbours(sample.people(), setting.dimension, BETA, variance) as usize;
        return NeighbourModel::new(&sample.rows, reports.targets(), k)?.predict(&sample.judges);
    }
    // The width for bounded numbers, where privacy costs nothing: tails do not matter then
    let width = central_regression_width(sample.people(), setting.dimension, BETA, 1e9).min(0.999);
    CellModel::fit(Partition::cubes(&sample.rows, width)?, &sample.rows, reports.targets())?
        .predict(&sample.judges)
}
