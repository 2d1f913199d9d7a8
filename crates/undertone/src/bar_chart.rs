//! Bars with whiskers for a terminal, in plain Unicode.

use std::io::{self, Write};

/// Cells between the left and the right end of the axis.
const CELLS: usize = 50;

/// An estimate beside the truth.
pub(crate) struct Bar<'a> {
    pub(crate) name: &'a str,
    pub(crate) truth: f64,
    pub(crate) estimate: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// Draws two rows for each of `bars`, shares of a whole, on one axis that starts at zero.
pub(crate) fn draw(bars: &[Bar<'_>], out: &mut impl Write) -> io::Result<()> {
    let width = bars.iter().map(|bar| bar.name.chars().count()).max().unwrap_or(0);
    let reach = bars.iter().map(|bar| bar.truth.max(bar.high)).fold(0.0, f64::max);
    // The axis ends at the next tenth, though not beyond the whole.
    let end = ((reach * 10.0).ceil() / 10.0).clamp(0.1, 1.0);
    for Bar { name, truth, estimate, low, high } in bars {
        let (full, cells) = (block_row(truth / end), whisker_row(*estimate, *low, *high, end));
        let percent = |value: f64| 100.0 * value;
        writeln!(out, "  {name:<width$}  truth    ▕{full}  {:6.2} %", percent(*truth))?;
        let margin = percent((high - low) / 2.0);
        writeln!(out, "  {:<width$}  estimate ▕{cells}  {:6.2} % ± {margin:.2}", "", percent(*estimate))?;
    }
    let axis = format!("{:<1$}{end}", 0, CELLS - 3, end = format_args!("{:.0} %", 100.0 * end));
    writeln!(out, "  {:<width$}           {axis}", "")
}

/// A bar of this part of the axis, to an eighth of a cell.
fn block_row(part: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (part.clamp(0.0, 1.0) * (8 * CELLS) as f64).round() as usize;
    let row = "█".repeat(eighths / 8) + EIGHTHS[eighths % 8];
    format!("{row:<CELLS$}")
}

/// A faint bar and ├──●──┤ at its place; an end beyond the axis is an arrow.
fn whisker_row(estimate: f64, low: f64, high: f64, end: f64) -> String {
    let cell = |value: f64| ((value / end).clamp(0.0, 1.0) * (CELLS - 1) as f64).round() as usize;
    let (first, middle, last) = (cell(low), cell(estimate), cell(high));
    let glyph = |at: usize| match at {
        at if at == middle => '●',
        at if at == first => {
            if low < 0.0 {
                '◂'
            } else {
                '├'
            }
        }
        at if at == last => {
            if high > end {
                '▸'
            } else {
                '┤'
            }
        }
        at if (first..last).contains(&at) => '─',
        at if at < first => '░',
        _ => ' ',
    };
    (0..CELLS).map(glyph).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_and_its_interval_stand_where_they_should() {
        assert_eq!(block_row(0.25).trim_end(), "████████████▌");
        let row = whisker_row(0.25, 0.2, 0.3, 0.5);
        // Cells 0.4·49 = 20, 0.5·49 = 24 or 25, 0.6·49 = 29
        let place = |glyph| row.chars().position(|cell| cell == glyph).unwrap();
        assert_eq!([place('├'), place('●'), place('┤')], [20, 25, 29]);
        assert_eq!(row.chars().count(), CELLS);
    }

    #[test]
    fn what_lies_beyond_the_axis_is_an_arrow_and_never_a_panic() {
        assert_eq!(
            whisker_row(0.1, -2.0, 3.0, 1.0).trim(),
            "◂────●───────────────────────────────────────────▸"
        );
        assert_eq!(whisker_row(-9.0, -10.0, -8.0, 1.0).chars().next(), Some('●'));
        let mut out = Vec::new();
        draw(&[Bar { name: "x", truth: 0.5, estimate: f64::NAN, low: f64::NAN, high: f64::NAN }], &mut out)
            .unwrap();
    }
}
