//! Means over z ~ N(0, I_d) of functions of |z| and of one coordinate, by quadrature in polar coordinates.
//!
//! > z = r·u,   density of r ∝ r^(d-1)·e^(-r²/2),   of u_1 = cos φ ∝ sin^(d-2) φ
//!
//! Weights are functions of r with one corner, at which the pieces meet, so that everything in between is smooth and Gauss'
//! rule is exact to many digits.

use std::f64::consts::{FRAC_PI_2, PI};

/// Points of Gauss' rule on each piece.
const POINTS: usize = 16;
/// Beyond this many standard deviations there is nothing left to add.
const REACH: f64 = 12.0;

/// Places with their probabilities.
pub(super) struct Polar {
    /// r
    radii: Vec<(f64, f64)>,
    /// cos φ
    cosines: Vec<(f64, f64)>,
}

impl Polar {
    /// For d = `dimension` ≥ 1 and functions that have a corner at r = `corner`.
    pub(super) fn new(dimension: usize, corner: f64) -> Self {
        let d = dimension as f64;
        let (low, high) = ((d.sqrt() - REACH).max(0.0), d.sqrt() + REACH);
        let corner = corner.clamp(low, high);
        let mut radii = pieces(low, corner, (corner - low).ceil() as usize);
        radii.extend(pieces(corner, high, (high - corner).ceil() as usize));
        // ln of r^(d-1)·e^(-r²/2), less its value at √d
        let ln_density = |r: f64| (d - 1.0) * (r / d.sqrt()).ln() - (r * r - d) / 2.0;
        weigh(&mut radii, ln_density);
        Self { radii, cosines: cosines(d) }
    }

    /// E f(|z|²).
    pub(super) fn radial(&self, f: impl Fn(f64) -> f64) -> f64 {
        self.radii.iter().map(|(r, weight)| weight * f(r * r)).sum()
    }

    /// E f(|z|², z_1).
    pub(super) fn mean(&self, f: impl Fn(f64, f64) -> f64) -> f64 {
        let at = |r: f64| self.cosines.iter().map(|(cos, weight)| weight * f(r * r, r * cos)).sum::<f64>();
        self.radii.iter().map(|(r, weight)| weight * at(*r)).sum()
    }
}

/// cos φ, with its probabilities.
fn cosines(d: f64) -> Vec<(f64, f64)> {
    if d < 1.5 {
        return vec![(1.0, 0.5), (-1.0, 0.5)];
    }
    let reach = (REACH / d.sqrt()).min(FRAC_PI_2);
    // What is integrated may turn within 1/√d of a standard deviation.
    let count = 32 + 4 * d.sqrt() as usize;
    let mut angles = pieces(FRAC_PI_2 - reach, FRAC_PI_2 + reach, count);
    weigh(&mut angles, |angle| (d - 2.0) * angle.sin().ln());
    angles.into_iter().map(|(angle, weight)| (angle.cos(), weight)).collect()
}

/// Gauss' rule on each of `count` equal pieces.
fn pieces(low: f64, high: f64, count: usize) -> Vec<(f64, f64)> {
    let rule = gauss();
    let width = (high - low) / count as f64;
    let piece = |i: usize| {
        let middle = low + (i as f64 + 0.5) * width;
        rule.map(|(x, weight)| (middle + x * width / 2.0, weight * width / 2.0))
    };
    (0..count).flat_map(piece).collect()
}

/// Multiplies the weights by a density and makes them sum to one.
fn weigh(points: &mut [(f64, f64)], ln_density: impl Fn(f64) -> f64) {
    for (x, weight) in points.iter_mut() {
        *weight *= ln_density(*x).exp();
    }
    let total: f64 = points.iter().map(|(_, weight)| weight).sum();
    for (_, weight) in points {
        *weight /= total;
    }
}

/// The places and weights of Gauss' rule on (-1, 1): roots of the Legendre polynomial by Newton's method.
fn gauss() -> [(f64, f64); POINTS] {
    let n = POINTS as f64;
    std::array::from_fn(|i| {
        let mut x = (PI * (i as f64 + 0.75) / (n + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..20 {
            // (k + 1)·P_{k+1} = (2k + 1)·x·P_k - k·P_{k-1}
            let step = |(p, before): (f64, f64), k: usize| {
                let k = k as f64;
                (((2.0 * k + 1.0) * x * p - k * before) / (k + 1.0), p)
            };
            let (p, before) = (1..POINTS).fold((x, 1.0), step);
            slope = n * (x * p - before) / (x * x - 1.0);
            x -= p / slope;
        }
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_normal_numbers_are_theirs() {
        for d in [1, 2, 3, 5, 20, 400] {
            let (polar, n) = (Polar::new(d, 1.0), d as f64);
            let moments = [
                (polar.radial(|q| q), n),
                (polar.radial(|q| q * q), n * (n + 2.0)),
                (polar.mean(|_, z| z * z), 1.0),
                (polar.mean(|_, z| z.powi(4)), 3.0),
                (polar.mean(|q, z| (q - z * z) * z * z), n - 1.0),
                (polar.mean(|_, z| (z / 2.0).exp()), 0.125f64.exp()),
            ];
            for (found, expected) in moments {
                assert!(
                    (found - expected).abs() < 1e-9 * (1.0 + expected),
                    "d = {d}: {found} for {expected}"
                );
            }
        }
    }

    #[test]
    fn a_corner_costs_no_digits() {
        // E max(0, |z| - 1) for d = 2, where P(|z| > r) = e^(-r²/2): ∫_1^∞ e^(-r²/2) dr = √(2π)·Φ(-1)
        let found = Polar::new(2, 1.0).radial(|q| (q.sqrt() - 1.0).max(0.0));
        assert!((found - (2.0 * PI).sqrt() * 0.158_655_253_931_457_07).abs() < 1e-12, "{found}");
    }
}
