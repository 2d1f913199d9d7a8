//! The share of each class with its interval, beside the share that the model predicts.

use super::Context;
use super::svg::{Picture, escape, shortened};
use super::text::{percent, percent_or_dash};
use std::fmt::Write;
use undertone_learn::evaluation::Figures;

const WIDTH: f64 = 420.0;
const ROW: f64 = 24.0;
/// Where the axis may end: at four round steps.
const ENDS: [f64; 12] = [0.004, 0.008, 0.02, 0.04, 0.08, 0.12, 0.2, 0.4, 0.6, 0.8, 1.0, 2.0];

pub(super) fn svg(figures: &Figures, context: &Context<'_>, places: &[usize]) -> String {
    let letters =
        places.iter().map(|&place| context.classes[place].chars().count()).max().unwrap_or(1).min(20);
    let left = 14.0 + 7.0 * letters as f64;
    let highest = places.iter().map(|&place| {
        let class = &figures.classes[place];
        class.share.value.max(class.share.interval().1).max(class.predicted)
    });
    let highest = highest.fold(0.0, f64::max);
    let reach = ENDS.into_iter().find(|&end| end >= highest).unwrap_or(ENDS[ENDS.len() - 1]);
    let height = ROW * places.len() as f64;
    let mut picture = Picture::new("Label shares", left + WIDTH + 70.0, height + 44.0);
    let x = |value: f64| left + WIDTH * (value / reach).clamp(-0.01, 1.01);
    for quarter in 0..=4 {
        let value = reach * f64::from(quarter) / 4.0;
        picture.line("grid", [x(value), 6.0], [x(value), height + 8.0]);
        let label = format!("{:.1} %", 100.0 * value);
        picture.text("middle", [x(value), height + 26.0], &label);
    }
    for (row, &place) in places.iter().enumerate() {
        let (class, name) = (&figures.classes[place], &context.classes[place]);
        let middle = 8.0 + ROW * (row as f64 + 0.5);
        picture.text("end", [left - 7.0, middle + 4.0], &shortened(name, 20));
        let title = format!("{name}: {}; predicted {:.2} %", percent(class.share), 100.0 * class.predicted);
        let end = x(class.share.value.max(0.0));
        picture.rectangle("share", [x(0.0), middle - 7.0], [end - x(0.0), 14.0], 1.0, &title);
        let (low, high) = class.share.interval();
        if low.is_finite() {
            picture.line("bar", [x(low), middle], [x(high), middle]);
            for end in [low, high].into_iter().filter(|end| (0.0..=reach).contains(end)) {
                picture.line("bar", [x(end), middle - 4.0], [x(end), middle + 4.0]);
            }
        }
        let predicted = x(class.predicted);
        picture.line("predicted", [predicted, middle - 9.0], [predicted, middle + 9.0]);
    }
    picture.finish()
}

pub(super) fn table(figures: &Figures, context: &Context<'_>, places: &[usize]) -> String {
    let head = "<div class=\"wide\"><table><tr><th>class</th><th>share</th><th>predicted</th><th>precision</th><th>recall</th></tr>\n";
    let mut table = head.to_string();
    for &place in places {
        let (class, name) = (&figures.classes[place], escape(&context.classes[place]));
        let [share, precision, recall] =
            [Some(class.share), class.precision, class.recall].map(percent_or_dash);
        let predicted = 100.0 * class.predicted;
        // Writing to a string does not fail.
        let _ = writeln!(
            table,
            "<tr><td>{name}</td><td class=\"number\">{share}</td><td class=\"number\">{predicted:.2} %</td>\
             <td class=\"number\">{precision}</td><td class=\"number\">{recall}</td></tr>"
        );
    }
    table + "</table></div>\n"
}
