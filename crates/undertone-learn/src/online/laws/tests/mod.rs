//! The laws in numbers.

mod last_iterate;

use super::*;
use undertone_privacy::Mu;
use undertone_privacy::gradient::Weight;

fn budgets(mu: f64) -> Budgets {
    if mu.is_finite() { Budgets::alike(Mu::new(mu).unwrap()) } else { Budgets::NO_PRIVACY }
}

fn law(kind: DesignKind, weight: Weight, dimension: usize, mu: f64) -> Law {
    Design::new(kind, weight, dimension).unwrap().law(budgets(mu))
}

/// Whether `found` is `printed`, a number with four digits.
fn four_digits(found: f64, printed: f64) -> bool {
    let unit = 10f64.powi(printed.log10().floor() as i32 - 3);
    (found - printed).abs() <= 0.5001 * unit
}

#[test]
fn least_curvature_and_averaged_error_are_those_of_an_independent_computation() {
    use DesignKind::{Linear, Logistic};
    const MUS: [f64; 5] = [0.5, 1.0, 2.0, 3.0, f64::INFINITY];
    // Kind, weights, d, the least eigenvalue of A, and tr(A⁻¹SA⁻¹) at each μ
    let table = [
        (Linear, Weight::Square, 5, 0.083_10, [2.793e4, 7010.0, 1779.0, 810.7, 35.76]),
        (Linear, Weight::Square, 10, 0.041_78, [1.484e5, 3.715e4, 9330.0, 4179.0, 58.44]),
        (Linear, Weight::Square, 20, 0.020_25, [9.37e5, 2.343e5, 5.866e4, 2.613e4, 100.4]),
        (Logistic, Weight::Square, 5, 0.017_36, [1.781e5, 4.458e4, 1.12e4, 5021.0, 75.7]),
        (Logistic, Weight::Square, 10, 0.004_89, [2.098e6, 5.246e5, 1.313e5, 5.844e4, 164.6]),
        (Logistic, Weight::Square, 20, 0.001_11, [3.606e7, 9.015e6, 2.254e6, 1.002e6, 378.2]),
        (Linear, Weight::Linear, 5, 0.122_87, [1.077e4, 2714.0, 701.0, 328.2, 30.03]),
        (Linear, Weight::Linear, 10, 0.087_90, [2.982e4, 7494.0, 1912.0, 878.3, 51.37]),
        (Linear, Weight::Linear, 20, 0.061_83, [9.46e4, 2.372e4, 6000.0, 2719.0, 93.54]),
        (Logistic, Weight::Linear, 5, 0.026_35, [7.26e4, 1.82e4, 4598.0, 2079.0, 64.22]),
        (Logistic, Weight::Linear, 10, 0.010_23, [4.576e5, 1.145e5, 2.873e4, 1.285e4, 144.2]),
        (Logistic, Weight::Linear, 20, 0.003_34, [3.875e6, 9.69e5, 2.425e5, 1.08e5, 351.1]),
    ];
    for (kind, weight, dimension, least, errors) in table {
        for (mu, error) in MUS.into_iter().zip(errors) {
            let law = law(kind, weight, dimension, mu);
            let (m, trace) = (law.least_curvature(), law.averaged_trace());
            assert!((m - least).abs() <= 0.5001e-5, "{kind:?} {weight:?} {dimension}: {m} for {least}");
            assert!(four_digits(trace, error), "{kind:?} {weight:?} {dimension} {mu}: {trace} for {error}");
        }
    }
}

#[test]
fn predictions_are_the_laws_at_n() {
    let law = law(DesignKind::Linear, Weight::Square, 5, 1.0);
    let steps = Steps::new(0.2, 0.5, 0).unwrap();
    let prediction = law.predict(&steps, 300_000);
    assert!((prediction.averaged_error.unwrap() - 7010.0 / 3e5).abs() < 1e-4);
    let last = 0.1 / 3e5f64.sqrt() * law.last_iterate_trace();
    assert!((prediction.last_iterate_error.unwrap() - last).abs() < 1e-12);
    assert!((prediction.transient_exponent - 0.0831 * 0.4 * 3e5f64.sqrt()).abs() < 1e-2);
    assert!((prediction.correlation_times - 0.0831 * 0.2 * 3e5f64.sqrt()).abs() < 1e-2);
    assert!(matches!(
        law.doubts(&steps, 300_000)[..],
        [Doubt::Exponent { .. }, Doubt::FewCorrelationTimes { .. }, Doubt::Biased { .. }]
    ));
}

