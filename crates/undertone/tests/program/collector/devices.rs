//! Devices with their ledgers, on the disk, against a collector that is served: each says one thing, and it is counted once.

use super::records::People;
use super::{Collector, Folder};
use crate::run::{json, refused};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use undertone_device::{Ack, Device, DeviceError, Failure, Prepared, Record, RecordQuestion, State};
use undertone_privacy::{Guarantee, Mu, PrivacyError};
use undertone_report::{Cell, Point, Task};

const ATTEMPTS: NonZeroU32 = NonZeroU32::new(3).unwrap();

fn mu(value: f64) -> Guarantee {
    Guarantee::Gaussian(Mu::new(value).unwrap())
}

fn point(collector: &Collector, task: &Task) -> Point {
    Point::from_bytes(&collector.point(), task.id(), 4).unwrap()
}

fn record(number: u32) -> Record {
    let x = f64::from(number) / 10.0 - 1.0;
    Record { features: vec![Cell::Number(x), Cell::Number(-x)], response: 0.5 + 1.5 * x }
}

fn answer(
    device: &mut Device,
    collector: &Collector,
    task: &Task,
    number: u32,
) -> Result<Prepared, DeviceError> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    device.answer_record(task, &point(collector, task), &record(number), 0, now)
}

/// Posts bytes, and tells what was answered.
fn send(collector: &Collector, bytes: &[u8]) -> Result<Ack, Failure<String>> {
    let (status, _, body) = collector.ask("POST", "/v1/reports", "", bytes);
    match status {
        201 => Ok(Ack::Accepted),
        200 => Ok(Ack::Duplicate),
        _ => Err(Failure::Refused(String::from_utf8_lossy(&body).into_owned())),
    }
}

/// Posts bytes, and hangs up before anything is answered.
fn lose(collector: &Collector, bearer: &str, bytes: &[u8]) {
    let mut stream = TcpStream::connect(collector.address()).unwrap();
    let head =
        format!("POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n{bearer}\r\n", bytes.len());
    stream.write_all(&[head.as_bytes(), bytes].concat()).unwrap();
    collector.until(|| match collector.get("/v1/status").1["reports"].as_u64() {
        Some(0) | None => Err("it has not arrived".to_owned()),
        Some(_) => Ok(()),
    });
}

#[test]
fn an_answer_whose_acknowledgement_was_lost_is_sent_again_to_the_last_bit_and_counted_once() {
    let folder = Folder::of_records("device-lost", "--mu 1 --stale 64 --min-reports 1");
    let (task, ledger) = (folder.task(), PathBuf::from(folder.path("ledger")));
    let collector = folder.serve();
    let mut device = Device::open(&ledger, mu(1.5)).unwrap();
    let first = answer(&mut device, &collector, &task, 3).unwrap();
    assert_eq!(device.state(task.id()), Some(State::Stored));
    lose(&collector, &folder.bearer, first.bytes());
    // The device ends, the collector is killed, and both begin again.
    drop(device);
    collector.kill();
    let collector = folder.serve();
    let mut device = Device::open(&ledger, mu(1.5)).unwrap();
    let again = answer(&mut device, &collector, &task, 7).unwrap();
    assert_eq!(again, first, "another record and another point change nothing");
    let delivered = again.deliver(ATTEMPTS, |bytes, _| send(&collector, bytes));
    assert_eq!(delivered, Ok(Ack::Duplicate));
    device.note(task.id(), State::Acknowledged).unwrap();
    assert_eq!(device.ledger().spent(), Some(mu(1.0)));
    collector.settled(1);
    assert_eq!(collector.export(), [first.into_bytes()]);
}

