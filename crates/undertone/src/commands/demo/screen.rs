//! What the page shows, on the terminal, while reports come in.

use super::story::{bars, thousands};
use crate::bar_chart;
use crate::collector::Status;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal, Write};

/// Heights of a curve, an eighth apart.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A picture that is drawn again and again on a terminal, and a line now and then elsewhere.
pub(super) enum Screen {
    Picture(ProgressBar),
    /// The reports that the next line waits for
    Lines {
        next: u64,
        apart: u64,
    },
    Nothing,
}

impl Screen {
    pub(super) fn new(devices: u64, quiet: bool) -> Self {
        if quiet {
            return Self::Nothing;
        }
        if !(io::stdout().is_terminal() && io::stderr().is_terminal()) {
            return Self::Lines { next: devices.div_ceil(5), apart: devices.div_ceil(5) };
        }
        let bar = ProgressBar::new(devices);
        if let Ok(style) = ProgressStyle::with_template("  {bar:50} {human_pos} reports\n{msg}") {
            bar.set_style(style);
        }
        Self::Picture(bar)
    }

    /// Shows where the collector is.
    pub(super) fn draw(&mut self, status: &Status, truth: &[f64], out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Picture(bar) => {
                bar.set_position(status.reports);
                bar.set_message(picture(status, truth)?);
                Ok(())
            }
            Self::Lines { next, apart } if status.reports >= *next => {
                *next = (status.reports / *apart + 1) * *apart;
                line(status, out)
            }
            Self::Lines { .. } | Self::Nothing => Ok(()),
        }
    }

    /// Takes the picture away, for the story goes on; a line stays.
    pub(super) fn end(self, status: &Status, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Picture(bar) => {
                bar.finish_and_clear();
                line(status, out)
            }
            Self::Lines { .. } | Self::Nothing => Ok(()),
        }
    }
}

fn picture(status: &Status, truth: &[f64]) -> io::Result<String> {
    let mut text = Vec::new();
    let bars = bars(status, truth);
    if !bars.is_empty() {
        bar_chart::draw(&bars, &mut text)?;
    }
    if let Some(last) = status.curve.iter().flatten().last() {
        let percent = 100.0 * last.accuracy;
        writeln!(text, "\n  right about {percent:.0} % of those who come next   {}", curve(status))?;
    }
    Ok(String::from_utf8_lossy(&text).trim_end().to_owned())
}

fn line(status: &Status, out: &mut impl Write) -> io::Result<()> {
    let widest =
        status.shares.iter().flatten().map(|share| (share.high - share.low) / 2.0).fold(0.0, f64::max);
    let (reports, points) = (thousands(status.reports), 100.0 * widest);
    write!(out, "  {reports:>7} reports: every share to within ± {points:.1} points")?;
    if let Some(last) = status.curve.iter().flatten().last() {
        let (right, margin) = (100.0 * last.accuracy, 50.0 * (last.high - last.low));
        write!(out, ", the model is right about {right:.1} % ± {margin:.1}   {}", curve(status))?;
    }
    writeln!(out)?;
    out.flush()
}

/// The accuracy of one model after the other, from nothing to everything.
fn curve(status: &Status) -> String {
    let height = |accuracy: f64| HEIGHTS[((accuracy * 8.0) as usize).min(7)];
    status.curve.iter().flatten().map(|point| height(point.accuracy)).collect()
}
