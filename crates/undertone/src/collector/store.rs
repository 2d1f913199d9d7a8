//! Where reports are kept: in files of this machine, or in a database that several collectors share.

use super::config::{Config, StoreKind};
use anyhow::Context;
use undertone_collect::{Log, SegmentLog};
use undertone_report::ReportFormat;

/// Opens the log of a task, or begins it.
pub(super) fn open(config: &Config, format: &ReportFormat) -> anyhow::Result<Box<dyn Log>> {
    Ok(match config.store.kind {
        StoreKind::Files => Box::new(files(config, format)?),
        StoreKind::Postgres => postgres(format)?,
    })
}

fn files(config: &Config, format: &ReportFormat) -> anyhow::Result<SegmentLog> {
    let directory = config.task_directory(format.task_id());
    let options = config.segments(format.collection());
    let log = SegmentLog::open(&directory.join("log"), *format.task_id().as_bytes(), options);
    let log = log.with_context(|| format!("the log in {}", directory.display()))?;
    if let Some(torn) = log.recovered() {
        tracing::warn!(
            segment = %torn.segment.display(), offset = torn.offset, kept = %torn.kept.display(),
            "what was written when the collector was last stopped was not complete, and had not been acknowledged"
        );
    }
    Ok(log)
}

#[cfg(feature = "postgres")]
fn postgres(format: &ReportFormat) -> anyhow::Result<Box<dyn Log>> {
    /// The environment variable that says how to reach the database: it may hold a password.
    const DATABASE: &str = "UNDERTONE_DATABASE";
    let settings = std::env::var(DATABASE).with_context(|| {
        format!("the store is PostgreSQL: the environment's {DATABASE} has to say which, such as `host=localhost user=undertone dbname=reports`")
    })?;
    let log = undertone_collect::PostgresLog::connect(&settings, *format.task_id().as_bytes());
    Ok(Box::new(log.with_context(|| format!("the database that {DATABASE} names"))?))
}

#[cfg(not(feature = "postgres"))]
fn postgres(_: &ReportFormat) -> anyhow::Result<Box<dyn Log>> {
    anyhow::bail!("this program was built without PostgreSQL; build it with the feature `postgres`")
}
