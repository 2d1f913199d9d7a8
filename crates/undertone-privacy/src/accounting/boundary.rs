//! Where a statement that holds for small numbers ceases to hold.

/// Two positive floats, equal or nearly so, between which `holds` goes from true to false.
///
/// The first satisfies `holds`, the second does not: a caller returns whichever errs towards privacy. The first
/// is 0 if nothing satisfies it, the second infinite if everything does. Only these two values are relied on, so that
/// a computed `holds` which wavers around its boundary does no harm.
pub(crate) fn boundary(holds: impl Fn(f64) -> bool) -> (f64, f64) {
    // Positive floats are ordered like their bits, so that bisecting the bits ends after 63 steps whatever the scale.
    let (mut below, mut above) = (0_u64, f64::INFINITY.to_bits());
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if holds(f64::from_bits(middle)) {
            below = middle;
        } else {
            above = middle;
        }
    }
    (f64::from_bits(below), f64::from_bits(above))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boundary_lies_between_two_neighbouring_floats() {
        let (below, above) = boundary(|x| x * x <= 2.0);
        assert!(below * below <= 2.0 && above * above > 2.0);
        assert_eq!(above, below.next_up());
    }

    #[test]
    fn a_statement_that_always_or_never_holds_has_its_boundary_at_an_end() {
        assert_eq!(boundary(|_| false), (0.0, f64::from_bits(1)));
        assert_eq!(boundary(|_| true), (f64::MAX, f64::INFINITY));
    }
}
