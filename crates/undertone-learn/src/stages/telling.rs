//! How much an answer tells, known before it is given.
//!
//! The published choice of labels to answer among makes a report right as often as it can be. Where the prior is sure, that
//! is a single label, and the answer, always the same, is right but tells nothing: a model that is sure and wrong stays so.
//! What a learner lives on is the information of the report S about the label Y,
//!
//! > I(Y; S) = E ln P(S | Y) / Σ_k prior_k·P(S | k),
//!
//! and among the k likeliest labels, of mass P_k, with p = 1/(1 + (k-1)·t), q = t·p and s_j = prior_j·p + (P_k -
//! prior_j)·q + (1 - P_k)/k, it is
//!
//! > I_k = -Σ_j s_j·ln s_j - P_k·h_k - (1 - P_k)·ln k,   h_k = -p·ln p - (k-1)·q·ln q.
//!
//! Models are surer than they should be, so that an even belief is mixed in ([`DOUBT`]) before this is computed. Any choice is
//! as private as any other: it depends on the prior alone.

use super::{Prior, Trust};
use crate::LearnError;
use crate::features::Rows;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use undertone_privacy::label::{Label, LabelMechanism, LabelRandomizer, RrWithPrior};
use undertone_privacy::{Epsilon, Guarantee, Randomizer};

/// The share of the even belief.
const DOUBT: f64 = 0.1;
/// People are enough to compare two questions by.
const ENOUGH: usize = 4096;

/// A prior that is even among the labels that tell the most of another, and zero elsewhere, so that those are answered among.
#[derive(Clone, Copy, Debug)]
pub struct Telling<P> {
    beliefs: P,
    epsilon: Epsilon,
}

impl<P: Prior> Telling<P> {
    /// For people who answer at ε and of whose labels so much is believed.
    pub fn new(beliefs: P, epsilon: Epsilon) -> Self {
        Self { beliefs, epsilon }
    }

    /// I(Y; S) of answers among the most telling labels, in nats a person.
    pub fn told(&self, rows: &Rows) -> Result<f64, LearnError> {
        let prior = self.of(rows)?;
        let own = |person: usize| {
            let prior = &prior[person * self.classes()..][..self.classes()];
            Ok(LabelMechanism::WithPrior(RrWithPrior::new(prior, self.epsilon)?))
        };
        self.information(rows, own)
    }

    /// I(Y; S) of the answers if everybody ran `mechanism` instead.
    pub fn told_by(&self, mechanism: &LabelMechanism, rows: &Rows) -> Result<f64, LearnError> {
        self.information(rows, |_| Ok(mechanism.clone()))
    }

    /// By a draw for each of [`ENOUGH`] people, with coins that are always the same.
    fn information(
        &self,
        rows: &Rows,
        mechanism: impl Fn(usize) -> Result<LabelMechanism, LearnError>,
    ) -> Result<f64, LearnError> {
        let (beliefs, mut coins) = (self.beliefs.of(rows)?, ChaCha8Rng::seed_from_u64(0));
        let (mut sum, mut people) = (0.0, 0);
        for belief in beliefs.chunks_exact(self.classes()).take(ENOUGH) {
            sum += told(&doubted(belief), &mechanism(people)?, &mut coins)?;
            people += 1;
        }
        if people == 0 { Err(LearnError::NoReports) } else { Ok(sum / people as f64) }
    }
}

impl<P: Prior> Prior for Telling<P> {
    fn classes(&self) -> usize {
        self.beliefs.classes()
    }

    fn of(&self, rows: &Rows) -> Result<Vec<f64>, LearnError> {
        let mut prior = self.beliefs.of(rows)?;
        for belief in prior.chunks_exact_mut(self.classes()) {
            let labels = most_telling(belief, self.epsilon);
            belief.fill(0.0);
            for &label in &labels {
                belief[label as usize] = 1.0 / labels.len() as f64;
            }
        }
        Ok(prior)
    }

    fn trust(&self) -> Trust {
        self.beliefs.trust()
    }

    fn cost(&self) -> Option<Guarantee> {
        self.beliefs.cost()
    }
}

/// The k likeliest labels with the largest I_k: two at least, the fewest on ties, the smaller label first among equals.
fn most_telling(belief: &[f64], epsilon: Epsilon) -> Vec<u32> {
    let doubted = doubted(belief);
    let mut order: Vec<u32> = (0..belief.len() as u32).collect();
    order.sort_by(|&a, &b| doubted[b as usize].total_cmp(&doubted[a as usize]));
    let sorted: Vec<f64> = order.iter().map(|&label| doubted[label as usize]).collect();
    let (mut best, mut most) = (2, 0.0);
    let mut mass = sorted[0];
    for k in 2..=sorted.len() {
        mass += sorted[k - 1];
        let told = information_among(&sorted[..k], mass, epsilon);
        if told > most {
            (best, most) = (k, told);
        }
    }
    order.truncate(best);
    order
}

fn doubted(belief: &[f64]) -> Vec<f64> {
    let even = DOUBT / belief.len() as f64;
    belief.iter().map(|p| (1.0 - DOUBT) * p + even).collect()
}

/// I_k, where `top` has the prior of the k labels and `mass` is their sum.
fn information_among(top: &[f64], mass: f64, epsilon: Epsilon) -> f64 {
    let k = top.len() as f64;
    let p = 1.0 / (1.0 + (k - 1.0) * epsilon.t());
    let (q, outside) = (epsilon.t() * p, (1.0 - mass).max(0.0));
    let surprise = |x: f64| if x > 0.0 { -x * x.ln() } else { 0.0 };
    let answers: f64 = top.iter().map(|prior| surprise(prior * p + (mass - prior) * q + outside / k)).sum();
    answers - mass * (surprise(p) + (k - 1.0) * surprise(q)) - outside * k.ln()
}

