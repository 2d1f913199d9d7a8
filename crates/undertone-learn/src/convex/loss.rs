//! A loss, given by its gradient.

use super::Span;
use crate::labels::LabelVector;

/// A loss ℓ(w; x, k), convex in w for every x and label k, with |∇ℓ| ≤ L.
///
/// An implementation owes the value and the gradient for one label; what learners need for all labels at once follows, and
/// may be overridden where there is a closed form.
pub trait ConvexLoss {
    /// What is public about a person.
    type Features: ?Sized;

    /// The number of coordinates of w.
    fn dimension(&self) -> usize;

    /// K, the number of labels.
    fn labels(&self) -> u32;

    /// L, which no gradient exceeds in length.
    fn lipschitz(&self) -> f64;

    /// ℓ(w; x, label).
    fn value(&self, w: &[f64], x: &Self::Features, label: u32) -> f64;

    /// Adds factor·∇ℓ(w; x, label) to `into`.
    fn add_gradient(&self, w: &[f64], x: &Self::Features, label: u32, factor: f64, into: &mut [f64]);

    /// Adds Σ_k a_k·∇ℓ(w; x, k) to `into`.
    fn add_debiased_gradient(&self, w: &[f64], x: &Self::Features, a: LabelVector<'_>, into: &mut [f64]) {
        for label in 0..self.labels() {
            let factor = f64::from(a.at(label));
            if factor != 0.0 {
                self.add_gradient(w, x, label, factor, into);
            }
        }
    }

    /// The K gradients at (w, x) in coordinates of the space that their differences span.
    fn span(&self, w: &[f64], x: &Self::Features) -> Span {
        let gradient = |label| {
            let mut gradient = vec![0.0; self.dimension()];
            self.add_gradient(w, x, label, 1.0, &mut gradient);
            gradient
        };
        Span::of_gradients((0..self.labels()).map(gradient).collect())
    }
}
