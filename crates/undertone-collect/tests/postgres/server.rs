//! A PostgreSQL server for tests, on the loopback interface and in a temporary folder.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// Set where a test without a server is a failure, and not one to skip.
const NEEDED: &str = "UNDERTONE_NEEDS_POSTGRES";

/// A server of our own, stopped when the last test that uses it is over.
pub(crate) struct Server {
    programs: PathBuf,
    pub(crate) folder: PathBuf,
    pub(crate) port: u16,
}

impl Server {
    pub(crate) fn shared() -> Option<Arc<Self>> {
        static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap();
        if let Some(server) = shared.upgrade() {
            return Some(server);
        }
        let server = Arc::new(Self::start()?);
        *shared = Arc::downgrade(&server);
        Some(server)
    }

    pub(crate) fn start() -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let Some(programs) = programs() else {
            assert!(std::env::var_os(NEEDED).is_none(), "there is no PostgreSQL here");
            println!("skipped: there is no PostgreSQL here");
            return None;
        };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("undertone-postgres-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        if is_root() {
            run(Command::new("chown").arg("postgres").arg(&folder));
        }
        let server = Self { programs, folder, port: free_port(number) };
        run(server.program("initdb").args(["--auth=trust", "--username=undertone", "--no-sync"]));
        server.go();
        Some(server)
    }

    /// The program, run as somebody who may run it: not as root.
    fn program(&self, name: &str) -> Command {
        let path = self.programs.join(name);
        let mut command = if is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(path);
            command
        } else {
            Command::new(path)
        };
        command.arg("-D").arg(self.folder.join("data")).current_dir(&self.folder);
        command
    }

    pub(crate) fn go(&self) {
        let options = format!("-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories=", self.port);
        run(self
            .program("pg_ctl")
            .args(["-w", "-l"])
            .arg(self.folder.join("server.log"))
            .args(["-o", &options, "start"]));
    }

    /// As if the power went: no checkpoint, no goodbye.
    pub(crate) fn crash(&self) {
        run(self.program("pg_ctl").args(["-w", "-m", "immediate", "stop"]));
    }

    /// Has the server do something behind the back of all collectors.
    pub(crate) fn sql(&self, statement: &str) {
        let (settings, program) = (self.settings(), self.programs.join("psql"));
        run(Command::new(program).args(["-v", "ON_ERROR_STOP=1", "-d", &settings, "-c", statement]));
    }

    pub(crate) fn settings(&self) -> String {
        settings(self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.program("pg_ctl").args(["-w", "-m", "immediate", "stop"]).stdout(Stdio::null()).status();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

pub(crate) fn settings(port: u16) -> String {
    format!("host=127.0.0.1 port={port} user=undertone dbname=postgres")
}

/// A port that is free, below those that a system hands out by itself, so that nobody is given it before the server listens
/// or while it is down. Each server of each process looks from another place on.
fn free_port(number: u32) -> u16 {
    let first = 20_000 + (8 * std::process::id() + number) % 12_000;
    let mut ports = first as u16..32_768;
    ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap()
}

fn run(command: &mut Command) {
    // Not a pipe, which the server would inherit and hold open
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(status.success(), "{command:?}");
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}

/// The folder with initdb and pg_ctl, which Debian keeps out of the way.
fn programs() -> Option<PathBuf> {
    let told = Command::new("pg_config").arg("--bindir").output().ok();
    let told =
        told.and_then(|output| String::from_utf8(output.stdout).ok()).map(|path| PathBuf::from(path.trim()));
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let known = versions.map(|version| version.path().join("bin"));
    told.into_iter().chain(known).find(|folder| folder.join("initdb").is_file())
}
