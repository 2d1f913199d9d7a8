//! From a report to what it says: the decoder and the likelihood of a task's mechanism.
//!
//! With t = e^-ε, a mechanism that treats all labels alike makes a report S with P(S | k) in two values, whose ratio is
//! e^ε; a mechanism that answers among a person's top labels Y makes it with three, since people outside Y answer evenly.
//! Only the shape of P(S | ·) matters to a likelihood, so it is divided by its value at the labels that are not named.

use super::LabelVectors;
use crate::LearnError;
use undertone_privacy::Epsilon;
use undertone_privacy::label::{Decoder, LabelMechanism, LabelRandomizer, RrTopK};
use undertone_report::Task;

/// What is needed to read the reports of a task.
#[derive(Clone, Debug)]
pub struct Channel {
    labels: u32,
    epsilon: Epsilon,
    /// None if each person answers among labels of their own
    mechanism: Option<Decoding>,
}

#[derive(Clone, Debug)]
struct Decoding {
    decoder: Decoder,
    /// P(S | k ∈ S)/P(S | k ∉ S), within Y if there is one
    ratio: f64,
    /// The members of every report, if their number is fixed
    set_size: Option<u32>,
    /// Y in rising order, and P(S | k ∉ Y)/P(S | k ∈ Y \ S)
    top: Option<(Vec<u32>, f64)>,
}

impl Channel {
    /// The channel of a task's reports.
    pub fn of(task: &Task) -> Result<Self, LearnError> {
        let mechanism = if task.has_priors() { None } else { Some(Decoding::of(&task.mechanism()?)) };
        Ok(Self { labels: task.labels(), epsilon: task.epsilon()?, mechanism })
    }

    /// The channel of one mechanism that everybody runs.
    pub fn of_mechanism(mechanism: &LabelMechanism) -> Self {
        Self {
            labels: mechanism.labels(),
            epsilon: mechanism.epsilon(),
            mechanism: Some(Decoding::of(mechanism)),
        }
    }

    /// The channel of people who each answer among labels of their own.
    pub fn with_priors(labels: u32, epsilon: Epsilon) -> Self {
        Self { labels, epsilon, mechanism: None }
    }

    /// K.
    pub fn labels(&self) -> u32 {
        self.labels
    }

    /// Whether each report comes with the labels it was chosen among.
    pub fn has_priors(&self) -> bool {
        self.mechanism.is_none()
    }

    /// Appends a(S), the unbiased label vector of a report: E\[a | y\] = e_y.
    ///
    /// Answers among a top Y have a = 0 outside it, and E\[a | y\] is the even mixture of Y for y ∉ Y.
    pub fn push_unbiased(
        &self,
        members: &[u32],
        among: &[u32],
        into: &mut LabelVectors,
    ) -> Result<(), LearnError> {
        self.read(members, among, into, |decoding| {
            let Decoder { in_value, out_value } = decoding.decoder;
            if decoding.top.is_some() { [0.0, out_value, in_value] } else { [out_value, out_value, in_value] }
        })
    }

    /// Appends P(S | ·), the likelihood of a report, up to a factor.
    pub fn push_likelihood(
        &self,
        members: &[u32],
        among: &[u32],
        into: &mut LabelVectors,
    ) -> Result<(), LearnError> {
        self.read(members, among, into, |decoding| match &decoding.top {
            None => [1.0, 1.0, decoding.ratio],
            Some((_, outside)) => [*outside, 1.0, decoding.ratio],
        })
    }

    /// Appends the vector with three values: at labels outside the top, inside it, and at the members.
    fn read(
        &self,
        members: &[u32],
        among: &[u32],
        into: &mut LabelVectors,
        values: impl Fn(&Decoding) -> [f64; 3],
    ) -> Result<(), LearnError> {
        let own;
        let decoding = if let Some(decoding) = &self.mechanism {
            decoding
        } else {
            own =
                Decoding::of(&LabelMechanism::TopK(RrTopK::new(self.labels, among.to_vec(), self.epsilon)?));
            &own
        };
        decoding
            .check(members, self.labels)
            .map_err(|problem| LearnError::Report { row: into.len() as u64 + 1, problem })?;
        let [outside, inside, member] = values(decoding).map(|value| value as f32);
        match &decoding.top {
            None => into.push(outside, members.iter().map(|&label| (label, member))),
            Some((top, _)) => into.push(
                outside,
                top.iter().map(|label| (*label, if members.contains(label) { member } else { inside })),
            ),
        }
        Ok(())
    }
}

