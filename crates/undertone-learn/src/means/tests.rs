//! Answers of every mechanism, added up.

#![expect(clippy::float_cmp, reason = "the floats that are compared are exact")]

use super::*;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use undertone_privacy::number::{Bounds, GridNumber, Laplace, NumberRandomizer, OneBit};
use undertone_privacy::public::{GenProt, RejectionBit};
use undertone_privacy::statistic::Allocation;
use undertone_privacy::{Epsilon, Unbiased};

fn unit() -> Bounds {
    Bounds::new(0.0, 1.0).unwrap()
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

#[test]
fn three_answers_worked_by_hand() {
    let mut tally = Tally::new(2, 1.0).unwrap();
    for answer in [1.0, 2.0, 6.0] {
        tally.observe(1, answer).unwrap();
    }
    // Q = 4 + 1 + 9
    let spread = tally.means_as_spread(4.0).get(1).unwrap();
    assert_eq!(spread, Mean { value: 3.0, variance: 18.0 / 9.0, answers: 3 });
    assert_eq!(tally.means_at_worst(6.0).get(1).unwrap().variance, 2.0);
    assert_eq!(tally.means_at_worst(6.0).get(0), None);
    let placed = tally.means_at_worst(6.0).on_ranges(|_| (10.0, 12.0)).get(1).unwrap();
    assert_eq!((placed.value, placed.variance), (16.0, 8.0));
    // What can only have one value is known.
    let known = tally.means_at_worst(6.0).on_ranges(|_| (5.0, 5.0));
    assert_eq!(known.get(0), Some(Mean { value: 5.0, variance: 0.0, answers: 0 }));
}

#[test]
fn an_empty_cell_is_missing_from_a_sum_and_not_zero() {
    let mut tally = Tally::new(3, 1.0).unwrap();
    tally.observe(0, 0.5).unwrap();
    tally.observe(2, 0.25).unwrap();
    let sum = tally.means_at_worst(1.0).combine([2.0, -3.0, 4.0]);
    assert_eq!(sum, Combined { value: 2.0, variance: 4.0 + 16.0, unanswered: 3.0 });
}

#[test]
fn neither_order_nor_place_changes_a_bit() {
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    let answers: Vec<(u32, f64)> =
        (0..3000).map(|_| (rng.next_u32() % 7, f64::from(rng.next_u32()) / 3e8 - 7.1)).collect();
    let tally = |answers: &mut dyn Iterator<Item = &(u32, f64)>| {
        let mut tally = Tally::new(7, 0.37).unwrap();
        answers.for_each(|&(j, answer)| tally.observe(j, answer).unwrap());
        tally
    };
    let together = tally(&mut answers.iter());
    let mut parts = tally(&mut answers[..1000].iter().rev());
    parts.merge(&tally(&mut answers[1000..].iter().rev())).unwrap();
    assert_eq!(together, parts);
    assert_eq!(together.answers(), 3000);
    let bytes = postcard::to_stdvec(&parts).unwrap();
    assert_eq!(postcard::from_bytes::<Tally>(&bytes).unwrap(), together);
    assert!(parts.merge(&Tally::new(8, 0.37).unwrap()).is_err());
    assert!(parts.merge(&Tally::new(7, 0.38).unwrap()).is_err());
}

#[test]
fn what_is_no_answer_is_refused() {
    let mut tally = Tally::new(2, 1.0).unwrap();
    assert!(tally.observe(2, 0.0).is_err() && tally.observe(0, f64::NAN).is_err());
    assert_eq!(tally.answers(), 0);
    assert!(Tally::new(2, 0.0).is_err() && Tally::new(2, f64::INFINITY).is_err());
    // However far, an answer does not break the sums.
    for answer in [f64::INFINITY, f64::MAX, f64::NEG_INFINITY] {
        tally.observe(1, answer).unwrap();
    }
    assert!(tally.means_as_spread(1.0).get(1).unwrap().variance.is_finite());
}

/// Four statistics of people whose values are 0.2 or 0.9 with chances that depend on the statistic, asked unevenly.
fn unbiased_with_the_stated_variance(mechanism: &impl Unbiased<Input = GridNumber>, seed: u64) {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    let allocation = Allocation::new(&[1, 2, 3, 4]).unwrap();
    let worst = worst_answer_variance(mechanism, unit()).unwrap();
    let mut tally = Tally::new(4, worst.sqrt()).unwrap();
    let places = [0.2, 0.9].map(|value| unit().place(value).unwrap());
    let chance = |j: u32| 0.15 + 0.2 * f64::from(j);
    for _ in 0..60_000 {
        let j = allocation.draw(&mut rng);
        let high = f64::from(rng.next_u32()) / 4_294_967_296.0 < chance(j);
        let report = mechanism.randomize(&places[usize::from(high)], &mut rng).unwrap();
        tally.observe_report(j, mechanism, &report).unwrap();
    }
    for j in 0..4 {
        let q = chance(j);
        let truth = 0.2 + 0.7 * q;
        let noise = (1.0 - q) * mechanism.variance(&places[0]) + q * mechanism.variance(&places[1]);
        // V + S²
        let one = noise + q * (1.0 - q) * 0.49;
        let mean = tally.means_as_spread(worst).get(j as usize).unwrap();
        let variance = one / mean.answers as f64;
        assert!((mean.value - truth).abs() < 5.0 * variance.sqrt(), "{j}: {mean:?} for {truth}");
        // The fourth moment of Laplace noise is 6V²: the variance of a variance is at most 5V²/n, and some for spread
        let off = (8.0 / mean.answers as f64).sqrt();
        assert!((mean.variance / variance - 1.0).abs() < 5.0 * off, "{j}: {mean:?}, not {variance}");
        assert!(one <= worst * (1.0 + 1e-9), "{one} above {worst}");
        let at_worst = tally.means_at_worst(worst).get(j as usize).unwrap();
        assert_eq!(at_worst.value, mean.value);
        assert!((at_worst.variance * mean.answers as f64 / worst - 1.0).abs() < 1e-12);
    }
}

#[test]
fn laplace_noise_feeds_the_tally() {
    unbiased_with_the_stated_variance(&Laplace::new(unit(), epsilon(1.0)).unwrap(), 2);
}

#[test]
fn the_direct_bit_feeds_the_tally() {
    unbiased_with_the_stated_variance(&OneBit::new(unit(), epsilon(1.0)).unwrap(), 3);
}

#[test]
fn the_corrected_rejection_bit_feeds_the_tally() {
    unbiased_with_the_stated_variance(&RejectionBit::new(unit(), epsilon(1.0)).unwrap(), 4);
}

#[test]
fn public_strings_feed_the_tally() {
    unbiased_with_the_stated_variance(&GenProt::new(unit(), 8, epsilon(1.0)).unwrap(), 5);
}

#[test]
fn the_worst_variances_of_one_answer_are_the_published_ones_and_the_direct_bit_beats_every_other_bit() {
    // ε; direct bit, Laplace, corrected rejection bit, public strings at inner ε/2 (beyond ln 2 there are none)
    let table = [
        (0.25, 16.2, 32.0, 64.8, Some(128.0)),
        (0.5, 4.17, 8.0, 16.8, Some(32.0)),
        (1.0, 1.17, 2.0, 4.82, Some(8.0)),
        (2.0, 0.431, 0.5, 2.07, None),
        (4.0, 0.269, 0.125, 2.57, None),
    ];
    let near = |ours: f64, published: f64| (ours / published - 1.0).abs() < 4e-3;
    for (value, bit, laplace, rejection, strings) in table {
        let e = epsilon(value);
        let direct = OneBit::new(unit(), e).unwrap();
        assert!(near(direct.worst_variance(), bit));
        assert!(near(Laplace::new(unit(), e).unwrap().worst_variance(), laplace));
        let ours = RejectionBit::new(unit(), e).unwrap().variance(&unit().highest());
        assert!(near(ours, rejection) && ours > direct.worst_variance());
        if let Some(published) = strings {
            // Sixty-four strings: the inner ε is ε/2 to a few thousandths.
            let strings = GenProt::new(unit(), 64, e).unwrap();
            assert!((strings.inner_epsilon() / value - 0.5).abs() < 5e-3);
            let noise = strings.variance(&unit().lowest());
            assert!((noise / published - 1.0).abs() < 0.02, "ε = {value}: {noise}");
        }
        // As printed, with factor 1/2 and an inner ε' = ln(2 - e^-ε) that keeps ε after all: V = v² + 4/ε'²
        let inner = (2.0 - (-value).exp()).ln();
        assert!(1.0 + 4.0 / (inner * inner) > ours);
        let total = worst_answer_variance(&direct, unit()).unwrap();
        assert!((total / direct.worst_variance() - 1.0).abs() < 1e-9);
    }
}

#[test]
fn one_statistic_each_costs_d_times_less_than_all_statistics_at_epsilon_over_d() {
    let d = 16.0;
    let n = 1e5;
    let one_each = Laplace::new(unit(), epsilon(1.0)).unwrap().worst_variance() * d / n;
    let all = Laplace::new(unit(), epsilon(1.0 / d)).unwrap().worst_variance() / n;
    // 2D/n against 2D²/n
    assert!((all / one_each / d - 1.0).abs() < 1e-3);
    assert!((all * n / (2.0 * d * d) - 1.0).abs() < 1e-3);
}

#[test]
fn the_printed_normalisation_of_the_rejection_bit_is_off_by_half_of_n() {
    // z̃ = bit·y with P(bit) = exp(ε(|y| - |y - v|))/2 and y of density ε/2·e^-ε|y|: its mean is v/2, not v/n
    let (e, v, width) = (0.5f64, 0.7f64, 0.002);
    let (mut mean, mut square) = (0.0, 0.0);
    for i in -60_000..=60_000 {
        let y = f64::from(i) * width;
        let density = 0.5 * e * (-e * y.abs()).exp();
        let one = 0.5 * (e * (y.abs() - (y - v).abs())).exp();
        mean += width * density * one * y;
        square += width * density * one * y * y;
    }
    assert!((mean - v / 2.0).abs() < 1e-5, "{mean}");
    let variance = 4.0 * (square - mean * mean);
    assert!((variance - (v * v + 4.0 / (e * e))).abs() < 1e-3, "{variance}");
}
