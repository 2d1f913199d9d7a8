//! Numbers reported with the help of public randomness: a person answers about strings that everybody sees.
//!
//! The report of each randomizer here contains the public strings, so that its likelihood is that of what a
//! collector holds; their law does not depend on the input and cancels in every ratio. The promises hold for every
//! string, drawn honestly or not.

mod gen_prot;
mod one_coordinate;
mod rejection_bit;

pub use gen_prot::{GenProt, GenProtReport};
pub use one_coordinate::{CoordinateReport, OneCoordinate};
pub use rejection_bit::{PublicBit, RejectionBit};

use crate::kinds::kinds;

kinds! {
    /// A mechanism with public randomness by its name.
    PublicKind {
        /// The corrected rejection bit
        RejectionBit = "rejection-bit",
        /// An index of a public string
        GenProt = "gen-prot",
        /// One coordinate of a vector
        OneCoordinate = "one-coordinate",
    }
}
