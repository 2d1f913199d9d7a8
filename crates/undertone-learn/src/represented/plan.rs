//! What a representation takes, before anything is made: bytes, and seconds on one core.
//!
//! Both are counted, not measured, so that a plan is the same on every machine. Memory is that of everybody as they were gathered and, beside
//! them, of the largest step: features of a block of people and the vectors that look for the directions in which they differ, then graph and
//! kernel, of which those of the views before are kept, then labels.

use super::given::is_sparse;
use super::{Sight, Step, sizes};
use crate::LearnError;
use crate::features::Rows;
use undertone_represent::{Kind, SPARE, Sizes};

/// Multiplications a second that a core is thought to do.
const RATE: f64 = 2e10;
/// Products with the covariances until directions are found.
const PRODUCTS: f64 = 20.0;
/// Matrices over people and classes at a time: the fits of all filters of the graph; targets, reports and beliefs of everybody, and again
/// without the judges of the last step.
const OVER_CLASSES: u64 = 11 + 11;
/// Rounds of smoothing, with everybody and without the judges of the last step, each with all filters of the kernel and the chosen one again.
const ROUNDS: f64 = 12.0;
const KERNEL_FITS: f64 = 9.0;
/// Steps of the last one, on all penalties that are tried, each a function and its slope.
const STEPS: f64 = 50.0;
/// Exponentials of a person and class in a round, each as long as some multiplications.
const EXPONENTIALS: f64 = 18.0 * 10.0 * 8.0;

/// What may be used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Of one core
    pub seconds: f64,
    /// Of memory
    pub bytes: u64,
    /// Of memory, that whoever asks keeps all the while beside everybody's features: reports, and copies of either
    pub held: u64,
}

/// What is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Need {
    /// Of one core, to look at features
    pub looking: f64,
    /// Of one core, to learn from reports once
    pub learning: f64,
    /// Of memory, for everybody as they were gathered
    gathered: u64,
    /// Of memory beside that, for the largest step
    making: u64,
    /// Which that is
    step: Step,
}

impl Default for Limits {
    fn default() -> Self {
        Self { seconds: 1200.0, bytes: 8 << 30, held: 0 }
    }
}

impl Need {
    /// For these people and so many classes. Nothing is known of their reports, nor of what else is kept: [`beside`](Self::beside).
    pub fn new(rows: &Rows, sight: Sight, classes: usize) -> Self {
        let (people, mut kept) = (rows.len(), 0);
        let mut need = Self { gathered: rows.bytes() as u64, ..Self::default() };
        for &kind in sight.kinds() {
            let sizes = sizes(kind, rows);
            let count = sizes.graph_coordinates.max(sizes.kernel_coordinates).min(people);
            let features = Features { rows, kind, count };
            need.looking += (features.operations() + sizes.operations(people)) / RATE;
            need.learning += learning(&sizes, people, classes) / RATE;
            need.make(kept + features.bytes(), Step::Features { of_images: sight == Sight::Image });
            need.make(kept + sizes.bytes(people), larger(&sizes, people));
            kept += sizes.kept_bytes(people);
        }
        need.make(kept + 4 * OVER_CLASSES * (people * classes) as u64, Step::Labels { classes });
        need
    }

    /// A step that takes so many bytes.
    fn make(&mut self, bytes: u64, step: Step) {
        if bytes > self.making {
            (self.making, self.step) = (bytes, step);
        }
    }

    /// The same where so many bytes are held all the while.
    #[must_use]
    pub fn beside(self, held: u64) -> Self {
        Self { gathered: self.gathered.saturating_add(held), ..self }
    }

    /// Of memory, altogether.
    pub fn bytes(self) -> u64 {
        self.gathered.saturating_add(self.making)
    }

    /// What takes most of it.
    pub fn largest(self) -> Step {
        if self.gathered > self.making { Step::Gathered } else { self.step }
    }

    /// Whether looking and learning so many times keep within limits.
    pub(super) fn fits(self, limits: Limits, learnings: usize) -> bool {
        self.beside(limits.held).bytes() <= limits.bytes && self.seconds(learnings) <= limits.seconds
    }

    /// Of one core, to look and to learn so many times.
    pub fn seconds(self, learnings: usize) -> f64 {
        self.looking + self.learning * learnings as f64
    }

    /// Refuses what does not fit.
    pub(super) fn check(self, rows: &Rows, allowed: u64) -> Result<(), LearnError> {
        if self.bytes() <= allowed {
            return Ok(());
        }
        let (people, features) = (rows.len(), rows.width());
        Err(LearnError::Memory { people, features, bytes: self.bytes(), largest: self.largest(), allowed })
    }
}

/// Of graph and kernel, what takes more memory.
fn larger(sizes: &Sizes, people: usize) -> Step {
    let graph = Sizes { landmarks: 0, ..*sizes }.bytes(people);
    if graph == sizes.bytes(people) {
        return Step::Graph;
    }
    Step::Kernel { landmarks: sizes.landmarks.min(people) }
}

/// Multiplications of learning once.
fn learning(sizes: &Sizes, people: usize, classes: usize) -> f64 {
    let landmarks = sizes.landmarks.min(people) as f64;
    let smoothing = ROUNDS * (KERNEL_FITS * landmarks + EXPONENTIALS);
    people as f64 * classes as f64 * (smoothing + 2.0 * STEPS * landmarks)
}

/// How many features of whom.
struct Features<'a> {
    rows: &'a Rows,
    kind: Kind,
    /// Coordinates that are made of them
    count: usize,
}

impl Features<'_> {
    /// In full, a copy of the columns and what features take. Else each value with its column, by rows and by columns, and four sets of
    /// vectors over the features.
    fn bytes(&self) -> u64 {
        let (people, columns) = (self.rows.len(), self.rows.width());
        if is_sparse(self.rows) {
            let vectors = (self.count + SPARE) as u64 * (4 * columns as u64 + people as u64);
            return 4 * self.rows.bytes() as u64 + 4 * vectors;
        }
        4 * (people * columns) as u64 + self.kind.bytes(people, columns, self.count)
    }

    /// Features themselves, their covariances and the search for directions.
    fn operations(&self) -> f64 {
        let (people, features) = (self.rows.len() as f64, self.kind.features(self.rows.width()) as f64);
        let vectors = (self.count + SPARE) as f64;
        if is_sparse(self.rows) {
            let entries = self.rows.bytes() as f64 / 4.0;
            return PRODUCTS * vectors * (2.0 * entries + features * vectors);
        }
        let made = people * self.kind.operations(self.rows.width());
        made + people * features * features / 2.0 + PRODUCTS * features * features * vectors
    }
}
