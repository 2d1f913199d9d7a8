//! Devices: threads with a connection each that fetch a point, answer at it and wait until that is stored.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use undertone_device::{Record, RecordQuestion};
use undertone_report::{Cell, Point, Task, batch};

/// Reports of a batch
const BATCH: usize = 100;
/// How often the point for all is fetched
const FETCH: Duration = Duration::from_millis(2);

/// What devices do before they answer.
#[derive(Clone, Copy, PartialEq)]
pub enum Pace {
    /// Each fetches the point.
    PointEach,
    /// One fetches it for all.
    SharedPoint,
    /// The same, and many reports come in one request.
    Batches,
}

/// What became of the reports of a round.
#[derive(Default)]
pub struct Outcomes {
    pub accepted: u64,
    pub stale: u64,
    /// From the question for the point, or the answer, to its receipt
    pub waits: Vec<Duration>,
}

/// People who answer, one after the other.
pub struct Crowd {
    question: RecordQuestion,
    rng: ChaCha8Rng,
    now: u64,
}

impl Crowd {
    pub fn new(task: &Task, seed: u64) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock that goes").as_secs();
        let question = RecordQuestion::new(task).expect("a task that devices answer");
        Self { question, rng: ChaCha8Rng::seed_from_u64(seed), now }
    }

    /// What the next person says at this point.
    pub fn answer(&mut self, version: u64, parameters: &[f64]) -> Vec<u8> {
        let mut number = || f64::from(self.rng.next_u32()) / 2f64.powi(31) - 1.0;
        let cells: [f64; 5] = std::array::from_fn(|_| number());
        let response = cells.iter().sum::<f64>() + number();
        let record = Record { features: cells.map(Cell::Number).to_vec(), response };
        let point = Point { version, parameters: parameters.to_vec() };
        self.question.answer(&point, &record, 0, self.now, &mut self.rng).expect("an honest point")
    }

    fn read(&self, bytes: &[u8]) -> Point {
        let parameters = self.question.model().parameters();
        Point::from_bytes(bytes, self.question.task_id(), parameters).expect("the collector's point")
    }
}

/// All devices of a round.
pub struct Devices<'a> {
    task: &'a Task,
    address: SocketAddr,
    count: usize,
}

impl<'a> Devices<'a> {
    pub fn new(task: &'a Task, address: SocketAddr, count: usize) -> Self {
        Self { task, address, count }
    }

    /// Lets so many answer.
    pub fn send(&self, reports: u64, pace: Pace) -> Outcomes {
        let shared = Mutex::new(Connection::new(self.address).get("/v1/point"));
        let (left, over) = (AtomicU64::new(reports), AtomicBool::new(false));
        let devices: Vec<Device> = (0..self.count).map(|place| Device::new(self, place)).collect();
        thread::scope(|scope| {
            let (shared, left, over) = (&shared, &left, &over);
            if pace != Pace::PointEach {
                scope.spawn(move || {
                    let mut connection = Connection::new(self.address);
                    while !over.load(Ordering::Relaxed) {
                        let point = connection.get("/v1/point");
                        *shared.lock().unwrap_or_else(PoisonError::into_inner) = point;
                        thread::sleep(FETCH);
                    }
                });
            }
            let running: Vec<_> = devices
                .into_iter()
                .map(|device| scope.spawn(move || device.run(pace, shared, left)))
                .collect();
            let mut all = Outcomes::default();
            for device in running {
                let Outcomes { accepted, stale, waits } = device.join().expect("a device");
                all.accepted += accepted;
                all.stale += stale;
                all.waits.extend(waits);
            }
            over.store(true, Ordering::Relaxed);
            all
        })
    }
}

struct Device {
    connection: Connection,
    crowd: Crowd,
}

impl Device {
    fn new(devices: &Devices, place: usize) -> Self {
        Self {
            connection: Connection::new(devices.address),
            crowd: Crowd::new(devices.task, 1 + place as u64),
        }
    }

    fn run(mut self, pace: Pace, shared: &Mutex<Vec<u8>>, left: &AtomicU64) -> Outcomes {
        let mut outcomes = Outcomes::default();
        let size = if pace == Pace::Batches { BATCH } else { 1 };
        let take = |n: u64| n.checked_sub(size as u64);
        while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
            let began = Instant::now();
            let point = if pace == Pace::PointEach {
                self.connection.get("/v1/point")
            } else {
                shared.lock().unwrap_or_else(PoisonError::into_inner).clone()
            };
            let Point { version, parameters } = self.crowd.read(&point);
            let mut answer = || self.crowd.answer(version, &parameters);
            if pace == Pace::Batches {
                let body = batch::join((0..size).map(|_| answer()));
                let (status, answer) = self.connection.post("/v1/batches", batch::MEDIA_TYPE, &body);
                let text = String::from_utf8_lossy(&answer);
                assert_eq!(status, 200, "{text}");
                let receipt: serde_json::Value = serde_json::from_slice(&answer).expect("a receipt");
                let accepted = receipt["accepted"].as_u64().expect("a receipt");
                outcomes.accepted += accepted;
                outcomes.stale += size as u64 - accepted;
            } else {
                let body = answer();
                let (status, answer) =
                    self.connection.post("/v1/reports", undertone_report::MEDIA_TYPE, &body);
                match status {
                    201 => outcomes.accepted += 1,
                    422 if String::from_utf8_lossy(&answer).contains("stale-version") => outcomes.stale += 1,
                    _ => panic!("{status}: {}", String::from_utf8_lossy(&answer)),
                }
            }
            outcomes.waits.push(began.elapsed());
        }
        outcomes
    }
}

/// A connection on which one question follows another.
struct Connection {
    stream: TcpStream,
    answer: Vec<u8>,
}

impl Connection {
    fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("a collector");
        stream.set_nodelay(true).expect("a connection");
        Self { stream, answer: vec![0; 1 << 16] }
    }

    fn get(&mut self, path: &str) -> Vec<u8> {
        let (status, body) = self.ask(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes());
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
        body
    }

    fn post(&mut self, path: &str, kind: &str, body: &[u8]) -> (u16, Vec<u8>) {
        let length = body.len();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
        );
        self.ask(&[head.as_bytes(), body].concat())
    }

    /// The status and the body of an answer, which says how long it is.
    fn ask(&mut self, request: &[u8]) -> (u16, Vec<u8>) {
        self.stream.write_all(request).expect("a collector");
        let mut length = 0;
        loop {
            if length == self.answer.len() {
                self.answer.resize(2 * length, 0);
            }
            let read = self.stream.read(&mut self.answer[length..]).expect("a collector");
            assert!(read > 0, "the collector has hung up");
            length += read;
            let whole = &self.answer[..length];
            let Some(split) = whole.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
            let head = std::str::from_utf8(&whole[..split]).expect("a head");
            let field = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let body: usize = field.and_then(|digits| digits.parse().ok()).expect("a length");
            if length == split + 4 + body {
                let status = head.split_whitespace().nth(1).and_then(|digits| digits.parse().ok());
                return (status.expect("a status"), whole[split + 4..].to_vec());
            }
        }
    }
}
