//! Critical values of random scaling, exactly.
//!
//! √n·(θ̄ - θ*)/√V tends to T = W(1)/√∫(W(r) - r·W(1))² dr. W(1) is independent of the bridge below it, so that
//! P(T > t) = E Φ(-t·√∫B²); Craig's form of Φ and the Laplace transform of ∫B², E e^(-λ·∫B²) = √(s/sinh s) with s = √(2λ), give
//!
//! > P(T > t) = (1/π)·∫_0^(π/2) √(s/sinh s) dφ,   s = t/sin φ
//!
//! 95 % two-sided is 6.7473. The literature prints 6.747 from simulation, and in an older table 6.811, which is wrong.

use crate::LearnError;
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

/// How often an interval should cover: from a half on, and below one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level(f64);

impl Level {
    /// What most intervals have.
    pub const NINETY_FIVE: Self = Self(0.95);

    /// Such as 0.95.
    pub fn new(level: f64) -> Result<Self, LearnError> {
        if (0.5..=1.0 - 1e-12).contains(&level) {
            Ok(Self(level))
        } else {
            let (what, expected) = ("the level of an interval", "at least 1/2 and below 1");
            Err(LearnError::Parameter { what, value: level, expected })
        }
    }

    /// As it was given.
    pub fn get(self) -> f64 {
        self.0
    }

    /// The level that each of `count` intervals needs so that all of them cover together (Bonferroni).
    pub fn shared_by(self, count: usize) -> Result<Self, LearnError> {
        Self::new(1.0 - (1.0 - self.0) / count.max(1) as f64)
    }

    /// c with P(|T| > c) = 1 - level.
    pub fn critical_value(self) -> f64 {
        let aim = (1.0 - self.0) / 2.0;
        // tail(200) < e^-97
        let (mut low, mut high) = (0.0, 200.0);
        for _ in 0..64 {
            let middle = f64::midpoint(low, high);
            if tail(middle) > aim { low = middle } else { high = middle }
        }
        f64::midpoint(low, high)
    }

    /// How wide an interval is in the mean, in units of the standard deviation of θ̄: 2c·E√∫B².
    pub fn mean_width(self) -> f64 {
        2.0 * self.critical_value() * mean_root()
    }
}

/// √(s/sinh s), the Laplace transform of ∫B² at s²/2.
fn transform(s: f64) -> f64 {
    if s < 1e-4 {
        1.0 - s * s / 12.0
    } else {
        (2.0 * s / -libm::expm1(-2.0 * s)).sqrt() * libm::exp(-s / 2.0)
    }
}

/// P(T > t). The integrand is even around π/2 and all its derivatives vanish at zero: the midpoint rule converges faster than
/// any power.
fn tail(t: f64) -> f64 {
    const POINTS: u32 = 512;
    let width = FRAC_PI_2 / f64::from(POINTS);
    let at = |i: u32| transform(t / libm::sin((f64::from(i) + 0.5) * width));
    (0..POINTS).map(at).sum::<f64>() * width * std::f64::consts::FRAC_1_PI
}

/// E√∫B² = √(2/π)·∫_0^∞ (1 - √(s/sinh s))/s² ds, from √x = (2√π)⁻¹·∫ (1 - e^(-λx))·λ^(-3/2) dλ.
fn mean_root() -> f64 {
    // s = e^u: an integrand that falls off like e^-|u| on both sides, for which the trapezoidal rule converges as fast
    const STEP: f64 = 1.0 / 16.0;
    let at = |i: i32| {
        let s = libm::exp(f64::from(i) * STEP);
        // 1 - √(s/sinh s) by its series where it cancels
        let missing = if s < 1e-2 { s * s / 12.0 - s.powi(4) / 160.0 } else { 1.0 - transform(s) };
        missing / s
    };
    FRAC_2_PI.sqrt() * STEP * (-600..=600).map(at).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Normals, sample};
    use super::*;

    #[test]
    fn critical_values_are_those_of_the_table() {
        let one_sided = [
            (0.90, 3.874_881),
            (0.95, 5.322_680),
            (0.975, 6.747_302),
            (0.99, 8.613_187),
            (0.995, 10.017_267),
        ];
        for (p, quantile) in one_sided {
            let found = Level::new(2.0 * p - 1.0).unwrap().critical_value();
            assert!((found - quantile).abs() < 5.1e-7, "{found} for {quantile}");
        }
    }

    #[test]
    fn intervals_that_share_a_level_are_wider() {
        let level = Level::new(0.95).unwrap();
        let shared = level.shared_by(5).unwrap();
        assert!((shared.get() - 0.99).abs() < 1e-12);
        assert!((shared.critical_value() - 10.017_267).abs() < 1e-6);
        assert!((level.shared_by(1).unwrap().get() - 0.95).abs() < 1e-15);
        for level in [0.0, 0.4, 1.0, f64::NAN] {
            assert!(Level::new(level).is_err());
        }
    }

    #[test]
    fn more_points_change_nothing() {
        // √(s/sinh s) at t = 0 is one: half of all.
        assert!((tail(0.0) - 0.5).abs() < 1e-12);
        let fine = |t: f64| {
            let width = FRAC_PI_2 / 65536.0;
            let at = |i: u32| transform(t / ((f64::from(i) + 0.5) * width).sin());
            (0..65536).map(at).sum::<f64>() * width / std::f64::consts::PI
        };
        for t in [0.8, 2.0, 6.747, 20.0, 50.0] {
            assert!((tail(t) / fine(t) - 1.0).abs() < 1e-9, "{t}: {} and {}", tail(t), fine(t));
        }
    }

    #[test]
    fn the_mean_width_is_that_of_bridges_that_were_drawn() {
        // ∫B² = Σ Z_k²/(kπ)²; what comes after the hundredth has the mean Σ 1/(kπ)² to within nothing.
        let mut normals = Normals::new(3);
        let rest: f64 = (101..100_000).map(|k| (std::f64::consts::PI * f64::from(k)).powi(-2)).sum();
        let mut root = || {
            let terms = (1..=100).map(|k| (normals.next() / (std::f64::consts::PI * f64::from(k))).powi(2));
            (terms.sum::<f64>() + rest).sqrt()
        };
        let drawn = sample(&(0..20_000).map(|_| root()).collect::<Vec<f64>>());
        assert!((drawn.mean - mean_root()).abs() < 5.0 * drawn.error, "{} for {}", drawn.mean, mean_root());
    }
}