/// What a report tells whose label follows `belief`: the mean over the label, given the report, of ln P(S | Y)/P(S).
fn told(belief: &[f64], mechanism: &LabelMechanism, coins: &mut ChaCha8Rng) -> Result<f64, LearnError> {
    let report = mechanism.randomize(&Label(drawn(belief, coins)), coins)?;
    let each = || (0u32..).zip(belief).map(|(label, p)| (p, mechanism.ln_probability(&report, label)));
    let marginal: f64 = each().map(|(p, ln)| p * ln.exp()).sum();
    let possible = each().filter(|(_, ln)| ln.is_finite());
    Ok(possible.map(|(p, ln)| p * ln.exp() / marginal * (ln - marginal.ln())).sum())
}

/// A label of this distribution.
fn drawn(belief: &[f64], coins: &mut impl Rng) -> u32 {
    let mut left = (coins.next_u64() >> 11) as f64 * 2f64.powi(-53);
    for (label, p) in (0u32..).zip(belief) {
        left -= p;
        if left < 0.0 {
            return label;
        }
    }
    belief.len() as u32 - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use undertone_privacy::label::{LabelKind, LabelSet, RrTopK};

    fn epsilon(value: f64) -> Epsilon {
        Epsilon::new(value).unwrap()
    }

    /// The same belief about everybody.
    struct Same(Vec<f64>);

    impl Prior for Same {
        fn classes(&self) -> usize {
            self.0.len()
        }

        fn of(&self, rows: &Rows) -> Result<Vec<f64>, LearnError> {
            Ok(self.0.repeat(rows.len()))
        }
    }

    /// I(Y; S) by adding up all labels and reports.
    fn enumerated(belief: &[f64], mechanism: &LabelMechanism) -> f64 {
        let joint = |label: u32, report: u32| {
            let ln = mechanism.ln_probability(&LabelSet::new(vec![report]), label);
            (belief[label as usize] * ln.exp(), ln)
        };
        let labels = 0..belief.len() as u32;
        let of_report = |report: u32| {
            let marginal: f64 = labels.clone().map(|label| joint(label, report).0).sum();
            let told = |label: u32| {
                let (p, ln) = joint(label, report);
                if p > 0.0 { p * (ln - marginal.ln()) } else { 0.0 }
            };
            labels.clone().map(told).sum::<f64>()
        };
        labels.clone().map(of_report).sum()
    }

    const BELIEF: [f64; 5] = [0.1, 0.5, 0.05, 0.3, 0.05];

    #[test]
    fn the_formula_is_the_sum_over_all_labels_and_answers() {
        for value in [0.3, 1.0, 4.0] {
            for top in [&[1, 3][..], &[1, 3, 0], &[0, 1, 2, 3, 4]] {
                let mechanism = LabelMechanism::TopK(RrTopK::new(5, top.to_vec(), epsilon(value)).unwrap());
                let sorted: Vec<f64> = top.iter().map(|&label| BELIEF[label as usize]).collect();
                let formula = information_among(&sorted, sorted.iter().sum(), epsilon(value));
                assert!((formula - enumerated(&BELIEF, &mechanism)).abs() < 1e-12, "{top:?} at {value}");
            }
        }
    }

    #[test]
    fn no_other_number_of_labels_tells_more() {
        for value in [0.3, 1.0, 2.0, 4.0] {
            let chosen = most_telling(&BELIEF, epsilon(value));
            let told = |k: usize| {
                let mut top = vec![1, 3, 0, 2, 4];
                top.truncate(k);
                let mechanism = RrTopK::new(5, top, epsilon(value)).unwrap();
                enumerated(&doubted(&BELIEF), &LabelMechanism::TopK(mechanism))
            };
            let best = (1..=5).map(told).fold(0.0, f64::max);
            assert!((told(chosen.len()) - best).abs() < 1e-12, "{chosen:?} at {value}");
        }
        // One label alone tells nothing.
        assert!(most_telling(&[0.0, 1.0, 0.0], epsilon(1.0)).len() > 1);
    }

    #[test]
    fn people_answer_among_the_labels_that_tell_most() {
        let telling = Telling::new(Same(BELIEF.to_vec()), epsilon(2.0));
        let prior = telling.of(&Rows::dense(1, vec![0.0])).unwrap();
        let mut labels = most_telling(&BELIEF, epsilon(2.0));
        labels.sort_unstable();
        assert_eq!(RrWithPrior::new(&prior, epsilon(2.0)).unwrap().top(), labels);
    }

    #[test]
    fn what_is_drawn_is_what_is_told() {
        let rows = Rows::dense(1, vec![0.0; ENOUGH]);
        for value in [1.0, 4.0] {
            let telling = Telling::new(Same(BELIEF.to_vec()), epsilon(value));
            let rr = LabelKind::Rr.mechanism(5, epsilon(value)).unwrap();
            let top = RrTopK::new(5, most_telling(&BELIEF, epsilon(value)), epsilon(value)).unwrap();
            for (found, mechanism) in [
                (telling.told_by(&rr, &rows).unwrap(), rr),
                (telling.told(&rows).unwrap(), LabelMechanism::TopK(top)),
            ] {
                let expected = enumerated(&doubted(&BELIEF), &mechanism);
                // A report tells between none and ε nats: its deviation is at most ε/2.
                let bound = 5.0 * value / 2.0 / (ENOUGH as f64).sqrt();
                assert!((found - expected).abs() < bound, "{found} for {expected} at {value}");
            }
        }
    }
}
