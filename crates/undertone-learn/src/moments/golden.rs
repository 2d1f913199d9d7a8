//! The bottom of a valley, by the golden section.

/// Steps of a search: 0.618^40 is below 10^-8.
pub(super) const SECTIONS: usize = 40;

/// The least value of a function with one valley between `low` and `high`, and where it is, after so many `sections`.
pub(super) fn golden(low: f64, high: f64, sections: usize, mut f: impl FnMut(f64) -> f64) -> (f64, f64) {
    const RATIO: f64 = 0.618_033_988_749_894_9;
    let (mut low, mut high) = (low, high);
    let (mut a, mut b) = (high - RATIO * (high - low), low + RATIO * (high - low));
    let (mut at_a, mut at_b) = (f(a), f(b));
    for _ in 0..sections {
        if at_a < at_b {
            (high, b, at_b) = (b, a, at_a);
            a = high - RATIO * (high - low);
            at_a = f(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + RATIO * (high - low);
            at_b = f(b);
        }
    }
    if at_a < at_b { (a, at_a) } else { (b, at_b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_found_inside_and_at_the_ends() {
        for (at, found) in [(0.3, 0.3), (-5.0, -1.0), (7.0, 2.0)] {
            let (x, least) = golden(-1.0, 2.0, SECTIONS, |x| (x - at).powi(2));
            assert!((x - found).abs() < 1e-6 && (least - (x - at).powi(2)).abs() < 1e-15, "{x}");
        }
    }
}
