//! Charts: a table against ε, and what turning a knob does.

use super::figure::Turned;
use super::setting::Set;
use super::table::{Mean, Table};
use crate::category_plot::{CategoryPlot, Series};

/// A value as it is drawn: per cent, or as it is.
fn drawn(set: Set, value: f64) -> f64 {
    if set.is_error() { value } else { 100.0 * value }
}

/// A mean with its bar of two standard errors.
fn point(place: usize, mean: &Mean) -> (usize, f64, f64) {
    let set = mean.setting.set;
    (place, drawn(set, mean.figure.value), drawn(set, 2.0 * mean.error()))
}

/// A line for each method, and the paper's beside them.
pub(super) fn of_table(table: &Table) -> anyhow::Result<String> {
    let published = table.published().map(|(name, values)| Series {
        name: name.to_owned(),
        points: values
            .iter()
            .enumerate()
            .filter_map(|(place, value)| Some((place, drawn(table.set, (*value)?), 0.0)))
            .collect(),
        dashed: true,
    });
    let own = table.lines.iter().map(|line| Series {
        name: line.name.clone(),
        points: line
            .cells
            .iter()
            .enumerate()
            .filter_map(|(place, mean)| Some(point(place, mean.as_ref()?)))
            .collect(),
        dashed: false,
    });
    CategoryPlot {
        title: table.title(),
        x_name: "ε".to_owned(),
        y_name: table.set.measure().to_owned(),
        categories: table.epsilons.iter().map(ToString::to_string).collect(),
        series: own.chain(published).filter(|series| !series.points.is_empty()).collect(),
    }
    .svg()
}

/// The line of a knob.
pub(super) fn of_knob(turned: &Turned) -> anyhow::Result<String> {
    let setting = &turned.notches[0].mean.setting;
    let network = setting.network.map_or_else(String::new, |network| format!(", {network}"));
    let (people, epochs) = (setting.people, setting.epochs.unwrap_or(0));
    let seeds = setting.purpose().name();
    CategoryPlot {
        title: format!(
            "{}, ε = {}, {people} people{network}, {epochs} epochs",
            setting.set.name(),
            setting.epsilon
        ),
        x_name: turned.knob.words().to_owned(),
        y_name: setting.set.measure().to_owned(),
        categories: turned.notches.iter().map(|notch| notch.label(turned.knob)).collect(),
        series: vec![Series {
            name: format!("{seeds} seeds"),
            points: turned
                .notches
                .iter()
                .enumerate()
                .map(|(place, notch)| point(place, &notch.mean))
                .collect(),
            dashed: false,
        }],
    }
    .svg()
}
