//! Statistics of a whole record: one public question, answered with the whole ε.
//!
//! A record is a tuple of categories over public attributes ([`Schema`]). A [`Questionnaire`] is a public family of
//! [`Question`]s about it, each with finitely many answers; a person draws one, which says nothing about the record,
//! and answers it by a label mechanism.

mod answering;
mod question;
mod questionnaire;
mod schema;
mod selections;

pub use answering::Answering;
pub use question::Question;
pub use questionnaire::{Answer, Questionnaire, View};
pub use schema::Schema;
pub use selections::Selections;
