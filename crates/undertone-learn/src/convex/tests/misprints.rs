//! What the papers print, shown to be wrong.

use super::*;
use undertone_privacy::accounting::delta_of_gaussian;
use undertone_privacy::label::{Label, ReportColumn};
use undertone_privacy::{Delta, Mu};

#[test]
fn the_mean_printed_by_chua_et_al_differs_by_the_distance_gone_over_n() {
    let problem = HardInstance::new(4, 0.5).unwrap();
    let sgd = LabelSgd::subset(4, epsilon(1.0)).unwrap();
    let (channel, mut rng, n) = (sgd.channel(), ChaCha12Rng::seed_from_u64(2), 50u32);
    let mut learner = sgd.learner(&problem, HardInstance::FEASIBLE, u64::from(n)).unwrap();
    let mut printed = [0.0; 4];
    let mut vectors = LabelVectors::new();
    for _ in 0..n {
        vectors.clear();
        let report = sgd.mechanism().randomize(&problem.draw(&mut rng), &mut rng).unwrap();
        channel.push_unbiased(report.members(), &[], &mut vectors).unwrap();
        learner.observe(&(), vectors.get(0)).unwrap();
        printed.iter_mut().zip(learner.point()).for_each(|(mean, w)| *mean += w / f64::from(n));
    }
    let mean = learner.mean().unwrap();
    for ((printed, mean), last) in printed.iter().zip(mean).zip(learner.point()) {
        // w_0 = 0
        assert!((printed - mean - last / f64::from(n)).abs() < 1e-12);
    }
    assert_eq!(learner.reports(), 50);
}

#[test]
fn the_printed_scale_of_gaussian_noise_breaks_its_promise() {
    // The classical scale at (1, 10^-5) for a sensitivity of L, where it is 2L
    let sigma = (2.0 * (1.25f64 / 1e-5).ln()).sqrt();
    let delta = delta_of_gaussian(Mu::new(2.0 / sigma).unwrap(), epsilon(1.0));
    assert!((1.6e-3..1.8e-3).contains(&delta), "{delta}");
    let ours = NormalSgd::new(epsilon(1.0), Delta::new(1e-5).unwrap()).unwrap();
    assert!(delta_of_gaussian(ours.mu(), epsilon(1.0)) <= 1e-5);
}

#[test]
fn the_printed_variance_of_the_bits_is_that_of_the_wrong_indicator() {
    // E[(1{k ∉ S} - q)²] is printed where E[(1{k ∈ S} - q)²] = q(1-q) is used
    let mechanism = LabelKind::BitsPaper.mechanism(4, epsilon(1.0)).unwrap();
    let (_, q) = mechanism.inclusion();
    let (mut printed, mut right) = (0.0, 0.0);
    for bits in 0..16u32 {
        let set = LabelSet::new((0..4).filter(|k| bits >> k & 1 == 1).collect());
        let p = mechanism.ln_probability(&set, 0).exp();
        let member = f64::from(u8::from(set.contains(3)));
        printed += p * (1.0 - member - q).powi(2);
        right += p * (member - q).powi(2);
    }
    assert!((printed - 0.410).abs() < 5e-4 && (right - 0.197).abs() < 5e-4, "{printed}, {right}");
    assert!((right - q * (1.0 - q)).abs() < 1e-12);
}

#[test]
fn the_printed_deviation_of_the_debiased_loss_is_exceeded_more_often_than_not() {
    // K = k = 4, ε = 1/2, n = 500, β = 5 %, and one f with loss zero at label 0 and one elsewhere; labels even
    let (n, beta, runs) = (500u64, 0.05f64, 2000u32);
    let debiased = DebiasedLoss::new(4, epsilon(0.5)).unwrap();
    let mechanism = LabelKind::Rr.mechanism(4, epsilon(0.5)).unwrap();
    let losses = [0.0, 1.0, 1.0, 1.0];
    let mut rng = ChaCha12Rng::seed_from_u64(17);
    let printed = ((2.0 / beta).ln() / (2.0 * n as f64)).sqrt();
    let corrected = debiased.deviation(n, beta, 0.0).unwrap();
    let (mut above_printed, mut above_corrected) = (0, 0);
    for _ in 0..runs {
        let labels: Vec<Label> = (0..n).map(|_| Label((rng.next_u64() >> 62) as u32)).collect();
        let mut column = ReportColumn::new();
        mechanism.randomize_column(&labels, &mut column, &mut rng).unwrap();
        let sum: f64 = column.members().iter().map(|&r| debiased.value(losses[r as usize], 3.0)).sum();
        let distance = (sum / n as f64 - 0.75).abs();
        above_printed += u32::from(distance > printed);
        above_corrected += u32::from(distance > corrected);
    }
    assert!(above_printed > runs / 2, "{above_printed} of {runs}");
    // what the theorem promises of the corrected one: at most β
    assert!(f64::from(above_corrected) <= beta * f64::from(runs), "{above_corrected} of {runs}");
}
