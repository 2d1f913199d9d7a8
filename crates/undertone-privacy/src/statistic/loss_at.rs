//! The loss of a record at one node of a grid of parameters, as a share of what it may be there.
//!
//! > share = (ℓ(⟨w_j, x⟩, y) - lo_j)/(hi_j - lo_j),   |x| ≤ r
//!
//! lo_j and hi_j follow from |⟨w_j, x⟩| ≤ r·|w_j|. They are those of the node rather than of the box, so that the noise is no
//! larger than what it hides: at w = 0 the loss of a label is known, and hardly anything has to be hidden around it.
//!
//! A record with |x| > r is pulled back to |x| = r: its loss is then that of a record which the approximation of the loss by
//! a polynomial was made for.

use super::point_loss::is_label;
use super::{Allocation, ParameterGrid, PointLoss};
use crate::PrivacyError;
use alloc::vec::Vec;

/// The losses at the nodes of a grid.
#[derive(Clone, Debug, PartialEq)]
pub struct LossAt {
    loss: PointLoss,
    grid: ParameterGrid,
    /// r
    radius: f64,
}

impl LossAt {
    /// Of records with |x| ≤ `radius`, at the nodes of `grid`.
    pub fn new(loss: PointLoss, grid: ParameterGrid, radius: f64) -> Result<Self, PrivacyError> {
        loss.check()?;
        if !(radius > 0.0 && radius <= 1e6) {
            return Err(PrivacyError::Radius { value: radius });
        }
        Ok(Self { loss, grid, radius })
    }

    /// ℓ.
    pub fn loss(&self) -> PointLoss {
        self.loss
    }

    /// Where the parameters lie.
    pub fn grid(&self) -> &ParameterGrid {
        &self.grid
    }

    /// r.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// lo and hi on the whole box.
    pub fn range_on_the_box(&self) -> (f64, f64) {
        self.loss.range(self.radius * self.grid.longest())
    }

    /// lo_j and hi_j.
    pub fn range(&self, node: u32) -> Result<(f64, f64), PrivacyError> {
        Ok(self.loss.range(self.radius * norm(&self.grid.node(node)?)))
    }

    /// People divided among the nodes in proportion to hi_j - lo_j: the noise of a mean is as large as that, and nobody is
    /// asked where the loss is known. Half of the mean is the least that others get, so that no node is left without an answer
    /// for being narrow.
    pub fn allocation(&self) -> Result<Allocation, PrivacyError> {
        let width = |node| self.range(node).map(|(low, high)| high - low);
        let widths: Result<Vec<f64>, PrivacyError> = (0..self.grid.nodes()).map(width).collect();
        let mut widths = widths?;
        let least = 0.5 * widths.iter().sum::<f64>() / f64::from(self.grid.nodes());
        widths.iter_mut().filter(|width| **width > 0.0).for_each(|width| *width = width.max(least));
        Allocation::proportional(&widths)
    }

    /// ℓ at the node, for a record that can be evaluated; no number for any other.
    pub fn value(&self, node: u32, x: &[f64], y: f64) -> Result<f64, PrivacyError> {
        let w = self.grid.node(node)?;
        if x.len() != w.len() {
            return Ok(f64::NAN);
        }
        let shrunk = (self.radius / norm(x)).min(1.0);
        let score: f64 = w.iter().zip(x).map(|(w, x)| w * (x * shrunk)).sum();
        Ok(self.loss.value(score, y))
    }

    /// What a device randomizes: the loss at the node as a share of its range, between 0 and 1. A record that cannot be
    /// evaluated, and a node at which every loss is the same, have a share of one half.
    pub fn share(&self, node: u32, x: &[f64], y: f64) -> Result<f64, PrivacyError> {
        let (low, high) = self.range(node)?;
        let share = (self.value(node, x, y)? - low) / (high - low);
        Ok(if share.is_nan() { 0.5 } else { share.clamp(0.0, 1.0) })
    }

    /// Says what is wrong with a record, to the one who holds it: [`share`](Self::share) does not.
    pub fn check(&self, x: &[f64], y: f64) -> Result<(), PrivacyError> {
        if x.len() != self.grid.axes() {
            return Err(PrivacyError::WrongLength { length: x.len(), dimension: self.grid.axes() });
        }
        if let Some(&value) = x.iter().find(|x| !x.is_finite()) {
            return Err(PrivacyError::Parameter { what: "a feature", value });
        }
        if y.is_nan() || (self.loss.takes_labels() && !is_label(y)) {
            return Err(PrivacyError::Parameter { what: "the label, which has to be -1 or 1,", value: y });
        }
        Ok(())
    }
}

