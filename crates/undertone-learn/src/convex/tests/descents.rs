//! Excess risk of whole descents, beside enumeration and theory.

use super::*;
use crate::labels::LabelVector;
use rand_core::CryptoRng;
use undertone_privacy::label::{Label, ReportColumn};

/// One descent on the hard instance over reports of real devices.
fn hard_run(problem: HardInstance, sgd: &LabelSgd, n: u64, rng: &mut impl CryptoRng) -> f64 {
    let mut learner = sgd.learner(&problem, HardInstance::FEASIBLE, n).unwrap();
    let labels: Vec<Label> = (0..n).map(|_| problem.draw(rng)).collect();
    let (mut column, channel, mut vectors) = (ReportColumn::new(), sgd.channel(), LabelVectors::new());
    sgd.mechanism().randomize_column(&labels, &mut column, rng).unwrap();
    for report in column.iter() {
        vectors.clear();
        channel.push_unbiased(report, &[], &mut vectors).unwrap();
        learner.observe(&(), vectors.get(0)).unwrap();
    }
    problem.excess(&learner.mean().unwrap())
}

/// The expected excess risk when `left` more people report.
fn expected_excess(
    all: &[(f64, LabelVectors)],
    learner: &ProjectedSgd<'_, HardInstance>,
    left: u64,
    problem: HardInstance,
) -> f64 {
    if left == 0 {
        return problem.excess(&learner.mean().unwrap());
    }
    let branch = |(p, a): &(f64, LabelVectors)| {
        let mut learner = learner.clone();
        learner.observe(&(), a.get(0)).unwrap();
        p * expected_excess(all, &learner, left - 1, problem)
    };
    all.iter().map(branch).sum()
}

/// The expected excess risk on the hard instance, over all sequences of n reports.
fn exact_hard_excess(problem: HardInstance, sgd: &LabelSgd, n: u64) -> f64 {
    // P(S) = Σ_y P(y)·P(S | y)
    let mut all: Vec<(f64, LabelVectors)> = Vec::new();
    for truth in 0..problem.labels() {
        for (place, (p, vectors)) in reports(sgd.mechanism(), truth).into_iter().enumerate() {
            let p = p * problem.probability(truth);
            if truth == 0 { all.push((p, vectors)) } else { all[place].0 += p }
        }
    }
    expected_excess(&all, &sgd.learner(&problem, HardInstance::FEASIBLE, n).unwrap(), n, problem)
}

#[test]
fn descents_have_the_excess_risk_that_enumerating_all_reports_gives() {
    for (labels, alpha, n, value) in [(2, 0.6, 9, 1.0), (4, 0.5, 4, 2.0), (4, 0.3, 4, 0.5)] {
        let problem = HardInstance::new(labels, alpha).unwrap();
        for sgd in [
            LabelSgd::lp_rr(labels, epsilon(value)),
            LabelSgd::subset(labels, epsilon(value)),
            LabelSgd::algorithm_1(labels, epsilon(value)),
        ] {
            let sgd = sgd.unwrap();
            let exact = exact_hard_excess(problem, &sgd, n);
            assert!(exact <= sgd.risk_bound(1.0, problem.lipschitz(), n));
            let mut rng = ChaCha12Rng::seed_from_u64(9);
            let runs: Vec<f64> = (0..5000).map(|_| hard_run(problem, &sgd, n, &mut rng)).collect();
            let Sample { mean, error } = sample(&runs);
            assert!((mean - exact).abs() < 5.0 * error, "{sgd:?}: {mean} ± {error} for {exact}");
        }
    }
}

