//! The rows of a table as devices that answer for their whole record: each fetches the point where the learner stands, takes
//! its gradient there, randomizes it, and sends that.

use super::ledgers::{Ledgers, RowDevice};
use super::{Pace, Sent};
use crate::collector::client::{Address, Client};
use crate::collector::http::ADMISSION;
use crate::collector::now;
use crate::randomness;
use crate::tables::{self, ClassIndex, TableFile};
use anyhow::{Context, anyhow};
use arrow_array::RecordBatch;
use hyper::StatusCode;
use hyper::header::CONTENT_TYPE;
use indicatif::ProgressBar;
use rand_chacha::ChaCha12Rng;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{Mutex, mpsc};
use undertone_device::{Record, RecordQuestion};
use undertone_learn::features::Column;
use undertone_privacy::label::Label;
use undertone_report::{ColumnKind, FeatureColumn, MEDIA_TYPE, Point, Task};

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
        let reader = Rows { task: task.clone(), index: ClassIndex::new(task.classes.iter().cloned()) };
        let (pace, ledgers) = (self.pace, self.ledgers.map(Arc::new));
        let reading = tokio::task::spawn_blocking(move || reader.read(&table, pace, &rows));
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
            };
            workers.push(tokio::spawn(worker.run(waiting.clone(), bar.clone())));
        }
        drop(waiting);
        let mut sent = Sent::default();
        for worker in workers {
            sent.add(worker.await.map_err(|_| anyhow!("a connection has failed"))??);
        }
        reading.await.map_err(|_| anyhow!("the table could not be read"))??;
        sent.seconds = began.elapsed().as_secs_f64();
        Ok(sent)
    }
}

/// Reads records from a table.
struct Rows {
    task: Task,
    index: ClassIndex,
}

impl Rows {
    fn read(
        &self,
        table: &TableFile,
        mut pace: Pace,
        rows: &mpsc::Sender<(u64, Record)>,
    ) -> anyhow::Result<()> {
        let mut first = 1;
        for batch in table.batches()? {
            let batch = batch?;
            let records = self.records(&batch, first).with_context(|| table.path().display().to_string())?;
            for (row, record) in (first..).zip(records) {
                pace.wait(1);
                // If nobody takes them any more, the workers know why.
                if rows.blocking_send((row, record)).is_err() {
                    return Ok(());
                }
            }
            first += batch.num_rows() as u64;
        }
        Ok(())
    }

    fn records(&self, batch: &RecordBatch, first: u64) -> anyhow::Result<Vec<Record>> {
        let features = tables::features(batch, &self.task.features)?;
        let responses = self.responses(batch, first)?;
        let record = |(row, response)| Record { features: super::devices::cells(&features, row), response };
        Ok(responses.into_iter().enumerate().map(record).collect())
    }

    /// What is explained: a number, or the place of a class.
    fn responses(&self, batch: &RecordBatch, first: u64) -> anyhow::Result<Vec<f64>> {
        if self.task.classes.is_empty() {
            let column = FeatureColumn { name: self.task.label.clone(), kind: ColumnKind::Number };
            let mut columns = tables::features(batch, &[column])?.columns;
            return match columns.pop() {
                Some(Column::Numbers(numbers)) => Ok(numbers),
                _ => Err(anyhow!("`{}` is no column of numbers", self.task.label)),
            };
        }
        let place = tables::label_place(batch.schema_ref(), &self.task.label)?;
        let mut labels = Vec::new();
        self.index.look_up(batch.column(place).as_ref(), first, &mut labels)?;
        Ok(labels.into_iter().map(|Label(label)| f64::from(label)).collect())
    }
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
}

impl Worker {
    async fn run(
        mut self,
        waiting: Arc<Mutex<mpsc::Receiver<(u64, Record)>>>,
        bar: ProgressBar,
    ) -> anyhow::Result<Sent> {
        let mut sent = Sent::default();
        loop {
            let next = waiting.lock().await.recv().await;
            let Some((row, record)) = next else { return Ok(sent) };
            self.answer(row, &record, &mut sent).await.with_context(|| format!("row {row}"))?;
            bar.inc(1);
        }
    }

    /// Fetches the point, answers once, and sends that. What is refused as stale is lost: another gradient would be another
    /// promise.
    async fn answer(&mut self, row: u64, record: &Record, sent: &mut Sent) -> anyhow::Result<()> {
        if self.seeded {
            self.rng.set_stream(row);
            self.rng.set_word_pos(0);
        }
        let mut device = self.ledgers.as_ref().map(|ledgers| ledgers.device(row)).transpose()?;
        if device.as_ref().is_some_and(RowDevice::is_done) {
            (sent.reports, sent.duplicates) = (sent.reports + 1, sent.duplicates + 1);
            return Ok(());
        }
        let bytes = self.client.get("/v1/point").await?;
        let parameters = self.question.model().parameters();
        let point = Point::from_bytes(&bytes, self.question.task_id(), parameters).context("the point")?;
        let report = match &mut device {
            None => self.question.answer(&point, record, self.tier, now(), &mut self.rng)?,
            Some(device) => device.answer(&point, record, now())?,
        };
        let kind = (CONTENT_TYPE.as_str(), MEDIA_TYPE);
        let admission = self.admission.as_deref().map(|token| (ADMISSION, token));
        let headers: Vec<(&str, &str)> = [kind].into_iter().chain(admission).collect();
        let answer = self.client.post("/v1/reports", &headers, report.into()).await?;
        device.map_or(Ok(()), |device| device.note(answer.status))?;
        sent.reports += 1;
        match answer.status {
            StatusCode::CREATED => sent.accepted += 1,
            StatusCode::OK => sent.duplicates += 1,
            // Also what a collector has no room for after many tries: whoever ran this again would ask everybody twice.
            _ => {
                let reason = answer.reason().unwrap_or_else(|| answer.status.to_string());
                *sent.refused.entry(reason).or_default() += 1;
            }
        }
        Ok(())
    }
}
