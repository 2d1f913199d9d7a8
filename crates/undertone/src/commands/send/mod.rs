//! `send`: act as devices against a collector, one report for each row of a table.

mod devices;
mod ledgers;
mod records;

pub(crate) use devices::Devices;

use crate::arguments;
use crate::collector::client::{Address, Answer, Client, batch_headers};
use crate::collector::now;
use crate::commands::privatize::SIMULATION;
use crate::commands::task::document;
use crate::output;
use crate::progress::progress_bar;
use crate::tables::TableFile;
use anyhow::{Context, anyhow, bail, ensure};
use hyper::body::Bytes;
use indicatif::ProgressBar;
use ledgers::Ledgers;
use records::RecordSender;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, mpsc};
use undertone_report::{Task, batch};

/// Act as devices against a collector: one report for each row of a table
///
/// The task is fetched from the collector and checked. Each row's label is randomized here, as its device would do it;
/// what is sent is the report and the public columns that the task names; where it asks for whole records, a randomized gradient
/// of each at the point where the learner stands, one request each. An answer that got lost is asked for again with
/// the same bytes, so that nothing is counted twice; but whoever runs this twice without --ledgers asks everybody twice, which is worth 2ε.
/// Everybody is asked at once, which devices should not do: see the crate of devices.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  undertone send data/nursery.csv.gz --to http://127.0.0.1:8080")]
pub(crate) struct Send {
    /// CSV (also .gz), Parquet or IDX, with the label and the public columns of the task
    table: PathBuf,
    /// Where the collector is
    #[arg(long, value_name = "URL")]
    to: String,
    /// The task that was agreed on, as TOML or JSON: a collector that asks for anything else gets no answer. Without it the
    /// collector decides what is public
    #[arg(long, value_name = "FILE")]
    task: Option<PathBuf>,
    /// A bearer token of the role `submit`
    #[arg(long, value_name = "TOKEN", env = "UNDERTONE_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// A token of admission that all reports go with
    #[arg(long, value_name = "TOKEN", env = "UNDERTONE_ADMISSION", hide_env_values = true)]
    admission: Option<String>,
    /// The certificate to trust, as a PEM file, if the machine does not trust it already
    #[arg(long, value_name = "PEM")]
    ca: Option<PathBuf>,
    /// The ε that everybody chooses, as its place among those of the task
    #[arg(long, value_name = "N", default_value_t = 0)]
    tier: u8,
    /// Connections at a time
    #[arg(long, value_name = "N", value_parser = arguments::count, default_value = "8")]
    concurrency: NonZeroU32,
    /// Reports of one request
    #[arg(long, value_name = "N", value_parser = arguments::count, default_value = "100")]
    batch: NonZeroU32,
    /// Reports a second at most
    #[arg(long, value_name = "N", value_parser = arguments::count)]
    rate: Option<NonZeroU32>,
    /// Simulate: draw from a seed, without privacy
    #[arg(long, value_name = "SEED", value_parser = arguments::seed)]
    seed: Option<u64>,
    /// A folder with a ledger for each row, made if it is not there: who was asked before repeats the same bytes, however
    /// often this is run, and nobody pays for more than one answer. For tasks about whole records
    #[arg(long, value_name = "FOLDER", conflicts_with = "seed")]
    ledgers: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What became of everything that was sent.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Sent {
    pub(crate) reports: u64,
    pub(crate) accepted: u64,
    pub(crate) duplicates: u64,
    /// By reason
    pub(crate) refused: BTreeMap<String, u64>,
    /// Rows that were not asked, because the collector had stopped answering
    pub(crate) unasked: u64,
    pub(crate) seconds: f64,
    /// Whether the reports were drawn from a seed, hence without privacy
    pub(crate) simulation: bool,
}

impl Send {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let address = Address::new(&self.to, self.ca.as_deref(), self.token.clone())?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let sent = Sent { simulation: self.seed.is_some(), ..runtime.block_on(self.send(address))? };
        if self.json { output::json(&sent, out) } else { sent.tell(out) }?;
        ensure!(
            sent.unasked == 0,
            "the collector does not answer any more, and {} rows were not asked",
            sent.unasked
        );
        Ok(())
    }

