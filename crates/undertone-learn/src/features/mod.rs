//! What is public about people: columns of a table, and the numbers that they become.

mod batch;
mod rows;

pub use batch::{Batch, Column, Words};
pub use rows::{Row, Rows};