#[test]
fn a_crowd_of_devices_teaches_and_what_is_refused_as_stale_stays_paid_for() {
    let folder = Folder::of_records("device-crowd", "--mu 1 --stale 4 --min-reports 1");
    let task = folder.task();
    let collector = folder.serve();
    let ledger = |number: u32| PathBuf::from(folder.path(&format!("ledger-{number}")));
    let mut late = Device::open(&ledger(99), mu(1.0)).unwrap();
    let stale = answer(&mut late, &collector, &task, 9).unwrap();
    let mut said = BTreeSet::new();
    for number in 0..12 {
        let mut device = Device::open(&ledger(number), mu(1.0)).unwrap();
        collector.until(|| {
            let version = point(&collector, &task).version;
            if version >= u64::from(number) { Ok(()) } else { Err(format!("version {version}")) }
        });
        let prepared = answer(&mut device, &collector, &task, number).unwrap();
        assert_eq!(prepared.deliver(ATTEMPTS, |bytes, _| send(&collector, bytes)), Ok(Ack::Accepted));
        device.note(task.id(), State::Acknowledged).unwrap();
        said.insert(prepared.into_bytes());
    }
    let refused = stale.deliver(ATTEMPTS, |bytes, _| send(&collector, bytes));
    assert!(matches!(&refused, Err(Failure::Refused(why)) if why.contains("stale-version")), "{refused:?}");
    late.note(task.id(), State::Refused).unwrap();
    // A newer point is no reason to say something else, nor is there anything left to pay for another task with.
    assert_eq!(answer(&mut late, &collector, &task, 9).unwrap(), stale);
    let other = Folder::of_records("device-other", "--mu 1 --name other");
    let there = other.serve();
    let error = answer(&mut late, &there, &other.task(), 9).unwrap_err();
    assert!(matches!(error, DeviceError::Privacy(PrivacyError::OverBudget { .. })), "{error}");
    collector.settled(12);
    assert_eq!(collector.export().into_iter().collect::<BTreeSet<_>>(), said);
    assert!(point(&collector, &task).parameters != task.record_model().unwrap().start());
}

#[test]
fn a_collector_that_asks_for_another_noise_than_it_states_gets_no_answer() {
    let folder = Folder::of_records("device-stated", "--mu 1");
    let collector = folder.serve();
    let (_, mut served) = collector.get("/v1/task");
    assert_eq!(Task::from_json(&served.to_string()).unwrap().id(), folder.task().id());
    let noise = &mut served["record"]["ball"]["noise"][0];
    *noise = Value::from(noise.as_f64().unwrap() / 2.0);
    let error = Task::from_json(&served.to_string()).unwrap_err().to_string();
    assert!(error.contains("follows from the task"), "{error}");
    assert!(RecordQuestion::new(&folder.task()).is_ok());
}

/// What the ledgers of a folder hold, row by row.
fn ledgers(folder: &Path, rows: u64) -> Vec<Vec<u8>> {
    (1..=rows).map(|row| fs::read(folder.join(format!("row-{row}"))).unwrap()).collect()
}

#[test]
fn whoever_sends_a_table_twice_with_ledgers_asks_everybody_once() {
    let folder = Folder::of_records("device-send", "--mu 1 --stale 1000 --min-reports 1");
    let collector = folder.serve();
    let rows = 60;
    let kept = PathBuf::from(folder.path("ledgers"));
    fs::write(folder.path("table.csv"), People::new(&folder.task(), 4).table(rows as usize)).unwrap();
    let bearer = folder.bearer.trim_end().strip_prefix("Authorization: Bearer ").unwrap();
    let send = format!("send {} --to {} --token {bearer}", folder.path("table.csv"), collector.url);
    refused(&format!("{send} --ledgers {} --seed 1", kept.display()), 2, "cannot be used with");
    let with = format!("{send} --ledgers {}", kept.display());
    let counts = |sent: &Value| ["reports", "accepted", "duplicates"].map(|key| sent[key].as_u64().unwrap());
    assert_eq!(counts(&json(&with)), [rows, rows, 0]);
    let (said, log) = (ledgers(&kept, rows), collector.export());
    assert_eq!(log.len() as u64, rows);
    assert_eq!(counts(&json(&with)), [rows, 0, rows]);
    assert_eq!((ledgers(&kept, rows), collector.export()), (said, log));
    // A ledger that is damaged, or from before, says nothing.
    let (first, whole) = (kept.join("row-1"), fs::read(kept.join("row-1")).unwrap());
    fs::write(&first, &whole[1..]).unwrap();
    refused(&with, 1, "damaged");
    fs::write(&first, &whole).unwrap();
    fs::write(kept.join("row-1.count"), b"900\n").unwrap();
    refused(&with, 1, "comes from a backup");
    collector.settled(rows);
}

#[test]
fn ledgers_are_for_whole_records() {
    let folder = Folder::new("device-labels", "");
    let collector = folder.serve();
    let ledgers = folder.path("ledgers");
    refused(
        &format!("send {} --to {} --ledgers {ledgers}", super::NURSERY, collector.url),
        1,
        "--ledgers is for tasks about whole records",
    );
}
