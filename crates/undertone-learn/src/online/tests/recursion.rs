//! The recursion itself: by hand, in batches, through snapshots.

use super::super::*;
use super::Normals;
use undertone_privacy::gradient::{Huber, Logistic, RecordLoss, RecordModel, Weight, Weighting};

fn model(loss: RecordLoss, covariates: usize, bound: f64) -> RecordModel {
    RecordModel::new(loss, Weighting::new(Weight::Square, 2f64.sqrt()).unwrap(), covariates, bound).unwrap()
}

fn logistic(bound: f64) -> RecordModel {
    model(RecordLoss::Logistic(Logistic), 2, bound)
}

fn options(alpha: f64) -> OnlineOptions {
    OnlineOptions::published(Steps::new(0.5, alpha, 0).unwrap()).unwrap()
}

fn run(model: RecordModel, options: OnlineOptions, gradients: &[[f64; 2]]) -> OnlineSgd {
    let mut sgd = OnlineSgd::new(model, options, vec![0.0; 2]).unwrap();
    for gradient in gradients {
        sgd.observe(Estimate { gradient, tier: 0 }).unwrap();
    }
    sgd
}

fn near(found: &[f64], expected: &[f64]) -> bool {
    found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12)
}

fn noise(count: usize) -> Vec<[f64; 2]> {
    let mut normals = Normals::new(11);
    (0..count).map(|_| [normals.next(), normals.next()]).collect()
}

#[test]
fn three_reports_move_theta_as_worked_out_by_hand() {
    // η_i = 0.5/√i: (0.5, 0), then + 0.35355·(0, 2), then a step of 0.28868·(-6, 0) that the box stops at 2
    let sgd = run(logistic(2.0), options(0.5), &[[-1.0, 0.0], [0.0, -2.0], [-6.0, 0.0]]);
    assert!(near(sgd.point(), &[2.0, 0.5f64.sqrt()]));
    assert!(near(sgd.mean().unwrap(), &[(0.5 + 0.5 + 2.0) / 3.0, 2.0 * 0.5f64.sqrt() / 3.0]));
    assert_eq!(sgd.reports(), 3);
}

#[test]
fn a_scale_stays_above_its_least_however_loud_the_noise() {
    let huber = Huber::new(Huber::CUT, 0.1, 20.0).unwrap();
    let model = model(RecordLoss::Huber(huber), 1, 10.0);
    let mut sgd = OnlineSgd::new(model, options(0.5), model.start()).unwrap();
    for gradient in noise(1000) {
        sgd.observe(Estimate { gradient: &[100.0 * gradient[0], 100.0 * gradient[1]], tier: 0 }).unwrap();
        assert!(model.check_point(sgd.point()).is_ok() && model.check_point(sgd.mean().unwrap()).is_ok());
    }
    // Gradients that say nothing but "out" end on the border, and there is no interval.
    let mut sgd = OnlineSgd::new(model, options(0.6), model.start()).unwrap();
    (0..2000).for_each(|_| sgd.observe(Estimate { gradient: &[-1.0, 0.0], tier: 0 }).unwrap());
    let refused = sgd.intervals(Level::new(0.95).unwrap(), None).unwrap_err();
    assert!(matches!(refused.doubts[..], [Doubt::OnBorder { .. }, Doubt::CurvatureUnknown]), "{refused}");
}

#[test]
fn no_mean_counts_the_burn_in() {
    let gradients = noise(50);
    let late = run(logistic(10.0), OnlineOptions { burn_in: 40, ..options(0.6) }, &gradients);
    let points: Vec<Vec<f64>> =
        (41..=50).map(|i| run(logistic(10.0), options(0.6), &gradients[..i]).point().to_vec()).collect();
    let mean = |j: usize| points.iter().map(|point| point[j]).sum::<f64>() / 10.0;
    assert!(near(late.mean().unwrap(), &[mean(0), mean(1)]));
    let middles: Vec<f64> = late.undoubted(Level::NINETY_FIVE).iter().map(|of| of.estimate).collect();
    assert!(near(&middles, &[mean(0), mean(1)]));
    let early = run(logistic(10.0), OnlineOptions { burn_in: 40, ..options(0.6) }, &gradients[..40]);
    assert!(early.mean().is_none() && early.interval_iterates() == Some(0));
}

#[test]
fn reports_of_a_batch_keep_their_own_index() {
    let gradients = noise(9);
    let mut batch = OnlineSgd::new(logistic(10.0), options(0.6), vec![0.0; 2]).unwrap();
    let estimates: Vec<Estimate<'_>> =
        gradients.iter().map(|gradient| Estimate { gradient, tier: 0 }).collect();
    estimates.chunks(3).for_each(|three| batch.observe_batch(three).unwrap());
    // Inside the box the order of additions does not matter: the last iterate is that of one after the other ...
    let single = run(logistic(10.0), options(0.6), &gradients);
    assert!(near(batch.point(), single.point()) && batch.reports() == 9);
    // ... and the mean counts the end of each batch three times.
    let end = |i: usize| run(logistic(10.0), options(0.6), &gradients[..i]).point().to_vec();
    let mean = |j: usize| (end(3)[j] + end(6)[j] + end(9)[j]) / 3.0;
    assert!(near(batch.mean().unwrap(), &[mean(0), mean(1)]));
}

