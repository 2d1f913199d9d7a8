//! How many images a second a network is trained on, beside the products of matrices that it consists of.
//!
//! `cargo bench -p undertone-nets --bench training`, with `cnn`, `mlp` or `inception` for one network only. Rates are per second of
//! processor time, so that they hold on a busy machine; the yardstick is a product of two matrices of 1024×1024 in the same run. Beside the rate of
//! the small network stands what each sort of layer takes of it, forward and back.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use std::cell::Cell;
use std::hint::black_box;
use std::time::Instant;
use undertone_nets::layer::{Convolution, Dense, Image, MaxPool, Mode, Operation, Relu};
use undertone_nets::network::Tape;
use undertone_nets::{Architecture, Augmentation, Dataset, Hooks, Network, Progress, Training, fit};

const DIGIT: Image = Image { height: 28, width: 28, channels: 1 };
/// Images in a second of processor time that PyTorch 2.15 with oneDNN was trained on, on another machine: the small network, and 784-256-10
const PYTORCH: [f64; 2] = [513.0, 70_000.0];

/// Seconds of processor time of this process, from the kernel's count in hundredths.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name in brackets: user and system time are the 12th and 13th field
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |field: usize| fields.get(field).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

/// Floating-point operations, in 10^9, of a second of processor time.
fn yardstick() -> f64 {
    let n = 1024;
    let (a, b) = (Mat::from_fn(n, n, |i, j| (i + j) as f32), Mat::from_fn(n, n, |i, j| (i * j % 7) as f32));
    let mut out = Mat::<f32>::zeros(n, n);
    // The clock ticks in hundredths: some 60 products are a second and more.
    let (start, rounds) = (cpu_seconds(), 60);
    for _ in 0..rounds {
        matmul(black_box(out.as_mut()), Accum::Replace, a.as_ref(), b.as_ref(), 1.0, Par::Seq);
    }
    f64::from(rounds) * 2.0 * (n as f64).powi(3) / (cpu_seconds() - start) / 1e9
}

/// Trains on images of noise; prints and returns the rate. `flops` is what a step on one image needs, `peer` the rate of PyTorch.
fn time(name: &str, architecture: &Architecture, images: usize, flops: f64, peer: Option<f64>) -> f64 {
    let mut word = 1u32;
    let mut noise = || {
        word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (word >> 8) as f32 / (1 << 24) as f32
    };
    let mut data = Dataset::new(784, 10);
    for image in 0..images {
        let mut label = [0.0; 10];
        label[image % 10] = 1.0;
        let write = |pixels: &mut [f32]| pixels.fill_with(&mut noise);
        data.push(write, &label, false).expect("noise is finite");
    }
    let training = Training {
        epochs: 3,
        batch: 256,
        mixup: None,
        augmentation: Augmentation::default(),
        ..Training::as_published(3, 1)
    };
    // The least of two epochs, the first one being to warm up
    let (since, best) =
        (Cell::new((Instant::now(), cpu_seconds())), Cell::new((f64::INFINITY, f64::INFINITY)));
    let tell = |progress: &Progress| {
        let (now, cpu) = (Instant::now(), cpu_seconds());
        let (before, cpu_before) = since.replace((now, cpu));
        if progress.epoch > 1 {
            let (wall, least) = best.get();
            best.set((wall.min((now - before).as_secs_f64()), least.min(cpu - cpu_before)));
        }
    };
    let hooks = Hooks { progress: Some(&tell), ..Hooks::default() };
    black_box(fit(architecture, &training, data, None, hooks).expect("noise is learnt, too"));
    let (wall, cpu) = best.get();
    let rate = images as f64 / cpu;
    let peer = peer.map_or(String::new(), |peer| format!(", {:.2} of PyTorch's {peer:.0}", rate / peer));
    println!(
        "{name}: {rate:.0} images per CPU second{peer}, {:.0} per second, {:.0} GFLOP per CPU second",
        images as f64 / wall,
        rate * flops / 1e9
    );
    rate
}

