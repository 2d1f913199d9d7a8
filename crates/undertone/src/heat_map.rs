//! A table as a picture: darker is more, and each cell says how much, and how sure that is. SVG, one file, no script.

use crate::evaluation_report::escape;
use std::fmt::Write;

/// A cell, in a browser's pixels.
const CELL: [f64; 2] = [92.0, 34.0];
/// About so many of them a letter
const LETTER: f64 = 7.5;
const TOP: f64 = 76.0;

/// Shares, row by row.
pub(crate) struct HeatMap {
    pub(crate) title: String,
    /// What is written above each column
    pub(crate) columns: Vec<String>,
    /// What is written beside each row, and its shares with half the width of their intervals
    pub(crate) rows: Vec<(String, Vec<(f64, f64)>)>,
}

impl HeatMap {
    /// The picture as an SVG document.
    pub(crate) fn svg(&self) -> String {
        let letters = self.rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let side = 24.0 + LETTER * letters as f64;
        let width =
            (side + CELL[0] * self.columns.len() as f64 + 16.0).max(24.0 + 9.0 * self.title.len() as f64);
        let height = TOP + CELL[1] * self.rows.len() as f64 + 16.0;
        let most = self
            .rows
            .iter()
            .flat_map(|(_, cells)| cells)
            .map(|cell| cell.0)
            .fold(f64::MIN_POSITIVE, f64::max);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             font-family=\"sans-serif\" font-size=\"13\" fill=\"#222222\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fdfdfb\"/>\n\
             <text x=\"16\" y=\"28\" font-size=\"17\">{}</text>\n",
            escape(&self.title)
        );
        for (place, name) in self.columns.iter().enumerate() {
            let x = side + CELL[0] * (place as f64 + 0.5);
            text(&mut svg, "middle", [x, TOP - 10.0], name);
        }
        for (row, (name, cells)) in self.rows.iter().enumerate() {
            let y = TOP + CELL[1] * row as f64;
            text(&mut svg, "end", [side - 8.0, y + 21.0], name);
            for (place, &(share, reach)) in cells.iter().enumerate() {
                cell(&mut svg, [side + CELL[0] * place as f64, y], share, reach, share / most);
            }
        }
        svg + "</svg>\n"
    }
}

fn cell(svg: &mut String, [x, y]: [f64; 2], share: f64, reach: f64, strength: f64) {
    let strength = strength.clamp(0.0, 1.0);
    // Writing to a string does not fail, here and below.
    let _ = writeln!(
        svg,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"#0072b2\" fill-opacity=\"{strength:.3}\"/>",
        CELL[0] - 2.0,
        CELL[1] - 2.0
    );
    let ink = if strength > 0.55 { "#ffffff" } else { "#222222" };
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{ink}\">{:.1} ± {:.1} %</text>",
        x + CELL[0] / 2.0,
        y + 21.0,
        100.0 * share,
        100.0 * reach
    );
}

fn text(svg: &mut String, anchor: &str, [x, y]: [f64; 2], words: &str) {
    let _ =
        writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>", escape(words));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_says_its_share_and_names_obey_nobody() {
        let map = HeatMap {
            title: "a × b".into(),
            columns: vec!["<x>".into(), "y".into()],
            rows: vec![("r".into(), vec![(0.25, 0.01), (0.75, 0.02)])],
        };
        let svg = map.svg();
        assert!(svg.contains("25.0 ± 1.0 %") && svg.contains("75.0 ± 2.0 %"), "{svg}");
        assert!(svg.contains("&lt;x&gt;") && !svg.contains("<x>"));
        // The largest share is darkest.
        assert!(svg.contains("fill-opacity=\"1.000\"") && svg.contains("fill-opacity=\"0.333\""));
    }
}
