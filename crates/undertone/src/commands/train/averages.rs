//! Averages over people who are alike, of one sort.
//!
//! How they do is told by one person in eight, learnt from the others alone; what is kept is learnt from everybody. How alike people have
//! to be is chosen within those who are learnt from, so that the figures do not flatter.

use super::numbers::LearntNumber;
use super::scores::Judged;
use super::{Kind, Learnt, Train, Tried, name};
use crate::digits::digits;
use crate::exit::Usage;
use crate::people::Origin;
use std::io::Write;
use undertone_learn::auto::Question;
use undertone_learn::evaluation::{Evaluation, NumberEvaluation, NumberFigures};
use undertone_learn::features::Rows;
use undertone_learn::held_out::Those;
use undertone_learn::nonparametric::{Average, Averaged, NonparametricModel, TrustModel};
use undertone_learn::{Examples, LearnError, NumberPredictor, Predictor, Regressor, Source};
use undertone_privacy::number::NumberRandomizer;
use undertone_report::NumberWords;

const METHOD: &str = "averages";

impl Kind {
    /// The sort of averages, if it is one.
    pub(super) fn average(self) -> Option<Average> {
        match self {
            Self::Cells => Some(Average::Cells),
            Self::Neighbours => Some(Average::Neighbours),
            Self::Forest => Some(Average::Forest),
            Self::Planes => Some(Average::Planes),
            Self::Softmax
            | Self::Logistic
            | Self::Hinge
            | Self::Linear
            | Self::Factors
            | Self::Representation
            | Self::Mlp
            | Self::Cnn
            | Self::Inception
            | Self::Rating
            | Self::Auto => None,
        }
    }

    /// Whether it is learnt from everybody at once.
    fn gathers(self) -> bool {
        matches!(self, Self::Auto | Self::Representation | Self::Factors) || self.average().is_some()
    }

    /// Whether numbers cannot be learnt so.
    pub(super) fn is_for_classes_only(self) -> bool {
        matches!(self, Self::Softmax | Self::Logistic | Self::Hinge | Self::Representation)
            || self.network().is_some()
    }
}

impl From<Average> for Kind {
    fn from(average: Average) -> Self {
        match average {
            Average::Cells => Self::Cells,
            Average::Neighbours => Self::Neighbours,
            Average::Forest => Self::Forest,
            Average::Planes => Self::Planes,
        }
    }
}

/// How many people there are, and what they take.
#[derive(Clone, Copy, Default)]
struct Crowd {
    people: usize,
    features: usize,
    bytes: u64,
    /// Whether their labels are numbers
    numbers: bool,
}

impl Crowd {
    fn count(&mut self, block: &Examples) {
        self.people += block.len();
        self.features = block.rows.width();
        self.bytes = self.bytes.saturating_add(block.bytes() as u64);
        self.numbers |= !block.numbers.is_empty();
    }
}

/// One more block of people.
fn append(all: &mut Examples, block: &Examples) {
    block.rows.iter().for_each(|row| all.rows.push(row));
    block.unbiased.iter().for_each(|a| all.unbiased.push(a.base, a.entries.iter().copied()));
    block.likelihood.iter().for_each(|p| all.likelihood.push(p.base, p.entries.iter().copied()));
    block.numbers.iter().for_each(|(value, variance)| all.numbers.push(value, variance));
}

/// Averages of everybody who is shown.
fn fit(average: Average, people: &Examples, question: Question, seed: u64) -> Result<Averaged, LearnError> {
    average.fit(&people.rows, question.targets(people), seed)
}

/// About numbers within bounds; true ones do not vary.
pub(super) fn number_question(origin: &Origin, number: NumberWords) -> anyhow::Result<Question> {
    let mut variance = 0f64;
    for task in origin.tasks() {
        variance = variance.max(task.number_mechanism()?.worst_variance());
    }
    Ok(Question::Number { bounds: number.bounds()?, variance })
}

fn tried(averaged: &Averaged) -> Vec<Tried> {
    let each = averaged.tried.iter();
    each.map(|tried| Tried { l2: None, size: Some(tried.size), score: tried.loss }).collect()
}

impl Train {
    /// Whether the options go with averages, if they are learnt.
    pub(super) fn check_averages(&self) -> Result<(), Usage> {
        let (kind, auto) = (self.kind(), self.kind() == Kind::Auto);
        let given = [
            ("--method", self.method.is_some(), true),
            ("--l2", self.l2.is_some(), true),
            ("--start", self.start.is_some(), true),
            ("--epochs", self.epochs.is_some(), !auto),
            ("--radius", self.radius.is_some(), !auto),
        ];
        if self.cache.is_some() && !auto && kind != Kind::Representation {
            return Err(Usage::new(format!("--model {} has nothing for --cache to keep", name(&kind))));
        }
        match given.iter().find(|(_, given, useless)| kind.gathers() && *given && *useless) {
            Some((option, ..)) => Err(Usage::new(format!("--model {} has no use for {option}", name(&kind)))),
            None => Ok(()),
        }
    }

    /// Who sees true labels: everybody who has the table, if it is learnt from.
    pub(super) fn trust(&self) -> TrustModel {
        if self.label.is_some() { TrustModel::None } else { TrustModel::LabelLocal }
    }

    /// A model that says so.
    fn trusted(&self, model: NonparametricModel) -> NonparametricModel {
        if self.label.is_some() { model.of_true_labels() } else { model }
    }

