//! Floating-point leaks: values that one input can produce and another cannot.
//!
//! x + noise, computed in floating point, is rounded to a grid that depends on x and on how near the noise came to
//! it: near zero, 1 + n is a multiple of 2^-53, whereas 0 + n is as fine as n (Mironov, *On significance of the
//! least significant bits for differential privacy*, 2012). One low bit then tells the inputs apart with
//! certainty, whatever the densities promise.

use crate::event_loss::Tally;
use crate::{Case, Settings, claimed_loss, event_loss};
use rand_core::CryptoRng;
use std::collections::{BTreeMap, BTreeSet};
use undertone_privacy::{Guarantee, PrivacyError, Randomizer};

/// A way to tell two inputs apart that the promise does not allow.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each variant's message says what its fields are")]
pub enum Leak {
    #[error("{report} was drawn under one input of pair {pair} and is impossible under the other")]
    OneSided { pair: usize, report: String },
    #[error("{report} was drawn under an input of pair {pair} for which the likelihood calls it impossible")]
    Unstated { pair: usize, report: String },
    #[error(
        "{feature} has probability at least {p:.5} under one input and at most {q:.5} under the other: a loss of {loss:.2}"
    )]
    Bits { feature: Feature, p: f64, q: f64, loss: f64 },
}

/// A report, among `draws` under each input of each pair, that the likelihood calls impossible: under the other
/// input (no promise but one with δ survives that) or under its own (then the likelihood is not the sampler's).
pub fn one_sided_report<R: Randomizer>(
    case: &Case<R>,
    draws: u64,
    rng: &mut impl CryptoRng,
) -> Result<Option<Leak>, PrivacyError> {
    let forgiven = matches!(case.randomizer.guarantee(), Guarantee::Approximate(..));
    for (pair, (a, b)) in case.pairs.iter().enumerate() {
        for (x, other) in [(a, b), (b, a)] {
            for _ in 0..draws {
                let report = case.randomizer.randomize(x, rng)?;
                let impossible = |input| case.randomizer.ln_likelihood(&report, input) == f64::NEG_INFINITY;
                if impossible(x) {
                    return Ok(Some(Leak::Unstated { pair, report: format!("{report:?}") }));
                }
                if !forgiven && impossible(other) {
                    return Ok(Some(Leak::OneSided { pair, report: format!("{report:?}") }));
                }
            }
        }
    }
    Ok(None)
}

/// Where a float stands: its sign and power of two, and the power of two of its lowest bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Grain {
    negative: bool,
    magnitude: i32,
    lowest: i32,
}

impl Grain {
    /// |value| lies in \[2^magnitude, 2^(magnitude+1)) and is an odd multiple of 2^lowest. Zero is a multiple of all.
    fn of(value: f64) -> Self {
        let bits = value.to_bits();
        let (biased, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
        let negative = value.is_sign_negative();
        if value == 0.0 {
            return Self { negative, magnitude: -1075, lowest: 1024 };
        }
        // subnormal numbers lack the leading one
        let (power, whole) =
            if biased == 0 { (-1022, fraction) } else { (biased - 1023, fraction | 1 << 52) };
        let lowest = power - 52 + whole.trailing_zeros() as i32;
        Self { negative, magnitude: power - 52 + 63 - whole.leading_zeros() as i32, lowest }
    }
}

/// What an output is measured from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    Zero,
    First,
    Second,
}

/// An event about the bits of an output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feature {
    origin: Origin,
    negative: bool,
    /// The power of two of the magnitude; with `or_less`, at most.
    magnitude: i32,
    or_less: bool,
    /// The lowest bit is at most this power of two if `fine`, above it otherwise.
    lowest: i32,
    fine: bool,
}

impl std::fmt::Display for Feature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let value = match self.origin {
            Origin::Zero => "the output",
            Origin::First => "the output less the first truth",
            Origin::Second => "the output less the second truth",
        };
        let sign = if self.negative { "negative" } else { "positive" };
        let below = if self.or_less { "at most " } else { "" };
        let side = if self.fine { "at most" } else { "above" };
        write!(
            f,
            "“{value} is {sign}, of magnitude {below}2^{}, with its lowest bit {side} 2^{}”",
            self.magnitude, self.lowest
        )
    }
}

impl Feature {
    fn holds(&self, origin: Origin, grain: Grain) -> bool {
        let size = grain.magnitude == self.magnitude || (self.or_less && grain.magnitude < self.magnitude);
        let fine = grain.lowest <= self.lowest;
        self.origin == origin && self.negative == grain.negative && size && fine == self.fine
    }
}