#[test]
fn a_tier_with_more_noise_moves_theta_less() {
    let budgets = [4.0, 1.0].map(|noise| Budget { share: 0.5, noise: noise - 0.5 });
    let tiers = Tiers::by_budget(0.5, &budgets).unwrap();
    let mut sgd =
        OnlineSgd::new(logistic(10.0), OnlineOptions { tiers, ..options(0.0) }, vec![0.0; 2]).unwrap();
    sgd.observe(Estimate { gradient: &[-1.0, 0.0], tier: 0 }).unwrap();
    sgd.observe(Estimate { gradient: &[0.0, -1.0], tier: 1 }).unwrap();
    // 1/4 and 1, normalised to the mean one: 0.4 and 1.6
    assert!(near(sgd.point(), &[0.2, 0.8]));
    assert_eq!(sgd.most_stale(0.1), 6);
}

#[test]
fn neither_snapshots_nor_refused_reports_change_what_is_learnt() {
    let gradients = noise(3000);
    let options = OnlineOptions { burn_in: 100, decay: 3.0, tiers: Tiers::alike(2).unwrap(), ..options(0.6) };
    let mut whole = OnlineSgd::new(logistic(3.0), options.clone(), vec![0.0; 2]).unwrap();
    let mut broken = whole.clone();
    for (i, gradient) in gradients.iter().enumerate() {
        let estimate = Estimate { gradient, tier: i % 2 };
        whole.observe(estimate).unwrap();
        for (gradient, tier) in [(&[f64::NAN, 0.0][..], 0), (&[1.0], 0), (&[1.0, 1.0], 2)] {
            assert!(broken.observe_batch(&[estimate, Estimate { gradient, tier }]).is_err());
        }
        broken.observe(estimate).unwrap();
        if i % 97 == 0 {
            broken = OnlineSgd::restore(logistic(3.0), &options, &broken.snapshot().unwrap()).unwrap();
        }
    }
    assert_eq!(whole.snapshot().unwrap(), broken.snapshot().unwrap());
    assert_eq!(whole, broken);
}

#[test]
fn a_snapshot_of_something_else_is_refused() {
    let sgd = run(logistic(3.0), options(0.6), &noise(50));
    let snapshot = sgd.snapshot().unwrap();
    let restore = |model, options: &OnlineOptions| OnlineSgd::restore(model, options, &snapshot);
    assert!(restore(logistic(3.0), &options(0.6)).is_ok());
    assert!(restore(logistic(3.0), &options(0.7)).is_err());
    assert!(restore(logistic(0.1), &options(0.6)).is_err());
    assert!(restore(model(RecordLoss::Logistic(Logistic), 3, 3.0), &options(0.6)).is_err());
    assert!(OnlineSgd::restore(logistic(3.0), &options(0.6), &snapshot[..20]).is_err());
    assert!(OnlineSgd::new(logistic(3.0), options(0.6), vec![0.0; 3]).is_err());
    assert!(OnlineSgd::new(logistic(3.0), options(0.6), vec![f64::NAN; 2]).is_err());
}

#[test]
fn there_is_no_interval_where_it_would_not_cover() {
    let level = Level::new(0.95).unwrap();
    let doubts = |sgd: &OnlineSgd, curvature| sgd.intervals(level, curvature).unwrap_err().doubts;
    let half = run(logistic(10.0), options(0.5), &noise(2000));
    assert_eq!(doubts(&half, Some(1.0)), [Doubt::Exponent { alpha: 0.5 }]);
    let short = run(logistic(10.0), options(0.6), &noise(999));
    assert_eq!(doubts(&short, Some(10.0)), [Doubt::TooFew { iterates: 999 }]);
    let long = run(logistic(10.0), options(0.6), &noise(2000));
    assert!(matches!(
        doubts(&long, Some(0.01))[..],
        [Doubt::NotConverged { .. }, Doubt::FewCorrelationTimes { .. }, Doubt::Biased { .. }]
    ));
    let given = long.intervals(level, Some(0.3)).unwrap();
    assert!(matches!(given.doubts[..], [Doubt::FewCorrelationTimes { .. }, ..]), "{:?}", given.doubts);
    assert!(long.intervals(level, Some(10.0)).unwrap().doubts.is_empty());
    assert_eq!(long.intervals(level, None).unwrap().doubts, [Doubt::CurvatureUnknown]);
}

