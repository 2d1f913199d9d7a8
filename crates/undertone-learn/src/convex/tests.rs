//! What has to hold for every algorithm here: estimators against enumeration, excess risk against theory, and the papers'
//! mistakes shown to be mistakes.

use super::*;
use crate::labels::{LabelVector, LabelVectors};
use crate::loss::Loss;
use rand_chacha::ChaCha12Rng;
use rand_core::{CryptoRng, Rng, SeedableRng};
use undertone_privacy::accounting::delta_of_gaussian;
use undertone_privacy::label::{Covariance, Label, LabelKind, LabelMechanism, LabelRandomizer, LabelSet};
use undertone_privacy::label::{ReportColumn, RrTopK};
use undertone_privacy::{Delta, Epsilon, Mu, Randomizer};

pub(super) fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// Normal numbers.
pub(super) fn normals(seed: u64, count: usize) -> Vec<f64> {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    let mut unit = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let mut normal = || (-2.0 * (1.0 - unit()).ln()).sqrt() * (2.0 * std::f64::consts::PI * unit()).cos();
    (0..count).map(|_| normal()).collect()
}

/// A mean with its standard error.
struct Sample {
    mean: f64,
    error: f64,
}

fn sample(values: &[f64]) -> Sample {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Sample { mean, error: (variance / n).sqrt() }
}

/// Every report on K labels, with its probability under `truth` and its label vector.
fn reports(mechanism: &LabelMechanism, truth: u32) -> Vec<(f64, LabelVectors)> {
    let channel = crate::labels::Channel::of_mechanism(mechanism);
    let sets = (0..1u32 << mechanism.labels())
        .map(|bits| (0..mechanism.labels()).filter(|k| bits >> k & 1 == 1).collect());
    let report = |set: Vec<u32>| {
        let p = mechanism.ln_probability(&LabelSet::new(set.clone()), truth).exp();
        let mut vectors = LabelVectors::new();
        (p > 0.0).then(|| channel.push_unbiased(&set, &[], &mut vectors).unwrap())?;
        Some((p, vectors))
    };
    sets.filter_map(report).collect()
}

fn mechanisms(labels: u32, value: f64) -> Vec<LabelMechanism> {
    LabelKind::ALL.iter().map(|kind| kind.mechanism(labels, epsilon(value)).unwrap()).collect()
}

fn gradients<L: ConvexLoss>(loss: &L, w: &[f64], x: &L::Features) -> Vec<Vec<f64>> {
    let gradient = |k| {
        let mut gradient = vec![0.0; loss.dimension()];
        loss.add_gradient(w, x, k, 1.0, &mut gradient);
        gradient
    };
    (0..loss.labels()).map(gradient).collect()
}

fn linear(loss: Loss) -> LinearLoss {
    LinearLoss::new(loss, 4, 3, 1.5, 4.0).unwrap()
}

/// Some weights for four labels and three features, and a row of length below 1.5.
fn weights_and_row(seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut draws = normals(seed, 15);
    let mut x = draws.split_off(12);
    let norm = dot(&x, &x).sqrt();
    for x in &mut x {
        *x *= 1.3 / norm;
    }
    (draws, x)
}

#[test]
fn closed_forms_of_linear_losses_are_the_sum_over_the_labels() {
    let mut vectors = LabelVectors::certain([2]);
    vectors.push(-0.7, [(1, 1.9), (3, 1.9)]);
    vectors.push(0.0, [(0, -0.5), (3, 1.5)]);
    for (loss, seed) in Loss::ALL.into_iter().flat_map(|loss| (0..5).map(move |seed| (loss, seed))) {
        let (loss, (w, x)) = (linear(loss), weights_and_row(seed));
        for a in vectors.iter() {
            let (mut closed, mut summed) = (vec![0.0; 12], vec![0.0; 12]);
            loss.add_debiased_gradient(&w, &x, a, &mut closed);
            for (k, gradient) in (0u32..).zip(gradients(&loss, &w, &x)) {
                summed.iter_mut().zip(gradient).for_each(|(s, g)| *s += f64::from(a.at(k)) * g);
            }
            for (found, expected) in closed.iter().zip(&summed) {
                // scores and their gradients have 24 bits
                assert!((found - expected).abs() < 1e-5, "{loss:?}: {closed:?} for {summed:?}");
            }
        }
    }
}