impl Decoding {
    fn of(mechanism: &LabelMechanism) -> Self {
        let (p, q) = mechanism.inclusion();
        // An answer that is always the same says nothing: P(S | k) is one for every k.
        let constant = mechanism.support().is_some_and(|top| top.len() == 1);
        let ratio = if constant { 1.0 } else { mechanism.realised_epsilon().min(LARGEST_LN).exp() };
        let outside =
            |top: &[u32]| if constant { 1.0 } else { 1.0 / (top.len() as f64 * q.max(p * MIN_RATIO)) };
        Self {
            decoder: mechanism.decoder(),
            ratio,
            set_size: mechanism.set_size(),
            top: mechanism.support().map(|top| (top.to_vec(), outside(top))),
        }
    }

    fn check(&self, members: &[u32], labels: u32) -> Result<(), String> {
        check_members(members, labels, self.set_size)?;
        if let Some((top, _)) = &self.top
            && let Some(label) = members.iter().find(|label| top.binary_search(label).is_err())
        {
            return Err(format!("it names label {label}, which is not among those asked about"));
        }
        Ok(())
    }
}

/// What is wrong with a report of these members about so many labels, whose number is fixed or not.
pub(crate) fn check_members(members: &[u32], labels: u32, set_size: Option<u32>) -> Result<(), String> {
    if let Some(size) = set_size.filter(|&size| size as usize != members.len()) {
        return Err(format!("it names {} label(s), the mechanism names {size}", members.len()));
    }
    if let Some(label) = members.iter().find(|&&label| label >= labels) {
        return Err(format!("it names label {label}, the task has {labels} classes"));
    }
    if members.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err("its labels are not in rising order".into());
    }
    Ok(())
}

/// Beyond e^60 a report is as good as certain, and 32-bit arithmetic still holds the ratio.
const LARGEST_LN: f64 = 60.0;
/// e^-60
const MIN_RATIO: f64 = 8.756_510_762_696_521e-27;

#[cfg(test)]
mod tests {
    use super::*;
    use undertone_privacy::label::{LabelKind, LabelSet, RrWithPrior};

    fn mechanisms() -> Vec<LabelMechanism> {
        let mut all = Vec::new();
        for epsilon in [0.3, 1.0, 3.0] {
            let epsilon = Epsilon::new(epsilon).unwrap();
            all.extend(LabelKind::ALL.map(|kind| kind.mechanism(5, epsilon).unwrap()));
            for prior in [[0.5, 0.3, 0.1, 0.06, 0.04], [0.96, 0.01, 0.01, 0.01, 0.01]] {
                all.push(LabelMechanism::WithPrior(RrWithPrior::new(&prior, epsilon).unwrap()));
            }
        }
        all
    }

    /// Every set of labels, with its probability under `truth`.
    fn reports(mechanism: &LabelMechanism, truth: u32) -> Vec<(Vec<u32>, f64)> {
        let sets = (0..32u32).map(|bits| (0..5).filter(|k| bits >> k & 1 == 1).collect::<Vec<_>>());
        sets.map(|set| (set.clone(), mechanism.ln_probability(&LabelSet::new(set), truth).exp()))
            .filter(|(_, p)| *p > 0.0)
            .collect()
    }

    #[test]
    fn the_mean_of_the_unbiased_vector_over_all_reports_is_the_label() {
        for mechanism in mechanisms() {
            let channel = Channel::of_mechanism(&mechanism);
            for truth in 0..5 {
                let mut mean = [0f64; 5];
                for (set, p) in reports(&mechanism, truth) {
                    let mut vectors = LabelVectors::new();
                    channel.push_unbiased(&set, &[], &mut vectors).unwrap();
                    (0..5).for_each(|k| mean[k] += p * f64::from(vectors.get(0).at(k as u32)));
                }
                let top = mechanism.support().filter(|top| !top.contains(&truth));
                for (k, found) in (0u32..).zip(mean) {
                    let expected = match top {
                        Some(top) if top.contains(&k) => 1.0 / top.len() as f64,
                        Some(_) => 0.0,
                        None => f64::from(u8::from(k == truth)),
                    };
                    // 32 terms of at most 30, each to within 2^-24 of itself
                    assert!((found - expected).abs() < 1e-4, "{mechanism:?}: {found} for {expected}");
                }
            }
        }
    }

