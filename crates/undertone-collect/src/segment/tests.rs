//! The log against everything that can happen to its files.

use super::*;
use crate::scratch::Scratch;
use crate::{Admission, Stored};
use std::collections::BTreeMap;

const TASK: [u8; 32] = [7; 32];
const SMALL: SegmentOptions =
    SegmentOptions { segment_bytes: 1 << 20, units_per_generation: 2, front: 20, filter_bytes: 1 << 10 };

fn report(time: u64, id: u8) -> Submission {
    Submission { id: [id; 16], time, admission: None, body: vec![id; usize::from(id % 5)], latest: None }
}

fn admitted(id: u8, nonce: u8, cap: u32) -> Submission {
    Submission { admission: Some(Admission { nonce: [nonce; 16], cap }), ..report(5, id) }
}

fn open(scratch: &Scratch) -> Result<SegmentLog, LogError> {
    SegmentLog::open(scratch.path(), TASK, SMALL)
}

/// Ends a log as a crash would: without a word about its good order.
fn crash(mut log: SegmentLog) {
    log.seen = None;
}

fn ids(log: &SegmentLog) -> Vec<u8> {
    let stored: Vec<Stored> = log.read(0).unwrap().collect::<Result<_, _>>().unwrap();
    assert!(stored.iter().enumerate().all(|(i, stored)| stored.position == i as u64));
    assert!(stored.iter().all(|stored| stored.body == report(0, stored.id[0]).body));
    stored.iter().map(|stored| stored.id[0]).collect()
}

/// Where closed segments end.
fn ends(log: &SegmentLog) -> Vec<u64> {
    log.reader().closed().unwrap().into_iter().map(|segment| segment.end).collect()
}

/// Commits of one to three reports, and after each the end of the file.
fn small_log(scratch: &Scratch) -> Vec<(usize, u64)> {
    let mut log = open(scratch).unwrap();
    let mut ends = vec![(0, log.writer.end)];
    for batch in [vec![1], vec![2, 3], vec![], vec![4, 5, 6], vec![7]] {
        let batch: Vec<Submission> = batch.into_iter().map(|id| report(5, id)).collect();
        let horizon = ends.len() as u64 - 1;
        log.append(&batch, horizon).unwrap();
        ends.push((log.len as usize, log.writer.end));
    }
    crash(log);
    ends
}

/// The frames of a log, and some of the zeros that follow.
fn bytes_of(scratch: &Scratch, ends: &[(usize, u64)]) -> Vec<u8> {
    let mut bytes = fs::read(only_segment(scratch)).unwrap();
    bytes.truncate(ends[ends.len() - 1].1 as usize + 100);
    bytes
}

fn only_segment(scratch: &Scratch) -> PathBuf {
    let segments = segments_of(scratch.path()).unwrap();
    assert_eq!(segments.len(), 1);
    segments[0].clone()
}

#[test]
fn a_report_is_accepted_once_whether_it_comes_again_in_the_batch_later_or_after_a_start() {
    use Outcome::{Accepted, Duplicate};
    let scratch = Scratch::new();
    let mut log = open(&scratch).unwrap();
    let batch = [report(5, 1), report(5, 2), report(5, 1), report(6, 1)];
    assert_eq!(log.append(&batch, 0).unwrap(), [Accepted(0), Accepted(1), Duplicate, Accepted(2)]);
    assert_eq!(log.append(&batch[..2], 0).unwrap(), [Duplicate, Duplicate]);
    drop(log);
    let mut log = open(&scratch).unwrap();
    assert_eq!(log.append(&batch, 0).unwrap(), [Duplicate; 4]);
    crash(log);
    let mut log = open(&scratch).unwrap();
    assert_eq!(log.append(&batch, 0).unwrap(), [Duplicate; 4]);
    assert_eq!(log.append(&[report(7, 1)], 0).unwrap(), [Accepted(3)]);
    assert_eq!(ids(&log), [1, 2, 1, 1]);
}

