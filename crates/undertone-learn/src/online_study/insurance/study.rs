//! Learning charges from people who come in one order after another.

use super::Person;
use super::coding::{COVARIATES, Coding, Task};
use crate::LearnError;
use crate::online::Steps;
use crate::online_study::functions::{exp, ln};
use crate::online_study::lanes::{LANES, Lanes, each, larger};
use crate::online_study::people::Records;
use crate::online_study::stream::Streams;
use crate::online_study::{Kept, Noise, Setting};
use rayon::prelude::*;
use undertone_privacy::gradient::{Huber, Multinomial, RecordLoss, RecordModel, Weighting};

/// x and y in one line of a cache.
type Row = [f32; 16];
const RESPONSE: usize = COVARIATES;
/// Rows of a block, a column after the other.
type TestBlock = [[f32; LANES]; 16];
/// The scale of the model, in units of 4000 dollars, and its coefficients stay within these.
const SCALES: (f64, f64) = (0.1, 20.0);
const BOUND: f64 = 1e3;

/// People to learn from and people to judge by.
pub struct Study {
    task: Task,
    train: Vec<Row>,
    /// People to judge by, a block of them in each entry; the few who fill no block judge squared errors only
    test: Vec<TestBlock>,
    /// How many there are in all
    tested: usize,
    /// Σ x·x', Σ x·y and Σ y² of the test rows, x and y in one vector: all that squared errors need
    products: Vec<f64>,
}

/// How it is learnt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StudySetting {
    /// How much a record counts
    pub weighting: Weighting,
    /// What devices do
    pub noise: Noise,
    /// How far a report moves θ
    pub steps: Steps,
}

/// What came of one order of the people after a number of them, for people who were not asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// People so far
    pub people: u64,
    /// The mean squared error of charges, or the cross-entropy of thirds, of the last point and of the average
    pub loss: [f64; 2],
    /// How often the third is right; not a number for charges
    pub accuracy: [f64; 2],
}

impl Study {
    /// The first rows of the table of a seed are learnt from, the next are judged by.
    pub fn new(task: Task, coding: Coding, train: u64, test: u64, seed: u64) -> Self {
        let row = |number: u64| -> Row {
            let person = Person::new(seed, number);
            let mut row = [0f32; 16];
            for (cell, x) in row.iter_mut().zip(coding.covariates(&person)) {
                *cell = x as f32;
            }
            row[RESPONSE] = task.response(&person) as f32;
            row
        };
        let rows = |range: std::ops::Range<u64>| -> Vec<Row> { range.into_par_iter().map(row).collect() };
        let (train, test) = (rows(0..train), rows(train..train + test));
        let width = COVARIATES + 1;
        let mut products = vec![0.0; width * width];
        for row in &test {
            for i in 0..width {
                for j in 0..width {
                    products[i * width + j] += f64::from(row[i]) * f64::from(row[j]);
                }
            }
        }
        let column = |people: &[Row; LANES], j: usize| -> [f32; LANES] { each(|l| people[l][j]) };
        let transposed = |people: &[Row; LANES]| -> TestBlock { std::array::from_fn(|j| column(people, j)) };
        let blocks = test.as_chunks::<LANES>().0.iter().map(transposed).collect();
        Self { task, train, test: blocks, tested: test.len(), products }
    }

    /// The model of the task.
    pub fn model(&self, weighting: Weighting) -> Result<RecordModel, LearnError> {
        let loss = match self.task {
            Task::Charges => RecordLoss::Huber(Huber::new(Huber::CUT, SCALES.0, SCALES.1)?),
            Task::Thirds => RecordLoss::Multinomial(Multinomial::new(Task::CLASSES)?),
        };
        Ok(RecordModel::new(loss, weighting, COVARIATES, BOUND)?)
    }

