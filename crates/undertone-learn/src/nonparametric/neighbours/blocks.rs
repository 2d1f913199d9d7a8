//! Points in blocks of 32, coordinate by coordinate, so that a block's distances are computed side by side.

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
    /// For each block and each coordinate one number a point; places without a point have no number
    coordinates: Vec<[f32; LANES]>,
    numbers: Vec<[u32; LANES]>,
}

impl Blocks {
    /// No points yet.
    pub(super) fn new(dimension: usize) -> Self {
        Self { dimension, coordinates: Vec::new(), numbers: Vec::new() }
    }

    /// One more block, of at most [`LANES`] of the `points`.
    pub(super) fn push(&mut self, points: &[f32], people: &[u32]) {
        assert!(people.len() <= LANES, "a block has its limits");
        let first = self.coordinates.len();
        self.coordinates.resize(first + self.dimension, [f32::NAN; LANES]);
        let mut numbers = [0; LANES];
        for (lane, &person) in people.iter().enumerate() {
            numbers[lane] = person;
            let point = &points[person as usize * self.dimension..][..self.dimension];
            for (axis, &x) in point.iter().enumerate() {
                self.coordinates[first + axis][lane] = x;
            }
        }
        self.numbers.push(numbers);
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

    /// |x - q|² for each point of a block, summed in the order of the coordinates.
    #[inline(always)]
    pub(super) fn distances(&self, block: usize, query: &[f32]) -> [f32; LANES] {
        let mut sums = [0.0f32; LANES];
        let coordinates = &self.coordinates[block * self.dimension..(block + 1) * self.dimension];
        for (column, &q) in coordinates.iter().zip(query) {
            for lane in 0..LANES {
                let apart = column[lane] - q;
                sums[lane] += apart * apart;
            }
        }
        sums
    }
}