#[test]
fn the_hard_instance_has_the_closed_form_of_its_gradients() {
    let problem = HardInstance::new(4, 0.3).unwrap();
    for (_, vectors) in reports(&LabelKind::Bits.mechanism(4, epsilon(1.0)).unwrap(), 1) {
        let (a, mut closed, mut summed) = (vectors.get(0), [0.0; 4], [0.0; 4]);
        problem.add_debiased_gradient(&[0.0; 4], &(), a, &mut closed);
        (0..4).for_each(|k| problem.add_gradient(&[0.0; 4], &(), k, f64::from(a.at(k)), &mut summed));
        closed.iter().zip(summed).for_each(|(x, y)| assert!((x - y).abs() < 1e-12));
    }
}

/// E|Σ a_k·g_k|² for one label from the covariance of a, which has four different entries.
fn moment_of(covariance: Covariance, gradients: &[Vec<f64>], truth: usize) -> f64 {
    let Covariance { own, cross, other, pair, .. } = covariance;
    let mut moment = dot(&gradients[truth], &gradients[truth]);
    for (j, g) in gradients.iter().enumerate() {
        for (k, h) in gradients.iter().enumerate() {
            let entry = match (j == k, j == truth || k == truth) {
                (true, true) => own,
                (true, false) => other,
                (false, true) => cross,
                (false, false) => pair,
            };
            moment += entry * dot(g, h);
        }
    }
    moment
}

/// The mean and second moment of the estimated gradient over all reports.
fn moments<L: ConvexLoss>(
    loss: &L,
    w: &[f64],
    x: &L::Features,
    mechanism: &LabelMechanism,
    truth: u32,
) -> (Vec<f64>, f64) {
    let (mut mean, mut moment) = (vec![0.0; loss.dimension()], 0.0);
    for (p, vectors) in reports(mechanism, truth) {
        let mut estimate = vec![0.0; loss.dimension()];
        loss.add_debiased_gradient(w, x, vectors.get(0), &mut estimate);
        mean.iter_mut().zip(&estimate).for_each(|(m, g)| *m += p * g);
        moment += p * dot(&estimate, &estimate);
    }
    (mean, moment)
}

/// max |a_k| over all reports.
fn largest(mechanism: &LabelMechanism) -> f64 {
    let of_report = |(_, vectors): &(f64, LabelVectors)| {
        (0..mechanism.labels()).map(|k| f64::from(vectors.get(0).at(k)).abs()).fold(0.0, f64::max)
    };
    reports(mechanism, 0).iter().map(of_report).fold(0.0, f64::max)
}

#[test]
fn every_label_estimator_has_the_mean_and_second_moment_of_theory_over_all_reports() {
    let (w, x) = weights_and_row(7);
    for mechanism in [0.3, 1.0, 4.0].iter().flat_map(|e| mechanisms(4, *e)) {
        let sgd = LabelSgd::new(mechanism.clone());
        for loss in Loss::ALL.map(linear) {
            let all = gradients(&loss, &w, &x);
            for truth in 0..4 {
                let (mean, moment) = moments(&loss, &w, &x, &mechanism, truth);
                // label vectors and scores have 24 bits
                let within = 1e-5 * largest(&mechanism);
                let top = mechanism.support().filter(|top| top.len() < 4);
                let inside = top.is_none_or(|top| top.contains(&truth));
                for (j, found) in mean.iter().enumerate() {
                    let even =
                        |top: &[u32]| top.iter().map(|&k| all[k as usize][j]).sum::<f64>() / top.len() as f64;
                    let expected = if inside { all[truth as usize][j] } else { top.map_or(f64::NAN, even) };
                    assert!((found - expected).abs() < within, "{loss:?}: {found}, {expected} ± {within}");
                }
                if top.is_none() {
                    let exact = moment_of(mechanism.covariance(), &all, truth as usize);
                    assert!((moment / exact - 1.0).abs() < 1e-4, "{mechanism:?}: {moment}, {exact}");
                }
                let bound = loss.lipschitz().powi(2) * sgd.second_moment();
                assert!(moment <= bound * (1.0 + 1e-4), "{mechanism:?}, {loss:?}: {moment} above {bound}");
            }
        }
    }
}

