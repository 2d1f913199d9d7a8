//! A plane in each cell instead of a step: the bias of the first order goes, and that at the boundary.
//!
//! In a cell with centre c and half widths r, in ranks, let u = (x - c)/r, in [-1, 1], and φ = (1, u). The cell's
//! coefficients solve
//!
//! > (Σ φφᵀ + λ·diag(0, 1, …, 1))·W = Σ φ·zᵀ
//!
//! with z the unbiased report. λ is how much a report scatters where the label scatters by one: slopes that the people of a cell
//! cannot tell from noise are shrunk towards the step. Σ φφᵀ is public; z is private already.

use super::TrustModel;
use super::cells::{Axes, AxisScale, CellKind, Partition};
use super::choice::{ASIDE, Tried, coarsest_within_one_error, kept_aside, losses_by_depth, tried};
use super::targets::{Output, Targets};
use super::trust::trust_and_output;
use crate::LearnError;
use crate::features::{Row, Rows};
use crate::split::is_held_out;
use serde::{Deserialize, Serialize};

/// No more axes of numbers than this have slopes.
pub(super) const MOST_SLOPES: usize = 12;

/// A plane for each cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Document", into = "Document")]
pub struct LinearCells {
    document: Box<Document>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    /// Of devices where nothing is said
    #[serde(default = "TrustModel::of_devices")]
    trust: TrustModel,
    output: Output,
    partition: Partition,
    /// The axes that have slopes
    slopes: Vec<u32>,
    /// For each node and each slope, centre and half width
    boxes: Vec<[f32; 2]>,
    /// For each node, an intercept and slopes for each output
    planes: Vec<f32>,
}

/// Planes and how their cells were chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedPlanes {
    /// Fitted to everybody
    pub model: LinearCells,
    /// The chosen depth
    pub depth: u32,
    /// All depths, the coarsest first
    pub tried: Vec<Tried>,
}

/// Planes on cells of equal mass, as deep as serves people best who were kept aside. A plane for all is among them.
pub fn fit_planes(rows: &Rows, targets: Targets<'_>) -> Result<FittedPlanes, LearnError> {
    targets.check(rows.len())?;
    let aside = kept_aside(rows.len())?;
    let axes = Axes::fit(rows)?;
    // A cell has to tell its slopes, too.
    let mass = (targets.least() * f64::from(axes.dimension() + 1)).max(4.0);
    let partition = Partition::of_mass(CellKind::EqualMass, axes, rows, mass)?;
    let others = |person: usize| !is_held_out(person as u64, ASIDE);
    let model = LinearCells::of(partition.clone(), rows, targets, others)?;
    let mut prediction = vec![0.0; targets.output().width()];
    let losses = losses_by_depth(&partition, rows, &aside, |person, node| {
        model.predict_in(node, rows.get(person), &mut prediction);
        targets.loss(person, &prediction)
    });
    let depth = coarsest_within_one_error(&losses) as u32;
    let model = LinearCells::fit(partition.truncated(depth), rows, targets)?;
    Ok(FittedPlanes { model, depth, tried: tried(0.., &losses) })
}

trust_and_output!(LinearCells, document);

impl LinearCells {
    /// Fits a plane to each cell that has people enough for itself; others have their parent's.
    pub fn fit(partition: Partition, rows: &Rows, targets: Targets<'_>) -> Result<Self, LearnError> {
        Self::of(partition, rows, targets, |_| true)
    }

    /// Of those people for whom `counts` holds.
    fn of(
        partition: Partition,
        rows: &Rows,
        targets: Targets<'_>,
        counts: impl Fn(usize) -> bool,
    ) -> Result<Self, LearnError> {
        partition.axes().check(rows)?;
        targets.check(rows.len())?;
        let number = |(axis, found): (u32, &super::cells::Axis)| {
            matches!(found.scale, AxisScale::Quantiles(_)).then_some(axis)
        };
        let slopes: Vec<u32> = (0u32..).zip(partition.axes().axes()).filter_map(number).collect();
        if slopes.len() > MOST_SLOPES {
            return Err(LearnError::Parameter {
                what: "the number of slopes",
                value: slopes.len() as f64,
                expected: "at most 12: use cells without slopes, or fewer features",
            });
        }
        let boxes = boxes(&partition, rows, &slopes);
        let output = targets.output();
        let mut document =
            Document { trust: TrustModel::LabelLocal, output, partition, slopes, boxes, planes: Vec::new() };
        document.planes = document.solve(rows, targets, counts);
        Ok(Self { document: Box::new(document) })
    }

