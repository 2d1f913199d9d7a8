//! A record becomes a randomized value: the crate a device carries.
//!
//! Read it in the order the data flows: a promise ([`Guarantee`]) is bought with exact randomness ([`Coin`](exact::Coin),
//! …) by a [`Randomizer`], of which there is one file each below `label`, `number`,
//! `vector`, `public` and `central`; `gradient` and `statistic` make something that can be told of whole
//! records, and `survey` asks everybody for one of it.
//!
//! Integers decide everything that leaves a device. A probability is a number of 64-bit words out of 2^64,
//! rounded towards privacy; floating-point numbers only choose those integers when a mechanism is built, and
//! analyse them afterwards. The crate has no I/O, no clock and no generator of its own.
#![no_std]

extern crate alloc;

pub mod accounting;
pub mod central;
mod error;
pub mod exact;
pub mod gradient;
mod guarantee;
mod integer_ratio;
mod kinds;
pub mod label;
pub mod number;
pub mod public;
mod randomizer;
pub mod statistic;
pub mod survey;
pub mod vector;

pub use error::PrivacyError;
pub use guarantee::{Delta, Epsilon, Guarantee, Mu, Rho};
pub use integer_ratio::ln_ratio;
pub use randomizer::{DeviceSafe, Randomizer, Unbiased};
