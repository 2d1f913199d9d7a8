//! The law of one coordinate of a uniform point on the unit sphere in R^p.
//!
//! The coordinate t = cos θ along any axis has the density
//!
//! > f(t) = C·(1 - t²)^((p-3)/2), C = Γ(p/2) / (√π·Γ((p-1)/2)),
//!
//! which for p = 2 is singular at ±1 and still has a finite integral. The direction mechanisms need the mass of
//! the cap {t ≥ cos θ} and the part of the mean that lies in it,
//!
//! > q(θ) = I_{sin²θ}((p-1)/2, 1/2) / 2 for θ ≤ π/2, K(θ) = ∫ t·f(t) dt over the cap = C/(p-1)·sin^(p-1) θ,
//!
//! with I the regularised incomplete beta function. Angles are used instead of cosines, because a small cap has an
//! angle with all its digits and a cosine with none. In one dimension the sphere is {-1, 1}.

use core::f64::consts::{FRAC_PI_2, PI};

/// The unit sphere in R^p.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    dimension: usize,
    /// K(π/2) = E[max(t, 0)] = Γ(p/2) / (2√π·Γ((p+1)/2))
    half_moment: f64,
}

impl Sphere {
    /// The sphere in R^`dimension`, which is at least one.
    pub fn new(dimension: usize) -> Self {
        debug_assert!(dimension > 0);
        let half_moment = 0.5 / (libm::sqrt(PI) * half_step_ratio(0.5 * dimension as f64));
        Self { dimension, half_moment }
    }

    /// p.
    pub fn dimension(self) -> usize {
        self.dimension
    }

    fn p(self) -> f64 {
        self.dimension as f64
    }

    /// f(t).
    pub fn density(self, t: f64) -> f64 {
        (self.p() - 1.0) * self.half_moment * libm::pow((1.0 - t) * (1.0 + t), 0.5 * (self.p() - 3.0))
    }

    /// q(θ): the share of the sphere within `angle` of an axis, for an angle in [0, π].
    pub fn cap_mass(self, angle: f64) -> f64 {
        let tail = self.tail(libm::sin(angle), libm::fabs(libm::cos(angle)));
        if angle <= FRAC_PI_2 { tail } else { 1.0 - tail }
    }

    /// K(θ): the mean of the coordinate times the indicator of the cap.
    pub fn cap_moment(self, angle: f64) -> f64 {
        self.moment(libm::sin(angle), libm::cos(angle))
    }

    /// K from the sine and cosine of the angle.
    pub(super) fn moment(self, sine: f64, cosine: f64) -> f64 {
        self.half_moment * libm::exp(self.ln_power(sine, cosine))
    }

    /// ln sin^(p-1) θ, without cancellation near the equator.
    pub(super) fn ln_power(self, sine: f64, cosine: f64) -> f64 {
        if self.dimension == 1 {
            return 0.0;
        }
        let ln_sine =
            if cosine * cosine < 0.5 { 0.5 * libm::log1p(-cosine * cosine) } else { libm::log(sine) };
        (self.p() - 1.0) * ln_sine
    }

    /// q for an angle of at most π/2, from its sine and cosine.
    ///
    /// With a = (p-1)/2 and B the beta function, 1/(a·B(a, 1/2)) = 2·K(π/2), so both forms of the incomplete beta
    /// function, I_x(a, b) = x^a·(1-x)^b/(a·B(a, b))·F(a, b, x) = 1 - I_{1-x}(b, a), are multiples of K·cos θ.
    pub(super) fn tail(self, sine: f64, cosine: f64) -> f64 {
        if self.dimension == 1 {
            return 0.5;
        }
        let a = 0.5 * (self.p() - 1.0);
        let (x, y) = (sine * sine, cosine * cosine);
        let front = self.moment(sine, cosine) * cosine;
        if y > 1.5 / (a + 2.5) {
            front * continued_fraction(a, 0.5, x)
        } else {
            0.5 - 2.0 * a * front * continued_fraction(0.5, a, y)
        }
    }

