//! A randomizer on trial: the mechanism, the inputs nobody should tell apart, and what it may report.

use crate::ExactLoss;
use undertone_privacy::Randomizer;

/// What a randomizer may say, as far as it can be listed.
#[derive(Clone, Debug, PartialEq)]
pub enum Reports<T> {
    /// The whole alphabet, or all of it but a tail too rare to matter (below 10^-15).
    All(Vec<T>),
    /// One report for every pattern that the likelihood tells apart, not every report.
    Representatives(Vec<T>),
    /// Too many to list: they are drawn.
    Sampled,
}

/// A randomizer on trial.
#[derive(Clone, Debug)]
pub struct Case<R: Randomizer> {
    /// What the mechanism is called in verdicts and failures.
    pub name: String,
    /// The mechanism.
    pub randomizer: R,
    /// Neighbouring inputs, to be told apart in both directions.
    pub pairs: Vec<(R::Input, R::Input)>,
    /// Inputs at which the likelihood, the decoder and the sampler are checked; those of the pairs if empty.
    pub inputs: Vec<R::Input>,
    /// What may be reported.
    pub reports: Reports<R::Report>,
    /// The loss over all pairs, in the currency of the claim, where a formula gives what cannot be listed.
    pub known: Option<ExactLoss>,
}

impl<R: Randomizer> Case<R> {
    /// A trial over `pairs` of neighbours.
    pub fn new(
        name: impl Into<String>,
        randomizer: R,
        pairs: Vec<(R::Input, R::Input)>,
        reports: Reports<R::Report>,
    ) -> Self {
        Self { name: name.into(), randomizer, pairs, inputs: Vec::new(), reports, known: None }
    }

    /// A trial in the local model, where any two of `inputs` are neighbours.
    pub fn local(
        name: impl Into<String>,
        randomizer: R,
        inputs: Vec<R::Input>,
        reports: Reports<R::Report>,
    ) -> Self
    where
        R::Input: Clone,
    {
        let later = |i: usize| inputs[i + 1..].iter();
        let pairs = inputs.iter().enumerate().flat_map(|(i, a)| later(i).map(|b| (a.clone(), b.clone())));
        Self { name: name.into(), randomizer, pairs: pairs.collect(), inputs, reports, known: None }
    }

    /// The inputs that are checked each by itself.
    pub fn inputs(&self) -> impl Iterator<Item = &R::Input> {
        let from_pairs: &[_] = if self.inputs.is_empty() { &self.pairs } else { &[] };
        self.inputs.iter().chain(from_pairs.iter().flat_map(|(a, b)| [a, b]))
    }

    /// ln P(`report` | `a`) − ln P(`report` | `b`): infinite if one of them cannot say it, `None` if neither can.
    pub(crate) fn score(&self, report: &R::Report, a: &R::Input, b: &R::Input) -> Option<f64> {
        let (ln_a, ln_b) =
            (self.randomizer.ln_likelihood(report, a), self.randomizer.ln_likelihood(report, b));
        let impossible = ln_a == f64::NEG_INFINITY && ln_b == f64::NEG_INFINITY;
        (!impossible).then_some(ln_a - ln_b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doubles::Response;

    #[test]
    fn three_inputs_make_three_pairs_and_stay_three_inputs() {
        let case = Case::local("rr", Response::honest(3, 1.0), vec![0, 1, 2], Reports::Sampled);
        assert_eq!(case.pairs, [(0, 1), (0, 2), (1, 2)]);
        assert_eq!(case.inputs().collect::<Vec<_>>(), [&0, &1, &2]);
    }

    #[test]
    fn without_inputs_of_their_own_those_of_the_pairs_are_checked() {
        let case = Case::new("rr", Response::honest(3, 1.0), vec![(2, 0)], Reports::Sampled);
        assert_eq!(case.inputs().collect::<Vec<_>>(), [&2, &0]);
    }
}
