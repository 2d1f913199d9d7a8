//! Margins of few covariates: those of records on the unit sphere, where no margin is beyond |w|.
//!
//! Along a direction u the score t = ⟨u, x⟩ has E\[t²\] = q and lies in [-1, 1]. With t² of the law Beta(1/2, (1/q - 1)/2), that of a
//! coordinate on a sphere of 1/q dimensions, t is spread as q says and ends where records end; it is nearly normal where
//! q is small. Labels that are logistic in t, P(y = 1 | t) = 1/(1 + e^(-a·t)), with a such that E\[y·t\] is what was told, make
//!
//! > E f(c·y·t) = E\[(1 + tanh(a·t/2))·f(c·t)\]
//!
//! For two covariates normal margins reach far beyond what there is, and the kink of the hinge is put at twice its place.

use super::MarginLoss;
use crate::moments::golden::{SECTIONS, golden};

/// Places of t.
const PLACES: u32 = 400;
/// The largest share of E|t| that E\[y·t\] may be for labels to be logistic in t.
const SUREST: f64 = 0.98;

/// The c ≤ `most` of least risk along a direction in which E\[y·t\] = m and E\[t²\] = q; none where no such law has these moments.
pub(in crate::moments) fn best_length(loss: MarginLoss, m: f64, q: f64, most: f64) -> Option<f64> {
    let law = law(q)?;
    let longest: f64 = law.iter().map(|(t, weight)| weight * t.abs()).sum();
    if m <= 0.0 || m > SUREST * longest {
        return None;
    }
    let moment = |a: f64| law.iter().map(|(t, weight)| weight * t * (0.5 * a * t).tanh()).sum::<f64>();
    // E[y·t] rises with a.
    let (mut low, mut high) = (0.0, 1.0);
    while moment(high) < m {
        high *= 2.0;
    }
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if moment(middle) < m { low = middle } else { high = middle }
    }
    let weighed: Vec<(f64, f64)> =
        law.iter().map(|&(t, weight)| (t, weight * (1.0 + (0.5 * high * t).tanh()))).collect();
    let risk = |c: f64| weighed.iter().map(|(t, weight)| weight * loss.at(c * t)).sum::<f64>();
    Some(golden(0.0, most, SECTIONS, risk).0)
}

/// t = sin θ with the density cos^(1/q - 2) of θ, at evenly spaced θ, and scaled so that q is their mean square to the last place: a
/// sum misses some of the ends where the density rises towards them. None where q is no mean square of such a t.
fn law(q: f64) -> Option<Vec<(f64, f64)>> {
    if !(q > 1e-3 && q < 0.9) {
        return None;
    }
    let step = std::f64::consts::PI / f64::from(PLACES);
    let angles = (0..PLACES).map(|k| step * (f64::from(k) + 0.5) - std::f64::consts::FRAC_PI_2);
    let raw: Vec<(f64, f64)> = angles.map(|angle| (angle.sin(), angle.cos().powf(1.0 / q - 2.0))).collect();
    let sum: f64 = raw.iter().map(|(_, weight)| weight).sum();
    let square: f64 = raw.iter().map(|(t, weight)| weight / sum * t * t).sum();
    Some(raw.into_iter().map(|(t, weight)| (t * (q / square).sqrt(), weight / sum)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_law_has_the_mean_square_that_was_told() {
        for q in [0.02, 0.2, 0.5, 0.7] {
            let law = law(q).unwrap();
            let found: f64 = law.iter().map(|(t, weight)| weight * t * t).sum();
            let farthest = law.iter().map(|(t, _)| t.abs()).fold(0.0, f64::max);
            assert!((found / q - 1.0).abs() < 1e-12 && farthest < 1.05, "{found} for {q}, {farthest}");
        }
        assert!(law(0.95).is_none() && law(0.0).is_none());
    }

    #[test]
    fn on_a_circle_the_length_is_the_best_one() {
        // Angles are uniform, labels logistic with a = 6: E[y·t] and the risk of the hinge by sums over the circle
        let count = 20_000u32;
        let circle: Vec<(f64, f64)> = (0..count)
            .map(|k| (std::f64::consts::TAU * f64::from(k) / f64::from(count)).cos())
            .map(|t| (t, (3.0 * t).tanh()))
            .collect();
        let n = f64::from(count);
        let m = circle.iter().map(|(t, mean)| t * mean).sum::<f64>() / n;
        let risk = |c: f64| {
            let of = |(t, mean): &(f64, f64)| {
                0.5 * ((1.0 + mean) * MarginLoss::Hinge.at(c * t)
                    + (1.0 - mean) * MarginLoss::Hinge.at(-c * t))
            };
            circle.iter().map(of).sum::<f64>() / n
        };
        let found = best_length(MarginLoss::Hinge, m, 0.5, 6.0).unwrap();
        let (_, least) = golden(0.0, 6.0, SECTIONS, risk);
        assert!(risk(found) < least + 1e-4, "{found}: {} for {least}", risk(found));
    }

    #[test]
    fn moments_that_no_such_law_has_are_left_to_others() {
        // E|t| = 2/π on a circle
        assert!(best_length(MarginLoss::Hinge, 0.64, 0.5, 5.0).is_none());
        assert!(best_length(MarginLoss::Hinge, -0.1, 0.5, 5.0).is_none());
        assert!(best_length(MarginLoss::Hinge, 0.6, 0.5, 5.0).is_some());
    }
}
