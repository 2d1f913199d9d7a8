//! Regularised empirical risk minimisation over many passes: post-processing of the reports, hence free.
//!
//! > minimise  1/n · Σ_i ℓ̃(Wᵀx_i, S_i) + λ/2·|W|²
//!
//! over minibatches, where ℓ̃ is what [`Target`] makes of a report, and the intercept is not regularised. The debiased
//! loss of noisy reports can fall without bound, so that it needs λ > 0 or a ball to stay in (|W| ≤ R, intercept
//! included). Steps are those of Adam with a rate that falls linearly to zero.
//!
//! Blocks come in the order of their source and rows are shuffled within a block, wide ones in runs of [`RUN`]. A batch
//! is cut into parts of [`PART`] rows whose gradients are added in order: the model is a function of examples, options
//! and seed, whatever the number of threads.

use super::adam::{Moments, RareMoments, Step};
use super::kernels::{OuterProducts, vectorized};
use super::parameters::{Parameters, Shape};
use super::target::{SoftLabel, Target};
use super::team::Team;
use super::{LinearModel, Weights};
use crate::loss::Loss;
use crate::{Examples, LearnError, Source};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

/// Rows whose gradients are added up by one thread.
const PART: usize = 128;
/// Neighbours that stay together if rows are [`WIDE`], as memory is slow to jump.
const RUN: usize = 8;
/// Dense features of a row that fills some cache lines.
const WIDE: usize = 256;

/// Multiplications of a step that are worth a second thread: fewer take less time than threads need to meet where others use the processors.
const SHARED: u64 = 1 << 18;

/// How a linear model is fitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErmOptions {
    /// ℓ
    pub loss: Loss,
    /// What a report is taken for
    pub target: Target,
    /// λ
    pub l2: f64,
    /// Passes over all examples
    pub epochs: u32,
    /// Rows of a step
    pub batch: usize,
    /// η of the first step
    pub learning_rate: f64,
    /// R
    pub radius: Option<f64>,
    /// Of the order of the rows
    pub seed: u64,
    /// At most so many; 0 for as many as there are processors, if a step is long enough to be shared
    pub threads: usize,
}

impl Default for ErmOptions {
    fn default() -> Self {
        Self {
            loss: Loss::Softmax,
            target: Target::Unbiased,
            l2: 1e-4,
            epochs: 30,
            batch: 256,
            learning_rate: 0.05,
            radius: None,
            seed: 0,
            threads: 1,
        }
    }
}

/// Steps that are enough from W = 0, also where features are of very different use.
const STEPS: u64 = 8000;

/// As many passes over `rows` as make some thousands of steps, and not fewer than two nor more than two hundred.
pub fn default_epochs(rows: u64, batch: usize) -> u32 {
    let steps = rows.div_ceil(batch.max(1) as u64).max(1);
    STEPS.div_ceil(steps).clamp(2, 200) as u32
}

/// How far a fit has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Rows seen, in all passes together
    pub rows: u64,
    /// Rows to see, in all passes together
    pub of: u64,
}

impl Progress {
    /// The same fit as `part` of a work of which `done` is done, and `of` is all.
    pub(super) fn within(self, done: u64, part: u64, of: u64) -> Self {
        Self { rows: done * self.of + part * self.rows, of: of * self.of }
    }
}

/// Fits a linear model of K = `classes` to all examples of the source, from W = 0 or from a `start`.
pub fn fit(
    source: &mut dyn Source,
    features: usize,
    classes: usize,
    options: &ErmOptions,
    start: Option<&Weights>,
    mut progress: impl FnMut(Progress),
) -> Result<LinearModel, LearnError> {
    options.check(classes)?;
    let survey = Survey::of(source, features, classes, options)?;
    if options.target == Target::Unbiased && options.l2 == 0.0 && options.radius.is_none() && !survey.certain
    {
        let expected =
            "positive unless there is a radius: the debiased loss of noisy reports can fall without bound";
        return Err(LearnError::Parameter { what: "l2", value: 0.0, expected });
    }
    if let Some(start) = start.filter(|w| w.features() != features || w.classes() != classes) {
        let (what, value, expected) = if start.classes() == classes {
            ("the number of features to start from", start.features(), "that of the examples")
        } else {
            ("the number of classes to start from", start.classes(), "that of the task")
        };
        return Err(LearnError::Parameter { what, value: value as f64, expected });
    }
    let mut descent = Descent::new(&survey, options, start);
    let mut seen = Progress { rows: 0, of: survey.rows * u64::from(options.epochs) };
    for epoch in 0..options.epochs {
        let mut order = Order::new(options.seed, epoch);
        source.pass(&mut |block| {
            let length = if block.rows.dense_width() < WIDE { 1 } else { RUN };
            let rows = order.shuffled(block.len(), length);
            descent.block(block, rows).map_err(|row| LearnError::Report {
                row: seen.rows % survey.rows + u64::from(row) + 1,
                problem: "its features are not finite".into(),
            })?;
            seen.rows += block.len() as u64;
            progress(seen);
            Ok(())
        })?;
    }
    let model = descent.finish();
    if model.weights.values().iter().all(|w| w.is_finite()) { Ok(model) } else { Err(LearnError::Diverged) }
}