#[test]
fn as_many_people_as_needed_reach_the_width_and_one_fewer_does_not() {
    let law = law(DesignKind::Logistic, Weight::Linear, 3, 2.0);
    let steps = Steps::new(2.0, 0.6, 0).unwrap();
    let n = law.people_for(0.1).unwrap();
    let width = |n| law.predict(&steps, n).interval_width;
    assert!(width(n) <= 0.1 * (1.0 + 1e-9) && width(n - 1) > 0.1 * (1.0 - 1e-9));
    assert!(law.people_for(1e-9).is_none() && law.people_for(0.0).is_none());
    // However wide an interval may be, there is none without a thousand iterates.
    assert_eq!(law.people_for(1e3), Some(1000));
    assert!(law.doubts(&steps, 999).contains(&Doubt::TooFew { iterates: 999 }));
}

#[test]
fn one_covariate_has_no_direction_across_it() {
    let law = law(DesignKind::Logistic, Weight::Square, 1, f64::INFINITY);
    // Both coordinates are in the pair: no third adds to a trace.
    let pair = law.limit_of_pair();
    assert!((law.averaged_trace() - pair.trace()).abs() < 1e-12);
    assert!((law.mean_deviation() - f64::midpoint(pair.first.sqrt(), pair.second.sqrt())).abs() < 1e-12);
    assert!(law.least_curvature() > 0.0 && law.least_curvature() < 1.0);
}

#[test]
fn a_design_without_a_law_is_refused() {
    assert!(matches!(Design::new(DesignKind::Linear, Weight::Clip, 5), Err(crate::LearnError::Clipped)));
    for dimension in [0, 1001] {
        let refusal = Design::new(DesignKind::Logistic, Weight::Square, dimension).unwrap_err().to_string();
        assert!(refusal.contains(&dimension.to_string()), "{refusal}");
    }
}

#[test]
fn steps_without_a_law_have_no_error_and_say_so() {
    let law = law(DesignKind::Logistic, Weight::Square, 5, 1.0);
    for alpha in [0.0, 1.0] {
        let steps = Steps::new(0.2, alpha, 0).unwrap();
        let Prediction { last_iterate_error, averaged_error, .. } = law.predict(&steps, 300_000);
        assert!(last_iterate_error.is_none() && averaged_error.is_none());
        assert!(
            law.doubts(&steps, 300_000)
                .starts_with(&[Doubt::LastIterate { alpha }, Doubt::Exponent { alpha }])
        );
    }
}

#[test]
fn the_curvature_of_two_covariates_is_its_closed_form() {
    // With weights √2/|x| and Q/2 ~ Exp(1), E w = 1 - e^-½ + e^-½·∫e^-u/√(1+u) du, and the integral is e·√π·erfc(1). An
    // independent table of n·η_n·m has four fifths of what this m gives: it left out the first fifth of all iterates.
    let weight =
        1.0 - (-0.5f64).exp() * (1.0 - std::f64::consts::E * std::f64::consts::PI.sqrt() * libm::erfc(1.0));
    let second = crate::online::clipped_normal::ClippedNormal::new(1.345).second;
    let m = law(DesignKind::Linear, Weight::Linear, 2, 1.0).least_curvature();
    assert!((m - second * weight / 2.0).abs() < 1e-9 && (m - 0.1651).abs() < 5e-5, "{m}");
    let logistic = law(DesignKind::Logistic, Weight::Linear, 2, 1.0).least_curvature();
    for (m, eta, alpha, offset, printed) in [
        (m, 2.0, 0.6, 1000, 26.0),
        (m, 5.0, 0.67, 3000, 29.0),
        (logistic, 2.0, 0.6, 1000, 10.0),
        (logistic, 5.0, 0.67, 3000, 11.0),
    ] {
        let times = 80_000.0 * Steps::new(eta, alpha, offset).unwrap().at(100_000) * m;
        assert!((times - printed).abs() <= 0.5, "{times} for {printed}");
    }
}

#[test]
fn noise_for_the_public_point_is_less_for_the_logistic_loss_with_the_published_weights_alone() {
    let one = budgets(1.0);
    let noise = |design: Design| {
        let of = |law: Law| law.together.1.first - design.law(Budgets::NO_PRIVACY).together.1.first;
        of(design.law(one)) / of(design.law_at_public_point(one).unwrap())
    };
    let design = |kind, weight| Design::new(kind, weight, 5).unwrap();
    let ratio = noise(design(DesignKind::Logistic, Weight::Square));
    assert!((ratio - 1.84).abs() < 0.01, "{ratio}");
    for (kind, weight) in [(DesignKind::Logistic, Weight::Linear), (DesignKind::Linear, Weight::Square)] {
        assert!((noise(design(kind, weight)) - 1.0).abs() < 1e-9);
    }
}
