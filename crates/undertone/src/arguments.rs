//! Values as people type them, checked before a command sees them.

use anyhow::{Context, bail, ensure};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::num::NonZeroU32;
use std::str::FromStr;
use undertone_learn::loss::Loss;
use undertone_learn::nonparametric::Magnitudes;
use undertone_privacy::label::LabelKind;
use undertone_privacy::vector::VectorKind;
use undertone_privacy::{Delta, Epsilon, Guarantee, Mu, PrivacyError, Rho};

/// ε, positive and finite.
pub(crate) fn epsilon(text: &str) -> anyhow::Result<Epsilon> {
    Ok(Epsilon::new(number(text)?)?)
}

/// δ, strictly between 0 and 1.
pub(crate) fn delta(text: &str) -> anyhow::Result<Delta> {
    Ok(Delta::new(number(text)?)?)
}

/// μ, positive and finite.
pub(crate) fn mu(text: &str) -> anyhow::Result<Mu> {
    Ok(Mu::new(number(text)?)?)
}

/// ρ, positive and finite.
pub(crate) fn rho(text: &str) -> anyhow::Result<Rho> {
    Ok(Rho::new(number(text)?)?)
}

/// A promise in words: `epsilon=1`, `epsilon=1,delta=1e-6`, `mu=0.5` or `rho=0.1`.
pub(crate) fn promise(text: &str) -> anyhow::Result<Guarantee> {
    const SHAPES: &str = "a promise is epsilon=E, epsilon=E,delta=D, mu=M or rho=R";
    let parts: Option<Vec<(&str, &str)>> = text.split(',').map(|part| part.split_once('=')).collect();
    Ok(match parts.context(SHAPES)?[..] {
        [("epsilon", value)] => Guarantee::Pure(epsilon(value)?),
        [("epsilon", value), ("delta", of)] => Guarantee::Approximate(epsilon(value)?, delta(of)?),
        [("mu", value)] => Guarantee::Gaussian(mu(value)?),
        [("rho", value)] => Guarantee::Concentrated(rho(value)?),
        _ => bail!(SHAPES),
    })
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

/// A probability to be right, strictly between 0 and 1.
pub(crate) fn confidence(text: &str) -> anyhow::Result<f64> {
    let value = number(text)?;
    ensure!(value > 0.0 && value < 1.0, "a confidence lies strictly between 0 and 1");
    Ok(value)
}

/// Powers of two that magnitudes are told by, such as `-2,10`.
pub(crate) fn magnitudes(text: &str) -> anyhow::Result<Magnitudes> {
    const SHAPE: &str = "magnitudes are two powers of two A,B, such as -2,10 for numbers from 2^-2 to 2^10";
    let (lowest, highest) = text.split_once(',').context(SHAPE)?;
    let [lowest, highest] = [lowest, highest].map(|power| power.trim().parse().context(SHAPE));
    Ok(Magnitudes::new(lowest?, highest?)?)
}

/// A number of trials, at least one.
pub(crate) fn trials(text: &str) -> anyhow::Result<u64> {
    let trials = whole(text)?;
    ensure!(trials > 0, "at least one trial is needed");
    Ok(trials)
}

/// The seed of a simulation.
pub(crate) fn seed(text: &str) -> anyhow::Result<u64> {
    whole(text)
}

/// A number of coordinates.
pub(crate) fn dimension(text: &str) -> anyhow::Result<usize> {
    let dimension = whole(text)?;
    usize::try_from(dimension).with_context(|| format!("{dimension} coordinates are too many"))
}

/// A length or a slope.
pub(crate) fn positive(text: &str) -> anyhow::Result<f64> {
    let value = number(text)?;
    ensure!(value > 0.0 && value.is_finite(), "the value has to be positive and finite");
    Ok(value)
}

/// The strength of a penalty.
pub(crate) fn penalty(text: &str) -> anyhow::Result<f64> {
    let value = number(text)?;
    ensure!(value >= 0.0 && value.is_finite(), "the value has to be finite and not negative");
    Ok(value)
}

/// A share of all people, from 0 to 1.
pub(crate) fn share(text: &str) -> anyhow::Result<f64> {
    let value = number(text)?;
    ensure!((0.0..=1.0).contains(&value), "a share lies between 0 and 1");
    Ok(value)
}

/// A loss of linear scores by its name.
pub(crate) fn loss() -> impl TypedValueParser<Value = Loss> {
    let names = ["softmax", "logistic", "hinge", "squared"];
    PossibleValuesParser::new(names).map(|name| match name.as_str() {
        "softmax" => Loss::Softmax,
        "logistic" => Loss::Logistic,
        "hinge" => Loss::Hinge,
        _ => Loss::Squared,
    })
}

/// How often, or how many: at least one.
pub(crate) fn count(text: &str) -> anyhow::Result<NonZeroU32> {
    let count = whole(text)?;
    let count = u32::try_from(count).with_context(|| format!("{count} is too many"))?;
    NonZeroU32::new(count).context("at least one is needed")
}

/// A label mechanism by its name.
pub(crate) fn label_kind() -> impl TypedValueParser<Value = LabelKind> {
    one_of(LabelKind::ALL.map(LabelKind::name))
}

/// A vector mechanism by its name.
pub(crate) fn vector_kind() -> impl TypedValueParser<Value = VectorKind> {
    one_of(VectorKind::ALL.map(VectorKind::name))
}

/// What one of `names` stands for; the help shows them all.
pub(crate) fn one_of<K>(names: impl IntoIterator<Item = &'static str>) -> impl TypedValueParser<Value = K>
where
    K: FromStr<Err = PrivacyError> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| name.parse())
}

/// Any number that a float can be, even one that is none.
pub(crate) fn number(text: &str) -> anyhow::Result<f64> {
    text.parse().context("a number is expected")
}

fn whole(text: &str) -> anyhow::Result<u64> {
    text.parse().context("a whole number is expected, not negative")
}
