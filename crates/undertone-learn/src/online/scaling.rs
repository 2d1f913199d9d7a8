//! Random scaling: how sure a mean of iterates is, from the iterates alone (Lee, Liao, Seo, Shin, *Fast and robust online
//! inference with stochastic gradient descent via random scaling*, 2022).
//!
//! > V_n = n⁻²·Σ_s s²·(θ̄_s - θ̄_n)(θ̄_s - θ̄_n)',   l'θ* ∈ l'θ̄_n ± c·√(l'V_n l/n)
//!
//! V_n is no estimate of a variance: it stays random however large n is, and the critical value c ([`Level`]) knows by how
//! much. In one pass, with e = (θ_k - θ̄_{k-1})/k,
//!
//! > D ← D + c·ee' - re' - er',   r ← r - c·e,   θ̄ ← θ̄ + e,   c ← c + k²,   V_k = D/k²
//!
//! where r = Σ s²·(θ̄_s - θ̄_k) and c = Σ s². The textbook form, a sum less its mean, loses a digit for every tenfold of n.

use super::{Interval, Level};
use crate::LearnError;
use serde::{Deserialize, Serialize};

/// The largest p for which the whole of D is kept, 17 kB of it. Beyond, its diagonal is, and with it no interval but those of
/// single coordinates.
const MOST_WHOLE: usize = undertone_report::MOST_JOINT;

/// θ̄ and D after k iterates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RandomScaling {
    /// k
    count: u64,
    /// θ̄
    mean: Vec<f64>,
    /// r
    r: Vec<f64>,
    /// c
    c: f64,
    /// D: its lower triangle row by row, or its diagonal
    d: Vec<f64>,
    /// e, of the last iterate
    e: Vec<f64>,
}

impl RandomScaling {
    /// Before the first iterate of p = `parameters` numbers.
    pub(super) fn new(parameters: usize) -> Self {
        let zeros = vec![0.0; parameters];
        let d = vec![0.0; scatter_length(parameters)];
        Self { count: 0, mean: zeros.clone(), r: zeros.clone(), c: 0.0, d, e: zeros }
    }

    /// Takes one more iterate into account.
    pub(super) fn observe(&mut self, point: &[f64]) {
        self.count += 1;
        let k = self.count as f64;
        for ((e, value), mean) in self.e.iter_mut().zip(point).zip(&self.mean) {
            *e = (value - mean) / k;
        }
        // Before the second iterate r and c are zero, and so is what is added.
        if self.is_whole() {
            self.add_to_triangle();
        } else {
            for ((d, e), r) in self.d.iter_mut().zip(&self.e).zip(&self.r) {
                *d += e * (self.c * e - 2.0 * r);
            }
        }
        for ((mean, r), e) in self.mean.iter_mut().zip(&mut self.r).zip(&self.e) {
            *mean += e;
            *r -= self.c * e;
        }
        self.c += k * k;
    }

    fn add_to_triangle(&mut self) {
        let mut place = 0;
        for (row, (e, r)) in self.e.iter().zip(&self.r).enumerate() {
            let ahead = self.c * e - r;
            let below = self.e[..=row].iter().zip(&self.r[..=row]);
            for (d, (other_e, other_r)) in self.d[place..=place + row].iter_mut().zip(below) {
                *d += ahead * other_e - e * other_r;
            }
            place += row + 1;
        }
    }

    /// How many iterates there were.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// θ̄.
    pub(super) fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Whether linear functions of θ have intervals too, or single coordinates alone.
    fn is_whole(&self) -> bool {
        self.mean.len() <= MOST_WHOLE
    }

    /// The interval of each coordinate.
    pub(super) fn coordinates(&self, level: Level) -> Vec<Interval> {
        let scatter = |j: usize| if self.is_whole() { self.d[triangle(j) + j] } else { self.d[j] };
        let critical = level.critical_value();
        self.mean.iter().enumerate().map(|(j, mean)| self.interval(*mean, scatter(j), critical)).collect()
    }

