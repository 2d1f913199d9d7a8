//! What features and normal equations cost, beside products of matrices at the machine's best.
//!
//! `cargo bench -p undertone-represent --bench features`
//!
//! Scattering could be dense products with filter matrices: 784·(16·784 + 9·16·196) multiplications for an image of 28×28, and the blurring. The
//! yardstick is what these would take at the rate of a large product of matrices in the same run. The normal equations of n people
//! and m functions are n·m²/2 multiplications.
//!
//! The whole solve in a kernel is everything from coordinates to an orthonormal basis: nearness, Cholesky, triangular solves, normal equations,
//! eigenvectors and the turn into them. Its multiplications are counted as if all were in single precision, although those over the
//! landmarks are not, and without exponentials.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use std::hint::black_box;
use std::time::Instant;
use undertone_represent::{KernelBasis, Matrix, Scattering};

const SIDE: usize = 28;
/// Short rounds, so that a busy machine leaves some of them alone.
const ROUNDS: usize = 41;
const IMAGES: usize = 64;
/// The side of the yardstick's matrices.
const SIZE: usize = 1024;

/// Seconds that this thread has run, where the system tells it: another program on the same core does not count.
fn own_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse::<f64>().ok().map(|nanoseconds| nanoseconds * 1e-9)
}

/// What something that is done once takes one thread, in seconds.
fn seconds_once(work: impl FnOnce()) -> f64 {
    let (start, own) = (Instant::now(), own_seconds());
    work();
    match own.zip(own_seconds()) {
        Some((before, after)) => after - before,
        None => start.elapsed().as_secs_f64(),
    }
}

/// The mean of several timings of one thread, in seconds: the system's count moves in steps that are longer than a round.
fn seconds(mut work: impl FnMut()) -> f64 {
    seconds_once(|| (0..ROUNDS).for_each(|_| work())) / ROUNDS as f64
}

/// The least of several timings on the clock.
fn clock_seconds(mut work: impl FnMut()) -> f64 {
    let mut round = || {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..ROUNDS).map(|_| round()).fold(f64::INFINITY, f64::min)
}

/// Multiplications in a second of one core, in a product of matrices.
fn peak() -> f64 {
    let a = Mat::<f32>::from_fn(SIZE, SIZE, |i, j| (i * 3 + j) as f32 * 1e-3);
    let mut out = Mat::<f32>::zeros(SIZE, SIZE);
    let time = seconds(|| {
        matmul(out.as_mut(), Accum::Replace, a.as_ref(), a.as_ref(), 1.0, Par::Seq);
        black_box(&out);
    });
    (SIZE as f64).powi(3) / time
}

fn pool(cores: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(cores).build().expect("threads")
}

/// Seconds for each image: of one thread, and on the clock with so many cores.
fn scattering(cores: usize) -> (f64, f64) {
    let filters = Scattering::new(SIDE * SIDE).expect("a square");
    let count = cores * IMAGES;
    let images = Matrix::from_fn(count, SIDE * SIDE, |i, j| ((i * 31 + j) as f32 * 0.1).sin().abs());
    let transform = || {
        black_box(filters.transform(&images).expect("images"));
    };
    let pool = pool(cores);
    let own = pool.install(|| seconds(transform));
    (own / count as f64, clock_seconds(|| pool.install(transform)) / count as f64)
}

/// Multiplications in a second of one core, in the normal equations.
fn normal_equations() -> f64 {
    let (people, functions) = (1024, 1024);
    let rows = Matrix::from_fn(people, functions, |i, j| ((i * 7 + j) as f32 * 0.01).cos());
    let time = pool(1).install(|| {
        seconds(|| {
            black_box(rows.gram());
        })
    });
    people as f64 * (functions as f64).powi(2) / 2.0 / time
}

/// Multiplications in a second of one core, in the whole solve with so many people, landmarks and coordinates.
fn kernel_solve(people: usize, landmarks: usize, coordinates: usize) -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let values = (0..people * coordinates).map(|_| rng.next_u32() as f32 / 2f32.powi(32)).collect();
    let places = Matrix::new(coordinates, values).expect("whole rows");
    let mut kept = 0;
    let time = pool(1).install(|| {
        seconds_once(|| {
            let basis = KernelBasis::new(&places, landmarks).expect("people who differ");
            kept = black_box(&basis).values.len();
        })
    });
    let [n, m, d, kept] = [people, landmarks, coordinates, kept].map(|count| count as f64);
    let nearness = (n + m) * m * d;
    let cholesky = m.powi(3) / 6.0;
    let solve_and_square = n * m * m;
    // To three diagonals and back; what lies between depends on the numbers and is not counted
    let eigenvectors = (2.0 / 3.0 + 1.0) * m.powi(3);
    let turn = n * m * kept + m * m * kept / 2.0;
    (nearness + cholesky + solve_and_square + eigenvectors + turn) / time
}

fn main() {
    let peak = peak();
    println!("product of matrices: {:.1}·10^9 multiplications a second on one core", peak / 1e9);
    let pixels = (SIDE * SIDE) as f64;
    let (dense, pooled) = (pixels * 16.0 * (pixels + 9.0 * pixels / 4.0), 49.0 * pixels * (9.0 + 72.0 / 4.0));
    let yardstick = (dense + pooled) / peak;
    let ((one, one_clock), (_, two_clock)) = (scattering(1), scattering(2));
    println!(
        "scattering: {:.0} images a second on one core, {:.1} times as many as dense products",
        1.0 / one,
        yardstick / one
    );
    println!(
        "            {:.0} on two, {:.2} times as many as on one",
        1.0 / two_clock,
        one_clock / two_clock
    );
    let normal = normal_equations();
    println!(
        "normal equations: {:.1}·10^9 multiplications a second, {:.2} of the product's",
        normal / 1e9,
        normal / peak
    );
    let solve = kernel_solve(20_000, 2000, 100);
    println!(
        "whole solve in a kernel: {:.1}·10^9 multiplications a second, {:.2} of the product's",
        solve / 1e9,
        solve / peak
    );
}