    /// Predictions of each row, one after the other; rows of other columns are refused.
    pub fn predict(&self, rows: &Rows) -> Result<Vec<f32>, LearnError> {
        let Document { output, partition, .. } = &*self.document;
        partition.axes().check(rows)?;
        let width = output.width();
        let mut predictions = vec![0.0; rows.len() * width];
        for (row, prediction) in rows.iter().zip(predictions.chunks_exact_mut(width)) {
            self.predict_in(partition.locate(row), row, prediction);
        }
        Ok(predictions)
    }

    /// By the plane of a node.
    fn predict_in(&self, node: usize, row: Row<'_>, prediction: &mut [f32]) {
        let Document { output, planes, slopes, .. } = &*self.document;
        let (width, terms) = (output.width(), slopes.len() + 1);
        let (mut phi, mut means) = (vec![0.0; terms], vec![0.0; width]);
        self.document.phi(node, row, &mut phi);
        for (k, mean) in means.iter_mut().enumerate() {
            let plane = &planes[(node * width + k) * terms..][..terms];
            *mean = phi.iter().zip(plane).map(|(phi, w)| phi * f64::from(*w)).sum();
        }
        output.settle(&mut means, prediction);
    }
}

/// Centre and half width of each node, in ranks, from the people inside.
fn boxes(partition: &Partition, rows: &Rows, slopes: &[u32]) -> Vec<[f32; 2]> {
    let mut ends = vec![[f32::INFINITY, f32::NEG_INFINITY]; partition.nodes() * slopes.len()];
    for row in rows.iter() {
        let node = partition.locate(row);
        for (ends, &axis) in ends[node * slopes.len()..].iter_mut().zip(slopes) {
            let rank = rank(partition, row, axis);
            *ends = [ends[0].min(rank), ends[1].max(rank)];
        }
    }
    for node in (1..partition.nodes()).rev() {
        for slope in 0..slopes.len() {
            let own = ends[node * slopes.len() + slope];
            let above = &mut ends[partition.parent(node) * slopes.len() + slope];
            *above = [above[0].min(own[0]), above[1].max(own[1])];
        }
    }
    let middle = |[low, high]: [f32; 2]| {
        if low < high { [0.5 * (low + high), 0.5 * (high - low)] } else { [0.5, 1.0] }
    };
    ends.into_iter().map(middle).collect()
}

fn rank(partition: &Partition, row: Row<'_>, axis: u32) -> f32 {
    let axes = partition.axes();
    axes.axes()[axis as usize].scale.rank(axes.value(row, axis as usize))
}

impl Document {
    /// (1, u), with u in [-1, 1].
    fn phi(&self, node: usize, row: Row<'_>, phi: &mut [f64]) {
        phi[0] = 1.0;
        let boxes = &self.boxes[node * self.slopes.len()..(node + 1) * self.slopes.len()];
        for ((phi, &axis), [centre, half]) in phi[1..].iter_mut().zip(&self.slopes).zip(boxes) {
            *phi = f64::from(((rank(&self.partition, row, axis) - centre) / half).clamp(-1.0, 1.0));
        }
    }

