//! The shared suite over every mechanism there is, in ordinary and in extreme setups.

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use undertone_audit::registry::{Examiner, Kind, Mechanism, Setup};
use undertone_audit::{Case, Failure, suite};
use undertone_privacy::label::{LabelMechanism, SubsetSelection};
use undertone_privacy::vector::{Ball, VectorKind};
use undertone_privacy::{Epsilon, Mu, Randomizer, Rho, Unbiased};

/// Lets the laws be checked with so many draws for each input.
struct Suite {
    draws: u64,
    rng: ChaCha12Rng,
}

impl Suite {
    fn new(draws: u64, seed: u64) -> Self {
        Self { draws, rng: ChaCha12Rng::seed_from_u64(seed) }
    }
}

impl Examiner for Suite {
    type Finding = Result<(), Failure>;

    fn plain<R: Randomizer>(&mut self, case: &Case<R>) -> Self::Finding {
        suite::check(case, self.draws, &mut self.rng)
    }

    fn unbiased<R: Unbiased>(&mut self, case: &Case<R>) -> Self::Finding {
        suite::check_unbiased(case, self.draws, &mut self.rng)
    }
}

/// A report of the codebook takes as long as a thousand of the others; and the noise on gradients is that of vectors, whose
/// many draws have shown its law.
fn is_slow(kind: Kind) -> bool {
    matches!(kind, Kind::Vector(VectorKind::Codebook) | Kind::Gradient(..))
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn check(kind: Kind, setup: &Setup, suite: &mut Suite) {
    let name = format!("{} at ε = {}", kind.name(), setup.epsilon);
    let mechanism = Mechanism::new(kind, setup).unwrap_or_else(|error| panic!("{name}: {error}"));
    mechanism.face(&name, suite).unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn every_mechanism_obeys_every_law_at_ordinary_promises() {
    let mut suite = Suite::new(20_000, 1);
    for kind in Kind::all() {
        suite.draws = if is_slow(kind) { 2000 } else { 20_000 };
        for value in [0.5, 1.0, 3.0] {
            check(kind, &Setup::usual(epsilon(value)).unwrap(), &mut suite);
        }
    }
}

#[test]
fn every_mechanism_obeys_every_law_at_extreme_promises() {
    let mut suite = Suite::new(4000, 2);
    for kind in Kind::all() {
        suite.draws = if is_slow(kind) { 500 } else { 4000 };
        for value in [1e-6, 50.0, 1e4] {
            let mut setup = Setup::usual(epsilon(value)).unwrap();
            // The discrete Gaussian is exact down to ρ = 2^-9.
            setup.rho = Rho::new(value.max(0.01)).unwrap();
            // e^-ε is nothing to a float, and only what is simulated in floats minds.
            if value > 700.0 && Mechanism::new(kind, &setup).unwrap().is_simulation_only() {
                continue;
            }
            check(kind, &setup, &mut suite);
        }
    }
}

#[test]
fn label_mechanisms_obey_every_law_for_few_and_for_many_labels() {
    for (classes, draws) in [(2, 20_000), (3, 20_000), (12, 2000), (1000, 300), (100_000, 20)] {
        let mut suite = Suite::new(draws, 3);
        for kind in Kind::all().filter(|kind| matches!(kind, Kind::Label(_))) {
            for value in [1e-6, 1.0, 50.0] {
                let setup = Setup { classes, ..Setup::usual(epsilon(value)).unwrap() };
                check(kind, &setup, &mut suite);
            }
        }
    }
}

#[test]
fn subset_selection_obeys_every_law_for_sets_of_one_and_of_all_but_one() {
    for (labels, draws) in [(2, 20_000), (5, 20_000), (9, 20_000), (1000, 300), (100_000, 20)] {
        let mut suite = Suite::new(draws, 4);
        for size in [1, 2.min(labels - 1), labels / 2, labels - 1] {
            for value in [1e-6, 1.0, 50.0] {
                let subset = SubsetSelection::with_size(labels, size, epsilon(value)).unwrap();
                let name = format!("{size} of {labels} labels at ε = {value}");
                let mechanism = Mechanism::Label(LabelMechanism::Subset(subset));
                mechanism.face(&name, &mut suite).unwrap_or_else(|failure| panic!("{failure}"));
            }
        }
    }
}

#[test]
fn vector_mechanisms_obey_every_law_in_few_and_in_many_dimensions() {
    for (dimension, draws) in [(1, 20_000), (2, 20_000), (40, 2000)] {
        let mut suite = Suite::new(draws, 5);
        for kind in Kind::all().filter(|kind| matches!(kind, Kind::Vector(_))) {
            suite.draws = if is_slow(kind) { 300 } else { draws };
            let mut setup = Setup::usual(epsilon(2.0)).unwrap();
            setup.ball = Ball::new(dimension, 2.5).unwrap();
            setup.mu = Mu::new(0.3).unwrap();
            check(kind, &setup, &mut suite);
        }
    }
}
