//! Whole records: from `task record` to what is known about each parameter.

use super::{Collector, Folder, under_load};
use crate::run::{json, refused, text, undertone};
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::Duration;
use undertone_device::{Record, RecordQuestion};
use undertone_report::{Cell, LossWords, Point, ReportFormat, Task};

/// Without limits on how often one address may ask.
pub(super) const UNLIMITED: &str = "[limits]\nrate = 1e9\nburst = 1e9\n";

/// What explains y in the tables below, the scale of its errors last.
const TRUTH: [f64; 4] = [0.5, 1.0, -0.5, 1.0];

impl Folder {
    /// With a task about two numbers, and these options.
    pub(super) fn of_records(name: &str, options: &str) -> Self {
        let folder = Self::empty(name).operated();
        let made = undertone(&format!(
            "task record --label y=0,1 --number one=0,1 --number two=0,1 {options} -o {}",
            folder.path("task.toml")
        ));
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        folder.configure(UNLIMITED);
        folder
    }
}

impl Collector {
    /// The bytes of the point where the learner stands, as soon as it is not behind.
    pub(super) fn point(&self) -> Vec<u8> {
        let (status, head, body) = self.until(|| match self.ask("GET", "/v1/point", "", b"") {
            (503, ..) => Err("the learner is behind".to_owned()),
            other => Ok(other),
        });
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
        assert!(head.contains("application/vnd.undertone.point"), "{head}");
        body
    }

    pub(super) fn estimate(&self) -> Vec<u8> {
        let (status, _, body) = self.ask("GET", "/v1/estimate", "", b"");
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
        body
    }

    pub(super) fn refused_for(&self, reason: &str) -> u64 {
        let metrics = String::from_utf8(self.ask("GET", "/metrics", "", b"").2).unwrap();
        let name = format!("undertone_reports_refused_total{{reason=\"{reason}\"}} ");
        metrics.lines().find_map(|line| line.strip_prefix(&name)).map_or(0, |count| count.parse().unwrap())
    }
}

/// People with their devices.
pub(super) struct People {
    question: RecordQuestion,
    rng: ChaCha12Rng,
}

impl People {
    pub(super) fn new(task: &Task, seed: u64) -> Self {
        Self { question: RecordQuestion::new(task).unwrap(), rng: ChaCha12Rng::seed_from_u64(seed) }
    }

    fn uniform(&mut self) -> f64 {
        (f64::from(self.rng.next_u32()) + 0.5) / 2f64.powi(32)
    }

    /// As good as normal for a table.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    /// The two numbers of somebody, and what they explain.
    fn person(&mut self) -> [f64; 3] {
        let (one, two) = (self.normal(), self.normal());
        [one, two, TRUTH[0] + TRUTH[1] * one + TRUTH[2] * two + TRUTH[3] * self.normal()]
    }

    fn read(&self, point: &[u8]) -> Point {
        Point::from_bytes(point, self.question.task_id(), 4).unwrap()
    }

    /// The next person's report, at this point.
    fn answer(&mut self, point: &Point, tier: u8) -> Vec<u8> {
        let [one, two, response] = self.person();
        let record = Record { features: vec![Cell::Number(one), Cell::Number(two)], response };
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        self.question.answer(point, &record, tier, now, &mut self.rng).unwrap()
    }

    /// The same at the point that these bytes are.
    pub(super) fn answer_at(&mut self, point: &[u8]) -> Vec<u8> {
        self.answer(&self.read(point), 0)
    }

    /// A report at the point of the first collector, sent to the second; the first has seen what was sent before.
    pub(super) fn send(&mut self, from: &Collector, to: &Collector, least: u64) -> Vec<u8> {
        let point = from.until(|| {
            let point = self.read(&from.point());
            if point.version >= least { Ok(point) } else { Err(format!("version {}", point.version)) }
        });
        let report = self.answer(&point, 0);
        let (status, _, body) = to.ask("POST", "/v1/reports", "", &report);
        assert_eq!(status, 201, "{}", String::from_utf8_lossy(&body));
        report
    }

