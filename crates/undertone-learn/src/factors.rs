//! Numbers about who meets what: a line, and what pairs of sparse features add to it.
//!
//! > ŷ(x) = c + Σ_j w_j·x_j + Σ_{j<l} ⟨v_j, v_l⟩·x_j·x_l, the pairs being of sparse features
//!
//! (S. Rendle, *Factorization Machines*). Of people and things, each a category with thousands of values, that is a mean for each and what
//! tastes have in common; few parameters are known from many reports, and one report says little about any of them.
//!
//! **No knob.** Every parameter has a normal law around zero whose width is learnt, and so is the width θ of what is left, in which the
//! noise of the mechanism is the larger part at small ε: variational Bayes, parameter by parameter (Y. Lim and Y. Teh, *Variational
//! Bayesian Approach to Movie Rating Prediction*, for two columns). Where noise is large, posteriors stay wide and means near zero. With
//! means m, variances d, and z_i = Σ_{l≠j} x_l·m_l what person i brings to feature j, v_j has precision and mean
//!
//! > A = diag(1/τ) + Σ_i x²·(z_i·z_iᵀ + diag Σ_{l≠j} x_l²·d_l)/θ,  m_j = A⁻¹·Σ_i x·r_i·z_i/θ,  d_j = diag A⁻¹
//!
//! where r_i is what is left without v_j; widths are the means of m² + d. Of covariances only the diagonals go on to the others, and with three
//! and more sparse features in a row what pairs of others share is left out.

use crate::features::{Row, Rows};
use crate::{LearnError, Regressor};
use serde::{Deserialize, Serialize};

/// The length of v.
const RANK: usize = 16;
/// How often everything is gone through; without pairs first.
const SWEEPS: usize = 16;
const LINEAR_SWEEPS: usize = 3;
/// Widths at first, as parts of the variance of the values.
const FIRST_WIDTH: f64 = 0.1;

type Vector = [f64; RANK];

/// A fitted model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Factors {
    /// c
    intercept: f64,
    /// w, dense features first
    weights: Vec<f64>,
    /// v of each sparse feature
    vectors: Vec<Vector>,
}

impl Factors {
    /// ŷ.
    pub fn at(&self, row: Row<'_>) -> f64 {
        let dense = row.dense.len();
        let line: f64 = row.dense.iter().zip(&self.weights).map(|(&x, w)| f64::from(x) * w).sum();
        let (mut sum, mut squares, mut sparse) = ([0.0; RANK], 0.0, 0.0);
        for &(feature, x) in row.sparse {
            let x = f64::from(x);
            sparse += x * self.weights[dense + feature as usize];
            for (sum, v) in sum.iter_mut().zip(&self.vectors[feature as usize]) {
                *sum += x * v;
                squares += (x * v) * (x * v);
            }
        }
        // Σ_{j<l} ⟨v_j, v_l⟩·x_j·x_l = (|Σ x_j·v_j|² - Σ |x_j·v_j|²)/2
        self.intercept + line + sparse + (sum.iter().map(|s| s * s).sum::<f64>() - squares) / 2.0
    }

    /// About how many seconds of one core it takes: counted, a product in two nanoseconds.
    pub fn seconds(rows: &Rows) -> f64 {
        let entries: usize = rows.iter().map(|row| row.sparse.len()).sum();
        2e-9 * (entries * SWEEPS * RANK * RANK) as f64
    }

    /// Of values that are right on average.
    pub fn fit(rows: &Rows, values: &[f64]) -> Result<Self, LearnError> {
        if values.is_empty() {
            return Err(LearnError::NoReports);
        }
        let mut fit = Fit::new(rows, values);
        for sweep in 0..LINEAR_SWEEPS + SWEEPS {
            fit.line();
            if sweep >= LINEAR_SWEEPS {
                fit.pairs();
            }
            fit.widths();
        }
        Ok(Self { intercept: fit.intercept, weights: fit.weights, vectors: fit.vectors })
    }

    /// Refuses parameters that are not those of rows like these, or not finite.
    pub(crate) fn check(&self, rows: &Rows) -> Result<(), LearnError> {
        let problem = |problem: String| Err(LearnError::Model { problem });
        let (weights, vectors) = (self.weights.len(), self.vectors.len());
        if (weights, vectors) != (rows.width(), rows.sparse_width()) {
            return problem(format!(
                "it has {weights} weights and {vectors} vectors, its columns give {} features, {} of them sparse",
                rows.width(),
                rows.sparse_width()
            ));
        }
        let all = self.weights.iter().chain(self.vectors.iter().flatten()).chain([&self.intercept]);
        if all.into_iter().all(|parameter| parameter.is_finite()) {
            return Ok(());
        }
        problem("it has a parameter that is not finite".into())
    }
}