    /// Learns from the people in `orders` random orders, each from a start uniform on (0, 1)^p, and judges after as many
    /// people as `marks` say.
    pub fn run(
        &self,
        setting: StudySetting,
        marks: &[u64],
        orders: usize,
        seed: u64,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Vec<Vec<Outcome>>, LearnError> {
        let last = marks.last().copied().unwrap_or_default();
        if last > self.train.len() as u64 {
            return Err(LearnError::Parameter {
                what: "the number of people to look after",
                value: last as f64,
                expected: "at most that of the people to learn from",
            });
        }
        let StudySetting { weighting, noise, steps } = setting;
        let model = self.model(weighting)?;
        let whole = Setting { model, noise, steps, kept: Kept::default() };
        let paths = whole.blocks(marks, orders, seed, progress, |_, streams| {
            let mut start: Vec<Lanes> = (0..model.parameters()).map(|_| streams.uniform()).collect();
            for l in 0..LANES {
                let mut own: Vec<f64> = start.iter().map(|value| value[l]).collect();
                model.project(&mut own);
                for (value, own) in start.iter_mut().zip(own) {
                    value[l] = own;
                }
            }
            (Shuffled::new(&self.train, last as usize, streams), start)
        })?;
        let judged = |path: &crate::online_study::Path| -> Vec<Outcome> {
            let outcome = |place: &crate::online_study::Place| {
                let [last, average] = [&place.last, &place.average].map(|theta| self.judge(theta));
                Outcome { people: place.people, loss: [last.0, average.0], accuracy: [last.1, average.1] }
            };
            path.iter().map(outcome).collect()
        };
        Ok(paths.par_iter().map(judged).collect())
    }

    /// Loss and accuracy on people who were not asked.
    fn judge(&self, theta: &[f64]) -> (f64, f64) {
        match self.task {
            Task::Charges => (self.squared_error(theta), f64::NAN),
            Task::Thirds => self.cross_entropy(theta),
        }
    }

    /// v'·M·v/n with v = (β, -1) and M the products of the test rows.
    fn squared_error(&self, theta: &[f64]) -> f64 {
        let mut v = theta[..COVARIATES].to_vec();
        v.push(-1.0);
        let width = v.len();
        let sum: f64 = (0..width)
            .map(|i| v[i] * (0..width).map(|j| self.products[i * width + j] * v[j]).sum::<f64>())
            .sum();
        sum / self.tested as f64
    }

    fn cross_entropy(&self, theta: &[f64]) -> (f64, f64) {
        let beta: Vec<f32> = theta.iter().map(|&b| b as f32).collect();
        let (loss, right) = pulp::Arch::new().dispatch(Judge { test: &self.test, beta: &beta });
        let n = (self.test.len() * LANES) as f64;
        (loss / n, right / n)
    }
}

/// Sums the cross-entropy of three classes, and counts who is judged rightly.
struct Judge<'a> {
    test: &'a [TestBlock],
    /// Of the first class, then of the second; the last has none
    beta: &'a [f32],
}

impl pulp::NullaryFnOnce for Judge<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn call(self) -> (f64, f64) {
        let (first, second) = self.beta.split_at(COVARIATES);
        let (mut loss, mut right): (Lanes, Lanes) = ([0.0; LANES], [0.0; LANES]);
        for block in self.test {
            let (mut a, mut b) = ([0f32; LANES], [0f32; LANES]);
            for (x, (first, second)) in block.iter().zip(first.iter().zip(second)) {
                a = each(|l| first.mul_add(x[l], a[l]));
                b = each(|l| second.mul_add(x[l], b[l]));
            }
            for l in 0..LANES {
                let (a, b, label) = (f64::from(a[l]), f64::from(b[l]), block[RESPONSE][l]);
                let largest = larger(larger(a, b), 0.0);
                let own = if label < 0.5 { a } else { 0.0 };
                let own = if label > 0.5 && label < 1.5 { b } else { own };
                let sum = exp(a - largest) + exp(b - largest) + exp(-largest);
                loss[l] += largest + f64::from(ln(sum as f32)) - own;
                right[l] += if own >= largest { 1.0 } else { 0.0 };
            }
        }
        (loss.iter().sum(), right.iter().sum())
    }
}

/// The same people in an order of its own for each lane.
struct Shuffled<'a> {
    rows: &'a [Row],
    /// Which person is next, a lane's after the other
    orders: Vec<[u32; LANES]>,
    at: usize,
}