#[test]
fn who_says_something_else_under_the_same_name_is_told_so_in_the_batch_later_and_after_a_start() {
    use Outcome::{Accepted, Duplicate, Equivocation};
    let scratch = Scratch::new();
    let mut log = open(&scratch).unwrap();
    let lie = |time, number| Submission { body: b"something else".to_vec(), ..report(time, number) };
    // A token is not spent on it, and a point that is too old is no excuse.
    let admission = Some(Admission { nonce: [3; 16], cap: 0 });
    let late = Submission { admission, latest: Some(0), ..lie(5, 1) };
    let batch = [report(5, 1), lie(5, 1), late.clone(), report(5, 1), lie(6, 1)];
    let expected = [Accepted(0), Equivocation, Equivocation, Duplicate, Accepted(1)];
    assert_eq!(log.append(&batch, 0).unwrap(), expected);
    // Enough others that the first are on their shelves
    log.append(&(10..40).map(|number| report(5, number)).collect::<Vec<_>>(), 0).unwrap();
    for end in [drop, crash] {
        end(log);
        log = open(&scratch).unwrap();
        let again = [lie(5, 1), report(5, 1), report(6, 1), lie(6, 1), late.clone()];
        assert_eq!(
            log.append(&again, 0).unwrap(),
            [Equivocation, Duplicate, Equivocation, Duplicate, Equivocation]
        );
    }
    assert_eq!(log.len(), 32);
}

#[test]
fn a_horizon_never_goes_back_whatever_the_clock_says() {
    use Outcome::{Accepted, TooOld};
    let scratch = Scratch::new();
    let mut log = open(&scratch).unwrap();
    assert_eq!(log.append(&[report(5, 1)], 3).unwrap(), [Accepted(0)]);
    // The clock jumps ahead and back; nothing new comes with the jump.
    assert_eq!(log.append(&[report(5, 1), report(9, 2)], 10).unwrap(), [TooOld; 2]);
    assert_eq!(
        log.append(&[report(5, 1), report(9, 2), report(10, 3)], 3).unwrap(),
        [TooOld, TooOld, Accepted(1)]
    );
    for end in [drop, crash] {
        end(log);
        log = open(&scratch).unwrap();
        assert_eq!(log.horizon(), 10);
        assert_eq!(
            log.append(&[report(5, 1), report(9, 2)], 0).unwrap(),
            [TooOld; 2],
            "a replay after expiry"
        );
    }
    assert_eq!(ids(&log), [1, 3]);
}

#[test]
fn a_token_lets_in_as_many_as_it_may_and_a_retry_is_still_a_duplicate() {
    use Outcome::{Accepted, AdmissionSpent, Duplicate};
    let scratch = Scratch::new();
    let mut log = open(&scratch).unwrap();
    let batch =
        [admitted(1, 9, 2), admitted(1, 9, 2), admitted(2, 9, 2), admitted(3, 9, 2), admitted(1, 9, 2)];
    let expected = [Accepted(0), Duplicate, Accepted(1), AdmissionSpent, Duplicate];
    assert_eq!(log.append(&batch, 0).unwrap(), expected);
    assert_eq!(
        log.append(&[admitted(3, 8, 0), admitted(3, 7, 1)], 0).unwrap(),
        [AdmissionSpent, Accepted(2)]
    );
    for end in [drop, crash] {
        end(log);
        log = open(&scratch).unwrap();
        let again = [admitted(4, 9, 2), admitted(5, 7, 1), admitted(3, 7, 1)];
        assert_eq!(log.append(&again, 0).unwrap(), [AdmissionSpent, AdmissionSpent, Duplicate]);
    }
    // Even when the reports it let in are long forgotten
    let late = Submission { time: 1_000, ..admitted(6, 9, 2) };
    assert_eq!(log.append(&[late], 1_000).unwrap(), [AdmissionSpent]);
}