/// The layers of the small network for digits: the sort of each, and how many numbers it takes.
fn small_cnn() -> Vec<(&'static str, usize, Operation)> {
    let first = Convolution::new(DIGIT, 32, 3, 1, 0);
    let second = Convolution::new(first.output(), 64, 3, 1, 0);
    let pool = MaxPool { image: second.output() };
    let [wide, filtered, pooled] = [first.output(), second.output(), pool.output()].map(|image| image.len());
    vec![
        ("convolution", DIGIT.len(), first.into()),
        ("relu", wide, Relu { width: wide }.into()),
        ("convolution", wide, second.into()),
        ("max pool", filtered, pool.into()),
        ("relu", pooled, Relu { width: pooled }.into()),
        ("dense", pooled, Dense { inputs: pooled, outputs: 128 }.into()),
        ("relu", 128, Relu { width: 128 }.into()),
        ("dense", 128, Dense { inputs: 128, outputs: 10 }.into()),
    ]
}

/// Seconds for an image that layers take forward and back, one behind the other.
fn pass_seconds(inputs: usize, layers: &[&Operation]) -> [f64; 2] {
    // As many as a core takes at a time of a batch of 256; the least of rounds so short that a busy machine leaves some of them alone
    let (images, rounds) = (64, 101);
    let (mut network, mut node) = Network::new(inputs);
    for &layer in layers {
        node = network.layer(layer.clone(), node).expect("layers of the small network fit together");
    }
    let (weights, mut tape) = (network.initial(1), Tape::new(&network, images));
    tape.input().iter_mut().enumerate().for_each(|(at, x)| *x = (at % 7) as f32 / 7.0);
    let (mut gradient, mut least) = (vec![0.0; network.weights()], [f64::INFINITY; 2]);
    for _ in 0..rounds {
        let start = Instant::now();
        network.forward(&weights, &mut tape, Mode::Training);
        let turn = Instant::now();
        network.backward(&weights, &mut tape, &mut gradient);
        least = [least[0].min((turn - start).as_secs_f64()), least[1].min(turn.elapsed().as_secs_f64())];
    }
    least.map(|seconds| seconds / images as f64)
}

/// Prints what each sort of layer of the small network takes of a step on an image, of which there are `rate` in a second of processor time. The
/// rest is images, losses, steps and memory.
fn profile(rate: f64) {
    let (mut sorts, mut left): (Vec<(&str, [f64; 2])>, f64) = (Vec::new(), 1.0);
    for (place, (sort, inputs, layer)) in small_cnn().iter().enumerate() {
        // Nobody asks for the slope of what comes in first: all other layers stand behind one that takes little, and what that takes is taken off.
        let before = Operation::from(Relu { width: *inputs });
        let seconds = if place == 0 {
            pass_seconds(*inputs, &[layer])
        } else {
            let (both, alone) = (pass_seconds(*inputs, &[&before, layer]), pass_seconds(*inputs, &[&before]));
            [both[0] - alone[0], both[1] - alone[1]]
        };
        let own = seconds.map(|seconds| seconds * rate);
        left -= own.iter().sum::<f64>();
        match sorts.iter_mut().find(|(name, _)| name == sort) {
            Some((_, share)) => share.iter_mut().zip(own).for_each(|(share, own)| *share += own),
            None => sorts.push((sort, own)),
        }
    }
    for (sort, [forward, back]) in sorts {
        println!("  {sort:<12} {:>5.1} % forward, {:>5.1} % back", 100.0 * forward, 100.0 * back);
    }
    println!("  {:<12} {:>5.1} %", "all else", 100.0 * left);
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let wants = |name: &str| wanted.is_empty() || wanted.iter().any(|word| word == name);
    println!("product of matrices, 1024: {:.0} GFLOP per CPU second", yardstick());
    if wants("cnn") {
        let rate = time("small CNN", &Architecture::SmallCnn { image: DIGIT }, 2048, 72e6, Some(PYTORCH[0]));
        profile(rate);
    }
    if wants("mlp") {
        time(
            "784-256-10",
            &Architecture::Mlp { inputs: 784, hidden: vec![256] },
            60_000,
            1.2e6,
            Some(PYTORCH[1]),
        );
    }
    if wants("inception") {
        time(
            "Inception, filters / 4",
            &Architecture::Inception { image: DIGIT, narrower: 4 },
            1024,
            86e6,
            None,
        );
        time(
            "Inception as published",
            &Architecture::Inception { image: DIGIT, narrower: 1 },
            256,
            1.34e9,
            None,
        );
    }
}
