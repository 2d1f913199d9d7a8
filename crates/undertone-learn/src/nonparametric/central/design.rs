//! Which cells a curator answers for, before a label is looked at: of the width that the theory suggests, or of a given one.

use super::PublicGrid;
use crate::LearnError;
use crate::features::Rows;
use crate::nonparametric::TrustModel;
use crate::nonparametric::cells::{Axes, CellKind, Partition};
use crate::nonparametric::rates::{Plan, Problem, Task, cells_per_axis};
use undertone_privacy::Epsilon;

/// What a curator's model is about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Learnt {
    /// One of so many classes
    Classes(u32),
    /// A number within bounds
    Number,
    /// A number without bounds, whose moment of this order is bounded
    Heavy(f64),
}

/// What decides about the cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Design {
    /// What is learnt
    pub learnt: Learnt,
    /// The promise
    pub epsilon: Epsilon,
    /// h, where it is given: above 0 and below 1
    pub width: Option<f64>,
}

impl Design {
    /// h for what is once differentiable (β = 1), at most one.
    fn suggested(&self, trust: TrustModel, people: u64, dimension: u32) -> Result<f64, LearnError> {
        let (task, classes, moments) = match self.learnt {
            Learnt::Classes(classes) => (Task::Classification, classes, f64::INFINITY),
            Learnt::Number => (Task::Regression, 2, f64::INFINITY),
            Learnt::Heavy(order) => (Task::Heavy, 2, order),
        };
        let (epsilon, beta, gamma) = (self.epsilon, 1.0, 0.0);
        let problem = Problem { task, trust, people, epsilon, dimension, beta, gamma, moments, classes };
        Ok(Plan::new(&problem)?.cell_width)
    }

    /// Cells of public features: cubes of the given or suggested width, or, above three features, cells of N·h^d people.
    pub fn cells(&self, rows: &Rows) -> Result<Partition, LearnError> {
        if let Some(width) = self.width {
            return Partition::cubes(rows, width);
        }
        let axes = Axes::fit(rows)?;
        let (people, d) = (rows.len(), axes.dimension());
        let width = self.suggested(TrustModel::LabelCentral, people as u64, d)?;
        let kind = CellKind::default_for(&axes);
        if kind == CellKind::Cubes && width < 1.0 {
            return Partition::cubes(rows, width);
        }
        Partition::of_mass(kind, axes, rows, self.mass(people as f64, width, f64::from(d)))
    }

    /// How many people a cell of width h holds in d dimensions, N·h^d, but no fewer than can speak for themselves.
    ///
    /// The h of classes and of heavy tails is a sum of two widths, of which the larger alone has the same rate. In many dimensions the
    /// constant matters: the cell of the sum has up to 2^d times the people of the other, so half of it is taken, which is no
    /// wider than the larger. A class that leads by a fifth of n people loses no more than that share of them to noise at
    /// n = (2/ε)·(ln K + 1)·5 (eq. 119), and a mean of n numbers in [-1, 1] has noise and spread of at most a fifth at
    /// n = 5·√8/ε and n = 25.
    fn mass(&self, people: f64, width: f64, d: f64) -> f64 {
        let epsilon = self.epsilon.get();
        let numbers = (5.0 * 8f64.sqrt() / epsilon).max(25.0);
        let (width, least) = match self.learnt {
            Learnt::Classes(classes) => (0.5 * width, 10.0 / epsilon * (f64::from(classes).ln() + 1.0)),
            Learnt::Heavy(_) => (0.5 * width, numbers),
            Learnt::Number => (width, numbers),
        };
        (people * width.powf(d)).max(least).max(1.0)
    }

    /// Cells of features that are private: a function of their domain and of N alone.
    pub fn grid(&self, domain: Axes, people: u64) -> Result<PublicGrid, LearnError> {
        let suggested = self.suggested(TrustModel::FullCentral, people.max(1), domain.dimension())?;
        let parts = match self.width {
            None if suggested >= 1.0 => 1,
            given => cells_per_axis(given.unwrap_or(suggested))?,
        };
        PublicGrid::of_axes(domain, parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nonparametric::tests::uniform_rows;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    fn design(width: Option<f64>) -> Design {
        Design { learnt: Learnt::Classes(3), epsilon: Epsilon::new(1.0).unwrap(), width }
    }

    #[test]
    fn more_people_have_finer_cells_and_levels_double_them() {
        let square = || Axes::of_box(&[(0.0, 1.0), (0.0, 1.0)]).unwrap();
        let [few, many] = [1000, 1_000_000].map(|n| design(None).grid(square(), n).unwrap().cells());
        assert!(few < many, "{few} {many}");
        let domain = Axes::of_domain(&[Some((0.0, 1.0)), None, None]).unwrap();
        assert_eq!(design(Some(0.25)).grid(domain, 10).unwrap().cells(), 16);
    }

    #[test]
    fn in_nine_dimensions_there_are_more_cells_than_two() {
        let mut rng = ChaCha12Rng::seed_from_u64(9);
        let rows = uniform_rows(40_000, 9, &mut rng);
        let cells = |epsilon: f64| {
            let design = Design { epsilon: Epsilon::new(epsilon).unwrap(), ..design(None) };
            let cells = design.cells(&rows).unwrap();
            cells.leaves().into_iter().filter(|&leaf| leaf).count()
        };
        // 10·(ln 3 + 1)/ε people at least, and fewer than twice as many
        assert!((953..=1906).contains(&cells(1.0)), "{}", cells(1.0));
        assert!((95..=190).contains(&cells(0.1)), "{}", cells(0.1));
        assert_eq!(cells(1e-4), 1);
    }

    #[test]
    fn a_width_of_one_or_more_and_too_many_cells_are_refused() {
        let cube = || Axes::of_box(&[(0.0, 1.0); 3]).unwrap();
        for width in [1.0, 2.0, 0.0, -1.0, f64::NAN] {
            let error = design(Some(width)).grid(cube(), 10).unwrap_err().to_string();
            assert!(error.contains("the width of a cell"), "{error}");
        }
        let error = design(Some(0.001)).grid(cube(), 10).unwrap_err().to_string();
        assert!(error.contains("1000000000") && error.contains("10 million"), "{error}");
        let levels = Axes::of_domain(&[None; 40]).unwrap();
        assert!(design(None).grid(levels, 10).unwrap_err().to_string().contains("10 million"));
    }
}
