//! A fit against the definition of what it minimises.

use super::*;
use crate::features::Rows;
use crate::labels::{Channel, LabelVectors};
use undertone_privacy::label::{Label, LabelKind};
use undertone_privacy::{Epsilon, Randomizer};

const FEATURES: usize = 3;
const CLASSES: usize = 4;

/// Numbers between -1 and 1.
fn number(random: &mut ChaCha8Rng) -> f32 {
    random.next_u32() as f32 / 2_147_483_648.0 - 1.0
}

/// People of three features, whose class is that of their largest score, and what they report at ε = 1.5.
fn people(count: usize) -> Examples {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let truth: [[f32; CLASSES]; FEATURES] =
        std::array::from_fn(|_| std::array::from_fn(|_| number(&mut random)));
    let mechanism = LabelKind::Subset.mechanism(CLASSES as u32, Epsilon::new(1.5).unwrap()).unwrap();
    let channel = Channel::of_mechanism(&mechanism);
    let mut examples = Examples { rows: Rows::new(FEATURES, 0), ..Examples::default() };
    for _ in 0..count {
        let x: [f32; FEATURES] = std::array::from_fn(|_| number(&mut random));
        let score = |k: usize| (0..FEATURES).map(|j| x[j] * truth[j][k]).sum::<f32>();
        let label = (0..CLASSES).max_by(|&a, &b| score(a).total_cmp(&score(b))).unwrap() as u32;
        let report = mechanism.randomize(&Label(label), &mut random).unwrap();
        examples.rows.push_with(|dense, _| dense.extend(x));
        channel.push_unbiased(report.members(), &[], &mut examples.unbiased).unwrap();
        channel.push_likelihood(report.members(), &[], &mut examples.likelihood).unwrap();
    }
    examples
}

fn fitted(examples: &Examples, options: &ErmOptions) -> Result<LinearModel, LearnError> {
    fit(&mut vec![examples.clone()], examples.rows.width(), CLASSES, options, None, |_| ())
}

/// The length of the gradient of the regularised risk, by its definition.
fn slope(examples: &Examples, weights: &Weights, options: &ErmOptions) -> f64 {
    let mut gradient = vec![0f64; weights.values().len()];
    let vectors = options.target.vectors(&examples.unbiased, &examples.likelihood);
    for (row, vector) in examples.rows.iter().zip(vectors.iter()) {
        let mut delta = [0.0; CLASSES];
        weights.scores(row, &mut delta);
        options.target.gradient(options.loss, &mut delta, vector, &mut SoftLabel::default());
        for (feature, x) in row.dense.iter().chain([&1.0]).enumerate() {
            for (k, g) in delta.iter().enumerate() {
                gradient[feature * CLASSES + k] += f64::from(x * g) / examples.len() as f64;
            }
        }
    }
    for (g, w) in gradient.iter_mut().zip(weights.values()).take(FEATURES * CLASSES) {
        *g += options.l2 * f64::from(*w);
    }
    gradient.iter().map(|g| g * g).sum::<f64>().sqrt()
}

#[test]
fn nothing_is_left_to_gain_at_the_fitted_weights() {
    let examples = people(600);
    let start = Weights::zero(FEATURES, CLASSES);
    let targets = [Target::Unbiased, Target::Likelihood, Target::Posterior(None), Target::Naive];
    for (target, loss) in targets.iter().flat_map(|target| Loss::ALL.map(|loss| (target, loss))) {
        // Neither the kinks of the hinge nor scores that are cut at zero have a gradient that must vanish.
        if loss == Loss::Hinge || (loss == Loss::Squared && *target == Target::Likelihood) {
            continue;
        }
        let options = ErmOptions {
            loss,
            target: target.clone(),
            l2: 0.01,
            epochs: 150,
            batch: 100,
            ..ErmOptions::default()
        };
        let model = fitted(&examples, &options).unwrap();
        let (left, first) = (slope(&examples, &model.weights, &options), slope(&examples, &start, &options));
        assert!(left < 0.01 * first, "{target:?}, {loss:?}: {left} of {first}");
    }
}

