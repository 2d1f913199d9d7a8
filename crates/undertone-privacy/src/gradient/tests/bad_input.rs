//! What a collector may not send, and what a record may hold without anybody noticing.

use super::*;
use crate::vector::STEPS;

const NO_NUMBERS: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

fn every_model() -> Vec<RecordModel> {
    let losses = [huber(), LOGISTIC, multinomial(2), multinomial(4)];
    losses.into_iter().flat_map(|loss| Weight::ALL.map(|weight| model(loss, weight, 3))).collect()
}

/// The grid point of a record at θ, as a device sees it.
fn steps(model: &RecordModel, theta: &[f64], x: &[f64], y: f64) -> Vec<i32> {
    let balls = [model.ball().unwrap(), model.ball_at(theta).unwrap()];
    let [one, other] = balls.map(|around| model.vector_at(theta, x, y, &around).unwrap().steps().to_vec());
    assert!(one.iter().all(|&k| k == 0) == other.iter().all(|&k| k == 0));
    one
}

fn is_centre(steps: &[i32]) -> bool {
    steps.iter().all(|&k| k == 0)
}

#[test]
fn a_point_that_no_honest_collector_sends_is_refused() {
    for model in every_model() {
        let start = model.start();
        assert_eq!(model.check_point(&start), Ok(()));
        for j in 0..start.len() {
            for value in [NO_NUMBERS.as_slice(), &[1.1e6, -1.1e6, f64::MAX]].concat() {
                let mut theta = start.clone();
                theta[j] = value;
                assert!(
                    matches!(model.check_point(&theta), Err(PrivacyError::Parameter { .. })),
                    "{theta:?}"
                );
                assert!(model.ball_at(&theta).is_err());
                let ball = model.ball().unwrap();
                assert!(model.vector_at(&theta, &[1.0; 3], 0.0, &ball).is_err());
            }
        }
        for length in [0, start.len() - 1, start.len() + 1] {
            let wrong = PrivacyError::WrongLength { length, dimension: start.len() };
            assert_eq!(model.check_point(&vec![1.0; length]), Err(wrong));
        }
    }
    let model = model(huber(), Weight::Square, 2);
    for scale in [0.0, -1.0, 0.099, 20.1] {
        let refused = PrivacyError::Parameter { what: "the scale of the model", value: scale };
        assert_eq!(model.check_point(&[0.0, 0.0, scale]), Err(refused));
    }
}

#[test]
fn what_is_projected_is_accepted_and_stays_where_it_is() {
    for model in every_model() {
        for value in [0.0, -0.0, 1e-300, 0.5, -3.0, 1e6, -1e7, f64::MAX, f64::INFINITY, f64::NEG_INFINITY] {
            let mut theta = vec![value; model.parameters()];
            model.project(&mut theta);
            assert_eq!(model.check_point(&theta), Ok(()));
            let mut again = theta.clone();
            model.project(&mut again);
            assert_eq!(again, theta);
        }
        let mut theta = vec![f64::NAN; model.parameters()];
        model.project(&mut theta);
        assert!(model.check_point(&theta).is_err());
        let mut start = model.start();
        model.project(&mut start);
        assert_eq!(start, model.start());
    }
}

#[test]
fn a_record_that_is_none_is_the_centre() {
    for model in every_model() {
        let mut theta = model.start();
        theta[0] = 0.7;
        assert!(!is_centre(&steps(&model, &theta, &[1.0, 2.0, -1.0], 0.0)));
        for bad in [NO_NUMBERS.as_slice(), &[1e155, -1e200, f64::MAX, f64::MIN]].concat() {
            for j in 0..3 {
                let mut x = [1.0, 2.0, -1.0];
                x[j] = bad;
                assert!(is_centre(&steps(&model, &theta, &x, 1.0)), "{model:?} {x:?}");
            }
            assert!(is_centre(&steps(&model, &theta, &[bad; 3], 1.0)));
        }
        for y in NO_NUMBERS {
            assert!(is_centre(&steps(&model, &theta, &[1.0, 2.0, -1.0], y)), "{model:?} {y}");
        }
        for length in [0, 2, 4] {
            assert!(is_centre(&steps(&model, &theta, &vec![1.0; length], 1.0)));
        }
    }
}

