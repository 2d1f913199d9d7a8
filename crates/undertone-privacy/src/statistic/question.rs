//! A public question about a record, which has finitely many answers.

use super::Schema;
use crate::PrivacyError;
use crate::label::Label;
use alloc::vec::Vec;

/// What is asked about a record. Attributes stand in rising order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// The cell of the table over these attributes, row by row: the last attribute changes fastest
    Cell(Vec<usize>),
    /// Whether the levels, each seen through a mask of its bits, have an odd number of bits: a character of the group of
    /// bit strings. With two levels and masks of one it is the parity of the attributes.
    Parity(Vec<(usize, u32)>),
    /// Whether every one of these attributes is different from the level beside it: a product of literals. With two
    /// levels, "different from 0" is the attribute and "different from 1" its negation.
    Term(Vec<(usize, u32)>),
}

impl Question {
    /// How many answers there are.
    pub fn labels(&self, schema: &Schema) -> Result<u32, PrivacyError> {
        match self {
            Self::Cell(attributes) => schema.cells(attributes),
            Self::Parity(_) | Self::Term(_) => Ok(2),
        }
    }

    /// The answer of a record of `schema`. The work depends on the question alone.
    pub fn of(&self, record: &[u32], schema: &Schema) -> Label {
        Label(match self {
            Self::Cell(attributes) => {
                attributes.iter().fold(0, |cell, &a| cell * schema.levels()[a] + record[a])
            }
            Self::Parity(masks) => {
                masks.iter().fold(0, |odd, &(a, mask)| odd ^ (record[a] & mask).count_ones()) & 1
            }
            Self::Term(literals) => literals.iter().fold(1, |all, &(a, level)| {
                // A bit and no branch: 1 if the levels differ
                all & u32::from(record[a] != level)
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_those_worked_out_by_hand() {
        let schema = Schema::new([3, 2, 4].into()).unwrap();
        let answer = |question: Question| question.of(&[2, 1, 3], &schema).0;
        // 2·4 + 3
        assert_eq!(answer(Question::Cell([0, 2].into())), 11);
        assert_eq!(Question::Cell([0, 2].into()).labels(&schema), Ok(12));
        // 2 = 10b and 3 = 11b: through masks of 3 and 2 there are 1 + 1 bits, through 1 and 3 there are 0 + 2, …
        assert_eq!(answer(Question::Parity([(0, 3), (2, 2)].into())), 0);
        assert_eq!(answer(Question::Parity([(0, 1), (2, 3)].into())), 0);
        assert_eq!(answer(Question::Parity([(0, 1), (1, 1), (2, 3)].into())), 1);
        assert_eq!(answer(Question::Term([(0, 0), (1, 0)].into())), 1);
        assert_eq!(answer(Question::Term([(0, 0), (1, 1)].into())), 0);
    }
}
