//! What is handed to a log, what becomes of it, and what is read back.

/// The most bytes that the body of one report may have.
pub const MAX_BODY: usize = 1 << 20;

/// The largest time and the largest horizon: what both kinds of log can hold.
pub const MAX_TIME: u64 = i64::MAX as u64;

/// A report on its way into the log: bytes that somebody has checked already, and what it takes to count them once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// Drawn at random by the device, and the same again whenever it tries again
    pub id: [u8; 16],
    /// In the unit of the task. Together with the id it names the report.
    pub time: u64,
    /// The token that let it in, if the task asks for one
    pub admission: Option<Admission>,
    /// The last position that it may take; any, if none is named. What it says may be about the state of a log that has gone
    /// on since
    pub latest: Option<u64>,
    /// The report
    pub body: Vec<u8>,
}

/// A token of admission, already found genuine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    /// The name of the token
    pub nonce: [u8; 16],
    /// How many reports it lets in, over the whole life of the log
    pub cap: u32,
}

/// What became of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is in the log, at this position, and survives a crash.
    Accepted(u64),
    /// It was in the log before: counted once, and whoever sent it may stop.
    Duplicate,
    /// Another report is in the log under its time and id: somebody says two things, of which one is counted.
    Equivocation,
    /// Its time lies before the horizon, where nobody remembers what has been counted.
    TooOld,
    /// The log has grown beyond the last position that it may take.
    TooLate,
    /// Its token has let in as many reports as it may.
    AdmissionSpent,
}

/// A report as the log has it. The token stays behind: no reader needs to know who was let in by what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// 0 for the first report of the log, and no gaps
    pub position: u64,
    /// As submitted
    pub id: [u8; 16],
    /// As submitted
    pub time: u64,
    /// As submitted
    pub body: Vec<u8>,
}
