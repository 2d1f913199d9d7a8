//! What makes a network of reports: alone, or stage after stage.

use super::relabel::Relabelled;
use super::{Architecture, Inputs, NetModel, Progress, Relabel, Training};
use crate::evaluation::terms::log_likelihood;
use crate::held_out::{HELD_OUT, Those};
use crate::labels::{LabelVector, LabelVectors};
use crate::represented::{Limits, RepresentError, check_reported};
use crate::split::is_held_out;
use crate::stages::Trainer;
use crate::{Examples, LearnError, Source};
use std::path::PathBuf;
use undertone_nets::{Dataset, Hooks, Loss, Need, NetError};

/// Trains networks of one architecture.
#[derive(Clone)]
pub struct NetTrainer<'a> {
    /// What they look like
    pub architecture: Architecture,
    /// How features get into them
    pub inputs: Inputs,
    /// K
    pub classes: usize,
    /// How they are trained
    pub training: Training,
    /// How they are trained from the weights of an earlier stage, if otherwise
    pub later: Option<Training>,
    /// A folder for checkpoints. What was interrupted goes on from there, what has ended is not done again.
    pub checkpoints: Option<PathBuf>,
    /// Of memory that may be used: [`check`](Self::check)
    pub bytes: u64,
    /// Is told after each epoch, and at once of those that a checkpoint has seen
    pub progress: Option<&'a dyn Fn(&Progress)>,
}

impl NetTrainer<'_> {
    /// All features side by side, without checkpoints, and in silence.
    pub fn new(architecture: Architecture, classes: usize, training: Training) -> Self {
        Self {
            architecture,
            inputs: Inputs::Features,
            classes,
            training,
            later: None,
            checkpoints: None,
            bytes: Limits::default().bytes,
            progress: None,
        }
    }

    /// Refuses a training that cannot be followed, or takes more memory for so many people than there may be, before anybody is gathered.
    pub fn check(&self, people: u64) -> Result<(), LearnError> {
        undertone_nets::check(&self.architecture, &self.training)?;
        let (batch, allowed) = (self.training.batch, self.bytes);
        let need = Need::new(&self.architecture.network(self.classes)?, &self.training, people);
        if need.bytes() <= allowed {
            return Ok(());
        }
        Err(LearnError::NetworkMemory { people, batch, need, allowed })
    }

    /// A network of these examples, from the weights of `start` if there is one. Where [patience](Training::patience) is limited, one in eight is kept aside to judge.
    ///
    /// A class that is in no report is refused, as nothing can be learnt of it, unless what is started from may have heard of it.
    pub fn fit(&self, examples: &mut dyn Source, start: Option<&NetModel>) -> Result<NetModel, LearnError> {
        let people = self.people(examples, self.training(start), |row| row)?;
        if start.is_none() && !people.data.is_empty() {
            check_reported(examples, self.classes)?;
        }
        self.fit_people(self.training(start), people, start)
    }

    /// A second network, from first weights, on what a first one makes of the same examples. Whoever was kept aside from the first still is, and
    /// judges by reports as they are. Labels are made block by block, and nobody is held in memory but as the network takes them.
    pub fn fit_again(
        &self,
        examples: &mut dyn Source,
        first: &NetModel,
        how: Relabel,
    ) -> Result<NetModel, LearnError> {
        let training = Training { loss: Loss::Soft, ..self.training.clone() };
        let mut people = People::new(self)?;
        if training.patience.is_some() {
            let mut others = Those::others(examples);
            people.read(self, training.loss, &mut Relabelled::new(first, &mut others, how), |_| false)?;
            people.read(self, training.loss, &mut Those::held_out(examples), |_| true)?;
        } else {
            people.read(self, training.loss, &mut Relabelled::new(first, examples, how), |_| false)?;
        }
        self.fit_people(&training, people, None)
    }

    /// Everybody as the network takes them. `person` says whose row it is, which decides about who is kept aside: alike in every training
    /// that somebody takes part in, wherever the row stands.
    fn people(
        &self,
        examples: &mut dyn Source,
        training: &Training,
        person: impl Fn(u64) -> u64,
    ) -> Result<People, LearnError> {
        let keep = training.patience.is_some();
        let mut people = People::new(self)?;
        people.read(self, training.loss, examples, |row| keep && is_held_out(person(row), HELD_OUT))?;
        Ok(people)
    }

    /// How it is trained from there.
    fn training(&self, start: Option<&NetModel>) -> &Training {
        start.and(self.later.as_ref()).unwrap_or(&self.training)
    }

    fn fit_people(
        &self,
        training: &Training,
        people: People,
        start: Option<&NetModel>,
    ) -> Result<NetModel, LearnError> {
        people.check_differ()?;
        let People { data, likelihood, .. } = people;
        let judge = |probabilities: &[f32]| gain(probabilities, &likelihood, self.classes);
        let hooks = Hooks {
            progress: self.progress,
            judge: (!likelihood.is_empty()).then_some(&judge),
            checkpoints: self.checkpoints.as_deref(),
        };
        let start = start.map(|start| &start.network);
        let network = undertone_nets::fit(&self.architecture, training, data, start, hooks)?;
        Ok(NetModel { inputs: self.inputs.clone(), network })
    }
}

