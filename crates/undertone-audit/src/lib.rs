//! Is the promise kept? The crate that judges every randomizer.
//!
//! A [`Case`] puts a randomizer on trial: the mechanism, pairs of inputs that nobody should tell apart, and what
//! it may report. Three courts hear it, each blind to what the others see:
//!
//! * [`exact_loss`] adds up the likelihood the mechanism states about itself;
//! * [`lower_bound`] draws from the very code that devices run and proves a loss with stated confidence;
//! * [`float_leak`](fn@float_leak) and [`one_sided_report`] look for values that only one input can produce.
//!
//! [`audit`] hears all that apply and gives a [`Verdict`]. The [`suite`] holds the laws every randomizer obeys, and the
//! [`registry`] brings every mechanism before either.
#![cfg_attr(
    test,
    expect(clippy::float_cmp, reason = "tests compare zeros, infinities and other exact values")
)]

mod auditor;
mod binomial;
mod case;
mod clopper_pearson;
#[cfg(test)]
mod doubles;
mod event_loss;
mod exact;
mod failure;
mod float_leak;
mod levels;
mod moments;
pub mod registry;
mod renyi;
mod statistical;
pub mod suite;
mod verdict;

pub use auditor::Auditor;
pub use case::{Case, Reports};
pub use clopper_pearson::{at_least, at_most};
pub use event_loss::{claimed_loss, event_loss};
pub use exact::{ExactLoss, exact_loss, hockey_stick};
pub use failure::Failure;
pub use float_leak::{Leak, float_leak, one_sided_report};
pub use statistical::{LowerBound, Settings, lower_bound};
pub use verdict::{Breach, Verdict, audit};
