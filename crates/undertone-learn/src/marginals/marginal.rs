//! The answer: a table, each cell with its uncertainty.

use super::design::{Design, Estimator, MOST_CELLS};
use super::hierarchy::Hierarchy;
use super::pooled::Pooled;
use super::possible::possible;
use super::table::{chosen, parts, sizes_of};
use super::tally::Tally;
use super::{direct, hadamard, literals};
use crate::LearnError;
use crate::evaluation::Figure;
use crate::simplex;
use undertone_privacy::PrivacyError;

/// Tables from the answers to one design.
#[derive(Clone, Debug)]
pub struct Marginals<'a> {
    design: &'a Design,
    tally: &'a Tally,
    /// What views have in common
    views: Option<Views>,
}

/// What all views together say, without bias, and the tables that were made of it.
#[derive(Clone, Debug)]
struct Views {
    pooled: Pooled,
    hierarchy: Hierarchy,
}

/// A table over some attributes, row by row: the last attribute changes fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct Marginal {
    /// In rising order
    pub attributes: Vec<usize>,
    /// How many levels each has
    pub levels: Vec<usize>,
    /// One for each combination of levels
    pub cells: Vec<Cell>,
}

/// One cell of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// The best guess: those of a table are a distribution. It is biased towards what fewer attributes say.
    pub share: f64,
    /// Linear in the answers and unbiased (with Chebyshev's polynomial up to its error), hence at times below zero; none
    /// if the attributes are together in no view.
    pub unbiased: Option<Figure>,
    /// Covers the truth at least 95 times in 100: from the unbiased estimate, not around the best guess; where there is none,
    /// from what tables over fewer attributes leave possible
    pub interval: (f64, f64),
}

/// Estimates that are linear in the answers.
pub(super) struct Linear {
    pub values: Vec<f64>,
    pub variances: Vec<f64>,
    /// How far their means may be off
    pub bias: f64,
}

impl<'a> Marginals<'a> {
    /// What the answers counted by `tally`, which has to be one of `design`, say.
    pub fn new(design: &'a Design, tally: &'a Tally) -> Result<Self, LearnError> {
        if !tally.fits(design) {
            return Err(LearnError::Snapshot);
        }
        if tally.reports() == 0 {
            return Err(LearnError::NoReports);
        }
        let views = match design.estimator {
            Estimator::Views => {
                let pooled = Pooled::new(design, tally)?;
                let levels = design.questionnaire.schema().levels();
                let hierarchy = Hierarchy::new(&pooled, levels, design.order);
                Some(Views { pooled, hierarchy })
            }
            _ => None,
        };
        Ok(Self { design, tally, views })
    }

    /// The table over some of the attributes, in rising order, at most as many as the design looks at together.
    pub fn marginal(&self, attributes: &[usize]) -> Result<Marginal, LearnError> {
        let schema = self.design.questionnaire.schema();
        let cells = schema.cells(attributes)?;
        if cells > MOST_CELLS {
            return Err(PrivacyError::ProductDomain { cells: cells.into(), most: MOST_CELLS }.into());
        }
        let (order, most) = (attributes.len(), self.design.order);
        if order > most {
            return Err(PrivacyError::Order { order, attributes: most }.into());
        }
        let levels: Vec<usize> = attributes.iter().map(|&a| schema.levels()[a] as usize).collect();
        let (design, tally) = (self.design, self.tally);
        let cells = match (&design.estimator, &self.views) {
            (Estimator::Polynomial(polynomial), _) => {
                literals::estimate(polynomial, design, tally, attributes, &levels)?.projected()
            }
            (Estimator::Characters, _) => hadamard::estimate(design, tally, attributes, &levels)?.projected(),
            (Estimator::Tables, _) => direct::estimate(design, tally, attributes, &levels)?.projected(),
            (Estimator::Views, Some(views)) => views.table(attributes, &levels)?,
            (Estimator::Views, None) => unreachable!("views are pooled when they are made"),
        };
        Ok(Marginal { attributes: attributes.to_vec(), levels, cells })
    }
}

impl Linear {
    /// The nearest distribution as the best guess.
    fn projected(self) -> Vec<Cell> {
        let mut shares = self.values.clone();
        simplex::project(&mut shares);
        let unbiased = self.values.iter().zip(&self.variances);
        let cell = |(share, (&value, variance)): (f64, (&f64, &f64))| {
            let figure = Figure { value, standard_error: variance.sqrt() };
            Cell { share, unbiased: Some(figure), interval: within(figure.interval(), self.bias) }
        };
        shares.into_iter().zip(unbiased).map(cell).collect()
    }
}

/// An interval for a share, wider by `bias` on both sides.
fn within((low, high): (f64, f64), bias: f64) -> (f64, f64) {
    ((low - bias).clamp(0.0, 1.0), (high + bias).clamp(0.0, 1.0))
}

impl Views {
    fn table(&self, attributes: &[usize], sizes: &[usize]) -> Result<Vec<Cell>, LearnError> {
        let pooled = &self.pooled;
        if let Some(&attribute) = attributes.iter().find(|&&a| pooled.get(&[a]).is_none()) {
            return Err(LearnError::UnansweredTable { attributes: vec![attribute] });
        }
        let tables = self.hierarchy.tables(attributes);
        let shares = &tables[tables.len() - 1];
        if let Some(figures) = figures(pooled, attributes, sizes, &tables) {
            let cell = |(&share, figure): (&f64, Figure)| Cell {
                share,
                unbiased: Some(figure),
                interval: within(figure.interval(), 0.0),
            };
            return Ok(shares.iter().zip(figures).map(cell).collect());
        }
        let intervals = possible(sizes, &known(pooled, attributes, sizes, &tables));
        let cell = |(&share, interval)| Cell { share, unbiased: None, interval };
        Ok(shares.iter().zip(intervals).map(cell).collect())
    }
}

/// The unbiased estimate of each cell, if some view holds all attributes.
fn figures(
    pooled: &Pooled,
    attributes: &[usize],
    sizes: &[usize],
    tables: &[Vec<f64>],
) -> Option<Vec<Figure>> {
    let values = pooled.unbiased(attributes, sizes)?;
    let variances = pooled.variances(attributes, sizes, tables)?;
    let figure = |(value, variance): (f64, f64)| Figure { value, standard_error: variance.sqrt() };
    Some(values.into_iter().zip(variances).map(figure).collect())
}

/// The unbiased tables over all parts that views hold, by mask.
fn known(
    pooled: &Pooled,
    attributes: &[usize],
    sizes: &[usize],
    tables: &[Vec<f64>],
) -> Vec<Option<Vec<Figure>>> {
    let of = |mask: usize| {
        // The fitted tables over the parts of the part, in the order of its own masks
        let own = std::iter::once(0).chain(parts(mask)).map(|part| tables[part].clone()).collect::<Vec<_>>();
        figures(pooled, &chosen(attributes, mask), &sizes_of(sizes, mask), &own)
    };
    (0..1usize << sizes.len()).map(|mask| if mask == 0 { None } else { of(mask) }).collect()
}