impl Regressor for Factors {
    fn predict(&self, rows: &Rows) -> Vec<f64> {
        rows.iter().map(|row| self.at(row)).collect()
    }
}

/// A fit on its way.
struct Fit {
    /// The rows and the numbers of each feature
    columns: Vec<Vec<(u32, f32)>>,
    dense: usize,
    intercept: f64,
    weights: Vec<f64>,
    weight_variances: Vec<f64>,
    vectors: Vec<Vector>,
    variances: Vec<Vector>,
    /// What is left of each value
    left: Vec<f64>,
    /// Σ x·m of each row, and Σ x²·d
    sums: Vec<Vector>,
    spreads: Vec<Vector>,
    /// θ, the widths of weights of dense and of sparse features, and τ
    noise: f64,
    widths: [f64; 2],
    vector_widths: Vector,
}

impl Fit {
    fn new(rows: &Rows, values: &[f64]) -> Self {
        let (dense, n) = (rows.dense_width(), values.len() as f64);
        let mut columns = vec![Vec::new(); rows.width()];
        for (i, row) in rows.iter().enumerate() {
            for (j, &x) in row.dense.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                columns[j].push((i as u32, x));
            }
            for &(j, x) in row.sparse {
                columns[dense + j as usize].push((i as u32, x));
            }
        }
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|z| (z - mean) * (z - mean)).sum::<f64>() / n;
        let width = FIRST_WIDTH * variance.max(f64::MIN_POSITIVE);
        // RANK·τ² is the variance of what a pair adds
        let vector_width = (width / RANK as f64).sqrt();
        let sparse = rows.sparse_width();
        let mut fit = Self {
            dense,
            intercept: mean,
            weights: vec![0.0; columns.len()],
            weight_variances: vec![0.0; columns.len()],
            vectors: vec![[0.0; RANK]; sparse],
            variances: vec![[0.0; RANK]; sparse],
            left: values.iter().map(|z| z - mean).collect(),
            sums: vec![[0.0; RANK]; values.len()],
            spreads: vec![[0.0; RANK]; values.len()],
            noise: variance,
            widths: [width; 2],
            vector_widths: [vector_width; RANK],
            columns,
        };
        fit.scatter((3.0 * vector_width).sqrt());
        fit
    }

    /// Vectors at zero would stay there, and vectors that are alike alike: a fixed public stream sends them apart.
    fn scatter(&mut self, length: f64) {
        let mut word = 0x9E37_79B9_7F4A_7C15u64;
        for feature in 0..self.vectors.len() {
            let vector: Vector = std::array::from_fn(|_| {
                word ^= word << 13;
                word ^= word >> 7;
                word ^= word << 17;
                length * (word as f64 / 2f64.powi(63) - 1.0)
            });
            self.put(feature, vector, [0.0; RANK]);
        }
    }

    /// Gives a feature another vector.
    fn put(&mut self, feature: usize, vector: Vector, variance: Vector) {
        let (before, spread) = (self.vectors[feature], self.variances[feature]);
        for &(i, x) in &self.columns[self.dense + feature] {
            let (i, x) = (i as usize, f64::from(x));
            let (sum, wide) = (&mut self.sums[i], &mut self.spreads[i]);
            let mut change = 0.0;
            for f in 0..RANK {
                let others = sum[f] - x * before[f];
                change += x * (vector[f] - before[f]) * others;
                sum[f] = others + x * vector[f];
                wide[f] += x * x * (variance[f] - spread[f]);
            }
            self.left[i] -= change;
        }
        (self.vectors[feature], self.variances[feature]) = (vector, variance);
    }

    /// c and w, one after the other.
    fn line(&mut self) {
        let shift = self.left.iter().sum::<f64>() / self.left.len() as f64;
        self.intercept += shift;
        self.left.iter_mut().for_each(|left| *left -= shift);
        for (j, column) in self.columns.iter().enumerate() {
            let width = self.widths[usize::from(j >= self.dense)];
            let (mut squares, mut sum) = (0.0, 0.0);
            for &(i, x) in column {
                let x = f64::from(x);
                squares += x * x;
                sum += x * self.left[i as usize];
            }
            // The precision of w and its mean
            let precision = 1.0 / width + squares / self.noise;
            let weight = (sum + squares * self.weights[j]) / self.noise / precision;
            let moved = weight - self.weights[j];
            for &(i, x) in column {
                self.left[i as usize] -= moved * f64::from(x);
            }
            (self.weights[j], self.weight_variances[j]) = (weight, 1.0 / precision);
        }
    }

    /// Every v.
    fn pairs(&mut self) {
        for feature in 0..self.vectors.len() {
            let (own, spread) = (self.vectors[feature], self.variances[feature]);
            let (mut a, mut b) = ([[0.0; RANK]; RANK], [0.0; RANK]);
            for &(i, x) in &self.columns[self.dense + feature] {
                let (i, x) = (i as usize, f64::from(x));
                let z: Vector = std::array::from_fn(|f| x * (self.sums[i][f] - x * own[f]));
                let rest = self.left[i] + (0..RANK).map(|f| own[f] * z[f]).sum::<f64>();
                for f in 0..RANK {
                    b[f] += rest * z[f];
                    for g in 0..RANK {
                        a[f][g] += z[f] * z[g];
                    }
                    a[f][f] += x * x * (self.spreads[i][f] - x * x * spread[f]).max(0.0);
                }
            }
            for f in 0..RANK {
                a[f].iter_mut().for_each(|a| *a /= self.noise);
                a[f][f] += 1.0 / self.vector_widths[f];
                b[f] /= self.noise;
            }
            let (vector, variance) = solve(&mut a, b);
            self.put(feature, vector, variance);
        }
    }

    /// θ, and the widths of everything.
    fn widths(&mut self) {
        let n = self.left.len() as f64;
        let mut noise: f64 = self.left.iter().map(|left| left * left).sum();
        for (j, column) in self.columns.iter().enumerate() {
            let variance = self.weight_variances[j];
            let pair =
                j.checked_sub(self.dense).map(|feature| (self.vectors[feature], self.variances[feature]));
            for &(i, x) in column {
                let (i, square) = (i as usize, f64::from(x) * f64::from(x));
                noise += square * variance;
                if let Some((own, spread)) = pair {
                    // Var⟨v_j, v_l⟩ = Σ_f (m_l² + d_l/2)·d_j, and the same the other way round
                    noise += (0..RANK)
                        .map(|f| {
                            let others = self.sums[i][f] - f64::from(x) * own[f];
                            let wide = (self.spreads[i][f] - square * spread[f]).max(0.0);
                            square * spread[f] * (others * others + wide / 2.0)
                        })
                        .sum::<f64>();
                }
            }
        }
        self.noise = (noise / n).max(f64::MIN_POSITIVE);
        let (dense, sparse) = (0..self.dense, self.dense..self.weights.len());
        for (width, range) in self.widths.iter_mut().zip([dense, sparse]) {
            let count = range.len().max(1) as f64;
            let squares: f64 =
                range.map(|j| self.weights[j] * self.weights[j] + self.weight_variances[j]).sum();
            *width = (squares / count).max(1e-12 * self.noise);
        }
        let count = self.vectors.len().max(1) as f64;
        self.vector_widths = std::array::from_fn(|f| {
            let both = self.vectors.iter().zip(&self.variances);
            (both.map(|(m, d)| m[f] * m[f] + d[f]).sum::<f64>() / count).max(f64::MIN_POSITIVE)
        });
    }
}