    pub(super) fn table(&mut self, rows: usize) -> String {
        let mut table = String::from("one,two,y\n");
        for _ in 0..rows {
            let [one, two, y] = self.person();
            writeln!(table, "{one},{two},{y}").unwrap();
        }
        table
    }
}

#[test]
fn the_examples_of_the_help_make_tasks_that_devices_answer() {
    let help = text("task record --help");
    let folder = Folder::empty("record-help");
    for (example, classes, parameters) in [
        (
            "task record --label charges=16500,4000 --number age=41.5,13.85 --number bmi=34,9.24 \\ \
             --category smoker=no,yes --mu 1",
            0,
            5,
        ),
        ("task record --label sick --classes no,yes --number age=41.5,13.85 --epsilon 2 --alpha 0.6", 2, 2),
    ] {
        let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&format!("undertone {example} -o task.toml")), "{words}");
        let example = example.replace(" \\", "");
        let task = Task::from_toml(&text(&example)).unwrap();
        let model = RecordQuestion::new(&task).unwrap().model().parameters();
        assert_eq!((task.classes.len(), model), (classes, parameters));
        let file = folder.path("task.toml");
        let made = json(&format!("{example} --force -o {file}"));
        assert_eq!(made["id"], folder.task().id().to_string());
        refused(&format!("{example} -o {file}"), 1, "--force replaces it");
        assert!(text(&format!("task show {file}")).contains(&task.label));
        assert_eq!(json(&format!("task check {file}"))["id"], made["id"]);
    }
    let task =
        Task::from_toml(&text("task record --label y --classes a,b,c --number x=1,2 --epsilon 1")).unwrap();
    assert_eq!(task.record.unwrap().loss, LossWords::Multinomial);
}

#[test]
fn a_task_about_records_that_nobody_should_run_is_refused_and_the_value_named() {
    let usual = "task record --label y=0,1 --number x=0,1 --mu 1";
    for (words, message) in [
        ("task record --label y --number x=0,1 --mu 1", "--label needs a public mean"),
        ("task record --label y=0,1 --number x --mu 1", "--number x needs a public mean"),
        ("task record --label y=0,1 --number x=5 --mu 1", "`x=5` is not COLUMN=MEAN,SD"),
        ("task record --label y=0,1 --number x=5,0 --mu 1", "x=5,0"),
        ("task record --label y=0,1 --number x=5,-2 --mu 1", "x=5,-2"),
        ("task record --label y=0,1 --number x=nan,1 --mu 1", "x=nan,1"),
        ("task record --label y=0,inf --number x=0,1 --mu 1", "y=0,inf"),
        ("task record --label y=0,1 --classes a,b --number x=0,1 --mu 1", "--label has a mean"),
        ("task record --label y --classes a --number x=0,1 --mu 1", "--classes is `a`"),
        ("task record --label y=0,1 --number x=0,1", "--epsilon"),
        ("task record --label y=0,1 --number x=0,1 --mu 0", "mu is 0"),
        ("task record --label y=0,1 --number x=0,1 --mu -1", "mu is -1"),
        ("task record --label y=0,1 --number x=0,1 --mu nan", "NaN"),
        ("task record --label y=0,1 --number x=0,1 --epsilon 1 --mu 1", "cannot be used with"),
        (
            "task record --label y=0,1 --number x=0,1 --mu 1 --delta 1e-6",
            "needs epsilon, or epsilon and delta, or mu",
        ),
        ("task record --label y=0,1 --number x=0,1 --number x=1,1 --mu 1", "`x` occurs twice"),
    ] {
        refused(words, 2, message);
    }
    for (option, message) in [
        ("--category town=Ulm", "`town` has one value"),
        ("--category town", "`town` is not COLUMN=VALUE"),
        ("--weights cubic", "`cubic`, not square, linear or clip"),
        ("--alpha 1.5", "α = 1.5"),
        ("--alpha=-0.1", "-0.1"),
        ("--alpha nan", "NaN"),
        ("--eta 0", "0"),
        ("--stale 0", "stale = 0"),
        ("--stale 65537", "stale = 65537"),
        ("--radius 0.1", "0.1"),
        ("--radius 1e9", "is 1e9"),
        ("--bound 1e9", "is 1e9"),
        ("--mechanism privunit", "`privunit` is no mechanism"),
        ("--mechanism laplace", "laplace keeps no promise of"),
        ("--tiers 2,1", "begins with 2"),
        ("--tiers 1,1", "1 twice"),
        ("--min-reports 0", "min_reports"),
        ("--functional f", "`f` is not NAME=PARAMETER:FACTOR"),
        ("--functional f=z:1", "of `constant`, `x`, `scale of errors`"),
        ("--functional f=x:1,x:2", "each parameter once"),
        ("--functional f=x:0", "0 times `x`"),
        ("--functional f=x:nan", "NaN times `x`"),
        ("--functional f=x:1 --functional f=x:2", "`f` twice"),
        ("--functional =x:1", "the name \"\""),
    ] {
        refused(&format!("{usual} {option}"), 2, message);
    }
}

