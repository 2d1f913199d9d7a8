//! Learning a generalized linear model in one round: everybody tells one moment of their record once, and that is all.
//!
//! A loss f(y⟨w, x⟩) sees a record through z = yx alone. On |w| ≤ 1, |x| ≤ 1 the logistic loss is a parabola up to 6·10^-4, so
//! that E\[z\] and E\[zz'\] are nearly all there is to know; beyond, a law of the margins that its two moments determine takes
//! the place of the parabola ([`Closure`]). Where a covariate is constant, an intercept, the same moments tell of the two classes
//! one by one, and a normal law of either takes the place of one of all margins. Linear regression needs E\[yx\] and E\[xx'\] and
//! is the same code. The cost in people is that of two means, polynomial in everything, where approximating f' to a degree d by
//! products of noisy copies ([`copies`](crate::copies)) grows like d^6d.
//!
//! ```text
//! MomentRelease ──► MomentSums ──► Moments ──► repaired ──► OneRound::fit ──► weights, prediction, verdict
//!  on devices        adds, merges    unbiased    S ⪰ 0        closure on the ball
//! ```
//!
//! 1. [`share_for`] says how many tell the second moment, [`check_size`] whether there are people enough.
//! 2. [`MomentSums`] adds up reports, exactly and in any order.
//! 3. [`OneRound::fit`] solves, predicts what noise costs by drawing moments around what is believed, and answers the
//!    constant predictor where that is expected to be better, and says so.

mod check;
mod classes;
mod closure;
mod estimate;
mod fit;
mod golden;
mod length;
mod minimize;
mod prediction;
mod rule;
mod spectrum;
pub mod study;
mod sums;

pub use check::check_records;
pub(crate) use classes::inside;
pub use closure::{Closure, MarginLoss};
pub use estimate::{Moments, Repaired};
pub use fit::{OneRound, OneRoundFit, Verdict};
pub use prediction::Prediction;
pub use rule::{check_size, closure_for, most_covariates, share_for};
pub use spectrum::Spectrum;
pub use sums::MomentSums;
