//! Values as people type them, checked before a command sees them.

use anyhow::{Context, ensure};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use undertone_privacy::label::LabelKind;
use undertone_privacy::{Epsilon, PrivacyError};

/// ε, positive and finite.
pub(crate) fn epsilon(text: &str) -> anyhow::Result<Epsilon> {
    Ok(Epsilon::new(number(text)?)?)
}

/// K, at least two.
pub(crate) fn classes(text: &str) -> anyhow::Result<u32> {
    let labels = whole(text)?;
    let labels = u32::try_from(labels).with_context(|| format!("{labels} classes are too many"))?;
    if labels < 2 {
        return Err(PrivacyError::TooFewLabels { labels }.into());
    }
    Ok(labels)
}

/// A number of people, at least one.
pub(crate) fn people(text: &str) -> anyhow::Result<u64> {
    let people = whole(text)?;
    ensure!(people > 0, "at least one person is needed");
    Ok(people)
}

/// A length or a slope.
pub(crate) fn positive(text: &str) -> anyhow::Result<f64> {
    let value = number(text)?;
    ensure!(value > 0.0 && value.is_finite(), "the value has to be positive and finite");
    Ok(value)
}

/// A label mechanism by its name.
pub(crate) fn label_kind() -> impl TypedValueParser<Value = LabelKind> {
    PossibleValuesParser::new(LabelKind::ALL.map(LabelKind::name)).try_map(|name| {
        LabelKind::ALL.into_iter().find(|kind| kind.name() == name).context("no such mechanism")
    })
}

fn number(text: &str) -> anyhow::Result<f64> {
    text.parse().context("a number is expected")
}

fn whole(text: &str) -> anyhow::Result<u64> {
    text.parse().context("a whole number is expected, not negative")
}
