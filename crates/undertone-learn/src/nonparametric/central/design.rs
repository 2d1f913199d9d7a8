//! Which cells a curator answers for, before a label is looked at: of the width that the theory suggests, or of a given one.

use super::PublicGrid;
use super::units::{enough_for_classes, enough_for_numbers};
use crate::LearnError;
use crate::features::Rows;
use crate::nonparametric::TrustModel;
use crate::nonparametric::cells::{Axes, CellKind, Partition};
use crate::nonparametric::rates::{Plan, Problem, Task, cells_per_axis};
use undertone_privacy::Epsilon;

/// The width of cubes where numbers are not to be cut and levels are: those of few people do without the cuts.
const WIDEST: f64 = 0.5;

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

    /// Cells of public features: up to three numbers cubes of the given width or of the suggested one, where those of few people do without
    /// the finer cuts of numbers and then without the last levels. Beyond, and of levels alone, cells of N·h^d people, and of no fewer than
    /// speak for themselves.
    pub fn cells(&self, rows: &Rows) -> Result<Partition, LearnError> {
        if let Some(width) = self.width {
            return Partition::cubes(rows, width);
        }
        let axes = Axes::fit(rows)?;
        let (people, d) = (rows.len(), axes.dimension());
        let width = self.suggested(TrustModel::LabelCentral, people as u64, d)?;
        let levels = axes.axes().len() > axes.numbers() as usize;
        let cubes = axes.numbers() > 0 && CellKind::default_for(&axes) == CellKind::Cubes;
        if cubes && (levels || width < 1.0) {
            return Partition::cubes(rows, if width < 1.0 { width } else { WIDEST });
        }
        let mass = self.mass(people as f64, width, axes.numbers());
        Partition::of_mass(CellKind::EqualMass, axes, rows, mass)
    }

    /// As many people as speak for themselves.
    pub fn least(&self) -> f64 {
        match self.learnt {
            Learnt::Classes(classes) => enough_for_classes(classes, self.epsilon),
            Learnt::Number | Learnt::Heavy(_) => enough_for_numbers(self.epsilon),
        }
    }

    /// How many people a cell of width h holds in d dimensions, N·h^d, but no fewer than can speak for themselves. Where there are
    /// levels alone, nothing has a width, and those are enough.
    ///
    /// The h of classes and of heavy tails is a sum of two widths, of which the larger alone has the same rate. In many dimensions the
    /// constant matters: the cell of the sum has up to 2^d times the people of the other, so half of it is taken, which is no
    /// wider than the larger.
    fn mass(&self, people: f64, width: f64, numbers: u32) -> f64 {
        let least = self.least().max(1.0);
        let width = match self.learnt {
            Learnt::Classes(_) | Learnt::Heavy(_) => 0.5 * width,
            Learnt::Number => width,
        };
        if numbers == 0 { least } else { (people * width.powi(numbers as i32)).max(least) }
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
    use super::super::{Clipping, release_numbers};
    use super::*;
    use crate::nonparametric::cells::Side;
    use crate::nonparametric::tests::uniform_rows;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;
    use undertone_privacy::number::Bounds;

    fn design(width: Option<f64>) -> Design {
        Design { learnt: Learnt::Classes(3), epsilon: Epsilon::new(1.0).unwrap(), width }
    }

    #[test]
    fn more_people_have_finer_cells_and_a_category_has_a_cell_for_none_of_its_levels() {
        let square = || Axes::of_box(&[(0.0, 1.0), (0.0, 1.0)]).unwrap();
        let [few, many] = [1000, 1_000_000].map(|n| design(None).grid(square(), n).unwrap().cells());
        assert!(few < many, "{few} {many}");
        let domain = Axes::of_domain(&[Side::Range(0.0, 1.0), Side::Levels(1), Side::Levels(2)]).unwrap();
        assert_eq!(design(Some(0.25)).grid(domain, 10).unwrap().cells(), 4 * 2 * 3);
        // Eight columns with 12,960 combinations of their levels, which 27 levels that are or are not would make 2^27
        let nursery = [3, 5, 4, 4, 3, 2, 3, 3].map(Side::Levels);
        let grid = design(None).grid(Axes::of_domain(&nursery).unwrap(), 12_960).unwrap();
        assert_eq!(grid.cells(), 4 * 6 * 5 * 5 * 4 * 3 * 4 * 4);
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

    /// So many people with `levels` levels, even and independent, after `numbers` numbers.
    fn fragmented(n: usize, numbers: usize, levels: usize, rng: &mut ChaCha12Rng) -> Rows {
        let width = numbers + levels;
        let mut rows =
            uniform_rows(n, width, rng).iter().flat_map(|row| row.dense.to_vec()).collect::<Vec<_>>();
        rows.chunks_mut(width).for_each(|row| row[numbers..].iter_mut().for_each(|x| *x = x.round()));
        Rows::dense(width, rows)
    }

    #[test]
    fn levels_alone_have_cells_of_as_many_people_as_are_heard_and_not_of_all() {
        let mut rng = ChaCha12Rng::seed_from_u64(10);
        let rows = fragmented(20_000, 0, 12, &mut rng);
        let cells = design(None).cells(&rows).unwrap();
        // 10·(ln 3 + 1) = 20.99 people at least
        let leaves = cells.leaves().into_iter().filter(|&leaf| leaf).count();
        assert!((300..=952).contains(&leaves), "{leaves}");
    }

    #[test]
    fn cubes_of_few_people_do_without_cuts_of_numbers_rather_than_without_levels() {
        let mut rng = ChaCha12Rng::seed_from_u64(11);
        let rows = fragmented(1000, 3, 5, &mut rng);
        // The first level is the label: the 32 cells of all levels have about 31 people each, those of numbers, too, have one.
        let labels: Vec<f64> = rows.iter().map(|row| f64::from(row.dense[3])).collect();
        let design = Design { learnt: Learnt::Number, ..design(None) };
        let clipping = Clipping::Bounds(Bounds::new(0.0, 1.0).unwrap());
        let (cells, least) = (design.cells(&rows).unwrap(), design.least());
        let released = release_numbers(cells, &rows, &labels, clipping, least, design.epsilon, &mut rng);
        let found = released.unwrap().0.predict(&rows).unwrap();
        let squares = found.iter().zip(&labels).map(|(found, label)| (f64::from(*found) - label).powi(2));
        // Noise has the deviation √8/2/25 at most; without the level the error is 1/4.
        let error = squares.sum::<f64>() / 1000.0;
        assert!(error < 2.0 * (8f64.sqrt() / 50.0).powi(2), "{error}");
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
        let levels = Axes::of_domain(&[Side::Levels(1); 40]).unwrap();
        assert!(design(None).grid(levels, 10).unwrap_err().to_string().contains("10 million"));
    }
}
