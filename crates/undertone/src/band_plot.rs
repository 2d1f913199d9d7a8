//! A curve with a band around it, as SVG: one file, no script.

use crate::plot::{FINE, GRID, GROUND, INK, PALETTE, SIZE};
use anyhow::{Context, anyhow};
use plotters::prelude::*;

/// A curve and its band, both axes linear.
pub(crate) struct BandPlot {
    pub(crate) title: String,
    pub(crate) across: String,
    pub(crate) up: String,
    /// x, the lower end, the curve, the upper end; rising in x
    pub(crate) points: Vec<(f64, f64, f64, f64)>,
}

impl BandPlot {
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
        let first = self.points.first().context("there is nothing to draw")?;
        let last = self.points.last().unwrap_or(first);
        let low = self.points.iter().map(|point| point.1).fold(0.0, f64::min);
        let high = self.points.iter().map(|point| point.3).fold(f64::MIN_POSITIVE, f64::max);
        let text = |size: u32| ("sans-serif", size * FINE).into_font().color(&INK);
        let mut chart = ChartBuilder::on(&root)
            .caption(&self.title, text(20))
            .margin(16 * FINE)
            .x_label_area_size(52 * FINE)
            .y_label_area_size(76 * FINE)
            .build_cartesian_2d(first.0..last.0, 1.05 * low..1.05 * high)?;
        chart
            .configure_mesh()
            .x_desc(&self.across)
            .y_desc(&self.up)
            .set_all_tick_mark_size(5 * FINE)
            .bold_line_style(GRID.stroke_width(FINE))
            .light_line_style(TRANSPARENT)
            .axis_style(INK.stroke_width(FINE))
            .label_style(text(15))
            .axis_desc_style(text(16))
            .draw()?;
        let above = self.points.iter().map(|&(x, _, _, high)| (x, high));
        let below = self.points.iter().rev().map(|&(x, low, _, _)| (x, low));
        let band: Vec<(f64, f64)> = above.chain(below).collect();
        chart.draw_series([Polygon::new(band, PALETTE[2].mix(0.35).filled())])?;
        let curve = self.points.iter().map(|&(x, _, y, _)| (x, y));
        chart.draw_series(LineSeries::new(curve, PALETTE[1].stroke_width(2 * FINE)))?;
        root.present()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_and_its_band_are_drawn_and_nothing_is_an_error() {
        let plot = |points| BandPlot { title: "t".into(), across: "x".into(), up: "y".into(), points };
        let svg = plot(vec![(0.0, -0.1, 0.2, 0.5), (1.0, 0.1, 0.3, 0.5)]).svg().unwrap();
        assert!(svg.contains("<polygon") && svg.contains("<polyline"), "{svg}");
        assert!(plot(Vec::new()).svg().is_err());
    }
}
