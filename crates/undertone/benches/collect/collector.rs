//! The collector as a process of its own, and what can be seen of it from outside.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

pub struct Collector {
    process: Child,
    pub address: SocketAddr,
    folder: PathBuf,
}

impl Collector {
    /// Starts with an empty log, and with limits that one address can live with.
    pub fn start(scratch: &Path, task: &Path) -> Self {
        let (folder, config) = (scratch.join("data"), scratch.join("collector.toml"));
        let _ = fs::remove_dir_all(&folder);
        let text = format!(
            "task = \"{}\"\ndirectory = \"{}\"\nlisten = \"127.0.0.1:0\"\n[limits]\nrate = 1e9\nburst = 1e9\n",
            task.display(),
            folder.display()
        );
        fs::write(&config, text).expect("room on the disk");
        let mut process = Command::new(env!("CARGO_BIN_EXE_undertone"))
            .args(["serve", "--config-file"])
            .arg(&config)
            .env("RUST_LOG", "warn")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program is built");
        let mut url = String::new();
        let output = process.stdout.take().expect("it was asked for");
        BufReader::new(output).read_line(&mut url).expect("an address");
        let address = url.trim().strip_prefix("http://").expect("an address").parse().expect("an address");
        Self { process, address, folder }
    }

    /// One of its figures for Prometheus.
    pub fn figure(&self, name: &str) -> u64 {
        let mut stream = TcpStream::connect(self.address).expect("a collector");
        let request = b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        stream.write_all(request).expect("a collector");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("a collector");
        let line = answer.lines().find_map(|line| line.strip_prefix(&format!("undertone_{name} ")));
        line.and_then(|figure| figure.parse().ok()).unwrap_or_else(|| panic!("no {name} in {answer}"))
    }

    pub fn processor_seconds(&self) -> f64 {
        processor_seconds(&self.process.id().to_string())
    }

    pub fn resident_megabytes(&self) -> f64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0 kB").trim();
        line.trim_end_matches(" kB").parse::<f64>().unwrap_or(f64::NAN) / 1024.0
    }

    /// The folder of its log.
    pub fn log(&self) -> PathBuf {
        let mut entries =
            fs::read_dir(&self.folder).expect("its folder").map(|entry| entry.expect("an entry"));
        entries.find(|entry| entry.path().is_dir()).expect("the folder of its task").path().join("log")
    }
}

impl Drop for Collector {
    /// Everything is on the disk already.
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The seconds that all threads of a process have run: user and system time, in hundredths.
pub fn processor_seconds(process: &str) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name of the program, in brackets, may contain spaces.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}
