//! Line charts with logarithmic axes, as SVG: one file, no script, the same bytes for the same numbers.
//!
//! The chart brings its own light ground, so that it reads the same on a light page and on a dark one. Lines differ
//! in colour (the palette of Okabe and Ito, which colour-blind readers can tell apart) and in their dashes.

use anyhow::{Context, anyhow};
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use std::ops::Range;

/// Width and height in a browser's pixels.
pub(crate) const SIZE: (u32, u32) = (900, 600);
/// The backend rounds to whole units, so that curves need finer ones.
pub(crate) const FINE: u32 = 8;
/// Numbers on an axis, at most.
const MOST_TICKS: usize = 13;
pub(crate) const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
pub(crate) const GRID: RGBColor = RGBColor(0xdd, 0xdd, 0xdd);
pub(crate) const GROUND: RGBColor = RGBColor(0xfd, 0xfd, 0xfb);
pub(crate) const PALETTE: [RGBColor; 7] = [
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x80, 0x60, 0x40),
];

/// A chart of lines and marked points, both axes logarithmic.
pub(crate) struct LogLog {
    pub(crate) title: String,
    pub(crate) x_name: String,
    pub(crate) y_name: String,
    pub(crate) lines: Vec<Line>,
    /// A point to show, with what to write beside it
    pub(crate) mark: Option<(f64, f64, String)>,
}

/// One line of a chart.
pub(crate) struct Line {
    pub(crate) name: String,
    /// Rising in x, all coordinates positive
    pub(crate) points: Vec<(f64, f64)>,
    /// Half the length of the bar through each point; none at all for a line that is exact
    pub(crate) bars: Vec<f64>,
    pub(crate) stroke: Stroke,
}

/// How a line is drawn.
#[derive(Clone, Copy)]
pub(crate) enum Stroke {
    Whole,
    Dashed,
    /// Dashed, in the colour of the line before it
    Companion,
    /// Thick and in ink: the line that the others are measured against
    Limit,
}

impl LogLog {
    /// The chart as an SVG document.
    pub(crate) fn svg(&self) -> anyhow::Result<String> {
        let mut svg = String::new();
        // plotters' errors borrow the drawing, which anyhow cannot hold
        self.draw(&mut svg).map_err(|error| anyhow!("the chart cannot be drawn: {error}"))?;
        let (width, height) = SIZE;
        let fine = format!("width=\"{}\" height=\"{}\"", width * FINE, height * FINE);
        Ok(svg.replacen(&fine, &format!("width=\"{width}\" height=\"{height}\""), 1))
    }

    fn draw(&self, svg: &mut String) -> anyhow::Result<()> {
        let root = SVGBackend::with_string(svg, (SIZE.0 * FINE, SIZE.1 * FINE)).into_drawing_area();
        root.fill(&GROUND)?;
        let (x, y) = self.ranges().context("there is nothing to draw")?;
        let text = |size: u32| ("sans-serif", size * FINE).into_font().color(&INK);
        let mut chart = ChartBuilder::on(&root)
            .caption(&self.title, text(20))
            .margin(16 * FINE)
            .x_label_area_size(52 * FINE)
            .y_label_area_size(76 * FINE)
            .build_cartesian_2d(
                x.clone().log_scale().with_key_points(ticks(&x)),
                y.clone().log_scale().with_key_points(ticks(&y)),
            )?;
        chart
            .configure_mesh()
            .x_desc(&self.x_name)
            .y_desc(&self.y_name)
            .x_label_formatter(&|value| short(*value))
            .y_label_formatter(&|value| short(*value))
            .x_labels(MOST_TICKS)
            .y_labels(MOST_TICKS)
            .set_all_tick_mark_size(5 * FINE)
            .bold_line_style(GRID.stroke_width(FINE))
            .light_line_style(TRANSPARENT)
            .axis_style(INK.stroke_width(FINE))
            .label_style(text(15))
            .axis_desc_style(text(16))
            .draw()?;
        let mut colours = PALETTE.iter().cycle();
        let mut colour = &INK;
        for Line { name, points, bars, stroke } in &self.lines {
            let style = match stroke {
                Stroke::Limit => INK.stroke_width(4 * FINE),
                Stroke::Companion => colour.stroke_width(2 * FINE),
                _ => {
                    // The palette repeats and does not end.
                    colour = colours.next().unwrap_or(&INK);
                    colour.stroke_width(2 * FINE)
                }
            };
            let sample = move |(x, y): (i32, i32)| [(x, y), (x + 26 * FINE as i32, y)];
            match stroke {
                Stroke::Dashed | Stroke::Companion => chart
                    .draw_series(DashedLineSeries::new(points.iter().copied(), 8 * FINE, 5 * FINE, style))?
                    .legend(move |at| {
                        DashedPathElement::new(sample(at), 8 * FINE, 5 * FINE, style).into_dyn()
                    }),
                _ => chart
                    .draw_series(LineSeries::new(points.iter().copied(), style))?
                    .legend(move |at| PathElement::new(sample(at), style).into_dyn()),
            }
            .label(name);
            chart.draw_series(bars_through(points, bars).map(|bar| PathElement::new(bar, style)))?;
        }
        if let Some((x, y, name)) = self.drawable_mark() {
            let ring = INK.stroke_width(2 * FINE);
            chart
                .draw_series([Circle::new((*x, *y), 7 * FINE, ring)])?
                .label(name)
                .legend(move |(x, y)| Circle::new((x + 13 * FINE as i32, y), 7 * FINE, ring).into_dyn());
        }
        chart
            .configure_series_labels()
            .position(self.legend_position())
            .margin(14 * FINE)
            .legend_area_size(34 * FINE)
            .background_style(GROUND)
            .border_style(GRID.stroke_width(FINE))
            .label_font(text(15))
            .draw()?;
        root.present()?;
        Ok(())
    }

