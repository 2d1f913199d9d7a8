//! Learning in stages: later people are asked with what the earlier ones have taught.
//!
//! People are split into disjoint stages by a public hash of their number. The first stage answers with a mechanism that
//! treats all labels alike, or with a prior that somebody has. A model is trained; its probabilities, sharpened by a
//! temperature, are the priors of the people of the next stage, who answer among the labels that are worth naming; a new
//! model is trained on all reports so far; and so on. This is LP-MST of Ghazi, Golowich, Kumar, Manurangsi, Zhang, *Deep Learning
//! with Label Differential Privacy* (2021).
//!
//! **Privacy.** Each label is randomized once, at ε. The prior of a person is a function of other people's reports and
//! public features, so given those the likelihood of a transcript is a product in which a label enters one factor, and
//! the transcript is ε-private. Choosing the temperature, the split or the number of stages by true labels would break this.
//!
//! **Utility.** Reports with a prior are right more often, but say nothing about people whose label is not among those
//! asked about: their label vector is an even mixture of those ([`Channel::push_unbiased`]).
//!
//! Nothing here knows what is trained: a [`Trainer`] makes a [`Classifier`] from examples.

mod asking;
mod cluster_prior;
mod prior;
mod telling;
#[cfg(test)]
mod tests;

pub use asking::{Asking, Devices, Record};
pub use cluster_prior::{ClusterPriors, Clusters};
pub use prior::{GroupPriors, Grouping, ModelPrior, Prior, Trust, check_trust, promise};
pub use telling::Telling;

use crate::features::Rows;
use crate::labels::{Channel, LabelVectors};
use crate::split::{Purpose, place};
use crate::{Classifier, Examples, LearnError, Source};
use undertone_privacy::label::{LabelKind, LabelMechanism, LabelRandomizer, RrWithPrior};
use undertone_privacy::{Epsilon, Guarantee};
use undertone_report::TaskError;

/// Whatever makes a classifier from examples.
pub trait Trainer {
    /// What it makes.
    type Model: Classifier;

    /// Trains on `examples`, from `start` if there is one and the trainer can make use of it. `people` are their numbers, in the same order,
    /// for whoever knows more of people than is in their rows.
    fn train(
        &self,
        people: &[u64],
        examples: &mut dyn Source,
        start: Option<&Self::Model>,
    ) -> Result<Self::Model, LearnError>;
}

/// How the people of the first stage are asked.
#[derive(Clone, Copy)]
pub enum First<'a> {
    /// All labels alike
    Alike(LabelKind),
    /// With a prior that was there before
    Prior(&'a dyn Prior),
}

/// What a trainer is shown of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// The unbiased label vector, and the likelihood
    #[default]
    Debiased,
    /// The reported label as if it were the true one, as published; for reports of one label only
    AsLabels,
}

/// What people are asked for whose prior a model gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answering {
    /// The truth as often as possible, as published
    #[default]
    Right,
    /// What tells the most: among the labels that do, or as the first stage if that tells more
    Telling,
}

/// A plan of stages.
#[derive(Clone, Copy)]
pub struct MultiStage<'a> {
    /// K
    pub classes: u32,
    /// What each person is promised for the one report
    pub epsilon: Epsilon,
    /// The share of people in each stage: as many as there are stages, summing to one
    pub fractions: &'a [f64],
    /// How the first stage is asked
    pub first: First<'a>,
    /// Which labels later stages answer among
    pub answers: Answering,
    /// Less than one sharpens the priors that a model gives, more flattens them
    pub temperature: f64,
    /// Whether training starts from the model of the stage before
    pub warm_start: bool,
    /// Whether earlier reports that the model finds unlikely are left out of later training.
    ///
    /// A report of an earlier stage stays if it names one of the k likeliest labels of its row, k = max(1, round(mean k*))
    /// over the people of the current stage; published with a mean that is no whole number. What is left out depends on the
    /// report, so the label vectors of those that stay are no longer unbiased.
    pub filter: bool,
    /// What is trained on
    pub reading: Reading,
    /// Who may see true labels: a prior that needs more is refused
    pub trust: Trust,
}

