//! The rows of a table as devices that answer for their whole record: each fetches the point where the learner stands, takes
//! its gradient there, randomizes it, and sends that.

use super::ledgers::{Ledgers, RowDevice};
use super::{Pace, Sent};
use crate::collector::client::{Address, Answer, Client};
use crate::collector::http::ADMISSION;
use crate::collector::now;
use crate::people::RecordRows;
use crate::randomness;
use crate::tables::TableFile;
use anyhow::{Context, anyhow};
use hyper::StatusCode;
use hyper::header::CONTENT_TYPE;
use indicatif::ProgressBar;
use rand_chacha::ChaCha12Rng;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{Mutex, mpsc};
use undertone_device::{Record, RecordQuestion};
use undertone_report::{MEDIA_TYPE, Point, Task};

/// Rows that wait for a connection.
const WAITING: usize = 4096;

/// Sends one gradient for each row.
pub(super) struct RecordSender {
    pub(super) address: Address,
    pub(super) admission: Option<String>,
    /// Connections
    pub(super) concurrency: usize,
    pub(super) tier: u8,
    /// In a simulation, what everybody's coins come from
    pub(super) seed: Option<u64>,
    pub(super) pace: Pace,
    /// What each row has said, if that is remembered
    pub(super) ledgers: Option<Ledgers>,
}

impl RecordSender {
    /// Lets every row of a table answer.
    pub(super) async fn send(self, task: &Task, table: TableFile, bar: &ProgressBar) -> anyhow::Result<Sent> {
        let question = Arc::new(RecordQuestion::new(task)?);
        question.price(self.tier).context("--tier")?;
        let (began, (rows, waiting)) = (Instant::now(), mpsc::channel(WAITING));
        let waiting = Arc::new(Mutex::new(waiting));
        let (reader, pace, people) = (RecordRows::new(task), self.pace, table.rows());
        let ledgers = self.ledgers.map(Arc::new);
        let table = table.select(reader.columns())?;
        let reading = tokio::task::spawn_blocking(move || hand_on(&reader, &table, pace, &rows));
        let mut workers = Vec::new();
        for _ in 0..self.concurrency {
            let worker = Worker {
                client: Client::new(self.address.clone()),
                admission: self.admission.clone(),
                question: question.clone(),
                tier: self.tier,
                rng: randomness::generator(self.seed)?,
                seeded: self.seed.is_some(),
                ledgers: ledgers.clone(),
                silent: false,
            };
            workers.push(tokio::spawn(worker.run(waiting.clone(), bar.clone())));
        }
        drop(waiting);
        let mut sent = Sent { unasked: people, ..Sent::default() };
        for worker in workers {
            let (asked, part) = worker.await.map_err(|_| anyhow!("a connection has failed"))??;
            sent.add(part);
            sent.unasked -= asked;
        }
        reading.await.map_err(|_| anyhow!("the table could not be read"))??;
        sent.seconds = began.elapsed().as_secs_f64();
        Ok(sent)
    }
}

/// Hands every row on, with its number, not too fast.
fn hand_on(
    reader: &RecordRows,
    table: &TableFile,
    mut pace: Pace,
    rows: &mpsc::Sender<(u64, Record)>,
) -> anyhow::Result<()> {
    let mut row = 1;
    for batch in table.batches()? {
        let records = reader.records(&batch?).with_context(|| table.path().display().to_string())?;
        for record in records {
            pace.wait(1);
            // If nobody takes them any more, the workers know why.
            if rows.blocking_send((row, record)).is_err() {
                return Ok(());
            }
            row += 1;
        }
    }
    Ok(())
}

struct Worker {
    client: Client,
    admission: Option<String>,
    question: Arc<RecordQuestion>,
    tier: u8,
    rng: ChaCha12Rng,
    /// Whether each row's coins are its own stream of the seed
    seeded: bool,
    ledgers: Option<Arc<Ledgers>>,
    /// Whether a request was tried again and again, and nobody has answered
    silent: bool,
}

impl Worker {
    /// Lets people answer as long as the collector does, and says how many have been asked.
    async fn run(
        mut self,
        waiting: Arc<Mutex<mpsc::Receiver<(u64, Record)>>>,
        bar: ProgressBar,
    ) -> anyhow::Result<(u64, Sent)> {
        let (mut asked, mut sent) = (0, Sent::default());
        while !self.silent {
            let next = waiting.lock().await.recv().await;
            let Some((row, record)) = next else { break };
            self.answer(row, &record, &mut sent).await.with_context(|| format!("row {row}"))?;
            asked += 1;
            bar.inc(1);
        }
        Ok((asked, sent))
    }

    /// Fetches the point, answers once, and sends that. What is refused as stale is lost: another gradient would be another
    /// promise.
    ///
    /// What a collector has no room for after many tries is counted with the rest: whoever ran this again would ask everybody
    /// twice. A point that is none ends everything, before anybody has answered there.
    async fn answer(&mut self, row: u64, record: &Record, sent: &mut Sent) -> anyhow::Result<()> {
        if self.seeded {
            self.rng.set_stream(row);
            self.rng.set_word_pos(0);
        }
        let ledgers = self.ledgers.clone();
        let mut device = ledgers.as_ref().map(|ledgers| ledgers.device(row)).transpose()?;
        if device.as_ref().is_some_and(RowDevice::is_done) {
            (sent.reports, sent.duplicates) = (sent.reports + 1, sent.duplicates + 1);
            return Ok(());
        }
        let fetched = self.client.fetch("/v1/point").await;
        let Some(answer) = self.heard(fetched, sent) else { return Ok(()) };
        if !answer.status.is_success() {
            sent.refuse(answer.name());
            return Ok(());
        }
        let parameters = self.question.model().parameters();
        let point = Point::from_bytes(&answer.body, self.question.task_id(), parameters);
        let point = point.context("the point")?;
        let report = match &mut device {
            None => self.question.answer(&point, record, self.tier, now(), &mut self.rng)?,
            Some(device) => device.answer(&point, record, now())?,
        };
        let kind = (CONTENT_TYPE.as_str(), MEDIA_TYPE);
        let admission = self.admission.as_deref().map(|token| (ADMISSION, token));
        let headers: Vec<(&str, &str)> = [kind].into_iter().chain(admission).collect();
        sent.reports += 1;
        let posted = self.client.post("/v1/reports", &headers, report.into()).await;
        if let (Some(device), Ok(answer)) = (device, &posted) {
            device.note(answer.status)?;
        }
        match self.heard(posted, sent) {
            None => {}
            Some(answer) if answer.status == StatusCode::CREATED => sent.accepted += 1,
            Some(answer) if answer.status == StatusCode::OK => sent.duplicates += 1,
            Some(answer) => sent.refuse(answer.name()),
        }
        Ok(())
    }

    /// What was answered; that nobody has answered, after many tries, is counted.
    fn heard(&mut self, answer: anyhow::Result<Answer>, sent: &mut Sent) -> Option<Answer> {
        self.silent = answer.is_err();
        if self.silent {
            sent.refuse("no-answer".into());
        }
        answer.ok()
    }
}