impl ErmOptions {
    fn check(&self, classes: usize) -> Result<(), LearnError> {
        let wrong = |what, value, expected| Err(LearnError::Parameter { what, value, expected });
        if classes < 2 {
            return wrong("the number of classes", classes as f64, "at least two");
        }
        if !(self.l2 >= 0.0 && self.l2.is_finite()) {
            return wrong("l2", self.l2, "finite and not negative");
        }
        if !(self.learning_rate > 0.0 && self.learning_rate.is_finite()) {
            return wrong("the learning rate", self.learning_rate, "positive and finite");
        }
        if let Some(radius) = self.radius.filter(|radius| !(*radius > 0.0 && radius.is_finite())) {
            return wrong("the radius", radius, "positive and finite");
        }
        if self.epochs == 0 {
            return wrong("the number of epochs", 0.0, "at least one");
        }
        if self.batch == 0 {
            return wrong("the batch", 0.0, "at least one row");
        }
        self.target.check(classes)
    }
}

/// What a first look at the examples tells.
struct Survey {
    shape: Shape,
    rows: u64,
    /// In one pass
    steps: u64,
    /// Features of all rows that are not zero
    entries: u64,
    /// Whether every label vector is some e_y
    certain: bool,
}

impl Survey {
    fn of(
        source: &mut dyn Source,
        features: usize,
        classes: usize,
        options: &ErmOptions,
    ) -> Result<Self, LearnError> {
        let mut survey: Option<Self> = None;
        source.pass(&mut |block| {
            let shape = Shape { dense: block.rows.dense_width(), sparse: block.rows.sparse_width(), classes };
            let survey = survey.get_or_insert(Self { shape, rows: 0, steps: 0, entries: 0, certain: true });
            if block.is_empty() {
                return Ok(());
            }
            if survey.rows == 0 {
                survey.shape = shape;
            }
            if shape != survey.shape || shape.dense + shape.sparse != features {
                let value = block.rows.width() as f64;
                let expected = "that of the model in every block";
                return Err(LearnError::Parameter { what: "the number of features", value, expected });
            }
            survey.inspect(block, options)
        })?;
        survey.filter(|survey| survey.rows > 0).ok_or(LearnError::NoReports)
    }

    /// As many threads as are asked for, or one if steps are too short to be shared.
    fn threads(&self, options: &ErmOptions) -> usize {
        let step = self.entries * self.shape.classes as u64 / self.steps;
        if options.threads == 0 && step < SHARED { 1 } else { options.threads }
    }

    fn inspect(&mut self, block: &Examples, options: &ErmOptions) -> Result<(), LearnError> {
        let vectors = options.target.vectors(&block.unbiased, &block.likelihood);
        let fault =
            |index: usize, problem: String| LearnError::Report { row: self.rows + index as u64 + 1, problem };
        if vectors.len() != block.len() {
            return Err(fault(vectors.len(), format!("{} rows have {} reports", block.len(), vectors.len())));
        }
        for (index, vector) in vectors.iter().enumerate() {
            if let Some((class, _)) =
                vector.entries.iter().find(|(class, _)| *class as usize >= self.shape.classes)
            {
                return Err(fault(index, format!("it names class {class} of {}", self.shape.classes)));
            }
            self.certain &= vector.base == 0.0 && matches!(vector.entries, [(_, 1.0)]);
        }
        self.rows += block.len() as u64;
        self.entries += block.rows.iter().map(|row| row.dense.len() + row.sparse.len()).sum::<usize>() as u64;
        self.steps += block.len().div_ceil(options.batch) as u64;
        Ok(())
    }
}

/// The order of the rows in one pass.
struct Order {
    random: ChaCha8Rng,
    runs: Vec<(u32, u32)>,
    rows: Vec<u32>,
}

