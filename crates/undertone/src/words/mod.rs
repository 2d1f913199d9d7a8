//! A mechanism in words: the options that describe one, the same wherever one is asked for.

mod central;
mod label;
mod number;
mod public;
mod vector;

pub(crate) use central::CentralWords;
pub(crate) use label::LabelWords;
pub(crate) use number::NumberWords;
pub(crate) use public::PublicWords;
pub(crate) use vector::VectorWords;

use crate::exit::Usage;
use undertone_audit::registry::{Kind, Mechanism};

/// A mechanism of any family.
#[derive(clap::Subcommand, Debug)]
pub(crate) enum Words {
    Label(LabelWords),
    Number(NumberWords),
    Vector(VectorWords),
    Public(PublicWords),
    Central(CentralWords),
}

impl Words {
    /// What the words describe, and its name.
    pub(crate) fn mechanism(&self) -> Result<(String, Mechanism), Usage> {
        let (kind, mechanism) = match self {
            Self::Label(words) => (Kind::Label(words.kind), Mechanism::Label(words.mechanism()?)),
            Self::Number(words) => {
                let mechanism = words.mechanism()?;
                (Kind::Number(mechanism.kind()), Mechanism::Number(mechanism))
            }
            Self::Vector(words) => {
                let mechanism = words.mechanism()?;
                (Kind::Vector(mechanism.kind()), Mechanism::Vector(mechanism))
            }
            Self::Public(words) => (Kind::Public(words.kind), words.mechanism()?),
            Self::Central(words) => (Kind::Central(words.kind), words.mechanism()?),
        };
        Ok((kind.name(), mechanism))
    }
}
