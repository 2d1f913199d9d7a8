//! A plane of coloured tiles: what is predicted over two features, or how likely each class is over one. SVG, one file, no script.

use crate::digits::digits;
use crate::evaluation_report::escape;
use crate::plot::PALETTE;
use std::fmt::Write;

/// The plane, in a browser's pixels.
const SIDE: f64 = 480.0;
const LEFT: f64 = 96.0;
const TOP: f64 = 56.0;
/// From the plane to the legend, and from one of its lines to the next.
const GAP: f64 = 24.0;
const LINE: f64 = 22.0;
/// About so many pixels a letter
const LETTER: f64 = 8.0;

/// One direction of the plane.
pub(crate) struct Direction {
    pub(crate) name: String,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// A colour of the palette, faint or strong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tile {
    pub(crate) colour: usize,
    /// From 0 to 1
    pub(crate) strength: f64,
}

/// Tiles with their legend.
pub(crate) struct Surface {
    pub(crate) title: String,
    pub(crate) across: Direction,
    pub(crate) up: Direction,
    /// Row by row, the lowest first, all of the same length
    pub(crate) rows: Vec<Vec<Tile>>,
    pub(crate) legend: Vec<(Tile, String)>,
}

impl Tile {
    fn fill(self) -> String {
        let colour = PALETTE[self.colour % PALETTE.len()];
        let strength = self.strength.clamp(0.0, 1.0);
        format!("fill=\"#{:02x}{:02x}{:02x}\" fill-opacity=\"{strength:.2}\"", colour.0, colour.1, colour.2)
    }
}

impl Surface {
    /// The picture as an SVG document.
    pub(crate) fn svg(&self) -> String {
        let letters = self.legend.iter().map(|(_, name)| name.chars().count()).max().unwrap_or(0);
        let width = LEFT + SIDE + 2.0 * GAP + LINE + LETTER * letters as f64;
        let width = width.max(32.0 + 9.5 * self.title.chars().count() as f64);
        let height = (TOP + SIDE + 60.0).max(TOP + LINE * (self.legend.len() + 1) as f64);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             font-family=\"sans-serif\" font-size=\"13\" fill=\"#222222\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fdfdfb\"/>\n\
             <text x=\"16\" y=\"28\" font-size=\"17\">{}</text>\n",
            escape(&self.title)
        );
        self.tiles(&mut svg);
        self.ticks(&mut svg);
        for (place, (tile, name)) in self.legend.iter().enumerate() {
            let (x, y) = (LEFT + SIDE + GAP, TOP + LINE * place as f64);
            // Writing to a string does not fail, here and below.
            let _ = writeln!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"16\" height=\"16\" {}/>\n\
                 <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                tile.fill(),
                x + LINE,
                y + 13.0,
                escape(name)
            );
        }
        svg + "</svg>\n"
    }

    /// Tiles that are alike and side by side are one.
    fn tiles(&self, svg: &mut String) {
        let height = SIDE / self.rows.len().max(1) as f64;
        for (place, row) in self.rows.iter().enumerate() {
            let (y, width) = (TOP + SIDE - height * (place + 1) as f64, SIDE / row.len().max(1) as f64);
            let mut column = 0;
            for run in row.chunk_by(|a, b| a.fill() == b.fill()) {
                let _ = writeln!(
                    svg,
                    "<rect x=\"{:.2}\" y=\"{y:.2}\" width=\"{:.2}\" height=\"{height:.2}\" shape-rendering=\"crispEdges\" {}/>",
                    LEFT + width * column as f64,
                    width * run.len() as f64,
                    run[0].fill()
                );
                column += run.len();
            }
        }
    }

    fn ticks(&self, svg: &mut String) {
        for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
            let at = |of: &Direction| digits(of.low + share * (of.high - of.low));
            let (x, y) = (LEFT + SIDE * share, TOP + SIDE * (1.0 - share));
            let _ = writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                TOP + SIDE + 18.0,
                at(&self.across),
                LEFT - 7.0,
                y + 4.0,
                at(&self.up)
            );
        }
        let middle = SIDE / 2.0;
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
             <text transform=\"translate(20 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            LEFT + middle,
            TOP + SIDE + 42.0,
            escape(&self.across.name),
            TOP + middle,
            escape(&self.up.name)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_that_are_alike_are_one_and_names_obey_nobody() {
        let direction = |name: &str| Direction { name: name.into(), low: 0.0, high: 2.0 };
        let [a, b] = [0, 1].map(|colour| Tile { colour, strength: 1.0 });
        let surface = Surface {
            title: "<t>".into(),
            across: direction("x & y"),
            up: direction("up"),
            rows: vec![vec![a, a, b], vec![b, b, b]],
            legend: vec![(a, "first".into()), (b, "<b>".into())],
        };
        let svg = surface.svg();
        // The ground, two runs, one run, two squares of the legend
        assert_eq!(svg.matches("<rect").count(), 6, "{svg}");
        assert!(svg.contains("&lt;b&gt;") && svg.contains("x &amp; y") && !svg.contains("<b>"));
        assert!(svg.contains("width=\"320.00\"") && svg.contains("width=\"480.00\""));
    }
}
