//! Bytes as hexadecimal digits, two each, in lower case only: one spelling for all bytes.

use std::fmt;

/// Shows bytes as their digits.
#[derive(Clone, Copy, Debug)]
pub struct Digits<'a>(pub &'a [u8]);

impl fmt::Display for Digits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The bytes that these digits are.
pub fn read(digits: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_bytes().as_chunks();
    rest.is_empty().then(|| pairs.iter().copied().map(byte).collect())?
}

/// Exactly N bytes.
pub(crate) fn read_array<const N: usize>(digits: &str) -> Option<[u8; N]> {
    // Whatever is longer is not even looked at.
    if digits.len() == 2 * N { read(digits)?.try_into().ok() } else { None }
}

fn byte([high, low]: [u8; 2]) -> Option<u8> {
    Some(digit(high)? << 4 | digit(low)?)
}

fn digit(character: u8) -> Option<u8> {
    match character {
        b'0'..=b'9' => Some(character - b'0'),
        b'a'..=b'f' => Some(character - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_one_spelling() {
        assert_eq!(Digits(&[0, 0x1f, 0xa0]).to_string(), "001fa0");
        assert_eq!(read("001fa0"), Some(vec![0, 0x1f, 0xa0]));
        assert_eq!(read(""), Some(vec![]));
        for other in ["001fa", "001FA0", "+01fa0", "00 1fa", "é0"] {
            assert_eq!(read(other), None, "{other}");
        }
        assert_eq!(read_array("1fa0"), Some([0x1f, 0xa0]));
        assert_eq!(read_array::<3>("1fa0"), None);
    }
}
