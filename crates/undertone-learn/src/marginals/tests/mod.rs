//! Simulated people, from answers to tables.

mod accuracy;
mod exact;
mod refused;

use super::{Design, Marginals, Method, Tally};
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use undertone_privacy::statistic::{Answering, Schema};
use undertone_privacy::{Epsilon, Randomizer};

const METHODS: [Method; 5] = [
    Method::Chebyshev { error: 0.05 },
    Method::Hadamard,
    Method::Direct(Answering::Published),
    Method::Direct(Answering::Best),
    Method::Views,
];

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn design(method: Method, levels: &[u32], people: u64, order: usize) -> Design {
    Design::new(method, Schema::new(levels.to_vec()).unwrap(), people, epsilon(1.0), order).unwrap()
}

/// The answers of these records.
fn collect(design: &Design, records: &[Vec<u32>], seed: u64) -> Tally {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    let mut tally = Tally::new(design).unwrap();
    for record in records {
        let answer = design.questionnaire().randomize(record, &mut rng).unwrap();
        tally.observe(answer.question, answer.labels.members()).unwrap();
    }
    tally
}

/// People of a chain: an attribute is the one before it modulo its levels with probability `like`, otherwise any level.
fn chain(levels: &[u32], like: f64, people: usize, seed: u64) -> Vec<Vec<u32>> {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    let mut unit = move || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let mut record = || {
        let mut record: Vec<u32> = Vec::with_capacity(levels.len());
        for (j, &count) in levels.iter().enumerate() {
            let any = (unit() * f64::from(count)) as u32;
            let same = j > 0 && unit() < like;
            record.push(if same { record[j - 1] % count } else { any });
        }
        record
    };
    (0..people).map(|_| record()).collect()
}

/// The true table of such a chain over `set`, by summing over all records.
fn chain_table(levels: &[u32], like: f64, set: &[usize]) -> Vec<f64> {
    let cells = set.iter().map(|&a| levels[a] as usize).product();
    let mut table = vec![0.0; cells];
    let records: u32 = levels.iter().product();
    for code in 0..records {
        let (mut rest, mut record) = (code, Vec::new());
        for &count in levels {
            record.push(rest % count);
            rest /= count;
        }
        let step = |j: usize| {
            let even = 1.0 / f64::from(levels[j]);
            let same = j > 0 && record[j] == record[j - 1] % levels[j];
            let like = if j == 0 { 0.0 } else { like };
            (1.0 - like) * even + if same { like } else { 0.0 }
        };
        let p: f64 = (0..levels.len()).map(step).product();
        let cell = set.iter().fold(0, |cell, &a| cell * levels[a] + record[a]);
        table[cell as usize] += p;
    }
    table
}

fn shares(marginals: &Marginals, set: &[usize]) -> Vec<f64> {
    marginals.marginal(set).unwrap().cells.iter().map(|cell| cell.share).collect()
}

fn total_variation(a: &[f64], b: &[f64]) -> f64 {
    0.5 * a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f64>()
}

/// The mean of some values and its standard error.
fn summary(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}