    async fn send(&self, address: Address) -> anyhow::Result<Sent> {
        let task = Client::new(address.clone()).get("/v1/task").await?;
        let task = Task::from_json(std::str::from_utf8(&task)?).context("the collector's task")?;
        if let Some(path) = &self.task {
            let agreed = document::read(path)?;
            ensure!(
                agreed.id() == task.id(),
                "the collector asks for the task {}, and {} has {}: nothing was sent",
                task.id(),
                path.display(),
                agreed.id()
            );
        }
        let table = if task.asks_for_records() {
            // What is in a record is nobody's to know, and so it decides nothing here.
            TableFile::open_unchecked(&self.table)?
        } else {
            TableFile::open_as(&self.table, &task.features)?
        };
        if self.seed.is_some() {
            // Should the standard error be closed, the collector's operator has been told by whoever gave the seed.
            drop(writeln!(
                std::io::stderr(),
                "warning: a simulation: whoever knows the seed knows the {}s",
                task.secret()
            ));
        }
        let bar = progress_bar(table.rows());
        if task.asks_for_records() {
            let sender = RecordSender {
                address,
                admission: self.admission.clone(),
                concurrency: self.concurrency.get() as usize,
                tier: self.tier,
                seed: self.seed,
                pace: Pace { began: Instant::now(), rate: self.rate, made: 0 },
                ledgers: self
                    .ledgers
                    .as_deref()
                    .map(|folder| Ledgers::in_folder(folder, &task, self.tier))
                    .transpose()?,
            };
            let sent = sender.send(&task, table, &bar).await;
            bar.finish_and_clear();
            return sent;
        }
        ensure!(
            self.ledgers.is_none(),
            "--ledgers is for tasks about whole records, and this one is about labels"
        );
        let devices = Devices::new(&task, self.tier, self.seed)?;
        let sender = Sender {
            address,
            admission: self.admission.clone(),
            concurrency: self.concurrency.get() as usize,
            batch: self.batch.get() as usize,
            rate: self.rate,
        };
        let sent = sender.send(table, devices, &bar).await;
        bar.finish_and_clear();
        sent
    }
}

/// Sends the reports of a table.
pub(crate) struct Sender {
    pub(crate) address: Address,
    pub(crate) admission: Option<String>,
    /// Connections
    pub(crate) concurrency: usize,
    /// Reports of a request
    pub(crate) batch: usize,
    /// Reports a second at most
    pub(crate) rate: Option<NonZeroU32>,
}

impl Sender {
    /// Lets every row of a table report.
    pub(crate) async fn send(
        &self,
        table: TableFile,
        devices: Devices,
        bar: &ProgressBar,
    ) -> anyhow::Result<Sent> {
        let began = Instant::now();
        let (requests, waiting) = mpsc::channel::<(usize, Bytes)>(2 * self.concurrency);
        let waiting = Arc::new(Mutex::new(waiting));
        let (size, pace) = (self.batch, Pace { began, rate: self.rate, made: 0 });
        let making = tokio::task::spawn_blocking(move || make(&table, devices, size, pace, &requests));
        let workers = (0..self.concurrency).map(|_| {
            let (waiting, bar) = (waiting.clone(), bar.clone());
            let worker =
                Worker { client: Client::new(self.address.clone()), admission: self.admission.clone() };
            tokio::spawn(worker.run(waiting, bar))
        });
        let workers: Vec<_> = workers.collect();
        drop(waiting);
        let mut sent = Sent::default();
        for worker in workers {
            sent.add(worker.await.map_err(|_| anyhow!("a connection has failed"))??);
        }
        making.await.map_err(|_| anyhow!("the devices have failed"))??;
        sent.seconds = began.elapsed().as_secs_f64();
        Ok(sent)
    }
}

