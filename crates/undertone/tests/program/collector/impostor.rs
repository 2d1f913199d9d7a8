//! `send` against what is no collector, or not a good one: a hostile point gets no answer from anybody, and a failing
//! collector is told of.

use super::Folder;
use crate::run::{refused, undertone};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use undertone_report::{Point, Task};

/// What is answered to the n-th request of a kind; nothing: the line is cut.
type Reply = Box<dyn Fn(usize) -> Option<(u16, Vec<u8>)> + Send + Sync>;

/// Something that speaks HTTP and shows a task.
struct Impostor {
    url: String,
    /// The bodies that were posted
    posts: Arc<Mutex<Vec<Vec<u8>>>>,
}

struct Script {
    task: Vec<u8>,
    point: Reply,
    post: Reply,
    points: AtomicUsize,
}

impl Impostor {
    fn start(task: &Task, point: Reply, post: Reply) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let posts: Arc<Mutex<Vec<Vec<u8>>>> = Arc::default();
        let task = task.to_json().into_bytes();
        let (script, theirs) =
            (Arc::new(Script { task, point, post, points: AtomicUsize::new(0) }), posts.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (script, posts) = (script.clone(), theirs.clone());
                std::thread::spawn(move || script.serve(&stream, &posts));
            }
        });
        Self { url, posts }
    }

    fn posts(&self) -> usize {
        self.posts.lock().unwrap().len()
    }
}

impl Script {
    /// Answers until the line is cut.
    fn serve(&self, stream: &TcpStream, posts: &Mutex<Vec<Vec<u8>>>) -> Option<()> {
        let mut reader = BufReader::new(stream.try_clone().ok()?);
        loop {
            let (line, body) = request(&mut reader)?;
            let (status, body) = if line.starts_with("GET /v1/task ") {
                (200, self.task.clone())
            } else if line.starts_with("GET /v1/point ") {
                (self.point)(self.points.fetch_add(1, Ordering::SeqCst))?
            } else {
                let number = {
                    let mut posts = posts.lock().unwrap();
                    posts.push(body);
                    posts.len() - 1
                };
                (self.post)(number)?
            };
            let head = format!("HTTP/1.1 {status} x\r\nContent-Length: {}\r\n\r\n", body.len());
            let mut writer = stream;
            writer.write_all(&[head.as_bytes(), &body].concat()).ok()?;
        }
    }
}

/// The first line and the body of a request.
fn request(reader: &mut impl BufRead) -> Option<(String, Vec<u8>)> {
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).ok()?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|&bytes| bytes > 0)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((first, body))
}

