//! Weights that move by one outer product at a time, with the mean of all that they ever were.
//!
//! W is kept as s·V, so that a projection onto a ball is a product of two numbers. With S = s_0 + … + s_t, the sum of all
//! weights so far is
//!
//! > Σ_τ s_τ·V_τ = S·V - U,  where V ← V + Δ goes with U ← U + S·Δ
//!
//! so that the mean costs what the step costs: nothing is done to features that a row does not have. |W|² is followed
//! from step to step. From time to time s is put back to one, the sum is moved to a place of its own, in 64 bits, and
//! |W|² is taken anew.

#![expect(
    clippy::inline_always,
    reason = "what is not inlined into `vectorized` is compiled for the least of processors"
)]

use super::Weights;
use super::gathered::Gathered;
use super::kernels::{LANES, Lanes, add_product, vectorized};
use serde::{Deserialize, Serialize};

/// Steps after which the sum is moved.
const PERIOD: u32 = 4096;
/// The smallest s before V is brought back to W: S·V may be larger than the sum by 1/s, and lose as much precision.
const SMALLEST_SCALE: f64 = 1.0 / 32.0;
/// Running sums of the scores of one row, so that a product need not wait for the one before.
const CHAINS: usize = 4;

/// W and the mean of its past.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Averaged {
    features: usize,
    classes: usize,
    /// Registers for the K classes of a feature
    width: usize,
    /// V and U of each feature side by side, the intercept last
    values: Vec<Lanes>,
    /// s
    scale: f64,
    /// S
    scales: f64,
    norm_squared: f64,
    /// The sum of all W before this period, as [`Weights`] lay them out
    sum: Vec<f64>,
    count: u64,
    period: u32,
}

impl Averaged {
    pub(super) fn zero(features: usize, classes: usize) -> Self {
        let width = classes.div_ceil(LANES);
        Self {
            features,
            classes,
            width,
            values: vec![[0.0; LANES]; 2 * width * (features + 1)],
            scale: 1.0,
            scales: 0.0,
            norm_squared: 0.0,
            sum: vec![0.0; (features + 1) * classes],
            count: 0,
            period: 0,
        }
    }

    /// The sizes of all that is kept.
    pub(super) fn shape(&self) -> [usize; 5] {
        [self.features, self.classes, self.width, self.values.len(), self.sum.len()]
    }

    /// How many weights the mean is over.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// z = Wᵀx; `scores` are [`padded`](super::kernels::padded).
    pub(super) fn scores(&self, row: &Gathered, scores: &mut [f32]) {
        vectorized(Score { weights: self, row: row.entries(), scores: scores.as_chunks_mut().0 });
    }

    /// Counts W towards the mean and then moves it by -η·x·gᵀ.
    pub(super) fn step(&mut self, row: &Gathered, rate: f64, gradient: &[f32], scores: &[f32]) {
        self.count += 1;
        self.scales += self.scale;
        let dot = |a: &[f32], b: &[f32]| f64::from(a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>());
        let size = f64::from(row.norm_squared());
        // |W - η·x·gᵀ|² = |W|² - 2η·⟨g, Wᵀx⟩ + η²·|g|²·|x|²
        self.norm_squared += rate * (rate * dot(gradient, gradient) * size - 2.0 * dot(gradient, scores));
        let gradient = gradient.as_chunks().0;
        let shift = (-rate / self.scale) as f32;
        vectorized(Move { weights: self, row: row.entries(), gradient, shift });
        self.period += 1;
        if self.period == PERIOD {
            self.fold();
        }
    }

    /// The nearest weights in the ball |W| ≤ `radius`.
    pub(super) fn project(&mut self, radius: f64) {
        if self.norm_squared > radius * radius {
            self.scale *= radius / self.norm_squared.sqrt();
            self.norm_squared = radius * radius;
            if self.scale < SMALLEST_SCALE {
                self.fold();
            }
        }
    }

    /// The mean of all W that were counted.
    pub(super) fn mean(&self) -> Weights {
        let mut sum = self.sum.clone();
        self.add_period(&mut sum);
        let mut weights = Weights::zero(self.features, self.classes);
        for (w, sum) in weights.values_mut().iter_mut().zip(sum) {
            *w = (sum / self.count as f64) as f32;
        }
        weights
    }

    /// Adds the weights of this period.
    fn add_period(&self, sum: &mut [f64]) {
        let features = self.values.chunks_exact(2 * self.width);
        for (sum, values) in sum.chunks_exact_mut(self.classes).zip(features) {
            let (v, u) = values.split_at(self.width);
            for (sum, (v, u)) in sum.iter_mut().zip(v.as_flattened().iter().zip(u.as_flattened())) {
                *sum += self.scales * f64::from(*v) - f64::from(*u);
            }
        }
    }

