//! Everything that is there before the first device reports: a folder with two tables, a task and room for a store.

use crate::collector::{Config, now};
use crate::commands::simulate::{Data, TEST_SHARE};
use crate::commands::task::encoding;
use crate::exit::Usage;
use crate::people::Origin;
use crate::tables::{TableFile, Unlabelled, feature_columns};
use crate::{nursery, randomness};
use anyhow::Context;
use csv::StringRecord;
use rand_core::Rng;
use std::fs;
use std::path::{Path, PathBuf};
use undertone_learn::features::{Encoder, EncoderOptions};
use undertone_learn::split::{Purpose, place};
use undertone_privacy::Epsilon;
use undertone_privacy::label::{LabelKind, LabelMechanism};
use undertone_report::{Collection, FeatureColumn, LearnerWords, MechanismWords, TASK_VERSION, Task};

/// Nothing is shown before so many reports are in.
const MINIMUM: u64 = 100;
/// Requests a second from one address: all devices have the same here.
const CROWD: f64 = 1e6;

/// The folder, gone when the demonstration ends.
struct Folder(PathBuf);

impl Folder {
    fn new() -> anyhow::Result<Self> {
        let path = std::env::temp_dir().join(format!("undertone-demo-{}", std::process::id()));
        fs::create_dir(&path).with_context(|| format!("{} cannot be made", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Nobody needs it any more; the system clears what cannot be removed.
        drop(fs::remove_dir_all(&self.0));
    }
}

/// The stage.
pub(super) struct Stage {
    folder: Folder,
    pub(super) task: Task,
    pub(super) config: Config,
    pub(super) mechanism: LabelMechanism,
    /// The share of each class among the devices, which nobody else knows
    pub(super) truth: Vec<f64>,
    pub(super) devices: u32,
}

impl Stage {
    /// Some rows are put aside to judge by; each device holds one of the others, drawn with replacement.
    pub(super) fn set(epsilon: Epsilon, devices: u32, seed: Option<u64>) -> anyhow::Result<Self> {
        let mechanism = LabelMechanism::best(nursery::CLASSES.len() as u32, epsilon).map_err(Usage::new)?;
        let mut rows = nursery::rows()?.into_iter();
        let header = rows.next().context("the table in the program is empty")?;
        let column = header.iter().position(|name| name == nursery::LABEL).context("it has no label")?;
        let (others, pool): (Vec<_>, Vec<_>) =
            (0..).zip(rows).partition(|(row, _)| place(*row, Purpose::Test) < TEST_SHARE);
        let mut rng = randomness::generator(seed)?;
        // ⌊u·n/2^64⌋ is even to within 2^-50.
        let mut draw = || &pool[((u128::from(rng.next_u64()) * pool.len() as u128) >> 64) as usize].1;
        let held: Vec<&StringRecord> = (0..devices).map(|_| draw()).collect();
        let share =
            |class: &str| held.iter().filter(|row| &row[column] == class).count() as f64 / held.len() as f64;
        let truth = nursery::CLASSES.map(share).to_vec();

        let folder = Folder::new()?;
        let path = &folder.0;
        write(&devices_path(path), &header, held.into_iter())?;
        write(&others_path(path), &header, others.iter().map(|(_, row)| row))?;
        let task = task(&devices_path(path), &mechanism, epsilon)?;
        let mut config =
            Config { task: path.join("task.toml"), directory: path.join("store"), ..Config::default() };
        (config.limits.rate, config.limits.burst) = (CROWD, CROWD);
        fs::write(&config.task, task.to_toml())?;
        Ok(Self { folder, task, config, mechanism, truth, devices })
    }

    /// The rows that devices hold, in the order in which they report.
    pub(super) fn devices(&self) -> anyhow::Result<TableFile> {
        TableFile::open_as(&devices_path(&self.folder.0), &self.task.features)
    }

    /// What is known here only: the labels of the devices, and of others to judge by.
    pub(super) fn data(&self) -> anyhow::Result<Data> {
        let open = |path: PathBuf| {
            let table = TableFile::open_as(&path, &self.task.features)?;
            Origin::labels(table, nursery::LABEL, Some(&self.task.classes), Unlabelled::Refused)
        };
        let collection = self.task.collection.as_ref().context("the task has a collection")?;
        let encoder = Encoder::from_words(&self.task.features, &collection.encoding)?;
        let (devices, others) = (open(devices_path(&self.folder.0))?, open(others_path(&self.folder.0))?);
        Data::with_test(&devices, &others, &encoder)
    }
}

fn devices_path(folder: &Path) -> PathBuf {
    folder.join("devices.csv")
}

fn others_path(folder: &Path) -> PathBuf {
    folder.join("others.csv")
}

fn write<'a>(
    path: &Path,
    header: &StringRecord,
    rows: impl Iterator<Item = &'a StringRecord>,
) -> anyhow::Result<()> {
    let mut table = csv::Writer::from_path(path).with_context(|| path.display().to_string())?;
    table.write_record(header)?;
    rows.into_iter().try_for_each(|row| table.write_record(row))?;
    Ok(table.flush()?)
}

/// What the devices are asked: everything in the table is public but the label.
fn task(table: &Path, mechanism: &LabelMechanism, epsilon: Epsilon) -> anyhow::Result<Task> {
    let table = TableFile::open(table)?;
    let columns: Vec<FeatureColumn> = feature_columns(table.schema(), &[nursery::LABEL])?;
    let encoding = encoding(table, &columns, EncoderOptions::default())?;
    let unit = 3600;
    let opens = now() / unit * unit;
    let alone = mechanism.set_size() == Some(1);
    let kind = if alone { LabelKind::Rr } else { LabelKind::Subset };
    Ok(Task {
        version: TASK_VERSION,
        label: nursery::LABEL.into(),
        classes: nursery::CLASSES.map(str::to_owned).to_vec(),
        mechanism: MechanismWords {
            kind: kind.name().into(),
            epsilon: Some(epsilon.get()),
            delta: None,
            mu: None,
            set_size: mechanism.set_size().filter(|_| !alone),
            top: None,
            prior: None,
        },
        features: columns,
        collection: Some(Collection {
            name: "How urgent is a place in the nursery school?".into(),
            min_reports: MINIMUM,
            opens,
            closes: opens + 48 * unit,
            time_precision: unit,
            expiry_age: 24 * unit,
            clock_skew: 300,
            learner: LearnerWords::Softmax,
            encoding,
            tiers: vec![epsilon.get()],
            admission: false,
        }),
        number: None,
        record: None,
        survey: None,
    })
}