#[test]
fn reading_begins_at_any_position_and_crosses_segments() {
    let scratch = Scratch::new();
    let options = SegmentOptions { segment_bytes: 300, ..SMALL };
    let mut log = SegmentLog::open(scratch.path(), TASK, options).unwrap();
    let reader = log.reader();
    for ids in (0..100u8).collect::<Vec<_>>().chunks(3) {
        let batch: Vec<Submission> = ids.iter().map(|&id| report(5, id)).collect();
        log.append(&batch, 0).unwrap();
        assert_eq!(reader.len(), u64::from(ids[ids.len() - 1]) + 1);
    }
    assert!(segments_of(scratch.path()).unwrap().len() > 10);
    let check = |log: &SegmentLog| {
        for from in 0..=101 {
            let read: Vec<u8> = log.read(from).unwrap().map(|stored| stored.unwrap().id[0]).collect();
            assert_eq!(read, (from as u8..100).collect::<Vec<_>>());
        }
    };
    check(&log);
    crash(log);
    let mut log = SegmentLog::open(scratch.path(), TASK, options).unwrap();
    check(&log);
    let before = log.read(98).unwrap();
    assert_eq!(log.append(&[report(5, 99), report(5, 100)], 0).unwrap()[1], Outcome::Accepted(100));
    assert_eq!(before.count(), 2, "what was the end when the reading began");
    assert_eq!(log.read(98).unwrap().count(), 3);
}

#[test]
fn a_file_cut_at_any_byte_keeps_every_whole_commit_before_it_and_takes_new_ones() {
    let original = Scratch::new();
    let ends = small_log(&original);
    let bytes = bytes_of(&original, &ends);
    let last = ends[ends.len() - 1].1 as usize;
    for cut in file::SEGMENT_HEADER as usize..=last + 40 {
        // Cut off, or with the zeros that were there before the frame
        for zeros in [0, 100] {
            let scratch = Scratch::new();
            let path = segment_path(scratch.path(), 0);
            let mut torn = bytes[..cut].to_vec();
            torn.resize(cut + zeros, 0);
            fs::write(&path, torn).unwrap();
            let (whole, end) = *ends.iter().rev().find(|(_, end)| *end as usize <= cut).unwrap();
            // A commit whose last bytes are zeros is whole without them, if zeros follow.
            let mut log = open(&scratch).unwrap();
            let found = log.len as usize;
            assert!(
                found == whole
                    || (zeros > 0
                        && found > whole
                        && bytes[cut..log.writer.end as usize].iter().all(|&b| b == 0))
            );
            assert_eq!(ids(&log), [1, 2, 3, 4, 5, 6, 7][..found]);
            if let Some(torn) = log.recovered() {
                assert_eq!(torn.offset, end);
                assert!(bytes[end as usize..].starts_with(&fs::read(&torn.kept).unwrap()));
            } else {
                assert!(
                    log.writer.end as usize >= cut || bytes[end as usize..cut].iter().all(|&byte| byte == 0)
                );
            }
            let batch: Vec<Submission> = (1..=8).map(|id| report(5, id)).collect();
            let accepted = log.append(&batch, 0).unwrap();
            assert_eq!(accepted.iter().filter(|&&outcome| outcome == Outcome::Duplicate).count(), found);
            crash(log);
            assert_eq!(ids(&open(&scratch).unwrap()), [1, 2, 3, 4, 5, 6, 7, 8]);
        }
    }
}

#[test]
fn what_is_cut_off_twice_at_the_same_place_is_kept_twice() {
    let scratch = Scratch::new();
    let ends = small_log(&scratch);
    let end = ends[ends.len() - 1].1;
    for torn in [b"first half", b"other half"] {
        let file = fs::OpenOptions::new().write(true).open(only_segment(&scratch)).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, torn, end).unwrap();
        let log = open(&scratch).unwrap();
        assert_eq!(fs::read(&log.recovered().unwrap().kept).unwrap(), torn);
        crash(log);
    }
    let torn = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.unwrap().path();
        path.extension().is_some_and(|extension| extension == "torn")
    };
    assert_eq!(fs::read_dir(scratch.path()).unwrap().map(torn).filter(|&torn| torn).count(), 2);
}

