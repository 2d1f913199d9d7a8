//! By how much a polynomial's least value is below the risk there.
//!
//! ŵ was searched for where noise is low. Take the polynomial S for the truth, draw others S_b around it as answers would, and see
//! by how much each flatters its own minimum: E\[S(ŵ_b) - S_b(ŵ_b)\]. The draws come from a fixed public stream, so that the same
//! answers have the same figure.

use super::Surrogate;
use undertone_privacy::vector::stream::PublicStream;

/// How many polynomials are drawn.
const DRAWS: u64 = 24;
/// Where they come from.
const SEED: u128 = 0x756e_6465_7274_6f6e_6520_666c_6174_7465;

/// What is to be added to a least value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flattery {
    /// On average
    pub mean: f64,
    /// From one collection to the next
    pub deviation: f64,
}

impl Surrogate {
    /// By how much the value at [`minimise`](Self::minimise) is too low.
    pub fn flattery(&self) -> Flattery {
        let (mut sum, mut squares) = (0.0, 0.0);
        for draw in 0..DRAWS {
            let mut noise = vec![0.0; self.variances().len()];
            PublicStream::new(SEED, draw).fill_normal(&mut noise);
            for (noise, variance) in noise.iter_mut().zip(self.variances()) {
                *noise *= variance.sqrt();
            }
            let minimum = self.shifted(&noise).minimise();
            let above = self.value(&minimum.w) - minimum.value;
            sum += above / DRAWS as f64;
            squares += above * above / DRAWS as f64;
        }
        let deviation = ((squares - sum * sum).max(0.0) * DRAWS as f64 / (DRAWS - 1) as f64).sqrt();
        Flattery { mean: sum, deviation }
    }
}
