//! What a device does with a task, so that it need not trust whoever wrote it.
//!
//! A [`Question`], a [`NumberQuestion`], or about a whole record a [`RecordQuestion`] or a [`SurveyQuestion`], is a task that
//! was checked, with the mechanisms rebuilt from its words: nothing that scales noise is taken from a server. A [`Device`] is
//! one person's: it pays for each answer from their budget, writes that down before anything can be sent, randomizes a label
//! once, and gives the same bytes to the same question ever after.
//!
//! When an answer is sent is up to the caller, as this crate has neither a network nor a clock. Whoever sends at once, when
//! something happened, tells when it did: wait for a random while that depends on nothing about the person, first and between
//! attempts. Of a task about records the wait has to be short against its `stale`, or comes before the point is fetched.

mod counter;
mod device;
mod error;
mod ledger_file;
mod number_question;
mod prepared;
mod promise_words;
mod question;
mod record;
mod record_question;
mod survey_question;
mod whole_file;

pub use counter::Counter;
pub use device::Device;
pub use error::DeviceError;
pub use ledger_file::State;
pub use number_question::NumberQuestion;
pub use prepared::{Ack, Failure, Prepared};
pub use question::Question;
pub use record::Record;
pub use record_question::RecordQuestion;
pub use survey_question::SurveyQuestion;