impl Trainer for NetTrainer<'_> {
    type Model = NetModel;

    /// Whoever judges has judged in earlier stages, too, if they were in them: nobody judges a network that has begun with their report.
    ///
    /// Nothing is said of classes without a report, as there may be some: later stages answer among few labels, and a filter leaves reports
    /// out.
    fn train(
        &self,
        people: &[u64],
        examples: &mut dyn Source,
        start: Option<&NetModel>,
    ) -> Result<NetModel, LearnError> {
        let training = self.training(start);
        // There is a number for each row: that is what a trainer is promised.
        let everybody = self.people(examples, training, |row| people[row as usize])?;
        self.fit_people(training, everybody, start)
    }
}

/// By how many nats reports are likelier than under even chances, on average.
fn gain(probabilities: &[f32], likelihood: &LabelVectors, classes: usize) -> f64 {
    let each = probabilities.chunks_exact(classes).zip(likelihood.iter());
    each.map(|(p, report)| log_likelihood(p, report)).sum::<f64>() / likelihood.len() as f64
}

/// Those who are learnt from and those who are kept aside, as a network takes them.
struct People {
    data: Dataset,
    /// P(S | ·) of those who are kept aside
    likelihood: LabelVectors,
    /// What the first one looks like, and whether anybody looks otherwise
    first: Vec<f32>,
    differ: bool,
}

impl People {
    fn new(trainer: &NetTrainer<'_>) -> Result<Self, LearnError> {
        let width = trainer.architecture.network(trainer.classes)?.inputs();
        let data = Dataset::new(width, trainer.classes).within(trainer.bytes);
        Ok(Self { data, likelihood: LabelVectors::new(), first: Vec::new(), differ: false })
    }

    /// Refuses people who look all alike: epoch after epoch nothing would be learnt of them.
    fn check_differ(&self) -> Result<(), RepresentError> {
        let people = self.data.len();
        if self.differ || people < 2 { Ok(()) } else { Err(RepresentError::Constant { people }) }
    }

    fn read(
        &mut self,
        trainer: &NetTrainer<'_>,
        loss: Loss,
        examples: &mut dyn Source,
        aside: impl Fn(u64) -> bool,
    ) -> Result<(), LearnError> {
        let (mut number, mut target) = (0, vec![0.0; trainer.classes]);
        examples.pass(&mut |block| {
            self.check(trainer, block)?;
            let said = if loss.takes_likelihood() { &block.likelihood } else { &block.unbiased };
            for (row, (features, vector)) in block.rows.iter().zip(said.iter()).enumerate() {
                write_dense(vector, &mut target)?;
                loss.target(&mut target);
                let aside = aside(number);
                let (first, differ) = (&mut self.first, &mut self.differ);
                let write = |into: &mut [f32]| {
                    trainer.inputs.write(features, into);
                    if first.is_empty() {
                        first.extend_from_slice(into);
                    }
                    *differ |= first != into;
                };
                self.data.push(write, &target, aside)?;
                if aside {
                    let report = block.likelihood.get(row);
                    self.likelihood.push(report.base, report.entries.iter().copied());
                }
                number += 1;
            }
            Ok(())
        })
    }

    /// Whether everybody has features as the network takes them, and a report.
    fn check(&self, trainer: &NetTrainer<'_>, block: &Examples) -> Result<(), NetError> {
        let (found, expected) = (block.rows.width(), self.data.width());
        if trainer.inputs.width(found) != Some(expected) {
            return Err(NetError::Shape { what: "a row of features", found, expected });
        }
        for vectors in [&block.unbiased, &block.likelihood] {
            let (found, expected) = (vectors.len(), block.len());
            if found != expected {
                return Err(NetError::Shape { what: "the column of reports", found, expected });
            }
        }
        Ok(())
    }
}

