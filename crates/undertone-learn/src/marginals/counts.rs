//! What the counts of one question say: unbiased shares, and how much they scatter.

use undertone_privacy::label::{Covariance, Decoder, LabelMechanism, LabelRandomizer};

/// The decoder of a mechanism and the parts of its covariance that matter here.
///
/// Over people with shares π, the covariance of an answer's label vector in the direction of g with Σ g = 0 is
///
/// > spread·|g|² + (tilt + 1)·E_π\[g²\] - E_π\[g\]²
///
/// of which the devices' coins make spread = v - s and tilt = A - v - 2b + 2s, and who was asked the rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Noise {
    decoder: Decoder,
    covariance: Covariance,
    pub spread: f64,
    pub tilt: f64,
}

impl Noise {
    pub fn of(mechanism: &LabelMechanism) -> Self {
        let covariance = mechanism.covariance();
        let Covariance { own, cross, other, pair, .. } = covariance;
        let (spread, tilt) = (other - pair, own - other - 2.0 * cross + 2.0 * pair);
        Self { decoder: mechanism.decoder(), covariance, spread, tilt }
    }

    /// The variance of one answer in any direction of length one with Σ g = 0 if all labels are alike:
    /// spread + (tilt + 1)/K.
    pub fn even(&self) -> f64 {
        self.spread + (self.tilt + 1.0) / f64::from(self.covariance.labels)
    }

    /// The unbiased share of each label, of which `seen` out of `asked` answers name as many as stated.
    pub fn shares(&self, seen: &[u64], asked: u64) -> Vec<f64> {
        let Decoder { in_value, out_value } = self.decoder;
        let share = |&seen: &u64| {
            let rate = seen as f64 / asked as f64;
            rate * in_value + (1.0 - rate) * out_value
        };
        seen.iter().map(share).collect()
    }

    /// The variance of a share `pi` of one label from one answer: π·A + (1 - π)·v + π·(1 - π).
    pub fn variance(&self, pi: f64) -> f64 {
        let pi = pi.clamp(0.0, 1.0);
        pi * self.covariance.own + (1.0 - pi) * self.covariance.other + pi * (1.0 - pi)
    }

    /// The variance of a share `pi` of `m` labels together from one answer:
    /// π·A + (m - π)·v + 2(m-1)·π·b + (m-1)·(m - 2π)·s + π·(1 - π).
    pub fn variance_of_sum(&self, m: f64, pi: f64) -> f64 {
        let pi = pi.clamp(0.0, 1.0);
        let Covariance { own, cross, other, pair, .. } = self.covariance;
        let pairs = (m - 1.0) * (2.0 * pi * cross + (m - 2.0 * pi) * pair);
        pi * own + (m - pi) * other + pairs + pi * (1.0 - pi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undertone_privacy::Epsilon;
    use undertone_privacy::label::{LabelKind, LabelSet};

    #[test]
    fn mean_and_scatter_over_all_reports_are_as_stated() {
        let (pi, g) = ([0.5, 0.3, 0.15, 0.05], [0.3, -0.5, 0.6, -0.4]);
        for kind in LabelKind::ALL.into_iter().filter(|kind| kind.is_symmetric()) {
            let mechanism = kind.mechanism(4, Epsilon::new(1.0).unwrap()).unwrap();
            let noise = Noise::of(&mechanism);
            let (mut mean, mut square, mut along, mut along_square) = ([0.0; 4], [0.0; 4], 0.0, 0.0);
            let (mut sum, mut sum_square) = (0.0, 0.0);
            for bits in 0..16u32 {
                let set = LabelSet::new((0..4).filter(|k| bits >> k & 1 == 1).collect());
                let p: f64 = (0..4).map(|y| pi[y as usize] * mechanism.ln_probability(&set, y).exp()).sum();
                let seen: Vec<u64> = (0..4).map(|k| u64::from(set.contains(k))).collect();
                let a = noise.shares(&seen, 1);
                (0..4).for_each(|k| mean[k] += p * a[k]);
                (0..4).for_each(|k| square[k] += p * a[k] * a[k]);
                let projected: f64 = a.iter().zip(g).map(|(a, g)| a * g).sum();
                sum += p * (a[0] + a[2]);
                sum_square += p * (a[0] + a[2]).powi(2);
                along += p * projected;
                along_square += p * projected * projected;
            }
            for k in 0..4 {
                assert!((mean[k] - pi[k]).abs() < 1e-9, "{kind}");
                assert!((square[k] - mean[k] * mean[k] - noise.variance(pi[k])).abs() < 1e-9, "{kind}");
            }
            let stated = noise.variance_of_sum(2.0, pi[0] + pi[2]);
            assert!((sum_square - sum * sum - stated).abs() < 1e-9, "{kind}");
            assert!((noise.variance_of_sum(1.0, 0.3) - noise.variance(0.3)).abs() < 1e-12);
            let length: f64 = g.iter().map(|g| g * g).sum();
            let (first, second) = (0..4)
                .fold((0.0, 0.0), |(first, second), k| (first + pi[k] * g[k], second + pi[k] * g[k] * g[k]));
            let stated = noise.spread * length + (noise.tilt + 1.0) * second - first * first;
            assert!((along_square - along * along - stated).abs() < 1e-9, "{kind}");
        }
    }
}
