//! Bytes from strangers, read from the front.

use super::MOST_WORDS;
use crate::{Cell, ColumnKind, FeatureColumn, ReportError};

/// A length byte that says: two bytes of length follow.
pub(super) const LONG: u8 = 0xfe;
/// A length byte that says: there is no cell.
pub(super) const MISSING: u8 = 0xff;

/// What has not been read yet.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    rest: &'a [u8],
}

/// A cell that has been checked and is still bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum CellBytes<'a> {
    Missing,
    Number(f64),
    Words(&'a str),
    /// Big-endian, four bytes each
    Vector(&'a [u8]),
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, rest: bytes }
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<&'a [u8; N], ReportError> {
        let (array, rest) = self.rest.split_first_chunk().ok_or_else(|| self.truncated())?;
        self.rest = rest;
        Ok(array)
    }

    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], ReportError> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or_else(|| self.truncated())?;
        self.rest = rest;
        Ok(taken)
    }

    /// Nothing may be left.
    pub(super) fn end(&self) -> Result<(), ReportError> {
        match self.rest.len() {
            0 => Ok(()),
            extra => Err(ReportError::TrailingBytes { extra }),
        }
    }

    pub(super) fn cell(&mut self, column: &FeatureColumn) -> Result<CellBytes<'a>, ReportError> {
        match column.kind {
            ColumnKind::Number => self.number(column),
            ColumnKind::Words => self.words(column),
            ColumnKind::Vector(width) => self.vector(column, width as usize),
        }
    }

    /// 0, or 1 and eight bytes.
    fn number(&mut self, column: &FeatureColumn) -> Result<CellBytes<'a>, ReportError> {
        match *self.array()? {
            [0] => Ok(CellBytes::Missing),
            [1] => {
                let x = f64::from_be_bytes(*self.array()?);
                canonical(x.is_finite(), x.to_bits() == (-0f64).to_bits(), column)?;
                Ok(CellBytes::Number(x))
            }
            [found] => Err(ReportError::BadPresence { column: column.name.clone(), found }),
        }
    }

    /// A length byte below 254 and so many bytes of UTF-8; or 254, two bytes of length, at least 254, and the bytes;
    /// or 255, for nothing.
    fn words(&mut self, column: &FeatureColumn) -> Result<CellBytes<'a>, ReportError> {
        let length = match *self.array()? {
            [MISSING] => return Ok(CellBytes::Missing),
            [LONG] => {
                let length = u16::from_be_bytes(*self.array()?);
                if length < u16::from(LONG) {
                    return Err(ReportError::LengthNotMinimal { column: column.name.clone() });
                }
                usize::from(length)
            }
            [length] => usize::from(length),
        };
        debug_assert!(length <= MOST_WORDS, "two bytes hold no more");
        let words = std::str::from_utf8(self.take(length)?);
        words.map(CellBytes::Words).map_err(|_| ReportError::NotUtf8 { column: column.name.clone() })
    }

    fn vector(&mut self, column: &FeatureColumn, width: usize) -> Result<CellBytes<'a>, ReportError> {
        let bytes = self.take(4 * width)?;
        for x in floats(bytes) {
            canonical(x.is_finite(), x.to_bits() == (-0f32).to_bits(), column)?;
        }
        Ok(CellBytes::Vector(bytes))
    }

    fn truncated(&self) -> ReportError {
        ReportError::Truncated { length: self.bytes.len() }
    }
}

impl CellBytes<'_> {
    /// In the place of what was there, whose memory is used again where it fits.
    pub(super) fn write(self, cell: &mut Cell) {
        match (self, cell) {
            (Self::Words(words), Cell::Words(before)) => {
                before.clear();
                before.push_str(words);
            }
            (Self::Vector(bytes), Cell::Vector(before)) => {
                before.clear();
                before.extend(floats(bytes));
            }
            (Self::Missing, cell) => *cell = Cell::Missing,
            (Self::Number(x), cell) => *cell = Cell::Number(x),
            (Self::Words(words), cell) => *cell = Cell::Words(words.to_owned()),
            (Self::Vector(bytes), cell) => *cell = Cell::Vector(floats(bytes).collect()),
        }
    }
}

fn floats(bytes: &[u8]) -> impl Iterator<Item = f32> {
    bytes.as_chunks().0.iter().map(|&chunk| f32::from_be_bytes(chunk))
}

fn canonical(finite: bool, negative_zero: bool, column: &FeatureColumn) -> Result<(), ReportError> {
    if !finite {
        Err(ReportError::NotFinite { column: column.name.clone() })
    } else if negative_zero {
        Err(ReportError::NegativeZero { column: column.name.clone() })
    } else {
        Ok(())
    }
}
