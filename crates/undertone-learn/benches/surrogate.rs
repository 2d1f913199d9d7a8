//! What a surrogate's value and gradient cost, as a share of the multiply-adds that this processor does in the same time.
//!
//! `cargo bench -p undertone-learn --bench surrogate`

#![expect(
    clippy::inline_always,
    reason = "what is not inlined into what is dispatched is compiled for the least of processors"
)]

use pulp::Simd;
use std::hint::black_box;
use std::time::Instant;
use undertone_learn::bernstein::{Surrogate, Workspace};
use undertone_learn::means::{Mean, Means};
use undertone_privacy::statistic::ParameterGrid;

/// Short rounds, and many: some are then not interrupted, whatever else the machine does.
const ROUNDS: usize = 400;
/// How long a round takes, about, in nanoseconds.
const ROUND: f64 = 1e5;

/// The least of several timings, in nanoseconds for each.
fn nanoseconds<T>(mut work: impl FnMut() -> T) -> f64 {
    let mut round = |times: usize| {
        let start = Instant::now();
        for _ in 0..times {
            black_box(work());
        }
        start.elapsed().as_secs_f64() * 1e9 / times as f64
    };
    let times = (ROUND / round(3).min(round(3))).clamp(1.0, 1e6) as usize;
    (0..ROUNDS).map(|_| round(times)).fold(f64::INFINITY, f64::min)
}

/// Multiply-adds on N independent sums, all in registers.
struct MultiplyAdds<const N: usize> {
    times: usize,
    factor: f64,
}

impl<const N: usize> pulp::WithSimd for MultiplyAdds<N> {
    /// How many there were
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> usize {
        let mut sums = [simd.splat_f64s(1.0); N];
        let (factor, term) = (simd.splat_f64s(self.factor), simd.splat_f64s(1.0 - self.factor));
        for _ in 0..self.times {
            for sum in &mut sums {
                *sum = simd.mul_add_f64s(*sum, factor, term);
            }
        }
        black_box(sums);
        self.times * N * S::F64_LANES
    }
}

/// Multiply-adds in a nanosecond with N sums.
fn rate<const N: usize>() -> f64 {
    let work = || pulp::Arch::new().dispatch(MultiplyAdds::<N> { times: 2000, factor: black_box(0.999_999) });
    work() as f64 / nanoseconds(work)
}

/// The most that any number of sums reaches.
fn peak() -> f64 {
    [rate::<8>(), rate::<10>(), rate::<12>(), rate::<14>()].into_iter().fold(0.0, f64::max)
}

fn line(axes: usize, degree: u32) {
    let grid = ParameterGrid::new(&vec![-1.0; axes], &vec![1.0; axes], degree).expect("a box");
    let mean = |j: u32| Some(Mean { value: f64::from(j % 101) / 100.0, variance: 1.0, answers: 20 });
    let means = Means::new((0..grid.nodes()).map(mean).collect());
    let nodes = grid.nodes();
    let surrogate = Surrogate::fit(grid, 2, &means).expect("every node has a mean");
    let mut workspace = Workspace::default();
    let mut gradient = vec![0.0; axes];
    let w = vec![0.3; axes];
    let peak = peak();
    let ours = nanoseconds(|| surrogate.value_and_gradient(black_box(&w), &mut gradient, &mut workspace));
    // Axis i contracts the value twice and i derivatives once, each of (k+1)^(p-i) numbers.
    let size = |axis: usize| f64::from(degree + 1).powi((axes - axis) as i32);
    let products: f64 = (0..axes).map(|axis| (axis as f64 + 2.0) * size(axis)).sum();
    let rate = products / ours;
    println!(
        "{axes:>5}{degree:>8}{nodes:>10}{:>12.1}{rate:>14.2}{peak:>14.2}{:>10.2}",
        ours / 1e3,
        rate / peak
    );
}

fn main() {
    println!(
        "Value and gradient of a surrogate, one core; rates are multiply-adds in a nanosecond, the least time of {ROUNDS} rounds."
    );
    println!(
        "{:>5}{:>8}{:>10}{:>12}{:>14}{:>14}{:>10}",
        "axes", "degree", "nodes", "µs", "ours", "peak", "ratio"
    );
    for (axes, degree) in [(2, 315), (3, 45), (4, 17), (5, 9), (3, 9), (2, 31)] {
        line(axes, degree);
    }
}
