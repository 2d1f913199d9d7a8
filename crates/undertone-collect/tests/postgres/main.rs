//! Several collectors on one PostgreSQL: the same guarantees as with one log in a folder.
//!
//! A real server is started on the loopback interface, in a temporary folder. Where there is no PostgreSQL, the tests say
//! so and end.

mod server;

use server::{Server, settings};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use undertone_collect::{
    Admission, Log, Outcome, PostgresLog, SegmentLog, SegmentOptions, Stored, Submission,
};

/// A task for each test, so that they can share the server.
fn task(number: u8) -> [u8; 32] {
    [number; 32]
}

fn report(number: u64) -> Submission {
    let mut id = [0; 16];
    id[8..].copy_from_slice(&number.to_be_bytes());
    Submission { id, time: 5, admission: None, body: number.to_le_bytes().to_vec(), latest: None }
}

fn number_of(stored: &Stored) -> u64 {
    u64::from_le_bytes(stored.body.clone().try_into().unwrap())
}

fn read(log: &impl Log) -> Vec<Stored> {
    let stored: Vec<Stored> = log.read(0).unwrap().collect::<Result<_, _>>().unwrap();
    assert!(stored.iter().enumerate().all(|(i, stored)| stored.position == i as u64), "positions have gaps");
    stored
}

/// Where closed segments end, of which each begins where the one before ends.
fn ends(log: &impl Log) -> Vec<u64> {
    let closed = log.reader().closed().unwrap();
    let ends: Vec<u64> = closed.iter().map(|segment| segment.end).collect();
    assert!(
        closed.iter().map(|segment| segment.start).eq([0].into_iter().chain(ends.clone()).take(ends.len()))
    );
    ends
}