#[test]
fn subset_selection_on_the_hard_instance_has_the_least_second_moment_there_is() {
    for (labels, value) in [(2, 1.0), (4, 0.5), (6, 1.0), (6, 2.0)] {
        let problem = HardInstance::new(labels, 0.1).unwrap();
        let (w, l) = (vec![0.0; labels as usize], problem.lipschitz());
        let bound = undertone_privacy::label::lower_bound_second_moment(labels, epsilon(value)).unwrap();
        let mut least = f64::INFINITY;
        for size in 1..labels {
            let subset =
                undertone_privacy::label::SubsetSelection::with_size(labels, size, epsilon(value)).unwrap();
            let (_, moment) = moments(&problem, &w, &(), &LabelMechanism::Subset(subset), 0);
            least = least.min(moment / (l * l));
        }
        assert!((least / bound - 1.0).abs() < 1e-4, "K = {labels}, ε = {value}: {least} for {bound}");
        let (_, bits) =
            moments(&problem, &w, &(), LabelSgd::algorithm_1(labels, epsilon(value)).unwrap().mechanism(), 0);
        assert!(bits / (l * l) >= least);
    }
}

#[test]
fn a_span_holds_every_gradient_and_its_ball_is_centred() {
    for loss in Loss::ALL.map(linear) {
        for seed in 0..4 {
            let (w, x) = weights_and_row(seed);
            let all = gradients(&loss, &w, &x);
            let (closed, general) = (loss.span(&w, &x), Span::of_gradients(all.clone()));
            let hinge = loss == linear(Loss::Hinge);
            assert!(closed.rank() <= 3 && (hinge || closed.rank() == 3), "{loss:?}");
            assert!((closed.radius() - general.radius()).abs() < 1e-4, "{loss:?}: {closed:?}, {general:?}");
            assert!((closed.sensitivity() - general.sensitivity()).abs() < 1e-5);
            assert!(
                closed.radius() <= loss.lipschitz() && closed.sensitivity() <= 2.0 * closed.radius() + 1e-6
            );
            if !hinge {
                assert!((closed.sensitivity() - 2f64.sqrt() * 1.3).abs() < 1e-12);
            }
            for span in [closed, general] {
                for (k, gradient) in (0u32..).zip(&all) {
                    let coordinates = span.coordinates(k);
                    assert!(dot(&coordinates, &coordinates).sqrt() <= span.radius() * (1.0 + 1e-9));
                    let mut found = vec![0.0; 12];
                    span.add_point(&coordinates, &mut found);
                    for (found, expected) in found.iter().zip(gradient) {
                        assert!((found - expected).abs() < 1e-5, "{loss:?}, label {k}: {found}, {expected}");
                    }
                }
            }
        }
    }
}

#[test]
fn gradients_that_depend_on_each_other_span_less() {
    let span = Span::of_gradients(vec![vec![1.0, 0.0, 1.0], vec![0.0, 1.0, 1.0], vec![0.5, 0.5, 1.0]]);
    assert_eq!(span.rank(), 1);
    assert!((span.radius() - 0.5f64.sqrt()).abs() < 1e-9 && (span.sensitivity() - 2f64.sqrt()).abs() < 1e-12);
    let same = Span::of_gradients(vec![vec![1.0, 2.0]; 3]);
    assert!(same.rank() == 0 && same.radius() == 0.0 && same.centre() == [1.0, 2.0]);
}

