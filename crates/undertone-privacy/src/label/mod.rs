//! Labels: one of K public classes, of which each person holds one and keeps it.
//!
//! Every mechanism here is a finite channel that reports a set S of labels and has an unbiased decoder: the vector
//! a(S), worth `in_value` on the members of S and `out_value` elsewhere, has E\[a | y\] = e_y. Learners see only a.
//! To add a mechanism, write its file, implement [`LabelRandomizer`] and give it a line in [`LabelMechanism`] and
//! [`LabelKind`].

mod bits;
mod column;
mod covariance;
mod kind;
mod prior;
mod randomized_response;
mod subset;
mod top_k;

pub use bits::Bits;
pub use column::ReportColumn;
pub use covariance::{Covariance, lower_bound_second_moment};
pub use kind::LabelKind;
pub use prior::RrWithPrior;
pub use randomized_response::RandomizedResponse;
pub use subset::SubsetSelection;
pub use top_k::RrTopK;

use crate::exact::{SetMemory, WordBuffer};
use crate::{DeviceSafe, Epsilon, Guarantee, PrivacyError, Randomizer, Unbiased};
use alloc::vec;
use alloc::vec::Vec;
use rand_core::{CryptoRng, Rng};

/// One of the classes 0..K.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label(pub u32);

/// The labels of a report in rising order: their order says nothing about the truth.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelSet(Vec<u32>);

impl LabelSet {
    /// The set of these labels.
    pub fn new(mut members: Vec<u32>) -> Self {
        members.sort_unstable();
        members.dedup();
        Self(members)
    }

    /// The members in rising order.
    pub fn members(&self) -> &[u32] {
        &self.0
    }

    /// Whether `label` is a member.
    pub fn contains(&self, label: u32) -> bool {
        self.0.binary_search(&label).is_ok()
    }
}

/// The unbiased label vector a(S): `in_value` on the members of S, `out_value` on the other labels asked about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decoder {
    /// a_k for k ∈ S
    pub in_value: f64,
    /// a_k for k ∉ S
    pub out_value: f64,
}

impl Decoder {
    /// The decoder of a channel that includes the truth with probability `p` and any other label with `q`,
    /// given `gap` = p - q, which cancels if it is formed by subtraction.
    ///
    /// > a_k = (1{k ∈ S} - q)/(p - q)
    fn new(q: f64, gap: f64) -> Self {
        Self { in_value: (1.0 - q) / gap, out_value: -q / gap }
    }
}

/// The integers that run: how many of the 2^64 words of a draw say what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    /// Words that make the truth a member; 2^64 where it always is.
    pub truth: u128,
    /// Words that make any one other label a member; none where these are not decided by a threshold but fill the
    /// remaining places of a set evenly.
    pub other: Option<u128>,
}

/// What a label mechanism has to say about itself; the rest follows.
pub trait LabelRandomizer {
    /// K, the number of classes.
    fn labels(&self) -> u32;

    /// The promise that was asked for; [`realised_epsilon`](Self::realised_epsilon) is what runs.
    fn epsilon(&self) -> Epsilon;

    /// The exact loss of the integers that run, rounded up: at most [`epsilon`](Self::epsilon).
    fn realised_epsilon(&self) -> f64;

    /// Appends the members of one report about `truth` < K to `members`, in rising order. `memory` is
    /// kept between reports and left empty.
    fn draw(&self, truth: u32, memory: &mut SetMemory, members: &mut Vec<u32>, rng: &mut impl Rng);

    /// ln P(`report` | `truth`) for the integers that run.
    fn ln_probability(&self, report: &LabelSet, truth: u32) -> f64;

    /// P(k ∈ S | y = k) and P(k ∈ S | y ≠ k).
    fn inclusion(&self) -> (f64, f64);

    /// The integers behind [`inclusion`](Self::inclusion).
    fn words(&self) -> Words;

    /// The unbiased decoder.
    fn decoder(&self) -> Decoder;

    /// The covariance of a(S) given the truth.
    fn covariance(&self) -> Covariance;

    /// The labels that can be told apart: all of them, or the top of a prior.
    fn support(&self) -> Option<&[u32]> {
        None
    }

    /// E|S|, the expected number of members.
    fn expected_members(&self) -> f64 {
        let (p, q) = self.inclusion();
        p + f64::from(self.labels() - 1) * q
    }

