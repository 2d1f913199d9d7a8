//! What a survey asks in order to explain a column by the others.

use super::columns::Scaled;
use crate::arguments;
use crate::exit::Usage;
use anyhow::Context;
use clap::ValueEnum;
use undertone_learn::bernstein::{Problem, check_grid, choose_grid};
use undertone_learn::copies::Layout;
use undertone_learn::moments::{MarginLoss, check_size, share_for};
use undertone_privacy::number::Bounds;
use undertone_privacy::survey::{AnsweringKind, NumberAnswering};
use undertone_privacy::{Delta, Epsilon, Mu};
use undertone_report::{
    CategoryWords, CopyWords, EncodingWords, GridLoss, LossGridWords, MechanismWords, MomentWords,
    ResponseWords, SurveyWords,
};

#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Explaining a column")]
pub(super) struct Explained {
    /// The column that is explained; a number with a public mean and the largest distance from it: COLUMN=MEAN,MOST
    #[arg(long, value_name = "COLUMN[=MEAN,MOST]")]
    pub(super) label: Option<Scaled>,
    /// Its two classes: a file with one on each line, or a list with commas
    #[arg(long, value_name = "FILE|LIST", requires = "label")]
    pub(super) classes: Option<String>,
    /// Covariates longer than this are scaled back; by default √(1 + columns), which no record of categories exceeds
    #[arg(long, value_name = "R", value_parser = arguments::positive, allow_hyphen_values = true, requires = "label")]
    radius: Option<f64>,
    /// The share of people who tell the second moment; by default a half where there are categories, and a rule for
    /// near-elliptical records of numbers
    #[arg(long, value_name = "S", value_parser = arguments::share, allow_hyphen_values = true, requires = "label", conflicts_with_all = ["losses", "copies"])]
    share: Option<f64>,
    /// Ask for losses at the nodes of a grid of coefficients instead of moments
    #[arg(long, value_name = "LOSS", requires_all = ["label", "bound"], conflicts_with = "copies")]
    losses: Option<Asked>,
    /// k, the steps of each coefficient; chosen for --n people if not given
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..), requires = "losses")]
    degree: Option<u32>,
    /// Coefficients lie within ± this
    #[arg(long, value_name = "B", value_parser = arguments::positive, allow_hyphen_values = true, requires = "losses")]
    bound: Option<f64>,
    /// Ask for noisy copies, for polynomials of degree D, instead of moments: as published, and worse
    #[arg(long, value_name = "D", value_parser = clap::value_parser!(u32).range(1..=512), requires = "label")]
    copies: Option<u32>,
    /// D copies, used level by level, instead of D(D+1)
    #[arg(long, requires = "copies", conflicts_with = "losses")]
    blossom: bool,
    /// δ, with --epsilon, of --copies
    #[arg(long, value_name = "D", value_parser = arguments::delta, allow_hyphen_values = true, requires_all = ["copies", "epsilon"])]
    delta: Option<Delta>,
    /// μ of --copies
    #[arg(long, value_name = "M", value_parser = arguments::mu, allow_hyphen_values = true, requires = "copies", conflicts_with = "epsilon")]
    mu: Option<Mu>,
}

/// A loss at the nodes of a grid.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Asked {
    /// ln(1 + e^-m)
    Logistic,
    /// max(0, 1/2 - m)
    Hinge,
    /// The hinge, smoothed by a quarter
    SmoothHinge,
    /// (⟨w, x⟩ - y)², of a number
    Squared,
}

impl From<Asked> for GridLoss {
    fn from(asked: Asked) -> Self {
        match asked {
            Asked::Logistic => Self::Logistic,
            Asked::Hinge => Self::Hinge,
            Asked::SmoothHinge => Self::SmoothHinge,
            Asked::Squared => Self::Squared,
        }
    }
}

/// Who will answer, and what is known of their records.
pub(super) struct People<'a> {
    pub(super) n: u64,
    pub(super) epsilon: Option<Epsilon>,
    pub(super) encoding: &'a [EncodingWords],
}