    /// The corner in which the legend hides the fewest points: the upper right one if there is room, else another.
    fn legend_position(&self) -> SeriesLabelPosition {
        use SeriesLabelPosition::{LowerLeft, LowerRight, UpperLeft, UpperRight};
        let Some((x, y)) = self.ranges() else { return UpperRight };
        // How far along an axis, from 0 to 1
        let along =
            |value: f64, range: &Range<f64>| (value / range.start).ln() / (range.end / range.start).ln();
        let (width, height) = (0.35, 0.06 * self.lines.len() as f64);
        let hidden = |(right, upper): (bool, bool)| {
            let from = |end: bool, part: f64| if end { 1.0 - part } else { part };
            let points = self.lines.iter().flat_map(|line| &line.points);
            points
                .filter(|point| {
                    from(right, along(point.0, &x)) < width && from(upper, along(point.1, &y)) < height
                })
                .count()
        };
        let corners = [
            ((true, true), UpperRight),
            ((false, true), UpperLeft),
            ((false, false), LowerLeft),
            ((true, false), LowerRight),
        ];
        corners
            .into_iter()
            .min_by_key(|(corner, _)| hidden(*corner))
            .map_or(UpperRight, |(_, position)| position)
    }

    /// The mark, unless it has no logarithm.
    fn drawable_mark(&self) -> Option<&(f64, f64, String)> {
        self.mark.as_ref().filter(|(x, y, _)| *x > 0.0 && x.is_finite() && *y > 0.0 && y.is_finite())
    }

    /// What the axes have to span, with a little room above and below.
    fn ranges(&self) -> Option<(Range<f64>, Range<f64>)> {
        // The mark may lie on no line.
        let mark = self.drawable_mark().map(|&(x, y, _)| (x, y));
        let on_lines = || self.lines.iter().flat_map(|line| line.points.iter().copied());
        on_lines().next()?;
        let all = || on_lines().chain(mark);
        let span = |of: fn((f64, f64)) -> f64| {
            let least = all().map(of).reduce(f64::min)?;
            let most = all().map(of).reduce(f64::max)?;
            Some((least, most))
        };
        let ((left, right), (bottom, top)) = (span(|point| point.0)?, span(|point| point.1)?);
        Some((left / 1.02..right * 1.02, bottom / 1.25..top * 1.25))
    }
}

/// The ends of each bar; one that would reach zero ends a little above.
fn bars_through(points: &[(f64, f64)], bars: &[f64]) -> impl Iterator<Item = [(f64, f64); 2]> {
    points.iter().zip(bars).map(|(&(x, y), bar)| [(x, (y - bar).max(y / 100.0)), (x, y + bar)])
}

/// The numbers on an axis: powers of ten, with twos and fives between if that does not crowd it.
fn ticks(range: &Range<f64>) -> Vec<f64> {
    let decades = range.start.log10().floor() as i32..=range.end.log10().floor() as i32;
    let with = |digits: &[u8], step: usize| -> Vec<f64> {
        let tick = |decade: i32, digit: u8| format!("{digit}e{decade}").parse::<f64>().ok();
        let all = decades.clone().step_by(step);
        all.flat_map(|decade| digits.iter().filter_map(move |&digit| tick(decade, digit)))
            .filter(|value| range.contains(value))
            .collect()
    };
    let choices = [with(&[1, 2, 5], 1), with(&[1], 1)];
    let fits = choices.into_iter().find(|ticks| ticks.len() <= MOST_TICKS);
    fits.unwrap_or_else(|| with(&[1], decades.clone().count().div_ceil(MOST_TICKS)))
}

/// A number on an axis.
fn short(value: f64) -> String {
    if (1e-3..1e5).contains(&value) { format!("{value}") } else { format!("{value:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_a_few_round_numbers() {
        assert_eq!(ticks(&(0.09..11.0)), [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0]);
        assert_eq!(ticks(&(0.5..2e6)), [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6]);
        assert_eq!(ticks(&(1e-20..1e20)).len(), 10);
    }

    #[test]
    fn the_legend_hides_no_line_where_it_can_be_helped() {
        let position = |points: Vec<(f64, f64)>| {
            let line = Line { name: String::new(), points, bars: Vec::new(), stroke: Stroke::Whole };
            let (title, x_name, y_name) = (String::new(), String::new(), String::new());
            LogLog { title, x_name, y_name, lines: vec![line], mark: None }.legend_position()
        };
        let falling = position(vec![(1.0, 100.0), (10.0, 10.0), (100.0, 1.0)]);
        assert!(matches!(falling, SeriesLabelPosition::UpperRight));
        let rising = position(vec![(1.0, 1.0), (10.0, 10.0), (100.0, 100.0)]);
        assert!(matches!(rising, SeriesLabelPosition::UpperLeft));
        let above = position(vec![(1.0, 100.0), (100.0, 100.0), (100.0, 1.0)]);
        assert!(matches!(above, SeriesLabelPosition::LowerLeft));
    }

    #[test]
    fn a_chart_without_lines_is_an_error() {
        let empty = LogLog {
            title: String::new(),
            x_name: String::new(),
            y_name: String::new(),
            lines: Vec::new(),
            mark: Some((1.0, 1.0, String::new())),
        };
        assert!(empty.svg().is_err());
    }
}
