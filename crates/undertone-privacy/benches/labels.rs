//! What randomizing a column of labels costs, in words of the same generator drawn in the same run.
//!
//! `cargo bench -p undertone-privacy --bench labels`

use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use std::hint::black_box;
use std::time::Instant;
use undertone_privacy::Epsilon;
use undertone_privacy::label::{Label, LabelKind, LabelMechanism, LabelRandomizer, ReportColumn};

const LABELS: usize = 200_000;
const ROUNDS: usize = 15;

/// The least of several timings of `work`, in nanoseconds for each of `items`.
fn nanoseconds(items: usize, mut work: impl FnMut()) -> f64 {
    let time = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e9 / items as f64
    };
    (0..ROUNDS).map(|_| time(&mut work)).fold(f64::INFINITY, f64::min)
}

fn words(rng: &mut ChaCha12Rng) -> f64 {
    nanoseconds(LABELS, || {
        let sum = (0..LABELS).fold(0u64, |sum, _| sum.wrapping_add(rng.next_u64()));
        black_box(sum);
    })
}

fn column(mechanism: &LabelMechanism, labels: usize, rng: &mut ChaCha12Rng) -> f64 {
    let truth: Vec<Label> =
        (0..labels).map(|_| Label((rng.next_u64() % u64::from(mechanism.labels())) as u32)).collect();
    let mut reports = ReportColumn::new();
    nanoseconds(labels, || {
        reports.clear();
        mechanism.randomize_column(&truth, &mut reports, rng).expect("every label is below K");
        black_box(&reports);
    })
}

/// The naive way: a word for every bit.
fn word_for_every_bit(mechanism: &LabelMechanism, labels: usize, rng: &mut ChaCha12Rng) -> f64 {
    let (k, (p, q)) = (mechanism.labels(), mechanism.inclusion());
    let threshold = |p: f64| (p * 2f64.powi(64)) as u64;
    let (p, q) = (threshold(p), threshold(q));
    let mut members = Vec::new();
    nanoseconds(labels, || {
        members.clear();
        for i in 0..labels as u32 {
            let truth = i % k;
            for label in 0..k {
                if rng.next_u64() < if label == truth { p } else { q } {
                    members.push(label);
                }
            }
        }
        black_box(&members);
    })
}

fn main() {
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    println!("Generator: ChaCha12. Times are the least of {ROUNDS} rounds, one core.\n");
    println!("{:<32}{:>10}{:>10}{:>12}{:>10}", "mechanism", "ns/label", "ns/word", "words", "ratio");
    for (kind, k, epsilon) in [
        (LabelKind::Rr, 2, 1.0),
        (LabelKind::Rr, 10, 1.0),
        (LabelKind::Rr, 1000, 1.0),
        (LabelKind::Subset, 10, 1.0),
        (LabelKind::Subset, 26, 1.0),
        (LabelKind::Subset, 100, 1.0),
        (LabelKind::Subset, 1000, 1.0),
        (LabelKind::Subset, 1000, 4.0),
        (LabelKind::Subset, 100_000, 4.0),
        (LabelKind::Subset, 100_000, 7.2),
        (LabelKind::Subset, 100_000, 8.1),
    ] {
        let mechanism = kind.mechanism(k, Epsilon::new(epsilon).expect("positive")).expect("valid");
        let size = mechanism.set_size().unwrap_or(1);
        // Randomized response against one word for each label, subset selection against d + 1
        let own_words = if kind == LabelKind::Rr { 1 } else { size + 1 };
        let labels = (2_000_000 / size as usize).clamp(500, LABELS);
        let (word, ours) = (words(&mut rng), column(&mechanism, labels, &mut rng));
        let name = format!("{} K={k} ε={epsilon} d={size}", kind.name());
        println!(
            "{name:<32}{ours:>10.2}{word:>10.2}{own_words:>12}{:>10.2}",
            ours / (word * f64::from(own_words))
        );
    }
    println!("\n{:<32}{:>14}{:>18}{:>10}", "bits", "ns/label", "ns a word a bit", "faster");
    for (kind, k, epsilon) in [
        (LabelKind::BitsPaper, 1000, 4.0),
        (LabelKind::Bits, 1000, 4.0),
        (LabelKind::Oue, 10, 1.0),
        (LabelKind::Bits, 100_000, 8.0),
    ] {
        let mechanism = kind.mechanism(k, Epsilon::new(epsilon).expect("positive")).expect("valid");
        let labels = 20_000_000 / k as usize / 2;
        let (ours, naive) = (
            column(&mechanism, labels.min(LABELS), &mut rng),
            word_for_every_bit(&mechanism, labels.min(2000), &mut rng),
        );
        let name = format!("{} K={k} ε={epsilon}", kind.name());
        println!("{name:<32}{ours:>14.1}{naive:>18.1}{:>9.1}×", naive / ours);
    }
}
