//! How much of what was found is more than noise, judged by all that was found.
//!
//! An interaction of D coefficients, each with the noise 1/U, is found as r. If its coefficients come from a normal law of
//! variance τ², then with h = τ²·U and x = U·|r|² the density of r is, in units of that for τ = 0,
//!
//! > (1 + h)^(-D/2)·exp(x/2·h/(1 + h))
//!
//! and h/(1 + h)·r is what to expect of the truth. How often each τ occurs, zero among them, is what makes all
//! interactions of one order together likeliest, with one more that is nothing added for caution; each is then multiplied by
//! the mean of h/(1 + h) over the τ it may have come from. Few large ones among many that are nothing are left nearly as
//! they are, while the many vanish: Stephens, *False discovery rates: a new deal* (2017).

/// τ² of the laws that an interaction may come from.
const VARIANCES: [f64; 10] = [0.0, 0.0001, 0.0004, 0.0016, 0.0064, 0.0256, 0.1024, 0.4096, 1.6384, 6.5536];
/// Steps towards the likeliest shares of these laws.
const STEPS: usize = 100;

/// What was found of one interaction.
pub(super) struct Found {
    /// D
    pub dimension: f64,
    /// U
    pub precision: f64,
    /// x = U·|r|²
    pub square: f64,
}

impl Found {
    /// ln of the density under τ², in units of that under zero.
    fn ln_density(&self, variance: f64) -> f64 {
        let h = variance * self.precision;
        0.5 * (self.square * h / (1.0 + h) - self.dimension * h.ln_1p())
    }

    /// The density under each law, in units of the greatest.
    fn densities(&self) -> [f64; VARIANCES.len()] {
        let ln = VARIANCES.map(|variance| self.ln_density(variance));
        let most = ln.into_iter().fold(f64::NEG_INFINITY, f64::max);
        ln.map(|ln| (ln - most).exp())
    }
}

/// What each of these is to be multiplied by.
pub(super) fn factors(found: &[Found]) -> Vec<f64> {
    let densities: Vec<_> = found.iter().map(Found::densities).collect();
    let mut shares = [1.0 / VARIANCES.len() as f64; VARIANCES.len()];
    for _ in 0..STEPS {
        // Expectation and maximisation: the share of a law is how many come from it.
        let mut sums = [0.0; VARIANCES.len()];
        sums[0] = 1.0;
        for density in &densities {
            let weights = posterior(&shares, density);
            sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += weight);
        }
        let total: f64 = sums.iter().sum();
        shares = sums.map(|sum| sum / total);
    }
    let factor = |(found, density): (&Found, &[f64; VARIANCES.len()])| {
        let weights = posterior(&shares, density);
        let kept = |variance: f64| variance * found.precision / (1.0 + variance * found.precision);
        weights.iter().zip(VARIANCES).map(|(weight, variance)| weight * kept(variance)).sum()
    };
    found.iter().zip(&densities).map(factor).collect()
}

/// How likely each law is, given the densities under it.
fn posterior(shares: &[f64; VARIANCES.len()], density: &[f64; VARIANCES.len()]) -> [f64; VARIANCES.len()] {
    let mut weights = *shares;
    weights.iter_mut().zip(density).for_each(|(weight, density)| *weight *= density);
    let sum: f64 = weights.iter().sum();
    weights.map(|weight| weight / sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_large_interaction_among_many_that_are_noise_is_kept_and_they_are_not() {
        // Noise has x near its dimension, here alternately 0.5 and 1.5 times as much.
        let noise = |i: usize| Found {
            dimension: 6.0,
            precision: 10.0,
            square: if i.is_multiple_of(2) { 3.0 } else { 9.0 },
        };
        let mut found: Vec<Found> = (0..40).map(noise).collect();
        found.push(Found { dimension: 6.0, precision: 10.0, square: 120.0 });
        let factors = factors(&found);
        assert!(factors[..40].iter().all(|&factor| factor < 0.1), "{factors:?}");
        assert!(factors[40] > 0.85, "{factors:?}");
    }

    #[test]
    fn where_all_are_alike_the_factor_is_that_of_their_own_law() {
        // x/D = 1 + τ²U throughout: with τ²U = 4 four fifths are kept
        let found: Vec<Found> =
            (0..200).map(|_| Found { dimension: 4.0, precision: 39.0625, square: 20.0 }).collect();
        let factors = factors(&found);
        assert!(factors.iter().all(|factor| (factor - 0.8).abs() < 0.03), "{}", factors[0]);
    }

    #[test]
    fn certainty_is_left_alone() {
        let found = [Found { dimension: 1.0, precision: 1e12, square: 1e11 }];
        assert!((factors(&found)[0] - 1.0).abs() < 1e-9);
    }
}