#[test]
fn no_flipped_bit_is_taken_for_a_report_and_none_before_the_last_commit_is_forgiven() {
    let original = Scratch::new();
    let ends = small_log(&original);
    let bytes = bytes_of(&original, &ends);
    let (last, end) = (ends[ends.len() - 2], ends[ends.len() - 1].1 as usize);
    for place in 0..end + 64 {
        for bit in [0, 5] {
            let scratch = Scratch::new();
            let path = segment_path(scratch.path(), 0);
            let mut flipped = bytes.clone();
            flipped[place] ^= 1 << bit;
            fs::write(&path, flipped).unwrap();
            match open(&scratch) {
                Ok(log) if place >= end => assert_eq!(ids(&log), [1, 2, 3, 4, 5, 6, 7]),
                // Not to be told from half a frame; but kept, and said.
                Ok(log) => {
                    assert!(place >= last.1 as usize, "byte {place}");
                    assert_eq!(ids(&log), [1, 2, 3, 4, 5, 6]);
                    assert_eq!(log.recovered().unwrap().offset, last.1);
                }
                Err(LogError::Damaged { path: named, offset, .. }) => {
                    assert!(place < last.1 as usize && named == path);
                    let frame = ends.iter().rev().map(|(_, end)| *end).find(|&end| end as usize <= place);
                    assert_eq!(offset, frame.unwrap_or(0), "the frame that byte {place} is in");
                }
                Err(error) => panic!("byte {place}: {error}"),
            }
        }
    }
}

#[test]
fn after_a_good_end_not_even_the_last_commit_may_be_damaged_or_missing() {
    let scratch = Scratch::new();
    let ends = small_log(&scratch);
    drop(open(&scratch).unwrap());
    let path = only_segment(&scratch);
    let bytes = fs::read(&path).unwrap();
    let (last, end) = (ends[ends.len() - 2].1 as usize, ends[ends.len() - 1].1 as usize);
    for place in last..end {
        let mut flipped = bytes.clone();
        flipped[place] ^= 1;
        fs::write(&path, flipped).unwrap();
        let offset = match open(&scratch).map(|_| ()).unwrap_err() {
            LogError::Damaged { offset, .. } => offset,
            error => panic!("{error}"),
        };
        assert_eq!(offset, last as u64);
    }
    fs::write(&path, &bytes[..last]).unwrap();
    let error = open(&scratch).map(|_| ()).unwrap_err();
    assert!(matches!(error, LogError::Shorter { closed_with: 7, found: 6, .. }));
    fs::write(&path, &bytes).unwrap();
    assert_eq!(ids(&open(&scratch).unwrap()), [1, 2, 3, 4, 5, 6, 7], "and nothing was changed meanwhile");
}

#[test]
fn a_segment_is_closed_once_when_it_has_reports_and_stays_so() {
    let scratch = Scratch::new();
    let mut log = open(&scratch).unwrap();
    log.close_segment().unwrap();
    // A horizon is a frame, but no report.
    log.append(&[], 3).unwrap();
    log.close_segment().unwrap();
    assert_eq!(ends(&log), []);
    log.append(&[report(5, 1), report(5, 2)], 3).unwrap();
    (0..2).for_each(|_| assert_eq!(log.close_segment().unwrap(), 2));
    assert_eq!(ends(&log), [2]);
    log.append(&[report(5, 3)], 4).unwrap();
    assert_eq!(ends(&log), [2]);
    crash(log);
    let mut log = open(&scratch).unwrap();
    assert_eq!((ends(&log), log.horizon()), (vec![2], 4));
    log.close_segment().unwrap();
    drop(log);
    let log = open(&scratch).unwrap();
    assert_eq!(ends(&log), [2, 3]);
    assert_eq!(ids(&log), [1, 2, 3]);
}

#[test]
fn a_segment_without_reports_goes_on_however_long_it_is() {
    let scratch = Scratch::new();
    let options = SegmentOptions { segment_bytes: 1, ..SMALL };
    let mut log = SegmentLog::open(scratch.path(), TASK, options).unwrap();
    for horizon in 1..5 {
        log.append(&[], horizon).unwrap();
    }
    log.append(&[report(5, 1)], 4).unwrap();
    log.append(&[report(5, 2)], 4).unwrap();
    assert_eq!(ends(&log), [1]);
    crash(log);
    let log = SegmentLog::open(scratch.path(), TASK, options).unwrap();
    assert_eq!((ids(&log), log.horizon()), (vec![1, 2], 4));
}