impl Order {
    fn new(seed: u64, epoch: u32) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(u64::from(epoch));
        Self { random, runs: Vec::new(), rows: Vec::new() }
    }

    /// The rows of the next block: runs of `length` neighbours, cut anew in every pass, in an order of their own.
    fn shuffled(&mut self, rows: usize, length: usize) -> &[u32] {
        let first = self.below(length) + 1;
        let starts = (first..rows).step_by(length);
        self.runs.clear();
        self.runs.push((0, first.min(rows) as u32));
        self.runs.extend(starts.map(|start| (start as u32, rows.min(start + length) as u32)));
        for place in (1..self.runs.len()).rev() {
            let other = self.below(place + 1);
            self.runs.swap(place, other);
        }
        self.rows.clear();
        self.runs.iter().for_each(|&(start, end)| self.rows.extend(start..end));
        &self.rows
    }

    /// ⌊u·count/2^64⌋, which is even to within 2^-32.
    fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.random.next_u64()) * count as u128) >> 64) as usize
    }
}

/// A fit on its way: what a thread writes has a lock, which nobody ever has to wait for.
struct Descent<'a> {
    options: &'a ErmOptions,
    team: Team,
    parts: Vec<Mutex<Part>>,
    place: RwLock<Place>,
    steps: u64,
}

impl<'a> Descent<'a> {
    fn new(survey: &Survey, options: &'a ErmOptions, start: Option<&Weights>) -> Self {
        let (shape, count) = (survey.shape, options.batch.div_ceil(PART));
        Self {
            options,
            team: Team::new(survey.threads(options), count),
            parts: (0..count).map(|_| Mutex::new(Part::new(shape))).collect(),
            place: RwLock::new(Place::new(shape, start)),
            steps: survey.steps * u64::from(options.epochs),
        }
    }

    /// All steps of one block, in batches of nearly the same size; or a row of it that has no scores.
    fn block(&mut self, block: &Examples, rows: &[u32]) -> Result<(), u32> {
        let batches = rows.len().div_ceil(self.options.batch);
        let (team, this) = (&self.team, &*self);
        team.run(|member| {
            let mut rest = rows;
            for left in (1..=batches).rev() {
                let (batch, others) = rest.split_at(rest.len().div_ceil(left));
                this.gradients(block, batch, member.index());
                member.meet();
                if member.index() == 0 {
                    this.step(block, batch);
                }
                member.meet();
                rest = others;
            }
        });
        self.place.get_mut().unwrap_or_else(PoisonError::into_inner).fault.map_or(Ok(()), Err)
    }

    /// The gradients of those parts of a batch that are a member's.
    fn gradients(&self, block: &Examples, batch: &[u32], member: usize) {
        let place = self.place.read().unwrap_or_else(PoisonError::into_inner);
        let parts = self.parts.iter().zip(batch.chunks(PART));
        for (part, rows) in parts.skip(member).step_by(self.team.size()) {
            let mut part = part.lock().unwrap_or_else(PoisonError::into_inner);
            part.run(block, rows, &place.weights, self.options);
        }
    }

    /// One step along the gradients of all parts of a batch.
    fn step(&self, block: &Examples, batch: &[u32]) {
        let parts = self.parts[..batch.len().div_ceil(PART)].iter();
        let parts: Vec<_> = parts.map(|part| part.lock().unwrap_or_else(PoisonError::into_inner)).collect();
        let mut place = self.place.write().unwrap_or_else(PoisonError::into_inner);
        if place.fault.is_none() {
            place.fault = parts.iter().find_map(|part| part.fault);
            place.step(block, batch, &parts, self.options, self.steps);
        }
    }

    fn finish(self) -> LinearModel {
        let place = self.place.into_inner().unwrap_or_else(PoisonError::into_inner);
        LinearModel { loss: self.options.loss, weights: place.finish(self.options.l2), scale_back: None }
    }
}

/// Where a fit has come to.
struct Place {
    weights: Parameters,
    dense: Moments,
    sparse: RareMoments,
    intercept: Moments,
    rare: RareGradient,
    time: u64,
    /// The first row met whose features are not finite
    fault: Option<u32>,
}

impl Place {
    fn new(shape: Shape, start: Option<&Weights>) -> Self {
        let weights = Parameters::new(shape, start);
        Self {
            dense: Moments::zero(weights.dense.len()),
            sparse: RareMoments::zero(shape.sparse, shape.classes),
            intercept: Moments::zero(shape.classes),
            rare: RareGradient::new(shape),
            weights,
            time: 0,
            fault: None,
        }
    }