/// All K numbers of a sparse vector.
fn write_dense(vector: LabelVector<'_>, into: &mut [f32]) -> Result<(), NetError> {
    into.fill(vector.base);
    for &(class, value) in vector.entries {
        let (found, expected) = (class as usize + 1, into.len());
        let place = into.get_mut(class as usize);
        *place.ok_or(NetError::Shape { what: "what a report says", found, expected })? = value;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Rows;
    use undertone_nets::Architecture;

    fn trainer() -> NetTrainer<'static> {
        let architecture = Architecture::Mlp { inputs: 1, hidden: vec![] };
        NetTrainer::new(architecture, 3, Training::as_published(1, 1))
    }

    #[test]
    fn one_in_eight_judges_and_is_not_trained_on() {
        let (trainer, mut people) = (trainer(), People::new(&trainer()).unwrap());
        let examples = Examples::certain(Rows::dense(1, vec![1.0; 800]), (0..800).map(|row| row % 3));
        let aside = |row| is_held_out(row, HELD_OUT);
        people.read(&trainer, Loss::Plain, &mut vec![examples], aside).unwrap();
        assert_eq!(people.data.len(), 800);
        let expected = (0..800).filter(|row| aside(*row)).map(|row| row as u32 % 3);
        assert_eq!(people.likelihood, LabelVectors::certain(expected));
    }

    #[test]
    fn more_people_than_there_is_memory_for_are_refused_before_they_come() {
        let mut trainer = trainer();
        let network = trainer.architecture.network(3).unwrap();
        let need = Need::new(&network, &trainer.training, 1000);
        trainer.bytes = need.bytes();
        assert!(trainer.check(1000).is_ok());
        let error = trainer.check(1001).unwrap_err();
        assert!(matches!(error, LearnError::NetworkMemory { people: 1001, .. }), "{error}");
        for word in ["1 for the features of 1001 people", "batches of 265", "(--memory)", "(--batch)"] {
            assert!(error.to_string().contains(word), "{error}");
        }
        // And where nobody has counted them, as they come: 3 features fit into 12 bytes
        trainer.bytes = 12;
        let rows = |people: u32| Rows::dense(1, (0..people).map(|row| row as f32).collect());
        let examples = |people: u32| Examples::certain(rows(people), (0..people).map(|row| row % 3));
        let come = |people| trainer.fit(&mut vec![examples(people)], None).map(|_| ());
        assert!(come(3).is_ok());
        assert!(matches!(come(4), Err(LearnError::Network(NetError::TooWide { rows: 4, .. }))));
    }

    #[test]
    fn people_who_look_all_alike_are_refused_before_the_first_epoch() {
        let epochs = std::cell::Cell::new(0);
        let count = |_: &Progress| epochs.set(epochs.get() + 1);
        let trainer = NetTrainer { progress: Some(&count), ..trainer() };
        let fit = |last: f32| {
            let rows = Rows::dense(1, [vec![1.0; 99], vec![last]].concat());
            trainer.fit(&mut vec![Examples::certain(rows, (0..100).map(|row| row % 3))], None)
        };
        let alike = RepresentError::Constant { people: 100 };
        assert!(matches!(fit(1.0), Err(LearnError::Represent(error)) if error == alike));
        assert_eq!(epochs.get(), 0);
        assert!(fit(2.0).is_ok() && epochs.get() == 1);
    }

    #[test]
    fn a_class_that_is_in_no_report_is_refused_whatever_block_the_others_are_in() {
        let block = |labels: [u32; 2]| Examples::certain(Rows::dense(1, vec![1.0, 2.0]), labels);
        let fit = |blocks: [[u32; 2]; 2], start: Option<&NetModel>| {
            trainer().fit(&mut blocks.map(block).to_vec(), start)
        };
        let first = fit([[0, 1], [1, 2]], None).unwrap();
        let unreported = RepresentError::NeverReported { class: 1 };
        assert!(
            matches!(fit([[0, 2], [2, 0]], None), Err(LearnError::Represent(error)) if error == unreported)
        );
        // The first one has heard of it, and stages may do without.
        assert!(fit([[0, 2], [2, 0]], Some(&first)).is_ok());
        assert!(trainer().train(&[5, 6], &mut vec![block([0, 2])], None).is_ok());
    }

    #[test]
    fn a_class_that_is_not_there_is_refused() {
        let examples = Examples::certain(Rows::dense(1, vec![1.0]), [3]);
        let error = trainer().fit(&mut vec![examples], None).unwrap_err();
        assert!(
            matches!(error, LearnError::Network(NetError::Shape { found: 4, expected: 3, .. })),
            "{error}"
        );
    }
}