#[test]
fn a_closed_segment_that_is_damaged_cut_or_missing_is_named() {
    let build = || {
        let scratch = Scratch::new();
        let options = SegmentOptions { segment_bytes: 200, ..SMALL };
        let mut log = SegmentLog::open(scratch.path(), TASK, options).unwrap();
        (1..40).for_each(|id| drop(log.append(&[report(5, id)], 0).unwrap()));
        crash(log);
        let segments = segments_of(scratch.path()).unwrap();
        assert!(segments.len() > 5);
        (scratch, segments)
    };
    let named = |scratch: &Scratch| match open(scratch).map(|_| ()).unwrap_err() {
        LogError::Damaged { path, offset, .. } => (path, offset),
        error => panic!("{error}"),
    };
    let length = |path: &Path| fs::metadata(path).unwrap().len();
    let cut =
        |path: &Path, to: u64| fs::OpenOptions::new().write(true).open(path).unwrap().set_len(to).unwrap();

    let (scratch, segments) = build();
    cut(&segments[2], length(&segments[2]) - 1);
    assert_eq!(named(&scratch).0, segments[2], "cut in a frame");
    let (scratch, segments) = build();
    cut(&segments[2], file::SEGMENT_HEADER);
    assert_eq!(named(&scratch), (segments[3].clone(), 0), "cut at a frame: the next does not fit");
    let (scratch, segments) = build();
    cut(&segments[2], length(&segments[2]) + 5);
    assert_eq!(named(&scratch).0, segments[2], "longer than it was");
    let (scratch, segments) = build();
    fs::remove_file(&segments[2]).unwrap();
    assert_eq!(named(&scratch), (segments[3].clone(), 0), "missing");
    let (scratch, segments) = build();
    fs::remove_file(&segments[0]).unwrap();
    assert_eq!(named(&scratch), (segments[1].clone(), 0), "the first is missing");
}

#[test]
fn a_segment_that_was_being_made_at_a_crash_does_no_harm() {
    let scratch = Scratch::new();
    small_log(&scratch);
    fs::write(scratch.path().join("00000000000000000007.new"), b"undert").unwrap();
    assert_eq!(ids(&open(&scratch).unwrap()), [1, 2, 3, 4, 5, 6, 7]);
    assert!(!scratch.path().join("00000000000000000007.new").exists());
}

#[test]
fn a_report_that_holds_a_frame_of_its_own_is_not_read_as_one() {
    // Whoever could guess the mark could make a torn end look like damage, and keep the log from opening.
    let scratch = Scratch::new();
    let mut log = open(&scratch).unwrap();
    let mut forged = FrameBuilder::default();
    forged.begin(log.writer.header.mark ^ 2, 0, 0);
    let body = forged.finish().to_vec();
    log.append(&[Submission { body, ..report(5, 1) }], 0).unwrap();
    let end = log.writer.end;
    crash(log);
    let path = only_segment(&scratch);
    let mut bytes = fs::read(&path).unwrap();
    bytes.truncate(end as usize - 1);
    fs::write(&path, bytes).unwrap();
    assert_eq!(ids(&open(&scratch).unwrap()), [0; 0]);
}

#[test]
fn two_processes_cannot_open_one_log_nor_one_task_that_of_another() {
    let scratch = Scratch::new();
    let log = open(&scratch).unwrap();
    assert!(matches!(open(&scratch), Err(LogError::Locked { path }) if path == scratch.path()));
    drop(log);
    let error = SegmentLog::open(scratch.path(), [8; 32], SMALL).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("0707") && error.contains("0808"), "{error}");
    assert!(open(&scratch).is_ok());
}

#[test]
fn after_a_fault_nothing_is_appended_until_the_log_is_opened_again_and_retries_are_counted_once() {
    // What each fault leaves of the commit it hit
    for (fault, left) in [(Fault::NoRoom, 0), (Fault::HalfWritten, 0), (Fault::Unsynced, 2)] {
        let scratch = Scratch::new();
        let mut log = open(&scratch).unwrap();
        log.append(&[report(5, 1)], 0).unwrap();
        log.writer.fault = Some(fault);
        let batch = [report(5, 2), report(5, 3)];
        assert!(matches!(log.append(&batch, 0), Err(LogError::Io { .. })), "{fault:?}");
        let error = log.append(&[report(5, 4)], 0).unwrap_err();
        assert!(
            matches!(&error, LogError::Stopped { .. }) && error.to_string().contains("a fault of this test")
        );
        assert_eq!(ids(&log), [1], "what was acknowledged can be read");
        drop(log);
        let mut log = open(&scratch).unwrap();
        assert_eq!(log.recovered().is_some(), fault == Fault::HalfWritten);
        let outcomes = log.append(&batch, 0).unwrap();
        let counted_before = outcomes.iter().filter(|&&outcome| outcome == Outcome::Duplicate).count();
        assert_eq!(counted_before, left, "{fault:?}");
        assert_eq!(ids(&log), [1, 2, 3]);
    }
}

