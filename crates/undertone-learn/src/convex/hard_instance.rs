//! The instance on which no private learner does well (Chua et al., Theorem 2), with a bound that has its constant.
//!
//! K is even, labels come in pairs of probability 1/K + γ·s and 1/K - γ·s with signs s = ±1, W is the unit ball, and
//!
//! > ℓ(w; y) = -½⟨w, e_y - 1/K⟩,  α = γ√K,  b = (θ - 1/K)/α,  excess risk of w = (α/2)·(1 - ⟨w, b⟩)
//!
//! so L = ½√(1 - 1/K) exactly, the best point is b, and R₀ = 1 from the centre.
//!
//! **Bound.** Let the K/2 signs be fair coins. Whatever was reported, the best w has ⟨w, b⟩ = |E\[b | reports\]|, so the
//! excess is at least (α/2)(1 - √M), M the mean over pairs of E\[(E\[s_i | reports\])²\]. Telling the other signs only
//! raises each of these, which is then at most either divergence of the reports under s_i = + and s_i = -, hence their
//! mean. Of one report, both are at most Σ_S (p₊ - p₋)²/min(p₊, p₋) with p₊ - p₋ = 2γ(P(S | 2i) - P(S | 2i+1)) and
//! p₊, p₋ ≥ (1 - Kγ)·P̄(S), P̄ the mean over labels; if people are asked in turn, P depends on the past, which in the
//! mean of both directions follows the law under fair coins, the same for all pairs. Summed over pairs that is at most
//! 8γ²/(1 - Kγ)·Σ_S Σ_y (P(S | y) - P̄)²/P̄, which is largest for subset selection with the best d, where it is
//! 8γ²/(1 - Kγ)·K(K-1)/G²; G² is [`lower_bound_second_moment`]. Adding up over n people,
//!
//! > excess ≥ (α/2)·(1 - 4α·√(n(1 - 1/K)/(G²(1 - α√K)))) for some signs
//!
//! for every ε-private learner and every α < 1/√K. The best α gives less than √(G²/(n(1 - 1/K)))/32, and tends to it as n
//! grows.

use super::{ConvexLoss, Feasible, Span};
use crate::LearnError;
use crate::labels::LabelVector;
use rand_core::Rng;
use undertone_privacy::Epsilon;
use undertone_privacy::label::{Label, lower_bound_second_moment};

/// One member of the family: K and α, the first label of each pair the likelier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HardInstance {
    labels: u32,
    alpha: f64,
}

impl HardInstance {
    /// The unit ball.
    pub const FEASIBLE: Feasible = Feasible::Ball { radius: 1.0 };

    /// K labels, an even number, and 0 < α ≤ 1/√K.
    pub fn new(labels: u32, alpha: f64) -> Result<Self, LearnError> {
        check_even(labels)?;
        if alpha > 0.0 && alpha * f64::from(labels).sqrt() <= 1.0 {
            Ok(Self { labels, alpha })
        } else {
            let expected = "positive and at most 1/√K";
            Err(LearnError::Parameter { what: "alpha", value: alpha, expected })
        }
    }

    /// α.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Kγ = α√K, by how much the likelier label of a pair exceeds its even share.
    fn tilt(&self) -> f64 {
        self.alpha * f64::from(self.labels).sqrt()
    }

    /// P(y = label).
    pub fn probability(&self, label: u32) -> f64 {
        let sign = if label.is_multiple_of(2) { 1.0 } else { -1.0 };
        (1.0 + sign * self.tilt()) / f64::from(self.labels)
    }