    /// The interval of l'θ.
    pub(super) fn functional(&self, l: &[f64], level: Level) -> Result<Interval, LearnError> {
        let parameters = self.mean.len();
        if l.len() != parameters {
            let (what, expected) = ("the length of a linear function", "that of θ");
            return Err(LearnError::Parameter { what, value: l.len() as f64, expected });
        }
        if !self.is_whole() {
            let (what, expected) =
                ("the number of parameters", "at most 64 for an interval of a linear function");
            return Err(LearnError::Parameter { what, value: parameters as f64, expected });
        }
        let entry = |row: usize, column: usize| self.d[triangle(row.max(column)) + row.min(column)];
        let row = |j: usize| -> f64 { l.iter().enumerate().map(|(i, l)| l * entry(j, i)).sum() };
        let scatter: f64 = l.iter().enumerate().map(|(j, l)| l * row(j)).sum();
        let estimate = l.iter().zip(&self.mean).map(|(l, mean)| l * mean).sum();
        Ok(self.interval(estimate, scatter, level.critical_value()))
    }

    /// ± c·√(D/n³); what rounding left below zero is zero.
    fn interval(&self, estimate: f64, scatter: f64, critical: f64) -> Interval {
        let n = self.count as f64;
        Interval { estimate, half_width: critical * (scatter.max(0.0) / n).sqrt() / n }
    }

    pub(super) fn is_of(&self, parameters: usize) -> bool {
        let lengths = [self.mean.len(), self.r.len(), self.e.len()];
        lengths == [parameters; 3] && self.d.len() == scatter_length(parameters)
    }
}

/// Where row j of a lower triangle begins.
fn triangle(j: usize) -> usize {
    j * (j + 1) / 2
}

fn scatter_length(parameters: usize) -> usize {
    if parameters <= MOST_WHOLE { triangle(parameters) } else { parameters }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Normals;
    use super::*;

    /// A walk of `count` points far from zero, with the scaling of it.
    fn walk(parameters: usize, count: usize) -> (Vec<Vec<f64>>, RandomScaling) {
        let (mut normals, mut scaling) = (Normals::new(7), RandomScaling::new(parameters));
        let mut point = vec![1e3; parameters];
        let points = (0..count).map(|_| {
            for value in &mut point {
                *value = 0.9 * (*value - 1e3) + 1e3 + normals.next();
            }
            point.clone()
        });
        let points: Vec<Vec<f64>> = points.collect();
        for point in &points {
            scaling.observe(point);
        }
        (points, scaling)
    }

    /// √(l'V_n l/n) from its definition.
    fn by_definition(points: &[Vec<f64>], l: &[f64]) -> (f64, f64) {
        let values: Vec<f64> =
            points.iter().map(|p| p.iter().zip(l).map(|(x, l)| l * (x - 1e3)).sum()).collect();
        let means: Vec<f64> = values
            .iter()
            .enumerate()
            .scan(0.0, |sum, (i, value)| {
                *sum += value;
                Some(*sum / (i + 1) as f64)
            })
            .collect();
        let (n, last) = (points.len() as f64, means[means.len() - 1]);
        let square = |(i, mean): (usize, &f64)| ((i + 1) as f64 * (mean - last)).powi(2);
        let v = means.iter().enumerate().map(square).sum::<f64>() / (n * n);
        (last + 1e3 * l.iter().sum::<f64>(), (v / n).sqrt())
    }

    #[test]
    fn one_pass_gives_what_the_definition_gives() {
        let (points, scaling) = walk(3, 5000);
        let level = Level::new(0.95).unwrap();
        for l in [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, -2.0, 0.5]] {
            let (estimate, unit) = by_definition(&points, &l);
            let interval = scaling.functional(&l, level).unwrap();
            assert!((interval.estimate - estimate).abs() < 1e-9 * estimate.abs());
            assert!((interval.half_width / (level.critical_value() * unit) - 1.0).abs() < 1e-9);
        }
        let last = scaling.coordinates(level)[2];
        assert!(
            (last.half_width / scaling.functional(&[0.0, 0.0, 1.0], level).unwrap().half_width - 1.0).abs()
                < 1e-12
        );
    }

    #[test]
    fn the_diagonal_alone_gives_the_same_coordinates() {
        let (points, scaling) = walk(MOST_WHOLE + 1, 500);
        let level = Level::new(0.9).unwrap();
        for (j, interval) in scaling.coordinates(level).iter().enumerate().step_by(16) {
            let unit: Vec<f64> = (0..=MOST_WHOLE).map(|i| f64::from(u8::from(i == j))).collect();
            let (estimate, half) = by_definition(&points, &unit);
            assert!((interval.estimate - estimate).abs() < 1e-9 * estimate);
            assert!((interval.half_width / (level.critical_value() * half) - 1.0).abs() < 1e-9);
            assert!(scaling.functional(&unit, level).is_err());
        }
        assert!(RandomScaling::new(3).functional(&[1.0], level).is_err());
    }
}
