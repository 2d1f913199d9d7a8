//! Many threads submit the same reports at the same time, while others read.

use std::collections::BTreeMap;
use std::sync::mpsc;
use undertone_collect::{
    CommitOptions, GroupCommit, Outcome, SegmentLog, SegmentOptions, Stored, Submission,
};

const THREADS: u32 = 8;
const REPORTS: u32 = 300;

fn report(number: u32) -> Submission {
    let mut id = [0; 16];
    id[..4].copy_from_slice(&number.to_le_bytes());
    Submission {
        id,
        time: u64::from(number % 4),
        admission: None,
        body: number.to_le_bytes().to_vec(),
        latest: None,
    }
}

#[test]
fn a_report_that_eight_threads_submit_at_once_is_accepted_from_one_of_them_and_readers_see_a_log_that_only_grows()
 {
    let folder = std::env::temp_dir().join(format!("undertone-together-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let options =
        SegmentOptions { segment_bytes: 5_000, units_per_generation: 2, front: 50, filter_bytes: 1 << 12 };
    let log = SegmentLog::open(&folder, [1; 32], options).unwrap();
    let commit = GroupCommit::start(log, CommitOptions::default()).unwrap();
    let mut accepted: BTreeMap<u64, u32> = BTreeMap::new();
    std::thread::scope(|scope| {
        let submit = |thread: u32| {
            let commit = &commit;
            move || {
                let (tell, told) = mpsc::channel();
                let mut accepted = Vec::new();
                // Each in batches of another size, so that they overlap in every way
                let numbers: Vec<u32> = (0..REPORTS).collect();
                for batch in numbers.chunks(thread as usize + 3) {
                    let tell = tell.clone();
                    let reports = batch.iter().map(|&number| report(number)).collect();
                    commit.submit(reports, 0, move |result| tell.send(result.unwrap()).unwrap()).unwrap();
                    for (&number, outcome) in batch.iter().zip(told.recv().unwrap()) {
                        match outcome {
                            Outcome::Accepted(position) => accepted.push((position, number)),
                            other => assert_eq!(other, Outcome::Duplicate),
                        }
                    }
                }
                accepted
            }
        };
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(submit(thread))).collect();
        let reader = commit.reader();
        let mut before: Vec<Stored> = Vec::new();
        while threads.iter().any(|thread| !thread.is_finished()) {
            let now: Vec<Stored> = reader.read(0).unwrap().map(Result::unwrap).collect();
            assert!(now.starts_with(&before), "what was read before has changed");
            before = now;
        }
        for (position, number) in threads.into_iter().flat_map(|thread| thread.join().unwrap()) {
            assert!(accepted.insert(position, number).is_none(), "position {position} was given twice");
        }
    });
    let reader = commit.reader();
    commit.shut_down();
    let stored: Vec<Stored> = reader.read(0).unwrap().map(Result::unwrap).collect();
    let told = stored.iter().map(|stored| u32::from_le_bytes(stored.body.clone().try_into().unwrap()));
    assert!(told.eq(accepted.values().copied()), "everybody was told the truth");
    let mut numbers: Vec<u32> = accepted.into_values().collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..REPORTS), "each once");
    std::fs::remove_dir_all(&folder).unwrap();
}
