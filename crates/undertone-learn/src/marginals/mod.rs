//! Tables over a few attributes of whole records, from people who answer one public question each.
//!
//! A [`Design`] says what is asked: made from the attributes, the number of people, ε and the order k, the number of
//! attributes that are looked at together. A [`Tally`] counts answers; [`Marginals`] makes of the counts the table over any
//! k attributes or fewer, each cell with its standard error. Four designs, the last of which is the default:
//!
//! - **Chebyshev**: a product of literals, and a cell as a polynomial of such products: Algorithm 6 of *Empirical Risk
//!   Minimization in the Non-interactive Local Model of Differential Privacy* (2020), corrected;
//! - **Hadamard**: a character of up to k attributes (Cormode, Kulkarni, Srivastava, *Marginal release under local
//!   differential privacy*, 2018);
//! - **direct**: the cell of one of the tables over k attributes;
//! - **views**: the cell of a larger table that covers many small ones. What each of the tables says about the same
//!   interaction is pooled, and interactions beyond what noise explains are filled in by maximum entropy: after Zhang,
//!   Wang, Li, He, Chen, *CALM: Consistent adaptive local marginal for marginal release under local differential privacy*
//!   (2018).
//!
//! **What the errors are about.** People are a sample of a population and so are those who are asked a question:
//! standard errors hold the devices' coins and both samples. About the people themselves the estimates are a little better
//! than stated.

mod chebyshev;
mod counts;
mod cover;
mod design;
mod direct;
mod fitting;
mod hadamard;
mod hierarchy;
mod literals;
mod marginal;
mod pooled;
mod possible;
mod predicted;
mod shrinkage;
mod table;
mod tally;

pub use design::{Design, Method};
pub use marginal::{Cell, Marginal, Marginals};
pub use tally::Tally;

#[cfg(test)]
mod tests;
