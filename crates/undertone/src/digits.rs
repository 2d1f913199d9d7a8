//! Numbers as people read them.

/// `value` to five digits, in scientific notation where it would not fit.
pub(crate) fn digits(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_string(),
        size if !(1e-3..1e6).contains(&size) => format!("{value:.4e}"),
        // One digit before the point below ten, two below a hundred, …
        size => format!("{value:.*}", (4 - size.log10().floor() as i32).max(0) as usize),
    }
}

/// Every digit of `value`, in scientific notation where there would be many zeros.
pub(crate) fn all_digits(value: f64) -> String {
    format!("{value:?}").trim_end_matches(".0").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_digits_are_shown_wherever_the_point_is() {
        let shown = [1.0, 0.012_345_67, 99.99951, 123_456.7, 1e6, 1e-4, 0.0].map(digits);
        assert_eq!(shown, ["1.0000", "0.012346", "100.000", "123457", "1.0000e6", "1.0000e-4", "0"]);
    }

    #[test]
    fn all_digits_are_shown_and_no_others() {
        let shown = [1.0, 0.1, 1e-6, 1e200, 4.377_178_095_681_237].map(all_digits);
        assert_eq!(shown, ["1", "0.1", "1e-6", "1e200", "4.377178095681237"]);
    }
}