#[test]
fn the_hinge_falls_to_its_minimum() {
    // One feature x = ±1 and two classes that follow its sign: with w = ±c the risk is max(0, 1 - 2c) + λ·c².
    let rows = Rows::dense(1, (0..100).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect());
    let examples = Examples::certain(rows, (0..100).map(|i| i % 2));
    let options = ErmOptions { loss: Loss::Hinge, l2: 0.1, epochs: 200, batch: 20, ..ErmOptions::default() };
    let model = fit(&mut vec![examples], 1, 2, &options, None, |_| ()).unwrap();
    let w = model.weights.of(0);
    assert!((w[0] - 0.5).abs() < 0.01 && (w[1] + 0.5).abs() < 0.01, "{w:?}");
}

#[test]
fn the_model_does_not_depend_on_the_number_of_threads_but_on_the_seed() {
    let examples = people(500);
    let options = ErmOptions { epochs: 2, batch: 200, ..ErmOptions::default() };
    let alone = fitted(&examples, &options).unwrap();
    for threads in [0, 2, 3] {
        assert_eq!(fitted(&examples, &ErmOptions { threads, ..options.clone() }).unwrap(), alone);
    }
    assert_ne!(fitted(&examples, &ErmOptions { seed: 1, ..options }).unwrap(), alone);
}

#[test]
fn every_row_comes_once_in_a_pass_and_elsewhere_in_the_next() {
    for (rows, length) in [(0, 1), (1, 1), (100, 1), (5, 8), (100, 8), (1000, 8)] {
        let orders = [0, 1].map(|epoch| Order::new(3, epoch).shuffled(rows, length).to_vec());
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..rows as u32).collect::<Vec<_>>());
            let jumps = order.windows(2).filter(|pair| pair[0] + 1 != pair[1]).count();
            assert!(jumps <= rows / length + 1, "{jumps} jumps among {rows} rows in runs of {length}");
        }
        assert!(rows < 100 || orders[0] != orders[1]);
    }
}

#[test]
fn sparse_features_are_fitted_like_dense_ones() {
    let dense = people(600);
    let mut sparse = Examples { rows: Rows::new(1, FEATURES - 1), ..dense.clone() };
    for row in dense.rows.iter() {
        sparse.rows.push_with(|dense, sparse| {
            dense.push(row.dense[0]);
            sparse.extend((0..).zip(row.dense[1..].iter().copied()));
        });
    }
    let options = ErmOptions { l2: 0.01, batch: 100, ..ErmOptions::default() };
    let (a, b) = (fitted(&dense, &options).unwrap(), fitted(&sparse, &options).unwrap());
    for (a, b) in a.weights.values().iter().zip(b.weights.values()) {
        assert!((a - b).abs() < 1e-3, "{a} for {b}");
    }
}

#[test]
fn features_that_few_people_have_come_to_where_steps_that_miss_none_bring_them() {
    // Person i has feature i % 40, and class 1 once in four: in a batch of ten most features are missing.
    let count = 40 * 60;
    let class = |i: usize| u32::from(i / 40 % 4 == 3);
    let mut rows = Rows::new(0, 40);
    (0..count).for_each(|i| rows.push_with(|_, sparse| sparse.push((i as u32 % 40, 1.0))));
    let examples = Examples::certain(rows, (0..count).map(class));
    let options = ErmOptions { l2: 0.005, epochs: 100, batch: 10, ..ErmOptions::default() };
    let model = fit(&mut vec![examples.clone()], 40, 2, &options, None, |_| ()).unwrap();
    // The same rows as dense ones
    let mut rows = Rows::new(40, 0);
    (0..count).for_each(|i| {
        rows.push_with(|dense, _| dense.extend((0..40).map(|j| f32::from(u8::from(j == i % 40)))));
    });
    let dense = Examples { rows, ..examples };
    let expected = fit(&mut vec![dense], 40, 2, &options, None, |_| ()).unwrap();
    for (a, b) in model.weights.values().iter().zip(expected.weights.values()) {
        assert!((a - b).abs() < 0.01, "{a} for {b}");
    }
}

