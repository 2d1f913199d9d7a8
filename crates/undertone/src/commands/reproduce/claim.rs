//! A claim of the paper beside what came out.

use serde::Serialize;

/// A claim.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Claim {
    /// The figure, table or section it is from
    pub(super) source: &'static str,
    pub(super) says: String,
    /// What came out, in numbers
    pub(super) found: String,
    pub(super) verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Verdict {
    Reproduced,
    /// In some settings and not in others
    Partly,
    NotReproduced,
}

impl Verdict {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Partly => "PARTLY",
            Self::NotReproduced => "NOT REPRODUCED",
        }
    }
}

impl Claim {
    /// One that either holds or does not.
    pub(super) fn new(source: &'static str, says: &str, holds: bool, found: String) -> Self {
        let verdict = if holds { Verdict::Reproduced } else { Verdict::NotReproduced };
        Self { source, says: says.to_owned(), found, verdict }
    }

    /// One about many settings, of which each has a name and whether it held there; those where it did not are named.
    pub(super) fn of_many(source: &'static str, says: &str, settings: &[(String, bool)], more: &str) -> Self {
        let (held, failed) = parts(settings);
        let verdict = match (held.len(), failed.len()) {
            (_, 0) => Verdict::Reproduced,
            (0, _) => Verdict::NotReproduced,
            _ => Verdict::Partly,
        };
        let count = format!("in {} of {} settings", held.len(), settings.len());
        let exceptions =
            if failed.is_empty() { String::new() } else { format!("; not in: {}", failed.join("; ")) };
        let more = if more.is_empty() { String::new() } else { format!(". {more}") };
        Self { source, says: says.to_owned(), found: count + &exceptions + &more, verdict }
    }

    /// The same, where those in which it held are worth naming, too.
    pub(super) fn of_listed(
        source: &'static str,
        says: &str,
        settings: &[(String, bool)],
        more: &str,
    ) -> Self {
        let (held, _) = parts(settings);
        let held = if held.is_empty() { String::new() } else { format!("It held in: {}", held.join("; ")) };
        let both = [held.as_str(), more].into_iter().filter(|text| !text.is_empty());
        Self::of_many(source, says, settings, &both.collect::<Vec<_>>().join(". "))
    }
}

/// The names of settings in which a claim held, and of the others.
fn parts(settings: &[(String, bool)]) -> (Vec<&str>, Vec<&str>) {
    let named = |which: bool| {
        settings.iter().filter(|(_, held)| *held == which).map(|(name, _)| name.as_str()).collect()
    };
    (named(true), named(false))
}
