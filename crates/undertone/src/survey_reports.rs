//! The answers to a survey, read from their files.

use crate::progress::row_counter;
use crate::reports::ReportsFile;
use anyhow::{Context, ensure};
use std::path::Path;
use undertone_privacy::survey::{Survey, SurveyReport};
use undertone_report::Task;

/// A file or a directory of answers.
pub(crate) struct SurveyReports {
    reports: ReportsFile,
    pub(crate) survey: Survey,
}

impl SurveyReports {
    /// The answers at `path`, of people who have all chosen the task's own level.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let reports = ReportsFile::open(path)?;
        let task = reports.task();
        ensure!(
            task.asks_once(),
            "{}: these are no answers to a survey, which `undertone privatize --task` and collectors make",
            path.display()
        );
        let survey = task.survey_at(task.mechanism.level()).with_context(|| path.display().to_string())?;
        Ok(Self { reports, survey })
    }

    pub(crate) fn task(&self) -> &Task {
        self.reports.task()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> u64 {
        self.reports.rows()
    }

    /// Whether any answer was drawn from a seed.
    pub(crate) fn is_simulation(&self) -> bool {
        self.reports.marks().iter().any(|marks| marks.simulation)
    }

    /// Shows every answer, each of which the survey can have been given.
    pub(crate) fn each(
        &self,
        mut see: impl FnMut(&SurveyReport) -> anyhow::Result<()>,
    ) -> anyhow::Result<u64> {
        let (mut count, progress) = (0, row_counter("answers"));
        for block in self.reports.blocks() {
            let block = block?;
            for row in 0..block.len() {
                see(&block.survey(row, &self.survey)?)?;
            }
            count += block.len() as u64;
            progress.inc(block.len() as u64);
        }
        progress.finish_and_clear();
        Ok(count)
    }
}
