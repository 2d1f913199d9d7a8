//! What becomes of a body that a stranger sends, from its bytes to the log, with what has to hold on the way.
//!
//! - Whatever is accepted is the one spelling of a report, of this task and of a time that may come now.
//! - Whatever is accepted is counted once: the log and a list of names agree about every report of every body.
//! - Whatever else is sent is refused with a name that is known, and concerns nobody else.

use super::formats;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use undertone_collect::{Log, Outcome, SegmentLog, SegmentOptions, Submission};
use undertone_report::{ReportError, ReportFormat, Spelling};

/// Reports that one body may have
const MOST: usize = 100;
/// A log begins anew after so many bodies, so that no disk gets full.
const BODIES: usize = 20_000;
const TASK: [u8; 32] = [1; 32];

/// A log, and what it ought to have counted.
pub struct AcceptPath {
    folder: PathBuf,
    log: Option<SegmentLog>,
    counted: BTreeSet<(u64, [u8; 16])>,
    bodies: usize,
}

impl AcceptPath {
    /// With a log below this folder.
    pub fn new(folder: &Path) -> Self {
        let folder = folder.join(format!("undertone-accept-{}", std::process::id()));
        Self { folder, log: None, counted: BTreeSet::new(), bodies: 0 }
    }

    /// The first byte chooses a task and a spelling, the second the time, and the rest is the body. Says how many reports
    /// were accepted.
    pub fn walk(&mut self, data: &[u8]) -> usize {
        let Some((format, rest)) = formats::choose(data) else { return 0 };
        let Some((&moment, body)) = rest.split_first() else { return 0 };
        let spelling = if data[0] & 0x80 == 0 { Spelling::Binary } else { Spelling::Json };
        let now = now(format, moment);
        let reports = match format.read_batch(body, spelling, MOST) {
            Ok(reports) => reports,
            Err(error) => {
                let known = ["long-batch", "no-json"].contains(&error.reason());
                assert!(known || ReportError::REASONS.contains(&error.reason()));
                return 0;
            }
        };
        assert!(reports.len() <= MOST);
        let accepted = reports.into_iter().filter_map(|report| accepted(format, report, now));
        self.count(&accepted.collect::<Vec<_>>())
    }

    /// Appends them twice: what is new is counted by the first time, and nothing by the second.
    fn count(&mut self, accepted: &[Submission]) -> usize {
        if accepted.is_empty() {
            return 0;
        }
        self.bodies += 1;
        if self.bodies.is_multiple_of(BODIES) {
            self.read_back();
        }
        let expected: Vec<bool> =
            accepted.iter().map(|report| self.counted.insert((report.time, report.id))).collect();
        let log = self.log();
        let outcomes = log.append(accepted, 0).unwrap();
        let new: Vec<bool> = outcomes.iter().map(|outcome| matches!(outcome, Outcome::Accepted(_))).collect();
        assert_eq!(new, expected);
        assert!(outcomes.iter().all(|outcome| matches!(outcome, Outcome::Accepted(_) | Outcome::Duplicate)));
        assert_eq!(log.append(accepted, 0).unwrap(), vec![Outcome::Duplicate; accepted.len()]);
        let length = log.len();
        assert_eq!(length, self.counted.len() as u64);
        accepted.len()
    }

    fn log(&mut self) -> &mut SegmentLog {
        let folder = &self.folder;
        self.log.get_or_insert_with(|| {
            let options = SegmentOptions { front: 1000, filter_bytes: 1 << 16, ..SegmentOptions::default() };
            SegmentLog::open(folder, TASK, options).unwrap()
        })
    }

    /// Compares what the log holds with what was counted, and takes it away.
    pub fn read_back(&mut self) {
        let Some(log) = self.log.take() else { return };
        let name = |report: &[u8]| ReportFormat::peek(report).map(|(id, time)| (time, id.0)).unwrap();
        let held: Vec<(u64, [u8; 16])> =
            log.read(0).unwrap().map(|stored| name(&stored.unwrap().body)).collect();
        assert_eq!(held.len(), self.counted.len());
        assert_eq!(held.into_iter().collect::<BTreeSet<_>>(), self.counted);
        drop(log);
        std::fs::remove_dir_all(&self.folder).unwrap();
        self.counted.clear();
    }
}

/// Times from before a task opens to after it closes; most of them amid it.
fn now(format: &ReportFormat, moment: u8) -> u64 {
    let collection = format.collection();
    let length = collection.closes - collection.opens;
    (collection.opens + length / 64 * u64::from(moment)).saturating_sub(length)
}

fn accepted(format: &ReportFormat, report: Result<Vec<u8>, ReportError>, now: u64) -> Option<Submission> {
    let checked = report.and_then(|body| Ok((format.accept(&body, now)?, body)));
    let (header, body) = match checked {
        Ok(accepted) => accepted,
        Err(error) => {
            assert!(ReportError::REASONS.contains(&error.reason()) && !error.to_string().is_empty());
            return None;
        }
    };
    let report = format.decode(&body).unwrap();
    assert_eq!((report.id, report.time, report.tier), (header.id, header.time, header.tier));
    assert_eq!(format.encode(&report).unwrap(), body);
    let collection = format.collection();
    assert!(usize::from(report.tier) < collection.tiers.len());
    assert!(collection.horizon(now) <= report.time);
    assert!(report.time <= collection.unit_of(now + collection.clock_skew));
    // As JSON it is the same report.
    let json = format.to_json(&report).unwrap();
    assert_eq!(format.read_one(json.as_bytes(), Spelling::Json).as_ref(), Ok(&body));
    Some(Submission { id: header.id.0, time: header.time, admission: None, latest: None, body })
}
