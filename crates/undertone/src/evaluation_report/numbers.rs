//! An evaluation of predicted numbers: a table, JSON, or a page.

use super::json::entry;
use super::page::{cards_of, head_of, promised};
use super::svg::Picture;
use super::{Context, Origin, Shown};
use crate::digits::digits;
use crate::output;
use crate::promise::Promise;
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::io::Write;
use undertone_learn::evaluation::{Figure, NumberBin, NumberFigures, Ranged};
use undertone_report::NumberWords;

const SIDE: f64 = 360.0;
const LEFT: f64 = 92.0;
const TOP: f64 = 14.0;
const LARGEST_POINT: f64 = 13.0;

/// Prints the evaluation, and writes the page if one was asked for.
pub(crate) fn show_numbers(
    figures: &NumberFigures,
    number: NumberWords,
    context: &Context<'_>,
    shown: &Shown,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    if let Some(path) = &shown.report {
        output::write_file(path, &html(figures, number, context), shown.force)?;
    }
    if shown.json {
        return output::json(&Flat { figures, context }, out);
    }
    write(figures, context, out)?;
    if let Some(path) = &shown.report {
        writeln!(out, "\nShown in {}", path.display())?;
    }
    Ok(())
}

/// The name, the value with its margin, and the interval of each figure.
fn headline(figures: &NumberFigures) -> Vec<(&'static str, String, String)> {
    let [most, least] = if figures.hidden > 0.0 { ["at most ", "at least "] } else { [""; 2] };
    let ranged = |of: Ranged, side: &str| {
        let interval = format!("{} to {}", digits(of.low), digits(of.high));
        (format!("{side}{} (se {})", digits(of.value), digits(of.standard_error)), interval)
    };
    let plain = |of: Figure| {
        let (low, high) = of.interval();
        ranged(Ranged { value: of.value, standard_error: of.standard_error, low, high }, "")
    };
    let line = |name, (value, interval)| (name, value, interval);
    vec![
        line("root mean square error", ranged(figures.rmse, most)),
        line("r²", ranged(figures.r2, least)),
        line("variance explained", plain(figures.explained)),
        line("predicted beyond", plain(figures.bias)),
        line("mean of the numbers", plain(figures.mean)),
    ]
}

fn write(figures: &NumberFigures, context: &Context<'_>, out: &mut impl Write) -> std::io::Result<()> {
    let rows = figures.rows;
    match context.origin {
        Origin::Reports { promise, .. } => {
            writeln!(out, "{} on {rows} reports of {}, debiased, {promise}\n", context.model, context.data)?;
        }
        Origin::Labels => writeln!(out, "{} on {rows} true numbers of {}\n", context.model, context.data)?,
    }
    for (name, value, interval) in headline(figures).into_iter().chain(context.coverage_lines()) {
        writeln!(out, "{name:<24}{value:>34}   {interval}")?;
    }
    writeln!(out, "\n{}", note(figures, context))
}

/// What to keep in mind about the figures.
fn note(figures: &NumberFigures, context: &Context<'_>) -> String {
    let note = context.origin.note();
    if figures.hidden > 0.0 {
        return format!(
            "{note} The mechanism hides how far the numbers lie from their mean: the error is at most, and r² at least, what is said, and \
             the intervals hold whatever is hidden. What is explained is unbiased all the same. Reports by laplace, piecewise or \
             hybrid-best above ε = 0.61 hide nothing."
        );
    }
    note.to_owned()
}

/// All figures in one flat object.
struct Flat<'a> {
    figures: &'a NumberFigures,
    context: &'a Context<'a>,
}

