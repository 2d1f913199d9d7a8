//! Lines over a few named places, side by side at even distances, as SVG: numbers of which one may be infinite, or words.

use crate::plot::{FINE, GRID, GROUND, INK, PALETTE, SIZE};
use anyhow::{Context, anyhow};
use plotters::element::DashedPathElement;
use plotters::prelude::*;

/// A chart of lines, the vertical axis linear.
pub(crate) struct CategoryPlot {
    pub(crate) title: String,
    pub(crate) x_name: String,
    pub(crate) y_name: String,
    /// What is written below, from left to right
    pub(crate) categories: Vec<String>,
    pub(crate) series: Vec<Series>,
}

/// One line.
pub(crate) struct Series {
    pub(crate) name: String,
    /// The place, counted from zero; the value; half the length of the bar through it
    pub(crate) points: Vec<(usize, f64, f64)>,
    pub(crate) dashed: bool,
}

impl CategoryPlot {
    /// The chart as an SVG document.
    pub(crate) fn svg(&self) -> anyhow::Result<String> {
        let mut svg = String::new();
        // plotters' errors borrow the drawing, which anyhow cannot hold
        self.draw(&mut svg).map_err(|error| anyhow!("the chart cannot be drawn: {error}"))?;
        let (width, height) = SIZE;
        let fine = format!("width=\"{}\" height=\"{}\"", width * FINE, height * FINE);
        Ok(svg.replacen(&fine, &format!("width=\"{width}\" height=\"{height}\""), 1))
    }

    /// From the lowest end of a bar to the highest, with a little room.
    fn range(&self) -> Option<std::ops::Range<f64>> {
        let ends =
            || self.series.iter().flat_map(|line| &line.points).flat_map(|&(_, y, bar)| [y - bar, y + bar]);
        let (low, high) = (ends().reduce(f64::min)?, ends().reduce(f64::max)?);
        let room = 0.08 * (high - low).max(1e-6);
        Some(low - room..high + room)
    }

    fn draw(&self, svg: &mut String) -> anyhow::Result<()> {
        let root = SVGBackend::with_string(svg, (SIZE.0 * FINE, SIZE.1 * FINE)).into_drawing_area();
        root.fill(&GROUND)?;
        let y = self.range().context("there is nothing to draw")?;
        let text = |size: u32| ("sans-serif", size * FINE).into_font().color(&INK);
        let count = self.categories.len();
        let mut chart = ChartBuilder::on(&root)
            .caption(&self.title, text(20))
            .margin(16 * FINE)
            .x_label_area_size(52 * FINE)
            .y_label_area_size(76 * FINE)
            .build_cartesian_2d(0.0..2.0 * count as f64, y)?;
        // A place is two wide: its middle is an odd number, and ticks are whole ones.
        let name = |x: &f64| {
            let name = self.categories.get((*x / 2.0) as usize).filter(|_| (x % 2.0 - 1.0).abs() < 1e-6);
            name.cloned().unwrap_or_default()
        };
        chart
            .configure_mesh()
            .disable_x_mesh()
            .x_labels(2 * count + 1)
            .x_label_formatter(&name)
            .x_desc(&self.x_name)
            .y_desc(&self.y_name)
            .bold_line_style(GRID.stroke_width(FINE))
            .light_line_style(TRANSPARENT)
            .axis_style(INK.stroke_width(FINE))
            .label_style(text(15))
            .axis_desc_style(text(16))
            .draw()?;
        for (number, Series { name, points, dashed }) in self.series.iter().enumerate() {
            let style = PALETTE[number % PALETTE.len()].stroke_width(2 * FINE);
            let line: Vec<(f64, f64)> = points.iter().map(|&(place, y, _)| (middle(place), y)).collect();
            let sample = move |(x, y): (i32, i32)| [(x, y), (x + 26 * FINE as i32, y)];
            chart.draw_series(line.iter().map(|&at| Circle::new(at, 4 * FINE, style.filled())))?;
            let drawn = if *dashed {
                chart.draw_series(DashedLineSeries::new(line, 8 * FINE, 5 * FINE, style))?.legend(move |at| {
                    DashedPathElement::new(sample(at), 8 * FINE, 5 * FINE, style).into_dyn()
                })
            } else {
                chart
                    .draw_series(LineSeries::new(line, style))?
                    .legend(move |at| PathElement::new(sample(at), style).into_dyn())
            };
            drawn.label(name);
            let bar =
                |&(place, y, bar): &(usize, f64, f64)| [(middle(place), y - bar), (middle(place), y + bar)];
            chart.draw_series(points.iter().map(|point| PathElement::new(bar(point), style)))?;
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

    /// The right-hand corner that lines are farther from, by their last points.
    fn legend_position(&self) -> SeriesLabelPosition {
        let Some(range) = self.range() else { return SeriesLabelPosition::LowerRight };
        let right = self
            .series
            .iter()
            .flat_map(|line| &line.points)
            .filter(|(place, ..)| 2 * place >= self.categories.len());
        let (low, high) = right.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &(_, y, bar)| {
            (low.min(y - bar), high.max(y + bar))
        });
        if low - range.start > range.end - high {
            SeriesLabelPosition::LowerRight
        } else {
            SeriesLabelPosition::UpperRight
        }
    }
}

fn middle(place: usize) -> f64 {
    2.0 * place as f64 + 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(series: Vec<Series>) -> CategoryPlot {
        let categories = ["0.5", "1", "∞"].map(String::from).to_vec();
        CategoryPlot { title: "t".into(), x_name: "x".into(), y_name: "y".into(), categories, series }
    }

    #[test]
    fn places_and_lines_are_named_and_no_line_is_an_error() {
        let line = |name: &str, dashed| Series {
            name: name.into(),
            points: vec![(0, 1.0, 0.1), (2, 3.0, 0.0)],
            dashed,
        };
        let svg = plot(vec![line("ours", false), line("theirs", true)]).svg().unwrap();
        assert!(["0.5", "∞", "ours", "theirs"].iter().all(|word| svg.contains(word)));
        assert!(plot(Vec::new()).svg().is_err());
    }

    #[test]
    fn the_legend_is_where_lines_do_not_end() {
        let ends_at = |end: f64| {
            let points = [(0, 0.0, 0.0), (1, 10.0, 0.0), (2, end, 0.0)];
            plot(vec![
                Series { name: String::new(), points: points[1..].to_vec(), dashed: false },
                Series { name: String::new(), points: points[..1].to_vec(), dashed: false },
            ])
            .legend_position()
        };
        assert!(matches!(ends_at(9.0), SeriesLabelPosition::LowerRight));
        assert!(matches!(ends_at(0.5), SeriesLabelPosition::UpperRight));
    }
}
