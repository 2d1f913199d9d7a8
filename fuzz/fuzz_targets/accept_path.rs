//! What becomes of a body that a stranger sends, from its bytes to the log, with what has to hold on the way.
//!
//! - Whatever is accepted is the one spelling of a report, of this task and of a time that may come now.
//! - Whatever is accepted is counted once: the log and a list of names agree about every report of every body. Something else
//!   under the same name is no duplicate, and a gradient comes neither before its point nor too long after it.
//! - Whatever else is sent is refused with a name that is known, and concerns nobody else.

use super::formats;
use std::collections::BTreeMap;
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
    counted: BTreeMap<(u64, [u8; 16]), Vec<u8>>,
    bodies: usize,
    /// How many gradients were accepted, in all logs
    gradients: usize,
}

impl AcceptPath {
    /// With a log below this folder.
    pub fn new(folder: &Path) -> Self {
        let folder = folder.join(format!("undertone-accept-{}", std::process::id()));
        Self { folder, log: None, counted: BTreeMap::new(), bodies: 0, gradients: 0 }
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
        let length = self.length();
        let accepted = reports.into_iter().filter_map(|report| accepted(format, report, now, length));
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
        let expected: Vec<Outcome> = accepted.iter().map(|report| self.judge(report)).collect();
        let length = self.counted.len() as u64;
        let log = self.log();
        assert_eq!(log.append(accepted, 0).unwrap(), expected);
        assert_eq!(log.len(), length);
        let again = |outcome: &Outcome| match *outcome {
            Outcome::Accepted(_) => Outcome::Duplicate,
            other => other,
        };
        assert_eq!(log.append(accepted, 0).unwrap(), expected.iter().map(again).collect::<Vec<_>>());
        assert_eq!(log.len(), length);
        expected.iter().filter(|outcome| matches!(outcome, Outcome::Accepted(_))).count()
    }

    /// What the log ought to say, which then has one more report or not.
    fn judge(&mut self, Submission { id, time, latest, body, .. }: &Submission) -> Outcome {
        let position = self.counted.len() as u64;
        match self.counted.get(&(*time, *id)) {
            Some(counted) if counted == body => Outcome::Duplicate,
            Some(_) => Outcome::Equivocation,
            None if latest.is_some_and(|latest| position > latest) => Outcome::TooLate,
            None => {
                self.counted.insert((*time, *id), body.clone());
                self.gradients += usize::from(latest.is_some());
                Outcome::Accepted(position)
            }
        }
    }

    fn log(&mut self) -> &mut SegmentLog {
        let folder = &self.folder;
        self.log.get_or_insert_with(|| {
            let options = SegmentOptions { front: 1000, filter_bytes: 1 << 16, ..SegmentOptions::default() };
            SegmentLog::open(folder, TASK, options).unwrap()
        })
    }

    /// How many reports the present log has.
    pub fn length(&self) -> u64 {
        self.counted.len() as u64
    }

    /// How many gradients were among what was accepted.
    pub fn gradients(&self) -> usize {
        self.gradients
    }

    /// Compares what the log holds with what was counted, and takes it away.
    pub fn read_back(&mut self) {
        let Some(log) = self.log.take() else { return };
        let named = |body: Vec<u8>| {
            let (id, time) = ReportFormat::peek(&body).unwrap();
            ((time, id.0), body)
        };
        let held: Vec<_> = log.read(0).unwrap().map(|stored| named(stored.unwrap().body)).collect();
        assert_eq!(held.len(), self.counted.len());
        assert_eq!(held.into_iter().collect::<BTreeMap<_, _>>(), self.counted);
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

/// The submission of a report, at a log of this length.
fn accepted(
    format: &ReportFormat,
    report: Result<Vec<u8>, ReportError>,
    now: u64,
    length: u64,
) -> Option<Submission> {
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
    assert_eq!(report.gradient.as_ref().map(|gradient| gradient.version), header.version);
    assert_eq!(format.encode(&report).unwrap(), body);
    let collection = format.collection();
    assert!(usize::from(report.tier) < collection.tiers.len());
    assert!(collection.horizon(now) <= report.time);
    assert!(report.time <= collection.unit_of(now + collection.clock_skew));
    // As JSON it is the same report.
    let json = format.to_json(&report).unwrap();
    assert_eq!(format.read_one(json.as_bytes(), Spelling::Json).as_ref(), Ok(&body));
    if header.version.is_some_and(|version| version > length) {
        return None;
    }
    let latest = header.version.map(|version| version + collection.learner.stale());
    Some(Submission { id: header.id.0, time: header.time, admission: None, latest, body })
}
