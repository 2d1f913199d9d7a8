//! What strangers can make a collector hold in memory, however they send.

use super::{Collector, Folder};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use undertone_report::batch;

const MEBIBYTE: usize = 1 << 20;
const CONNECTIONS: usize = 64;
/// All bodies together, of which each may have one mebibyte
const BODIES: usize = 16 * MEBIBYTE;
/// What a collector may need beyond what it has after its start: the bodies, which a vector that grows may hold twice; for
/// each connection its buffers and its task; and what reports become while they are looked at.
const BOUND: usize = 2 * BODIES + CONNECTIONS * MEBIBYTE / 4 + 16 * MEBIBYTE;

/// The most that the process ever had, in bytes.
fn peak(collector: &Collector) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", collector.process.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    1024 * line.trim().strip_suffix(" kB").unwrap().parse::<usize>().unwrap()
}

/// Connections that all send the same and then wait, until the collector has had enough of each.
fn all_send(collector: &Collector, bytes: &[u8]) {
    std::thread::scope(|scope| {
        for _ in 0..CONNECTIONS {
            scope.spawn(|| {
                let mut stream = TcpStream::connect(collector.address()).unwrap();
                stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
                // The collector may hang up at any time.
                let _ = stream.write_all(bytes);
                let _ = stream.read_to_end(&mut Vec::new());
            });
        }
    });
}

fn request(kind: &str, length: usize, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST /v1/batches HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

#[test]
fn whatever_strangers_send_the_memory_is_bounded() {
    let folder = Folder::new("memory", "--learner shares-only");
    folder.configure(&format!(
        "[limits]\nbody = {MEBIBYTE}\nbodies = {BODIES}\nconnections = {CONNECTIONS}\npatience = 1\nrate = 1e9\nburst = 1e9\n"
    ));
    let collector = folder.serve();
    let before = peak(&collector);
    let (binary, json) = (batch::MEDIA_TYPE, "application/json");
    let pieces: Vec<u8> = b"1\r\n0\r\n".repeat(MEBIBYTE - 1);
    let chunked = b"POST /v1/batches HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    let hostile: [(&str, Vec<u8>); 7] = [
        ("a body that does not end", request(binary, MEBIBYTE, &vec![0; MEBIBYTE - 1])),
        ("a body of one byte after the other", [&chunked[..], &pieces].concat()),
        ("as many reports without bytes as fit", request(binary, MEBIBYTE, &vec![0; MEBIBYTE])),
        (
            "as many documents as fit",
            request(json, MEBIBYTE, &[b"[0", &b",0".repeat(MEBIBYTE / 2 - 2)[..], b" ]"].concat()),
        ),
        ("arrays in arrays", request(json, MEBIBYTE, &vec![b'['; MEBIBYTE])),
        ("a body that is too large", request(binary, 1 << 40, &vec![0; MEBIBYTE])),
        ("a head that does not end", [b"GET / HTTP/1.1\r\n", &b"x: y\r\n".repeat(100_000)[..]].concat()),
    ];
    for (what, bytes) in hostile {
        all_send(&collector, &bytes);
        let more = peak(&collector) - before;
        println!("{what}: at most {:.1} MB more than at the start", more as f64 / 1e6);
        assert!(more < BOUND, "{what}: {more} bytes");
    }
    assert_eq!(collector.get("/v1/status").0, 200);
}
