//! Classes: each method learns from the same people, and is judged where nobody is.

use super::circle::{CLASSES, Circle};
use super::places::{people as people_of, strata};
use super::setting::{Method, Setting};
use crate::LearnError;
use crate::features::Rows;
use crate::labels::{Channel, LabelVectors};
use crate::nonparametric::cells::Partition;
use crate::nonparametric::central::{ClassRelease, PublicGrid, release_classes};
use crate::nonparametric::rates::{cells_per_axis, local_width};
use crate::nonparametric::{CellModel, Targets, TrustModel};
use rand_chacha::ChaCha12Rng;
use undertone_privacy::Randomizer;
use undertone_privacy::label::{Label, LabelKind, LabelRandomizer};

/// Places where a model is judged, along each axis: 4096 in all
const SIDES: [u32; 2] = [4096, 64];

pub(super) fn excess(
    setting: &Setting,
    people: u64,
    methods: &[Method],
    rng: &mut ChaCha12Rng,
) -> Result<Vec<f64>, LearnError> {
    let circle = Circle::draw(rng);
    let rows = people_of(people, setting.dimension, rng);
    let labels: Vec<u32> = rows.iter().map(|row| circle.label(row, rng)).collect();
    let judges = strata(SIDES[setting.dimension as usize - 1], setting.dimension, rng);
    let one = |&method: &Method| -> Result<f64, LearnError> {
        let predictions = fit(setting, method, &rows, &labels, rng)?.predict(&judges)?;
        let each = judges.iter().zip(predictions.chunks_exact(CLASSES));
        Ok(each.map(|(row, said)| circle.excess(row, said)).sum::<f64>() / judges.len() as f64)
    };
    methods.iter().map(one).collect()
}

fn fit(
    setting: &Setting,
    method: Method,
    rows: &Rows,
    labels: &[u32],
    rng: &mut ChaCha12Rng,
) -> Result<CellModel, LearnError> {
    let (people, dimension) = (rows.len() as u64, setting.dimension);
    let local = setting.trust == TrustModel::LabelLocal;
    let printed = setting.printed_width(people);
    match method {
        Method::Ours if local => {
            let mechanism = LabelKind::Subset.mechanism(CLASSES as u32, setting.epsilon)?;
            let (p, q) = mechanism.inclusion();
            let width = local_width(people, dimension, 1.0, CLASSES as u32, p - q).min(0.999);
            local_cells(LabelKind::Subset, width, setting, rows, labels, rng)
        }
        Method::Printed if local => local_cells(LabelKind::Unary, printed, setting, rows, labels, rng),
        Method::Ours => {
            let partition = Partition::cubes(rows, setting.width(people)?)?;
            let (classes, release) = (CLASSES as u32, ClassRelease::Class);
            release_classes(partition, rows, labels, classes, release, setting.epsilon, rng)
        }
        // Eq. 17 draws a class in every cube, and keeps its promise for whole records, too.
        Method::Printed | Method::Full => {
            all_cubes(setting, setting.curator_width(people), false, rows, labels, rng)
        }
        Method::FullPrinted => all_cubes(setting, setting.curator_width(people), true, rows, labels, rng),
        Method::NonPrivate => {
            let without = Setting { trust: TrustModel::None, ..*setting };
            let partition = Partition::cubes(rows, without.width(people)?)?;
            let vectors = LabelVectors::certain(labels.iter().copied());
            CellModel::fit(partition, rows, Targets::Classes { vectors: &vectors, classes: CLASSES })
        }
    }
}

impl Setting {
    /// h of Theorems 4 and 13, whoever is trusted here.
    fn curator_width(&self, people: u64) -> f64 {
        Self { trust: TrustModel::LabelCentral, ..*self }.printed_width(people)
    }
}

/// Devices report, and cells average.
fn local_cells(
    kind: LabelKind,
    width: f64,
    setting: &Setting,
    rows: &Rows,
    labels: &[u32],
    rng: &mut ChaCha12Rng,
) -> Result<CellModel, LearnError> {
    let mechanism = kind.mechanism(CLASSES as u32, setting.epsilon)?;
    let channel = Channel::of_mechanism(&mechanism);
    let mut vectors = LabelVectors::new();
    for &label in labels {
        let report = mechanism.randomize(&Label(label), rng)?;
        channel.push_unbiased(report.members(), &[], &mut vectors)?;
    }
    let targets = Targets::Classes { vectors: &vectors, classes: CLASSES };
    CellModel::fit(Partition::cubes(rows, width)?, rows, targets)
}

/// A curator answers for all cubes.
fn all_cubes(
    setting: &Setting,
    width: f64,
    published: bool,
    rows: &Rows,
    labels: &[u32],
    rng: &mut ChaCha12Rng,
) -> Result<CellModel, LearnError> {
    let grid = PublicGrid::new(&vec![(0.0, 1.0); setting.dimension as usize], cells_per_axis(width)?)?;
    grid.release_classes(rows, labels, CLASSES as u32, published, setting.epsilon, rng)
}
