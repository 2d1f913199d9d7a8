//! A person's device: what it says, what it does not, and what it still knows after a crash.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;
use undertone_device::{Counter, Device, DeviceError, Question, State};
use undertone_privacy::label::{Label, LabelRandomizer};
use undertone_privacy::{Epsilon, Guarantee, PrivacyError};
use undertone_report::{
    Cell, Collection, ColumnKind, EncodingWords, FeatureColumn, LearnerWords, MechanismWords, PriorWords,
    ReportFormat, Stretch, TASK_VERSION, Task,
};

const NOW: u64 = 1_800_000_123;
const CHILD: &str = "UNDERTONE_DEVICE_CHILD";

/// An empty folder for the test of this name.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("undertone-device-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    folder
}

fn epsilon(value: f64) -> Guarantee {
    Guarantee::Pure(Epsilon::new(value).unwrap())
}

/// One of many tasks, with tiers of ε = 1 and ε = 1/4.
fn task(number: u32) -> Task {
    let stretch = Stretch::Range { low: 0.0, high: 100.0, missing: false };
    Task {
        version: TASK_VERSION,
        label: "income".into(),
        classes: ["low", "middle", "high"].map(String::from).to_vec(),
        mechanism: MechanismWords {
            kind: "rr".into(),
            epsilon: Some(1.0),
            delta: None,
            mu: None,
            set_size: None,
            top: None,
            prior: None,
        },
        features: vec![FeatureColumn { name: "age".into(), kind: ColumnKind::Number }],
        collection: Some(Collection {
            name: format!("Question {number}"),
            min_reports: 10,
            opens: 1_800_000_000,
            closes: 1_800_003_600,
            time_precision: 60,
            expiry_age: 600,
            clock_skew: 60,
            learner: LearnerWords::SharesOnly,
            encoding: vec![EncodingWords::Number(stretch)],
            tiers: vec![1.0, 0.25],
            admission: false,
        }),
        number: None,
        record: None,
        survey: None,
    }
}

fn age(years: f64) -> Vec<Cell> {
    vec![Cell::Number(years)]
}

fn answer(device: &mut Device, number: u32) -> Result<Vec<u8>, DeviceError> {
    Ok(device.answer(&task(number), age(40.0), Label(1), 0, NOW)?.into_bytes())
}

#[test]
fn a_report_is_what_the_task_asks_for() {
    let ledger = folder("report").join("ledger");
    let mut device = Device::open(&ledger, epsilon(5.0)).unwrap();
    let prepared = device.answer(&task(0), age(40.0), Label(1), 1, NOW).unwrap();
    let report = ReportFormat::new(&task(0)).unwrap().decode(prepared.bytes()).unwrap();
    assert_eq!((report.time, report.tier, report.features), (NOW / 60, 1, age(40.0)));
    assert_eq!((report.members.len(), report.among.len()), (1, 0));
    assert_eq!(prepared.id().unwrap(), report.id);
    assert_eq!(device.ledger().spent(), Some(epsilon(0.25)));
    assert_eq!(device.said(task(0).id()), Some(&prepared));
    assert_eq!(device.said(task(1).id()), None);
}

#[test]
fn the_same_question_gets_the_same_bytes_whatever_is_true_now() {
    let ledger = folder("memory").join("ledger");
    let mut device = Device::open(&ledger, epsilon(1.0)).unwrap();
    let first = answer(&mut device, 0).unwrap();
    let second = device.answer(&task(0), age(41.0), Label(2), 1, NOW + 60).unwrap();
    assert_eq!(second.bytes(), first);
    assert_eq!(device.ledger().spent(), Some(epsilon(1.0)));
    drop(device);
    let mut device = Device::open(&ledger, epsilon(1.0)).unwrap();
    assert_eq!(answer(&mut device, 0).unwrap(), first);
    assert_eq!(device.ledger().spent(), Some(epsilon(1.0)));
}

#[test]
fn a_budget_that_is_used_up_is_used_up_after_a_restart_too() {
    let ledger = folder("budget").join("ledger");
    let mut device = Device::open(&ledger, epsilon(1.25)).unwrap();
    answer(&mut device, 0).unwrap();
    let before = fs::read(&ledger).unwrap();
    for _ in 0..2 {
        let refused = answer(&mut device, 1).unwrap_err();
        assert!(matches!(refused, DeviceError::Privacy(PrivacyError::OverBudget { .. })), "{refused}");
        assert_eq!(fs::read(&ledger).unwrap(), before);
        drop(device);
        device = Device::open(&ledger, epsilon(1.25)).unwrap();
    }
    // The smaller tier still fits, exactly once.
    device.answer(&task(1), age(40.0), Label(0), 1, NOW).unwrap();
    assert!(device.answer(&task(2), age(40.0), Label(0), 1, NOW).is_err());
    assert_eq!(device.ledger().spent(), Some(epsilon(1.25)));
}