/// A⁻¹·b and the diagonal of A⁻¹, by A = L·Lᵀ. A is positive definite, as τ is added to what is not negative.
fn solve(a: &mut [Vector; RANK], b: Vector) -> (Vector, Vector) {
    for row in 0..RANK {
        for column in 0..=row {
            let rest = a[row][column] - (0..column).map(|k| a[row][k] * a[column][k]).sum::<f64>();
            a[row][column] =
                if row == column { rest.max(f64::MIN_POSITIVE).sqrt() } else { rest / a[column][column] };
        }
    }
    // L⁻¹·b, and L⁻¹ column by column: the diagonal of A⁻¹ = L⁻ᵀ·L⁻¹ is the squared length of its columns
    let lower = |mut x: Vector, first: usize| {
        for row in first..RANK {
            let known: f64 = (first..row).map(|k| a[row][k] * x[k]).sum();
            x[row] = (x[row] - known) / a[row][row];
        }
        x
    };
    let mut x = lower(b, 0);
    for row in (0..RANK).rev() {
        let known: f64 = (row + 1..RANK).map(|k| a[k][row] * x[k]).sum();
        x[row] = (x[row] - known) / a[row][row];
    }
    let diagonal = std::array::from_fn(|f| {
        let mut unit = [0.0; RANK];
        unit[f] = 1.0;
        lower(unit, f).iter().map(|x| x * x).sum()
    });
    (x, diagonal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_core::{Rng, SeedableRng};

    /// People who meet things: each has a mean and a taste for one of two sorts of things.
    struct World {
        rows: Rows,
        truth: Vec<f64>,
        rng: ChaCha8Rng,
    }

    const PEOPLE: u32 = 150;
    const THINGS: u32 = 100;

    fn world(meetings: usize, seed: u64) -> World {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut rows = Rows::new(0, (PEOPLE + THINGS) as usize);
        let mut truth = Vec::new();
        for _ in 0..meetings {
            let (person, thing) = (rng.next_u32() % PEOPLE, rng.next_u32() % THINGS);
            rows.push_with(|_, sparse| sparse.extend([(person, 1.0), (PEOPLE + thing, 1.0)]));
            let mean = f64::from(person % 5) / 4.0 - f64::from(thing % 3) / 2.0;
            let taste = if (person / 5 + thing / 3).is_multiple_of(2) { 0.8 } else { -0.8 };
            truth.push(3.0 + mean + taste);
        }
        World { rows, truth, rng }
    }

    impl World {
        /// Values with uniform noise of this variance.
        fn noisy(&mut self, variance: f64) -> Vec<f64> {
            let half = (3.0 * variance).sqrt();
            let truth = self.truth.iter();
            truth.map(|y| y + half * (self.rng.next_u64() as f64 / 2f64.powi(63) - 1.0)).collect()
        }
    }

    /// The mean squared error on meetings that were not seen.
    fn error(model: &Factors) -> f64 {
        let fresh = world(4000, 99);
        let found = model.predict(&fresh.rows);
        found.iter().zip(&fresh.truth).map(|(a, b)| (a - b) * (a - b)).sum::<f64>() / 4000.0
    }

    #[test]
    fn tastes_are_found_behind_noise_of_twice_their_size() {
        let mut world = world(12_000, 1);
        let values = world.noisy(1.28);
        let pairs = error(&Factors::fit(&world.rows, &values).unwrap());
        // Without tastes 0.64 is left. Those of 250 means and 250 vectors of one taste, known from 12,000 values: about 500·1.28/12000 = 0.053
        assert!(pairs < 0.1, "{pairs}");
        assert!(error(&Factors::fit(&world.rows, &world.truth.clone()).unwrap()) < 1e-3);
    }

    #[test]
    fn where_there_is_only_noise_nearly_nothing_is_believed() {
        let mut world = world(12_000, 2);
        world.truth.fill(3.0);
        let values = world.noisy(9.0);
        let model = Factors::fit(&world.rows, &values).unwrap();
        let away = model.predict(&world.rows).iter().map(|y| (y - 3.0) * (y - 3.0)).sum::<f64>() / 12_000.0;
        // 250 free means would be 250·9/12000 = 0.19 away
        assert!(away < 0.02, "{away}");
    }

    #[test]
    fn a_prediction_is_the_sum_over_pairs() {
        let mut world = world(500, 3);
        let values = world.noisy(0.1);
        let model = Factors::fit(&world.rows, &values).unwrap();
        for row in world.rows.iter() {
            let [(a, _), (b, _)] = row.sparse else { panic!("two features") };
            let (a, b) = (*a as usize, *b as usize);
            let product: f64 = model.vectors[a].iter().zip(&model.vectors[b]).map(|(x, y)| x * y).sum();
            let expected = model.intercept + model.weights[a] + model.weights[b] + product;
            assert!((model.at(row) - expected).abs() < 1e-9);
        }
    }

    #[test]
    fn equations_of_which_the_solution_is_known() {
        // A = I + uuᵀ has A⁻¹ = I - uuᵀ/(1 + |u|²)
        let u: Vector = std::array::from_fn(|f| (f as f64).sin());
        let mut a: [Vector; RANK] =
            std::array::from_fn(|f| std::array::from_fn(|g| f64::from(u8::from(f == g)) + u[f] * u[g]));
        let length: f64 = 1.0 + u.iter().map(|u| u * u).sum::<f64>();
        let (x, diagonal) = solve(&mut a, u);
        for f in 0..RANK {
            assert!((x[f] - u[f] / length).abs() < 1e-12);
            assert!((diagonal[f] - (1.0 - u[f] * u[f] / length)).abs() < 1e-12);
        }
    }

    #[test]
    fn nobody_is_refused() {
        assert!(matches!(Factors::fit(&Rows::new(0, 3), &[]), Err(LearnError::NoReports)));
    }
}
