//! Networks on a folder of images in IDX files, without privacy, in one stage and in two.
//!
//! `cargo run --release -p undertone-learn --example images -- FOLDER METHOD EPSILON EPOCHS SEED [cnn|mlp|inception/N [PEOPLE]]`
//!
//! PEOPLE trains on the first so many images only. FOLDER has `train-images-idx3-ubyte.gz` and the three files beside it. METHOD is `clear` (true labels), `lp1`, `lp2`, `lp3` (as published), `forward`
//! (likelihood of the reports), or `again` (`forward`, then retraining on posterior labels). True labels of the test images are used to print the accuracy, and those of
//! training by the simulated devices; with `clear` by training, too.

use flate2::read::GzDecoder;
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use std::error::Error;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Instant;
use undertone_learn::evaluation::terms::predicted;
use undertone_learn::features::Rows;
use undertone_learn::labels::{Channel, LabelVectors};
use undertone_learn::networks::{
    Architecture, Augmentation, Decay, Image, Loss, NetModel, NetTrainer, Progress, Relabel, Schedule,
    Training, relabel,
};
use undertone_learn::stages::{MultiStage, Staged};
use undertone_learn::{Classifier, Examples, LearnError};
use undertone_privacy::label::{Label, LabelMechanism, LabelSet};
use undertone_privacy::{Epsilon, Randomizer};

const CLASSES: usize = 10;
const DIGIT: Image = Image { height: 28, width: 28, channels: 1 };

/// The elements of an IDX file of bytes, behind its header.
fn idx(path: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut bytes = Vec::new();
    GzDecoder::new(File::open(path).map_err(|error| format!("{}: {error}", path.display()))?)
        .read_to_end(&mut bytes)?;
    let header = 4 + 4 * usize::from(*bytes.get(3).ok_or("an IDX file has a header")?);
    if bytes[2] != 8 || bytes.len() < header {
        return Err(format!("{}: not an IDX file of bytes", path.display()).into());
    }
    Ok(bytes.split_off(header))
}

/// Images and labels of a part.
fn part(folder: &Path, name: &str) -> Result<(Rows, Vec<u32>), Box<dyn Error>> {
    let pixels = idx(&folder.join(format!("{name}-images-idx3-ubyte.gz")))?;
    let labels = idx(&folder.join(format!("{name}-labels-idx1-ubyte.gz")))?;
    let rows = Rows::dense(784, pixels.into_iter().map(|pixel| f32::from(pixel) / 255.0).collect());
    Ok((rows, labels.into_iter().map(u32::from).collect()))
}

fn accuracy(model: &NetModel, (rows, labels): &(Rows, Vec<u32>)) -> f64 {
    let p = model.probabilities(rows);
    let right = p.chunks_exact(CLASSES).zip(labels).filter(|(p, label)| predicted(p) == **label as usize);
    100.0 * right.count() as f64 / labels.len() as f64
}

/// A simulated device for everybody.
struct People {
    labels: Vec<u32>,
    rng: ChaCha12Rng,
}

impl People {
    fn answer(&mut self, person: u64, mechanism: &LabelMechanism) -> Result<LabelSet, LearnError> {
        Ok(mechanism.randomize(&Label(self.labels[person as usize]), &mut self.rng)?)
    }

    /// Everybody's report, by the best mechanism that treats all labels alike.
    fn reports(&mut self, rows: &Rows, epsilon: Epsilon) -> Result<Examples, LearnError> {
        let mechanism = LabelMechanism::best(CLASSES as u32, epsilon)?;
        let channel = Channel::of_mechanism(&mechanism);
        let (mut unbiased, mut likelihood) = (LabelVectors::new(), LabelVectors::new());
        for person in 0..rows.len() as u64 {
            let report = self.answer(person, &mechanism)?;
            channel.push_unbiased(report.members(), &[], &mut unbiased)?;
            channel.push_likelihood(report.members(), &[], &mut likelihood)?;
        }
        Ok(Examples { rows: rows.clone(), unbiased, likelihood, ..Examples::default() })
    }

    fn stages(
        &mut self,
        rows: &Rows,
        epsilon: Epsilon,
        fractions: &[f64],
        trainer: &NetTrainer<'_>,
    ) -> Result<Staged<NetModel>, LearnError> {
        let plan = MultiStage {
            temperature: 0.5,
            warm_start: true,
            filter: true,
            ..MultiStage::as_published(CLASSES as u32, epsilon, fractions)
        };
        let mut devices = |person: u64, mechanism: &LabelMechanism| self.answer(person, mechanism);
        plan.run(std::slice::from_ref(rows), &mut devices, trainer)
    }
}