/// Checks the mean and second moment of an estimator within five standard errors.
fn estimates_match(truth: &[f64], moment: f64, trials: usize, mut estimate: impl FnMut(&mut [f64])) {
    let (mut sums, mut squares) = (vec![Vec::new(); truth.len()], Vec::new());
    for _ in 0..trials {
        let mut gradient = vec![0.0; truth.len()];
        estimate(&mut gradient);
        squares.push(dot(&gradient, &gradient));
        sums.iter_mut().zip(gradient).for_each(|(values, g)| values.push(g));
    }
    for (values, expected) in sums.iter().zip(truth) {
        let Sample { mean, error } = sample(values);
        assert!((mean - expected).abs() < 5.0 * error + 1e-5, "{mean} ± {error} for {expected}");
    }
    let Sample { mean, error } = sample(&squares);
    assert!((mean - moment).abs() < 5.0 * error + 1e-4 * moment, "{mean} ± {error} for {moment}");
}

#[test]
fn gaussian_gradients_are_unbiased_with_the_stated_variance() {
    let sgd = NormalSgd::new(epsilon(1.0), Delta::new(1e-5).unwrap()).unwrap();
    let mut rng = ChaCha12Rng::seed_from_u64(3);
    for loss in [Loss::Softmax, Loss::Hinge].map(linear) {
        let (w, x) = weights_and_row(2);
        let (span, truth) = (loss.span(&w, &x), 2);
        let gradient = &gradients(&loss, &w, &x)[truth as usize];
        let variance = sgd.variance(&span).unwrap();
        // r·(Δ/μ)²: the scale is rounded up to the grid
        let ideal = span.rank() as f64 * (span.sensitivity() / sgd.mu().get()).powi(2);
        assert!(variance >= ideal && variance < ideal * 1.0001, "{variance} for {ideal}");
        assert!(
            dot(gradient, gradient) + variance
                <= loss.lipschitz().powi(2)
                    * sgd.second_moment(3, span.sensitivity() / loss.lipschitz())
                    * 1.0001
        );
        estimates_match(gradient, dot(gradient, gradient) + variance, 4000, |into| {
            let report = sgd.release(&span, Label(truth), &mut rng).unwrap();
            sgd.add_estimate(&span, &report, into).unwrap();
        });
        assert!(sgd.release(&span, Label(4), &mut rng).is_err());
        assert!(sgd.add_estimate(&span, &[0; 7], &mut [0.0; 12]).is_err());
    }
}

#[test]
fn vector_gradients_are_unbiased_with_the_stated_second_moment() {
    fn check<M: undertone_privacy::vector::VectorRandomizer>(sgd: &VectorSgd<M>, trials: usize) {
        let mut rng = ChaCha12Rng::seed_from_u64(4);
        for loss in [Loss::Softmax, Loss::Logistic].map(linear) {
            let (w, x) = weights_and_row(6);
            let span = loss.span(&w, &x);
            let all = gradients(&loss, &w, &x);
            for truth in [0, 3] {
                let moment = sgd.second_moment(&span, truth);
                assert!(moment <= loss.lipschitz().powi(2) * sgd.worst_case_second_moment());
                estimates_match(&all[truth as usize], moment, trials, |into| {
                    let report = sgd.simulate(&span, Label(truth), &mut rng).unwrap();
                    sgd.add_estimate(&span, &report, into);
                });
            }
        }
    }
    check(&VectorSgd::simulated_duchi(3, epsilon(1.0)).unwrap(), 20_000);
    check(&VectorSgd::codebook(3, epsilon(1.0)).unwrap(), 4000);
}

