//! One page with everything: no script, nothing from elsewhere, light or dark as its reader likes.

use super::svg::escape;
use super::text::headline;
use super::{Context, MOST_SHOWN, Origin, classes, matrix, notable, reliability};
use crate::promise::in_words;
use std::fmt::Write;
use undertone_learn::evaluation::{Evaluation, Figures};

pub(super) fn html(evaluation: &Evaluation, figures: &Figures, context: &Context<'_>) -> String {
    let sections = [
        head(figures, context),
        cards(figures, context),
        promised(context.origin),
        calibration(figures),
        confusion(evaluation, figures, context),
        shares(figures, context),
        "</body>\n</html>\n".to_string(),
    ];
    sections.concat()
}

fn head(figures: &Figures, context: &Context<'_>) -> String {
    let what = match context.origin {
        Origin::Reports { .. } => "reports",
        Origin::Labels => "true labels",
    };
    head_of(context, figures.rows, what, context.origin.note())
}

/// What stands above everything, whatever was evaluated.
pub(super) fn head_of(context: &Context<'_>, rows: u64, what: &str, note: &str) -> String {
    let (model, data) = (escape(context.model), escape(context.data));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{model} on {data}</title>\n\
         <style>\n{}</style>\n</head>\n<body>\n<h1>{model}</h1>\n<p class=\"quiet\">on {rows} {what} of {data}</p>\n\
         <p class=\"note\">{}</p>\n",
        include_str!("page.css"),
        escape(note)
    )
}

pub(super) fn promised(origin: Origin) -> String {
    match origin {
        Origin::Reports { promise, .. } => {
            let words = escape(&in_words(&promise, "label"));
            format!("<h2>What was promised</h2>\n<p>Everybody reported under {words}.</p>\n")
        }
        Origin::Labels => String::new(),
    }
}

fn calibration(figures: &Figures) -> String {
    format!(
        "<h2>Is it as often right as it is sure?</h2>\n<p>People are grouped by how sure the model is of its prediction. A \
         calibrated model lies on the dashed line; bars are 95 % intervals, areas are numbers of people.</p>\n{}",
        reliability::svg(&figures.calibration)
    )
}

fn shares(figures: &Figures, context: &Context<'_>) -> String {
    let (places, all) = (notable(figures), figures.classes.len());
    let which = if all > MOST_SHOWN {
        format!(" The {MOST_SHOWN} largest of {all} are shown.")
    } else {
        String::new()
    };
    format!(
        "<h2>Classes</h2>\n<p>The share of each class among the people, with 95 % intervals, and a mark where the model \
         predicts it to be.{which}</p>\n<div class=\"wide\">{}</div>\n{}",
        classes::svg(figures, context, &places),
        classes::table(figures, context, &places)
    )
}

fn cards(figures: &Figures, context: &Context<'_>) -> String {
    cards_of(&[headline(figures), context.coverage_lines()].concat())
}

/// A card for each figure: its name, its value and its interval.
pub(super) fn cards_of(figures: &[(&'static str, String, String)]) -> String {
    let mut cards = "<div class=\"cards\">\n".to_string();
    for (name, value, interval) in figures {
        // Writing to a string does not fail.
        let _ = writeln!(
            cards,
            "<div class=\"card\">{name}<b>{value}</b><span class=\"quiet\">{interval}</span></div>"
        );
    }
    cards + "</div>\n"
}

fn confusion(evaluation: &Evaluation, figures: &Figures, context: &Context<'_>) -> String {
    let title = "<h2>Who is taken for whom</h2>\n";
    if figures.classes.len() > MOST_SHOWN {
        let pairs = matrix::pairs(figures, context);
        return format!(
            "{title}<p>The pairs that are surely confused most, by the lower end of the interval.</p>\n{pairs}"
        );
    }
    let least = 60 + 40 * figures.classes.len();
    format!(
        "{title}<p>Each row holds the people predicted to be of one class and says, in percent, what they are. What cannot \
         be told from zero is faint.</p>\n<div class=\"wide\" style=\"--least:{least}px\">{}</div>\n",
        matrix::svg(evaluation, context.classes)
    )
}
