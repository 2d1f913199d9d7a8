//! Points in blocks of 32, coordinate by coordinate, so that a block's distances are computed side by side.
//!
//! Of the marks of categories a query has few, so only those are looked at: with M the coordinates that are marks,
//!
//! > Σ_M (x - q)² = Σ_M x² + Σ_(M, q ≠ 0) (q² - 2·x·q)
//!
//! and the first sum is known beforehand.

#![expect(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched call is compiled for the least of processors"
)]

/// Points of a block.
pub(super) const LANES: usize = 32;

/// Blocks of points.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Blocks {
    dimension: usize,
    /// Which coordinates are marks, zero for most
    marks: Vec<bool>,
    /// Σ_M x² of each point; no number where there is no point
    marked: Vec<[f32; LANES]>,
    /// For each block and each coordinate one number a point; places without a point have no number
    coordinates: Vec<[f32; LANES]>,
    numbers: Vec<[u32; LANES]>,
}

impl Blocks {
    /// No points yet, of as many coordinates as it is said whether they are marks.
    pub(super) fn new(marks: Vec<bool>) -> Self {
        let dimension = marks.len();
        Self { dimension, marks, marked: Vec::new(), coordinates: Vec::new(), numbers: Vec::new() }
    }

    /// One more block, of at most [`LANES`] of the `points`.
    pub(super) fn push(&mut self, points: &[f32], people: &[u32]) {
        assert!(people.len() <= LANES, "a block has its limits");
        let first = self.coordinates.len();
        self.coordinates.resize(first + self.dimension, [f32::NAN; LANES]);
        let (mut numbers, mut marked) = ([0; LANES], [f32::NAN; LANES]);
        for (lane, &person) in people.iter().enumerate() {
            numbers[lane] = person;
            marked[lane] = 0.0;
            let point = &points[person as usize * self.dimension..][..self.dimension];
            for (axis, &x) in point.iter().enumerate() {
                self.coordinates[first + axis][lane] = x;
                if self.marks[axis] {
                    marked[lane] += x * x;
                }
            }
        }
        self.numbers.push(numbers);
        self.marked.push(marked);
    }

    /// The coordinates of a query that matter: numbers, and the marks it has.
    pub(super) fn query(&self, point: &[f32]) -> Query {
        let places = || point.iter().zip(&self.marks).enumerate();
        let numbers = places().filter(|(_, (_, mark))| !**mark);
        let marks = places().filter(|(_, (q, mark))| **mark && **q != 0.0);
        let plain = |(axis, (q, _)): (usize, (&f32, &bool))| (axis, *q);
        Query { numbers: numbers.map(plain).collect(), marks: marks.map(plain).collect() }
    }

    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    #[inline(always)]
    pub(super) fn numbers(&self, block: usize) -> &[u32; LANES] {
        &self.numbers[block]
    }

    /// |x - q|² for each point of a block, the marks first.
    #[inline(always)]
    pub(super) fn distances(&self, block: usize, query: &Query) -> [f32; LANES] {
        let mut sums = self.marked[block];
        let coordinates = &self.coordinates[block * self.dimension..(block + 1) * self.dimension];
        for &(axis, q) in &query.marks {
            let column = &coordinates[axis];
            for lane in 0..LANES {
                sums[lane] += q * q - 2.0 * column[lane] * q;
            }
        }
        for sum in &mut sums {
            // What rounding left below zero; what is no number stays none.
            *sum = if *sum < 0.0 { 0.0 } else { *sum };
        }
        for &(axis, q) in &query.numbers {
            let column = &coordinates[axis];
            for lane in 0..LANES {
                let apart = column[lane] - q;
                sums[lane] += apart * apart;
            }
        }
        sums
    }
}

/// Where somebody asks, as (coordinate, value).
#[derive(Clone, Debug)]
pub(super) struct Query {
    numbers: Vec<(usize, f32)>,
    marks: Vec<(usize, f32)>,
}