impl<'a> MultiStage<'a> {
    /// As published: randomized response first, reports taken as labels, temperature one, no filter.
    pub fn as_published(classes: u32, epsilon: Epsilon, fractions: &'a [f64]) -> Self {
        Self { reading: Reading::AsLabels, ..Self::debiased(classes, epsilon, fractions) }
    }

    /// The same, with label vectors that are unbiased among the labels asked about.
    pub fn debiased(classes: u32, epsilon: Epsilon, fractions: &'a [f64]) -> Self {
        Self {
            classes,
            epsilon,
            fractions,
            first: First::Alike(LabelKind::Rr),
            answers: Answering::Right,
            temperature: 1.0,
            warm_start: false,
            filter: false,
            reading: Reading::Debiased,
            trust: Trust::Local,
        }
    }
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Staged<M> {
    /// The model of each stage; the last is the result
    pub models: Vec<M>,
    /// How each stage went
    pub stages: Vec<StageSummary>,
    /// Every question and answer
    pub transcript: Vec<Record>,
    /// What everybody has been promised in all
    pub promise: Guarantee,
}

impl<M> Staged<M> {
    /// The model of the last stage.
    pub fn model(&self) -> &M {
        // There is at least one stage, and each has a model.
        &self.models[self.models.len() - 1]
    }
}

/// How a stage went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageSummary {
    /// How many people were asked
    pub people: usize,
    /// The mean number of labels they answered among
    pub mean_labels: f64,
    /// How many earlier reports the filter left out
    pub left_out: usize,
}

/// The people of one stage.
struct Stage {
    /// Their numbers
    people: Vec<u64>,
    rows: Rows,
}

/// Their answers.
struct Answers {
    examples: Examples,
    /// The labels of each report
    named: Vec<Vec<u32>>,
    mean_labels: f64,
}

