//! Exact randomness: every draw follows its stated law, not an approximation of it, and integers decide it.
//!
//! The one thing left to the generator is that its words are uniform. Loops that draw again depend on the noise
//! alone, never on what the noise is added to.

mod coin;
mod discrete_gaussian;
mod discrete_laplace;
mod exp_coin;
mod exp_digits;
mod gaps;
mod rounded_gaussian;
mod scale;
mod small_sets;
mod sorted_set;
mod uniform;
mod word_buffer;

pub use coin::Coin;
pub use discrete_gaussian::DiscreteGaussian;
pub use discrete_laplace::DiscreteLaplace;
pub use exp_coin::bernoulli_exp;
pub use gaps::Gaps;
pub use rounded_gaussian::RoundedGaussian;
pub use scale::Scale;
pub use small_sets::SmallSets;
pub use sorted_set::{Members, SetMemory};
pub use uniform::{distinct_below, uniform_below, uniform_below_u32};
pub use word_buffer::WordBuffer;