    /// All of them at once, as averages need them. Where they do not fit they are counted to the end, so that it can be said how much does.
    pub(super) fn gather(&self, source: &mut dyn Source) -> Result<Examples, LearnError> {
        let (limit, mut crowd, mut all) = (self.crowd_memory(), Crowd::default(), Examples::default());
        source.pass(&mut |block| {
            crowd.count(block);
            if crowd.bytes > limit {
                all = Examples::default();
                return Ok(());
            }
            if all.is_empty() {
                all = Examples::new(Rows::new(block.rows.dense_width(), block.rows.sparse_width()));
            }
            append(&mut all, block);
            Ok(())
        })?;
        self.check_crowd(&crowd)?;
        Ok(all)
    }

    /// Refuses people of whom a part would fit and not all, before anything is learnt from the part.
    pub(super) fn check_fits(&self, source: &mut dyn Source) -> Result<(), LearnError> {
        let mut crowd = Crowd::default();
        source.pass(&mut |block| {
            crowd.count(block);
            Ok(())
        })?;
        self.check_crowd(&crowd)
    }

    /// Bytes for those who are gathered: a representation counts them as its own.
    fn crowd_memory(&self) -> u64 {
        if self.kind() == Kind::Representation { self.limits().bytes } else { self.reports_memory() as u64 }
    }

    fn check_crowd(&self, crowd: &Crowd) -> Result<(), LearnError> {
        let (Crowd { people, features, bytes, numbers }, allowed) = (*crowd, self.crowd_memory());
        if bytes <= allowed {
            return Ok(());
        }
        let (what, instead) = self.why_gathered(numbers);
        let problem = format!(
            "{what} needs {people} people with {features} features in memory, where they take {} MB, and {} MB are allowed: \
             allow more (--memory), or {instead}",
            bytes.div_ceil(1 << 20),
            allowed >> 20,
        );
        Err(LearnError::Source(problem.into()))
    }

    /// What needs people in memory, and what can be done without.
    fn why_gathered(&self, numbers: bool) -> (String, &'static str) {
        let line = if numbers {
            "take --model linear, which reads reports again in each pass"
        } else {
            "take --model softmax, which reads reports again in each pass"
        };
        match self.kind() {
            _ if self.curator.trust.is_some() => ("--trust".into(), "leave columns out (--column NAME=skip)"),
            kind if kind.gathers() => (format!("--model {}", name(&kind)), line),
            _ => ("--coverage".into(), "leave it out"),
        }
    }

    /// Averages of everybody, and nothing about how they do.
    pub(super) fn average(
        &self,
        everybody: &Examples,
        question: Question,
        average: Average,
    ) -> anyhow::Result<Learnt> {
        let fitted = fit(average, everybody, question, self.seed())?;
        let (size, tried) = (Some(fitted.size), tried(&fitted));
        let predictor = Predictor::Nonparametric(self.trusted(fitted.model));
        Ok(Learnt { size, tried, ..Learnt::new(average.into(), predictor, METHOD.into()) })
    }

    /// And how averages of the others do.
    pub(super) fn averages(
        &self,
        origin: &Origin,
        people: &mut dyn Source,
        average: Average,
    ) -> anyhow::Result<Learnt> {
        self.check_fits(people)?;
        let question = Question::Classes(origin.classes().len());
        let others = self.gather(&mut Those::others(people))?;
        let judged = Some(judge(&fit(average, &others, question, self.seed())?.model, people)?);
        drop(others);
        Ok(Learnt { judged, ..self.average(&self.gather(people)?, question, average)? })
    }

    pub(super) fn number_averages(
        &self,
        origin: &Origin,
        people: &mut dyn Source,
        number: NumberWords,
        average: Average,
    ) -> anyhow::Result<LearntNumber> {
        self.check_fits(people)?;
        let question = number_question(origin, number)?;
        let others = self.gather(&mut Those::others(people))?;
        let model = fit(average, &others, question, self.seed())?.model;
        let judged = judge_numbers(&model, people, number, origin.hidden())?;
        drop(others);
        let fitted = fit(average, &self.gather(people)?, question, self.seed())?;
        Ok(LearntNumber {
            kind: average.into(),
            tried: tried(&fitted),
            predictor: NumberPredictor::Nonparametric(self.trusted(fitted.model)),
            method: METHOD,
            l2: None,
            size: Some(fitted.size),
            judged: Some(judged),
            candidates: Vec::new(),
            untried: Vec::new(),
            coverage: None,
        })
    }
}

/// How a model does on those who were kept aside.
pub(super) fn judge(model: &NonparametricModel, people: &mut dyn Source) -> anyhow::Result<Judged> {
    Ok(Evaluation::of(model, &mut Those::held_out(people))?.figures()?.into())
}

/// How a model of numbers does on those who were kept aside.
pub(super) fn judge_numbers(
    model: &impl Regressor,
    people: &mut dyn Source,
    number: NumberWords,
    hidden: f64,
) -> anyhow::Result<NumberFigures> {
    let mut evaluation = NumberEvaluation::new(number.bounds()?, hidden);
    Those::held_out(people).pass(&mut |block| {
        for (guess, report) in model.predict(&block.rows).into_iter().zip(block.numbers.iter()) {
            evaluation.observe(guess.clamp(number.low, number.high), report);
        }
        Ok(())
    })?;
    Ok(evaluation.figures()?)
}

/// The sizes that were tried.
pub(super) fn table(
    tried: &[Tried],
    (model, chosen): (&str, Option<u64>),
    loss: &str,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let average = Average::ALL.into_iter().find(|average| average.name() == model);
    let Some(average) = average else { return Ok(()) };
    writeln!(out, "\n{:>9}   {loss} on {}", average.size(), average.judges())?;
    for Tried { size, score, .. } in tried {
        let mark = if *size == chosen { "  ← chosen" } else { "" };
        let size = size.unwrap_or_default();
        writeln!(out, "{size:>9}   {:>12} ± {}{mark}", digits(score.value), digits(score.margin()))?;
    }
    Ok(())
}
