//! What is public about people: columns of a table, and the numbers that they become.
//!
//! An [`EncoderFit`] looks at the columns once, in bounded memory; the [`Encoder`] that it leaves is part of the model.

mod batch;
mod category;
mod check;
mod encoder;
mod fit;
mod hash;
mod number;
mod options;
mod rows;
mod text;
mod vector;

#[cfg(test)]
mod tests;

pub use batch::{Batch, Column, Words};
pub use encoder::Encoder;
pub use fit::EncoderFit;
pub use options::{EncoderOptions, Override, Treatment};
pub use rows::{Row, Rows};