/// Lets nobody report too soon.
struct Pace {
    began: Instant,
    rate: Option<NonZeroU32>,
    made: u64,
}

impl Pace {
    /// Waits until so many more may report.
    fn wait(&mut self, reports: usize) {
        if let Some(rate) = self.rate {
            let due = Duration::from_secs_f64(self.made as f64 / f64::from(rate.get()));
            std::thread::sleep(due.saturating_sub(self.began.elapsed()));
        }
        self.made += reports as u64;
    }
}

/// Lets every device answer, and packs what they say.
fn make(
    table: &TableFile,
    mut devices: Devices,
    size: usize,
    mut pace: Pace,
    requests: &mpsc::Sender<(usize, Bytes)>,
) -> anyhow::Result<()> {
    let mut first = 1;
    for rows in table.batches()? {
        let rows = rows?;
        for start in (0..rows.num_rows()).step_by(size) {
            let some = rows.slice(start, size.min(rows.num_rows() - start));
            // A report is dated when it is sent.
            pace.wait(some.num_rows());
            let reports = devices.answer(table, &some, first, now())?;
            // If nobody takes them any more, the workers know why.
            if requests.blocking_send((reports.len(), batch::join(&reports).into())).is_err() {
                return Ok(());
            }
            first += reports.len() as u64;
        }
    }
    Ok(())
}

struct Worker {
    client: Client,
    admission: Option<String>,
}

impl Worker {
    async fn run(
        mut self,
        waiting: Arc<Mutex<mpsc::Receiver<(usize, Bytes)>>>,
        bar: ProgressBar,
    ) -> anyhow::Result<Sent> {
        let mut sent = Sent::default();
        loop {
            let next = waiting.lock().await.recv().await;
            let Some((reports, body)) = next else { return Ok(sent) };
            let answer =
                self.client.post("/v1/batches", &batch_headers(self.admission.as_deref()), body).await?;
            sent.note(reports, &answer)?;
            bar.inc(reports as u64);
        }
    }
}

impl Sent {
    fn note(&mut self, reports: usize, answer: &Answer) -> anyhow::Result<()> {
        if !answer.status.is_success() {
            bail!("a batch was refused: {}", answer.explain());
        }
        let receipt: serde_json::Value =
            serde_json::from_slice(&answer.body).context("the collector's answer")?;
        let count = |key: &str| receipt[key].as_u64().with_context(|| format!("the answer has no `{key}`"));
        self.reports += reports as u64;
        self.accepted += count("accepted")?;
        self.duplicates += count("duplicates")?;
        for refusal in receipt["refused"].as_array().into_iter().flatten() {
            self.refuse(refusal["reason"].as_str().unwrap_or("unknown").to_owned());
        }
        Ok(())
    }

    fn refuse(&mut self, reason: String) {
        *self.refused.entry(reason).or_default() += 1;
    }

    fn add(&mut self, other: Self) {
        self.reports += other.reports;
        self.accepted += other.accepted;
        self.duplicates += other.duplicates;
        for (reason, count) in other.refused {
            *self.refused.entry(reason).or_default() += count;
        }
    }

    fn tell(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let rate = self.reports as f64 / self.seconds;
        writeln!(out, "{} reports sent in {:.1} s ({rate:.0} a second)", self.reports, self.seconds)?;
        writeln!(out, "  {} accepted, {} there before", self.accepted, self.duplicates)?;
        for (reason, count) in &self.refused {
            writeln!(out, "  {count} refused: {reason}")?;
        }
        if self.unasked > 0 {
            writeln!(out, "  {} not asked", self.unasked)?;
        }
        if self.simulation {
            writeln!(out, "{SIMULATION}")?;
        }
        Ok(())
    }
}
