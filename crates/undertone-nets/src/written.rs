//! Weights in a document: millions of numbers as the bytes they are, in base64, which is half as long as digits and as exact.

use crate::NetError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

/// Numbers that are written as four bytes each, the lowest first.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Weights(pub(crate) Vec<f32>);

impl From<Weights> for String {
    fn from(Weights(values): Weights) -> Self {
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        STANDARD.encode(bytes)
    }
}

impl TryFrom<String> for Weights {
    type Error = NetError;

    fn try_from(text: String) -> Result<Self, NetError> {
        let problem = |problem: String| NetError::Written { problem };
        let bytes = STANDARD.decode(&text).map_err(|error| problem(error.to_string()))?;
        let (numbers, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(problem(format!("{} bytes are no whole numbers", bytes.len())));
        }
        Ok(Self(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back_to_the_last_bit_and_what_is_none_is_refused() {
        let values = vec![0.1, -3.4e38, f32::MIN_POSITIVE, -0.0];
        let text = String::from(Weights(values.clone()));
        let again = Weights::try_from(text).unwrap().0;
        assert!(again.iter().zip(&values).all(|(a, b)| a.to_bits() == b.to_bits()), "{again:?}");
        assert!(Weights::try_from("!".to_owned()).is_err());
        assert!(Weights::try_from("AAAA".to_owned()).unwrap_err().to_string().contains("3 bytes"));
    }
}
