//! Symmetric matrices of two rows.

/// ((first, cross), (cross, second)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pair {
    pub(super) first: f64,
    pub(super) cross: f64,
    pub(super) second: f64,
}

impl Pair {
    pub(super) fn diagonal(first: f64, second: f64) -> Self {
        Self { first, cross: 0.0, second }
    }

    pub(super) fn trace(self) -> f64 {
        self.first + self.second
    }

    /// Of one that is positive definite.
    pub(super) fn least_eigenvalue(self) -> f64 {
        let half = (self.first - self.second) / 2.0;
        // det/largest, which does not cancel
        self.determinant() / (self.trace() / 2.0 + half.hypot(self.cross))
    }

    fn determinant(self) -> f64 {
        self.first * self.second - self.cross * self.cross
    }

    pub(super) fn inverse(self) -> Self {
        let d = self.determinant();
        Self { first: self.second / d, cross: -self.cross / d, second: self.first / d }
    }

    pub(super) fn trace_of_product(self, other: Self) -> f64 {
        self.first * other.first + 2.0 * self.cross * other.cross + self.second * other.second
    }

    /// B·self·B for a symmetric B.
    pub(super) fn between(self, b: Self) -> Self {
        let form = |x: [f64; 2], y: [f64; 2]| {
            x[0] * self.first * y[0] + (x[0] * y[1] + x[1] * y[0]) * self.cross + x[1] * self.second * y[1]
        };
        let rows = ([b.first, b.cross], [b.cross, b.second]);
        Self { first: form(rows.0, rows.0), cross: form(rows.0, rows.1), second: form(rows.1, rows.1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_worked_out_by_hand() {
        // ((2, 1), (1, 2)) has the eigenvalues 1 and 3 and the inverse ((2, -1), (-1, 2))/3.
        let a = Pair { first: 2.0, cross: 1.0, second: 2.0 };
        assert!((a.least_eigenvalue() - 1.0).abs() < 1e-15);
        let inverse = a.inverse();
        assert!((inverse.first - 2.0 / 3.0).abs() < 1e-15 && (inverse.cross + 1.0 / 3.0).abs() < 1e-15);
        assert!((inverse.trace_of_product(a) - 2.0).abs() < 1e-15);
        // A⁻¹·A·A⁻¹ = A⁻¹
        let same = a.between(inverse);
        assert!((same.first - inverse.first).abs() < 1e-15 && (same.cross - inverse.cross).abs() < 1e-15);
    }
}
