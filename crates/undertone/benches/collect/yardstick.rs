//! The same bytes, appended to a plain file with as many syncs.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Appends what a log has, in so many pieces, with a sync after each.
pub fn append(log: &Path, commits: u64, scratch: &Path) -> Duration {
    let bytes = bytes_of(log);
    // What others have left to be written would else be written by the first of our syncs.
    Command::new("sync").status().expect("`sync` of the system");
    let path = scratch.join("plain");
    let mut file = File::create(&path).expect("room on the disk");
    let began = Instant::now();
    for piece in bytes.chunks(bytes.len().div_ceil(commits as usize)) {
        file.write_all(piece).and_then(|()| file.sync_data()).expect("room on the disk");
    }
    let elapsed = began.elapsed();
    fs::remove_file(path).expect("our own file");
    elapsed
}

/// The segments of a log, one after the other.
fn bytes_of(log: &Path) -> Vec<u8> {
    let entries = fs::read_dir(log).expect("a log").map(|entry| entry.expect("an entry").path());
    let mut segments: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "log")).collect();
    segments.sort_unstable();
    let mut bytes: Vec<u8> =
        segments.iter().flat_map(|path| fs::read(path).expect("a segment of the log")).collect();
    // The last segment is followed by zeros that wait for frames.
    bytes.truncate(bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1));
    bytes
}
