//! Two classes of people where a covariate is constant: what everybody's x = (c, u) with a known c tells beyond the margins.
//!
//! E\[y·c\] is the share of the classes, E\[c·u\] the mean of everybody and E\[y·u\] with them that of either class:
//!
//! > E\[u | y\] = b + d·(y - e)/(1 - e²),   e = E\[y\], b = E\[u\], d = E\[yu\] - e·b
//!
//! > Σ = E\[uu'\] - bb' - dd'/(1 - e²)
//!
//! Normal u around these means with the covariance Σ are a population with the moments that were told, so that the risk is convex
//! in w, and a rare class is not mistaken for a tail of the common one: with an intercept the margins of everybody are two
//! clouds, which one normal law ([`Closure::Gauss`](super::Closure)) misses.
//!
//! Given w_0·c + ⟨v, b⟩ and ⟨v, d⟩, the risk sees v through v'Σv alone, and rises with it. So v = α·Σ⁻¹d inside the ball of
//! weights; on its sphere v = α·(Σ + κI)⁻¹d is searched, which is all there is where b = 0, as after public centring.

use super::closure::{MarginLoss, normal_risk};
use super::estimate::{Moments, shrunk};
use super::golden::{SECTIONS, golden};
use super::length::Length;
use super::spectrum::{Spectrum, add_outer};
use crate::LearnError;

/// No class is thought to be rarer than one in two thousand.
const RAREST: f64 = 5e-4;
/// The least share of the mean eigenvalue of E\[uu'\] that Σ has in any direction.
const NARROWEST: f64 = 0.02;
/// Sections of each of two searches in one another: 0.618^26 is below 10^-5.
const NESTED: usize = 26;
/// Places of a first look at κ, in the logarithm, from this share of the largest eigenvalue to its inverse.
const PLACES: usize = 16;
const LEAST: f64 = 1e-4;

/// The law of people of two classes.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    loss: MarginLoss,
    constant: f64,
    /// e
    mean_label: f64,
    /// b and d, in the coordinates of the eigenvectors of Σ
    middle: Vec<f64>,
    apart: Vec<f64>,
    /// Of Σ
    within: Spectrum,
}

impl Classes {
    /// What is believed of people whose first covariate is `constant`, with the difference of classes as long as `length` says, and
    /// Σ wider by so many standard deviations of what was told.
    pub(super) fn new(
        loss: MarginLoss,
        constant: f64,
        moments: &Moments,
        length: Length,
        wider: f64,
    ) -> Result<Self, LearnError> {
        let others = moments.covariates() - 1;
        let (v, w) = (moments.mean_variance(), moments.second_variance());
        let (first, rest) = (moments.mean()[0], &moments.mean()[1..]);
        let most = 1.0 - 2.0 * RAREST;
        let mean_label = inside(first / constant, v / constant.powi(2)).clamp(-most, most);
        let (beside, block) = split(moments);
        // An entry off the diagonal has half of the variance of a coordinate of svec.
        let middle_variance = w / 2.0 / constant.powi(2);
        let keep = |vector: &mut Vec<f64>, variance: f64, length: Length| {
            let square: f64 = vector.iter().map(|x| x * x).sum();
            let share = length.keep(square, others, variance);
            for x in vector {
                *x *= share;
            }
        };
        let mut middle: Vec<f64> = beside.iter().map(|s| s / constant).collect();
        keep(&mut middle, middle_variance, Length::Nearest);
        let mut apart: Vec<f64> = rest.iter().zip(&middle).map(|(m, b)| m - mean_label * b).collect();
        keep(&mut apart, v + mean_label.powi(2) * middle_variance, length);

        let room = (1.0 - constant.powi(2)).max(f64::EPSILON);
        let mut all = match block {
            Some(svec) => shrunk(Spectrum::of_svec(others, &svec)?, svec.len() as f64 * w, room),
            None => Spectrum::multiple(others, room / others as f64),
        };
        all.values.iter_mut().for_each(|value| *value += wider * w.sqrt());
        let narrowest = NARROWEST * all.values.iter().sum::<f64>() / others as f64;
        let mut svec = all.svec();
        add_outer(&mut svec, &middle, -1.0);
        add_outer(&mut svec, &apart, -1.0 / (1.0 - mean_label.powi(2)));
        let mut within = Spectrum::of_svec(others, &svec)?;
        within.values.iter_mut().for_each(|value| *value = value.max(narrowest));
        let (middle, apart) = (within.inward(&middle), within.inward(&apart));
        Ok(Self { loss, constant, mean_label, middle, apart, within })
    }