#[test]
fn a_batch_of_more_bytes_than_a_frame_holds_becomes_several() {
    let scratch = Scratch::new();
    let mut log = open(&scratch).unwrap();
    let large = |id| Submission { body: vec![id; crate::MAX_BODY], ..report(5, id) };
    let batch: Vec<Submission> = (0..20).map(large).collect();
    assert_eq!(log.append(&batch, 0).unwrap(), (0..20).map(Outcome::Accepted).collect::<Vec<_>>());
    crash(log);
    let log = open(&scratch).unwrap();
    let read: Vec<Stored> = log.read(0).unwrap().map(Result::unwrap).collect();
    assert_eq!(read.len(), 20);
    assert!(read.iter().zip(&batch).all(|(stored, sent)| stored.body == sent.body));
}

#[test]
fn what_no_log_can_hold_changes_nothing() {
    let scratch = Scratch::new();
    let mut log = open(&scratch).unwrap();
    let late = Submission { time: u64::MAX, ..report(0, 2) };
    assert!(matches!(log.append(&[report(5, 1), late], 0), Err(LogError::Time { time: u64::MAX })));
    assert!(matches!(log.append(&[report(5, 1)], 1 << 63), Err(LogError::Time { .. })));
    let large = Submission { body: vec![0; crate::MAX_BODY + 1], ..report(5, 2) };
    assert!(matches!(log.append(&[report(5, 1), large], 0), Err(LogError::Body { .. })));
    assert_eq!(log.append(&[report(5, 1)], 0).unwrap(), [Outcome::Accepted(0)]);
}

#[test]
fn a_log_whose_shelves_are_lost_or_made_for_other_groups_builds_them_again() {
    let scratch = Scratch::new();
    let mut log = open(&scratch).unwrap();
    let batch: Vec<Submission> = (0..200).map(|id| report(u64::from(id % 10), id)).collect();
    log.append(&batch, 0).unwrap();
    drop(log);
    let mut counted = BTreeMap::new();
    for units in [3, 1, 2, 2] {
        let options = SegmentOptions { units_per_generation: units, ..SMALL };
        let mut log = SegmentLog::open(scratch.path(), TASK, options).unwrap();
        assert_eq!(log.append(&batch, 0).unwrap(), vec![Outcome::Duplicate; 200]);
        *counted.entry(log.len).or_insert(0) += 1;
        drop(log);
        if units == 1 {
            fs::remove_dir_all(scratch.path().join("seen")).unwrap();
        }
    }
    assert_eq!(counted, BTreeMap::from([(200, 4)]));
}

#[test]
fn whoever_reads_on_begins_where_it_was_however_long_the_segments_are() {
    let scratch = Scratch::new();
    let options = SegmentOptions { segment_bytes: 5 << 20, ..SMALL };
    let check = |log: &SegmentLog| {
        for from in 0..=60 {
            let read: Vec<u8> = log.read(from).unwrap().map(|stored| stored.unwrap().id[0]).collect();
            assert!(read.iter().copied().eq(from as u8..60), "from {from}: {read:?}");
        }
    };
    let mut log = SegmentLog::open(scratch.path(), TASK, options).unwrap();
    for id in 0..60 {
        // Four and a half to a mebibyte: some frames are a place to begin at, and most are not
        log.append(&[Submission { body: vec![id; 230_000], ..report(5, id) }], 0).unwrap();
    }
    check(&log);
    crash(log);
    check(&SegmentLog::open(scratch.path(), TASK, options).unwrap());
}
