//! How a number within public bounds is told, as words: by a number mechanism, or with public randomness.

use crate::kinds::kinds;
use crate::number::{Bounds, GridNumber, NumberKind, NumberMechanism, NumberRandomizer};
use crate::public::{GenProt, GenProtReport, PublicBit, RejectionBit};
use crate::{Epsilon, Guarantee, PrivacyError, Randomizer, Unbiased};
use alloc::vec::Vec;
use rand_core::CryptoRng;

kinds! {
    /// How numbers are told in a survey, by its name.
    AnsweringKind {
        /// The number mechanism of the least worst-case variance
        Best = "best",
        /// One bit
        OneBit = "one-bit",
        /// Discrete Laplace noise
        Laplace = "laplace",
        /// The bit about a public draw
        RejectionBit = "rejection-bit",
        /// The place of one of some public draws
        GenProt = "gen-prot",
    }
}

/// T, the public draws of each person, beyond which 2^(1-T) is no bias worth the bytes.
const STRINGS: u32 = 12;
/// No honest draw of discrete Laplace noise is so many scales away but for a chance of e^-40.
const FARTHEST: f64 = 40.0;

/// A mechanism for one number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NumberAnswering {
    /// Its report
    Mechanism(NumberMechanism),
    /// A public draw, and a bit
    RejectionBit(RejectionBit),
    /// Public draws, and which
    GenProt(GenProt),
}

impl NumberAnswering {
    /// The mechanism of this kind.
    pub fn new(kind: AnsweringKind, bounds: Bounds, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        let number = |kind| NumberMechanism::new(kind, bounds, epsilon).map(Self::Mechanism);
        match kind {
            AnsweringKind::Best => NumberMechanism::best(bounds, epsilon).map(Self::Mechanism),
            AnsweringKind::OneBit => number(NumberKind::OneBit),
            AnsweringKind::Laplace => number(NumberKind::Laplace),
            AnsweringKind::RejectionBit => RejectionBit::new(bounds, epsilon).map(Self::RejectionBit),
            AnsweringKind::GenProt => GenProt::new(bounds, STRINGS, epsilon).map(Self::GenProt),
        }
    }

    /// Where the number lies.
    pub fn bounds(&self) -> Bounds {
        match self {
            Self::Mechanism(mechanism) => mechanism.bounds(),
            Self::RejectionBit(mechanism) => mechanism.bounds(),
            Self::GenProt(mechanism) => mechanism.bounds(),
        }
    }

    /// The largest variance of a decoded answer: all of them are largest at an end or in the middle.
    pub fn worst_variance(&self) -> f64 {
        let bounds = self.bounds();
        let places = [bounds.lowest(), bounds.middle(), bounds.highest()];
        let variance = |input: GridNumber| match self {
            Self::Mechanism(mechanism) => mechanism.worst_variance(),
            Self::RejectionBit(mechanism) => mechanism.variance(&input),
            Self::GenProt(mechanism) => mechanism.variance(&input),
        };
        places.map(variance).into_iter().fold(0.0, f64::max)
    }

    pub(super) fn guarantee(&self) -> Guarantee {
        match self {
            Self::Mechanism(mechanism) => mechanism.guarantee(),
            Self::RejectionBit(mechanism) => mechanism.guarantee(),
            Self::GenProt(mechanism) => mechanism.guarantee(),
        }
    }

    /// The words of an answer.
    pub(super) fn words(&self) -> usize {
        match self {
            Self::Mechanism(_) => 1,
            Self::RejectionBit(_) => 2,
            Self::GenProt(mechanism) => mechanism.strings() as usize + 1,
        }
    }

    pub(super) fn randomize(&self, value: f64, rng: &mut impl CryptoRng) -> Result<Vec<i64>, PrivacyError> {
        let input = self.bounds().place(value)?;
        Ok(match self {
            Self::Mechanism(mechanism) => Vec::from([mechanism.randomize(&input, rng)?]),
            Self::RejectionBit(mechanism) => {
                let PublicBit { public, bit } = mechanism.randomize(&input, rng)?;
                Vec::from([public, i64::from(bit)])
            }
            Self::GenProt(mechanism) => {
                let GenProtReport { mut public, index } = mechanism.randomize(&input, rng)?;
                public.push(i64::from(index));
                public
            }
        })
    }

    pub(super) fn ln_likelihood(&self, words: &[i64], value: f64) -> Result<f64, PrivacyError> {
        let input = self.bounds().place(value)?;
        Ok(match self {
            Self::Mechanism(mechanism) => mechanism.ln_likelihood(&words[0], &input),
            Self::RejectionBit(mechanism) => mechanism.ln_likelihood(&public_bit(words), &input),
            Self::GenProt(mechanism) => mechanism.ln_likelihood(&named(words), &input),
        })
    }

    /// The unbiased value of an answer.
    pub(super) fn decode(&self, words: &[i64]) -> f64 {
        match self {
            Self::Mechanism(mechanism) => mechanism.decode(words[0]),
            Self::RejectionBit(mechanism) => mechanism.estimate(&public_bit(words))[0],
            Self::GenProt(mechanism) => mechanism.estimate(&named(words))[0],
        }
    }

    /// Whether an honest device says these words, as many as there have to be.
    pub(super) fn is_plausible(&self, words: &[i64]) -> bool {
        let steps = f64::from(self.bounds().steps());
        let near = |word: i64, scale: f64| (word as f64).abs() <= steps + FARTHEST * scale;
        match self {
            Self::Mechanism(NumberMechanism::Laplace(laplace)) => {
                near(words[0], laplace.noise().scale().get())
            }
            Self::Mechanism(mechanism) => mechanism.alphabet().is_none_or(|all| all.contains(&words[0])),
            Self::RejectionBit(mechanism) => {
                near(words[0], mechanism.public().scale().get()) && matches!(words[1], 0 | 1)
            }
            Self::GenProt(mechanism) => {
                let (index, public) = (words[words.len() - 1], &words[..words.len() - 1]);
                public.iter().all(|&word| near(word, mechanism.public().scale().get()))
                    && (0..public.len() as i64).contains(&index)
            }
        }
    }
}

fn public_bit(words: &[i64]) -> PublicBit {
    PublicBit { public: words[0], bit: words[1] == 1 }
}

fn named(words: &[i64]) -> GenProtReport {
    let (public, index) = words.split_at(words.len() - 1);
    GenProtReport { public: public.into(), index: index[0] as u32 }
}
