//! Estimators against their exact variances, the method against its rates, and what is printed against what is true.

mod learning;
mod polynomials;
mod printed;
