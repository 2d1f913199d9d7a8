//! What a task is known by: the hash of its canonical bytes.

use crate::hexadecimal;
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;

/// SHA-256 of a document, in hexadecimal.
pub fn sha256_of(document: &[u8]) -> String {
    TaskId::of(document).to_string()
}

/// The hash of a task's canonical bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId([u8; 32]);

/// Words that are no id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no id: {digits} hexadecimal digits are expected")]
pub struct IdError {
    text: String,
    digits: usize,
}

impl IdError {
    pub(crate) fn new(text: &str, digits: usize) -> Self {
        Self { text: text.into(), digits }
    }
}

impl TaskId {
    pub(crate) fn of(document: &[u8]) -> Self {
        Self(Sha256::digest(document).into())
    }

    /// The id with these bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl FromStr for TaskId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        hexadecimal::read_array(text).map(Self).ok_or_else(|| IdError::new(text, 64))
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hexadecimal::Digits(&self.0).fmt(f)
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TaskId({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_as_itself_and_nothing_else_is_one() {
        let id = TaskId::of(b"abc");
        // The published hash of these three letters
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(id.to_string(), text);
        assert_eq!(text.parse::<TaskId>().unwrap(), id);
        assert_eq!(TaskId::from_bytes(*id.as_bytes()), id);
        for wrong in
            ["", "ba", &text[1..], &text.to_uppercase(), &text.replace('b', "g"), &text.replace("ba", "é")]
        {
            let error = wrong.parse::<TaskId>().unwrap_err().to_string();
            assert_eq!(error, format!("`{wrong}` is no id: 64 hexadecimal digits are expected"));
        }
    }
}
