//! Learning without a model to believe in: averages over cells or neighbours, under label privacy and under full privacy,
//! and how fast that can be at best.
//!
//! After Zhao, Ma, Shen, Wang, Fan, *On Theoretical Limits of Learning with Label Differential Privacy*, corrected where it is wrong.

pub mod rates;
mod trust;

pub use trust::TrustModel;