    /// The planes of all nodes.
    fn solve(&self, rows: &Rows, targets: Targets<'_>, counts: impl Fn(usize) -> bool) -> Vec<f32> {
        let (width, terms, nodes) = (self.output.width(), self.slopes.len() + 1, self.partition.nodes());
        let (least, lambda) = (targets.least(), targets.noise());
        let mut members = vec![Vec::new(); nodes];
        for person in (0..rows.len() as u32).filter(|&person| counts(person as usize)) {
            members[self.partition.locate(rows.get(person as usize))].push(person);
        }
        for node in (1..nodes).rev() {
            if (members[node].len() as f64) < least {
                let handed = members[node].clone();
                members[self.partition.parent(node)].extend(handed);
                members[node].clear();
            } else {
                let own = members[node].clone();
                members[self.partition.parent(node)].extend(own);
            }
        }
        let mut planes = vec![0.0f32; nodes * width * terms];
        let (mut phi, mut z) = (vec![0.0; terms], vec![0.0; width]);
        for (node, members) in members.iter().enumerate() {
            let place = node * width * terms;
            if node > 0 && members.is_empty() {
                self.inherit(node, &mut planes);
                continue;
            }
            let (mut gram, mut right) = (vec![0.0; terms * terms], vec![0.0; terms * width]);
            (1..terms).for_each(|slope| gram[slope * terms + slope] = lambda);
            for &person in members {
                self.phi(node, rows.get(person as usize), &mut phi);
                z.fill(0.0);
                let mut base = 0.0;
                targets.add(person as usize, &mut base, &mut z);
                for (i, a) in phi.iter().enumerate() {
                    phi.iter().zip(&mut gram[i * terms..]).for_each(|(b, sum)| *sum += a * b);
                    z.iter().zip(&mut right[i * width..]).for_each(|(z, sum)| *sum += a * (z + base));
                }
            }
            eliminate(&mut gram, &mut right, terms, width);
            for k in 0..width {
                for term in 0..terms {
                    planes[place + k * terms + term] = right[term * width + k] as f32;
                }
            }
        }
        planes
    }

    /// The plane of the parent in the coordinates of a node: with x = c + r·u = c' + r'·u', u' = (c - c')/r' + (r/r')·u.
    fn inherit(&self, node: usize, planes: &mut [f32]) {
        let (width, terms) = (self.output.width(), self.slopes.len() + 1);
        let parent = self.partition.parent(node);
        for k in 0..width {
            let above = planes[(parent * width + k) * terms..][..terms].to_vec();
            let own = &mut planes[(node * width + k) * terms..][..terms];
            own[0] = above[0];
            for slope in 0..terms - 1 {
                let [centre, half] = self.boxes[node * (terms - 1) + slope];
                let [above_centre, above_half] = self.boxes[parent * (terms - 1) + slope];
                own[0] += above[slope + 1] * (centre - above_centre) / above_half;
                own[slope + 1] = above[slope + 1] * half / above_half;
            }
        }
    }
}

/// Solves gram·W = right in place by Gauss and Jordan's elimination, which needs no pivots as gram is symmetric and positive.
fn eliminate(gram: &mut [f64], right: &mut [f64], terms: usize, width: usize) {
    for pivot in 0..terms {
        let inverse = 1.0 / gram[pivot * terms + pivot];
        for row in (0..terms).filter(|&row| row != pivot) {
            let factor = gram[row * terms + pivot] * inverse;
            for column in pivot..terms {
                gram[row * terms + column] -= factor * gram[pivot * terms + column];
            }
            for k in 0..width {
                right[row * width + k] -= factor * right[pivot * width + k];
            }
        }
    }
    for row in 0..terms {
        (0..width).for_each(|k| right[row * width + k] /= gram[row * terms + row]);
    }
}

impl From<LinearCells> for Document {
    fn from(model: LinearCells) -> Self {
        *model.document
    }
}

impl TryFrom<Document> for LinearCells {
    type Error = LearnError;

    fn try_from(document: Document) -> Result<Self, LearnError> {
        let Document { output, partition, slopes, boxes, planes, .. } = &document;
        let axes = partition.axes().axes().len();
        let sound = output.width() > 0
            && slopes.iter().all(|&axis| (axis as usize) < axes)
            && boxes.len() == partition.nodes() * slopes.len()
            && boxes.iter().all(|[centre, half]| centre.is_finite() && *half > 0.0)
            && planes.len() == partition.nodes() * output.width() * (slopes.len() + 1)
            && planes.iter().all(|w| w.is_finite());
        if sound {
            return Ok(Self { document: Box::new(document) });
        }
        Err(LearnError::Model { problem: "its planes do not belong to its cells".into() })
    }
}