    fn step(
        &mut self,
        block: &Examples,
        rows: &[u32],
        parts: &[MutexGuard<Part>],
        options: &ErmOptions,
        steps: u64,
    ) {
        self.time += 1;
        // The rate falls linearly, to zero after the last step.
        let left = 1.0 - (self.time - 1) as f64 / steps as f64;
        let step = Step::new(self.time, options.learning_rate * left.max(0.0), rows.len(), options.l2);
        self.dense.step(step, &mut self.weights.dense, parts.iter().map(|part| &part.dense[..]));
        let intercepts = parts.iter().map(|part| &part.intercept[..]);
        self.intercept.step(step.free(), &mut self.weights.intercept, intercepts);
        if self.weights.shape.sparse > 0 {
            let deltas = parts.iter().flat_map(|part| part.deltas.chunks_exact(self.weights.shape.classes));
            for (row, delta) in rows.iter().zip(deltas) {
                self.rare.add(block.rows.get(*row as usize).sparse, delta);
            }
            self.rare.take(|feature, gradient| {
                self.sparse.step(step, feature, &mut self.weights.sparse, gradient);
            });
        }
        if let Some(radius) = options.radius {
            self.weights.project(radius);
        }
    }

    fn finish(mut self, l2: f64) -> Weights {
        let step = Step::new(self.time, 0.0, 1, l2);
        self.sparse.finish(step, &mut self.weights.sparse);
        self.weights.weights()
    }
}

/// Some rows of a batch: gradients in their scores, and the sums of their outer products with the features.
struct Part {
    deltas: Vec<f32>,
    dense: Vec<f32>,
    intercept: Vec<f32>,
    soft: SoftLabel,
    /// The first of these rows whose features are not finite
    fault: Option<u32>,
}

impl Part {
    fn new(shape: Shape) -> Self {
        Self {
            deltas: Vec::new(),
            dense: vec![0.0; shape.classes * shape.stride()],
            intercept: vec![0.0; shape.classes],
            soft: SoftLabel::default(),
            fault: None,
        }
    }

    fn run(&mut self, block: &Examples, rows: &[u32], weights: &Parameters, options: &ErmOptions) {
        let (classes, stride) = (weights.shape.classes, weights.shape.stride());
        self.deltas.resize(rows.len() * classes, 0.0);
        let mut features: [&[f32]; PART] = [&[]; PART];
        for (place, row) in features.iter_mut().zip(rows) {
            *place = block.rows.get(*row as usize).dense;
        }
        let features = &features[..rows.len()];
        weights.scores(
            features,
            rows.iter().map(|row| block.rows.get(*row as usize).sparse),
            &mut self.deltas,
        );
        // Whatever the weights, a feature that is not finite has scores which are not.
        let fault = |(row, scores): (&u32, &[f32])| {
            !scores[0].is_finite() && !block.rows.get(*row as usize).is_finite()
        };
        self.fault =
            rows.iter().zip(self.deltas.chunks_exact(classes)).find(|pair| fault(*pair)).map(|(row, _)| *row);
        let vectors = options.target.vectors(&block.unbiased, &block.likelihood);
        self.intercept.fill(0.0);
        for (row, scores) in rows.iter().zip(self.deltas.chunks_exact_mut(classes)) {
            options.target.gradient(options.loss, scores, vectors.get(*row as usize), &mut self.soft);
            self.intercept.iter_mut().zip(scores).for_each(|(sum, g)| *sum += *g);
        }
        let deltas = &self.deltas[..];
        vectorized(OuterProducts { rows: features, deltas, stride, gradient: &mut self.dense });
    }
}

/// The gradient of a batch in the weights of its rare features.
struct RareGradient {
    classes: usize,
    /// Where each feature's sum is, if it has one
    places: Vec<Option<u32>>,
    features: Vec<u32>,
    sums: Vec<f32>,
}

impl RareGradient {
    fn new(shape: Shape) -> Self {
        Self { classes: shape.classes, places: vec![None; shape.sparse], features: vec![], sums: vec![] }
    }

    fn add(&mut self, row: &[(u32, f32)], delta: &[f32]) {
        for &(feature, x) in row {
            let place = *self.places[feature as usize].get_or_insert_with(|| {
                self.features.push(feature);
                self.sums.resize(self.features.len() * self.classes, 0.0);
                self.features.len() as u32 - 1
            });
            let sum = &mut self.sums[place as usize * self.classes..][..self.classes];
            sum.iter_mut().zip(delta).for_each(|(sum, g)| *sum += x * g);
        }
    }

    /// Hands over the sum of each feature, and begins anew.
    fn take(&mut self, mut visit: impl FnMut(usize, &[f32])) {
        for (feature, sum) in self.features.iter().zip(self.sums.chunks_exact(self.classes)) {
            visit(*feature as usize, sum);
            self.places[*feature as usize] = None;
        }
        self.features.clear();
        self.sums.clear();
    }
}

#[cfg(test)]
mod tests;
