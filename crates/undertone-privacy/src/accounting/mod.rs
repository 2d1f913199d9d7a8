//! What promises mean, in each other's terms and together: pure arithmetic, rounded so that no loss is understated.
//!
//! - [`normal`]: the normal law in both tails, on which the rest stands;
//! - conversions: names with `of` follow from a promise and are rounded up ([`epsilon_of_gaussian`]), names with `for`
//!   suffice for one and are rounded down ([`mu_for`]); the methods of [`Guarantee`](crate::Guarantee) that begin with
//!   `to` are of the first kind;
//! - composition: what several promises amount to, for one person ([`compose`]), a crowd ([`headline`]) or a group
//!   ([`Guarantee::for_group`](crate::Guarantee::for_group)), and a [`Ledger`] that refuses what exceeds a cap.
#![cfg_attr(test, expect(clippy::float_cmp, reason = "the tests compare what is exact by design"))]

mod boundary;
mod composition;
mod concentrated_conversion;
mod gaussian_conversion;
mod implication;
mod ledger;
mod mills;
pub mod normal;
mod pure_conversion;
mod rounding;

pub use composition::{compose, compose_at, headline, headline_delta_at};
pub use concentrated_conversion::{
    delta_of_concentrated, epsilon_of_concentrated, ln_delta_of_concentrated, mu_for_concentrated, rho_for,
    rho_of_gaussian,
};
pub use gaussian_conversion::{delta_of_gaussian, epsilon_of_gaussian, ln_delta_of_gaussian, mu_for};
pub use ledger::Ledger;
pub use pure_conversion::{mu_of_pure, pure_for_concentrated, pure_for_gaussian, rho_of_pure};