#[test]
fn a_label_that_there_is_not_is_the_centre() {
    let x = [1.0, 2.0, -1.0];
    for weight in Weight::ALL {
        for (loss, classes) in [(LOGISTIC, 2), (multinomial(2), 2), (multinomial(4), 4)] {
            let model = model(loss, weight, 3);
            let theta = model.start();
            let classes = f64::from(classes);
            for y in [-1.0, 0.5, 1.0 + f64::EPSILON, -1e-300, classes, classes + 1.0, 1e300, f64::MAX] {
                assert!(is_centre(&steps(&model, &theta, &x, y)), "{model:?} {y}");
            }
            for y in 0..classes as u32 {
                assert!(!is_centre(&steps(&model, &theta, &x, f64::from(y))));
            }
        }
    }
}

#[test]
fn numbers_that_can_just_be_squared_are_a_record_like_any_other() {
    // |x|² is finite, and so is x'β at the corner of the largest box.
    let x = [1.0, 7e153, -7e153];
    for model in every_model() {
        let p = model.parameters();
        let mut theta: Vec<f64> = (0..p).map(|j| if j % 2 == 0 { 1e6 } else { -1e6 }).collect();
        model.project(&mut theta);
        for y in [0.0, 1.0] {
            let g = gradient(&model, &theta, &x, y);
            assert!(g.iter().all(|g| g.is_finite()) || model.weighting().weight == Weight::Clip, "{model:?}");
            let steps = steps(&model, &theta, &x, y);
            assert!(steps.iter().all(|k| k.unsigned_abs() <= STEPS));
        }
    }
    // A residual may overflow: it is a large one.
    let model = model(huber(), Weight::Square, 3);
    let theta = [0.0, 0.0, 0.0, 0.1];
    for (y, like) in [(f64::MAX, 1e9), (-f64::MAX, -1e9)] {
        assert_eq!(steps(&model, &theta, &[1.0; 3], y), steps(&model, &theta, &[1.0; 3], like));
    }
}

#[test]
fn any_bits_at_all_make_a_vector_of_the_ball() {
    use rand_chacha::ChaCha12Rng;
    use rand_core::{Rng, SeedableRng};
    let mut rng = ChaCha12Rng::seed_from_u64(4);
    for model in every_model() {
        for _ in 0..500 {
            let mut bits = || f64::from_bits(rng.next_u64());
            let mut theta: Vec<f64> = (0..model.parameters()).map(|_| bits()).collect();
            for value in &mut theta {
                *value = if value.is_nan() { 1.0 } else { *value };
            }
            model.project(&mut theta);
            let (x, y) = ([bits(), bits(), bits()], bits());
            let vector = model.vector_at(&theta, &x, y, &model.ball_at(&theta).unwrap()).unwrap();
            assert!(vector.square() <= u64::from(STEPS).pow(2));
        }
    }
}

#[test]
fn a_ball_of_another_model_is_refused() {
    let (small, large) = (model(LOGISTIC, Weight::Square, 2), model(LOGISTIC, Weight::Square, 3));
    let wrong = Err(PrivacyError::WrongLength { length: 3, dimension: 2 });
    assert_eq!(small.vector_at(&[0.0; 2], &[1.0; 2], 0.0, &large.ball().unwrap()), wrong);
}

#[test]
fn a_model_that_makes_no_sense_is_refused() {
    let square = |radius| Weighting::new(Weight::Square, radius);
    for radius in [0.0, -1.0, f64::NAN, 1e7] {
        assert!(square(radius).is_err());
        let unchecked = Weighting { weight: Weight::Square, radius };
        assert!(RecordModel::new(LOGISTIC, unchecked, 2, 1.0).is_err());
    }
    let weighting = square(SQRT_2).unwrap();
    assert!(RecordModel::new(LOGISTIC, weighting, 0, 1.0).is_err());
    assert!(RecordModel::new(LOGISTIC, weighting, usize::MAX, 1.0).is_err());
    assert!(RecordModel::new(multinomial(4096), weighting, 1 << 10, 1.0).is_err());
    for bound in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e7] {
        assert!(RecordModel::new(LOGISTIC, weighting, 2, bound).is_err());
    }
    assert!(Multinomial::new(1).is_err() && Multinomial::new(4097).is_err());
    for (cut, least, most) in
        [(0.0, 0.1, 1.0), (f64::NAN, 0.1, 1.0), (1.0, 0.0, 1.0), (1.0, 1.0, 1.0), (1.0, 0.1, f64::NAN)]
    {
        assert!(Huber::new(cut, least, most).is_err());
    }
    // c ≤ 2R is what the proof of its balls needs.
    assert!(RecordModel::new(huber(), square(0.6).unwrap(), 2, 1.0).is_err());
    assert!(RecordModel::new(huber(), square(0.7).unwrap(), 2, 1.0).is_ok());
    let clip = Weighting::new(Weight::Clip, 0.6).unwrap();
    assert!(RecordModel::new(huber(), clip, 2, 1.0).is_ok());
}