#[test]
fn what_speaks_against_a_task_is_said_when_it_is_made_checked_and_shown() {
    let usual = "task record --label y=0,1 --number x=0,1 --mu 1";
    let folder = Folder::empty("record-warnings");
    let file = folder.path("task.toml");
    let pure = "task record --label y=0,1 --number x=0,1 --epsilon";
    for (words, warning) in [
        (format!("{usual} --weights clip"), "clipping is biased"),
        (usual.replace("--mu 1", "--mu 5"), "μ = 5 protects a record little"),
        (format!("{usual} --tiers 1,3.5"), "μ = 3.5 protects a record little"),
        (format!("{pure} 20"), "ε = 20 protects a record little"),
        (format!("{pure} 1 --delta 0.01"), "δ = 0.01 is no small chance"),
        (format!("{usual} --alpha 1"), "α = 1: unless η"),
        (format!("{usual} --alpha 0 --eta 0.0001"), "α = 0: steps that never fall"),
        (format!("{usual} --eta 1000 --offset 0 --stale 65536"), "points 65536 reports old"),
        (
            format!("{usual} --alpha 0"),
            "points 256 reports old may make the descent swing, and not settle ever",
        ),
    ] {
        let says = format!("warning: {warning}");
        for command in
            [format!("{words} --force -o {file}"), format!("task check {file}"), format!("task show {file}")]
        {
            let output = undertone(&command);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && errors.contains(&says), "{command}: {errors}");
            let warnings = json(&command)["warnings"].to_string();
            assert!(warnings.contains(warning), "{command}: {warnings}");
        }
    }
    for quiet in [
        format!("{usual} --weights square"),
        format!("{usual} --weights linear"),
        usual.replace("--mu 1", "--mu 3"),
        format!("{pure} 8 --delta 0.0009"),
        "task record --label y --classes a,b,c --number x=1,2 --epsilon 1 --stale 1000".into(),
    ] {
        let output = undertone(&quiet);
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }
    let made = undertone(&format!("{usual} --curvature 0.1 --burn-in 500 --force -o {file}"));
    assert!(made.status.success(), "{made:?}");
    let shown = text(&format!("task show {file}"));
    for words in [
        "steps of 1·(i + 1000)^-0.6, a mean from report 501 on",
        "up to 256 reports old: steady from report 3176",
        "a curvature of 0.1 or more",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
}

