//! What cells and neighbours cost, beside sorting the rows' keys, reading the rows, and looking at every distance.
//!
//! `cargo bench -p undertone-learn --bench nonparametric`, one thread; the number of rows in millions may be given.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use std::hint::black_box;
use std::time::Instant;
use undertone_learn::features::Rows;
use undertone_learn::nonparametric::cells::{Axes, CellKind, Partition};
use undertone_learn::nonparametric::neighbours::NeighbourModel;
use undertone_learn::nonparametric::{CellModel, NumberReports};
use undertone_privacy::number::Bounds;

const ROUNDS: usize = 3;
/// People in a cell
const MASS: f64 = 100.0;

/// The least of several timings, in seconds, and what came of the last.
fn seconds<T>(mut work: impl FnMut() -> T) -> (f64, T) {
    let mut best = f64::INFINITY;
    let mut found = None;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        found = Some(black_box(work()));
        best = best.min(start.elapsed().as_secs_f64());
    }
    (best, found.expect("a round was run"))
}

fn uniform(count: usize, width: usize, rng: &mut ChaCha8Rng) -> Rows {
    Rows::dense(width, (0..count * width).map(|_| (rng.next_u32() >> 8) as f32 / (1 << 24) as f32).collect())
}

fn numbers(count: usize, rng: &mut ChaCha8Rng) -> NumberReports {
    let labels: Vec<f64> = (0..count).map(|_| f64::from(rng.next_u32() >> 31)).collect();
    let bounds = Bounds::new(0.0, 1.0).expect("bounds");
    NumberReports::certain(bounds, &labels).expect("numbers").0
}

fn cells(count: usize, rng: &mut ChaCha8Rng) {
    let rows = uniform(count, 5, rng);
    let reports = numbers(count, rng);
    // As many bits as the cubes have: m = 8 along each of five axes
    let keys: Vec<u64> = (0..count).map(|_| rng.next_u64() >> 49).collect();
    let wide: Vec<u64> = (0..count).map(|_| rng.next_u64()).collect();
    let (sort_narrow, _) = seconds(|| {
        let mut keys = keys.clone();
        keys.sort_unstable();
        keys
    });
    let (sort, _) = seconds(|| {
        let mut keys = wide.clone();
        keys.sort_unstable();
        keys
    });
    println!("{count} rows, 5 features: sorting 64-bit keys {sort:.3} s, keys of 15 bits {sort_narrow:.3} s");
    for kind in [CellKind::Cubes, CellKind::EqualMass] {
        let (build, partition) = seconds(|| {
            let axes = Axes::fit(&rows).expect("axes");
            Partition::of_mass(kind, axes, &rows, MASS).expect("cells")
        });
        let nodes = partition.nodes();
        println!("{kind:?}: {nodes} nodes built in {build:.3} s, {:.2} times the sort", build / sort);
        let (fit, model) =
            seconds(|| CellModel::fit(partition.clone(), &rows, reports.targets()).expect("model"));
        println!("  averaged in {fit:.3} s, {:.2} times the sort", fit / sort);
        let (predict, _) = seconds(|| model.predict(&rows).expect("predictions"));
        println!("  {:.2} million predictions a second", count as f64 / predict / 1e6);
    }
}

fn neighbours(count: usize, rng: &mut ChaCha8Rng) {
    for dimension in [1, 2, 5, 10, 16] {
        let rows = uniform(count, dimension, rng);
        let reports = numbers(count, rng);
        for k in [64, 4096] {
            let k = k.min(count);
            let model = NeighbourModel::new(&rows, reports.targets(), k).expect("model");
            let queries = match dimension {
                1..=2 => 2000,
                5 => 500,
                _ => 50,
            };
            let asked = uniform(queries, dimension, rng);
            let (time, _) = seconds(|| model.predict(&asked).expect("predictions"));
            // Every distance of a few queries, without keeping any
            let few = 5;
            let (scan, _) = seconds(|| {
                let mut least = f32::INFINITY;
                for query in asked.iter().take(few) {
                    for row in rows.iter() {
                        let apart = row.dense.iter().zip(query.dense).map(|(x, q)| (x - q) * (x - q));
                        least = least.min(apart.sum::<f32>());
                    }
                }
                least
            });
            let (each, all) = (time / queries as f64, scan / few as f64);
            println!(
                "{count} people, d = {dimension}, k = {k}: {:.0} queries a second, {:.4} of looking at everybody",
                1.0 / each,
                each / all
            );
        }
    }
}

fn main() {
    let millions = std::env::args().find_map(|word| word.parse::<f64>().ok());
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    cells((millions.unwrap_or(10.0) * 1e6) as usize, &mut rng);
    neighbours((millions.unwrap_or(1.0).min(1.0) * 1e6) as usize, &mut rng);
}