#[test]
fn without_a_border_the_mean_point_of_a_linear_loss_is_known_in_closed_form() {
    // w_t = -η·Σĝ, so the mean of w_0 … w_{n-1} has the expectation η·(n-1)/2·(α/2)·b
    let (problem, n, eta) = (HardInstance::new(6, 0.4).unwrap(), 200, 0.01);
    let expected = 0.2 * (1.0 - eta * 199.0 / 2.0 * 0.2);
    for mechanism in mechanisms(6, 1.0).into_iter().filter(|mechanism| mechanism.support().is_none()) {
        let sgd = LabelSgd::new(mechanism);
        let (channel, mut rng) = (sgd.channel(), ChaCha12Rng::seed_from_u64(11));
        let run = |_| {
            let mut learner =
                ProjectedSgd::new(&problem, Feasible::ball(1e9).unwrap(), vec![0.0; 6], Step::Constant(eta))
                    .unwrap();
            let mut vectors = LabelVectors::new();
            for _ in 0..n {
                vectors.clear();
                let report = sgd.mechanism().randomize(&problem.draw(&mut rng), &mut rng).unwrap();
                channel.push_unbiased(report.members(), &[], &mut vectors).unwrap();
                learner.observe(&(), vectors.get(0)).unwrap();
            }
            problem.excess(&learner.mean().unwrap())
        };
        let Sample { mean, error } = sample(&(0..400).map(run).collect::<Vec<_>>());
        assert!((mean - expected).abs() < 5.0 * error, "{sgd:?}: {mean} ± {error} for {expected}");
        // the noise along b alone: Var = (α/2)²·η²·Var⟨ĝ, b⟩·Σ_t ((n-t)/n)², t = 1 … n-1
        let along = along_best(&problem, sgd.mechanism());
        let weights: f64 = (1..n).map(|t| (f64::from(n - t) / f64::from(n)).powi(2)).sum();
        let variance = 0.04 * eta * eta * along * weights;
        // a sample variance of 400 nearly normal values has the relative error √(2/399)
        assert!((error * error * 400.0 / variance - 1.0).abs() < 5.0 * (2.0f64 / 399.0).sqrt(), "{sgd:?}");
    }
}

/// Var⟨ĝ, b⟩ over people and reports.
fn along_best(problem: &HardInstance, mechanism: &LabelMechanism) -> f64 {
    let root = f64::from(problem.labels()).sqrt();
    let (mut mean, mut square) = (0.0, 0.0);
    for truth in 0..problem.labels() {
        for (p, vectors) in reports(mechanism, truth) {
            let mut gradient = vec![0.0; problem.dimension()];
            problem.add_debiased_gradient(&[], &(), vectors.get(0), &mut gradient);
            let along: f64 = gradient.chunks_exact(2).map(|pair| pair[0] - pair[1]).sum::<f64>() / root;
            let p = p * problem.probability(truth);
            mean += p * along;
            square += p * along * along;
        }
    }
    square - mean * mean
}

fn softmax_runs(problem: &KnownSoftmax, sgd: &LabelSgd, step: Option<Step>, n: u64, runs: u64) -> Sample {
    let channel = sgd.channel();
    let run = |seed| {
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        let (feasible, loss) = (problem.feasible(), problem.loss());
        let start = feasible.centre(loss.dimension());
        let step = step.unwrap_or_else(|| sgd.exact_step(feasible.reach(&start), loss.lipschitz(), n));
        let mut learner = ProjectedSgd::new(loss, feasible, start, step).unwrap();
        let mut vectors = LabelVectors::new();
        for _ in 0..n {
            let (kind, label) = problem.draw(&mut rng);
            vectors.clear();
            let report = sgd.mechanism().randomize(&label, &mut rng).unwrap();
            channel.push_unbiased(report.members(), &[], &mut vectors).unwrap();
            learner.observe(problem.row(kind), vectors.get(0)).unwrap();
        }
        problem.excess(&learner.mean().unwrap())
    };
    sample(&(0..runs).map(run).collect::<Vec<_>>())
}

