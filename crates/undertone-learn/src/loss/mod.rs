//! Losses of linear scores z = Wᵀx against a label vector.
//!
//! A loss ℓ(z, k) enters a learner only through Σ_k a_k·ℓ(z, k) and its gradient in z, which each file here has in closed
//! form: K numbers, not K gradients. The gradient in W is its outer product with x.

mod exp;
mod hinge;
mod logistic;
mod softmax;
mod squared;

use crate::labels::LabelVector;
use serde::{Deserialize, Serialize};

/// Declares the enum of the losses.
macro_rules! losses {
    ($($(#[$doc:meta])* $variant:ident = $file:ident,)*) => {
        /// A loss of linear scores.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Loss {
            $($(#[$doc])* $variant,)*
        }

        impl Loss {
            /// All of them.
            pub const ALL: [Self; [$(Self::$variant),*].len()] = [$(Self::$variant),*];

            /// Σ_k a_k·ℓ(z, k).
            pub fn value(self, scores: &[f32], labels: LabelVector<'_>) -> f32 {
                match self { $(Self::$variant => $file::value(scores, labels),)* }
            }

            /// Turns the scores z into Σ_k a_k·∂ℓ(z, k)/∂z.
            #[inline]
            pub fn gradient(self, scores: &mut [f32], labels: LabelVector<'_>) {
                match self { $(Self::$variant => $file::gradient(scores, labels),)* }
            }

            /// Turns the scores z into the probabilities of the classes that they stand for.
            pub fn probabilities(self, scores: &mut [f32]) {
                match self { $(Self::$variant => $file::probabilities(scores),)* }
            }

            /// A bound on |∂ℓ(z, k)/∂z|₂ for K `classes` and |z|₂ ≤ `scores`: times |x|, the Lipschitz constant in W.
            pub fn lipschitz(self, classes: usize, scores: f64) -> f64 {
                match self { $(Self::$variant => $file::lipschitz(classes, scores),)* }
            }
        }
    };
}

losses! {
    /// Cross-entropy of softmax probabilities
    Softmax = softmax,
    /// One logistic loss for each class, against the rest
    Logistic = logistic,
    /// Multiclass hinge: the truth should lead by one
    Hinge = hinge,
    /// Half the squared distance to e_y
    Squared = squared,
}

/// Scales chances that are not negative until they sum to one. If all are zero, every class is as unlikely as the others.
fn make_sum_one(chances: &mut [f32]) {
    let sum: f32 = chances.iter().sum();
    let (scale, share) = if sum > 0.0 { (1.0 / sum, 0.0) } else { (0.0, 1.0 / chances.len() as f32) };
    for chance in chances {
        *chance = *chance * scale + share;
    }
}

#[cfg(test)]
mod tests;
