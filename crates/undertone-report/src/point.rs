//! Where the learner of a task about whole records stands, as bytes: what a device fetches before it answers.
//!
//! The task's id, 32 bytes; the version, 8 bytes; then each parameter as 8 bytes of a float, all in big endian. As numbers in
//! JSON may lose their last bit, and a device and its collector have to agree about it, there is no other form.

use crate::{ReportError, TaskId};

/// The media type of a point.
pub const POINT_MEDIA_TYPE: &str = "application/vnd.undertone.point;version=1";

/// A point at which gradients are taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The reports of the log that it was made of
    pub version: u64,
    /// θ
    pub parameters: Vec<f64>,
}

impl Point {
    /// The bytes for the devices of a task.
    pub fn to_bytes(&self, task: TaskId) -> Vec<u8> {
        let parameters = self.parameters.iter().flat_map(|value| value.to_be_bytes());
        task.as_bytes().iter().copied().chain(self.version.to_be_bytes()).chain(parameters).collect()
    }

    /// The point that these bytes are, for a task with so many parameters. What the parameters are is for whoever uses them
    /// to look at.
    pub fn from_bytes(bytes: &[u8], task: TaskId, parameters: usize) -> Result<Self, ReportError> {
        let Some((found, rest)) = bytes.split_first_chunk::<32>() else {
            return Err(ReportError::Truncated { length: bytes.len() });
        };
        if found != task.as_bytes() {
            return Err(ReportError::OtherTask {});
        }
        let expected = 8 + 8 * parameters;
        match rest.len().checked_sub(expected) {
            None => return Err(ReportError::Truncated { length: bytes.len() }),
            Some(0) => {}
            Some(extra) => return Err(ReportError::TrailingBytes { extra }),
        }
        let mut words =
            rest.chunks_exact(8).map(|word| word.iter().fold(0, |n, &byte| n << 8 | u64::from(byte)));
        let version = words.next().unwrap_or_default();
        Ok(Self { version, parameters: words.map(f64::from_bits).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_reads_back_to_the_last_bit_and_nothing_else_does() {
        let (task, other) = (TaskId::of(b"a"), TaskId::of(b"b"));
        let point = Point { version: 7, parameters: vec![0.1 + 0.2, -0.0, f64::MIN_POSITIVE] };
        let bytes = point.to_bytes(task);
        assert_eq!(bytes.len(), 32 + 8 + 24);
        assert_eq!(Point::from_bytes(&bytes, task, 3), Ok(point));
        let reason = |bytes: &[u8], task, p| Point::from_bytes(bytes, task, p).unwrap_err().reason();
        assert_eq!(reason(&bytes, other, 3), "other-task");
        assert_eq!(reason(&bytes, task, 4), "truncated");
        assert_eq!(reason(&bytes, task, 2), "trailing-bytes");
        assert_eq!(reason(&bytes[..31], task, 3), "truncated");
    }
}
