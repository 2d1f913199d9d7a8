//! Why a report is refused: each reason has a name that counters and other languages rely on.

/// Declares the errors with their names, so that none is without.
macro_rules! report_errors {
    ($($(#[doc = $doc:literal])* $reason:literal $message:literal $variant:ident {
        $($(#[doc = $field_doc:literal])* $field:ident: $type:ty,)*
    })*) => {
        /// Why a report is refused.
        #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
        #[non_exhaustive]
        pub enum ReportError {
            $($(#[doc = $doc])* #[error($message)] $variant {
                $($(#[doc = $field_doc])* $field: $type,)*
            },)*
        }

        impl ReportError {
            /// All names there are.
            pub const REASONS: &[&str] = &[$($reason,)*];

            /// The name of the reason, which stays the same from version to version.
            pub fn reason(&self) -> &'static str {
                match self { $(Self::$variant { .. } => $reason,)* }
            }
        }
    };
}

report_errors! {
    /// Longer than any report may be
    "too-long" "it has {length} bytes, but may have {most}" TooLong {
        /// As received
        length: usize,
        /// As allowed
        most: usize,
    }
    /// It ends before it is complete
    "truncated" "it ends after {length} bytes, before it is complete" Truncated {
        /// As received
        length: usize,
    }
    /// It goes on after its end
    "trailing-bytes" "{extra} byte(s) follow its end" TrailingBytes {
        /// How many
        extra: usize,
    }
    /// Not a report, or one of another version
    "unknown-version" "it begins with the version {found:#04x}, this program reads {supported:#04x}" UnknownVersion {
        /// As received
        found: u8,
        /// As understood here
        supported: u8,
    }
    /// An answer to another question
    "other-task" "it answers another task" OtherTask {}
    /// A date at which the task is closed
    "outside-window" "its time {time} is outside of {opens}..{closes}" OutsideWindow {
        /// As received
        time: u64,
        /// The first unit of time of the task
        opens: u64,
        /// The first after it
        closes: u64,
    }
    /// A date so old that its id may be forgotten
    "too-old" "its time {time} is before {horizon}, the oldest that is accepted now" TooOld {
        /// As received
        time: u64,
        /// The oldest now
        horizon: u64,
    }
    /// A date that has not come yet
    "from-the-future" "its time {time} is after {newest}, the newest that is accepted now" FromTheFuture {
        /// As received
        time: u64,
        /// The newest now
        newest: u64,
    }
    /// A promise that the task does not offer
    "unknown-tier" "its tier is {tier}, but the task has {tiers}" UnknownTier {
        /// As received
        tier: u8,
        /// As offered
        tiers: usize,
    }
    /// More or fewer cells than columns
    "wrong-columns" "it has {found} cells, but the task has {expected} public columns" WrongColumns {
        /// As given
        found: usize,
        /// As asked
        expected: usize,
    }
    /// A cell that holds something else than its column
    "wrong-kind" "its cell of the column `{column}` holds something else than asked for" WrongKind {
        /// The name of the column
        column: String,
    }
    /// The byte that says whether a number is there says neither
    "bad-presence" "its cell of the column `{column}` begins with {found:#04x}, which is neither 0 nor 1" BadPresence {
        /// The name of the column
        column: String,
        /// As received
        found: u8,
    }
    /// Not a number, or an infinite one
    "not-finite" "its cell of the column `{column}` is no finite number" NotFinite {
        /// The name of the column
        column: String,
    }
    /// Zero with a sign, of which there is one only
    "negative-zero" "its cell of the column `{column}` is a negative zero" NegativeZero {
        /// The name of the column
        column: String,
    }
    /// A length that takes more bytes than it needs
    "length-not-minimal" "the length of its cell of the column `{column}` takes more bytes than it needs" LengthNotMinimal {
        /// The name of the column
        column: String,
    }
    /// Bytes that are no text
    "not-utf8" "its cell of the column `{column}` is no UTF-8" NotUtf8 {
        /// The name of the column
        column: String,
    }
    /// More words than a cell may have
    "words-too-long" "its cell of the column `{column}` has {length} bytes, but may have {most}" WordsTooLong {
        /// The name of the column
        column: String,
        /// As given
        length: usize,
        /// As allowed
        most: usize,
    }
    /// A label that the task does not have
    "unknown-label" "it names label {label}, but the task has {labels} classes" UnknownLabel {
        /// As received
        label: u32,
        /// K
        labels: u32,
    }
    /// Bits for labels that the task does not have
    "stray-bits" "it has bits beyond the {labels} classes of the task" StrayBits {
        /// K
        labels: u32,
    }
    /// More or fewer labels than the mechanism names
    "set-size" "it names {found} label(s), the mechanism names {expected}" SetSize {
        /// As received
        found: u32,
        /// As the mechanism has it
        expected: u32,
    }
    /// Labels that are out of order, or there twice
    "labels-not-rising" "its labels are not in rising order, each of them once" LabelsNotRising {}
    /// A label that was not asked about
    "not-asked" "it names label {label}, which is not among those asked about" NotAsked {
        /// As received
        label: u32,
    }
    /// An answer among no labels, among others than follow from the person's prior, or among some where nobody has one
    "wrong-choice" "its labels to answer among {problem}" WrongChoice {
        /// What is wrong with them
        problem: &'static str,
    }
    /// A gradient, a number or words that no honest device says, or of another size or kind than the mechanism's
    "implausible" "its answer is none that the mechanism of its tier says" Implausible {}
    /// A gradient, a number or words where labels are asked for, or the other way round
    "wrong-answer" "it {problem}" WrongAnswer {
        /// What is wrong with it
        problem: &'static str,
    }
    /// A question that the survey does not have
    "unknown-question" "it answers question {question}, but the survey has {questions}" UnknownQuestion {
        /// As received
        question: u64,
        /// As asked
        questions: u64,
    }
    /// A gradient at a point that there is not yet
    "future-version" "its point has {version} reports, and there are {now} so far" FutureVersion {
        /// As received
        version: u64,
        /// How many there are
        now: u64,
    }
    /// Not the JSON of a report
    "malformed-json" "it is no JSON of a report: {problem}" MalformedJson {
        /// Where and why
        problem: String,
    }
    /// A column that is needed and not there
    "missing-column" "it has no cell of the column `{column}`" MissingColumn {
        /// Its name
        column: String,
    }
    /// A column that the task does not ask for
    "unknown-column" "it has a cell of the column `{column}`, which the task does not ask for" UnknownColumn {
        /// Its name
        column: String,
    }
    /// A column that is there twice
    "repeated-column" "it has two cells of the column `{column}`" RepeatedColumn {
        /// Its name
        column: String,
    }
    /// A class that the task does not have
    "unknown-class" "it names the class `{class}`, which the task does not have" UnknownClass {
        /// Its name
        class: String,
    }
}