/// |x|, also where the squares would overflow.
fn norm(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |length, &x| libm::hypot(length, x))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_the_square(loss: PointLoss, degree: u32) -> LossAt {
        let grid = ParameterGrid::new(&[-1.0, -1.0], &[1.0, 1.0], degree).unwrap();
        LossAt::new(loss, grid, 1.0).unwrap()
    }

    #[test]
    fn the_share_at_a_corner_is_where_the_margin_lies_in_its_range() {
        let at = on_the_square(PointLoss::Hinge, 2);
        // w = (1, 1), |w| = √2, x = (0.6, 0): the margin of the label -1 is -0.6, in a range from 0 to 1/2 + √2
        let share = at.share(8, &[0.6, 0.0], -1.0).unwrap();
        assert!((share - 1.1 / (0.5 + 2f64.sqrt())).abs() < 1e-15);
        assert!(at.share(9, &[0.6, 0.0], -1.0).is_err());
    }

    #[test]
    fn every_share_lies_between_zero_and_one_and_the_value_is_back_in_its_range() {
        for loss in [PointLoss::Logistic, PointLoss::Hinge, PointLoss::Squared { largest: 1.0 }] {
            let at = on_the_square(loss, 3);
            let (least, most) = at.range_on_the_box();
            for node in 0..16 {
                let (low, high) = at.range(node).unwrap();
                assert!(least <= low && high <= most);
                for angle in 0..24 {
                    let angle = f64::from(angle) * core::f64::consts::PI / 12.0;
                    let x = [libm::cos(angle), libm::sin(angle)];
                    let share = at.share(node, &x, 1.0).unwrap();
                    let value = at.value(node, &x, 1.0).unwrap();
                    assert!((low + share * (high - low) - value).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn nothing_about_a_record_is_an_error_on_the_way_out() {
        let at = on_the_square(PointLoss::Logistic, 2);
        let strange: [(&[f64], f64); 5] = [
            (&[f64::NAN, 0.0], 1.0),
            (&[0.0], 1.0),
            (&[0.1, 0.2], 0.0),
            (&[0.1, 0.2], f64::NAN),
            (&[f64::INFINITY, 0.0], 1.0),
        ];
        for (x, y) in strange {
            assert!((at.share(0, x, y).unwrap() - 0.5).abs() < 1e-15, "{x:?}, {y}");
            assert!(at.check(x, y).is_err());
        }
        assert!(at.check(&[0.1, 0.2], -1.0).is_ok());
        // Where w = 0 there is nothing to say, and far away is as far as r.
        assert!((at.share(4, &[0.1, 0.2], 1.0).unwrap() - 0.5).abs() < 1e-15);
        let far = at.share(0, &[1e300, 1e300], 1.0).unwrap();
        assert!((far - 1.0).abs() < 1e-12);
    }

    #[test]
    fn people_are_asked_where_losses_differ_and_nobody_where_they_do_not() {
        let allocation = on_the_square(PointLoss::Logistic, 2).allocation().unwrap();
        // |w| is √2 in the corners, 1 in the middle of the sides and 0 in the middle.
        assert_eq!([0, 1, 4].map(|node| allocation.weight(node)), [1 << 20, 741_455, 0]);
        let fine = on_the_square(PointLoss::Logistic, 9).allocation().unwrap();
        assert!((0..100).all(|node| fine.share(node) >= 0.4 / 100.0));
    }

    #[test]
    fn a_radius_or_a_parameter_that_is_not_positive_is_refused() {
        let grid = || ParameterGrid::new(&[-1.0], &[1.0], 2).unwrap();
        for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(LossAt::new(PointLoss::Logistic, grid(), radius).is_err());
        }
        assert!(LossAt::new(PointLoss::SmoothHinge { beta: 0.0 }, grid(), 1.0).is_err());
        assert!(LossAt::new(PointLoss::Squared { largest: f64::NAN }, grid(), 1.0).is_err());
    }
}
