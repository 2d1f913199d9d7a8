//! Means and second moments of every estimator of a gradient.

use super::*;
use undertone_privacy::Delta;
use undertone_privacy::label::{Covariance, Label, RrTopK};

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
