//! What features and normal equations cost, beside products of matrices at the machine's best.
//!
//! `cargo bench -p undertone-represent --bench features`
//!
//! Scattering could be dense products with filter matrices: 784·(16·784 + 9·16·196) multiplications for an image of 28×28, and the blurring. The
//! yardstick is what these would take at the rate of a large product of matrices in the same run. The normal equations of n people
//! and m functions are n·m²/2 multiplications.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use std::hint::black_box;
use std::time::Instant;
use undertone_represent::{Matrix, Scattering};

const SIDE: usize = 28;
/// Short rounds, so that a busy machine leaves some of them alone.
const ROUNDS: usize = 41;
const IMAGES: usize = 64;
/// The side of the yardstick's matrices.
const SIZE: usize = 512;

/// The least of several timings, in seconds.
fn seconds(mut work: impl FnMut()) -> f64 {
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

/// Seconds for each image on so many cores.
fn scattering(cores: usize) -> f64 {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(cores).build().expect("threads");
    let filters = Scattering::new(SIDE * SIDE).expect("a square");
    let count = cores * 2 * IMAGES;
    let images = Matrix::from_fn(count, SIDE * SIDE, |i, j| ((i * 31 + j) as f32 * 0.1).sin().abs());
    let time = seconds(|| {
        pool.install(|| black_box(filters.transform(&images).expect("images")));
    });
    time / count as f64
}

/// Multiplications in a second of one core, in the normal equations.
fn normal_equations() -> f64 {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let (people, functions) = (1024, 1024);
    let rows = Matrix::from_fn(people, functions, |i, j| ((i * 7 + j) as f32 * 0.01).cos());
    let time = seconds(|| {
        pool.install(|| black_box(rows.gram()));
    });
    people as f64 * (functions as f64).powi(2) / 2.0 / time
}

fn main() {
    let peak = peak();
    println!("product of matrices: {:.1}·10^9 multiplications a second on one core", peak / 1e9);
    let pixels = (SIDE * SIDE) as f64;
    let (dense, pooled) = (pixels * 16.0 * (pixels + 9.0 * pixels / 4.0), 49.0 * pixels * (9.0 + 72.0 / 4.0));
    let yardstick = (dense + pooled) / peak;
    let (one, two) = (scattering(1), scattering(2));
    println!(
        "scattering: {:.0} images a second on one core, {:.1} times as many as dense products",
        1.0 / one,
        yardstick / one
    );
    println!("            {:.0} on two, {:.2} times as many as on one", 1.0 / two, one / two);
    let normal = normal_equations();
    println!(
        "normal equations: {:.1}·10^9 multiplications a second, {:.2} of the product's",
        normal / 1e9,
        normal / peak
    );
}