    #[test]
    fn likelihoods_have_the_ratios_of_the_mechanism() {
        for mechanism in mechanisms() {
            let channel = Channel::of_mechanism(&mechanism);
            for (set, _) in reports(&mechanism, 0) {
                let mut vectors = LabelVectors::new();
                channel.push_likelihood(&set, &[], &mut vectors).unwrap();
                let p: Vec<f64> =
                    (0..5).map(|k| mechanism.ln_probability(&LabelSet::new(set.clone()), k).exp()).collect();
                for k in 1..5 {
                    let (stated, real) = (vectors.get(0).at(k) / vectors.get(0).at(0), p[k as usize] / p[0]);
                    assert!((f64::from(stated) / real - 1.0).abs() < 1e-5, "{mechanism:?}, {set:?}, {k}");
                }
            }
        }
    }

    #[test]
    fn likelihoods_are_finite_in_32_bits_however_great_epsilon_is() {
        for value in [80.0, 100.0, 600.0] {
            let epsilon = Epsilon::new(value).unwrap();
            let mut all = LabelKind::ALL.map(|kind| kind.mechanism(5, epsilon).unwrap()).to_vec();
            all.push(LabelMechanism::TopK(RrTopK::new(5, vec![1, 4], epsilon).unwrap()));
            all.push(LabelMechanism::TopK(RrTopK::new(5, vec![2], epsilon).unwrap()));
            for mechanism in all {
                let channel = Channel::of_mechanism(&mechanism);
                for (set, _) in (0..5).flat_map(|truth| reports(&mechanism, truth)) {
                    let mut vectors = LabelVectors::new();
                    channel.push_likelihood(&set, &[], &mut vectors).unwrap();
                    let p: Vec<f32> = (0..5).map(|k| vectors.get(0).at(k)).collect();
                    let sum: f32 = p.iter().sum();
                    assert!(sum.is_finite() && p.iter().all(|&p| p > 0.0), "ε = {value}, {set:?}: {p:?}");
                    // Those that are named are all but certain among the labels asked about; independent bits stop at 2^48.
                    let asked = |k: &u32| mechanism.support().is_none_or(|top| top.contains(k));
                    for k in (0..5).filter(asked).filter(|k| !set.contains(k)) {
                        let least = set.iter().map(|&member| p[member as usize]).fold(f32::MAX, f32::min);
                        assert!(least > 1e14 * p[k as usize], "ε = {value}, {set:?}: {p:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn each_person_may_answer_among_labels_of_their_own() {
        let epsilon = Epsilon::new(1.0).unwrap();
        let channel = Channel::with_priors(5, epsilon);
        let common =
            Channel::of_mechanism(&LabelMechanism::TopK(RrTopK::new(5, vec![1, 4], epsilon).unwrap()));
        let (mut own, mut same) = (LabelVectors::new(), LabelVectors::new());
        channel.push_unbiased(&[4], &[1, 4], &mut own).unwrap();
        common.push_unbiased(&[4], &[], &mut same).unwrap();
        assert_eq!(own, same);
        assert!(channel.push_unbiased(&[2], &[1, 4], &mut own).is_err());
    }

    #[test]
    fn what_the_mechanism_cannot_have_said_is_refused_with_its_row() {
        let subset = LabelKind::Subset.mechanism(10, Epsilon::new(1.0).unwrap()).unwrap();
        let channel = Channel::of_mechanism(&subset);
        let mut vectors = LabelVectors::certain([0, 0]);
        for (members, message) in [
            (vec![1, 2], "names 2 label(s), the mechanism names 3"),
            (vec![1, 2, 10], "label 10"),
            (vec![2, 1, 3], "rising"),
            (vec![1, 1, 3], "rising"),
        ] {
            let error = channel.push_unbiased(&members, &[], &mut vectors).unwrap_err().to_string();
            assert!(error.starts_with("report 3:") && error.contains(message), "{error}");
        }
        assert_eq!(vectors.len(), 2);
    }
}