    /// A person's label, for simulation.
    pub fn draw(&self, rng: &mut impl Rng) -> Label {
        let (word, share) = (rng.next_u64(), (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64);
        // an even draw of the pair, up to K/2^64
        let pair = ((u128::from(word) * u128::from(self.labels / 2)) >> 64) as u32;
        Label(2 * pair + u32::from(2.0 * share >= 1.0 + self.tilt()))
    }

    /// The excess risk of w, exactly: (α/2)·(1 - ⟨w, b⟩).
    pub fn excess(&self, w: &[f64]) -> f64 {
        let difference: f64 = w.chunks_exact(2).map(|pair| pair[0] - pair[1]).sum();
        0.5 * self.alpha * (1.0 - difference / f64::from(self.labels).sqrt())
    }

    /// What no ε-private learner stays below on all of the family after n reports, K being even. For an odd number of labels
    /// the bound of one less holds: nobody holds the last.
    pub fn lower_bound(labels: u32, epsilon: Epsilon, n: u64) -> Result<f64, LearnError> {
        check_even(labels)?;
        let moment = lower_bound_second_moment(labels, epsilon)?;
        let at = |alpha| bound_at(labels, moment, n, alpha);
        // Concave in α, since α²/√(1 - α√K) is convex
        let (mut low, mut high) = (0.0, 1.0 / f64::from(labels).sqrt());
        for _ in 0..200 {
            let third = (high - low) / 3.0;
            if at(low + third) < at(high - third) { low += third } else { high -= third }
        }
        Ok(at(low))
    }
}

/// (α/2)·(1 - 4α·√(n(1 - 1/K)/(G²(1 - α√K)))).
fn bound_at(labels: u32, moment: f64, n: u64, alpha: f64) -> f64 {
    let k = f64::from(labels);
    let room = 1.0 - alpha * k.sqrt();
    0.5 * alpha * (1.0 - 4.0 * alpha * (n as f64 * (1.0 - 1.0 / k) / (moment * room)).sqrt())
}

/// Labels come in pairs.
fn check_even(labels: u32) -> Result<(), LearnError> {
    if labels >= 2 && labels.is_multiple_of(2) {
        return Ok(());
    }
    let (what, value) = ("the number of labels", f64::from(labels));
    Err(LearnError::Parameter { what, value, expected: "even and at least 2" })
}

impl ConvexLoss for HardInstance {
    type Features = ();

    fn dimension(&self) -> usize {
        self.labels as usize
    }

    fn labels(&self) -> u32 {
        self.labels
    }

    fn lipschitz(&self) -> f64 {
        0.5 * (1.0 - 1.0 / f64::from(self.labels)).sqrt()
    }

    fn value(&self, w: &[f64], (): &(), label: u32) -> f64 {
        -0.5 * (w[label as usize] - w.iter().sum::<f64>() / f64::from(self.labels))
    }

    fn add_gradient(&self, _: &[f64], (): &(), label: u32, factor: f64, into: &mut [f64]) {
        let even = 0.5 * factor / f64::from(self.labels);
        for g in into.iter_mut() {
            *g += even;
        }
        into[label as usize] -= 0.5 * factor;
    }

    /// -½(a - mean a).
    fn add_debiased_gradient(&self, _: &[f64], (): &(), a: LabelVector<'_>, into: &mut [f64]) {
        let above = |value: f32| f64::from(value) - f64::from(a.base);
        let mean = a.entries.iter().map(|&(_, value)| above(value)).sum::<f64>() / f64::from(self.labels);
        for g in into.iter_mut() {
            *g += 0.5 * mean;
        }
        for &(label, value) in a.entries {
            into[label as usize] -= 0.5 * above(value);
        }
    }

