//! What is run: the cells of Table I, and how many people in each.

use undertone_learn::nonparametric::TrustModel;
use undertone_learn::nonparametric::rates::Task;
use undertone_learn::nonparametric::study::Setting;
use undertone_privacy::{Epsilon, PrivacyError};

/// Sizes of everything.
pub(super) struct Extent {
    pub(super) repetitions: u64,
    /// How many times as often classes on a line are drawn: there are three boundaries and no more, of which chance makes much
    on_a_line: u64,
    /// Powers of two of people, first and last, and how far apart; none for those of each setting
    powers: Option<(u32, u32, usize)>,
    /// Whether a curator is also given an ε at which privacy costs most
    small_epsilons: bool,
    /// Powers of two of people who are drawn cell by cell, and how often
    pub(super) by_cells: (&'static [u32], u64),
}

/// One of the settings, by its name.
#[derive(Clone)]
pub(super) struct Place {
    /// As in "heavy, label-central, d = 2, ε = 0.005"
    pub(super) name: String,
    /// The same for a file
    pub(super) file: String,
    pub(super) setting: Setting,
    /// N
    pub(super) people: Vec<u64>,
    pub(super) repetitions: u64,
    /// Whether ε is small for a curator
    pub(super) small: bool,
}

/// (task, trust, ε, constants for d = 1 and 2, powers of two of people for d = 1 and 2, whether ε is small). Constants were chosen on
/// other seeds before the study, where it is not one; so were ε and the people.
type Line = (Task, TrustModel, f64, [f64; 2], [(u32, u32); 2], bool);

const LINES: [Line; 9] = [
    (Task::Classification, TrustModel::LabelLocal, 3.0, [1.0, 1.0], [(13, 19), (13, 19)], false),
    (Task::Classification, TrustModel::LabelCentral, 1.0, [1.0, 1.0], [(13, 19), (13, 19)], false),
    (Task::Classification, TrustModel::LabelCentral, 0.01, [1.0, 1.0], [(15, 20), (17, 20)], true),
    (Task::Regression, TrustModel::LabelLocal, 1.0, [1.0, 1.0], [(13, 19), (12, 18)], false),
    (Task::Regression, TrustModel::LabelCentral, 1.0, [1.0, 1.0], [(13, 19), (13, 19)], false),
    (Task::Regression, TrustModel::LabelCentral, 0.005, [1.0, 1.0], [(16, 20), (16, 20)], true),
    (Task::Heavy, TrustModel::LabelLocal, 1.0, [4.0, 8.0], [(13, 19), (12, 18)], false),
    (Task::Heavy, TrustModel::LabelCentral, 1.0, [1.5, 1.5], [(13, 19), (13, 19)], false),
    (Task::Heavy, TrustModel::LabelCentral, 0.005, [2.0, 2.4], [(16, 20), (16, 20)], true),
];

impl Extent {
    pub(super) const FULL: Self = Self {
        repetitions: 24,
        on_a_line: 4,
        powers: None,
        small_epsilons: true,
        by_cells: (&[16, 18, 20, 22, 24, 26, 28, 30, 32], 24),
    };
    pub(super) const QUICK: Self = Self {
        repetitions: 6,
        on_a_line: 24,
        powers: Some((12, 16, 2)),
        small_epsilons: false,
        by_cells: (&[16, 20, 26, 28], 4),
    };

    /// All settings.
    pub(super) fn places(&self) -> Result<Vec<Place>, PrivacyError> {
        let lines = LINES.iter().filter(|line| self.small_epsilons || !line.5);
        lines.flat_map(|line| [1, 2].map(|dimension| self.place(line, dimension))).collect()
    }

    fn place(&self, line: &Line, dimension: u32) -> Result<Place, PrivacyError> {
        let &(task, trust, value, constants, powers, small) = line;
        let axis = dimension as usize - 1;
        let (first, last, step) = self.powers.unwrap_or((powers[axis].0, powers[axis].1, 1));
        let people = (first..=last).step_by(step).map(|power| 1 << power).collect();
        let line = task == Task::Classification && dimension == 1;
        let repetitions = if line { self.on_a_line * self.repetitions } else { self.repetitions };
        let (epsilon, constant) = (Epsilon::new(value)?, constants[axis]);
        let whom = trust.name();
        Ok(Place {
            name: format!("{}, {whom}, d = {dimension}, ε = {value}", task.name()),
            file: format!("{}-{whom}{}-d{dimension}", task.name(), if small { "-small-epsilon" } else { "" }),
            setting: Setting { task, trust, dimension, epsilon, constant },
            people,
            repetitions,
            small,
        })
    }

    /// The setting that had not confirmed before, at which the excess is looked at more closely.
    pub(super) fn doubtful(constant: f64) -> Result<Setting, PrivacyError> {
        let (task, trust, dimension) = (Task::Heavy, TrustModel::LabelCentral, 2);
        Ok(Setting { task, trust, dimension, epsilon: Epsilon::new(0.005)?, constant })
    }
}
