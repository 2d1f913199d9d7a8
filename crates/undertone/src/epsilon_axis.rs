//! The values of ε along which mechanisms are drawn.

use crate::plot::{Line, Stroke};
use undertone_privacy::{Epsilon, PrivacyError};

/// Points on each line.
const POINTS: u32 = 121;

/// ε in even ratios, from a tenth to ten, or as far as it takes to show the one asked about.
pub(crate) struct EpsilonAxis(Vec<f64>);

impl EpsilonAxis {
    pub(crate) fn around(here: Epsilon) -> Self {
        let here = here.get();
        let (least, most) = (f64::min(0.1, here / 2.0), f64::max(10.0, here * 2.0));
        let at = |i: u32| least * (most / least).powf(f64::from(i) / f64::from(POINTS - 1));
        Self((0..POINTS).map(at).collect())
    }

    /// `value` at each ε; where there is none, or none that has a logarithm, the line begins later or ends earlier.
    pub(crate) fn line(
        &self,
        name: &str,
        stroke: Stroke,
        value: impl Fn(Epsilon) -> Result<f64, PrivacyError>,
    ) -> Line {
        let at = |&x: &f64| Some((x, value(Epsilon::new(x).ok()?).ok()?));
        let drawable = |(_, y): &(f64, f64)| *y > 0.0 && y.is_finite();
        Line {
            name: name.to_string(),
            points: self.0.iter().filter_map(at).filter(drawable).collect(),
            bars: Vec::new(),
            stroke,
        }
    }
}
