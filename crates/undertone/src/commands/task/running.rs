//! When and how a collector runs a task: the words that every kind of task shares.

use super::civil_time::moment;
use anyhow::Context;
use std::time::{SystemTime, UNIX_EPOCH};
use undertone_report::{Collection, LearnerWords};

#[derive(clap::Args, Debug)]
pub(super) struct Running {
    /// What people call the collection; the column of the label by default
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Nothing is shown before so many reports are in
    #[arg(long, value_name = "N", default_value = "100")]
    min_reports: u64,
    /// When it opens: a date, or seconds of the Unix epoch; now by default
    #[arg(long, value_name = "DATE", value_parser = moment)]
    opens: Option<u64>,
    /// When it closes: a date, or seconds of the Unix epoch
    #[arg(long, value_name = "DATE", value_parser = moment, conflicts_with = "days")]
    closes: Option<u64>,
    /// For how many days it is open
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), default_value = "30")]
    days: u32,
    /// Seconds of the unit in which reports are dated
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..), default_value = "3600")]
    time_precision: u64,
    /// Seconds after which a report is too old
    #[arg(long, value_name = "SECONDS", default_value = "86400")]
    expiry_age: u64,
    /// Seconds that a device's clock may be ahead
    #[arg(long, value_name = "SECONDS", default_value = "300")]
    clock_skew: u64,
    /// Reports need a token of the collector's
    #[arg(long)]
    admission: bool,
}

impl Running {
    /// A collection of this learner and these tiers, without an encoding yet.
    pub(super) fn collection(
        &self,
        label: &str,
        learner: LearnerWords,
        tiers: Vec<f64>,
    ) -> anyhow::Result<Collection> {
        let unit = self.time_precision;
        let opens = if let Some(opens) = self.opens {
            opens
        } else {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).context("the clock is before 1970")?;
            now.as_secs() / unit * unit
        };
        // As many units as the days take
        let open_for = (u64::from(self.days) * 86_400).div_ceil(unit).saturating_mul(unit);
        Ok(Collection {
            name: self.name.clone().unwrap_or_else(|| label.to_owned()),
            min_reports: self.min_reports,
            opens,
            closes: self.closes.unwrap_or(opens.saturating_add(open_for)),
            time_precision: unit,
            expiry_age: self.expiry_age,
            clock_skew: self.clock_skew,
            learner,
            encoding: Vec::new(),
            tiers,
            admission: self.admission,
        })
    }
}
