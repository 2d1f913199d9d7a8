//! What is asked of whom, chosen before anyone is.

use super::chebyshev::Disjunction;
use super::cover::cover;
use super::predicted::{Weighted, weigh};
use crate::LearnError;
use undertone_privacy::statistic::{Answering, Questionnaire, Schema, View};
use undertone_privacy::{Epsilon, PrivacyError};

/// Tables of more attributes are not made: the work for one grows as fast as 4^k …
const MOST_ORDER: usize = 12;
/// … and for the exact variances of views as fast as 9^k.
const MOST_ORDER_OF_VIEWS: usize = 8;
/// Views hold all sets of two attributes or of three; larger ones by chance.
const MOST_TOGETHER: usize = 3;
/// A view, or a table that is asked for, has at most so many cells.
pub(super) const MOST_CELLS: u32 = 1 << 16;
/// Weights are integers out of about so many.
const WEIGHTS: f64 = 1_048_576.0;

/// How tables are learnt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Products of literals, with a polynomial that is at most `error` off
    Chebyshev {
        /// γ
        error: f64,
    },
    /// Characters
    Hadamard,
    /// Tables over k attributes each
    Direct(Answering),
    /// Views, pooled and filled in by maximum entropy: the default
    Views,
}

/// A public design: the questions, and what is made of their answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    pub(super) order: usize,
    pub(super) questionnaire: Questionnaire,
    pub(super) estimator: Estimator,
    predicted: Option<f64>,
}

/// What is made of the answers.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Estimator {
    Polynomial(Disjunction),
    Characters,
    Tables,
    Views,
}

impl Design {
    /// A design for tables over `order` attributes from about `people`, who promise themselves `epsilon`.
    pub fn new(
        method: Method,
        schema: Schema,
        people: u64,
        epsilon: Epsilon,
        order: usize,
    ) -> Result<Self, LearnError> {
        let most = if method == Method::Views { MOST_ORDER_OF_VIEWS } else { MOST_ORDER };
        check_order(&schema, order, most)?;
        let (questionnaire, estimator) = match method {
            Method::Chebyshev { error } => {
                let polynomial = Disjunction::new(order, error)?;
                let terms = Questionnaire::terms(schema, epsilon, polynomial.coefficients.len())?;
                (terms, Estimator::Polynomial(polynomial))
            }
            Method::Hadamard => (Questionnaire::parities(schema, epsilon, order)?, Estimator::Characters),
            Method::Direct(answering) => {
                (Questionnaire::tables(schema, epsilon, order, answering)?, Estimator::Tables)
            }
            Method::Views => {
                let (views, predicted) = views(&schema, people, epsilon, order)?;
                let design = Self::with_views(schema, epsilon, order, views)?;
                return Ok(Self { predicted: Some(predicted), ..design });
            }
        };
        Ok(Self { order, questionnaire, estimator, predicted: None })
    }

    /// The design with these views and how often each is asked, as a task may have them written down.
    pub fn with_views(
        schema: Schema,
        epsilon: Epsilon,
        order: usize,
        views: Vec<View>,
    ) -> Result<Self, LearnError> {
        check_order(&schema, order, MOST_ORDER_OF_VIEWS)?;
        for view in &views {
            schema.check(&view.attributes)?;
            check_cells(&schema, &view.attributes)?;
        }
        let questionnaire = Questionnaire::views(schema, epsilon, views)?;
        Ok(Self { order, questionnaire, estimator: Estimator::Views, predicted: None })
    }

    /// The questions, which devices draw from and answer.
    pub fn questionnaire(&self) -> &Questionnaire {
        &self.questionnaire
    }

    /// The tables that are asked about, where views are.
    pub fn views(&self) -> Vec<View> {
        self.questionnaire.asked_views()
    }

    /// The most literals of a product, where products are asked about.
    pub fn degree(&self) -> u32 {
        match &self.estimator {
            Estimator::Polynomial(polynomial) => polynomial.coefficients.len() as u32,
            _ => 0,
        }
    }

    /// k, the most attributes that are looked at together.
    pub fn order(&self) -> usize {
        self.order
    }

    /// The total variation to expect of tables over k attributes, on average, where views were chosen by it.
    pub fn predicted_total_variation(&self) -> Option<f64> {
        self.predicted
    }
}

/// Views with the integer weights of each, and the total variation to expect: of the covers of all sets of two attributes
/// or of three by views of 4, 8, …, 1024 cells that of least predicted error. Each attribute is a view by itself, too: where
/// people are few, what one attribute says is most of what can be known.
fn views(
    schema: &Schema,
    people: u64,
    epsilon: Epsilon,
    order: usize,
) -> Result<(Vec<View>, f64), LearnError> {
    let mut best: Option<(Vec<Vec<usize>>, Weighted)> = None;
    let mut refused = None;
    for together in order.min(2)..=order.min(MOST_TOGETHER) {
        for bits in 2..=10 {
            let mut views = match cover(schema, together, f64::from(1 << bits)) {
                Ok(views) => views,
                Err(problem) => {
                    refused.get_or_insert(problem);
                    break;
                }
            };
            if let Err(problem) = views.iter().try_for_each(|view| check_cells(schema, view)) {
                refused.get_or_insert(problem);
                break;
            }
            views.extend((0..schema.attributes()).map(|attribute| vec![attribute]));
            views.sort_unstable();
            views.dedup();
            let weighted = weigh(schema, &views, order, people.max(1) as f64, epsilon)?;
            if best.as_ref().is_none_or(|(_, best)| weighted.total_variation < best.total_variation) {
                best = Some((views, weighted));
            }
        }
    }
    let Some((views, Weighted { weights, total_variation })) = best else {
        return Err(refused.expect("without a cover there is a reason").into());
    };
    // Rounded up, so that each view is asked for now and then
    let view = |(attributes, weight): (Vec<usize>, f64)| View {
        attributes,
        weight: (weight * WEIGHTS).ceil().max(1.0) as u32,
    };
    Ok((views.into_iter().zip(weights).map(view).collect(), total_variation))
}

/// An error unless attributes may be taken `order` at a time, of which `most` are.
fn check_order(schema: &Schema, order: usize, most: usize) -> Result<(), PrivacyError> {
    schema.check_order(order)?;
    if order > most { Err(PrivacyError::Order { order, attributes: most }) } else { Ok(()) }
}

/// An error if the table over `view` is too large.
fn check_cells(schema: &Schema, view: &[usize]) -> Result<(), PrivacyError> {
    let cells = view.iter().map(|&a| f64::from(schema.levels()[a])).product();
    if cells > f64::from(MOST_CELLS) {
        return Err(PrivacyError::ProductDomain { cells, most: MOST_CELLS });
    }
    Ok(())
}