#[test]
fn on_the_known_softmax_every_named_algorithm_stays_below_its_bound_and_subsets_beat_the_published_bits() {
    let (problem, n) = (KnownSoftmax::new().unwrap(), 4000);
    let reach = problem.feasible().reach(&[0.0; 15]);
    for value in [1.0, 3.0] {
        let [subset, bits, rr] = [LabelSgd::subset, LabelSgd::algorithm_1, LabelSgd::lp_rr].map(|new| {
            let sgd = new(5, epsilon(value)).unwrap();
            let runs = softmax_runs(&problem, &sgd, None, n, 200);
            let bound = sgd.risk_bound(reach, problem.loss().lipschitz(), n);
            assert!(runs.mean + 5.0 * runs.error < bound, "{sgd:?}: {} ± {}", runs.mean, runs.error);
            runs
        });
        let error = (subset.error.powi(2) + bits.error.powi(2)).sqrt();
        assert!(
            bits.mean - subset.mean > 3.0 * error,
            "ε = {value}: {} and {} ± {error}",
            subset.mean,
            bits.mean
        );
        let error = (subset.error.powi(2) + rr.error.powi(2)).sqrt();
        assert!(
            subset.mean - rr.mean < 3.0 * error,
            "ε = {value}: {} and {} ± {error}",
            subset.mean,
            rr.mean
        );
    }
    // The printed step has a bound of at most 1.061 times that of the exact one.
    let bits = LabelSgd::algorithm_1(5, epsilon(1.0)).unwrap();
    let printed = bits.published_step(reach, problem.loss().lipschitz(), n);
    let runs = softmax_runs(&problem, &bits, Some(printed), n, 60);
    assert!(runs.mean + 5.0 * runs.error < 1.061 * bits.risk_bound(reach, problem.loss().lipschitz(), n));
}

#[test]
fn the_printed_step_of_algorithm_1_costs_at_most_six_per_cent_of_the_bound() {
    for labels in [2, 5, 10, 26, 100, 1000] {
        for value in [0.1, 0.5, 1.0, 2.0, 4.0, 8.0] {
            let sgd = LabelSgd::algorithm_1(labels, epsilon(value)).unwrap();
            let moment = sgd.second_moment();
            // R²/(2ηn) + ηG²/2 against R·G/√n, at R = L = n = 1
            let Step::Constant(eta) = sgd.published_step(1.0, 1.0, 1) else { panic!("a constant step") };
            let cost = (0.5 / eta + 0.5 * eta * moment) / moment.sqrt();
            assert!((1.0..1.0607).contains(&cost), "K = {labels}, ε = {value}: {cost}");
        }
    }
}

#[test]
fn answers_among_likely_labels_err_by_no_more_than_noise_and_twice_the_missed_share() {
    let (problem, n) = (HardInstance::new(4, 0.5).unwrap(), 4000);
    let sgd = LabelSgd::top_k(4, vec![0, 2], epsilon(1.0)).unwrap();
    let miss = problem.probability(1) + problem.probability(3);
    let mut rng = ChaCha12Rng::seed_from_u64(13);
    let Sample { mean, error } =
        sample(&(0..40).map(|_| hard_run(problem, &sgd, n, &mut rng)).collect::<Vec<_>>());
    let bound =
        sgd.risk_bound(1.0, problem.lipschitz(), n) + LabelSgd::miss_bias(2.0, problem.lipschitz(), miss);
    assert!(mean + 5.0 * error < bound, "{mean} ± {error} against {bound}");
    // With nobody outside it is randomized response among them: G is that of two labels, not of four.
    let (two, four) = (LabelSgd::lp_rr(2, epsilon(1.0)).unwrap(), LabelSgd::lp_rr(4, epsilon(1.0)).unwrap());
    assert!((sgd.second_moment() / two.second_moment() - 1.0).abs() < 1e-12);
    assert!(sgd.second_moment() < four.second_moment());
}

#[test]
fn a_descent_without_reports_or_with_nonsense_is_refused() {
    let problem = HardInstance::new(4, 0.5).unwrap();
    let new = |start, step| ProjectedSgd::new(&problem, HardInstance::FEASIBLE, start, Step::Constant(step));
    assert!(new(vec![0.0; 3], 0.1).is_err() && new(vec![0.0; 4], f64::NAN).is_err());
    let mut learner = new(vec![0.0; 4], 0.1).unwrap();
    assert!(learner.mean().is_err());
    let nonsense = LabelVector { base: 0.0, entries: &[(0, f32::NAN)] };
    let error = learner.observe(&(), nonsense).unwrap_err().to_string();
    assert!(error.contains("a gradient is NaN") && learner.reports() == 0, "{error}");
}
