//! The confusion matrix as a picture, or the most confused pairs where there are many classes.
//!
//! A row holds the people who are predicted one class, and says what they are. How many are predicted what is public, so
//! that rows are divided by an exact number and their entries stay unbiased. What cannot be told from zero is faint.

use super::svg::{Picture, escape, shortened};
use super::text::percent;
use super::{Context, MOST_SHOWN};
use std::fmt::Write;
use undertone_learn::evaluation::{Evaluation, Figures};

const CELL: [f64; 2] = [44.0, 26.0];

/// The picture for a few classes.
pub(super) fn svg(evaluation: &Evaluation, classes: &[String]) -> String {
    let k = classes.len() as f64;
    let letters = classes.iter().map(|name| name.chars().count()).max().unwrap_or(1).min(16);
    // About seven units a letter
    let side = 30.0 + 7.0 * letters as f64;
    let upright = letters > 5;
    let top = if upright { side } else { 44.0 };
    let mut picture = Picture::new("Confusion matrix", side + CELL[0] * k + 10.0, top + CELL[1] * k + 10.0);
    let x = |place: usize| side + CELL[0] * place as f64;
    let y = |place: usize| top + CELL[1] * place as f64;
    picture.text("start axis", [side, 14.0], "really");
    picture.upright("end axis", [14.0, top], "predicted");
    for (place, name) in classes.iter().enumerate() {
        let short = shortened(name, 16);
        picture.text("end", [side - 6.0, y(place) + 17.0], &short);
        if upright {
            picture.upright("start", [x(place) + CELL[0] / 2.0 + 4.0, top - 6.0], &short);
        } else {
            picture.text("middle", [x(place) + CELL[0] / 2.0, top - 6.0], &short);
        }
    }
    for predicted in 0..classes.len() {
        for class in 0..classes.len() {
            let Some(cell) = evaluation.among_predicted(predicted, class) else { continue };
            let sure = cell.value - cell.margin() > 0.0;
            let strength = cell.value.clamp(0.0, 1.0);
            let title =
                format!("predicted {}, really {}: {}", classes[predicted], classes[class], percent(cell));
            picture.rectangle(
                "heat",
                [x(class), y(predicted)],
                CELL.map(|side| side - 1.5),
                strength,
                &title,
            );
            let style = match (strength > 0.5, sure) {
                (true, _) => "middle cell over",
                (false, true) => "middle cell",
                (false, false) => "middle cell faint",
            };
            // Nobody at all, for certain: the empty cell says it best.
            if cell.value == 0.0 && cell.standard_error == 0.0 {
                continue;
            }
            let number = format!("{:.1}", 100.0 * cell.value);
            // Minus nothing is nothing.
            let number = if number == "-0.0" { "0.0" } else { &number };
            picture.text(style, [x(class) + CELL[0] / 2.0, y(predicted) + 17.0], number);
        }
    }
    picture.finish()
}

/// A table of the pairs that are surely confused most often: by the lower end of the interval, so that noise alone does
/// not lead the list.
pub(super) fn pairs(figures: &Figures, context: &Context<'_>) -> String {
    let Some(cells) = &figures.confusion else {
        return "<p>There are too many classes for a confusion matrix.</p>\n".to_string();
    };
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for class in 0..cells.len() {
        pairs.extend(
            (0..cells.len()).filter(|&predicted| predicted != class).map(|predicted| (class, predicted)),
        );
    }
    let low = |&(class, predicted): &(usize, usize)| cells[class][predicted].interval().0;
    pairs.sort_by(|a, b| low(b).total_cmp(&low(a)));
    let mut table =
        "<div class=\"wide\"><table><tr><th>really</th><th>predicted</th><th>share of all people</th></tr>\n"
            .to_string();
    for (class, predicted) in pairs.into_iter().take(MOST_SHOWN) {
        let [really, said] = [class, predicted].map(|place| escape(&context.classes[place]));
        let share = percent(cells[class][predicted]);
        // Writing to a string does not fail.
        let _ = writeln!(table, "<tr><td>{really}</td><td>{said}</td><td class=\"number\">{share}</td></tr>");
    }
    table + "</table></div>\n"
}
