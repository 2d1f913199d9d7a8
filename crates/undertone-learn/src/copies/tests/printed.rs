//! What is printed and wrong. The variants live here only.

use super::super::bernstein::basis;
use super::super::*;
use crate::convex::Feasible;
use undertone_privacy::vector::stream::PublicStream;

/// The largest error of a polynomial in the place of the smooth hinge's slope over margins in [-1, 1].
fn worst(polynomial: impl Fn(f64) -> f64) -> f64 {
    let off = |t: f64| (polynomial(t) - smooth_hinge_slope(t, 0.25)).abs();
    (-1000..=1000).map(|k| off(f64::from(k) / 1000.0)).fold(0.0, f64::max)
}

#[test]
fn bernstein_polynomials_without_the_map_approximate_half_of_the_margins() {
    for (degree, printed, mapped) in [(2, 0.85, 0.252), (4, 2.3, 0.202), (8, 12.4, 0.144)] {
        // nodes j/d and powers of the margin itself
        let c: Vec<f64> = (0..=degree).map(|j| smooth_hinge_slope(j as f64 / degree as f64, 0.25)).collect();
        let wrong = worst(|t| basis(degree, t).iter().zip(&c).map(|(b, c)| b * c).sum());
        assert!((wrong / printed - 1.0).abs() < 0.05, "degree {degree}: {wrong}");
        let slope = BernsteinSlope::new(degree, 1.0, |t| smooth_hinge_slope(t, 0.25)).unwrap();
        let right = worst(|t| slope.at(t));
        assert!((right - mapped).abs() < 0.001, "degree {degree}: {right}");
    }
}

/// The slope of max(|t| - 1/2, 0).
fn valley(t: f64) -> f64 {
    f64::from(u8::from(t >= 0.5)) - f64::from(u8::from(t < -0.5))
}

#[test]
fn a_kink_of_its_own_for_each_factor_is_the_polynomial_at_the_mean_kink() {
    // At t = 0.25 the slope is 0. s is ±1/2, each half of the time.
    let mixture = Mixture::new(valley, 1.0).unwrap();
    let step = BernsteinSlope::new(200, 1.0, |x| smooth_step(x, 0.05)).unwrap();
    let slope = |s: f64| mixture.rise() * step.at(0.5 * (0.25 - s)) + mixture.low();
    let kinks: Vec<f64> = (0..100).map(|k| mixture.kink((f64::from(k) + 0.5) / 100.0)).collect();
    let shared = kinks.iter().map(|&s| slope(s)).sum::<f64>() / 100.0;
    // Independent factors have the product of their means: each is 1/2 + (t - E s)/4.
    let independent = slope(kinks.iter().sum::<f64>() / 100.0);
    assert!(shared.abs() < 0.12, "{shared}");
    assert!(independent > 0.7, "{independent}");
}

#[test]
fn the_constant_slope_belongs_in_front_of_the_vector() {
    // f(t) = -t has the slope -1 everywhere, and the gradient -z. Adding the number -1 to each coordinate instead is wrong.
    let z = [0.3, -0.4];
    let mixture = Mixture::new((|_| -1.0) as fn(f64) -> f64, 1.0).unwrap();
    let step = BernsteinSlope::new(2, 1.0, |x| smooth_step(x, 0.25)).unwrap();
    let share = mixture.rise() * step.at(0.1);
    let right = z.map(|z| (share + mixture.low()) * z);
    let printed = z.map(|z| share * z + mixture.low());
    assert!(right.iter().zip(z).all(|(g, z)| (g + z).abs() < 1e-12));
    assert!(printed.iter().zip(z).any(|(g, z)| (g + z).abs() > 0.5));
}

#[test]
fn equal_exponents_and_sums_from_one_are_no_bernstein_polynomial() {
    // Bases sum to one; x^j·(1-x)^j do not, nor do they without j = 0.
    let u: f64 = 0.3;
    let right: f64 = basis(4, u).iter().sum();
    let printed: f64 =
        [1.0, 4.0, 6.0, 4.0, 1.0].iter().zip(0..).map(|(c, j)| c * (u * (1.0 - u)).powi(j)).sum();
    let from_one: f64 = basis(4, u)[1..].iter().sum();
    assert!((right - 1.0).abs() < 1e-12 && (printed - 1.0).abs() > 0.5 && (from_one - 1.0).abs() > 0.2);
    // Products that end at jd + i leave d(d+1) copies unused or used twice: term j has to have d of its own.
    assert_eq!(Layout::Printed.inner(4), 4 * 5);
}

/// The excess of |w - c|²/2 in ten dimensions after T steps with noisy gradients.
fn excess(order: f64, steps: u32) -> f64 {
    let target: Vec<f64> = (0..10).map(|j| 0.133 * if j % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let ball = Feasible::ball(1.0).unwrap();
    let noise = 0.5;
    let mut method = Sigm::unchecked(10, order, 1.0, noise, ball, 1.0);
    let (mut stream, mut normal) = (PublicStream::new(9, 1), vec![0.0; 10]);
    for _ in 0..steps {
        stream.fill_normal(&mut normal);
        let shifted = method.point().iter().zip(&target).zip(&normal);
        let gradient: Vec<f64> = shifted.map(|((w, c), z)| w - c + noise / 10f64.sqrt() * z).collect();
        method.step(&gradient);
    }
    method.answer().iter().zip(&target).map(|(w, c)| 0.5 * (w - c).powi(2)).sum()
}

#[test]
fn the_order_of_the_method_is_not_the_dimension() {
    let start = 0.5 * 10.0 * 0.133f64.powi(2);
    let (first, second, dimension) = (excess(1.0, 5000), excess(2.0, 5000), excess(10.0, 5000));
    assert!(first < start / 100.0 && second < start / 10.0, "{first}, {second} from {start}");
    assert!(dimension > start / 4.0, "{dimension} from {start}");
    assert!(Sigm::new(10, 10.0, 1.0, 0.5, 1.0).is_err() && Sigm::new(10, 0.5, 1.0, 0.5, 1.0).is_err());
    // The error falls like 1/√T at worst.
    assert!(excess(1.0, 10_000) < excess(1.0, 100));
}
