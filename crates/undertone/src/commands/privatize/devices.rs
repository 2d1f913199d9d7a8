//! Everybody's devices: all alike, or each with a prior of its own.

use crate::reports::{Answers, Form, LabelLists, Layout};
use anyhow::{Context, ensure};
use arrow_array::RecordBatch;
use rand_core::CryptoRng;
use undertone_privacy::Epsilon;
use undertone_privacy::exact::{SetMemory, WordBuffer};
use undertone_privacy::label::{Label, LabelMechanism, LabelRandomizer, ReportColumn, RrWithPrior};
use undertone_report::{PriorWords, Task};

/// The labels that reports may name in one block, which bounds its memory.
const MEMBERS: f64 = 4_000_000.0;

/// What is publicly believed about each person's label.
pub(crate) trait Priors {
    /// How a task names it.
    fn words(&self) -> PriorWords;

    /// Appends the prior of each row of `features`, K probabilities a row.
    fn append(&mut self, features: &RecordBatch, priors: &mut Vec<f64>) -> anyhow::Result<()>;
}

/// Turns labels into reports.
pub(super) enum Devices {
    Alike(LabelMechanism, Form),
    WithPriors { priors: Box<dyn Priors>, labels: u32, epsilon: Epsilon, realised: f64 },
}

impl Devices {
    /// The devices of a task; those with priors take them from `priors`.
    pub(super) fn of(task: &Task, priors: Option<Box<dyn Priors>>) -> anyhow::Result<Self> {
        Ok(match priors {
            None => Self::Alike(task.mechanism()?, Layout::of(task)?.form),
            Some(priors) => {
                Self::WithPriors { priors, labels: task.labels(), epsilon: task.epsilon()?, realised: 0.0 }
            }
        })
    }

    /// How many people are asked at once.
    pub(super) fn at_once(&self) -> usize {
        let members = match self {
            Self::Alike(mechanism, _) => mechanism.expected_members(),
            // K numbers are computed for each.
            Self::WithPriors { labels, .. } => f64::from(*labels),
        };
        (MEMBERS / members).ceil() as usize
    }

    /// One report for each of `labels`, and what it was chosen among if that is a matter of its own; `row_of` says which
    /// row of the table each is.
    pub(super) fn answer(
        &mut self,
        labels: &[Label],
        features: &RecordBatch,
        row_of: impl Fn(usize) -> u64,
        rng: &mut impl CryptoRng,
    ) -> anyhow::Result<(Answers, Option<LabelLists>)> {
        match self {
            Self::Alike(mechanism, Form::Mask) => {
                let mut masks = Vec::with_capacity(labels.len());
                mechanism.randomize_masks(labels, &mut masks, rng)?;
                Ok((Answers::Masks(masks), None))
            }
            Self::Alike(mechanism, form) => {
                let mut column = ReportColumn::new();
                mechanism.randomize_column(labels, &mut column, rng)?;
                Ok((
                    match form {
                        Form::List => Answers::Lists(LabelLists::of(column, mechanism.set_size())),
                        _ => Answers::Numbers(column.into_members()),
                    },
                    None,
                ))
            }
            Self::WithPriors { priors, labels: k, epsilon, realised } => {
                let (k, mut beliefs) = (*k as usize, Vec::new());
                priors.append(features, &mut beliefs)?;
                let (rows, values) = (labels.len(), beliefs.len());
                ensure!(
                    values == k * rows,
                    "{rows} priors over {k} classes were expected, not {values} values"
                );
                let (mut reports, mut among) = (Vec::with_capacity(rows), LabelLists::new());
                let (mut memory, mut rng) = (SetMemory::new(), WordBuffer::new(rng));
                for (place, (&Label(truth), prior)) in labels.iter().zip(beliefs.chunks_exact(k)).enumerate()
                {
                    let mechanism = RrWithPrior::new(prior, *epsilon);
                    let mechanism = mechanism.with_context(|| format!("row {}", row_of(place)))?;
                    *realised = realised.max(mechanism.realised_epsilon());
                    mechanism.draw(truth, &mut memory, &mut reports, &mut rng);
                    among.push_with(|members| members.extend(mechanism.top()));
                }
                Ok((Answers::Numbers(reports), Some(among)))
            }
        }
    }

    /// The exact loss of what ran, the largest of all people.
    pub(super) fn realised_epsilon(&self) -> f64 {
        match self {
            Self::Alike(mechanism, _) => mechanism.realised_epsilon(),
            Self::WithPriors { realised, .. } => *realised,
        }
    }

