//! A ledger for each row of a table, so that its device answers once, however often it is asked.

use anyhow::Context;
use hyper::StatusCode;
use std::fs;
use std::path::{Path, PathBuf};
use tokio::task::block_in_place;
use undertone_device::{Device, Record, RecordQuestion, State};
use undertone_privacy::Guarantee;
use undertone_report::{Point, Task};

/// The ledgers of a folder.
pub(super) struct Ledgers {
    folder: PathBuf,
    task: Task,
    tier: u8,
    /// What each device may give away: one answer of this tier
    cap: Guarantee,
}

/// The device of a row.
pub(super) struct RowDevice<'a> {
    ledgers: &'a Ledgers,
    device: Device,
}

impl Ledgers {
    pub(super) fn in_folder(folder: &Path, task: &Task, tier: u8) -> anyhow::Result<Self> {
        let cap = RecordQuestion::new(task)?.price(tier).context("--tier")?;
        fs::create_dir_all(folder).with_context(|| format!("--ledgers {}", folder.display()))?;
        Ok(Self { folder: folder.to_owned(), task: task.clone(), tier, cap })
    }

    /// The device of a row, which nobody else has at the same time.
    pub(super) fn device(&self, row: u64) -> anyhow::Result<RowDevice<'_>> {
        let path = self.folder.join(format!("row-{row}"));
        Ok(RowDevice { ledgers: self, device: block_in_place(|| Device::open(&path, self.cap))? })
    }
}

impl RowDevice<'_> {
    /// Whether the collector has its answer already.
    pub(super) fn is_done(&self) -> bool {
        self.device.state(self.ledgers.task.id()) == Some(State::Acknowledged)
    }

    /// What the row has said, or says now. It is on the disk when this returns.
    pub(super) fn answer(&mut self, point: &Point, record: &Record, now: u64) -> anyhow::Result<Vec<u8>> {
        let Ledgers { task, tier, .. } = self.ledgers;
        Ok(block_in_place(|| self.device.answer_record(task, point, record, *tier, now))?.into_bytes())
    }

    /// Notes what the collector said to it. What is about the moment only leaves the answer to be sent again.
    pub(super) fn note(mut self, status: StatusCode) -> anyhow::Result<()> {
        let state = match status {
            StatusCode::CREATED | StatusCode::OK => State::Acknowledged,
            StatusCode::UNPROCESSABLE_ENTITY => State::Refused,
            _ => return Ok(()),
        };
        Ok(block_in_place(|| self.device.note(self.ledgers.task.id(), state))?)
    }
}