    /// The expected size of a report whose members are written out, ⌈log₂ K⌉ bits each.
    fn expected_report_bits(&self) -> f64 {
        self.expected_members() * f64::from(u32::BITS - (self.labels() - 1).leading_zeros())
    }

    /// One report for each of `labels`, appended to `column`. A label outside the classes is an error before
    /// anything is drawn.
    fn randomize_column(
        &self,
        labels: &[Label],
        column: &mut ReportColumn,
        rng: &mut impl CryptoRng,
    ) -> Result<(), PrivacyError> {
        known(labels, self.labels())?;
        let (mut memory, mut rng) = (SetMemory::new(), WordBuffer::new(rng));
        for &Label(truth) in labels {
            column.push_with(|members| self.draw(truth, &mut memory, members, &mut rng));
        }
        Ok(())
    }

    /// The same reports as masks, in which the bits of the members are set. An error if K > 64.
    fn randomize_masks(
        &self,
        labels: &[Label],
        masks: &mut Vec<u64>,
        rng: &mut impl CryptoRng,
    ) -> Result<(), PrivacyError> {
        masks_of_members(self, labels, masks, rng)
    }
}

/// The masks of reports that are drawn as lists of their members.
fn masks_of_members(
    mechanism: &(impl LabelRandomizer + ?Sized),
    labels: &[Label],
    masks: &mut Vec<u64>,
    rng: &mut impl CryptoRng,
) -> Result<(), PrivacyError> {
    if mechanism.labels() > u64::BITS {
        return Err(PrivacyError::TooManyLabels { labels: mechanism.labels(), most: u64::BITS });
    }
    known(labels, mechanism.labels())?;
    let (mut memory, mut members, mut rng) = (SetMemory::new(), Vec::new(), WordBuffer::new(rng));
    for &Label(truth) in labels {
        mechanism.draw(truth, &mut memory, &mut members, &mut rng);
        masks.push(members.drain(..).fold(0, |mask, member| mask | 1 << member));
    }
    Ok(())
}

/// An error if there are labels outside the classes.
fn known(labels: &[Label], classes: u32) -> Result<(), PrivacyError> {
    match labels.iter().find(|label| label.0 >= classes) {
        Some(&Label(label)) => Err(PrivacyError::UnknownLabel { label, labels: classes }),
        None => Ok(()),
    }
}

impl<M: LabelRandomizer> Randomizer for M {
    type Input = Label;
    type Report = LabelSet;

    fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon())
    }

    fn randomize(&self, &Label(truth): &Label, rng: &mut impl CryptoRng) -> Result<LabelSet, PrivacyError> {
        known(&[Label(truth)], self.labels())?;
        let mut members = Vec::new();
        self.draw(truth, &mut SetMemory::new(), &mut members, rng);
        Ok(LabelSet(members))
    }

    fn ln_likelihood(&self, report: &LabelSet, &Label(truth): &Label) -> f64 {
        self.ln_probability(report, truth)
    }
}

impl<M: LabelRandomizer> DeviceSafe for M {}

impl<M: LabelRandomizer> Unbiased for M {
    /// e_y; for a label outside the [`support`](LabelRandomizer::support), the even mixture of those inside.
    fn truth(&self, &Label(truth): &Label) -> Vec<f64> {
        let mut vector = vec![0.0; self.labels() as usize];
        match self.support() {
            Some(support) if !support.contains(&truth) => {
                for &label in support {
                    vector[label as usize] = 1.0 / support.len() as f64;
                }
            }
            _ => vector[truth as usize] = 1.0,
        }
        vector
    }

    fn estimate(&self, report: &LabelSet) -> Vec<f64> {
        let Decoder { in_value, out_value } = self.decoder();
        let mut vector = match self.support() {
            None => vec![out_value; self.labels() as usize],
            Some(support) => {
                let mut vector = vec![0.0; self.labels() as usize];
                for &label in support {
                    vector[label as usize] = out_value;
                }
                vector
            }
        };
        for &label in report.members() {
            vector[label as usize] = in_value;
        }
        vector
    }

    fn variance(&self, &Label(truth): &Label) -> f64 {
        match self.support() {
            Some(support) if !support.contains(&truth) => {
                // One member, drawn evenly: E|a|² - |mean|²
                let k = support.len() as f64;
                let Decoder { in_value, out_value } = self.decoder();
                in_value * in_value + (k - 1.0) * out_value * out_value - 1.0 / k
            }
            _ => self.covariance().trace(),
        }
    }
}