    /// The labels in each report, if their number is fixed.
    pub(super) fn set_size(&self) -> Option<u32> {
        match self {
            Self::Alike(mechanism, _) => mechanism.set_size(),
            Self::WithPriors { .. } => Some(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::randomness;
    use crate::reports::{Marks, ReportsFile, ReportsWriter};
    use arrow_array::cast::AsArray;
    use arrow_array::types::Float64Type;
    use arrow_array::{ArrayRef, Float64Array};
    use std::sync::Arc;
    use undertone_report::{ColumnKind, FeatureColumn, MechanismWords, TASK_VERSION};

    /// People with a positive feature surely have the first label; about the others nothing is known.
    struct BySign;

    impl Priors for BySign {
        fn words(&self) -> PriorWords {
            PriorWords::Model { sha256: "ab".into(), temperature: Some(1.0) }
        }

        fn append(&mut self, features: &RecordBatch, priors: &mut Vec<f64>) -> anyhow::Result<()> {
            for &x in features.column(0).as_primitive::<Float64Type>().values() {
                priors.extend(if x > 0.0 { [0.98, 0.01, 0.01] } else { [1.0 / 3.0; 3] });
            }
            Ok(())
        }
    }

    /// A prior too few.
    struct Short;

    impl Priors for Short {
        fn words(&self) -> PriorWords {
            BySign.words()
        }

        fn append(&mut self, features: &RecordBatch, priors: &mut Vec<f64>) -> anyhow::Result<()> {
            priors.extend(vec![1.0 / 3.0; 3 * (features.num_rows() - 1)]);
            Ok(())
        }
    }

    fn task() -> Task {
        Task {
            version: TASK_VERSION,
            label: "y".into(),
            classes: ["a", "b", "c"].map(String::from).to_vec(),
            mechanism: MechanismWords {
                kind: "rr-prior".into(),
                epsilon: Some(1.0),
                delta: None,
                mu: None,
                set_size: None,
                top: None,
                prior: Some(BySign.words()),
            },
            features: vec![FeatureColumn { name: "x".into(), kind: ColumnKind::Number }],
            collection: None,
            number: None,
            record: None,
            survey: None,
        }
    }

    fn features() -> RecordBatch {
        let x: ArrayRef = Arc::new(Float64Array::from(vec![1.0, -1.0, 2.0]));
        RecordBatch::try_from_iter([("x", x)]).unwrap()
    }

    #[test]
    fn each_person_answers_among_the_labels_of_their_own_prior() {
        let (task, features) = (task(), features());
        let mut rng = randomness::generator(Some(1)).unwrap();
        let mut devices = Devices::of(&task, Some(Box::new(BySign))).unwrap();
        let labels = [Label(1), Label(1), Label(2)];
        let (reports, among) = devices.answer(&labels, &features, |place| place as u64, &mut rng).unwrap();
        let path = std::env::temp_dir().join(format!("undertone-devices-{}.parquet", std::process::id()));
        let fields = features.schema().fields().to_vec();
        let marks = Marks {
            simulation: true,
            part: Some("2/3".into()),
            classes_from_labels: true,
            segment: Some("of a log".into()),
        };
        let mut writer = ReportsWriter::create(&path, true, &task, &fields, &marks).unwrap();
        writer.write(features.columns().to_vec(), reports, among).unwrap();
        writer.finish().unwrap();
        let file = ReportsFile::open(&path).unwrap();
        let block = file.blocks().next().unwrap().unwrap();
        assert_eq!([0, 1, 2].map(|row| block.among(row).to_vec()), [vec![0], vec![0, 1, 2], vec![0]]);
        // Where there is one label to answer among, it is the answer.
        assert_eq!((block.members(0), block.members(2)), (&[0][..], &[0][..]));
        assert!(block.members(1).len() == 1 && devices.realised_epsilon() > 0.99 && file.marks() == [marks]);
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn too_few_priors_are_refused() {
        let mut devices = Devices::of(&task(), Some(Box::new(Short))).unwrap();
        let mut rng = randomness::generator(Some(1)).unwrap();
        let error =
            devices.answer(&[Label(0); 3], &features(), |place| place as u64, &mut rng).err().unwrap();
        assert!(error.to_string().contains("3 priors over 3 classes were expected, not 6 values"), "{error}");
    }
}
