//! A matrix in a document: millions of numbers as the bytes they are, in base64, which is half as long as digits and as exact. Where
//! nobody reads along they are written as they are.

use crate::{Matrix, RepresentError};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Deserializer, Error};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

/// What is written for people.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    columns: usize,
    /// Four bytes for each number, the lowest first, row after row
    values: String,
}

impl Serialize for Matrix {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return Written::from(self).serialize(serializer);
        }
        (self.columns(), self.values()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Matrix {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return Written::deserialize(deserializer)?.try_into().map_err(D::Error::custom);
        }
        let (columns, values) = Deserialize::deserialize(deserializer)?;
        whole(columns, values).map_err(D::Error::custom)
    }
}

/// Whole rows of so many columns.
fn whole(columns: usize, values: Vec<f32>) -> Result<Matrix, RepresentError> {
    if values.is_empty() { Ok(Matrix::zeros(0, columns)) } else { Matrix::new(columns, values) }
}

impl From<&Matrix> for Written {
    fn from(matrix: &Matrix) -> Self {
        let bytes: Vec<u8> = matrix.values().iter().flat_map(|x| x.to_le_bytes()).collect();
        Self { columns: matrix.columns(), values: STANDARD.encode(bytes) }
    }
}

impl TryFrom<Written> for Matrix {
    type Error = RepresentError;

    fn try_from(written: Written) -> Result<Self, RepresentError> {
        let bytes = STANDARD
            .decode(&written.values)
            .map_err(|error| RepresentError::Written { problem: error.to_string() })?;
        let (numbers, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            let problem = format!("{} bytes are no whole numbers", bytes.len());
            return Err(RepresentError::Written { problem });
        }
        whole(written.columns, numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_what_was_written() {
        let matrix = Matrix::new(2, vec![0.1, -3.4e38, f32::MIN_POSITIVE, 0.0, 7.0, -0.0]).unwrap();
        let text = serde_json::to_string(&matrix).unwrap();
        let again: Matrix = serde_json::from_str(&text).unwrap();
        let bits = |matrix: &Matrix| matrix.values().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!((again.columns(), bits(&again)), (2, bits(&matrix)));
        // Four bytes for each number, and a byte each for the columns and for how many there are
        let bytes = postcard::to_stdvec(&matrix).unwrap();
        let again: Matrix = postcard::from_bytes(&bytes).unwrap();
        assert_eq!((bytes.len(), again.columns(), bits(&again)), (26, 2, bits(&matrix)));
        assert!(postcard::from_bytes::<Matrix>(&bytes[..22]).is_err());
        let nobody = serde_json::to_string(&Matrix::zeros(0, 3)).unwrap();
        assert_eq!(serde_json::from_str::<Matrix>(&nobody).unwrap().columns(), 3);
    }

    #[test]
    fn what_is_no_matrix_is_refused() {
        for text in [
            r#"{"columns":2,"values":"AAAA"}"#,
            r#"{"columns":2,"values":"AAAAAA=="}"#,
            r#"{"columns":0,"values":"AAAAAA=="}"#,
            r#"{"columns":1,"values":"!"}"#,
        ] {
            assert!(serde_json::from_str::<Matrix>(text).is_err(), "{text}");
        }
    }
}
