//! A number that only rises, by which a ledger knows that it is not an old copy of itself.
//!
//! Each time a ledger is written it counts one more, and the counter is raised to that before anything is said. A ledger that
//! counts less than its counter was restored from a backup: what was spent since is not in it, and nothing is said any more.

use crate::whole_file;
use std::fmt::Debug;
use std::path::PathBuf;
use std::{fs, io};

/// Where a device keeps the number. By default it is a file beside the ledger, which tells a ledger that was restored alone;
/// where both may be restored together, give a device something that no backup holds, such as the keystore of its platform.
pub trait Counter: Debug + Send {
    /// The number, zero at first.
    fn value(&mut self) -> io::Result<u64>;

    /// Raises it. Once this returns, no crash lowers it.
    fn raise(&mut self, to: u64) -> io::Result<()>;
}

/// A file that holds the number.
#[derive(Debug)]
pub(crate) struct FileCounter(pub(crate) PathBuf);

impl Counter for FileCounter {
    fn value(&mut self) -> io::Result<u64> {
        let text = match fs::read_to_string(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            read => read?,
        };
        let wrong = |_| io::Error::new(io::ErrorKind::InvalidData, format!("`{text}` is no count"));
        text.trim_end().parse().map_err(wrong)
    }

    fn raise(&mut self, to: u64) -> io::Result<()> {
        whole_file::replace(&self.0, format!("{to}\n").as_bytes())
    }
}
