//! What a device does with a task, so that it need not trust whoever wrote it.
//!
//! A [`Question`], a [`NumberQuestion`], or about a whole record a [`RecordQuestion`] or a [`SurveyQuestion`], is a task that
//! was checked, with the mechanisms rebuilt from its words: nothing that scales noise is taken from a server. A [`Device`] is
//! one person's: it pays for each answer from their budget, writes that down before anything can be sent, randomizes a label
//! once, and gives the same bytes to the same question ever after.

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

pub use device::Device;
pub use error::DeviceError;
pub use number_question::NumberQuestion;
pub use prepared::{Ack, Failure, Prepared};
pub use question::Question;
pub use record::Record;
pub use record_question::RecordQuestion;
pub use survey_question::SurveyQuestion;
