//! What two chains show that one does not: a mean of iterates beside the optimum.

use super::super::*;
use super::simulation::People;
use super::{Normals, Sample, sample};
use crate::online::laws::{Design, DesignKind};
use rayon::prelude::*;
use undertone_privacy::gradient::{Logistic, RecordLoss, RecordModel, Weight, Weighting};

/// Of θ = (β_0, β_1, β_2, σ)
const SCALE: usize = 3;

fn design() -> Design {
    Design::new(DesignKind::Linear, Weight::Linear, 2).unwrap()
}

fn options() -> OnlineOptions {
    OnlineOptions::published(Steps::new(2.0, 0.6, 1000).unwrap()).unwrap()
}

fn chains(mu: f64, people: u64, seed: u64) -> TwoChains {
    let mut stream = People::new(design(), seed);
    let mut chains = TwoChains::new(design().model(), options(), stream.start()).unwrap();
    let mut gradient = stream.start();
    for _ in 0..people {
        stream.next(mu);
        stream.report(chains.point(), &mut gradient);
        chains.observe(Estimate { gradient: &gradient, tier: 0 }).unwrap();
    }
    chains
}

fn compare(chains: &TwoChains) -> Vec<Comparison> {
    chains.compare(Level::NINETY_FIVE, None).unwrap()
}

#[test]
fn reports_go_to_one_chain_and_the_other_in_turn() {
    let chains = chains(1.0, 2001, 1);
    assert_eq!((chains.whole().reports(), chains.half().reports()), (1001, 1000));
    assert_eq!(chains.point(), chains.half().point());
    let [whole, half] = [chains.whole(), chains.half()].map(|chain| chain.options().steps.eta());
    assert!((whole - 2.0 * half).abs() < 1e-15);
}

#[test]
fn a_snapshot_of_both_gives_both_back() {
    let chains = chains(1.0, 1501, 4);
    let restore =
        |options: &OnlineOptions| TwoChains::restore(design().model(), options, &chains.snapshot().unwrap());
    assert_eq!(restore(&options()).unwrap(), chains);
    assert!(restore(&OnlineOptions { burn_in: 1, ..options() }).is_err());
}

#[test]
fn a_difference_and_a_correction_worked_out_by_hand() {
    let chains = chains(30.0, 4000, 2);
    let of = |chain: &OnlineSgd| chain.intervals(Level::NINETY_FIVE, None).unwrap().coordinates[0];
    let (whole, half) = (of(chains.whole()), of(chains.half()));
    let Comparison { difference, corrected } = compare(&chains)[0];
    assert!((difference.estimate - (whole.estimate - half.estimate)).abs() < 1e-12);
    assert!((corrected.estimate - (2.0 * half.estimate - whole.estimate)).abs() < 1e-12);
    let square = |interval: Interval| interval.half_width.powi(2);
    assert!((square(difference) - square(whole) - square(half)).abs() < 1e-12);
    assert!((square(corrected) - square(whole) - 4.0 * square(half)).abs() < 1e-12);
}

#[test]
fn chains_that_are_too_short_or_have_no_intervals_are_not_compared() {
    assert!(chains(1.0, 1500, 3).compare(Level::NINETY_FIVE, None).is_err());
    let options = OnlineOptions::published(Steps::new(2.0, 0.5, 0).unwrap()).unwrap();
    assert!(TwoChains::new(design().model(), options, design().model().start()).is_err());
}

#[test]
fn under_much_noise_the_scale_is_biased_and_the_correction_takes_the_bias_away() {
    // At μ = 1 σ is 0.17 too large after 50,000 reports of each chain, as much as half of its interval; β is not.
    let runs: Vec<TwoChains> = (0..96u64).into_par_iter().map(|seed| chains(1.0, 100_000, seed)).collect();
    let mean = |of: &dyn Fn(&TwoChains) -> f64| sample(&runs.iter().map(of).collect::<Vec<f64>>());
    let optimum = design().optimum();
    let biased = mean(&|chains| chains.whole().mean().unwrap()[SCALE] - optimum[SCALE]);
    assert!(biased.mean > 5.0 * biased.error, "{} ± {}", biased.mean, biased.error);
    let slope = mean(&|chains| chains.whole().mean().unwrap()[1] - optimum[1]);
    assert!(slope.mean.abs() < 4.0 * slope.error, "{} ± {}", slope.mean, slope.error);
    let difference = mean(&|chains| compare(chains)[SCALE].difference.estimate);
    assert!(difference.mean > 4.0 * difference.error, "{} ± {}", difference.mean, difference.error);
    let corrected = mean(&|chains| compare(chains)[SCALE].corrected.estimate - optimum[SCALE]);
    assert!(corrected.mean.abs() < 3.0 * corrected.error, "{} ± {}", corrected.mean, corrected.error);
    let covers = |chains: &TwoChains| {
        let hits = compare(chains)
            .iter()
            .zip(&optimum)
            .filter(|(both, truth)| both.corrected.covers(**truth))
            .count();
        hits as f64 / optimum.len() as f64
    };
    let Sample { mean: coverage, error } = mean(&covers);
    assert!(coverage + 3.0 * error > 0.95, "{coverage} ± {error}");
}

/// Two chains on the gradient of a function of one number, whose optimum is zero, with normal noise.
fn on_a_line(gradient: fn(f64) -> f64, seed: u64) -> Comparison {
    let weighting = Weighting::new(Weight::Square, 1.0).unwrap();
    let model = RecordModel::new(RecordLoss::Logistic(Logistic), weighting, 1, 1e3).unwrap();
    // η_i between 0.14 and 0.1
    let steps = Steps::new(35.0, 0.51, 50_000).unwrap();
    let mut chains = TwoChains::new(model, OnlineOptions::published(steps).unwrap(), vec![0.0]).unwrap();
    let mut normals = Normals::new(seed);
    for _ in 0..100_000 {
        let g = gradient(chains.point()[0]) + 3.0 * normals.next();
        chains.observe(Estimate { gradient: &[g], tier: 0 }).unwrap();
    }
    compare(&chains)[0]
}

fn flags(gradient: fn(f64) -> f64, runs: u64) -> Sample {
    let flag = |seed| f64::from(u8::from(on_a_line(gradient, seed).is_biased()));
    sample(&(0..runs).into_par_iter().map(flag).collect::<Vec<f64>>())
}

#[test]
fn a_bias_beyond_the_half_width_is_flagged() {
    // e^θ - θ: E e^θ = 1 where iterates are stationary, so that their mean is about -Σ/2, Σ = η·9/2: a fourth, where a half
    // width is a twenty-fifth
    let Sample { mean, error } = flags(f64::exp_m1, 60);
    assert!(mean > 0.9, "{mean} ± {error}");
}

#[test]
fn a_quadratic_is_flagged_no_more_often_than_its_level_says() {
    let Sample { mean, error } = flags(|theta| theta, 200);
    assert!(mean - 3.0 * error <= 0.05, "{mean} ± {error}");
}