impl Serialize for Flat<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { figures, context } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("rows", &figures.rows)?;
        map.serialize_entry("from", context.origin.name())?;
        if let Origin::Reports { promise, simulation, .. } = context.origin {
            map.serialize_entry("promise", &Promise::from(promise))?;
            map.serialize_entry("simulation", &simulation)?;
        }
        ranged(&mut map, "rmse", figures.rmse)?;
        ranged(&mut map, "r2", figures.r2)?;
        entry(&mut map, "mse", figures.mse)?;
        if let Some(coverage) = &context.coverage {
            coverage.serialize(&mut map)?;
        }
        entry(&mut map, "explained", figures.explained)?;
        entry(&mut map, "bias", figures.bias)?;
        entry(&mut map, "mean", figures.mean)?;
        map.serialize_entry("hidden_variance", &figures.hidden)?;
        map.serialize_entry("calibration", &figures.calibration.iter().map(FlatBin).collect::<Vec<_>>())?;
        map.end()
    }
}

/// `name`, `name_standard_error` and `name_interval`.
fn ranged<M: SerializeMap>(map: &mut M, name: &str, figure: Ranged) -> Result<(), M::Error> {
    map.serialize_entry(name, &figure.value)?;
    map.serialize_entry(&format!("{name}_standard_error"), &figure.standard_error)?;
    map.serialize_entry(&format!("{name}_interval"), &[figure.low, figure.high])
}

struct FlatBin<'a>(&'a NumberBin);

impl Serialize for FlatBin<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let NumberBin { rows, predicted, mean } = *self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("rows", &rows)?;
        map.serialize_entry("predicted", &predicted)?;
        entry(&mut map, "mean", mean)?;
        map.end()
    }
}

fn html(figures: &NumberFigures, number: NumberWords, context: &Context<'_>) -> String {
    let what = match context.origin {
        Origin::Reports { .. } => "reports",
        Origin::Labels => "true numbers",
    };
    let sections = [
        head_of(context, figures.rows, what, &note(figures, context)),
        cards_of(&[headline(figures), context.coverage_lines()].concat()),
        promised(context.origin),
        format!(
            "<h2>Is it right on average?</h2>\n<p>People are grouped by what is predicted of them. A calibrated model lies on the \
             dashed line; bars are 95 % intervals of the mean of their numbers, areas are numbers of people.</p>\n{}",
            svg(&figures.calibration, number)
        ),
        "</body>\n</html>\n".to_string(),
    ];
    sections.concat()
}

/// The mean of people's numbers against what is predicted of them.
fn svg(bins: &[NumberBin], NumberWords { low, high }: NumberWords) -> String {
    let mut picture = Picture::new("Predictions against numbers", LEFT + SIDE + 26.0, TOP + SIDE + 52.0);
    let share = |value: f64| (value - low) / (high - low);
    let x = |value: f64| LEFT + SIDE * share(value);
    let y = |value: f64| TOP + SIDE * (1.0 - share(value).clamp(-0.02, 1.02));
    for tick in [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| low + share * (high - low)) {
        picture.line("grid", [x(tick), y(low)], [x(tick), y(high)]);
        picture.line("grid", [x(low), y(tick)], [x(high), y(tick)]);
        picture.text("middle", [x(tick), y(low) + 18.0], &digits(tick));
        picture.text("end", [x(low) - 7.0, y(tick) + 4.0], &digits(tick));
    }
    picture.line("diagonal", [x(low), y(low)], [x(high), y(high)]);
    let rows: u64 = bins.iter().map(|bin| bin.rows).sum();
    for NumberBin { rows: here, predicted, mean } in bins {
        let (least, most) = mean.interval();
        let at = x(*predicted);
        if least.is_finite() {
            picture.line("bar", [at, y(least)], [at, y(most)]);
        }
        let radius = (LARGEST_POINT * (*here as f64 / rows as f64).sqrt()).max(2.5);
        let words = [*predicted, mean.value, mean.margin()].map(digits);
        let title = format!("{here} people, {} predicted, {} ± {} on average", words[0], words[1], words[2]);
        picture.circle("point", [at, y(mean.value)], radius, &title);
    }
    picture.text("middle axis", [x(0.5 * (low + high)), y(low) + 42.0], "what is predicted");
    picture.upright("middle axis", [14.0, y(0.5 * (low + high))], "the mean of the numbers");
    picture.finish()
}
