//! An evaluation for a terminal.

use super::{Context, MOST_SHOWN, Origin, notable};
use std::io::{self, Write};
use undertone_learn::evaluation::{Figure, Figures};

pub(super) fn write(figures: &Figures, context: &Context<'_>, out: &mut impl Write) -> io::Result<()> {
    let rows = figures.rows;
    match context.origin {
        Origin::Reports { promise, .. } => {
            writeln!(out, "{} on {rows} reports of {}, debiased, {promise}\n", context.model, context.data)?;
        }
        Origin::Labels => writeln!(out, "{} on {rows} true labels of {}\n", context.model, context.data)?,
    }
    for (name, value, interval) in headline(figures).into_iter().chain(context.coverage_lines()) {
        writeln!(out, "{name:<24}{value:>20}   {interval}")?;
    }
    let places = notable(figures);
    let name = |place: usize| context.classes.get(place).map_or("", String::as_str);
    let width = places.iter().map(|&place| name(place).chars().count()).max().unwrap_or(0).clamp(5, 30);
    writeln!(
        out,
        "\n{:<width$}{:>19}{:>12}{:>19}{:>19}",
        "class", "share", "predicted", "precision", "recall"
    )?;
    for place in places {
        let class = &figures.classes[place];
        let short: String = name(place).chars().take(width).collect();
        let [share, precision, recall] =
            [Some(class.share), class.precision, class.recall].map(percent_or_dash);
        writeln!(
            out,
            "{short:<width$}{share:>19}{:>12}{precision:>19}{recall:>19}",
            format!("{:.2} %", 100.0 * class.predicted)
        )?;
    }
    if figures.classes.len() > MOST_SHOWN {
        writeln!(out, "the {MOST_SHOWN} largest of {}; --json has all", figures.classes.len())?;
    }
    writeln!(out, "\n{}", context.origin.note())
}

/// The name, the value with its margin, and the interval of the figures that come first.
pub(super) fn headline(figures: &Figures) -> Vec<(&'static str, String, String)> {
    let mut list = vec![("accuracy", percent(figures.accuracy), percent_interval(figures.accuracy))];
    if let Some(top) = figures.top_5_accuracy {
        list.push(("among the five likeliest", percent(top), percent_interval(top)));
    }
    let number = |figure: Figure| format!("{:.4} ± {:.4}", figure.value, figure.margin());
    let interval = |figure: Figure| {
        let (low, high) = figure.interval();
        format!("{low:.4} to {high:.4}")
    };
    for (name, figure) in [
        ("log loss", figures.log_loss),
        ("Brier score", figures.brier),
        ("nats a report explains", figures.report_log_likelihood),
    ] {
        list.push((name, number(figure), interval(figure)));
    }
    let noise = 100.0 * figures.expected_calibration_error_noise;
    list.push((
        "calibration error",
        format!("{:.2} %", 100.0 * figures.expected_calibration_error.value),
        format!("noise alone would show {noise:.2} %"),
    ));
    list
}

/// As a percentage, with half the width of its interval.
pub(super) fn percent(figure: Figure) -> String {
    format!("{:.2} % ± {:.2}", 100.0 * figure.value, 100.0 * figure.margin())
}

fn percent_interval(figure: Figure) -> String {
    let (low, high) = figure.interval();
    format!("{:.2} % to {:.2} %", 100.0 * low, 100.0 * high)
}

pub(super) fn percent_or_dash(figure: Option<Figure>) -> String {
    figure.map_or_else(|| "–".to_string(), percent)
}