/// Whatever is posted is accepted.
fn accept() -> Reply {
    Box::new(|_| Some((201, br#"{"outcome":"accepted"}"#.to_vec())))
}

fn table(folder: &Folder, rows: usize) -> String {
    let path = folder.path("table.csv");
    fs::write(&path, format!("one,two,y\n{}", "0.5,-0.25,1\n".repeat(rows))).unwrap();
    path
}

/// Where every task of these tests begins: three coefficients and a scale.
fn point(version: u64, parameters: Vec<f64>) -> Point {
    Point { version, parameters }
}

#[test]
fn nobody_answers_at_a_point_that_no_honest_collector_shows() {
    let folder = Folder::of_records("record-impostor", "--mu 1");
    let (task, table) = (folder.task(), table(&folder, 40));
    let bound = task.record.as_ref().unwrap().bound;
    let id = task.id();
    let mut foreign = point(0, vec![0.0, 0.0, 0.0, 1.0]).to_bytes(id);
    foreign[0] ^= 1;
    let mut long = point(0, vec![0.0, 0.0, 0.0, 1.0]).to_bytes(id);
    long.push(0);
    for (what, bytes) in [
        ("a number that is none", point(0, vec![0.0, f64::NAN, 0.0, 1.0]).to_bytes(id)),
        ("an infinite one", point(0, vec![f64::INFINITY, 0.0, 0.0, 1.0]).to_bytes(id)),
        ("a huge one", point(0, vec![0.0, 1e300, 0.0, 1.0]).to_bytes(id)),
        ("beyond the bound", point(0, vec![0.0, 0.0, bound * 1.001, 1.0]).to_bytes(id)),
        ("a scale of nothing", point(0, vec![0.0, 0.0, 0.0, 1e-9]).to_bytes(id)),
        ("a scale below zero", point(0, vec![0.0, 0.0, 0.0, -1.0]).to_bytes(id)),
        ("too short", point(0, vec![0.0, 0.0, 1.0]).to_bytes(id)),
        ("too long", point(0, vec![0.0; 5]).to_bytes(id)),
        ("a byte too long", long),
        ("of another task", foreign),
        ("a version that no log reaches", point(1 << 60, vec![0.0, 0.0, 0.0, 1.0]).to_bytes(id)),
        ("nothing", Vec::new()),
    ] {
        let impostor = Impostor::start(&task, Box::new(move |_| Some((200, bytes.clone()))), accept());
        let sent = undertone(&format!("send {table} --to {} --json", impostor.url));
        let errors = String::from_utf8_lossy(&sent.stderr);
        assert_eq!((sent.status.code(), impostor.posts()), (Some(1), 0), "{what}: {errors}");
        assert!(errors.contains("row ") && sent.stdout.is_empty(), "{what}: {errors}");
    }
    // The same table at an honest point: all of them answer.
    let honest = point(0, vec![0.0, 0.0, 0.0, 1.0]).to_bytes(id);
    let collector = Impostor::start(&task, Box::new(move |_| Some((200, honest.clone()))), accept());
    let sent = undertone(&format!("send {table} --to {} --json", collector.url));
    assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
    assert_eq!(collector.posts(), 40);
}

#[test]
fn a_collector_with_a_task_that_nobody_agreed_to_gets_no_answer_either() {
    let folder = Folder::of_records("record-impostor-task", "--mu 1");
    let table = table(&folder, 5);
    let mut weak = folder.task();
    weak.mechanism.mu = Some(2.0);
    weak.collection.as_mut().unwrap().tiers = vec![2.0];
    let weak = weak.stating_its_noise().unwrap();
    let honest = point(0, vec![0.0, 0.0, 0.0, 1.0]).to_bytes(weak.id());
    let impostor = Impostor::start(&weak, Box::new(move |_| Some((200, honest.clone()))), accept());
    let agreed = folder.path("task.toml");
    refused(&format!("send {table} --to {} --task {agreed}", impostor.url), 1, "nothing was sent");
    assert_eq!(impostor.posts(), 0);
}

#[test]
fn a_collector_that_is_busy_or_cuts_the_line_is_counted_and_the_totals_are_told() {
    let folder = Folder::of_records("record-busy", "--mu 1");
    let (task, table) = (folder.task(), table(&folder, 4));
    let honest = point(0, vec![0.0, 0.0, 0.0, 1.0]).to_bytes(task.id());
    // Two are shown a point, and never hear what became of their answers; the others find no room.
    let busy = br#"{"type":"urn:undertone:problem:busy","detail":"later"}"#;
    let show = move |number| Some(if number < 2 { (200, honest.clone()) } else { (503, busy.to_vec()) });
    let collector = Impostor::start(&task, Box::new(show), Box::new(|_| None));
    let sent = undertone(&format!("send {table} --to {} --concurrency 4 --json", collector.url));
    assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
    let sent: Value = serde_json::from_slice(&sent.stdout).unwrap();
    assert_eq!(sent["refused"], serde_json::json!({"busy": 2, "no-answer": 2}));
    assert_eq!((&sent["reports"], &sent["accepted"], &sent["unasked"]), (&2.into(), &0.into(), &0.into()));
    // Tried again, and always with the same bytes
    let posts = collector.posts.lock().unwrap();
    let different: std::collections::BTreeSet<&Vec<u8>> = posts.iter().collect();
    assert_eq!((posts.len(), different.len()), (16, 2));
}

#[test]
fn when_nobody_answers_any_more_nobody_is_asked_any_more_and_the_totals_are_told() {
    let folder = Folder::of_records("record-gone", "--mu 1");
    let (task, table) = (folder.task(), table(&folder, 6));
    let collector = Impostor::start(&task, Box::new(|_| None), Box::new(|_| None));
    let sent = undertone(&format!("send {table} --to {} --concurrency 2 --json", collector.url));
    assert_eq!(sent.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&sent.stderr).contains("4 rows were not asked"), "{sent:?}");
    let sent: Value = serde_json::from_slice(&sent.stdout).unwrap();
    assert_eq!(sent["refused"], serde_json::json!({"no-answer": 2}));
    assert_eq!((&sent["reports"], &sent["unasked"]), (&0.into(), &4.into()));
}

#[test]
fn whatever_is_in_a_record_there_is_one_report_of_the_same_size() {
    let folder = Folder::empty("record-cells").operated();
    let made = undertone(&format!(
        "task record --label sick --classes no,yes --number age=40,10 --category town=Ulm,Bonn --epsilon 2 -o {}",
        folder.path("task.toml")
    ));
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let task = folder.task();
    let rows =
        ["38,Ulm,no", "nan,Ulm,yes", "inf,Ulm,no", "old,Bonn,yes", ",,", "?,?,perhaps", "1e999,Rome,7"];
    let path = folder.path("table.csv");
    fs::write(&path, format!("age,town,sick\n{}\n", rows.join("\n"))).unwrap();
    let start = undertone_device::RecordQuestion::new(&task).unwrap().model().start();
    let honest = point(0, start).to_bytes(task.id());
    let collector = Impostor::start(&task, Box::new(move |_| Some((200, honest.clone()))), accept());
    let sent = undertone(&format!("send {path} --to {} --json", collector.url));
    assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
    let posts = collector.posts.lock().unwrap();
    assert_eq!(posts.len(), rows.len());
    assert!(posts.iter().all(|post| post.len() == posts[0].len()));
    // What the columns hold is no secret.
    fs::write(&path, "age,sick\n38,no\n").unwrap();
    refused(&format!("send {path} --to {}", collector.url), 1, "there is no column `town`");
}
