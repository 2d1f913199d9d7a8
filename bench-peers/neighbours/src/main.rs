//! Reads people and queries, answers with the mean label of the k nearest, and says how long that took.
//!
//! The file has N, Q, d as 32-bit integers, then N·d coordinates, N labels in [0, 1] and Q·d coordinates as 32-bit floats.
//! `undertone-bench-neighbours FILE K ROUNDS` prints seconds to build, least seconds for all queries, and the mean answer.

use std::time::Instant;
use undertone_learn::features::Rows;
use undertone_learn::nonparametric::NumberReports;
use undertone_learn::nonparametric::neighbours::NeighbourModel;
use undertone_privacy::number::Bounds;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().collect();
    let [_, file, k, rounds] = &words[..] else { return Err("FILE K ROUNDS".into()) };
    let bytes = std::fs::read(file)?;
    let words: Vec<[u8; 4]> =
        bytes.chunks_exact(4).map(|word| [word[0], word[1], word[2], word[3]]).collect();
    let head: Vec<usize> = words[..3].iter().map(|&word| u32::from_le_bytes(word) as usize).collect();
    let (n, q, d) = (head[0], head[1], head[2]);
    let floats: Vec<f32> = words[3..].iter().map(|&word| f32::from_le_bytes(word)).collect();
    let rows = Rows::dense(d, floats[..n * d].to_vec());
    let labels: Vec<f64> = floats[n * d..n * (d + 1)].iter().map(|&label| f64::from(label)).collect();
    let queries = Rows::dense(d, floats[n * (d + 1)..n * (d + 1) + q * d].to_vec());
    let reports = NumberReports::certain(Bounds::new(0.0, 1.0)?, &labels)?.0;
    let start = Instant::now();
    let model = NeighbourModel::new(&rows, reports.targets(), k.parse()?)?;
    let build = start.elapsed().as_secs_f64();
    let (mut best, mut mean) = (f64::INFINITY, 0.0);
    for _ in 0..rounds.parse()? {
        let start = Instant::now();
        let found = model.predict(&queries)?;
        best = best.min(start.elapsed().as_secs_f64());
        mean = found.iter().copied().map(f64::from).sum::<f64>() / q as f64;
    }
    println!("{build} {best} {mean}");
    Ok(())
}
