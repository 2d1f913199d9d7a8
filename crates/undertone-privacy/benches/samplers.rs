//! What exact noise, a number and a vector cost, in words of the same generator drawn in the same run.
//!
//! `cargo bench -p undertone-privacy --bench samplers`

use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use std::hint::black_box;
use std::time::Instant;
use undertone_privacy::exact::{DiscreteGaussian, DiscreteLaplace, RoundedGaussian, Scale, bernoulli_exp};
use undertone_privacy::number::{Bounds, NumberKind, NumberMechanism, OneBit};
use undertone_privacy::statistic::{Allocation, CosineBasis, LossAt, ParameterGrid, PointLoss};
use undertone_privacy::vector::{Ball, BallVector, Codebook, Gaussian, Laplace};
use undertone_privacy::{Epsilon, Mu, Randomizer, Rho, vector};

const ROUNDS: usize = 15;
/// How long a round takes, about, in nanoseconds.
const ROUND: f64 = 4e6;

/// The least of several timings of `draw`, in nanoseconds for each.
fn nanoseconds<T>(mut draw: impl FnMut() -> T) -> f64 {
    let mut round = |draws: usize| {
        let start = Instant::now();
        for _ in 0..draws {
            black_box(draw());
        }
        start.elapsed().as_secs_f64() * 1e9 / draws as f64
    };
    // As many draws as fill a round, by the faster of two short trials.
    let draws = (ROUND / round(20).min(round(20))).clamp(20.0, 1e6) as usize;
    (0..ROUNDS).map(|_| round(draws)).fold(f64::INFINITY, f64::min)
}

/// Prints a line for each draw, against the word that was timed beside it.
struct Table {
    rng: ChaCha12Rng,
}

fn heading(what: &str) {
    println!("\n{what:<36}{:>12}{:>14}{:>14}", "ns", "million/s", "words");
}

impl Table {
    fn line<T>(&mut self, name: &str, mut draw: impl FnMut(&mut ChaCha12Rng) -> T) {
        let word = nanoseconds(|| self.rng.next_u64());
        let ours = nanoseconds(|| draw(&mut self.rng));
        println!("{name:<36}{ours:>12.1}{:>14.3}{:>14.1}", 1e3 / ours, ours / word);
    }
}

fn noise(table: &mut Table) {
    heading("noise");
    table.line("one word", Rng::next_u64);
    table.line("coin of exp(-1/3)", |rng| bernoulli_exp(1, 3, rng));
    table.line("coin of exp(-5)", |rng| bernoulli_exp(5, 1, rng));
    for scale in [1u64, 10, 1000, 1_000_000] {
        let laplace = DiscreteLaplace::new(Scale::new(scale, 1).expect("below 2^51"));
        table.line(&format!("discrete Laplace, b = {scale}"), |rng| laplace.sample(rng));
    }
    for scale in [1u64, 10, 1000, 1_000_000] {
        let square = Scale::new(scale * scale, 1).expect("below 2^51");
        let gaussian = DiscreteGaussian::new(square).expect("below 2^50");
        table.line(&format!("discrete Gaussian, σ = {scale}"), |rng| gaussian.sample(rng));
    }
    for scale in [1, 1000, 1_000_000] {
        let rounded = RoundedGaussian::new(scale).expect("positive and small");
        table.line(&format!("rounded Gaussian, σ = {scale}"), |rng| rounded.sample(rng));
    }
}

fn numbers(table: &mut Table, epsilon: Epsilon) {
    heading(&format!("a number, ε = {}", epsilon.get()));
    let bounds = Bounds::new(-1.0, 1.0).expect("an interval");
    let truth = bounds.place(0.3).expect("inside");
    for kind in NumberKind::ALL {
        let mechanism = NumberMechanism::new(kind, bounds, epsilon).expect("valid");
        table.line(kind.name(), |rng| mechanism.randomize(&truth, rng));
    }
}

/// A line for a vector mechanism that devices may run.
fn vector_line<M: Randomizer<Input = BallVector>>(
    table: &mut Table,
    name: &str,
    mechanism: &M,
    g: &BallVector,
) {
    table.line(name, |rng| mechanism.randomize(g, rng));
}

fn vectors(table: &mut Table, epsilon: Epsilon, dimension: usize) {
    heading(&format!("a vector, p = {dimension}, ε = {}", epsilon.get()));
    let ball = Ball::new(dimension, 1.0).expect("a ball");
    // Of length 0.9, all coordinates alike
    let g = ball.clamp(&vec![0.9 / (dimension as f64).sqrt(); dimension]).expect("finite");
    let (mu, rho) = (Mu::new(1.0).expect("positive"), Rho::new(0.5).expect("positive"));
    vector_line(table, "laplace", &Laplace::new(ball, epsilon).expect("valid"), &g);
    vector_line(table, "gdp, μ = 1", &Gaussian::gdp(ball, mu).expect("valid"), &g);
    let gaussian = vector::DiscreteGaussian::new(ball, rho).expect("valid");
    vector_line(table, "discrete-gaussian, ρ = 1/2", &gaussian, &g);
    let codebook = Codebook::new(ball, epsilon).expect("valid");
    vector_line(table, &format!("codebook, M = {}", codebook.codewords()), &codebook, &g);
}

/// What a device does in a collection of one round: it draws what it is asked, evaluates it and reports one bit.
fn statistics(table: &mut Table, epsilon: Epsilon) {
    heading(&format!("one statistic of a record, one bit, ε = {}", epsilon.get()));
    let (share, signed) = (Bounds::new(0.0, 1.0).expect("ends"), Bounds::new(-1.0, 1.0).expect("ends"));
    for (axes, degree) in [(2, 2), (3, 3), (5, 2)] {
        let grid = ParameterGrid::new(&vec![-1.0; axes], &vec![1.0; axes], degree).expect("a box");
        let at = LossAt::new(PointLoss::Logistic, grid, 1.0).expect("valid");
        let (allocation, bit) =
            (at.allocation().expect("valid"), OneBit::new(share, epsilon).expect("valid"));
        let x = vec![0.3; axes];
        table.line(&format!("loss at a node, p = {axes}, k = {degree}"), |rng| {
            let value = at.share(allocation.draw(rng), &x, 1.0)?;
            bit.randomize(&share.place(value)?, rng)
        });
    }
    for (axes, degrees) in [(1, 10), (2, 10)] {
        let basis = CosineBasis::new(&vec![signed; axes], degrees).expect("valid");
        let allocation = Allocation::new(&vec![1; basis.functions() as usize]).expect("valid");
        let bit = OneBit::new(signed, epsilon).expect("valid");
        let x = vec![0.3; axes];
        table.line(&format!("product of cosines, p = {axes}, t = {degrees}"), |rng| {
            let value = basis.value(allocation.draw(rng), &x)?;
            bit.randomize(&signed.place(value)?, rng)
        });
    }
}

fn main() {
    let mut table = Table { rng: ChaCha12Rng::seed_from_u64(1) };
    let epsilon = Epsilon::new(1.0).expect("positive");
    println!(
        "Generator: ChaCha12. Times are the least of {ROUNDS} rounds, one core; a word is one of that generator."
    );
    noise(&mut table);
    numbers(&mut table, epsilon);
    statistics(&mut table, epsilon);
    vectors(&mut table, epsilon, 10);
    vectors(&mut table, epsilon, 100);
}