#[test]
fn a_span_of_fewer_coordinates_than_the_mechanism_has_is_estimated_without_bias() {
    let (sgd, mut rng) =
        (VectorSgd::simulated_duchi(3, epsilon(2.0)).unwrap(), ChaCha12Rng::seed_from_u64(8));
    let span = Span::of_gradients(vec![vec![1.0, 0.0], vec![0.0, 1.0], vec![0.5, 0.5]]);
    let mut mean = [Vec::new(), Vec::new()];
    for _ in 0..20_000 {
        let mut estimate = [0.0; 2];
        let report = sgd.simulate(&span, Label(1), &mut rng).unwrap();
        sgd.add_estimate(&span, &report, &mut estimate);
        mean.iter_mut().zip(estimate).for_each(|(values, g)| values.push(g));
    }
    for (values, expected) in mean.iter().zip([0.0, 1.0]) {
        let Sample { mean, error } = sample(values);
        assert!((mean - expected).abs() < 5.0 * error, "{mean} ± {error}");
    }
    assert!(
        VectorSgd::codebook(1, epsilon(1.0))
            .unwrap()
            .release(&linear(Loss::Softmax).span(&[0.1; 12], &[1.0; 3]), Label(0), &mut rng)
            .is_err()
    );
}

#[test]
fn gradients_that_are_not_finite_are_refused_whichever_label_has_them() {
    let normal = NormalSgd::new(epsilon(1.0), Delta::new(1e-5).unwrap()).unwrap();
    let codebook = VectorSgd::codebook(2, epsilon(1.0)).unwrap();
    let duchi = VectorSgd::simulated_duchi(2, epsilon(1.0)).unwrap();
    let mut rng = ChaCha12Rng::seed_from_u64(19);
    let mut errors = |span: &Span, label| {
        let label = Label(label);
        [
            normal.release(span, label, &mut rng).err(),
            codebook.release(span, label, &mut rng).err(),
            duchi.simulate(span, label, &mut rng).err(),
        ]
        .map(|error| error.map(|error| error.to_string()))
    };
    let three = |odd: f64| vec![vec![1.0, 0.0], vec![0.0, odd], vec![0.5, 0.5]];
    // 1e200 is finite, its square is not
    for (odd, shown) in
        [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf"), (1e200, "inf")]
    {
        for turn in 0..3 {
            let mut gradients = three(odd);
            gradients.rotate_left(turn);
            let simplex = Span::of_simplex(3, &[0.1, odd], vec![0.0; 6]);
            for span in [Span::of_gradients(gradients), simplex] {
                for error in (0..3).flat_map(|label| errors(&span, label)) {
                    assert_eq!(error, Some(format!("a gradient is {shown}, but has to be finite")));
                }
            }
        }
    }
    let centre = vec![0.0, 0.0, f64::NAN];
    assert!(errors(&Span::of_simplex(3, &[0.1], centre), 0).iter().all(Option::is_some));
    assert_eq!(errors(&Span::of_gradients(three(2.0)), 1), [None, None, None]);
}

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
fn the_debiased_loss_is_unbiased_and_as_steep_and_wide_as_stated() {
    let losses = [0.9, 0.1, 0.4, 0.7];
    for value in [0.5, 1.0, 3.0] {
        let debiased = DebiasedLoss::new(3, epsilon(value)).unwrap();
        let mechanism = RrTopK::new(4, vec![0, 1, 3], epsilon(value)).unwrap();
        let sum = losses[0] + losses[1] + losses[3];
        for truth in 0..4 {
            let mean: f64 = [0, 1, 3]
                .iter()
                .map(|&answer| {
                    let p = mechanism.ln_probability(&LabelSet::new(vec![answer]), truth).exp();
                    p * debiased.value(losses[answer as usize], sum)
                })
                .sum();
            let expected = if truth == 2 { sum / 3.0 } else { losses[truth as usize] };
            assert!((mean - expected).abs() < 1e-9, "{mean} for {expected}");
        }
        // The ends of the range: answered one and the others zero, or the reverse
        let width = debiased.value(1.0, 1.0) - debiased.value(0.0, 2.0);
        assert!((width - debiased.factor()).abs() < 1e-12);
        let e = f64::exp(value);
        assert!((debiased.factor() - (e + 3.0) / (e - 1.0)).abs() < 1e-9);
    }
    assert!(DebiasedLoss::new(0, epsilon(1.0)).is_err());
    assert!((DebiasedLoss::new(1, epsilon(1.0)).unwrap().factor() - 1.0).abs() < 1e-15);
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