    /// The angle of the cap that has the share `mass` in (0, 1) of the sphere.
    ///
    /// Newton's method on ln q as a function of ln θ, kept inside an interval that is known to hold the root.
    pub fn angle_of_cap(self, mass: f64) -> f64 {
        if mass > 0.5 {
            return PI - self.angle_of_cap(1.0 - mass);
        }
        if self.dimension == 1 {
            return 0.0;
        }
        let (mut low, mut high) = (0.0, FRAC_PI_2);
        // Two upper bounds: the coordinate is at most one, so K ≤ q; and q is convex, so it is above its tangent
        // at the equator.
        let small = libm::asin(libm::pow(mass / self.half_moment, 1.0 / (self.p() - 1.0)).min(1.0));
        let large = FRAC_PI_2 - (0.5 - mass) / ((self.p() - 1.0) * self.half_moment);
        let mut angle = small.min(large);
        for _ in 0..100 {
            let (sine, cosine) = (libm::sin(angle), libm::cos(angle));
            let here = self.tail(sine, cosine);
            if here < mass {
                low = angle;
            } else {
                high = angle;
            }
            // d ln q/d ln θ = θ·C·sin^(p-2) θ / q, about p - 1 for small caps
            let slope = angle * (self.p() - 1.0) * self.moment(sine, cosine) / (sine * here);
            let newton = angle * libm::exp(-libm::log(here / mass) / slope);
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            let done = libm::fabs(next - angle) <= 2.0 * f64::EPSILON * angle;
            angle = next;
            if done {
                break;
            }
        }
        angle
    }
}

/// Γ(x + 1/2) / Γ(x), where the difference of two logarithms of Γ would have lost its last digits at large x.
///
/// > ln of it = (ln x)/2 - 1/(8x) + 1/(192x³) - 1/(640x⁵) + 17/(14336x⁷) - 31/(18432x⁹) + …
///
/// from x = 24 on, to which the recurrence Γ(x + 1) = x·Γ(x) leads.
fn half_step_ratio(x: f64) -> f64 {
    let (mut x, mut factor) = (x, 1.0);
    while x < 24.0 {
        factor *= x / (x + 0.5);
        x += 1.0;
    }
    let u = 1.0 / (x * x);
    let series =
        (-0.125 + u * (1.0 / 192.0 + u * (-1.0 / 640.0 + u * (17.0 / 14336.0 - u * 31.0 / 18432.0)))) / x;
    factor * libm::sqrt(x) * libm::exp(series)
}

