//! How long a run takes, also one that was interrupted and went on.

use serde::{Deserialize, Serialize};
use std::fs;
use std::ops::Add;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Time that was spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Seconds {
    /// Of all cores together; none where the system does not tell
    pub(super) cpu: Option<f64>,
    pub(super) wall: f64,
}

impl Add for Seconds {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { cpu: self.cpu.zip(other.cpu).map(|(a, b)| a + b), wall: self.wall + other.wall }
    }
}

/// Counts from when it was made.
struct Stopwatch {
    cpu: Option<f64>,
    started: Instant,
}

impl Stopwatch {
    fn new() -> Self {
        Self { cpu: cpu_seconds(), started: Instant::now() }
    }

    fn seconds(&self) -> Seconds {
        let cpu = cpu_seconds().zip(self.cpu).map(|(now, then)| now - then);
        Seconds { cpu, wall: self.started.elapsed().as_secs_f64() }
    }
}

/// The same of a run, with what it took before it was interrupted, if it was.
pub(super) struct Clock {
    path: PathBuf,
    before: Seconds,
    watch: Stopwatch,
}

impl Clock {
    /// Of the run that has this folder.
    pub(super) fn go_on(folder: &Path) -> Self {
        let path = folder.join("seconds.json");
        let before = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let before = before.unwrap_or(Seconds { cpu: Some(0.0), wall: 0.0 });
        Self { path, before, watch: Stopwatch::new() }
    }

    pub(super) fn seconds(&self) -> Seconds {
        self.before + self.watch.seconds()
    }

    /// Remembers how much it is by now. If that fails, a later run says less than it took, and no more is lost.
    pub(super) fn keep(&self) {
        if let Ok(bytes) = serde_json::to_vec(&self.seconds()) {
            let _ = fs::write(&self.path, bytes);
        }
    }
}

/// Seconds of this process on all cores: user and system time in hundredths, the fields 14 and 15 that Linux tells of a process.
fn cpu_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is a name in brackets, which may hold anything.
    let mut fields = stat.rsplit(')').next()?.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_goes_on_counts_what_it_took_before() {
        let folder = std::env::temp_dir().join(format!("undertone-clock-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("seconds.json"), r#"{"cpu":2.5,"wall":100.0}"#).unwrap();
        let clock = Clock::go_on(&folder);
        let first = clock.seconds();
        assert!(first.wall >= 100.0 && first.wall < 160.0, "{first:?}");
        clock.keep();
        let again = Clock::go_on(&folder).seconds();
        assert!(again.wall >= first.wall && again.cpu >= first.cpu);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn work_takes_time() {
        let watch = Stopwatch::new();
        let mut word = 1u64;
        // Not for a fixed time: while others have the cores, a process is told of no time of its own.
        while watch.seconds().cpu.unwrap() <= 0.0 {
            assert!(watch.started.elapsed().as_secs() < 120, "two minutes of work took no time");
            for _ in 0..1_000_000 {
                word = std::hint::black_box(word.wrapping_mul(3));
            }
        }
    }
}
