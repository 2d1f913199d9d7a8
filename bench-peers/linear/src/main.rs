//! Times the linear models of undertone on arrays that `compare.py` writes.
//!
//! The file has four 32-bit numbers (training rows, test rows, features, classes), then features and labels of the
//! training rows and of the test rows, 32 bits each. Printed for each way of learning: its name, the seconds of one
//! pass, the accuracy on the test rows.

use std::time::Instant;
use undertone_learn::features::Rows;
use undertone_learn::linear::{ErmOptions, LinearModel, OnlineLinear, Step, fit};
use undertone_learn::loss::Loss;
use undertone_learn::{Classifier, Examples};

const EPOCHS: u32 = 10;

struct Data {
    classes: usize,
    train: Examples,
    test: Rows,
    truth: Vec<u32>,
}

fn read(path: &str) -> std::io::Result<Data> {
    let bytes = std::fs::read(path)?;
    let mut words = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
    let mut take = |count: usize| words.by_ref().take(count).collect::<Vec<u32>>();
    let sizes: Vec<usize> = take(4).into_iter().map(|size| size as usize).collect();
    let [train, test, features, classes] = sizes[..] else {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    };
    let rows = |words: Vec<u32>| Rows::dense(features, words.into_iter().map(f32::from_bits).collect());
    let train_rows = rows(take(train * features));
    let labels = take(train);
    let test_rows = rows(take(test * features));
    Ok(Data { classes, train: Examples::certain(train_rows, labels), test: test_rows, truth: take(test) })
}

impl Data {
    fn accuracy(&self, model: &LinearModel) -> f64 {
        let probabilities = model.probabilities(&self.test);
        let guesses = probabilities.chunks_exact(self.classes).map(|row| {
            let best = (0..).zip(row).max_by(|a, b| a.1.total_cmp(b.1));
            best.map_or(0, |(class, _)| class)
        });
        guesses.zip(&self.truth).filter(|(guess, truth)| guess == *truth).count() as f64
            / self.truth.len() as f64
    }

    fn online(&self) -> LinearModel {
        let (rows, labels) = (&self.train.rows, &self.train.unbiased);
        let mut learner = OnlineLinear::new(rows.width(), self.classes, Loss::Softmax, Step::default(), None)
            .expect("the defaults are fine");
        rows.iter().zip(labels.iter()).for_each(|(row, label)| learner.observe(row, label));
        learner.model().expect("there are examples")
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("the file that compare.py writes is missing")?;
    let data = read(&path)?;
    let report = |name: &str, seconds: f64, model: &LinearModel| {
        println!("{name} {seconds:.6} {:.4}", data.accuracy(model));
    };
    let start = Instant::now();
    let model = data.online();
    report("online", start.elapsed().as_secs_f64(), &model);
    let mut source = vec![data.train.clone()];
    for (name, threads) in [("erm", 1), ("erm-2", 2)] {
        let options = ErmOptions { epochs: EPOCHS, threads, ..ErmOptions::default() };
        let start = Instant::now();
        let model = fit(&mut source, data.test.width(), data.classes, &options, None, |_| ())?;
        report(name, start.elapsed().as_secs_f64() / f64::from(EPOCHS), &model);
    }
    Ok(())
}
