//! The means of a family of statistics, from people who answered about one of them each.
//!
//! Each person is asked about a public statistic j and gives an unbiased number, whatever the mechanism: Laplace noise
//! (Algorithm 1 of *Empirical Risk Minimization in the Non-interactive Local Model of Differential Privacy*), the direct bit,
//! the corrected rejection bit (Algorithm 3), an index of a public string (Algorithm 8). A [`Tally`] adds the answers up; the
//! [`Means`] it gives know their variances. With D statistics asked about evenly,
//!
//! > Var_j = D/n·(V + S_j²)
//!
//! where V is the variance of the mechanism and S_j² that of the statistic among people. Answering all D at ε/D each has
//! D²/n times as much noise. A statistic that nobody answered has no mean, which is not a mean of zero.

mod family;
mod filling;
mod tally;
#[cfg(test)]
mod tests;
mod variance;

pub use family::{Combined, Mean, Means};
pub use filling::PEOPLE_PER_STATISTIC;
pub(crate) use filling::largest_base;
pub use tally::Tally;
pub use variance::worst_answer_variance;