#[test]
fn blocks_that_are_read_again_for_each_pass_give_a_model_of_the_whole() {
    let examples = people(600);
    let mut blocks = vec![Examples { rows: Rows::new(FEATURES, 0), ..Examples::default() }];
    for (start, end) in [(0, 100), (100, 250), (250, 600)] {
        let mut block = Examples { rows: Rows::new(FEATURES, 0), ..Examples::default() };
        for i in start..end {
            block.rows.push(examples.rows.get(i));
            let (a, p) = (examples.unbiased.get(i), examples.likelihood.get(i));
            block.unbiased.push(a.base, a.entries.iter().copied());
            block.likelihood.push(p.base, p.entries.iter().copied());
        }
        blocks.push(block);
    }
    let options = ErmOptions { l2: 0.01, epochs: 150, batch: 50, ..ErmOptions::default() };
    let mut last = None;
    let model =
        fit(&mut blocks, FEATURES, CLASSES, &options, None, |progress| last = Some(progress)).unwrap();
    let start = Weights::zero(FEATURES, CLASSES);
    let (left, first) = (slope(&examples, &model.weights, &options), slope(&examples, &start, &options));
    assert!(left < 0.02 * first, "{left} of {first}");
    assert_eq!(last, Some(Progress { rows: 90_000, of: 90_000 }));
}

#[test]
fn the_weights_stay_in_the_ball() {
    let options = ErmOptions { l2: 0.0, radius: Some(0.5), ..ErmOptions::default() };
    let model = fitted(&people(300), &options).unwrap();
    let norm = model.weights.values().iter().map(|w| w * w).sum::<f32>().sqrt();
    assert!((norm - 0.5).abs() < 1e-5, "{norm}");
}

#[test]
fn a_debiased_loss_that_nothing_bounds_is_refused() {
    let options = ErmOptions { l2: 0.0, ..ErmOptions::default() };
    let error = fitted(&people(50), &options).unwrap_err().to_string();
    assert!(error.contains("l2 is 0") && error.contains("without bound"), "{error}");
    let certain = Examples::certain(people(50).rows, (0..50).map(|i| i % 4));
    assert!(fitted(&certain, &options).is_ok());
    assert!(fitted(&people(50), &ErmOptions { target: Target::Likelihood, ..options }).is_ok());
}

#[test]
fn a_start_is_where_the_first_step_begins() {
    let examples = people(300);
    let options = ErmOptions { l2: 0.01, epochs: 100, ..ErmOptions::default() };
    let best = fitted(&examples, &options).unwrap();
    let one = ErmOptions { epochs: 1, learning_rate: 1e-6, ..options };
    let warm =
        fit(&mut vec![examples.clone()], FEATURES, CLASSES, &one, Some(&best.weights), |_| ()).unwrap();
    for (a, b) in warm.weights.values().iter().zip(best.weights.values()) {
        assert!((a - b).abs() < 1e-5, "{a} for {b}");
    }
    let other = Weights::zero(FEATURES, CLASSES + 1);
    let error = fit(&mut vec![examples], FEATURES, CLASSES, &one, Some(&other), |_| ()).unwrap_err();
    assert!(error.to_string().contains("classes to start from is 5"), "{error}");
}

#[test]
fn what_cannot_be_fitted_is_named() {
    let good = people(20);
    let mut nan = good.clone();
    nan.rows.clear();
    (0..20).for_each(|i| {
        nan.rows.push_with(|dense, _| dense.extend([0.0, if i == 6 { f32::NAN } else { 1.0 }, 0.0]));
    });
    let unknown = Examples::certain(good.rows.clone(), (0..20).map(|i| if i == 3 { 4 } else { 0 }));
    let short = Examples { unbiased: LabelVectors::certain([0]), ..good.clone() };
    let wide = Examples::certain(Rows::dense(2, vec![0.0; 4]), [0, 1]);
    for (examples, message) in [
        (Examples { rows: Rows::new(FEATURES, 0), ..Examples::default() }, "no reports"),
        (nan, "report 7: its features are not finite"),
        (unknown, "report 4: it names class 4 of 4"),
        (short, "20 rows have 1 reports"),
        (wide, "number of features is 2"),
    ] {
        let error =
            fit(&mut vec![examples], FEATURES, CLASSES, &ErmOptions::default(), None, |_| ()).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
    let options = ErmOptions::default();
    for (options, message) in [
        (ErmOptions { l2: -1.0, ..options.clone() }, "l2 is -1"),
        (ErmOptions { l2: f64::NAN, ..options.clone() }, "l2 is NaN"),
        (ErmOptions { learning_rate: 0.0, ..options.clone() }, "learning rate is 0"),
        (ErmOptions { radius: Some(0.0), ..options.clone() }, "radius is 0"),
        (ErmOptions { epochs: 0, ..options.clone() }, "epochs is 0"),
        (ErmOptions { batch: 0, ..options }, "batch is 0"),
    ] {
        let error = fitted(&good, &options).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}
