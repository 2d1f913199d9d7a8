//! Images with private labels, from the files to the accuracy.
//!
//! `cargo run --release -p undertone-represent --example images -- DIRECTORY EPSILONS SEEDS [KINDS] [LANDMARKS] [CACHE]`
//!
//! The directory holds `train-images-idx3-ubyte.gz`, `train-labels-idx1-ubyte.gz` and the same of `t10k`. Labels are randomized, and
//! only the reports are learnt from; true labels are looked at again to count right answers. The representation is made once for all ε
//! and seeds, and kept in the cache file.

use flate2::read::GzDecoder;
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;
use undertone_privacy::label::{Label, LabelMechanism, LabelRandomizer};
use undertone_privacy::{Epsilon, Randomizer, Unbiased};
use undertone_represent::{Coordinates, Kind, Matrix, Recipe, Representation, Sizes, Told};

const CLASSES: usize = 10;

/// The bytes of an IDX file, and its first dimension.
fn idx(path: &Path) -> Result<(Vec<u8>, usize), Box<dyn Error>> {
    let mut bytes = Vec::new();
    GzDecoder::new(File::open(path)?).read_to_end(&mut bytes)?;
    let count = u32::from_be_bytes(bytes[4..8].try_into()?) as usize;
    Ok((bytes.split_off(4 + 4 * usize::from(bytes[3])), count))
}

fn images(path: &Path) -> Result<Matrix, Box<dyn Error>> {
    let (bytes, count) = idx(path)?;
    Ok(Matrix::new(bytes.len() / count, bytes.iter().map(|&byte| f32::from(byte) / 255.0).collect())?)
}

/// CPU seconds of this process on all cores, in hundredths.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

/// Says what a step took.
fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let (start, before) = (Instant::now(), cpu());
    let out = work();
    println!("{what}: {:.1} s, {:.1} CPU s", start.elapsed().as_secs_f64(), cpu() - before);
    out
}

/// A representation and where those who are asked later are in it.
#[derive(Serialize, Deserialize)]
struct Seen {
    representation: Representation,
    others: Matrix,
}

fn seen(kind: Kind, sizes: Sizes, train: &Matrix, test: &Matrix) -> Result<Seen, Box<dyn Error>> {
    let (map, own) = timed("features of those who tell", || {
        Coordinates::fit(kind, train, sizes.graph_coordinates.max(sizes.kernel_coordinates))
    })?;
    let others = timed("features of the others", || map.project(test))?;
    let representation = timed("graph and kernel", || Representation::new(&own, sizes))?;
    Ok(Seen { representation, others })
}

/// The reports of labels, as the matrices that may be learnt from.
fn reports(labels: &[u8], epsilon: f64, seed: u64) -> Result<(Matrix, Matrix), Box<dyn Error>> {
    let mechanism = LabelMechanism::best(CLASSES as u32, Epsilon::new(epsilon)?)?;
    let mut rng = ChaCha12Rng::seed_from_u64(seed * 1_000_000 + (epsilon * 1000.0) as u64);
    let mut unbiased = Vec::with_capacity(labels.len() * CLASSES);
    let mut likelihood = Vec::with_capacity(labels.len() * CLASSES);
    for &label in labels {
        let report = mechanism.randomize(&Label(label.into()), &mut rng)?;
        unbiased.extend(mechanism.estimate(&report).iter().map(|&a| a as f32));
        let logs = (0..CLASSES as u32).map(|k| mechanism.ln_probability(&report, k));
        let logs: Vec<f64> = logs.collect();
        let least = logs.iter().copied().fold(f64::INFINITY, f64::min);
        likelihood.extend(logs.iter().map(|log| (log - least).exp() as f32));
    }
    Ok((Matrix::new(CLASSES, unbiased)?, Matrix::new(CLASSES, likelihood)?))
}

fn accuracy(probabilities: &Matrix, labels: &[u8]) -> f64 {
    let right = |(i, &label): (usize, &u8)| {
        let row = probabilities.row(i);
        (0..CLASSES).max_by(|&a, &b| row[a].total_cmp(&row[b])) == Some(usize::from(label))
    };
    100.0 * labels.iter().enumerate().filter(|&pair| right(pair)).count() as f64 / labels.len() as f64
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, epsilons, seeds, rest @ ..] = arguments.as_slice() else {
        return Err("DIRECTORY EPSILONS SEEDS [KINDS] [LANDMARKS] [CACHE]".into());
    };
    let directory = PathBuf::from(directory);
    let file = |name: &str| directory.join(format!("{name}-ubyte.gz"));
    let (train, test) = (images(&file("train-images-idx3"))?, images(&file("t10k-images-idx3"))?);
    let (labels, truth) = (idx(&file("train-labels-idx1"))?.0, idx(&file("t10k-labels-idx1"))?.0);
    let kinds = rest.first().map_or("strokes", String::as_str);
    let landmarks = rest.get(1).map_or(Ok(7000), |text| text.parse())?;
    let mut all = Vec::new();
    for kind in kinds.split(',') {
        let (name, sizes) = match kind {
            "strokes" => (Kind::Strokes, Sizes { landmarks, ..Sizes::default() }),
            "patches" => {
                let wide = Sizes { graph_coordinates: 200, kernel_coordinates: 600, landmarks };
                (Kind::Patches, wide)
            }
            "columns" => (Kind::Columns, Sizes { landmarks, ..Sizes::default() }),
            _ => return Err(format!("{kind} is no kind of features").into()),
        };
        let cache = rest.get(2).map(|cache| PathBuf::from(format!("{cache}.{kind}")));
        if let Some(bytes) = cache.as_ref().and_then(|cache| std::fs::read(cache).ok()) {
            all.push(postcard::from_bytes::<Seen>(&bytes)?);
            continue;
        }
        let seen = seen(name, sizes, &train, &test)?;
        if let Some(cache) = cache {
            std::fs::write(cache, postcard::to_stdvec(&seen)?)?;
        }
        all.push(seen);
    }
    let representations: Vec<&Representation> = all.iter().map(|seen| &seen.representation).collect();
    let others: Vec<&Matrix> = all.iter().map(|seen| &seen.others).collect();
    let recipe = timed("smoothers", || Recipe::new(&representations))?;
    for epsilon in epsilons.split(',') {
        let mut found = Vec::new();
        for seed in seeds.split(',') {
            let (start, before) = (Instant::now(), cpu());
            let (unbiased, likelihood) = reports(&labels, epsilon.parse()?, seed.parse()?)?;
            let told = Told { unbiased: &unbiased, likelihood: &likelihood };
            let learnt = recipe.learn(told)?;
            for step in learnt.steps() {
                println!("    {step}");
            }
            let probabilities = learnt.probabilities(&others)?;
            found.push(accuracy(&probabilities, &truth));
            println!(
                "ε {epsilon} seed {seed}: {:.2} %, own {:.2} %, likelihood {:.6}, {:.1} s, {:.1} CPU s",
                found[found.len() - 1],
                accuracy(learnt.beliefs(), &labels),
                learnt.likelihood(),
                start.elapsed().as_secs_f64(),
                cpu() - before
            );
        }
        println!(
            "ε {epsilon}: mean {:.3} % of {} seeds",
            found.iter().sum::<f64>() / found.len() as f64,
            found.len()
        );
    }
    Ok(())
}