#[test]
fn a_table_is_sent_and_its_coefficients_are_learnt() {
    let folder = Folder::of_records(
        "record-story",
        "--mu 3 --tiers 3,1 --burn-in 2000 --stale 1000 --functional sum=one:1,two:1 --functional one=one:2",
    );
    let shown = text(&format!("task show {}", folder.path("task.toml")));
    assert!(shown.contains("an interval of sum: 1·(one) + 1·(two)"), "{shown}");
    let collector = folder.serve();
    let rows = 6000;
    fs::write(folder.path("table.csv"), People::new(&folder.task(), 1).table(rows)).unwrap();
    let bearer = folder.bearer.trim_end().strip_prefix("Authorization: Bearer ").unwrap();
    let send = format!("send {} --to {} --token {bearer}", folder.path("table.csv"), collector.url);
    refused(&format!("{send} --tier 2"), 1, "--tier");
    let sent = json(&format!("{send} --concurrency 8 --seed 5"));
    let stale = sent["refused"]["stale-version"].as_u64().unwrap_or(0);
    assert_eq!(sent["accepted"].as_u64().unwrap() + stale, rows as u64, "{sent}");
    assert!(stale < rows as u64 / 10, "{sent}");
    let status = collector.settled(sent["accepted"].as_u64().unwrap());
    let (_, estimate) = collector.get("/v1/estimate");
    assert_eq!(estimate["names"], serde_json::json!(["constant", "one", "two", "scale of errors"]));
    assert_eq!(estimate["reports"], sent["accepted"]);
    assert_eq!(estimate["tiers"], serde_json::json!([sent["accepted"], 0]));
    for (place, truth) in TRUTH.into_iter().enumerate() {
        let mean = estimate["mean"][place].as_f64().unwrap();
        assert!((mean - truth).abs() < 0.3, "{place}: {mean}, and {truth} is true");
        let shown = &status["parameters"][place];
        assert_eq!(
            (&shown["name"], &shown["estimate"]),
            (&estimate["names"][place], &estimate["mean"][place])
        );
        let interval = &estimate["intervals"]["Ok"]["coordinates"][place];
        assert!(interval["half_width"].as_f64().unwrap() < 0.6, "{interval}");
    }
    let functional = |place: usize| {
        let found = &estimate["functionals"][place];
        let interval = &found["intervals"]["Ok"]["coordinates"][0];
        let number = |name: &str| interval[name].as_f64().unwrap();
        // The same sum, rounded in another order
        let apart = found["estimate"].as_f64().unwrap() - number("estimate");
        assert!(apart.abs() < 1e-12, "{found}");
        (found["name"].as_str().unwrap(), number("estimate"), number("half_width"))
    };
    let (name, sum, half_width) = functional(0);
    let mean = |place: usize| estimate["mean"][place].as_f64().unwrap();
    assert!(name == "sum" && (sum - mean(1) - mean(2)).abs() < 1e-12 && half_width < 0.9, "{sum}");
    let (_, twice, half_width) = functional(1);
    let own = estimate["intervals"]["Ok"]["coordinates"][1]["half_width"].as_f64().unwrap();
    assert!((twice - 2.0 * mean(1)).abs() < 1e-12 && (half_width / own - 2.0).abs() < 1e-9);
    // Bounds on shares say nothing about parameters, which have one of their own.
    let influence = &status["influence"];
    assert_eq!((&status["shares"], &influence["share"]), (&Value::Null, &Value::Null));
    let reach = estimate["reach"].as_f64().unwrap();
    assert!(reach > 0.0 && influence["fakes"] == 100 && influence["point"] == 100.0 * reach, "{influence}");
    // Nobody has chosen the second tier.
    assert_eq!(
        estimate["largest"],
        serde_json::json!({"epsilon": null, "delta": null, "mu": 3.0, "rho": null})
    );
    let (critical, scatter) =
        (estimate["critical"].as_f64().unwrap(), estimate["scatter"][1].as_f64().unwrap());
    let half_width = estimate["intervals"]["Ok"]["coordinates"][1]["half_width"].as_f64().unwrap();
    assert!((critical * scatter.sqrt() - half_width).abs() < 1e-12 && (critical - 6.747).abs() < 1e-3);
    let point = People::new(&folder.task(), 1).read(&collector.point());
    assert_eq!(point.version, estimate["reports"].as_u64().unwrap());
    let theta: Vec<f64> = serde_json::from_value(estimate["point"].clone()).unwrap();
    assert_eq!(point.parameters, theta);
    assert_eq!(collector.get("/v1/shares").0, 404);
}