impl<'a> Shuffled<'a> {
    /// The first `count` people of random orders.
    fn new(rows: &'a [Row], count: usize, streams: &mut Streams) -> Self {
        let mut orders: Vec<[u32; LANES]> = (0..rows.len()).map(|row| [row as u32; LANES]).collect();
        for place in 0..count {
            let words = streams.words();
            for (l, word) in words.into_iter().enumerate() {
                let left = (rows.len() - place) as u64;
                let other = place + (((word >> 32) * left) >> 32) as usize;
                let own = orders[place][l];
                orders[place][l] = orders[other][l];
                orders[other][l] = own;
            }
        }
        Self { rows, orders, at: 0 }
    }
}

impl Records for Shuffled<'_> {
    #[inline(always)]
    fn draw(&mut self, _: &mut Streams, x: &mut [Lanes], y: &mut Lanes) {
        let order = self.orders[self.at];
        self.at += 1;
        for l in 0..LANES {
            let row = &self.rows[order[l] as usize];
            for (x, value) in x.iter_mut().zip(row) {
                x[l] = f64::from(*value);
            }
            y[l] = f64::from(row[RESPONSE]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undertone_privacy::gradient::Weight;

    fn setting(noise: Noise) -> StudySetting {
        let weighting = Weighting::new(Weight::Linear, 2f64.sqrt()).unwrap();
        StudySetting { weighting, noise, steps: Steps::new(0.5, 0.5, 0).unwrap() }
    }

    #[test]
    fn without_noise_charges_are_learnt_down_to_their_error() {
        // The error of charges is 900 dollars: (900/4000)² = 0.0506
        let study = Study::new(Task::Charges, Coding::Centred, 40_000, 10_000, 1);
        let outcomes = study.run(setting(Noise::None), &[1000, 40_000], 4, 1, &|_| ()).unwrap();
        for order in &outcomes {
            assert!(order[1].loss.iter().all(|&loss| (0.049..0.06).contains(&loss)), "{order:?}");
            assert!(order[0].loss[1] > order[1].loss[1]);
        }
        assert!(study.run(setting(Noise::None), &[40_001], 1, 1, &|_| ()).is_err());
    }

    #[test]
    fn thirds_are_learnt_better_than_by_chance() {
        let study = Study::new(Task::Thirds, Coding::Centred, 20_000, 5000, 1);
        let outcomes = study.run(setting(Noise::None), &[20_000], 2, 1, &|_| ()).unwrap();
        for order in outcomes {
            assert!(order[0].accuracy.iter().all(|&share| share > 0.75), "{order:?}");
            assert!(order[0].loss.iter().all(|&loss| loss < 0.7), "{order:?}");
        }
    }

    #[test]
    fn people_are_judged_as_their_rows_say() {
        let study = Study::new(Task::Thirds, Coding::Paper, 16, 1000, 1);
        let theta: Vec<f64> = (0..2 * COVARIATES).map(|j| (j as f64).sin()).collect();
        let (loss, accuracy) = study.judge(&theta);
        let (mut expected, mut right, n) = (0.0, 0.0, 992.0);
        for row in 16..16 + 992 {
            let person = Person::new(1, row);
            let x = Coding::Paper.covariates(&person);
            let score = |beta: &[f64]| -> f64 { x.iter().zip(beta).map(|(x, b)| x * b).sum() };
            let scores = [score(&theta[..COVARIATES]), score(&theta[COVARIATES..]), 0.0];
            let own = scores[Task::Thirds.response(&person) as usize];
            expected += scores.iter().map(|s| s.exp()).sum::<f64>().ln() - own;
            right += f64::from(u8::from(scores.iter().all(|score| own >= *score)));
        }
        assert!(
            (loss - expected / n).abs() < 1e-5 && (accuracy - right / n).abs() < 1e-9,
            "{loss}, {accuracy}"
        );
    }

    #[test]
    fn an_order_has_everybody_once() {
        let study = Study::new(Task::Charges, Coding::Paper, 500, 10, 1);
        let mut streams = Streams::new(1, 0);
        let shuffled = Shuffled::new(&study.train, 500, &mut streams);
        for l in 0..LANES {
            let mut order: Vec<u32> = shuffled.orders.iter().map(|orders| orders[l]).collect();
            assert!(!order.is_sorted());
            order.sort_unstable();
            assert!(order.into_iter().eq(0..500));
        }
    }
}
