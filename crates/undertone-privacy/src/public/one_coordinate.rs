//! The average of a vector from people who answer about one coordinate each.
//!
//! Public randomness assigns coordinate J of D, evenly, and the person spends the whole ε on it.
//!
//! **Privacy.** J does not depend on the input, so the loss is that of the number mechanism.
//!
//! **Utility.** D·e_J·ẑ is unbiased for the vector, and the average of coordinate j has a variance of D/n times that
//! of one answer. Splitting ε over D answers instead, as in Algorithm 2 of *Empirical Risk Minimization in the
//! Non-interactive Local Model of Differential Privacy*, has D²/n; asking for all of them at the whole ε, as its
//! Algorithms 6 and 7 read, would lose D·ε.

use crate::exact::uniform_below;
use crate::number::{GridNumber, NumberRandomizer};
use crate::{DeviceSafe, Guarantee, PrivacyError, Randomizer, Unbiased};
use alloc::vec;
use alloc::vec::Vec;
use rand_core::{CryptoRng, Rng};

/// One coordinate of a vector by a number mechanism.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OneCoordinate<M> {
    dimension: u32,
    number: M,
}

/// The public coordinate, and what was said about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoordinateReport {
    /// J
    pub coordinate: u32,
    /// The report of the number mechanism
    pub report: i64,
}

impl<M: NumberRandomizer> OneCoordinate<M> {
    /// Vectors of `dimension` numbers, each within the bounds of `number`.
    pub fn new(dimension: u32, number: M) -> Result<Self, PrivacyError> {
        if dimension == 0 {
            return Err(PrivacyError::Dimension { dimension: 0, least: 1, most: u32::MAX as usize });
        }
        Ok(Self { dimension, number })
    }

    /// D, the length of the vectors.
    pub fn dimension(&self) -> u32 {
        self.dimension
    }

    /// The mechanism for a single coordinate.
    pub fn number(&self) -> &M {
        &self.number
    }

    /// A person's coordinate, for whoever assigns them: it needs no secrecy.
    pub fn draw_coordinate(&self, rng: &mut impl Rng) -> u32 {
        uniform_below(u64::from(self.dimension), rng) as u32
    }

    /// The report about the coordinate that was assigned.
    pub fn answer(
        &self,
        coordinate: u32,
        input: &[GridNumber],
        rng: &mut impl CryptoRng,
    ) -> Result<CoordinateReport, PrivacyError> {
        self.right_length(input)?;
        let Some(number) = input.get(coordinate as usize) else {
            return Err(PrivacyError::WrongLength {
                length: coordinate as usize + 1,
                dimension: input.len(),
            });
        };
        Ok(CoordinateReport { coordinate, report: self.number.randomize(number, rng)? })
    }

    fn right_length(&self, input: &[GridNumber]) -> Result<(), PrivacyError> {
        let (length, dimension) = (input.len(), self.dimension as usize);
        if length == dimension { Ok(()) } else { Err(PrivacyError::WrongLength { length, dimension }) }
    }
}

impl<M: NumberRandomizer> Randomizer for OneCoordinate<M> {
    type Input = Vec<GridNumber>;
    type Report = CoordinateReport;

    fn guarantee(&self) -> Guarantee {
        self.number.guarantee()
    }

    fn randomize(
        &self,
        input: &Vec<GridNumber>,
        rng: &mut impl CryptoRng,
    ) -> Result<CoordinateReport, PrivacyError> {
        self.answer(self.draw_coordinate(rng), input, rng)
    }

    fn ln_likelihood(&self, report: &CoordinateReport, input: &Vec<GridNumber>) -> f64 {
        match input.get(report.coordinate as usize) {
            Some(number) => {
                self.number.ln_likelihood(&report.report, number) - libm::log(f64::from(self.dimension))
            }
            None => f64::NEG_INFINITY,
        }
    }
}

impl<M: NumberRandomizer> DeviceSafe for OneCoordinate<M> {}

impl<M: NumberRandomizer> Unbiased for OneCoordinate<M> {
    fn truth(&self, input: &Vec<GridNumber>) -> Vec<f64> {
        input.iter().map(|&number| self.number.bounds().value_of(number)).collect()
    }

    fn estimate(&self, report: &CoordinateReport) -> Vec<f64> {
        let mut vector = vec![0.0; self.dimension as usize];
        vector[report.coordinate as usize] = f64::from(self.dimension) * self.number.decode(report.report);
        vector
    }

    /// E|D·e_J·ẑ|² - |v|² = D·Σ_j (Var_j + v_j²) - Σ_j v_j².
    fn variance(&self, input: &Vec<GridNumber>) -> f64 {
        let d = f64::from(self.dimension);
        let coordinate = |&number: &GridNumber| {
            let value = self.number.bounds().value_of(number);
            d * self.number.variance_at(number) + (d - 1.0) * value * value
        };
        input.iter().map(coordinate).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Epsilon;
    use crate::number::{Bounds, OneBit};
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    #[test]
    fn a_vector_of_the_wrong_length_is_refused() {
        let bounds = Bounds::new(0.0, 1.0).unwrap();
        let number = OneBit::new(bounds, Epsilon::new(1.0).unwrap()).unwrap();
        assert!(OneCoordinate::new(0, number).is_err());
        let mechanism = OneCoordinate::new(3, number).unwrap();
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let short = Vec::from([bounds.lowest(); 2]);
        let refused = PrivacyError::WrongLength { length: 2, dimension: 3 };
        assert_eq!(mechanism.randomize(&short, &mut rng), Err(refused));
        assert!(mechanism.answer(3, &[bounds.lowest(); 3], &mut rng).is_err());
    }
}