impl Explained {
    /// What is asked, and how it is answered.
    pub(super) fn words(
        &self,
        label: &Scaled,
        people: &People<'_>,
    ) -> anyhow::Result<(SurveyWords, MechanismWords)> {
        let epsilon = people.epsilon.context("--epsilon is needed");
        let pure = |kind: &str, epsilon: Epsilon| MechanismWords {
            kind: kind.into(),
            epsilon: Some(epsilon.get()),
            ..MechanismWords::default()
        };
        let response = label.constants.map(|(mean, most)| ResponseWords { mean, scale: 1.0 / most });
        Ok(match (self.losses, self.copies) {
            (Some(loss), _) => {
                let epsilon = epsilon?;
                (self.losses(loss.into(), response, people, epsilon)?, pure("best", epsilon))
            }
            (None, Some(degree)) => self.copies(degree, response, people)?,
            (None, None) => {
                let epsilon = epsilon?;
                (self.moments(response, people, epsilon)?, pure("codebook", epsilon))
            }
        })
    }

    fn moments(
        &self,
        response: Option<ResponseWords>,
        people: &People<'_>,
        epsilon: Epsilon,
    ) -> anyhow::Result<SurveyWords> {
        let covariates = people.covariates();
        check_size(people.n, covariates, epsilon).map_err(Usage::new)?;
        // Margins of the order of four, as those of a model that tells most classes apart
        let reach = 4.0 * (covariates as f64).sqrt();
        let loss = if response.is_some() { MarginLoss::Squared } else { MarginLoss::Logistic };
        let share = match self.share {
            Some(share) => share,
            // Values of categories are far from a multiple of I, which a second moment that nobody tells is taken for.
            None if people.encoding.iter().any(|words| matches!(words, EncodingWords::Category(_))) => 0.5,
            None => share_for(loss, reach, people.n, covariates, epsilon).map_err(Usage::new)?,
        };
        Ok(SurveyWords::Moments(MomentWords { radius: self.radius(people), share, response }))
    }

    fn losses(
        &self,
        loss: GridLoss,
        response: Option<ResponseWords>,
        people: &People<'_>,
        epsilon: Epsilon,
    ) -> anyhow::Result<SurveyWords> {
        let bound = self.bound.context("--bound is needed")?;
        let numbers = people.encoding.iter().any(|words| matches!(words, EncodingWords::Number(_)));
        if numbers && self.radius.is_none() {
            return Err(Usage::new(
                "--radius is missing: numbers have no largest length, so that nobody knows how large a loss may be",
            )
            .into());
        }
        let (radius, axes) = (self.radius(people), people.covariates());
        let degree = if let Some(degree) = self.degree {
            check_grid(axes, degree, people.n).map_err(Usage::new)?;
            degree
        } else {
            let (low, high) = (vec![-bound; axes], vec![bound; axes]);
            let problem = Problem { loss: loss.into(), low: &low, high: &high, radius };
            let answering = NumberAnswering::new(AnsweringKind::Best, Bounds::new(0.0, 1.0)?, epsilon)?;
            let deviation = answering.worst_variance().sqrt();
            choose_grid(&problem, people.n, deviation).map_err(Usage::new)?.degree
        };
        Ok(SurveyWords::Losses(LossGridWords { loss, degree, bound, radius, response }))
    }

    fn copies(
        &self,
        degree: u32,
        response: Option<ResponseWords>,
        people: &People<'_>,
    ) -> anyhow::Result<(SurveyWords, MechanismWords)> {
        if response.is_some() {
            return Err(Usage::new("--copies are for two classes, not for a number").into());
        }
        let mechanism = match (people.epsilon, self.delta, self.mu) {
            (Some(epsilon), Some(delta), None) => MechanismWords {
                kind: "gaussian".into(),
                epsilon: Some(epsilon.get()),
                delta: Some(delta.get()),
                ..MechanismWords::default()
            },
            (None, None, Some(mu)) => {
                MechanismWords { kind: "gdp".into(), mu: Some(mu.get()), ..MechanismWords::default() }
            }
            _ => return Err(Usage::new("--copies are Gaussian: --epsilon needs --delta, or --mu").into()),
        };
        let layout = if self.blossom { Layout::Blossom } else { Layout::Printed };
        let inner = layout.inner(degree as usize) as u32;
        let words = CopyWords { radius: self.radius(people), inner, blossom: self.blossom };
        Ok((SurveyWords::Copies(words), mechanism))
    }

    /// The constant is one, one value of a category is, and numbers are about one.
    fn radius(&self, people: &People<'_>) -> f64 {
        self.radius.unwrap_or((1.0 + people.encoding.len() as f64).sqrt())
    }
}

impl People<'_> {
    /// q, with the constant.
    fn covariates(&self) -> usize {
        let width = |words: &EncodingWords| match words {
            EncodingWords::Category(CategoryWords::Values { values, .. }) => values.len(),
            _ => 1,
        };
        1 + self.encoding.iter().map(width).sum::<usize>()
    }
}