    /// E\[yx\] and svec of E\[xx'\] of such people.
    pub(super) fn moments(&self) -> (Vec<f64>, Vec<f64>) {
        let (e, c) = (self.mean_label, self.constant);
        let (middle, apart) = (self.within.outward(&self.middle), self.within.outward(&self.apart));
        let mut mean = vec![c * e];
        mean.extend(apart.iter().zip(&middle).map(|(d, b)| d + e * b));
        let mut block = self.within.svec();
        add_outer(&mut block, &middle, 1.0);
        add_outer(&mut block, &apart, 1.0 / (1.0 - e * e));
        let mut second = vec![c * c];
        let mut entries = block.into_iter();
        for (i, b) in middle.iter().enumerate() {
            second.push(std::f64::consts::SQRT_2 * c * b);
            second.extend(entries.by_ref().take(i + 1));
        }
        (mean, second)
    }

    /// The risk of weights, that of the constant first.
    pub(super) fn risk(&self, weights: &[f64]) -> f64 {
        let v = self.within.inward(&weights[1..]);
        let shift = self.constant * weights[0] + dot(&v, &self.middle);
        let spread: f64 = v.iter().zip(&self.within.values).map(|(v, value)| v * v * value).sum();
        self.risk_at(shift, dot(&v, &self.apart), spread.sqrt())
    }

    /// Where everybody's mean score is `shift`, ⟨v, d⟩ is `along`, and scores deviate by `deviation` within a class.
    fn risk_at(&self, shift: f64, along: f64, deviation: f64) -> f64 {
        let e = self.mean_label;
        let of = |y: f64| {
            let score = shift + along * (y - e) / (1.0 - e * e);
            0.5 * (1.0 + y * e) * normal_risk(self.loss, y * score, deviation)
        };
        of(1.0) + of(-1.0)
    }

    /// The weights of least risk in the ball.
    pub(super) fn minimum(&self, radius: f64) -> Vec<f64> {
        let free = self.along(0.0, radius);
        if free.square() < (radius * (1.0 - 1e-3)).powi(2) {
            return self.weights(&free);
        }
        let largest = self.within.values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let width = -2.0 * LEAST.ln() / (PLACES - 1) as f64;
        let at = |place: f64| largest * LEAST * (width * place).exp();
        let risk = |place: f64| self.along(at(place), radius).risk;
        let best = (0..PLACES).map(|k| (risk(k as f64), k)).min_by(|a, b| a.0.total_cmp(&b.0));
        let place = best.map_or(0.0, |(_, k)| k as f64);
        let (place, least) = golden(place - 1.0, place + 1.0, NESTED / 2, risk);
        if free.risk <= least { self.weights(&free) } else { self.weights(&self.along(at(place), radius)) }
    }

    /// The least risk among v = α·(Σ + κI)⁻¹d.
    fn along(&self, kappa: f64, radius: f64) -> Ray {
        let direction: Vec<f64> =
            self.apart.iter().zip(&self.within.values).map(|(d, value)| d / (value + kappa)).collect();
        let length = dot(&direction, &direction).sqrt().max(f64::MIN_POSITIVE);
        let unit: Vec<f64> = direction.iter().map(|x| x / length).collect();
        let (across, along) = (dot(&unit, &self.middle), dot(&unit, &self.apart));
        let deviation =
            unit.iter().zip(&self.within.values).map(|(u, value)| u * u * value).sum::<f64>().sqrt();
        let best = |alpha: f64, sections: usize| {
            let most = (radius * radius - alpha * alpha).max(0.0).sqrt();
            golden(-most, most, sections, |w| {
                let shift = self.constant * w + alpha * across;
                self.risk_at(shift, alpha * along, alpha * deviation)
            })
        };
        let (alpha, _) = golden(0.0, radius, NESTED, |alpha| best(alpha, NESTED).1);
        // Nothing beyond the constant may be best, and no section ends there.
        let candidates = [alpha, 0.0].map(|alpha| (alpha, best(alpha, SECTIONS)));
        let [(_, (_, some)), (_, (_, none))] = candidates;
        let (alpha, (first, risk)) = candidates[usize::from(none <= some)];
        Ray { first, alpha, unit, risk }
    }

