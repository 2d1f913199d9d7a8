//! Ratings of things by people, from a table `user,thing,rating` with ratings from one to five.
//!
//! `cargo run --release -p undertone-learn --example ratings -- TABLE.csv METHOD EPSILON EPOCHS SEED [WIDTH RATE L2]`
//!
//! METHOD is `clear` (true ratings), `lp1`, `lp2` (as published) or `forward` (likelihood of the reports). Four in five ratings are trained on, by a public hash of the row;
//! the root of the mean squared error is that of the mean rating under the network's probabilities, on the rest.

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use std::error::Error;
use std::time::Instant;
use undertone_learn::features::Rows;
use undertone_learn::labels::{Channel, LabelVectors};
use undertone_learn::networks::{
    Architecture, Augmentation, Decay, Loss, NetModel, NetTrainer, Progress, Schedule, Training,
};
use undertone_learn::split::{Purpose, place};
use undertone_learn::stages::MultiStage;
use undertone_learn::{Examples, LearnError};
use undertone_privacy::label::{Label, LabelMechanism, LabelSet};
use undertone_privacy::{Epsilon, Randomizer};

const RATINGS: usize = 5;

/// Numbers of people and things, and ratings counted from zero.
#[derive(Default)]
struct Table {
    ids: Vec<f32>,
    labels: Vec<u32>,
}

impl Table {
    fn rows(&self) -> Rows {
        Rows::dense(2, self.ids.clone())
    }

    /// One more than the largest number in a column.
    fn end(&self, column: usize) -> usize {
        self.ids.iter().skip(column).step_by(2).copied().fold(0.0, f32::max) as usize + 1
    }
}

/// The part to train on, and the part to judge by.
fn read(path: &str) -> Result<(Table, Table), Box<dyn Error>> {
    let (mut training, mut test) = (Table::default(), Table::default());
    for (row, record) in (0u64..).zip(csv::Reader::from_path(path)?.into_records()) {
        let record = record?;
        let number = |column: usize| -> Result<u16, Box<dyn Error>> {
            Ok(record.get(column).ok_or("a row has three columns")?.trim().parse()?)
        };
        let rating = number(2)?;
        if !(1..=RATINGS as u16).contains(&rating) {
            return Err(format!("row {}: rating {rating} is not from 1 to 5", row + 1).into());
        }
        let part = if place(row, Purpose::Test) < 0.2 { &mut test } else { &mut training };
        part.ids.extend([f32::from(number(0)?), f32::from(number(1)?)]);
        part.labels.push(u32::from(rating) - 1);
    }
    Ok((training, test))
}

fn rmse(model: &NetModel, test: &Table) -> f64 {
    let ratings = model.ratings(&test.rows());
    let squared =
        ratings.iter().zip(&test.labels).map(|(found, label)| (found - f64::from(label + 1)).powi(2));
    (squared.sum::<f64>() / test.labels.len() as f64).sqrt()
}

fn training(epochs: usize, seed: u64, loss: Loss, peak: f64, l2: f64) -> Training {
    Training {
        batch: 512,
        schedule: Schedule { peak, warm_up: 0.15, decay: Decay::Linear },
        l2,
        mixup: None,
        augmentation: Augmentation::default(),
        loss,
        patience: Some(2),
        ..Training::as_published(epochs, seed)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, method, epsilon, epochs, seed, rest @ ..] = &arguments[..] else {
        return Err("TABLE.csv METHOD EPSILON EPOCHS SEED [WIDTH RATE L2]".into());
    };
    let (epochs, seed): (usize, u64) = (epochs.parse()?, seed.parse()?);
    let epsilon = Epsilon::new(epsilon.parse()?)?;
    let width = rest.first().map_or(Ok(32), |text| text.parse())?;
    let rate = rest.get(1).map_or(Ok(1.0), |text| text.parse())?;
    let l2 = rest.get(2).map_or(Ok(1e-5), |text| text.parse())?;
    let (table, test) = read(path)?;
    let architecture = Architecture::Rating {
        people: table.end(0).max(test.end(0)),
        things: table.end(1).max(test.end(1)),
        width,
    };
    let start = Instant::now();
    let tell = |progress: &Progress| {
        let (seconds, gain) = (start.elapsed().as_secs_f64(), progress.report_likelihood.unwrap_or(f64::NAN));
        eprintln!(
            "  epoch {}: loss {:.4}, reports gain {gain:.4}, {seconds:.0} s",
            progress.epoch, progress.loss
        );
    };
    let trainer = |loss| NetTrainer {
        progress: Some(&tell),
        ..NetTrainer::new(architecture.clone(), RATINGS, training(epochs, seed, loss, rate, l2))
    };
    let mut rng = ChaCha12Rng::seed_from_u64(1000 + seed);
    let mut answer = |person: u64, mechanism: &LabelMechanism| -> Result<LabelSet, LearnError> {
        Ok(mechanism.randomize(&Label(table.labels[person as usize]), &mut rng)?)
    };
    let rows = table.rows();
    let model = match method.as_str() {
        "clear" => {
            let mut examples = vec![Examples::certain(rows, table.labels.iter().copied())];
            trainer(Loss::Plain).fit(&mut examples, None)?
        }
        "lp1" | "lp2" => {
            let fractions = if method == "lp1" { &[1.0][..] } else { &[0.65, 0.35] };
            let published = MultiStage::as_published(RATINGS as u32, epsilon, fractions);
            let plan = MultiStage { temperature: 0.5, warm_start: true, filter: true, ..published };
            plan.run(&[rows], &mut answer, &trainer(Loss::Plain))?.model().clone()
        }
        "forward" => {
            let mechanism = LabelMechanism::best(RATINGS as u32, epsilon)?;
            let channel = Channel::of_mechanism(&mechanism);
            let (mut unbiased, mut likelihood) = (LabelVectors::new(), LabelVectors::new());
            for person in 0..rows.len() as u64 {
                let report = answer(person, &mechanism)?;
                channel.push_unbiased(report.members(), &[], &mut unbiased)?;
                channel.push_likelihood(report.members(), &[], &mut likelihood)?;
            }
            let mut examples = vec![Examples { rows, unbiased, likelihood, ..Examples::default() }];
            trainer(Loss::Forward).fit(&mut examples, None)?
        }
        _ => return Err(format!("`{method}` is none of the methods").into()),
    };
    let seconds = start.elapsed().as_secs_f64();
    println!("{method} ε {} seed {seed}: RMSE {:.4}, {seconds:.0} s", epsilon.get(), rmse(&model, &test));
    Ok(())
}
