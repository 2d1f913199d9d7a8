//! Boxes that show how values are spread: quartiles, the median, and whiskers to the farthest values, as SVG.

use crate::plot::{FINE, GRID, GROUND, INK, PALETTE, SIZE};
use anyhow::{Context, anyhow};
use plotters::prelude::*;

/// A chart of boxes side by side.
pub(crate) struct BoxPlot {
    pub(crate) title: String,
    pub(crate) y_name: String,
    pub(crate) boxes: Vec<Spread>,
    /// A line across all boxes: what the values should be
    pub(crate) truth: Option<f64>,
}

/// One box.
#[derive(Clone, Debug)]
pub(crate) struct Spread {
    /// What is written below
    pub(crate) name: String,
    /// Boxes of the same number have the same colour
    pub(crate) colour: usize,
    /// Least, lower quartile, median, upper quartile, most
    pub(crate) quantiles: [f64; 5],
}

impl Spread {
    /// The box of some values; there has to be one at least.
    pub(crate) fn of(name: String, colour: usize, values: &[f64]) -> Self {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = share * (values.len() - 1) as f64;
            let (low, part) = (place.floor() as usize, place.fract());
            let next = values[(low + 1).min(values.len() - 1)];
            values[low] + part * (next - values[low])
        };
        Self { name, colour, quantiles: [0.0, 0.25, 0.5, 0.75, 1.0].map(at) }
    }
}

impl BoxPlot {
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
        let ends = || self.boxes.iter().flat_map(|spread| spread.quantiles).chain(self.truth);
        let (low, high) = (ends().reduce(f64::min), ends().reduce(f64::max));
        let (low, high) = low.zip(high).context("there is nothing to draw")?;
        let room = 0.05 * (high - low).max(1e-9);
        let text = |size: u32| ("sans-serif", size * FINE).into_font().color(&INK);
        let count = self.boxes.len();
        let mut chart = ChartBuilder::on(&root)
            .caption(&self.title, text(20))
            .margin(16 * FINE)
            .x_label_area_size(52 * FINE)
            .y_label_area_size(76 * FINE)
            .build_cartesian_2d(0.0..2.0 * count as f64, low - room..high + room)?;
        // A box is two wide: its middle is an odd number, and ticks are whole ones.
        let name = |x: &f64| {
            let spread = self.boxes.get((*x / 2.0) as usize).filter(|_| (x % 2.0 - 1.0).abs() < 1e-6);
            spread.map_or_else(String::new, |spread| spread.name.clone())
        };
        chart
            .configure_mesh()
            .disable_x_mesh()
            .x_labels(2 * count + 1)
            .x_label_formatter(&name)
            .y_desc(&self.y_name)
            .bold_line_style(GRID.stroke_width(FINE))
            .light_line_style(TRANSPARENT)
            .axis_style(INK.stroke_width(FINE))
            .label_style(text(13))
            .axis_desc_style(text(16))
            .draw()?;
        if let Some(truth) = self.truth {
            let line = [(0.0, truth), (2.0 * count as f64, truth)];
            chart.draw_series([PathElement::new(line, INK.stroke_width(2 * FINE))])?;
        }
        for (place, Spread { colour, quantiles, .. }) in self.boxes.iter().enumerate() {
            let [least, lower, median, upper, most] = *quantiles;
            let (middle, half) = (2.0 * place as f64 + 1.0, 0.6);
            let (left, right) = (middle - half, middle + half);
            let colour = PALETTE[colour % PALETTE.len()];
            let style = colour.stroke_width(2 * FINE);
            chart
                .draw_series([Rectangle::new([(left, lower), (right, upper)], colour.mix(0.25).filled())])?;
            chart.draw_series([Rectangle::new([(left, lower), (right, upper)], style)])?;
            chart.draw_series(
                [
                    [(middle, least), (middle, lower)],
                    [(middle, upper), (middle, most)],
                    [(left, median), (right, median)],
                ]
                .map(|line| PathElement::new(line, style)),
            )?;
        }
        root.present()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_five_values_are_the_values() {
        let spread = Spread::of(String::new(), 0, &[5.0, 1.0, 4.0, 2.0, 3.0]);
        assert_eq!(spread.quantiles.map(f64::to_bits), [1.0, 2.0, 3.0, 4.0, 5.0].map(f64::to_bits));
        assert!(
            Spread::of(String::new(), 0, &[7.0]).quantiles.iter().all(|value| (value - 7.0).abs() < 1e-12)
        );
    }

    #[test]
    fn a_chart_names_its_boxes_and_one_without_boxes_is_an_error() {
        let chart = |boxes| BoxPlot { title: "t".into(), y_name: "y".into(), boxes, truth: Some(1.0) };
        let boxes = ["first", "second"].map(|name| Spread::of(name.into(), 0, &[1.0, 2.0])).to_vec();
        let svg = chart(boxes).svg().unwrap();
        assert!(svg.contains("first") && svg.contains("second"));
        let empty = BoxPlot { truth: None, ..chart(Vec::new()) };
        assert!(empty.svg().is_err());
    }
}