    /// The gradients ½(1/K - e_k) are a simplex around zero.
    fn span(&self, _: &[f64], (): &()) -> Span {
        Span::of_simplex(self.labels, &[0.5], vec![0.0; self.labels as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::super::dot;
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;
    use undertone_privacy::label::{LabelKind, LabelMechanism, LabelRandomizer, LabelSet};

    #[test]
    fn the_excess_is_the_mean_loss_less_that_of_the_best_point() {
        let problem = HardInstance::new(6, 0.3).unwrap();
        let risk = |w: &[f64]| (0..6).map(|k| problem.probability(k) * problem.value(w, &(), k)).sum::<f64>();
        assert!(((0..6).map(|k| problem.probability(k)).sum::<f64>() - 1.0).abs() < 1e-15);
        let best: Vec<f64> = (0..6).map(|k| (problem.probability(k) - 1.0 / 6.0) / 0.3).collect();
        assert!((dot(&best, &best) - 1.0).abs() < 1e-12);
        for w in [[0.0; 6], [0.3, -0.2, 0.5, 0.1, 0.0, 0.4]] {
            assert!((problem.excess(&w) - (risk(&w) - risk(&best))).abs() < 1e-15);
        }
        assert!(problem.excess(&best).abs() < 1e-15);
    }

    #[test]
    fn no_gradient_is_longer_than_the_exact_lipschitz_constant_and_all_are_as_long() {
        let problem = HardInstance::new(6, 0.3).unwrap();
        for label in 0..6 {
            let mut gradient = [0.0; 6];
            problem.add_gradient(&[0.0; 6], &(), label, 1.0, &mut gradient);
            assert!((dot(&gradient, &gradient).sqrt() - problem.lipschitz()).abs() < 1e-15);
        }
    }

    #[test]
    fn labels_are_drawn_with_their_probabilities() {
        let problem = HardInstance::new(4, 0.4).unwrap();
        let mut rng = ChaCha12Rng::seed_from_u64(5);
        let (mut seen, n) = ([0u32; 4], 100_000);
        (0..n).for_each(|_| seen[problem.draw(&mut rng).0 as usize] += 1);
        for (label, seen) in (0..).zip(seen) {
            let p = problem.probability(label);
            let sigma = (p * (1.0 - p) / f64::from(n)).sqrt();
            assert!((f64::from(seen) / f64::from(n) - p).abs() < 5.0 * sigma, "{label}: {seen}");
        }
    }

    #[test]
    fn the_lower_bound_is_a_thirty_second_of_the_root_of_the_least_second_moment() {
        for (labels, epsilon, n) in [(10, 1.0, 1_000_000), (100, 0.5, 100_000_000), (2, 3.0, 1_000_000)] {
            let epsilon = Epsilon::new(epsilon).unwrap();
            let bound = HardInstance::lower_bound(labels, epsilon, n).unwrap();
            let moment = lower_bound_second_moment(labels, epsilon).unwrap();
            let ideal = (moment / (n as f64 * (1.0 - 1.0 / f64::from(labels)))).sqrt() / 32.0;
            assert!(bound <= ideal && bound > 0.9 * ideal, "{bound} of {ideal}");
        }
    }

    /// Σ norm(P(counts, s) for each s) over all counts of `left` more reports, given P(counts so far, s).
    fn total(sets: &[Vec<f64>], left: u32, joint: &[f64], norm: &impl Fn(&[f64]) -> f64) -> f64 {
        let Some((p, rest)) = sets.split_first() else {
            return if left == 0 { norm(joint) } else { 0.0 };
        };
        let (mut joint, mut sum) = (joint.to_vec(), 0.0);
        for count in 0..=left {
            sum += total(rest, left - count, &joint, norm);
            // C(left, count + 1)·p^(count + 1) from C(left, count)·p^count
            let factor = f64::from(left - count) / f64::from(count + 1);
            joint.iter_mut().zip(p).for_each(|(joint, p)| *joint *= factor * p);
        }
        sum
    }

    /// The least excess risk of any learner from n reports, the signs being fair coins: (α/2)·(1 - E|E\[b | reports\]|), over
    /// how often each report is made.
    fn bayes_excess(mechanism: &LabelMechanism, alpha: f64, n: u32) -> f64 {
        let labels = mechanism.labels();
        let tilt = alpha * f64::from(labels).sqrt();
        // s_i is + where bit i is set
        let sign = |signs: u32, pair: u32| if signs >> pair & 1 == 1 { 1.0 } else { -1.0 };
        let all_signs = 0..1u32 << (labels / 2);
        let probability = |set: &LabelSet, signs: u32| -> f64 {
            let of_label = |y: u32| {
                let own = if y.is_multiple_of(2) { 1.0 } else { -1.0 };
                let share = (1.0 + own * sign(signs, y / 2) * tilt) / f64::from(labels);
                share * mechanism.ln_probability(set, y).exp()
            };
            (0..labels).map(of_label).sum()
        };
        let sets = (0..1u32 << labels)
            .map(|bits| LabelSet::new((0..labels).filter(|k| bits >> k & 1 == 1).collect()))
            .map(|set| all_signs.clone().map(|signs| probability(&set, signs)).collect::<Vec<f64>>())
            .filter(|p| p.iter().any(|&p| p > 0.0))
            .collect::<Vec<_>>();
        // |E[b; counts]|
        let norm = |joint: &[f64]| {
            let along = |pair| (0..).zip(joint).map(|(signs, p)| sign(signs, pair) * p).sum::<f64>();
            let square: f64 = (0..labels / 2).map(|pair| along(pair).powi(2)).sum();
            (square / f64::from(labels / 2)).sqrt()
        };
        let prior = vec![1.0 / f64::from(all_signs.end); all_signs.end as usize];
        0.5 * alpha * (1.0 - total(&sets, n, &prior, &norm))
    }

    #[test]
    fn no_learner_is_below_the_bound_when_all_reports_are_enumerated() {
        let kind = |kind: LabelKind, labels, value| {
            (kind.mechanism(labels, Epsilon::new(value).unwrap()).unwrap(), Epsilon::new(value).unwrap())
        };
        let mut cases = vec![
            (kind(LabelKind::Rr, 2, 1.0), 20),
            (kind(LabelKind::Subset, 2, 3.0), 60),
            (kind(LabelKind::Subset, 4, 1.0), 12),
            (kind(LabelKind::Subset, 4, 0.3), 8),
            (kind(LabelKind::Subset, 6, 2.0), 6),
        ];
        cases.extend(LabelKind::ALL.map(|of| (kind(of, 4, 1.0), 3)));
        for ((mechanism, epsilon), n) in cases {
            let labels = mechanism.labels();
            let moment = lower_bound_second_moment(labels, epsilon).unwrap();
            let mut greatest = 0f64;
            for step in 1..20 {
                let alpha = f64::from(step) / 20.0 / f64::from(labels).sqrt();
                let (bound, exact) =
                    (bound_at(labels, moment, n.into(), alpha), bayes_excess(&mechanism, alpha, n));
                assert!(bound < exact, "{mechanism:?}, α = {alpha}: {bound} above {exact}");
                greatest = greatest.max(exact);
            }
            let bound = HardInstance::lower_bound(labels, epsilon, n.into()).unwrap();
            assert!(bound > 0.0 && bound < greatest, "{mechanism:?}: {bound} above {greatest}");
        }
    }

    #[test]
    fn two_labels_and_twenty_people_lose_three_times_what_the_bound_says() {
        // With K = 2 a count is all that matters: its law is binomial, and E|E[s | count]| the distance of two of them.
        let epsilon = Epsilon::new(1.0).unwrap();
        let mechanism = LabelKind::Rr.mechanism(2, epsilon).unwrap();
        let greatest =
            (1..500).map(|step| bayes_excess(&mechanism, f64::from(step) / 500.0 / 2f64.sqrt(), 20));
        let greatest = greatest.fold(0.0, f64::max);
        let bound = HardInstance::lower_bound(2, epsilon, 20).unwrap();
        assert!((greatest - 0.05847).abs() < 2e-5 && (bound - 0.02015).abs() < 1e-5, "{greatest}, {bound}");
    }

    #[test]
    fn an_odd_number_of_labels_or_too_great_a_tilt_is_refused() {
        assert!(HardInstance::new(5, 0.1).is_err() && HardInstance::new(4, 0.51).is_err());
        assert!(HardInstance::new(4, f64::NAN).is_err() && HardInstance::new(0, 0.1).is_err());
        let epsilon = Epsilon::new(1.0).unwrap();
        for labels in [0, 1, 5] {
            let error = HardInstance::lower_bound(labels, epsilon, 100).unwrap_err().to_string();
            assert!(error.contains("has to be even"), "{error}");
        }
    }
}