#[test]
fn intervals_begin_anew_when_the_mix_of_budgets_changes() {
    let options = OnlineOptions { tiers: Tiers::alike(2).unwrap(), ..options(0.6) };
    let mut sgd = OnlineSgd::new(logistic(10.0), options.clone(), vec![0.0; 2]).unwrap();
    let mut refused = 0;
    for (i, gradient) in noise(12_000).iter().enumerate() {
        let tier = if i < 3000 { usize::from(i % 4 == 0) } else { usize::from(i % 4 != 0) };
        sgd.observe(Estimate { gradient, tier }).unwrap();
        if i % 50 != 49 {
            continue;
        }
        if let Err(Refused { doubts }) = sgd.intervals(Level::NINETY_FIVE, Some(10.0)) {
            refused += u32::from(i >= 1000);
            let first = doubts.first();
            assert!(
                i < 1000 || matches!(first, Some(Doubt::MixChanged | Doubt::TooFew { .. })),
                "{doubts:?}"
            );
        }
    }
    // Found within a block or two of 128 reports, and then a thousand have to come.
    assert!((20..28).contains(&refused), "{refused}");
    let iterates = sgd.interval_iterates().unwrap();
    assert!((8600..9000).contains(&iterates) && sgd.reports() == 12_000, "{iterates}");
    assert!(sgd.intervals(Level::NINETY_FIVE, Some(10.0)).unwrap().doubts.is_empty());
}

#[test]
fn steps_are_judged_by_the_tiers_that_came() {
    // Half of the people should have been in each tier, with factors of 0.4 and 1.6; all of them came from the first.
    let budgets = [4.0, 1.0].map(|noise| Budget { share: 0.5, noise: noise - 0.5 });
    let tiers = Tiers::by_budget(0.5, &budgets).unwrap();
    let mut sgd =
        OnlineSgd::new(logistic(10.0), OnlineOptions { tiers, ..options(0.6) }, vec![0.0; 2]).unwrap();
    for gradient in noise(2000) {
        sgd.observe(Estimate { gradient: &gradient, tier: 0 }).unwrap();
    }
    let steps = sgd.options().steps;
    let declared = steps.transient_exponent(2000, 1.0);
    // An m with which the declared steps are enough and those that were made are not
    let m = 7.0 / declared;
    let doubts = sgd.doubts(Some(m));
    let exponent = doubts.iter().find_map(|doubt| match doubt {
        Doubt::NotConverged { exponent } => Some(*exponent),
        _ => None,
    });
    assert!((exponent.unwrap() / (0.4 * 7.0) - 1.0).abs() < 0.05, "{doubts:?}");
    let times = doubts.iter().find_map(|doubt| match doubt {
        Doubt::FewCorrelationTimes { times } => Some(*times),
        _ => None,
    });
    assert!((times.unwrap() / (0.4 * 2000.0 * steps.at(2000) * m) - 1.0).abs() < 1e-9);
    assert!(doubts.contains(&Doubt::MixUnlikeShares) && !Doubt::MixUnlikeShares.refuses());
}

#[test]
fn a_linear_function_is_refused_where_intervals_are() {
    let level = Level::NINETY_FIVE;
    let functional = |sgd: &OnlineSgd, m| sgd.functional(&[1.0, -1.0], level, Some(m));
    for (count, alpha, m) in [(999, 0.6, 10.0), (2000, 0.5, 10.0), (2000, 0.6, 0.01)] {
        let sgd = run(logistic(10.0), options(alpha), &noise(count));
        assert!(sgd.intervals(level, Some(m)).is_err());
        assert!(matches!(functional(&sgd, m), Err(crate::LearnError::NoInterval(_))));
    }
    let long = run(logistic(10.0), options(0.6), &noise(2000));
    let given = functional(&long, 10.0).unwrap();
    let [one, other] = long.undoubted(level)[..] else { panic!("two coordinates") };
    assert!((given.coordinates[0].estimate - (one.estimate - other.estimate)).abs() < 1e-12);
    assert!(given.coordinates.len() == 1 && given.doubts.is_empty());
    assert!(matches!(long.functional(&[1.0], level, None), Err(crate::LearnError::Parameter { .. })));
}

#[test]
fn clipped_gradients_have_no_interval() {
    let weighting = Weighting::new(Weight::Clip, 1.0).unwrap();
    let model = RecordModel::new(RecordLoss::Logistic(Logistic), weighting, 2, 10.0).unwrap();
    let sgd = run(model, options(0.6), &noise(2000));
    let refused = sgd.intervals(Level::NINETY_FIVE, Some(10.0)).unwrap_err();
    assert_eq!(refused.doubts, [Doubt::Clipped]);
    assert!(refused.to_string().contains("clipped"));
}

#[test]
fn gradients_that_overflow_both_ways_are_refused_and_change_nothing() {
    let steep = OnlineOptions::published(Steps::new(1e6, 0.6, 0).unwrap()).unwrap();
    let mut sgd = run(logistic(10.0), steep, &noise(3));
    let before = sgd.snapshot().unwrap();
    let estimates = [1e308, -1e308].map(|g| [g, 0.0]);
    let estimates = estimates.each_ref().map(|gradient| Estimate { gradient, tier: 0 });
    assert!(sgd.observe_batch(&estimates).is_err());
    assert_eq!(sgd.snapshot().unwrap(), before);
    sgd.observe(estimates[0]).unwrap();
    assert!((sgd.point()[0] + 10.0).abs() < 1e-12);
}
