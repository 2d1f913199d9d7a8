//! Whatever is done to a log, in whatever order, it answers like a list and a few sets in memory.

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use undertone_collect::{Admission, Log, Outcome, SegmentLog, SegmentOptions, Stored, Submission};

/// A log as one would define it.
#[derive(Default)]
struct Model {
    stored: Vec<Stored>,
    counted: BTreeMap<(u64, [u8; 16]), Vec<u8>>,
    uses: BTreeMap<[u8; 16], u32>,
    horizon: u64,
}

impl Model {
    fn append(&mut self, batch: &[Submission], horizon: u64) -> Vec<Outcome> {
        self.horizon = self.horizon.max(horizon);
        batch.iter().map(|submission| self.judge(submission)).collect()
    }

    fn judge(&mut self, Submission { id, time, admission, latest, body }: &Submission) -> Outcome {
        if *time < self.horizon {
            return Outcome::TooOld;
        }
        if let Some(counted) = self.counted.get(&(*time, *id)) {
            return if counted == body { Outcome::Duplicate } else { Outcome::Equivocation };
        }
        if latest.is_some_and(|latest| self.stored.len() as u64 > latest) {
            return Outcome::TooLate;
        }
        if let Some(Admission { nonce, cap }) = admission {
            let uses = self.uses.entry(*nonce).or_default();
            if *uses >= *cap {
                return Outcome::AdmissionSpent;
            }
            *uses += 1;
        }
        self.counted.insert((*time, *id), body.clone());
        let position = self.stored.len() as u64;
        self.stored.push(Stored { position, id: *id, time: *time, body: body.clone() });
        Outcome::Accepted(position)
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// A batch, and how far the clock has gone since the step before; it also goes back
    Append(Vec<Submission>, i64),
    /// Closed in good order and opened again, with so many units in a generation
    Reopen(u32),
    /// Opened again as after a crash: without what is remembered about a good end
    Crash(u32),
}

fn submission() -> impl Strategy<Value = Submission> {
    let admission =
        prop::option::of((0u8..6, 0u32..5).prop_map(|(nonce, cap)| Admission { nonce: [nonce; 16], cap }));
    // Few ids, times and bodies, so that they meet
    let body = (0u8..3, 0usize..40).prop_map(|(byte, length)| vec![byte; length / 20 * 20]);
    let latest = prop::option::of(0u64..40);
    (0u8..30, 0u64..12, admission, latest, body).prop_map(|(id, time, admission, latest, body)| Submission {
        id: [id; 16],
        time,
        admission,
        latest,
        body,
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (prop::collection::vec(submission(), 0..12), -3i64..3).prop_map(|(batch, drift)| Step::Append(batch, drift)),
        1 => (1u32..4).prop_map(Step::Reopen),
        1 => (1u32..4).prop_map(Step::Crash),
    ]
}

fn open(folder: &Path, units_per_generation: u32) -> SegmentLog {
    // So small that segments, shelves and the filter are all in use, and too small
    let options = SegmentOptions { segment_bytes: 1_000, units_per_generation, front: 3, filter_bytes: 64 };
    SegmentLog::open(folder, [1; 32], options).unwrap()
}

fn scratch() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    folder.join(format!("undertone-collect-model-{}", std::process::id()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_log_answers_like_a_list_and_a_few_sets(steps in prop::collection::vec(step(), 1..40)) {
        let folder = scratch();
        let _ = std::fs::remove_dir_all(&folder);
        let (mut log, mut model, mut clock) = (open(&folder, 2), Model::default(), 3i64);
        for step in steps {
            match step {
                Step::Append(batch, drift) => {
                    clock = (clock + drift).max(0);
                    let horizon = clock as u64 / 3;
                    let times = batch.into_iter().map(|s| Submission { time: horizon.saturating_sub(2) + s.time, ..s });
                    let batch: Vec<Submission> = times.collect();
                    prop_assert_eq!(log.append(&batch, horizon).unwrap(), model.append(&batch, horizon));
                }
                Step::Reopen(units) => {
                    drop(log);
                    log = open(&folder, units);
                }
                Step::Crash(units) => {
                    drop(log);
                    let _ = std::fs::remove_file(folder.join("seen/clean"));
                    log = open(&folder, units);
                }
            }
            prop_assert_eq!(log.len(), model.stored.len() as u64);
            prop_assert_eq!(log.horizon(), model.horizon);
        }
        for from in [0, model.stored.len() / 2, model.stored.len()] {
            let read: Vec<Stored> = log.read(from as u64).unwrap().map(Result::unwrap).collect();
            prop_assert_eq!(&read[..], &model.stored[from..]);
        }
        drop(log);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
