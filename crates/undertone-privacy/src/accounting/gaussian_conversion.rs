//! What μ-GDP means in (ε, δ), and which μ suffices for a wanted (ε, δ).
//!
//! N(0, 1) and N(μ, 1) are told apart at e^ε to 1 with the advantage (Balle and Wang, *Improving the Gaussian Mechanism
//! for Differential Privacy: Analytical Calibration and Optimal Denoising*, 2018; Dong, Roth and Su, *Gaussian
//! Differential Privacy*, 2022)
//!
//! > δ(ε) = Φ(-a) - e^ε·Φ(-b), a = ε/μ - μ/2, b = ε/μ + μ/2
//!
//! which overflows at large ε and cancels at small μ. As φ(a) = e^ε·φ(b), with Mills's ratio M it is also
//!
//! > δ(ε) = φ(a)·(M(a) - M(b)) = φ(a)·∫_a^b (1 - t·M(t)) dt
//!
//! Names tell the direction of rounding: `…_of_gaussian` follows from a promise and is rounded up, `mu_for` suffices
//! for one and is rounded down.

use super::boundary::boundary;
use super::mills::{mills_ratio, mills_slope};
use super::normal::{self, LN_SQRT_2PI};
use super::rounding::up;
use crate::{Delta, Epsilon, Mu, PrivacyError};

/// δ such that μ-GDP implies (ε, δ)-DP: exact but for a relative 10^-11 upwards where ε ≤ 10^4.
///
/// It is 1 where the true value is closer to 1 than a float can be, and positive where the true value would underflow.
pub fn delta_of_gaussian(mu: Mu, epsilon: Epsilon) -> f64 {
    delta_of_ln(ln_delta_of_gaussian(mu, epsilon))
}

/// ln δ such that μ-GDP implies (ε, δ)-DP: rounded up by some 10^-14 of itself, and by at least 10^-14.
///
/// The logarithm tells apart what a float δ cannot: at μ = 1 and ε = 100, δ is 10^-2154.
pub fn ln_delta_of_gaussian(mu: Mu, epsilon: Epsilon) -> f64 {
    ln_delta(mu.get(), epsilon.get())
}

/// ε such that μ-GDP implies (ε, δ)-DP: the least one, rounded up.
///
/// Off by less than a relative 10^-12 or an absolute 10^-12, whichever is larger. Where δ ≥ 2Φ(μ/2) - 1 the least ε is 0,
/// and the least positive float is returned.
pub fn epsilon_of_gaussian(mu: Mu, delta: Delta) -> Result<Epsilon, PrivacyError> {
    let ln_target = libm::log(delta.get()).next_down();
    let (_, enough) = boundary(|epsilon| ln_delta(mu.get(), epsilon) > ln_target);
    Epsilon::new(enough)
}

/// The largest μ whose μ-GDP implies (ε, δ)-DP, rounded down: noise of s.d. Δ/μ suffices, and is needed.
///
/// The calibration of Balle and Wang (2018), for all ε. Do not calibrate by variance 8·ln(1.25/δ)/ε, nor by
/// 8·ln(1.25/δ)/ε² at large ε, as printed in Shi, Xie, Jiang, Kong, He, *Non-Asymptotic Analysis of Online Local
/// Private Learning with SGD*: neither keeps its promise.
pub fn mu_for(epsilon: Epsilon, delta: Delta) -> Result<Mu, PrivacyError> {
    let ln_target = libm::log(delta.get()).next_down();
    let (enough, _) = boundary(|mu| ln_delta(mu, epsilon.get()) <= ln_target);
    Mu::new(enough)
}

/// e^{ln δ}, rounded up into (0, 1].
pub(crate) fn delta_of_ln(ln_delta: f64) -> f64 {
    up(libm::exp(ln_delta), 4.0 * f64::EPSILON).clamp(f64::from_bits(1), 1.0)
}

/// ln δ(ε) for positive floats, rounded up.
fn ln_delta(mu: f64, epsilon: f64) -> f64 {
    let a = epsilon / mu - mu / 2.0;
    let b = epsilon / mu + mu / 2.0;
    // δ ≤ Φ(-a) ≤ e^{-a²/2}, all that needs to be known where a² would overflow
    if a > 1e150 {
        return -5e299;
    }
    // a and b are off by some EPSILON·b each, which δ ∝ e^{-a²/2} feels a times over.
    let margin = 8.0 * f64::EPSILON * (8.0 + libm::fabs(a) * b);
    if mu <= a.max(1.0) / 2.0 {
        // Mills's ratio hardly changes between a and b: integrate its slope.
        (-0.5 * a * a - LN_SQRT_2PI + libm::log(integrate(mills_slope, a, mu))) + margin
    } else if a > 0.0 {
        (-0.5 * a * a - LN_SQRT_2PI + libm::log(mills_ratio(a) - mills_ratio(b))) + margin
    } else {
        // Here M(a) may be infinite and δ close to 1: 1 - δ = Φ(a) + φ(a)·M(b)
        let rest = normal::cdf(a) + normal::pdf(a) * mills_ratio(b);
        libm::log1p(-rest * (1.0 - margin).max(0.0)) * (1.0 - 4.0 * f64::EPSILON)
    }
}

