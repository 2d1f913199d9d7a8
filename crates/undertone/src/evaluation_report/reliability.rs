//! The reliability diagram: how often predictions of each confidence are right, with error bars.
//!
//! A calibrated model has its points on the diagonal. The area of a point is the share of people it stands for.

use super::svg::Picture;
use super::text::percent;
use undertone_learn::evaluation::Bin;

const SIDE: f64 = 360.0;
const LEFT: f64 = 68.0;
const TOP: f64 = 14.0;
const LARGEST_POINT: f64 = 13.0;

pub(super) fn svg(bins: &[Bin]) -> String {
    let mut picture = Picture::new("Reliability diagram", LEFT + SIDE + 26.0, TOP + SIDE + 52.0);
    let x = |value: f64| LEFT + SIDE * value;
    let y = |value: f64| TOP + SIDE * (1.0 - value.clamp(-0.02, 1.02));
    for tick in [0.0, 0.2, 0.4, 0.6, 0.8, 1.0] {
        picture.line("grid", [x(tick), y(0.0)], [x(tick), y(1.0)]);
        picture.line("grid", [x(0.0), y(tick)], [x(1.0), y(tick)]);
        let label = format!("{:.0} %", 100.0 * tick);
        picture.text("middle", [x(tick), y(0.0) + 18.0], &label);
        picture.text("end", [x(0.0) - 7.0, y(tick) + 4.0], &label);
    }
    picture.line("diagonal", [x(0.0), y(0.0)], [x(1.0), y(1.0)]);
    let rows: u64 = bins.iter().map(|bin| bin.rows).sum();
    for bin in bins {
        let (low, high) = bin.accuracy.interval();
        let at = x(bin.confidence);
        if low.is_finite() {
            picture.line("bar", [at, y(low)], [at, y(high)]);
            // An end that lies outside the picture has no cap.
            for end in [low, high].into_iter().filter(|end| (0.0..=1.0).contains(end)) {
                picture.line("bar", [at - 5.0, y(end)], [at + 5.0, y(end)]);
            }
        }
        let radius = (LARGEST_POINT * (bin.rows as f64 / rows as f64).sqrt()).max(2.5);
        let title = format!(
            "{} people, {:.1} % sure on average, right {}",
            bin.rows,
            100.0 * bin.confidence,
            percent(bin.accuracy)
        );
        picture.circle("point", [at, y(bin.accuracy.value)], radius, &title);
    }
    picture.text("middle axis", [x(0.5), y(0.0) + 42.0], "how sure the model is");
    picture.upright("middle axis", [14.0, y(0.5)], "how often it is right");
    picture.finish()
}