/// The continued fraction F(a, b, x) of the incomplete beta function, by the method of Lentz; it converges quickly
/// for x < (a + 1)/(a + b + 2).
fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    let away_from_zero = |value: f64| if libm::fabs(value) < 1e-300 { 1e-300 } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for i in 1..20_000 {
        let m = f64::from(i);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away_from_zero(1.0 + even * d);
        c = away_from_zero(1.0 + even / c);
        fraction *= c * d;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away_from_zero(1.0 + odd * d);
        c = away_from_zero(1.0 + odd / c);
        fraction *= c * d;
        if libm::fabs(c * d - 1.0) < 2.0 * f64::EPSILON {
            break;
        }
    }
    fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ∫ sin^(p-2) from 0 to θ over the same from 0 to π, by the trapezoid rule after x = tanh-sinh.
    fn mass_by_quadrature(p: usize, angle: f64) -> f64 {
        let power = p as f64 - 2.0;
        let integral = |from: f64, to: f64| {
            let (centre, half) = (0.5 * (from + to), 0.5 * (to - from));
            let h = 1.0 / 512.0;
            (-2048..=2048)
                .map(|i| {
                    let y = f64::from(i) * h;
                    let u = FRAC_PI_2 * y.sinh();
                    let weight = FRAC_PI_2 * y.cosh() / u.cosh().powi(2);
                    (power * (centre + half * u.tanh()).sin().abs().max(1e-300).ln()).exp()
                        * weight
                        * h
                        * half
                })
                .sum::<f64>()
        };
        integral(0.0, angle) / (2.0 * integral(0.0, FRAC_PI_2))
    }

    #[test]
    fn small_dimensions_have_the_closed_forms() {
        for i in 1..=40 {
            let angle = PI * f64::from(i) / 41.0;
            let t = angle.cos();
            // a point, arc length, Archimedes' hat box, and the cubic of five dimensions
            let near = |p, value: f64| (Sphere::new(p).cap_mass(angle) / value - 1.0).abs() < 2e-13;
            assert!(near(2, angle / PI), "{angle}");
            assert!(near(3, 0.5 * (1.0 - t)), "{angle}");
            assert!(near(5, 0.25 * (1.0 - t) * (1.0 - t) * (2.0 + t)), "{angle}");
            assert!(near(1, 0.5));
        }
    }

    #[test]
    fn the_mass_agrees_with_quadrature_up_to_ten_thousand_dimensions() {
        for p in [2, 3, 6, 11, 50, 101, 1000, 10_000] {
            for z in [0.0, 0.1, 0.7, 1.2, 1.3, 2.0, 4.0] {
                let angle = (z / (p as f64).sqrt()).min(0.999_9).acos();
                let (ours, theirs) = (Sphere::new(p).cap_mass(angle), mass_by_quadrature(p, angle));
                assert!((ours / theirs - 1.0).abs() < 1e-11, "p = {p}, z = {z}: {ours} {theirs}");
            }
        }
    }

    #[test]
    fn the_ratio_of_gammas_is_exact_at_integers_and_grows_as_it_should() {
        // Γ(x + 1/2)/Γ(x)·Γ(x + 1)/Γ(x + 1/2) = x
        for x in [0.5, 1.0, 1.5, 7.25, 15.75, 16.0, 40.0, 5e3, 5e5] {
            let product = half_step_ratio(x) * half_step_ratio(x + 0.5);
            assert!((product / x - 1.0).abs() < 3e-15, "{x}: {product}");
        }
        assert!((half_step_ratio(0.5) * PI.sqrt() - 1.0).abs() < 1e-14);
        assert!(
            (half_step_ratio(20.0) / (libm::lgamma(20.5) - libm::lgamma(20.0)).exp() - 1.0).abs() < 1e-13
        );
    }

    #[test]
    fn the_inverse_takes_a_mass_back_to_its_angle() {
        for p in [2, 3, 4, 6, 21, 101, 1000, 10_000, 1 << 20] {
            let sphere = Sphere::new(p);
            for mass in [1e-200, 1e-22, 1e-9, 0.01, 0.2, 0.4999, 0.5, 0.7, 0.999] {
                let angle = sphere.angle_of_cap(mass);
                let back = sphere.cap_mass(angle);
                assert!((back / mass - 1.0).abs() < 1e-9, "p = {p}, mass {mass}: angle {angle}, back {back}");
            }
        }
    }

    #[test]
    fn the_moment_is_the_integral_of_the_coordinate() {
        // dK/dq = cos θ and f = -dq/dt
        for p in [2, 3, 6, 101] {
            let sphere = Sphere::new(p);
            for angle in [0.4, 1.0, 1.5, 2.0] {
                let h = 1e-6;
                let mass = sphere.cap_mass(angle + h) - sphere.cap_mass(angle - h);
                let moment = sphere.cap_moment(angle + h) - sphere.cap_moment(angle - h);
                assert!((moment - mass * angle.cos()).abs() < 1e-7 * mass + 1e-15, "p = {p}");
                let width = (angle - h).cos() - (angle + h).cos();
                assert!((mass - sphere.density(angle.cos()) * width).abs() < 1e-7 * mass + 1e-15, "p = {p}");
            }
        }
    }
}