impl MultiStage<'_> {
    /// Asks everybody in `blocks`, stage after stage. The people are counted through from zero.
    pub fn run<T: Trainer>(
        &self,
        blocks: &[Rows],
        devices: &mut dyn Devices,
        trainer: &T,
    ) -> Result<Staged<T::Model>, LearnError> {
        let promise = self.check()?;
        let stages = self.split(blocks)?;
        let mut asking = Asking::new(devices);
        let (mut models, mut summaries) = (Vec::<T::Model>::new(), Vec::new());
        // The examples of each stage, and the labels that their reports name
        let (mut examples, mut named) = (Vec::new(), Vec::new());
        // Everybody in them
        let mut asked = Vec::new();
        for (number, stage) in stages.iter().enumerate() {
            let answers = match (models.last(), self.first) {
                (Some(model), _) => {
                    let beliefs = ModelPrior::new(model, self.temperature)?;
                    match self.answers {
                        Answering::Right => self.ask_with_prior(&beliefs, number, stage, &mut asking)?,
                        Answering::Telling => {
                            self.ask_what_tells_most(&beliefs, number, stage, &mut asking)?
                        }
                    }
                }
                (None, First::Prior(prior)) => self.ask_with_prior(prior, number, stage, &mut asking)?,
                (None, First::Alike(kind)) => self.ask_alike(kind, number, stage, &mut asking)?,
            };
            let kept = match models.last() {
                Some(model) if self.filter => {
                    let k = answers.mean_labels.round().max(1.0) as usize;
                    let (mut people, mut kept) = likely(model, &stages, &examples, &named, k);
                    people.extend(&stage.people);
                    kept.push(answers.examples.clone());
                    Some((people, kept))
                }
                _ => None,
            };
            asked.extend(&stage.people);
            summaries.push(StageSummary {
                people: stage.people.len(),
                mean_labels: answers.mean_labels,
                left_out: kept.as_ref().map_or(0, |(people, _)| asked.len() - people.len()),
            });
            examples.push(answers.examples);
            named.push(answers.named);
            let start = models.last().filter(|_| self.warm_start);
            models.push(match kept {
                Some((people, mut kept)) => trainer.train(&people, &mut kept, start)?,
                None => trainer.train(&asked, &mut examples, start)?,
            });
        }
        Ok(Staged { models, stages: summaries, transcript: asking.into_transcript(), promise })
    }

    /// Refuses a plan that cannot be followed, before anybody is asked; what it promises otherwise.
    fn check(&self) -> Result<Guarantee, LearnError> {
        prior::check_temperature(self.temperature)?;
        let parameter = |what, value, expected| Err(LearnError::Parameter { what, value, expected });
        if let Some(&share) = self.fractions.iter().find(|share| !(**share > 0.0 && **share <= 1.0)) {
            return parameter("the share of a stage", share, "positive and at most one");
        }
        let sum: f64 = self.fractions.iter().sum();
        if (sum - 1.0).abs() > 1e-6 {
            return parameter("the sum of the stages' shares", sum, "one");
        }
        match self.first {
            First::Alike(kind) if !kind.is_symmetric() => {
                let problem = "cannot be the first stage: it does not treat all labels alike";
                Err(TaskError::Parameters { kind: kind.name(), problem }.into())
            }
            First::Alike(kind) => {
                let size = kind.mechanism(self.classes, self.epsilon)?.set_size();
                if self.reading == Reading::AsLabels && size != Some(1) {
                    let value = size.map_or(f64::NAN, f64::from);
                    return parameter("the number of labels in a report", value, "one to be read as a label");
                }
                promise(None, self.epsilon)
            }
            First::Prior(prior) => {
                check_trust(prior, self.trust)?;
                if prior.classes() != self.classes as usize {
                    return parameter(
                        "the number of classes of the prior",
                        prior.classes() as f64,
                        "that of the task",
                    );
                }
                promise(Some(prior), self.epsilon)
            }
        }
    }

    /// The people of each stage; an error if one would have none.
    fn split(&self, blocks: &[Rows]) -> Result<Vec<Stage>, LearnError> {
        let empty = || match blocks.first() {
            Some(rows) => Rows::new(rows.dense_width(), rows.sparse_width()),
            None => Rows::new(0, 0),
        };
        let mut stages: Vec<Stage> =
            self.fractions.iter().map(|_| Stage { people: Vec::new(), rows: empty() }).collect();
        for (person, row) in (0u64..).zip(blocks.iter().flat_map(Rows::iter)) {
            let stage = &mut stages[stage_of(person, self.fractions)];
            stage.people.push(person);
            stage.rows.push(row);
        }
        match stages.iter().position(|stage| stage.people.is_empty()) {
            Some(_) if blocks.iter().all(Rows::is_empty) => Err(LearnError::NoReports),
            Some(number) => Err(LearnError::Parameter {
                what: "the first stage without anybody in it",
                value: number as f64 + 1.0,
                expected: "given a larger share, or more people asked in all",
            }),
            None => Ok(stages),
        }
    }

    fn ask_alike(
        &self,
        kind: LabelKind,
        number: usize,
        stage: &Stage,
        asking: &mut Asking<'_>,
    ) -> Result<Answers, LearnError> {
        let mechanism = kind.mechanism(self.classes, self.epsilon)?;
        let channel = Channel::of_mechanism(&mechanism);
        let mut answers = Answers::new(&stage.rows);
        for &person in &stage.people {
            let record = asking.ask(person, number, &mechanism)?;
            answers.push(record, &channel, self.reading)?;
        }
        answers.mean_labels = f64::from(self.classes);
        Ok(answers)
    }

    /// Among the most telling labels, or as in the first stage if people tell more that way.
    fn ask_what_tells_most(
        &self,
        beliefs: &dyn Prior,
        number: usize,
        stage: &Stage,
        asking: &mut Asking<'_>,
    ) -> Result<Answers, LearnError> {
        let telling = Telling::new(beliefs, self.epsilon);
        if let First::Alike(kind) = self.first {
            let alike = kind.mechanism(self.classes, self.epsilon)?;
            if telling.told_by(&alike, &stage.rows)? > telling.told(&stage.rows)? {
                return self.ask_alike(kind, number, stage, asking);
            }
        }
        self.ask_with_prior(&telling, number, stage, asking)
    }

    fn ask_with_prior(
        &self,
        prior: &dyn Prior,
        number: usize,
        stage: &Stage,
        asking: &mut Asking<'_>,
    ) -> Result<Answers, LearnError> {
        let channel = Channel::with_priors(self.classes, self.epsilon);
        let mut answers = Answers::new(&stage.rows);
        let (beliefs, mut labels) = (prior.of(&stage.rows)?, 0);
        if beliefs.len() != stage.people.len() * self.classes as usize {
            let expected = "one for each person and class";
            return Err(LearnError::Parameter {
                what: "the numbers of a prior",
                value: beliefs.len() as f64,
                expected,
            });
        }
        for (&person, belief) in stage.people.iter().zip(beliefs.chunks_exact(self.classes as usize)) {
            let mechanism = LabelMechanism::WithPrior(RrWithPrior::new(belief, self.epsilon)?);
            labels += mechanism.support().map_or(0, <[u32]>::len);
            let record = asking.ask(person, number, &mechanism)?;
            answers.push(record, &channel, self.reading)?;
        }
        answers.mean_labels = labels as f64 / stage.people.len() as f64;
        Ok(answers)
    }
}