#[test]
fn what_is_refused_has_a_name_and_is_counted_and_below_the_minimum_only_the_point_is_shown() {
    let folder = Folder::of_records("record-refusals", "--mu 1 --tiers 1,0.5 --stale 5 --min-reports 20");
    let collector = folder.serve();
    let mut people = People::new(&folder.task(), 2);
    let start = people.read(&collector.point());
    assert_eq!((start.version, start.parameters.len()), (0, 4));
    let post = |body: &[u8]| {
        let (status, _, answer) = collector.ask("POST", "/v1/reports", "", body);
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        let kind = answer["type"].as_str().or(answer["outcome"].as_str()).unwrap();
        (status, kind.rsplit(':').next().unwrap().to_owned())
    };
    let is = |status: u16, what: &str| (status, what.to_owned());
    let first = people.answer(&start, 0);
    let (_, _, receipt) = collector.ask("POST", "/v1/reports", "", &first);
    let receipt: Value = serde_json::from_slice(&receipt).unwrap();
    assert_eq!(receipt, serde_json::json!({"outcome": "accepted", "position": 0}));
    let mut last = people.read(&collector.point());
    for number in 1..10 {
        people.send(&collector, &collector, number);
        last = people.read(&collector.point());
    }
    // Ten are in. A point of five reports ago will do, older ones will not, and those to come do not.
    collector.settled(10);
    let before = collector.point();
    let at = |version: u64| Point { version, ..last.clone() };
    let stale = people.answer(&start, 0);
    assert_eq!(post(&stale), is(422, "stale-version"));
    assert_eq!(post(&stale), is(422, "stale-version"));
    assert_eq!(post(&people.answer(&at(4), 0)), is(422, "stale-version"));
    assert_eq!(post(&people.answer(&at(11), 0)), is(422, "future-version"));
    // No device answers there, so it is somebody else's: the version is behind the 58 bytes that all reports begin with.
    let mut forged = people.answer(&at(10), 0);
    forged[58..66].copy_from_slice(&u64::MAX.to_be_bytes());
    assert_eq!(post(&forged), is(422, "future-version"));
    assert_eq!(collector.point(), before, "what is refused moves nothing");
    assert_eq!(post(&people.answer(&at(5), 1)), is(201, "accepted"));
    // Who got no answer asks again, and is told the truth though its point is old by now.
    assert_eq!(post(&first), is(200, "duplicate"));
    let format = ReportFormat::new(&folder.task()).unwrap();
    let honest = people.answer(&at(10), 0);
    let mut huge = honest.clone();
    let length = huge.len();
    huge[length - 8..].copy_from_slice(&i64::MAX.to_be_bytes());
    assert_eq!(post(&huge), is(422, "implausible"));
    let report = format.decode(&honest).unwrap();
    let other = format.encode(&undertone_report::Report { tier: 1, ..report.clone() }).unwrap();
    let place = (0..length).find(|&place| honest[place] != other[place]).unwrap();
    let mut nowhere = honest.clone();
    nowhere[place] = 2;
    assert_eq!(post(&nowhere), is(422, "unknown-tier"));
    let mut short = honest.clone();
    short.pop();
    assert_eq!(post(&short), is(422, "truncated"));
    // Somebody who says something else under the same id, after the first has been stored
    let mut other_first = first.clone();
    other_first[length - 1] ^= 1;
    assert_eq!(post(&other_first), is(422, "equivocation"));
    // The same report as JSON and as bytes
    let kind = "Content-Type: application/vnd.undertone.report+json\r\n";
    let spelt = format.to_json(&report).unwrap();
    assert_eq!(collector.ask("POST", "/v1/reports", kind, spelt.as_bytes()).0, 201);
    assert_eq!(post(&honest), is(200, "duplicate"));
    let status = collector.settled(12);
    for nothing in ["parameters", "shares", "model", "influence"] {
        assert_eq!(status[nothing], Value::Null, "{nothing}");
    }
    assert_eq!(collector.problem("GET", "/v1/estimate", "", b""), is(409, "too-few-reports"));
    assert_eq!(collector.problem("GET", "/v1/model", "", b""), is(409, "too-few-reports"));
    assert_eq!(collector.problem("GET", "/v1/reports", "", b""), is(409, "too-few-reports"));
    for (reason, count) in [
        ("stale-version", 3),
        ("future-version", 2),
        ("implausible", 1),
        ("unknown-tier", 1),
        ("equivocation", 1),
        ("truncated", 1),
        ("duplicate", 2),
    ] {
        assert_eq!(collector.refused_for(reason), count, "{reason}");
    }
    // In a batch each has an outcome of its own.
    let point = at(12);
    let mut batch: Vec<Vec<u8>> = (0..8).map(|_| people.answer(&point, 0)).collect();
    batch.extend([people.answer(&at(1), 0), honest]);
    let receipt = collector.post_batch(&batch);
    // The last two of eight take places that are more than five after their point.
    assert_eq!((&receipt["accepted"], &receipt["duplicates"]), (&6.into(), &1.into()), "{receipt}");
    let reasons: Vec<&Value> =
        receipt["refused"].as_array().unwrap().iter().map(|one| &one["reason"]).collect();
    assert_eq!(reasons, ["stale-version"; 3]);
    people.send(&collector, &collector, 18);
    people.send(&collector, &collector, 19);
    collector.settled(20);
    collector.estimate();
    assert_eq!(collector.ask("POST", "/v1/operate/close", "", b"").0, 200);
    let late = people.answer_at(&collector.point());
    assert_eq!(post(&late), is(422, "closed"));
    assert_eq!(collector.refused_for("closed"), 1);
}