/// The published training, with larger steps and smaller batches for fewer epochs, and nothing cut out of images.
fn training(epochs: usize, seed: u64, loss: Loss, mixup: Option<f64>) -> Training {
    Training {
        batch: 128,
        schedule: Schedule { peak: 0.05, warm_up: 0.15, decay: Decay::Linear },
        mixup,
        augmentation: Augmentation { shift: 2, flip: true, cutout: 0 },
        loss,
        ..Training::as_published(epochs, seed)
    }
}

fn architecture(name: &str) -> Result<Architecture, Box<dyn Error>> {
    match name.strip_prefix("inception/") {
        Some(narrower) => Ok(Architecture::Inception { image: DIGIT, narrower: narrower.parse()? }),
        None if name == "mlp" => Ok(Architecture::Mlp { inputs: 784, hidden: vec![512, 256] }),
        None if name == "cnn" => Ok(Architecture::SmallCnn { image: DIGIT }),
        None => Err(format!("`{name}` is none of cnn, mlp, inception/N").into()),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, method, epsilon, epochs, seed, rest @ ..] = &arguments[..] else {
        return Err("FOLDER METHOD EPSILON EPOCHS SEED [cnn|mlp|inception/N [PEOPLE]]".into());
    };
    let (epochs, seed): (usize, u64) = (epochs.parse()?, seed.parse()?);
    let epsilon = Epsilon::new(epsilon.parse()?)?;
    let architecture = architecture(rest.first().map_or("cnn", String::as_str))?;
    let folder = Path::new(folder);
    let (mut rows, mut labels) = part(folder, "train")?;
    if let Some(people) = rest.get(1) {
        labels.truncate(people.parse()?);
        rows = Rows::dense(784, rows.dense_block(0..labels.len()).to_vec());
    }
    let test = part(folder, "t10k")?;
    let start = Instant::now();
    let tell = |progress: &Progress| {
        let seconds = start.elapsed().as_secs_f64();
        eprintln!(
            "  epoch {} of {}: loss {:.4}, {seconds:.0} s",
            progress.epoch, progress.epochs, progress.loss
        );
    };
    let trainer = |loss, mixup| NetTrainer {
        progress: Some(&tell),
        ..NetTrainer::new(architecture.clone(), CLASSES, training(epochs, seed, loss, mixup))
    };
    let mut people = People { labels: labels.clone(), rng: ChaCha12Rng::seed_from_u64(1000 + seed) };
    let show = |what: &str, model: &NetModel| {
        println!(
            "{method} {what} ε {} seed {seed}: {:.2} %, {:.0} s",
            epsilon.get(),
            accuracy(model, &test),
            start.elapsed().as_secs_f64()
        );
    };
    let published = |people: &mut People, fractions: &[f64]| -> Result<(), Box<dyn Error>> {
        let trainer = NetTrainer {
            later: Some(training(epochs, seed, Loss::Plain, Some(2.0))),
            ..trainer(Loss::Plain, Some(4.0))
        };
        let staged = people.stages(&rows, epsilon, fractions, &trainer)?;
        for (summary, model) in staged.stages.iter().zip(&staged.models) {
            show(
                &format!(
                    "{} people, {:.2} labels, {} left out",
                    summary.people, summary.mean_labels, summary.left_out
                ),
                model,
            );
        }
        Ok(())
    };
    match method.as_str() {
        "clear" => {
            let mut examples = vec![Examples::certain(rows, labels)];
            show("true labels", &trainer(Loss::Plain, None).fit(&mut examples, None)?);
        }
        "lp1" => published(&mut people, &[1.0])?,
        "lp2" => published(&mut people, &[0.65, 0.35])?,
        "lp3" => published(&mut people, &[0.5, 0.25, 0.25])?,
        "forward" | "again" => {
            let mut examples = vec![people.reports(&rows, epsilon)?];
            let model = trainer(Loss::Forward, None).fit(&mut examples, None)?;
            show("likelihood", &model);
            if method == "again" {
                let mut soft = vec![relabel(&model, &examples[0], Relabel::Posterior)?];
                show("posterior", &trainer(Loss::Soft, None).fit(&mut soft, None)?);
            }
        }
        _ => return Err(format!("`{method}` is none of the methods").into()),
    }
    Ok(())
}
