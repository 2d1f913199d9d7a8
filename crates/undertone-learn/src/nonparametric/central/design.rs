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
        let mass = (people as f64 * width.powf(f64::from(d))).max(1.0);
        Partition::of_mass(kind, axes, rows, mass)
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