#[test]
fn a_token_lets_in_one_gradient_and_the_same_again() {
    let folder = Folder::of_records("record-tokens", "--mu 1 --admission");
    let collector = folder.serve();
    let mut people = People::new(&folder.task(), 3);
    let wanted = "Content-Type: application/json\r\n";
    let (_, _, body) = collector.ask("POST", "/v1/operate/admission", wanted, br#"{"count": 1, "cap": 1}"#);
    let token = serde_json::from_slice::<Value>(&body).unwrap()["tokens"][0].as_str().unwrap().to_owned();
    let admission = format!("undertone-admission: {token}\r\n");
    let (ours, other) = (people.answer_at(&collector.point()), people.answer_at(&collector.point()));
    let send = |headers: &str, report: &[u8]| collector.ask("POST", "/v1/reports", headers, report).0;
    let reason = |headers: &str, report: &[u8]| collector.problem("POST", "/v1/reports", headers, report).1;
    assert_eq!(reason("", &ours), "admission-needed");
    assert_eq!(reason("undertone-admission: 00\r\n", &ours), "admission-forged");
    assert_eq!((send(&admission, &ours), send(&admission, &ours)), (201, 200));
    assert_eq!(reason(&admission, &other), "admission-spent");
    assert_eq!(send(&admission, &ours), 200);
    assert_eq!(collector.refused_for("admission-spent"), 1);
    collector.settled(1);
}

/// Somebody's exchange with a collector, unless it has gone.
fn exchange(address: &str, bearer: &str, method: &str, path: &str, body: &[u8]) -> Option<(u16, Vec<u8>)> {
    let mut stream = TcpStream::connect(address).ok()?;
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n{bearer}\r\n"
    );
    stream.write_all(&[head.as_bytes(), body].concat()).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    let split = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let status = String::from_utf8_lossy(&answer[..split]).split_whitespace().nth(1)?.parse().ok()?;
    Some((status, answer[split + 4..].to_vec()))
}