/// Counts of grains, `[under the first input, under the second]`.
type Grains = BTreeMap<(Origin, Grain), [u64; 2]>;

/// Looks for a bit pattern in the outputs of `sampler` that gives away more than `claimed` allows.
///
/// `inputs` are two neighbours, each with the true value that outputs lie around. A tenth of the samples chooses
/// the pattern, the rest proves it with the stated confidence. For a vector, call it for each coordinate.
pub fn float_leak<I, G: CryptoRng>(
    sampler: impl Fn(&I, &mut G) -> f64,
    inputs: [(&I, f64); 2],
    claimed: &Guarantee,
    settings: &Settings,
    rng: &mut G,
) -> Option<Leak> {
    let (choosing, testing) = settings.split();
    let mut grains = |trials: u64| {
        let mut grains = Grains::new();
        for (side, (input, _)) in inputs.iter().enumerate() {
            for _ in 0..trials {
                let output = sampler(input, rng);
                for (origin, from) in
                    [(Origin::Zero, 0.0), (Origin::First, inputs[0].1), (Origin::Second, inputs[1].1)]
                {
                    grains.entry((origin, Grain::of(output - from))).or_default()[side] += 1;
                }
            }
        }
        grains
    };
    let (feature, towards) = most_telling(&grains(choosing), claimed, choosing)?;
    let tally = tally(count(&grains(testing), feature), towards, testing);
    let (p, q) = tally.bounds((1.0 - settings.confidence) / 2.0);
    let loss = event_loss(claimed, p, q);
    (loss > claimed_loss(claimed)).then_some(Leak::Bits { feature, p, q, loss })
}

/// The feature that promises the largest loss, and the input it points to.
fn most_telling(grains: &Grains, claimed: &Guarantee, trials: u64) -> Option<(Feature, usize)> {
    let mut best = None;
    let mut most = 0.0;
    for feature in features(grains) {
        let counts = count(grains, feature);
        for towards in [0, 1] {
            let loss = tally(counts, towards, trials).cautious_loss(claimed);
            if loss > most {
                most = loss;
                best = Some((feature, towards));
            }
        }
    }
    best
}

fn tally(counts: [u64; 2], towards: usize, trials: u64) -> Tally {
    Tally { p: counts[towards], p_trials: trials, q: counts[1 - towards], q_trials: trials }
}

/// Every feature that the grains at hand can tell apart.
fn features(grains: &Grains) -> Vec<Feature> {
    let mut features = Vec::new();
    let views: BTreeSet<_> = grains.keys().map(|(origin, grain)| (*origin, grain.negative)).collect();
    for (origin, negative) in views {
        let seen = || grains.keys().filter(|(o, g)| *o == origin && g.negative == negative).map(|(_, g)| g);
        let magnitudes: BTreeSet<_> = seen().map(|grain| grain.magnitude).collect();
        let bits: BTreeSet<_> = seen().map(|grain| grain.lowest).collect();
        for &magnitude in &magnitudes {
            for &lowest in &bits {
                for (or_less, fine) in [(false, false), (false, true), (true, false), (true, true)] {
                    features.push(Feature { origin, negative, magnitude, or_less, lowest, fine });
                }
            }
        }
    }
    features
}