/// A public hash.
fn splitmix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[test]
fn collectors_that_append_the_same_reports_at_the_same_time_count_each_once_and_read_the_same() {
    let Some(server) = Server::shared() else { return };
    let collectors = 3;
    let accepted: Vec<BTreeMap<u64, u64>> = std::thread::scope(|scope| {
        let collect = |collector: u64| {
            let settings = server.settings();
            move || {
                let mut log = PostgresLog::connect(&settings, task(1)).unwrap();
                let mut accepted = BTreeMap::new();
                for round in 0..25 {
                    // Batches that overlap with those of the others, each collector in an order of its own
                    let first = splitmix(round * 7 + collector) % 400;
                    let batch: Vec<Submission> = (first..first + 30).map(report).collect();
                    for (submission, outcome) in batch.iter().zip(log.append(&batch, 0).unwrap()) {
                        if let Outcome::Accepted(position) = outcome {
                            let number = u64::from_le_bytes(submission.body.clone().try_into().unwrap());
                            assert!(accepted.insert(number, position).is_none());
                        }
                    }
                }
                accepted
            }
        };
        let threads: Vec<_> = (0..collectors).map(|collector| scope.spawn(collect(collector))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let (one, another) = (
        PostgresLog::connect(&server.settings(), task(1)).unwrap(),
        PostgresLog::connect(&server.settings(), task(1)).unwrap(),
    );
    let stored = read(&one);
    assert_eq!(stored, read(&another));
    let told: BTreeMap<u64, u64> =
        accepted.iter().flatten().map(|(&number, &position)| (position, number)).collect();
    assert_eq!(told.len(), accepted.iter().map(BTreeMap::len).sum::<usize>(), "no position was given twice");
    assert!(
        stored.iter().map(|stored| (stored.position, number_of(stored))).eq(told),
        "everybody was told the truth"
    );
    let numbers: BTreeSet<u64> = stored.iter().map(number_of).collect();
    assert_eq!(numbers.len(), stored.len(), "counted twice");
    assert!(accepted.iter().all(|accepted| !accepted.is_empty()), "all collectors took part");
}

#[test]
fn two_collectors_answer_as_one_log_in_a_folder_does() {
    let Some(server) = Server::shared() else { return };
    let folder = std::env::temp_dir().join(format!("undertone-postgres-twin-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let mut twin = SegmentLog::open(Path::new(&folder), task(2), SegmentOptions::for_window(4)).unwrap();
    let connect = || PostgresLog::connect(&server.settings(), task(2)).unwrap();
    let mut collectors = [connect(), connect()];
    let mut kinds = BTreeSet::new();
    for round in 0..100u64 {
        let draw = |place: u64, below: u64| splitmix(round * 1000 + place) % below;
        // The clock goes on, and now and then back.
        let horizon = (round / 10).saturating_sub(draw(0, 3));
        let submission = |place: u64| Submission {
            time: (round / 10).saturating_sub(1) + draw(place * 3 + 1, 5),
            admission: (draw(place * 3 + 2, 3) == 0)
                .then(|| Admission { nonce: [draw(place, 9) as u8; 16], cap: draw(place, 12) as u32 }),
            // Some say something else than before, and some were made for a log that has gone on since.
            body: vec![draw(place * 3 + 100, 2) as u8],
            latest: (draw(place * 3 + 101, 3) == 0).then(|| draw(place * 3 + 102, 400)),
            ..report(draw(place * 3 + 3, 40))
        };
        let batch: Vec<Submission> = (1..=draw(1, 9)).map(submission).collect();
        let outcomes = collectors[round as usize % 2].append(&batch, horizon).unwrap();
        assert_eq!(outcomes, twin.append(&batch, horizon).unwrap(), "round {round}");
        kinds.extend(
            outcomes.iter().map(|outcome| format!("{outcome:?}").split('(').next().unwrap().to_owned()),
        );
    }
    let all = ["Accepted", "AdmissionSpent", "Duplicate", "Equivocation", "TooLate", "TooOld"];
    assert!(kinds.iter().eq(all), "all outcomes occurred: {kinds:?}");
    assert_eq!(read(&collectors[0]), read(&twin));
    assert_eq!(read(&collectors[1]), read(&twin));
    assert_eq!(collectors[1].read(17).unwrap().count() as u64, twin.len() - 17);
    drop(twin);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn segments_are_closed_by_any_collector_and_all_agree_on_them() {
    let Some(server) = Server::shared() else { return };
    let connect = || PostgresLog::connect(&server.settings(), task(5)).unwrap();
    let (mut one, mut another) = (connect(), connect());
    one.close_segment().unwrap();
    assert_eq!(ends(&one), []);
    one.append(&[report(1), report(2)], 0).unwrap();
    assert_eq!(another.close_segment().unwrap(), 2);
    assert_eq!(one.close_segment().unwrap(), 2);
    another.append(&[report(3)], 0).unwrap();
    one.append(&[report(4)], 0).unwrap();
    assert_eq!(ends(&one), [2]);
    one.close_segment().unwrap();
    assert_eq!((ends(&connect()), ends(&another)), (vec![2, 4], vec![2, 4]));

    // A segment that has been open for a million reports, less those that are here
    server.sql(
        "update undertone_logs set segment = segment - 1048574 where task = decode(repeat('05', 32), 'hex')",
    );
    one.append(&[report(5)], 0).unwrap();
    assert_eq!(ends(&another), [2, 4]);
    another.append(&[report(6), report(7)], 0).unwrap();
    assert_eq!(ends(&one), [2, 4, 7]);
    assert_eq!(read(&one).len(), 7);
}

#[test]
fn settings_that_cannot_be_read_are_not_repeated() {
    let error = PostgresLog::connect("host=x password=se cret=1", task(6)).map(|_| ()).unwrap_err();
    assert!(!error.to_string().contains("cret"), "{error}");
    assert!(error.to_string().contains("host=localhost"), "{error}");
}

#[test]
fn a_server_that_crashes_loses_nothing_that_was_acknowledged_and_one_that_does_not_sync_is_refused() {
    let Some(server) = Server::start() else { return };
    let mut log = PostgresLog::connect(&server.settings(), task(3)).unwrap();
    let mut acknowledged = Vec::new();
    for crash in 0..3 {
        for number in crash * 10..crash * 10 + 10 {
            acknowledged.extend(log.append(&[report(number)], number / 20).unwrap());
        }
        server.crash();
        if crash == 1 {
            let error = log.append(&[report(999)], 0).unwrap_err().to_string();
            assert!(error.starts_with("database: "), "{error}");
        }
        server.go();
    }
    assert!(acknowledged.iter().copied().eq((0..30).map(Outcome::Accepted)));
    assert!(read(&log).iter().map(number_of).eq(0..30));
    assert_eq!(log.append(&[report(7), report(30)], 0).unwrap(), [Outcome::Duplicate, Outcome::Accepted(30)]);
    let old = Submission { time: 0, ..report(31) };
    assert_eq!(log.append(&[old], 0).unwrap(), [Outcome::TooOld], "the horizon is in the database");

    server.crash();
    let mut conf =
        std::fs::OpenOptions::new().append(true).open(server.folder.join("data/postgresql.conf")).unwrap();
    writeln!(conf, "fsync = off").unwrap();
    server.go();
    let error = PostgresLog::connect(&server.settings(), task(3)).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("fsync off"), "{error}");
}

/// What happens to the next connection that says COMMIT
const PASS: u8 = 0;
const CUT_BEFORE: u8 = 1;
const CUT_AFTER: u8 = 2;

/// Passes bytes on to the server, and cuts the line at the moment when it hurts most.
fn bad_line(port: u16, fate: &Arc<AtomicU8>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = listener.local_addr().unwrap().port();
    let fate = Arc::clone(fate);
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else { return };
            let fate = Arc::clone(&fate);
            std::thread::spawn(move || pass_on(client, server, &fate));
        }
    });
    own
}

fn pass_on(mut client: TcpStream, mut server: TcpStream, fate: &AtomicU8) {
    let (mut back_from, mut back_to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    let answers = std::thread::spawn(move || {
        let _ = std::io::copy(&mut back_from, &mut back_to);
    });
    let mut buffer = [0; 1 << 13];
    while let Ok(length @ 1..) = client.read(&mut buffer) {
        let commits = buffer[..length].windows(6).any(|window| window == b"COMMIT");
        match if commits { fate.swap(PASS, Ordering::SeqCst) } else { PASS } {
            CUT_BEFORE => break,
            CUT_AFTER => {
                // The client is gone before the server can answer, and the server does what it was told.
                client.shutdown(std::net::Shutdown::Both).unwrap();
                server.write_all(&buffer[..length]).unwrap();
                let _ = answers.join();
                return;
            }
            _ if server.write_all(&buffer[..length]).is_err() => break,
            _ => {}
        }
    }
    let _ = (client.shutdown(std::net::Shutdown::Both), server.shutdown(std::net::Shutdown::Both));
}

#[test]
fn a_line_that_is_cut_at_the_commit_neither_loses_nor_doubles_nor_confuses() {
    let Some(server) = Server::shared() else { return };
    let fate = Arc::new(AtomicU8::new(PASS));
    let port = bad_line(server.port, &fate);
    let mut log = PostgresLog::connect(&settings(port), task(4)).unwrap();
    let mut other = PostgresLog::connect(&server.settings(), task(4)).unwrap();
    assert_eq!(log.append(&[report(0)], 0).unwrap(), [Outcome::Accepted(0)]);
    for (round, cut) in [CUT_BEFORE, CUT_AFTER, CUT_AFTER, CUT_BEFORE].into_iter().enumerate() {
        let (position, number) = (1 + 3 * round as u64, 10 * round as u64);
        fate.store(cut, Ordering::SeqCst);
        let batch = [report(0), report(number + 1), report(number + 2)];
        let expected = [Outcome::Duplicate, Outcome::Accepted(position), Outcome::Accepted(position + 1)];
        assert_eq!(log.append(&batch, 0).unwrap(), expected, "cut {cut}");
        assert_eq!(fate.load(Ordering::SeqCst), PASS, "the line was cut");
        let outcomes = other.append(&[report(number + 2), report(number + 3)], 0).unwrap();
        assert_eq!(outcomes, [Outcome::Duplicate, Outcome::Accepted(position + 2)]);
        let lie = Submission { body: vec![7], ..report(number + 2) };
        assert_eq!(other.append(&[lie], 0).unwrap(), [Outcome::Equivocation]);
    }
    let numbers: Vec<u64> = read(&log).iter().map(number_of).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 11, 12, 13, 21, 22, 23, 31, 32, 33]);
}