    fn weights(&self, ray: &Ray) -> Vec<f64> {
        let v = self.within.outward(&ray.unit);
        [ray.first].into_iter().chain(v.into_iter().map(|v| ray.alpha * v)).collect()
    }
}

/// Weights along one direction, and their risk.
struct Ray {
    first: f64,
    alpha: f64,
    unit: Vec<f64>,
    risk: f64,
}

impl Ray {
    fn square(&self) -> f64 {
        self.first.powi(2) + self.alpha.powi(2)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// E\[c·u\] and svec of E\[uu'\], as far as they were told.
fn split(moments: &Moments) -> (Vec<f64>, Option<Vec<f64>>) {
    let p = moments.covariates();
    let Some(svec) = moments.second() else {
        return (vec![0.0; p - 1], None);
    };
    let (mut beside, mut block) = (Vec::with_capacity(p - 1), Vec::with_capacity(p * (p - 1) / 2));
    let mut entries = svec[1..].iter();
    for row in 1..p {
        beside.extend(entries.by_ref().take(1).map(|s| s / std::f64::consts::SQRT_2));
        block.extend(entries.by_ref().take(row));
    }
    (beside, Some(block))
}

/// E\[m\] for a normal m of this mean and variance that is known to lie in [-1, 1], by the midpoint rule: a noisy mean of labels
/// beyond one would make everybody certain.
pub(crate) fn inside(mean: f64, variance: f64) -> f64 {
    const PLACES: u32 = 400;
    let deviation = variance.sqrt();
    // Where it is far from both ends they make no difference, and a narrow law would fall between the places.
    if mean.abs() + 6.0 * deviation <= 1.0 {
        return mean;
    }
    let (low, high) = ((mean - 8.0 * deviation).max(-1.0), (mean + 8.0 * deviation).min(1.0));
    let (mut weights, mut sum) = (0.0, 0.0);
    for place in 0..PLACES {
        let m = low + (high - low) * (f64::from(place) + 0.5) / f64::from(PLACES);
        let weight = (-0.5 * ((m - mean) / deviation).powi(2)).exp();
        weights += weight;
        sum += weight * m;
    }
    if weights > 0.0 { (sum / weights).clamp(-1.0, 1.0) } else { mean.clamp(-1.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undertone_privacy::vector::stream::PublicStream;

    const CONSTANT: f64 = 0.6;

    /// Three covariates beside the constant; one person in five has the label 1.
    fn exact() -> Moments {
        let (e, b, d) = (-0.6, [0.1, -0.05, 0.0], [0.12, 0.02, -0.06]);
        let mut block = vec![0.2, 0.03, 0.15, -0.02, 0.01, 0.1];
        add_outer(&mut block, &b, 1.0);
        add_outer(&mut block, &d, 1.0 / (1.0 - e * e));
        let mut mean = vec![CONSTANT * e];
        mean.extend(b.iter().zip(d).map(|(b, d)| d + e * b));
        let root = std::f64::consts::SQRT_2 * CONSTANT;
        let [b0, b1, b2] = b.map(|b| root * b);
        let [s0, s1, s2, s3, s4, s5] = block[..] else { unreachable!("six entries") };
        let second = vec![CONSTANT * CONSTANT, b0, s0, b1, s1, s2, b2, s3, s4, s5];
        Moments::new(mean, 0.0, Some((second, 0.0))).unwrap()
    }

    fn classes(loss: MarginLoss) -> Classes {
        Classes::new(loss, CONSTANT, &exact(), Length::Nearest, 0.0).unwrap()
    }

    #[test]
    fn the_law_has_the_moments_it_was_made_of() {
        let (mean, second) = classes(MarginLoss::Hinge).moments();
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close(&mean, exact().mean()) && close(&second, exact().second().unwrap()));
    }

    #[test]
    fn the_risk_is_that_of_people_drawn_from_the_law() {
        let w = [0.4, 1.5, -1.0, 0.7];
        for loss in [MarginLoss::Logistic, MarginLoss::Hinge] {
            let law = classes(loss);
            let (middle, apart) = (law.within.outward(&law.middle), law.within.outward(&law.apart));
            let mut stream = PublicStream::new(41, 0);
            let (mut sum, mut square, people) = (0.0, 0.0, 200_000);
            for person in 0..people {
                let y = if person % 5 == 0 { 1.0 } else { -1.0 };
                let mut z = [0.0; 3];
                stream.fill_normal(&mut z);
                let z: Vec<f64> =
                    z.iter().zip(&law.within.values).map(|(z, value)| z * value.sqrt()).collect();
                let around = law.within.outward(&z);
                let u = |i: usize| middle[i] + apart[i] * (y + 0.6) / 0.64 + around[i];
                let score = w[0] * CONSTANT + (0..3).map(|i| w[i + 1] * u(i)).sum::<f64>();
                let lost = loss.at(y * score);
                sum += lost / f64::from(people);
                square += lost * lost / f64::from(people);
            }
            let error = ((square - sum * sum) / f64::from(people)).sqrt();
            assert!((sum - law.risk(&w)).abs() < 5.0 * error, "{loss:?}: {sum} ± {error}, {}", law.risk(&w));
        }
    }

    #[test]
    fn no_other_weights_inside_the_ball_have_less_risk() {
        for loss in [MarginLoss::Logistic, MarginLoss::Hinge] {
            let law = classes(loss);
            let weights = law.minimum(30.0);
            let least = law.risk(&weights);
            let square: f64 = weights.iter().map(|w| w * w).sum();
            assert!(square < 900.0 && least < law.risk(&[0.0; 4]), "{weights:?}");
            for k in 0..400 {
                let t = f64::from(k);
                let size = 10f64.powf(-(t % 5.0));
                let step = [t.sin(), (2.3 * t).sin(), (3.1 * t).cos(), (1.7 * t).cos()];
                let other: Vec<f64> = weights.iter().zip(step).map(|(w, s)| w + size * s).collect();
                assert!(law.risk(&other) > least - 1e-7, "{loss:?}: {other:?}");
            }
        }
    }

    #[test]
    fn on_the_sphere_of_a_small_ball_none_are_much_better() {
        // The middle is not zero here, so that the family that is searched is not all there is.
        for loss in [MarginLoss::Logistic, MarginLoss::Hinge] {
            let law = classes(loss);
            let weights = law.minimum(1.0);
            let (least, none) = (law.risk(&weights), law.risk(&[0.0; 4]));
            assert!(weights.iter().map(|w| w * w).sum::<f64>() <= 1.0 + 1e-9);
            for k in 0..4000 {
                let t = f64::from(k);
                let step = [t.sin(), (2.3 * t).sin(), (3.1 * t).cos(), (1.7 * t).cos()];
                let length = step.iter().map(|x| x * x).sum::<f64>().sqrt();
                let other = step.map(|x| x / length);
                assert!(law.risk(&other) > least - 0.01 * (none - least), "{loss:?}: {other:?}");
            }
        }
    }

    #[test]
    fn where_noise_drowns_the_classes_the_constant_is_left() {
        let noisy =
            Moments::new(exact().mean().to_vec(), 0.04, Some((exact().second().unwrap().to_vec(), 0.04)));
        let law =
            Classes::new(MarginLoss::Logistic, CONSTANT, &noisy.unwrap(), Length::Nearest, 1.0).unwrap();
        let weights = law.minimum(30.0);
        assert!(weights[0] < 0.0 && weights[1..].iter().all(|w| w.abs() < 1e-9), "{weights:?}");
    }

    #[test]
    fn a_mean_of_labels_lies_between_them() {
        // Half a normal law below one: E m = 1 - √(2v/π), as far as -1 is far away
        assert!((inside(1.0, 0.01) - (1.0 - (0.02 / std::f64::consts::PI).sqrt())).abs() < 1e-5);
        assert_eq!((inside(0.5, 1e-6), inside(-3.0, 0.0)), (0.5, -1.0));
    }
}