fn count(grains: &Grains, feature: Feature) -> [u64; 2] {
    let held = grains.iter().filter(|((origin, grain), _)| feature.holds(*origin, *grain));
    held.fold([0, 0], |[first, second], (_, counts)| [first + counts[0], second + counts[1]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reports;
    use crate::doubles::{Channel, FloatGaussian, Response, pure, unit};
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;
    use undertone_privacy::{Delta, Epsilon, Mu};

    const SETTINGS: Settings = Settings { trials: 50_000, confidence: 0.999 };

    /// x + b·sign·ln(U) with b = `scale`: the textbook Laplace mechanism.
    fn textbook_laplace(scale: f64) -> impl Fn(&f64, &mut ChaCha12Rng) -> f64 {
        move |x, rng| {
            let sign = if unit(rng) < 0.5 { -1.0 } else { 1.0 };
            x + sign * scale * (1.0 - unit(rng)).ln()
        }
    }

    /// A whole number of sixteenths: P(n) ∝ 2^-|n/16|, by fair coins for the octave and by rejection within.
    fn grid_laplace(x: f64, rng: &mut ChaCha12Rng) -> f64 {
        loop {
            // a geometric number of octaves, then a place j of 16 within, kept with probability 2^(-j/16)
            let octaves = i64::from(rng_word(rng).trailing_zeros());
            let place = (rng_word(rng) % 16) as i64;
            let kept = unit(rng) < (-(place as f64) / 16.0).exp2();
            let noise = 16 * octaves + place;
            let negative = rng_word(rng).is_multiple_of(2);
            // zero has one sign only
            if kept && !(negative && noise == 0) {
                let units = (x * 16.0) as i64 + if negative { -noise } else { noise };
                return units as f64 / 16.0;
            }
        }
    }

    fn rng_word(rng: &mut ChaCha12Rng) -> u64 {
        rand_core::Rng::next_u64(rng)
    }

    fn leak(
        sampler: impl Fn(&f64, &mut ChaCha12Rng) -> f64,
        [a, b]: [f64; 2],
        claimed: &Guarantee,
    ) -> Option<Leak> {
        let mut rng = ChaCha12Rng::seed_from_u64(41);
        float_leak(sampler, [(&a, a), (&b, b)], claimed, &SETTINGS, &mut rng)
    }

    #[test]
    fn the_grain_of_three_quarters_is_minus_one_and_minus_two() {
        assert_eq!(Grain::of(-0.75), Grain { negative: true, magnitude: -1, lowest: -2 });
        assert_eq!(Grain::of(1.0 + f64::EPSILON), Grain { negative: false, magnitude: 0, lowest: -52 });
        let least = f64::from_bits(1);
        assert_eq!(Grain::of(3.0 * least), Grain { negative: false, magnitude: -1073, lowest: -1074 });
    }

    #[test]
    fn the_textbook_laplace_mechanism_is_caught() {
        for inputs in [[0.0, 1.0], [-1.0, 1.0], [0.3, 0.7]] {
            let epsilon = (inputs[1] - inputs[0]) / 1.5;
            let found = leak(textbook_laplace(1.5), inputs, &pure(epsilon));
            assert!(matches!(found, Some(Leak::Bits { q, .. }) if q < 1e-3), "{inputs:?}");
        }
    }

    #[test]
    fn the_textbook_gaussian_mechanism_is_caught() {
        let gaussian = FloatGaussian { shift: 1.0 };
        let sampler = |x: &f64, rng: &mut ChaCha12Rng| gaussian.randomize(&(*x > 0.0), rng).unwrap();
        let found = leak(sampler, [0.0, 1.0], &Guarantee::Gaussian(Mu::new(1.0).unwrap()));
        assert!(found.is_some());
    }

    #[test]
    fn discrete_laplace_on_a_grid_is_not_flagged() {
        // a shift of one is sixteen sixteenths, one octave: ε = ln 2
        assert_eq!(leak(|x, rng| grid_laplace(*x, rng), [0.0, 1.0], &pure(2f64.ln())), None);
        // and with half of that promised, the same mechanism is
        assert!(leak(|x, rng| grid_laplace(*x, rng), [0.0, 1.0], &pure(2f64.ln() / 2.0)).is_some());
    }

    #[test]
    fn a_report_that_only_one_input_gives_is_found() {
        let rows = vec![vec![0.5, 0.5, 0.0], vec![0.5, 0.49, 0.01]];
        let case = |claimed| {
            Case::new("channel", Channel { claimed, rows: rows.clone() }, vec![(0, 1)], Reports::Sampled)
        };
        let found =
            |claimed| one_sided_report(&case(claimed), 10_000, &mut ChaCha12Rng::seed_from_u64(42)).unwrap();
        assert_eq!(found(pure(1.0)), Some(Leak::OneSided { pair: 0, report: "2".into() }));
        let forgiving = Guarantee::Approximate(Epsilon::new(1.0).unwrap(), Delta::new(0.01).unwrap());
        assert_eq!(found(forgiving), None);
    }

    #[test]
    fn a_report_beyond_the_likelihood_is_found_and_an_honest_mechanism_has_none() {
        let honest = Response::honest(3, 1.0);
        let double = Response { likelihood_factor: 0.0, ..honest.clone() };
        let search = |double| {
            let case = Case::new("rr", double, vec![(0, 1)], Reports::Sampled);
            one_sided_report(&case, 1000, &mut ChaCha12Rng::seed_from_u64(43)).unwrap()
        };
        assert!(matches!(search(double), Some(Leak::Unstated { .. })));
        assert_eq!(search(honest), None);
    }
}
