//! A straight line through points that are known with errors.
//!
//! With weights 1/σ_i² the slope of least squares and its standard error are
//!
//! > Σw(x - x̄)(y - ȳ)/Σw(x - x̄)²,  1/√Σw(x - x̄)²

use serde::Serialize;

/// The slope of a line with its standard error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Slope {
    pub(super) slope: f64,
    pub(super) standard_error: f64,
}

/// The line through points (x, y, σ). Points without errors count alike, and their slope has none.
pub(super) fn fit(points: &[(f64, f64, f64)]) -> Option<Slope> {
    if points.len() < 2 {
        return None;
    }
    let exact = points.iter().all(|(_, _, sigma)| *sigma == 0.0);
    let weight = |sigma: f64| if exact { 1.0 } else { 1.0 / (sigma * sigma) };
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        points.iter().map(|&(x, y, sigma)| weight(sigma) * of(x, y)).sum()
    };
    let total = sum(&|_, _| 1.0);
    let (x_mean, y_mean) = (sum(&|x, _| x) / total, sum(&|_, y| y) / total);
    let spread = sum(&|x, _| (x - x_mean).powi(2));
    let slope = sum(&|x, y| (x - x_mean) * (y - y_mean)) / spread;
    let standard_error = if exact { 0.0 } else { 1.0 / spread.sqrt() };
    (spread > 0.0).then_some(Slope { slope, standard_error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_points_with_errors_have_the_slope_worked_out_by_hand() {
        // (0, 1 ± 0.3) and (2, 5 ± 0.4): slope 2, error √(0.09 + 0.16)/2
        let line = fit(&[(0.0, 1.0, 0.3), (2.0, 5.0, 0.4)]).unwrap();
        assert!((line.slope - 2.0).abs() < 1e-12 && (line.standard_error - 0.25).abs() < 1e-12, "{line:?}");
    }

    #[test]
    fn an_exact_line_is_found_without_error_and_one_point_has_none() {
        let points: Vec<_> = (0..5).map(|x| (f64::from(x), 3.0 - 0.5 * f64::from(x), 0.0)).collect();
        let line = fit(&points).unwrap();
        assert!((line.slope + 0.5).abs() < 1e-12 && line.standard_error == 0.0);
        assert_eq!(fit(&points[..1]), None);
    }
}
