//! The least ρ of zero-concentrated differential privacy that two distributions allow.
//!
//! > ρ = sup_{α > 1} D_α(P‖Q) / α, where D_α(P‖Q) = ln(Σ P^α·Q^(1-α)) / (α - 1)
//!
//! The supremum is taken over a grid of orders, so the result is never above the true one.

/// Orders from 1.01 to 10^4: whole ones at first (there the discrete Gaussian attains its ρ), then geometric.
fn orders() -> impl Iterator<Item = f64> {
    let near_one = (0..32).map(|i| 1.0 + 0.01 * libm::pow(10.0, f64::from(i) / 16.0));
    let whole = (2..=32).map(f64::from);
    let large = (1..=40).map(|i| 32.0 * libm::pow(10.0, f64::from(i) / 16.0));
    near_one.chain(whole).chain(large)
}

/// The least ρ for distributions given by the logarithms of their masses, `(ln P, ln Q)` for each outcome.
///
/// Outcomes left out only lower the result. One that P allows and Q does not makes it infinite.
pub(crate) fn concentration(ln_masses: &[(f64, f64)]) -> f64 {
    let possible = || ln_masses.iter().filter(|(ln_p, _)| *ln_p > f64::NEG_INFINITY);
    if possible().any(|(_, ln_q)| *ln_q == f64::NEG_INFINITY) {
        return f64::INFINITY;
    }
    let at = |order: f64| {
        let exponent = |&(ln_p, ln_q): &(f64, f64)| order * ln_p + (1.0 - order) * ln_q;
        // the largest exponent is taken out, lest e to it overflows
        let largest = possible().map(exponent).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = possible().map(|pair| libm::exp(exponent(pair) - largest)).sum();
        (largest + libm::log(sum)) / (order - 1.0) / order
    };
    orders().map(at).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fine_gaussian_with_shift_one_and_deviation_two_has_rho_one_eighth() {
        // N(0, σ²) against N(Δ, σ²): D_α = α·Δ²/2σ² at every order
        let cell = (0.01 / (8.0 * std::f64::consts::PI).sqrt()).ln();
        let ln_mass = |x: f64, centre: f64| cell - (x - centre) * (x - centre) / 8.0;
        let places = (-4000..4000).map(|i| f64::from(i) * 0.01);
        let cells: Vec<_> = places.map(|x| (ln_mass(x, 0.0), ln_mass(x, 1.0))).collect();
        assert!((concentration(&cells) - 0.125).abs() < 1e-10, "{}", concentration(&cells));
    }

    #[test]
    fn an_outcome_that_only_one_allows_is_an_infinite_loss() {
        let half = 0.5f64.ln();
        assert_eq!(concentration(&[(half, 0.0), (half, f64::NEG_INFINITY)]), f64::INFINITY);
        assert!(concentration(&[(0.0, half), (f64::NEG_INFINITY, half)]).is_finite());
    }

    #[test]
    fn equal_distributions_lose_nothing() {
        let half = 0.5f64.ln();
        assert!(concentration(&[(half, half), (half, half)]) < 1e-13);
    }
}
