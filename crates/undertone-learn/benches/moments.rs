//! What adding up reports of moments costs, beside reading from memory the vectors that they stand for.
//!
//! `cargo bench -p undertone-learn --bench moments`
//!
//! A report is 17 bytes: the seed of a codebook and an index. The server makes the codeword again, p or p(p+1)/2 normal
//! variables, and adds it. The yardstick is the same sums over vectors that lie in memory, far beyond the caches.

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use std::hint::black_box;
use std::time::Instant;
use undertone_learn::moments::MomentSums;
use undertone_privacy::statistic::{Moment, MomentRelease, MomentReport, RecordMoments, Response};
use undertone_privacy::vector::VectorRandomizer;
use undertone_privacy::{Epsilon, Randomizer};

const COVARIATES: usize = 20;
const REPORTS: usize = 16_384;
/// Short ones, so that a busy machine leaves some of them alone.
const ROUNDS: usize = 31;
/// Floats of the yardstick: 64 MB.
const FLOATS: usize = 1 << 23;

/// The least of several timings, in seconds.
fn seconds(mut work: impl FnMut()) -> f64 {
    let mut round = || {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..ROUNDS).map(|_| round()).fold(f64::INFINITY, f64::min)
}

/// Seconds for each report of `reports`.
fn aggregate(release: MomentRelease, reports: &[MomentReport]) -> f64 {
    let time = seconds(|| {
        let mut sums = MomentSums::new(release);
        for report in reports {
            sums.observe(report).expect("plausible");
        }
        black_box(&sums);
    });
    time / reports.len() as f64
}

/// The same on all cores.
fn on_all_cores(release: MomentRelease, reports: &[MomentReport]) -> f64 {
    let time = seconds(|| {
        black_box(MomentSums::of(release, reports).expect("plausible"));
    });
    time / reports.len() as f64
}

/// Seconds for each vector of `dimension` floats that is read from memory and added.
fn stream(memory: &[f64], dimension: usize) -> f64 {
    let mut sum = vec![0.0; dimension];
    let time = seconds(|| {
        for vector in memory.chunks_exact(dimension) {
            sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += x);
        }
        black_box(&sum);
    });
    time / (memory.len() / dimension) as f64
}

fn main() {
    let records = RecordMoments::new(COVARIATES, Response::Sign).expect("few covariates");
    let release = MomentRelease::new(records, Epsilon::new(1.0).expect("positive"), 0.4).expect("valid");
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    let x: Vec<f64> = (0..COVARIATES).map(|j| (j as f64).sin() / 5.0).collect();
    let input = records.of(&x, 1.0).expect("as many covariates");
    let mut report = || release.randomize(&input, &mut rng).expect("in the ball");
    let reports: Vec<_> = (0..REPORTS / 64).map(|_| report()).collect();
    let device = seconds(|| {
        for _ in 0..10 {
            black_box(report());
        }
    }) / 10.0;
    // The same reports many times over: what is decoded does not depend on what was decoded before.
    let reports: Vec<_> = reports.iter().copied().cycle().take(REPORTS).collect();
    let memory = vec![1.0; FLOATS];

    println!(
        "p = {COVARIATES}, share of second moments 0.4; the least of {ROUNDS} rounds; memory is read by one core\n"
    );
    println!("{:<20}{:>12}{:>12}{:>16}{:>10}", "reports", "floats", "ns", "memory, ns", "ratio");
    let line = |name: &str, floats: f64, ours: f64, memory: f64| {
        println!("{name:<20}{floats:>12.0}{:>12.0}{:>16.0}{:>10.1}", ours * 1e9, memory * 1e9, ours / memory);
    };
    let mut mixed = 0.0;
    for (name, moment) in [("first moments", Moment::First), ("second moments", Moment::Second)] {
        let told: Vec<_> = reports.iter().copied().filter(|report| report.moment == moment).collect();
        let dimension = release.codebook(moment).ball().dimension();
        let yardstick = stream(&memory, dimension);
        mixed += release.probability(moment) * yardstick;
        line(name, dimension as f64, aggregate(release, &told), yardstick);
    }
    let floats = COVARIATES as f64 * (0.6 + 0.4 * (COVARIATES + 1) as f64 / 2.0);
    line("both, as they come", floats, aggregate(release, &reports), mixed);
    line("both, all cores", floats, on_all_cores(release, &reports), mixed);
    println!("\na report costs its device {:.1} µs", device * 1e6);
}
