//! The bytes of a file, unpacked if they are gzipped, and what their beginning says about the rest.

use super::idx::ElementType;
use anyhow::{Context, ensure};
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const PARQUET: [u8; 4] = *b"PAR1";
const BUFFER: usize = 1 << 16;

/// What is in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Csv,
    Parquet,
    Idx,
}

/// The bytes of a file, unpacked.
pub(super) type Bytes = Box<dyn Read + Send>;

/// Opens a file, gzipped or not.
pub(super) fn open(path: &Path) -> anyhow::Result<Bytes> {
    let file = || File::open(path).context("cannot be opened");
    Ok(if beginning(file()?)?.starts_with(&GZIP) {
        Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, file()?)))
    } else {
        Box::new(BufReader::with_capacity(BUFFER, file()?))
    })
}

/// What a file is, by its first bytes.
pub(super) fn format_of(path: &Path) -> anyhow::Result<Format> {
    let bytes = beginning(open(path)?)?;
    ensure!(!bytes.is_empty(), "the file is empty");
    Ok(match bytes[..] {
        [0, 0, code, _] if ElementType::from_code(code).is_some() => Format::Idx,
        _ if bytes == PARQUET => Format::Parquet,
        _ => {
            ensure!(!bytes.contains(&0), "neither CSV nor Parquet nor IDX");
            Format::Csv
        }
    })
}

/// The first four bytes, or fewer if there are no more.
fn beginning(bytes: impl Read) -> anyhow::Result<Vec<u8>> {
    let mut first = Vec::with_capacity(4);
    bytes.take(4).read_to_end(&mut first).context("cannot be read")?;
    Ok(first)
}
