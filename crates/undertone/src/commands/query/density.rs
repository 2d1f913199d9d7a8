//! `query density`: how people are spread over a number, with a band.

use crate::band_plot::BandPlot;
use crate::exit::Usage;
use crate::survey_reports::SurveyReports;
use crate::{arguments, new_file, output};
use anyhow::anyhow;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use undertone_learn::means::{Tally, worst_answer_variance};
use undertone_learn::smooth::SmoothAnswers;
use undertone_privacy::survey::{NumberAnswering, Survey};

/// The density of a number, smoothed by a Gaussian kernel, with a band that covers it
///
/// The same answers serve every bandwidth. What the cosines cannot follow is said beside the standard error.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  undertone query density reports.parquet --bandwidth 3 --svg density.svg")]
pub(crate) struct Density {
    /// A file or a directory of answers to a survey about one number
    reports: PathBuf,
    /// The standard deviation of the kernel, in units of the number
    #[arg(long, value_name = "H", value_parser = arguments::positive)]
    bandwidth: f64,
    /// Places at which it is looked at
    #[arg(long, value_name = "N", default_value = "41")]
    places: usize,
    /// Also draw it
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Replace FILE if it exists
    #[arg(long, requires = "svg")]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Found {
    answers: u64,
    column: String,
    bandwidth: f64,
    points: Vec<Point>,
}

#[derive(Debug, Serialize)]
struct Point {
    place: f64,
    density: f64,
    standard_error: f64,
    /// What the cosines cannot follow, at most
    missed: f64,
    low: f64,
    high: f64,
}

/// Half of an interval that covers 95 times in 100, in standard errors.
const NINETY_FIVE: f64 = 1.959_963_984_540_054;

impl Density {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        if let Some(path) = &self.svg {
            new_file::refuse_existing(path, self.force)?;
        }
        if self.places < 2 {
            return Err(Usage::new(format!("--places {}: two at least are needed", self.places)).into());
        }
        let found = self.found()?;
        if let Some(path) = &self.svg {
            output::write_file(path, &picture(&found)?, self.force)?;
        }
        if self.json {
            return output::json(&found, out);
        }
        writeln!(
            out,
            "{} people; the density of {}, smoothed over {}",
            found.answers, found.column, found.bandwidth
        )?;
        for Point { place, density, low, high, .. } in &found.points {
            writeln!(out, "  {place:>12.4}  {density:>12.6}   from {low:>12.6} to {high:>12.6}")?;
        }
        Ok(())
    }

    fn found(&self) -> anyhow::Result<Found> {
        let reports = SurveyReports::open(&self.reports)?;
        let Survey::Cosines { basis, answering, .. } = &reports.survey else {
            return Err(anyhow!("the survey is not about numbers; `query marginal` asks about categories"));
        };
        if basis.axes() != 1 {
            return Err(anyhow!(
                "the survey is about {} numbers together; a density is of one",
                basis.axes()
            ));
        }
        let worst = worst(answering)?;
        let mut tally = Tally::new(basis.functions() as usize, 1.0)?;
        let answers = reports
            .each(|report| Ok(tally.observe(report.question as u32, reports.survey.number_of(report)?)?))?;
        let smooth = SmoothAnswers::new(basis.clone(), tally.means_as_spread(worst))?;
        let point = |(place, answer): (f64, undertone_learn::smooth::Answer)| {
            let (low, high) = answer.interval(NINETY_FIVE);
            Point {
                place,
                density: answer.value,
                standard_error: answer.standard_error,
                missed: answer.missed,
                low,
                high,
            }
        };
        let curve = smooth.density_curve(self.bandwidth, self.places)?;
        Ok(Found {
            answers,
            column: reports.task().features[0].name.clone(),
            bandwidth: self.bandwidth,
            points: curve.into_iter().map(point).collect(),
        })
    }
}

/// The largest variance of one answer.
fn worst(answering: &NumberAnswering) -> anyhow::Result<f64> {
    let bounds = answering.bounds();
    Ok(match answering {
        NumberAnswering::Mechanism(mechanism) => worst_answer_variance(mechanism, bounds),
        NumberAnswering::RejectionBit(mechanism) => worst_answer_variance(mechanism, bounds),
        NumberAnswering::GenProt(mechanism) => worst_answer_variance(mechanism, bounds),
    }?)
}

fn picture(found: &Found) -> anyhow::Result<String> {
    BandPlot {
        title: format!("Density of {}, smoothed over {}", found.column, found.bandwidth),
        across: found.column.clone(),
        up: "density".into(),
        points: found
            .points
            .iter()
            .map(|point| (point.place, point.low, point.density, point.high))
            .collect(),
    }
    .svg()
}
