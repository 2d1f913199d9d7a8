//! What promises mean, in each other's terms and together.
#![cfg_attr(test, expect(clippy::float_cmp, reason = "the tests compare what is exact by design"))]

mod mills;
pub mod normal;
