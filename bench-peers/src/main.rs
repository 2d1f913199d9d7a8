//! The exact samplers of undertone beside those of other crates, in the same run.
//!
//! `cargo run --release` in this folder, or `just bench-peers`. Ours draw from ChaCha20 seeded by the system, as on a
//! device. opendp takes no generator: without its OpenSSL feature it uses its thread generator, ChaCha20 too. prio
//! takes ours.

use dashu::rational::RBig;
use getrandom::SysRng;
use opendp::traits::samplers::{sample_discrete_gaussian, sample_discrete_laplace};
use prio::dp::Rational;
use rand::distr::Distribution;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use std::hint::black_box;
use std::time::Instant;
use undertone_privacy::exact::{DiscreteGaussian, DiscreteLaplace, Scale};

/// Many short rounds, so that some are left alone by whatever else the machine does.
const ROUNDS: usize = 100;
/// What ours has to be faster by than opendp.
const BAR: f64 = 20.0;

/// The most samples a second of several rounds, each of `samples`.
fn rate(samples: usize, mut sample: impl FnMut()) -> f64 {
    let mut round = || {
        let start = Instant::now();
        for _ in 0..samples {
            sample();
        }
        samples as f64 / start.elapsed().as_secs_f64()
    };
    (0..ROUNDS).map(|_| round()).fold(0.0, f64::max)
}

/// The rates of ours, of opendp and of prio.
struct Rates {
    ours: f64,
    opendp: f64,
    prio: f64,
}

fn laplace(scale: u32, rng: &mut ChaCha20Rng) -> Rates {
    let ours = DiscreteLaplace::new(Scale::new(u64::from(scale), 1).expect("below 2^51"));
    let opendp = RBig::from(scale);
    let prio = prio::dp::distributions::DiscreteLaplace::new(rational(scale)).expect("positive");
    Rates {
        ours: rate(30_000, || {
            black_box(ours.sample(rng));
        }),
        opendp: rate(1_500, || drop(black_box(sample_discrete_laplace(opendp.clone())))),
        prio: rate(500, || drop(black_box(prio.sample(rng)))),
    }
}

fn gaussian(scale: u32, rng: &mut ChaCha20Rng) -> Rates {
    let square = Scale::new(u64::from(scale).pow(2), 1).expect("below 2^51");
    let ours = DiscreteGaussian::new(square).expect("below 2^50");
    let opendp = RBig::from(scale);
    let prio = prio::dp::distributions::DiscreteGaussian::new(rational(scale)).expect("positive");
    Rates {
        ours: rate(30_000, || {
            black_box(ours.sample(rng));
        }),
        opendp: rate(1_500, || drop(black_box(sample_discrete_gaussian(opendp.clone())))),
        prio: rate(200, || drop(black_box(prio.sample(rng)))),
    }
}

fn rational(scale: u32) -> Rational {
    Rational::from_unsigned(scale, 1u32).expect("the denominator is one")
}

fn main() {
    let mut rng = ChaCha20Rng::try_from_rng(&mut SysRng).expect("the system has randomness");
    println!("Million samples a second, the best of {ROUNDS} rounds, one core.\n");
    println!("{:<28}{:>8}{:>9}{:>8}{:>12}{:>10}", "noise", "ours", "opendp", "prio", "× opendp", "× prio");
    let mut least = f64::INFINITY;
    for scale in [1, 10, 1000, 1_000_000] {
        for (name, Rates { ours, opendp, prio }) in [
            (format!("discrete Laplace, b = {scale}"), laplace(scale, &mut rng)),
            (format!("discrete Gaussian, σ = {scale}"), gaussian(scale, &mut rng)),
        ] {
            least = least.min(ours / opendp);
            println!(
                "{name:<30}{:>6.2}{:>9.3}{:>8.3}{:>12.1}{:>10.1}",
                ours / 1e6,
                opendp / 1e6,
                prio / 1e6,
                ours / opendp,
                ours / prio
            );
        }
    }
    let verdict = if least >= BAR { "met" } else { "missed" };
    println!("\nAt least {least:.1} times opendp; the bar of {BAR} is {verdict}.");
}