    /// Begins a new period.
    fn fold(&mut self) {
        let mut sum = std::mem::take(&mut self.sum);
        self.add_period(&mut sum);
        self.sum = sum;
        self.norm_squared = 0.0;
        for values in self.values.chunks_exact_mut(2 * self.width) {
            let (v, u) = values.split_at_mut(self.width);
            for v in v.as_flattened_mut() {
                *v = (self.scale * f64::from(*v)) as f32;
                self.norm_squared += f64::from(*v).powi(2);
            }
            u.as_flattened_mut().fill(0.0);
        }
        (self.scale, self.scales, self.period) = (1.0, 0.0, 0);
    }
}

struct Score<'a> {
    weights: &'a Averaged,
    row: &'a [(u32, f32)],
    scores: &'a mut [Lanes],
}

impl pulp::NullaryFnOnce for Score<'_> {
    type Output = ();

    #[inline(always)]
    fn call(mut self) {
        match self.weights.width {
            1 => self.of_width::<1>(),
            2 => self.of_width::<2>(),
            3 => self.of_width::<3>(),
            _ => self.of_any_width(),
        }
        let scale = self.weights.scale as f32;
        self.scores.as_flattened_mut().iter_mut().for_each(|z| *z *= scale);
    }
}

impl Score<'_> {
    #[inline(always)]
    fn of_width<const W: usize>(&mut self) {
        let mut sums = [[[0f32; LANES]; W]; CHAINS];
        let of = |feature: u32| &self.weights.values[2 * W * feature as usize..][..W];
        let (groups, rest) = self.row.as_chunks::<CHAINS>();
        for group in groups {
            for (sums, &(feature, x)) in sums.iter_mut().zip(group) {
                for (sum, v) in sums.iter_mut().zip(of(feature)) {
                    add_product(sum, *v, [x; LANES]);
                }
            }
        }
        for (sums, &(feature, x)) in sums.iter_mut().zip(rest) {
            for (sum, v) in sums.iter_mut().zip(of(feature)) {
                add_product(sum, *v, [x; LANES]);
            }
        }
        for (w, z) in self.scores[..W].iter_mut().enumerate() {
            *z = std::array::from_fn(|lane| {
                (sums[0][w][lane] + sums[1][w][lane]) + (sums[2][w][lane] + sums[3][w][lane])
            });
        }
    }

    #[inline(always)]
    fn of_any_width(&mut self) {
        let width = self.weights.width;
        self.scores.fill([0.0; LANES]);
        for &(feature, x) in self.row {
            let values = &self.weights.values[2 * width * feature as usize..][..width];
            for (z, v) in self.scores.iter_mut().zip(values) {
                add_product(z, *v, [x; LANES]);
            }
        }
    }
}

struct Move<'a> {
    weights: &'a mut Averaged,
    row: &'a [(u32, f32)],
    gradient: &'a [Lanes],
    /// -η/s
    shift: f32,
}

impl pulp::NullaryFnOnce for Move<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        match self.weights.width {
            1 => self.of_width::<1>(),
            2 => self.of_width::<2>(),
            3 => self.of_width::<3>(),
            _ => self.of_any_width(),
        }
    }
}

impl Move<'_> {
    #[inline(always)]
    fn of_width<const W: usize>(self) {
        let scales = self.weights.scales as f32;
        let v_shift: [Lanes; W] = std::array::from_fn(|w| self.gradient[w].map(|g| g * self.shift));
        let u_shift: [Lanes; W] = v_shift.map(|shift| shift.map(|g| g * scales));
        for &(feature, x) in self.row {
            let values = &mut self.weights.values[2 * W * feature as usize..][..2 * W];
            for w in 0..W {
                add_product(&mut values[w], v_shift[w], [x; LANES]);
                add_product(&mut values[W + w], u_shift[w], [x; LANES]);
            }
        }
    }

    #[inline(always)]
    fn of_any_width(self) {
        let (width, scales) = (self.weights.width, self.weights.scales as f32);
        for &(feature, x) in self.row {
            let values = &mut self.weights.values[2 * width * feature as usize..][..2 * width];
            let (v, u) = values.split_at_mut(width);
            let shift = x * self.shift;
            for ((v, u), g) in v.iter_mut().zip(u).zip(self.gradient) {
                add_product(v, *g, [shift; LANES]);
                add_product(u, *g, [shift * scales; LANES]);
            }
        }
    }
}