impl Answers {
    fn new(rows: &Rows) -> Self {
        let examples = Examples { rows: rows.clone(), ..Examples::default() };
        Self { examples, named: Vec::new(), mean_labels: 0.0 }
    }

    fn push(&mut self, record: &Record, channel: &Channel, reading: Reading) -> Result<(), LearnError> {
        let (members, among) = (record.report.members(), record.among.as_deref().unwrap_or_default());
        let Examples { unbiased, likelihood, .. } = &mut self.examples;
        match reading {
            Reading::Debiased => {
                channel.push_unbiased(members, among, unbiased)?;
                channel.push_likelihood(members, among, likelihood)?;
            }
            Reading::AsLabels => {
                // Read once through the channel, which refuses what the mechanism cannot have said
                channel.push_unbiased(members, among, &mut LabelVectors::new())?;
                for vectors in [unbiased, likelihood] {
                    vectors.push(0.0, members.iter().map(|&label| (label, 1.0)));
                }
            }
        }
        self.named.push(members.to_vec());
        Ok(())
    }
}

/// The stage of a person, counted from zero, for stages of these shares.
pub fn stage_of(person: u64, fractions: &[f64]) -> usize {
    let (at, mut end) = (place(person, Purpose::Stage), 0.0);
    let within = |&share: &f64| {
        end += share;
        at < end
    };
    // Shares that sum to a little less than one leave the rest to the last.
    fractions.iter().position(within).unwrap_or(fractions.len().saturating_sub(1))
}

/// Whose report names one of the k likeliest labels of its row: their numbers, and the examples of each of the stages that are over.
fn likely(
    model: &impl Classifier,
    stages: &[Stage],
    examples: &[Examples],
    named: &[Vec<Vec<u32>>],
    k: usize,
) -> (Vec<u64>, Vec<Examples>) {
    let mut people = Vec::new();
    let filtered = |((stage, examples), named): ((&Stage, &Examples), &Vec<Vec<u32>>)| {
        let probabilities = model.probabilities(&examples.rows);
        let rows = Rows::new(examples.rows.dense_width(), examples.rows.sparse_width());
        let mut kept = Examples { rows, ..Examples::default() };
        for (row, (p, members)) in probabilities.chunks_exact(model.classes()).zip(named).enumerate() {
            if members.iter().any(|&label| rank(p, label as usize) < k) {
                people.push(stage.people[row]);
                kept.rows.push(examples.rows.get(row));
                let [a, b] = [examples.unbiased.get(row), examples.likelihood.get(row)];
                kept.unbiased.push(a.base, a.entries.iter().copied());
                kept.likelihood.push(b.base, b.entries.iter().copied());
            }
        }
        kept
    };
    let kept = stages.iter().zip(examples).zip(named).map(filtered).collect();
    (people, kept)
}

/// How many labels are likelier than `label`, smaller ones first on ties.
fn rank(p: &[f32], label: usize) -> usize {
    let before =
        |(other, &q): (usize, &f32)| q > p[label] || (q.total_cmp(&p[label]).is_eq() && other < label);
    p.iter().enumerate().filter(|&pair| before(pair)).count()
}
