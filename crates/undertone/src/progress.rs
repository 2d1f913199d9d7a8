//! How far the work has come, for whoever is looking.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar on a terminal, and none where nobody looks.
pub(crate) fn progress_bar(steps: u64) -> ProgressBar {
    let bar = ProgressBar::new(steps);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3} %  {msg}") {
        bar.set_style(style);
    }
    bar
}

/// Counts rows on a terminal, where nobody knows how many there will be.
pub(crate) fn row_counter(what: &'static str) -> ProgressBar {
    let bar = ProgressBar::no_length().with_message(what);
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}: {human_pos} rows, {per_sec}") {
        bar.set_style(style);
    }
    bar
}

/// Counts stages on a terminal, each of which may take long.
pub(crate) fn stage_bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len}  {msg}, {elapsed}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    bar
}
