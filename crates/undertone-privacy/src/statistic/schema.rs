//! What everybody knows about a record: how many levels each attribute has.

use crate::PrivacyError;
use alloc::vec::Vec;

/// The public attributes of a record, each with its number of levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    levels: Vec<u32>,
}

impl Schema {
    /// Attributes with so many levels each, two at least.
    pub fn new(levels: Vec<u32>) -> Result<Self, PrivacyError> {
        if levels.is_empty() {
            return Err(PrivacyError::Dimension { dimension: 0, least: 1, most: u32::MAX as usize });
        }
        match levels.iter().position(|&count| count < 2) {
            Some(attribute) => Err(PrivacyError::Levels { attribute, levels: levels[attribute] }),
            None => Ok(Self { levels }),
        }
    }

    /// The number of attributes.
    pub fn attributes(&self) -> usize {
        self.levels.len()
    }

    /// How many levels each attribute has.
    pub fn levels(&self) -> &[u32] {
        &self.levels
    }

    /// An error unless `attributes` are some of these, in rising order.
    pub fn check(&self, attributes: &[usize]) -> Result<(), PrivacyError> {
        if attributes.is_empty() {
            return Err(PrivacyError::Order { order: 0, attributes: self.attributes() });
        }
        if let Some(&attribute) = attributes.iter().find(|&&attribute| attribute >= self.attributes()) {
            return Err(PrivacyError::UnknownAttribute { attribute, attributes: self.attributes() });
        }
        match attributes.windows(2).find(|pair| pair[0] >= pair[1]) {
            Some(pair) => Err(PrivacyError::AttributeOrder { first: pair[0], second: pair[1] }),
            None => Ok(()),
        }
    }

    /// An error unless some of the attributes may be taken `order` at a time.
    pub fn check_order(&self, order: usize) -> Result<(), PrivacyError> {
        if (1..=self.attributes()).contains(&order) {
            Ok(())
        } else {
            Err(PrivacyError::Order { order, attributes: self.attributes() })
        }
    }

    /// The number of cells of the table over `attributes`: the product of their levels.
    pub fn cells(&self, attributes: &[usize]) -> Result<u32, PrivacyError> {
        self.check(attributes)?;
        let cells = attributes.iter().fold(1.0, |cells, &a| cells * f64::from(self.levels[a]));
        if cells > f64::from(u32::MAX) {
            return Err(PrivacyError::ProductDomain { cells, most: u32::MAX });
        }
        Ok(cells as u32)
    }

    /// An error unless `record` has a level of each attribute.
    pub fn check_record(&self, record: &[u32]) -> Result<(), PrivacyError> {
        if record.len() != self.attributes() {
            return Err(PrivacyError::WrongLength { length: record.len(), dimension: self.attributes() });
        }
        let out = record.iter().zip(&self.levels).position(|(level, levels)| level >= levels);
        match out {
            Some(a) => {
                Err(PrivacyError::UnknownLevel { attribute: a, level: record[a], levels: self.levels[a] })
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_schema_no_subset_and_no_record_is_refused_with_its_value() {
        let one = PrivacyError::Levels { attribute: 1, levels: 1 };
        assert_eq!(Schema::new([2, 1].into()), Err(one));
        assert!(Schema::new(Vec::new()).is_err());
        let schema = Schema::new([2, 3, 5].into()).unwrap();
        assert_eq!(schema.cells(&[0, 2]), Ok(10));
        let unknown = PrivacyError::UnknownAttribute { attribute: 3, attributes: 3 };
        assert_eq!(schema.cells(&[0, 3]), Err(unknown));
        let twice = PrivacyError::AttributeOrder { first: 1, second: 1 };
        assert_eq!(schema.cells(&[1, 1]), Err(twice));
        assert_eq!(schema.check_order(4), Err(PrivacyError::Order { order: 4, attributes: 3 }));
        let level = PrivacyError::UnknownLevel { attribute: 1, level: 3, levels: 3 };
        assert_eq!(schema.check_record(&[0, 3, 0]), Err(level));
        assert!(schema.check_record(&[0, 0]).is_err() && schema.check_record(&[1, 2, 4]).is_ok());
    }

    #[test]
    fn a_table_with_more_cells_than_labels_can_number_is_refused() {
        let schema = Schema::new([65_536; 3].into()).unwrap();
        let refused = schema.cells(&[0, 1, 2]).unwrap_err();
        assert!(matches!(refused, PrivacyError::ProductDomain { cells, .. } if cells > 2.8e14));
    }
}
