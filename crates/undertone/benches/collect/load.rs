//! Senders: threads with a connection each that send batches and wait for the answers.

use crate::collector::Collector;
use crate::reports::{BATCH, Batches};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Batches that go round with each sender
const BATCHES: usize = 2;

/// What a load took.
pub struct Timed {
    pub elapsed: Duration,
    /// From when a batch was to be sent to its answer, in rising order
    waits: Vec<Duration>,
}

impl Timed {
    /// Milliseconds within which this share of the batches was acknowledged.
    pub fn wait(&self, share: f64) -> f64 {
        self.waits[((self.waits.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3
    }
}

/// The senders of one collector, whose ids go on from load to load.
pub struct Load<'a> {
    address: SocketAddr,
    batches: &'a Batches,
    senders: usize,
    next: AtomicU64,
}

impl<'a> Load<'a> {
    pub fn new(collector: &Collector, batches: &'a Batches, senders: usize) -> Self {
        Self { address: collector.address, batches, senders, next: AtomicU64::new(0) }
    }

    /// Sends so many reports, each batch as soon as there is an answer to the one before.
    pub fn as_fast_as_possible(&self, reports: u64) -> Timed {
        self.send(reports / BATCH as u64, |_, _| Instant::now())
    }

    /// Sends at fixed times, whether there are answers or not. Who is late waits from when it was to be sent.
    pub fn at_a_rate(&self, per_second: f64, lasting: Duration) -> Timed {
        let apart = BATCH as f64 / per_second;
        self.send((lasting.as_secs_f64() / apart) as u64, |number, began| {
            let due = began + Duration::from_secs_f64(number as f64 * apart);
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            due
        })
    }

    /// Sends `count` batches; `due` waits until a batch is to be sent, and says when that is or was.
    fn send(&self, count: u64, due: impl Fn(u64, Instant) -> Instant + Sync) -> Timed {
        let first = self.next.load(Ordering::Relaxed);
        let senders: Vec<Sender> = (0..self.senders).map(|place| Sender::new(self, place)).collect();
        let began = Instant::now();
        let mut waits: Vec<Duration> = std::thread::scope(|scope| {
            let run = |mut sender: Sender| {
                let mut waits = Vec::new();
                loop {
                    let number = self.next.fetch_add(1, Ordering::Relaxed);
                    if number >= first + count {
                        return waits;
                    }
                    let due = due(number - first, began);
                    sender.send(number);
                    waits.push(due.elapsed());
                }
            };
            let running: Vec<_> =
                senders.into_iter().map(|sender| scope.spawn(move || run(sender))).collect();
            running.into_iter().flat_map(|sender| sender.join().expect("a sender")).collect()
        });
        let elapsed = began.elapsed();
        waits.sort_unstable();
        Timed { elapsed, waits }
    }
}

struct Sender {
    stream: TcpStream,
    requests: Vec<Request>,
    answer: Vec<u8>,
}

/// A whole request, and where the ids are in it.
struct Request {
    bytes: Vec<u8>,
    ids: Vec<usize>,
}

impl Sender {
    fn new(load: &Load, place: usize) -> Self {
        let stream = TcpStream::connect(load.address).expect("a collector");
        stream.set_nodelay(true).expect("a connection");
        let request = |number| {
            let (body, ids) = load.batches.body(place * BATCHES + number);
            let kind = undertone_report::batch::MEDIA_TYPE;
            let length = body.len();
            let head = format!(
                "POST /v1/batches HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
            );
            let ids = ids.into_iter().map(|id| head.len() + id).collect();
            Request { bytes: [head.as_bytes(), &body].concat(), ids }
        };
        Self { stream, requests: (0..BATCHES).map(request).collect(), answer: vec![0; 4096] }
    }

    /// Sends a batch with ids of its number, and waits until all of it is acknowledged.
    fn send(&mut self, number: u64) {
        let request = &mut self.requests[number as usize % BATCHES];
        for (report, &place) in (0..).zip(&request.ids) {
            let id = number * BATCH as u64 + report;
            request.bytes[place..place + 8].copy_from_slice(&splitmix(id).to_be_bytes());
            request.bytes[place + 8..place + 16].copy_from_slice(&splitmix(!id).to_be_bytes());
        }
        self.stream.write_all(&request.bytes).expect("a collector");
        let mut length = 0;
        // The answer is one JSON object, and the last thing that comes.
        while !self.answer[..length].ends_with(b"}") {
            let read = self.stream.read(&mut self.answer[length..]).expect("a collector");
            assert!(read > 0, "the collector has hung up");
            length += read;
        }
        let answer = String::from_utf8_lossy(&self.answer[..length]);
        assert!(answer.contains(&format!("{{\"accepted\":{BATCH},")), "{answer}");
    }
}

/// A public hash, so that ids look as random as those of devices.
fn splitmix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