#[test]
fn what_cannot_be_answered_costs_nothing() {
    let ledger = folder("free").join("ledger");
    let mut device = Device::open(&ledger, epsilon(1.0)).unwrap();
    let before = fs::read(&ledger).unwrap();
    let mut broken = task(0);
    broken.mechanism.epsilon = Some(2.0);
    let mut without = task(0);
    without.collection = None;
    let mut modelled = task(0);
    modelled.mechanism.kind = "rr-prior".into();
    modelled.mechanism.prior = Some(PriorWords::Model { sha256: "00".into(), temperature: Some(1.0) });
    let asked = |task: &Task, features, label, tier, now| (task.clone(), features, Label(label), tier, now);
    for ((task, features, label, tier, now), says) in [
        (asked(&broken, age(1.0), 0, 0, NOW), "begins with 1"),
        (asked(&without, age(1.0), 0, 0, NOW), "no collection"),
        (asked(&modelled, age(1.0), 0, 0, NOW), "from a model"),
        (asked(&task(0), age(1.0), 3, 0, NOW), "label 3"),
        (asked(&task(0), age(1.0), 0, 2, NOW), "tier is 2"),
        (asked(&task(0), age(f64::NAN), 0, 0, NOW), "`age`"),
        (asked(&task(0), vec![], 0, 0, NOW), "0 cells"),
        (asked(&task(0), age(1.0), 0, 0, 1_799_999_999), "it is 1799999999"),
        (asked(&task(0), age(1.0), 0, 0, 1_800_003_600), "it is 1800003600"),
    ] {
        let error = device.answer(&task, features, label, tier, now).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    assert_eq!(fs::read(&ledger).unwrap(), before);
    assert_eq!(device.ledger().spent(), None);
}

#[cfg(unix)]
#[test]
fn a_ledger_is_the_same_one_whichever_link_leads_to_it() {
    let folder = folder("links");
    let (ledger, link, lost) = (folder.join("ledger"), folder.join("link"), folder.join("lost"));
    std::os::unix::fs::symlink(&ledger, &link).unwrap();
    std::os::unix::fs::symlink(folder.join("nowhere"), &lost).unwrap();
    assert!(matches!(Device::open(&link, epsilon(2.0)), Err(DeviceError::Gone { .. })));
    assert!(matches!(Device::open(&lost, epsilon(2.0)), Err(DeviceError::Gone { .. })));
    let first = answer(&mut Device::open(&ledger, epsilon(2.0)).unwrap(), 0).unwrap();
    let mut device = Device::open(&link, epsilon(2.0)).unwrap();
    assert!(matches!(Device::open(&ledger, epsilon(2.0)), Err(DeviceError::InUse { .. })));
    assert_eq!(answer(&mut device, 0).unwrap(), first);
    let second = answer(&mut device, 1).unwrap();
    drop(device);
    assert!(link.is_symlink());
    let mut device = Device::open(&ledger, epsilon(2.0)).unwrap();
    assert_eq!(answer(&mut device, 1).unwrap(), second);
    assert_eq!(device.ledger().spent(), Some(epsilon(2.0)));
}

#[test]
fn a_ledger_with_any_bit_changed_is_refused() {
    let ledger = folder("damaged").join("ledger");
    answer(&mut Device::open(&ledger, epsilon(1.0)).unwrap(), 0).unwrap();
    let whole = fs::read(&ledger).unwrap();
    let refused = |bytes: &[u8]| {
        fs::write(&ledger, bytes).unwrap();
        matches!(Device::open(&ledger, epsilon(1.0)), Err(DeviceError::Damaged { .. }))
    };
    for place in 0..whole.len() {
        let mut changed = whole.clone();
        changed[place] ^= 1 << (place % 8);
        assert!(refused(&changed), "byte {place}");
    }
    for length in 0..whole.len() {
        assert!(refused(&whole[..length]), "{length} bytes");
    }
    assert!(refused(&[&whole[..], b"\n"].concat()) && refused(&[&whole[..], &whole].concat()));
    fs::write(&ledger, &whole).unwrap();
    assert!(Device::open(&ledger, epsilon(1.0)).is_ok());
}

#[test]
fn a_ledger_that_was_removed_does_not_start_anew() {
    let ledger = folder("gone").join("ledger");
    answer(&mut Device::open(&ledger, epsilon(1.0)).unwrap(), 0).unwrap();
    fs::remove_file(&ledger).unwrap();
    assert!(matches!(Device::open(&ledger, epsilon(1.0)), Err(DeviceError::Gone { .. })));
    assert!(!ledger.exists());
}

#[test]
fn a_ledger_keeps_its_budget() {
    let ledger = folder("cap").join("ledger");
    drop(Device::open(&ledger, epsilon(1.0)).unwrap());
    let error = Device::open(&ledger, epsilon(10.0)).unwrap_err().to_string();
    assert_eq!(error, "the ledger has a budget of ε = 1, not of ε = 10");
}

#[test]
fn two_devices_do_not_share_a_ledger() {
    let ledger = folder("shared").join("ledger");
    let device = Device::open(&ledger, epsilon(1.0)).unwrap();
    assert!(matches!(Device::open(&ledger, epsilon(1.0)), Err(DeviceError::InUse { .. })));
    drop(device);
    assert!(Device::open(&ledger, epsilon(1.0)).is_ok());
}

#[test]
fn of_many_that_open_at_once_one_does() {
    let ledger = folder("race").join("ledger");
    let devices = thread::scope(|scope| {
        let open = || scope.spawn(|| Device::open(&ledger, epsilon(1.0)).ok());
        let threads: Vec<_> = (0..8).map(|_| open()).collect();
        // All are kept until all have tried.
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(devices.iter().flatten().count(), 1);
}

#[test]
fn a_ledger_that_cannot_be_written_stops_the_device_and_nothing_is_said() {
    let ledger = folder("unwritable").join("ledger");
    let mut device = Device::open(&ledger, epsilon(1.0)).unwrap();
    let before = fs::read(&ledger).unwrap();
    // A folder where the new file is to be
    let beside = ledger.with_file_name("ledger.new");
    fs::create_dir(&beside).unwrap();
    assert!(matches!(answer(&mut device, 0), Err(DeviceError::Ledger { .. })));
    fs::remove_dir(&beside).unwrap();
    assert!(matches!(answer(&mut device, 0), Err(DeviceError::Stopped)));
    assert_eq!(fs::read(&ledger).unwrap(), before);
    drop(device);
    let mut device = Device::open(&ledger, epsilon(1.0)).unwrap();
    assert_eq!(device.ledger().spent(), None);
    answer(&mut device, 0).unwrap();
}

#[test]
fn what_a_crash_left_half_written_is_not_looked_at() {
    let ledger = folder("half").join("ledger");
    let first = answer(&mut Device::open(&ledger, epsilon(2.0)).unwrap(), 0).unwrap();
    fs::write(ledger.with_file_name("ledger.new"), b"{\"version\":1,").unwrap();
    let mut device = Device::open(&ledger, epsilon(2.0)).unwrap();
    assert_eq!(answer(&mut device, 0).unwrap(), first);
    answer(&mut device, 1).unwrap();
    assert_eq!(device.ledger().spent(), Some(epsilon(2.0)));
}

#[test]
fn a_crash_before_the_first_ledger_was_written_is_none() {
    let ledger = folder("first").join("ledger");
    fs::write(ledger.with_file_name("ledger.lock"), b"").unwrap();
    assert!(Device::open(&ledger, epsilon(2.0)).is_ok());
}

#[test]
fn a_ledger_from_a_backup_does_not_get_its_budget_back() {
    let ledger = folder("backup").join("ledger");
    let mut device = Device::open(&ledger, epsilon(2.0)).unwrap();
    let backups = [0, 1].map(|number| {
        let backup = fs::read(&ledger).unwrap();
        answer(&mut device, number).unwrap();
        backup
    });
    drop(device);
    let last = fs::read(&ledger).unwrap();
    for (backup, times) in backups.iter().zip([1, 2]) {
        fs::write(&ledger, backup).unwrap();
        let error = Device::open(&ledger, epsilon(2.0)).unwrap_err();
        let DeviceError::Restored { written, counted, .. } = error else { panic!("{error}") };
        assert_eq!((written, counted), (times, 3));
    }
    fs::write(&ledger, &last).unwrap();
    assert_eq!(Device::open(&ledger, epsilon(2.0)).unwrap().ledger().spent(), Some(epsilon(2.0)));
    // Without its counter nobody knows how old it is, and one that cannot be read is none.
    let count = ledger.with_file_name("ledger.count");
    let counted = fs::read(&count).unwrap();
    fs::remove_file(&count).unwrap();
    assert!(matches!(Device::open(&ledger, epsilon(2.0)), Err(DeviceError::Restored { counted: 0, .. })));
    fs::write(&count, b"many").unwrap();
    assert!(matches!(Device::open(&ledger, epsilon(2.0)), Err(DeviceError::Ledger { .. })));
    // A crash after writing and before counting has said nothing, and is none.
    fs::write(&count, b"2\n").unwrap();
    drop(Device::open(&ledger, epsilon(2.0)).unwrap());
    assert_eq!(fs::read(&count).unwrap(), counted);
}

/// A number that no backup of a folder holds.
#[derive(Clone, Debug, Default)]
struct Keystore(Arc<AtomicU64>);

impl Counter for Keystore {
    fn value(&mut self) -> io::Result<u64> {
        Ok(self.0.load(Ordering::Relaxed))
    }

    fn raise(&mut self, to: u64) -> io::Result<()> {
        self.0.fetch_max(to, Ordering::Relaxed);
        Ok(())
    }
}

#[test]
fn a_counter_elsewhere_knows_when_the_whole_folder_comes_from_a_backup() {
    let (folder, keystore) = (folder("keystore"), Keystore::default());
    let ledger = folder.join("ledger");
    let open = || Device::open_counted(&ledger, epsilon(2.0), Box::new(keystore.clone()));
    answer(&mut open().unwrap(), 0).unwrap();
    let backup = ["ledger", "ledger.lock"].map(|name| (name, fs::read(folder.join(name)).unwrap()));
    answer(&mut open().unwrap(), 1).unwrap();
    for (name, bytes) in backup {
        fs::write(folder.join(name), bytes).unwrap();
    }
    assert!(matches!(open(), Err(DeviceError::Restored { written: 2, counted: 3, .. })));
    fs::remove_dir_all(&folder).unwrap();
    fs::create_dir(&folder).unwrap();
    assert!(matches!(open(), Err(DeviceError::Gone { .. })));
}

#[test]
fn what_became_of_an_answer_is_remembered_and_an_acknowledgement_stays() {
    let ledger = folder("states").join("ledger");
    let mut device = Device::open(&ledger, epsilon(2.0)).unwrap();
    let (first, second) = (task(0).id(), task(1).id());
    assert!(matches!(device.note(first, State::Acknowledged), Err(DeviceError::NotSaid { .. })));
    let said = [0, 1].map(|number| answer(&mut device, number).unwrap());
    assert_eq!([first, second].map(|task| device.state(task)), [Some(State::Stored); 2]);
    device.note(first, State::Acknowledged).unwrap();
    device.note(first, State::Refused).unwrap();
    device.note(second, State::Refused).unwrap();
    drop(device);
    let mut device = Device::open(&ledger, epsilon(2.0)).unwrap();
    let states = [first, second, task(2).id()].map(|task| device.state(task));
    assert_eq!(states, [Some(State::Acknowledged), Some(State::Refused), None]);
    // What is known of them changes neither the bytes nor what was paid.
    assert_eq!([0, 1].map(|number| answer(&mut device, number).unwrap()), said);
    assert_eq!(device.ledger().spent(), Some(epsilon(2.0)));
    let text = fs::read_to_string(&ledger).unwrap();
    assert!(text.contains("\"mechanism\": \"rr\"") && text.contains("\"acknowledged\""), "{text}");
}

/// Not a test of its own: the program that [`killed_at_any_moment_nothing_that_was_said_is_forgotten`] kills.
#[test]
fn child() {
    let Some(ledger) = std::env::var_os(CHILD) else { return };
    let mut device = Device::open(Path::new(&ledger), epsilon(1e6)).unwrap();
    for number in 0.. {
        let bytes = answer(&mut device, number).unwrap();
        // The line is what is sent: whoever has read it knows the answer.
        let mut out = std::io::stdout().lock();
        writeln!(out, "sent {number} {bytes:02x?}").unwrap();
        out.flush().unwrap();
    }
}

#[test]
fn killed_at_any_moment_nothing_that_was_said_is_forgotten() {
    let ledger = folder("killed").join("ledger");
    let mut said: Vec<(u32, String)> = Vec::new();
    for round in 0..8 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--nocapture"])
            .env(CHILD, &ledger)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let (tell, told) = mpsc::channel();
        let reader = thread::spawn(move || {
            let (mut sent, mut line) = (Vec::new(), String::new());
            while lines.read_line(&mut line).is_ok_and(|length| length > 0) {
                // A last line that was cut is not one that anybody has read.
                let whole = line.strip_suffix('\n').and_then(|line| line.split_once("sent "));
                if let Some((number, digits)) = whole.and_then(|(_, words)| words.split_once(' ')) {
                    sent.push((number.parse::<u32>().unwrap(), digits.to_owned()));
                    let _ = tell.send(());
                }
                line.clear();
            }
            sent
        });
        // A child's time begins when it has said something, however long a busy machine takes to start it; that of one in
        // four begins at once, so that some are killed while they open.
        let heard = if round % 4 > 0 { told.recv_timeout(Duration::from_mins(2)) } else { Ok(()) };
        thread::sleep(Duration::from_millis(20 + 13 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        let sent = reader.join().unwrap();
        heard.expect("a child has said nothing for two minutes, or has ended");
        for (number, digits) in sent {
            match said.iter().find(|(other, _)| *other == number) {
                Some((_, earlier)) => assert_eq!(*earlier, digits, "question {number} was answered anew"),
                None => said.push((number, digits)),
            }
        }
    }
    assert!(!said.is_empty(), "the children had time to say something");
    let mut device = Device::open(&ledger, epsilon(1e6)).unwrap();
    let spent = device.ledger().spent().unwrap();
    assert!(matches!(spent, Guarantee::Pure(spent) if spent.get() >= said.len() as f64), "{spent}");
    for (number, digits) in said {
        let again = answer(&mut device, number).unwrap();
        assert_eq!(format!("{again:02x?}"), digits, "question {number}");
    }
}

#[test]
fn answers_follow_the_mechanism_that_the_task_names() {
    // 20 000 people with label 1 at ε = 1: each answer is right with probability p = e/(e + 2).
    let question = Question::new(&task(0)).unwrap();
    let mut rng = seeded(1);
    let people = 20_000;
    let mut right = 0;
    for _ in 0..people {
        let bytes = question.answer(age(40.0), Label(1), 0, NOW, &mut rng).unwrap();
        right += u32::from(question.format().decode(&bytes).unwrap().members == [1]);
    }
    let (p, _) = task(0).mechanism().unwrap().inclusion();
    let deviation = (f64::from(people) * p * (1.0 - p)).sqrt();
    assert!((f64::from(right) - f64::from(people) * p).abs() < 5.0 * deviation, "{right}");
}

#[test]
fn a_prior_decides_what_is_answered_among_and_comes_from_public_columns_only() {
    let mut task = task(0);
    let names = ["prior of low", "prior of middle", "prior of high"];
    task.features = names.map(|name| FeatureColumn { name: name.into(), kind: ColumnKind::Number }).to_vec();
    task.mechanism.kind = "rr-prior".into();
    task.mechanism.prior = Some(PriorWords::Columns(names.map(String::from).to_vec()));
    let collection = task.collection.as_mut().unwrap();
    collection.encoding = vec![collection.encoding[0].clone(); 3];
    let question = Question::new(&task).unwrap();
    let prior = |prior: [f64; 3]| prior.map(Cell::Number).to_vec();
    let mut rng = seeded(2);
    for (label, prior, among) in [
        (0, prior([0.49, 0.49, 0.02]), &[0, 1][..]),
        (2, prior([0.49, 0.49, 0.02]), &[0, 1]),
        (1, prior([0.98, 0.01, 0.01]), &[0]),
    ] {
        let bytes = question.answer(prior, Label(label), 0, NOW, &mut rng).unwrap();
        let report = question.format().decode(&bytes).unwrap();
        assert_eq!(report.among, among);
        assert!(among.contains(&report.members[0]));
    }
    let missing = vec![Cell::Number(0.5), Cell::Missing, Cell::Number(0.5)];
    let error = question.answer(missing, Label(0), 0, NOW, &mut rng).unwrap_err();
    assert!(error.to_string().contains("`prior of middle`"), "{error}");
    let error = question.answer(prior([0.5, 0.4, 0.3]), Label(0), 0, NOW, &mut rng).unwrap_err();
    assert!(error.to_string().contains("sums to 1.2"), "{error}");
}

#[test]
fn the_size_of_an_answer_does_not_depend_on_the_label() {
    let mut bits = task(0);
    bits.mechanism.kind = "bits".into();
    for task in [task(0), bits] {
        let question = Question::new(&task).unwrap();
        let mut rng = seeded(3);
        let mut sizes: Vec<usize> = (0..300)
            .map(|person| question.answer(age(40.0), Label(person % 3), 0, NOW, &mut rng).unwrap().len())
            .collect();
        sizes.dedup();
        assert_eq!(sizes.len(), 1, "{sizes:?}");
    }
}

fn seeded(seed: u64) -> impl rand_core::CryptoRng {
    use rand_core::SeedableRng;
    rand_chacha::ChaCha12Rng::seed_from_u64(seed)
}