/// ∫ f from `start` over `length`, by ten points of Gauss and Legendre.
///
/// The interval ends within half its distance from zero, or within 1/2: there ten points leave less than 10^-18.
fn integrate(f: fn(f64) -> f64, start: f64, length: f64) -> f64 {
    const NODES: [(f64, f64); 5] = [
        (0.148_874_338_981_631_21, 0.295_524_224_714_752_87),
        (0.433_395_394_129_247_2, 0.269_266_719_309_996_36),
        (0.679_409_568_299_024_4, 0.219_086_362_515_982_04),
        (0.865_063_366_688_984_5, 0.149_451_349_150_580_6),
        (0.973_906_528_517_171_7, 0.066_671_344_308_688_14),
    ];
    let half = length / 2.0;
    let centre = start + half;
    half * NODES
        .iter()
        .map(|&(x, weight)| weight * (f(centre - half * x) + f(centre + half * x)))
        .sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(mu: f64, epsilon: f64) -> f64 {
        delta_of_gaussian(Mu::new(mu).unwrap(), Epsilon::new(epsilon).unwrap())
    }

    #[test]
    fn the_known_values_come_out() {
        for (epsilon, expected) in [(1.0, 0.126_936_737_5), (2.0, 0.020_923_635_8), (3.0, 0.001_537_185_4)] {
            assert!((delta(1.0, epsilon) - expected).abs() < 6e-11, "ε = {epsilon}");
        }
        for (epsilon, delta, expected) in [(1.0, 1e-5, 0.268_051_123_2), (3.0, 1e-6, 0.647_726_530_7)] {
            let mu = mu_for(Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap()).unwrap();
            assert!((mu.get() - expected).abs() < 6e-11, "ε = {epsilon}");
        }
        let epsilon = epsilon_of_gaussian(Mu::new(1.0).unwrap(), Delta::new(1e-5).unwrap()).unwrap();
        assert!((epsilon.get() - 4.377_178_095_7).abs() < 6e-11);
    }

    #[test]
    fn delta_grows_with_mu_and_falls_with_epsilon_across_all_branches() {
        let steps = |from: f64| (0..400).map(move |i| from * libm::exp2(f64::from(i) * 0.1));
        for fixed in [1e-3, 0.3, 1.0, 5.0, 50.0] {
            let rising: alloc::vec::Vec<_> = steps(1e-6).map(|mu| ln_delta(mu, fixed)).collect();
            let falling: alloc::vec::Vec<_> = steps(1e-6).map(|epsilon| ln_delta(fixed, epsilon)).collect();
            // up to the margin, which differs from place to place
            let slack = |x: f64| 1e-11 * x.abs().max(1.0);
            assert!(rising.windows(2).all(|pair| pair[0] <= pair[1] + slack(pair[1])), "ε = {fixed}");
            assert!(falling.windows(2).all(|pair| pair[0] + slack(pair[0]) >= pair[1]), "μ = {fixed}");
        }
    }

    #[test]
    fn the_branches_meet_where_they_touch() {
        // the integral ends at μ = max(1, a)/2, and the form for a ≤ 0 begins at ε = μ²/2
        let pairs = [(0.5, 0.2), (0.5, 0.5), (1.0, 2.5), (4.0, 40.0), (1.0, 0.5), (3.0, 4.5)];
        for (mu, epsilon) in pairs {
            let below = ln_delta(mu * (1.0 - 1e-13), epsilon);
            let above = ln_delta(mu * (1.0 + 1e-13), epsilon);
            assert!((above - below).abs() < 1e-10, "μ = {mu}, ε = {epsilon}");
        }
    }

    #[test]
    fn a_delta_too_small_for_a_float_is_rounded_up_to_the_least_float() {
        assert_eq!(delta(1.0, 100.0), f64::from_bits(1));
        let ln_delta = ln_delta_of_gaussian(Mu::new(1.0).unwrap(), Epsilon::new(100.0).unwrap());
        assert!((ln_delta / core::f64::consts::LN_10 + 2154.21).abs() < 0.01, "{ln_delta}");
        assert_eq!(delta(100.0, 1e-3), 1.0);
    }

    #[test]
    fn a_large_delta_needs_no_epsilon() {
        // 2Φ(1/2) - 1 = 0.383
        let mu = Mu::new(1.0).unwrap();
        let least = epsilon_of_gaussian(mu, Delta::new(0.4).unwrap()).unwrap();
        assert_eq!(least.get(), f64::from_bits(1));
        assert!(epsilon_of_gaussian(mu, Delta::new(0.38).unwrap()).unwrap().get() > 1e-3);
    }

    #[test]
    fn what_cannot_be_said_in_floats_is_an_error_with_its_value() {
        // ε = μ²/2 or so
        let epsilon = epsilon_of_gaussian(Mu::new(1e200).unwrap(), Delta::new(1e-6).unwrap());
        assert_eq!(epsilon, Err(PrivacyError::Epsilon { value: f64::INFINITY }));
    }
}