/// Answers until nobody listens, and what was acknowledged, which is also counted. What was open is sent again first: the same
/// bytes.
fn answer_until_its_end(
    address: &str,
    bearer: &str,
    people: &mut People,
    open: &mut Option<Vec<u8>>,
    count: &AtomicU32,
) -> Vec<Vec<u8>> {
    let mut acknowledged = Vec::new();
    loop {
        let report = match open.take() {
            Some(report) => report,
            None => match exchange(address, bearer, "GET", "/v1/point", b"") {
                Some((200, point)) => people.answer_at(&point),
                // The learner is behind, and will not be in a moment.
                Some((503, _)) => {
                    std::thread::sleep(Duration::from_millis(20));
                    continue;
                }
                _ => return acknowledged,
            },
        };
        match exchange(address, bearer, "POST", "/v1/reports", &report) {
            Some((200 | 201, _)) => {
                acknowledged.push(report);
                count.fetch_add(1, Ordering::Relaxed);
            }
            // Stale by now, and lost: another gradient would be another promise.
            Some((422, _)) => {}
            _ => {
                *open = Some(report);
                return acknowledged;
            }
        }
    }
}

#[test]
fn killed_under_load_the_learner_stands_where_the_log_says_to_the_last_bit() {
    let folder = Folder::of_records("record-kills", "--mu 1 --stale 64");
    let mut acknowledged = BTreeSet::new();
    let mut devices: Vec<(People, Option<Vec<u8>>)> =
        (0..4).map(|seed| (People::new(&folder.task(), 10 + seed), None)).collect();
    for kill in 0..4 {
        let collector = folder.serve();
        let (address, bearer) = (collector.address().to_owned(), folder.bearer.clone());
        let count = AtomicU32::new(0);
        std::thread::scope(|scope| {
            let (address, bearer, count) = (&address, &bearer, &count);
            let senders: Vec<_> = devices
                .iter_mut()
                .map(|(people, open)| {
                    scope.spawn(move || answer_until_its_end(address, bearer, people, open, count))
                })
                .collect();
            under_load(count, 30, || senders.iter().all(ScopedJoinHandle::is_finished));
            std::thread::sleep(Duration::from_millis(250 + 90 * kill));
            // Once in good order, so that a snapshot is left to go on from.
            if kill == 1 {
                collector.stop();
            } else {
                collector.kill();
            }
            acknowledged.extend(senders.into_iter().flat_map(|sender| sender.join().unwrap()));
        });
    }
    let stand = |collector: &Collector| {
        let reports = collector.until(|| match collector.get("/v1/status").1["reports"].as_u64() {
            Some(reports) if reports >= acknowledged.len() as u64 => Ok(reports),
            other => Err(format!("{other:?}")),
        });
        (reports, collector.point(), collector.estimate())
    };
    let collector = folder.serve();
    let (reports, point, estimate) = stand(&collector);
    let log = collector.export();
    assert!(reports > 100, "{reports} reports: there was no load");
    let stored: BTreeSet<Vec<u8>> = log.iter().cloned().collect();
    assert_eq!((stored.len(), log.len() as u64), (log.len(), reports), "each is counted once");
    assert!(acknowledged.is_subset(&stored), "lost");
    collector.stop();
    // From its snapshot, and from nothing but the log
    for without in [false, true] {
        if without {
            fs::remove_file(folder.kept("learner.snapshot")).unwrap();
        }
        let collector = folder.serve();
        assert!(stand(&collector) == (reports, point.clone(), estimate.clone()), "without: {without}");
        collector.kill();
    }
}
