//! Batches that the collector accepts, made beforehand: only the ids are drawn anew each time.

use flate2::read::GzDecoder;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};
use undertone_device::Question;
use undertone_privacy::label::Label;
use undertone_report::{Cell, ColumnKind, Task, batch};

/// Reports of a batch
pub const BATCH: usize = 100;
/// Version and task come first, then the id.
const ID: usize = 1 + 32;

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/nursery.csv.gz");
const COLUMNS: &str = "parents,has_nurs,form,children,housing,finance,social,health";
const CLASSES: &str = "not_recom,recommend,very_recom,priority,spec_prior";

/// A task, and what the rows of the table answer to it.
pub struct Batches {
    pub task_file: PathBuf,
    pub about: String,
    /// Of a report, on average
    pub bytes: usize,
    bodies: Vec<Vec<u8>>,
}

impl Batches {
    /// The nursery with all of its public columns or with none.
    pub fn new(scratch: &Path, columns: bool) -> Self {
        let task_file = scratch.join("task.toml");
        let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
        command.args(["task", "new", TABLE, "--label", "nursery", "--classes", CLASSES, "--epsilon", "1"]);
        command.args(["--mechanism", "subset", "--force", "-o"]).arg(&task_file);
        if !columns {
            command.args(["--drop", COLUMNS]);
        }
        assert!(command.output().expect("the program is built").status.success(), "no task");
        let task = Task::from_toml(&fs::read_to_string(&task_file).expect("it was written")).expect("a task");
        let reports = answers(&task);
        let bytes = reports.iter().map(Vec::len).sum::<usize>() / reports.len();
        let bodies = reports.chunks_exact(BATCH).map(batch::join).collect();
        let learner = task.collection.as_ref().map_or("", |collection| collection.learner.name());
        let about = format!("subset, {} public columns, {learner}", task.features.len());
        Self { task_file, about, bytes, bodies }
    }

    /// One of the batches, and where its ids are.
    pub fn body(&self, number: usize) -> (Vec<u8>, Vec<usize>) {
        let body = self.bodies[number % self.bodies.len()].clone();
        let (mut ids, mut place) = (Vec::with_capacity(BATCH), 0);
        for report in batch::split(&body).expect("what was joined") {
            ids.push(place + 4 + ID);
            place += 4 + report.len();
        }
        (body, ids)
    }
}

/// A report of each row, made now.
fn answers(task: &Task) -> Vec<Vec<u8>> {
    let question = Question::new(task).expect("a task that devices answer");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock that goes").as_secs();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut table = csv::Reader::from_reader(GzDecoder::new(File::open(TABLE).expect("our own table")));
    let header = table.headers().expect("a header").clone();
    let place = |name: &str| header.iter().position(|column| column == name).expect("a column of the table");
    let places: Vec<usize> = task.features.iter().map(|column| place(&column.name)).collect();
    let label = place(&task.label);
    assert!(task.features.iter().all(|column| column.kind == ColumnKind::Words), "the table has words only");
    let report = |row: csv::StringRecord| {
        let cells = places.iter().map(|&place| Cell::Words(row[place].to_owned())).collect();
        let class = task.classes.iter().position(|class| *class == row[label]).expect("a class of the task");
        question.answer(cells, Label(class as u32), 0, now, &mut rng).expect("a row that fits")
    };
    table.records().map(|row| row.expect("whole rows")).map(report).collect()
}