/// Declares the enum of all label mechanisms, which is one itself.
macro_rules! label_mechanisms {
    ($($(#[$doc:meta])* $variant:ident($mechanism:ty),)*) => {
        /// Any label mechanism: what a task names and a device runs.
        #[derive(Clone, Debug, PartialEq)]
        pub enum LabelMechanism {
            $($(#[$doc])* $variant($mechanism),)*
        }

        impl LabelRandomizer for LabelMechanism {
            fn labels(&self) -> u32 {
                match self { $(Self::$variant(mechanism) => mechanism.labels(),)* }
            }
            fn epsilon(&self) -> Epsilon {
                match self { $(Self::$variant(mechanism) => mechanism.epsilon(),)* }
            }
            fn realised_epsilon(&self) -> f64 {
                match self { $(Self::$variant(mechanism) => mechanism.realised_epsilon(),)* }
            }
            fn draw(&self, truth: u32, memory: &mut SetMemory, members: &mut Vec<u32>, rng: &mut impl Rng) {
                match self { $(Self::$variant(mechanism) => mechanism.draw(truth, memory, members, rng),)* }
            }
            fn ln_probability(&self, report: &LabelSet, truth: u32) -> f64 {
                match self { $(Self::$variant(mechanism) => mechanism.ln_probability(report, truth),)* }
            }
            fn inclusion(&self) -> (f64, f64) {
                match self { $(Self::$variant(mechanism) => mechanism.inclusion(),)* }
            }
            fn words(&self) -> Words {
                match self { $(Self::$variant(mechanism) => mechanism.words(),)* }
            }
            fn decoder(&self) -> Decoder {
                match self { $(Self::$variant(mechanism) => mechanism.decoder(),)* }
            }
            fn covariance(&self) -> Covariance {
                match self { $(Self::$variant(mechanism) => mechanism.covariance(),)* }
            }
            fn support(&self) -> Option<&[u32]> {
                match self { $(Self::$variant(mechanism) => mechanism.support(),)* }
            }
            fn expected_members(&self) -> f64 {
                match self { $(Self::$variant(mechanism) => mechanism.expected_members(),)* }
            }
            // The choice is made once for a column, not once for a label.
            fn randomize_column(
                &self,
                labels: &[Label],
                column: &mut ReportColumn,
                rng: &mut impl CryptoRng,
            ) -> Result<(), PrivacyError> {
                match self { $(Self::$variant(mechanism) => mechanism.randomize_column(labels, column, rng),)* }
            }
            fn randomize_masks(
                &self,
                labels: &[Label],
                masks: &mut Vec<u64>,
                rng: &mut impl CryptoRng,
            ) -> Result<(), PrivacyError> {
                match self { $(Self::$variant(mechanism) => mechanism.randomize_masks(labels, masks, rng),)* }
            }
        }
    };
}

label_mechanisms! {
    /// K-ary randomized response
    RandomizedResponse(RandomizedResponse),
    /// Randomized response among the k labels that are likeliest
    TopK(RrTopK),
    /// The same with the k that a prior makes best
    WithPrior(RrWithPrior),
    /// Independent bits
    Bits(Bits),
    /// Sets of d labels
    Subset(SubsetSelection),
}

impl LabelMechanism {
    /// What a device runs unless a task says otherwise: subset selection with the d of least worst-case second
    /// moment, which no other mechanism here beats, or randomized response where that d is one.
    pub fn best(labels: u32, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        let subset = SubsetSelection::new(labels, epsilon)?;
        Ok(if subset.set_size() == 1 {
            Self::RandomizedResponse(RandomizedResponse::new(labels, epsilon)?)
        } else {
            Self::Subset(subset)
        })
    }

    /// The number of members of a report, where it is fixed.
    pub fn set_size(&self) -> Option<u32> {
        match self {
            Self::Subset(subset) => Some(subset.set_size()),
            Self::Bits(_) => None,
            Self::RandomizedResponse(_) | Self::TopK(_) | Self::WithPrior(_) => Some(1),
        }
    }
}

fn at_least_two(labels: u32) -> Result<(), PrivacyError> {
    if labels < 2 { Err(PrivacyError::TooFewLabels { labels }) } else { Ok(()) }
}
