//! One coordinate: a sorted list with sums of its beginnings, so that an average of any k costs a binary search.
//!
//! The k nearest to x are neighbours in the list too. Of two at the same distance on either side the lower
//! one comes first; of several at the same place, which are as good as each other, those next to the window.

/// People in the order of their coordinate.
#[derive(Clone, Debug)]
pub(super) struct Sorted {
    places: Vec<f32>,
    width: usize,
    /// The sum of the vectors of the first i people, for each i
    sums: Vec<f64>,
}

impl Sorted {
    pub(super) fn new(points: &[f32], values: &[f32], width: usize) -> Self {
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by(|&a, &b| points[a].total_cmp(&points[b]).then(a.cmp(&b)));
        let mut sums = vec![0.0; width];
        for &person in &order {
            let before = sums.len() - width;
            for (j, &value) in values[person * width..(person + 1) * width].iter().enumerate() {
                sums.push(sums[before + j] + f64::from(value));
            }
        }
        Self { places: order.iter().map(|&person| points[person]).collect(), width, sums }
    }

    /// The sum of the vectors of the k nearest to x.
    pub(super) fn sum(&self, x: f32, k: usize, into: &mut [f64]) {
        let last = self.places.len() - k;
        // The window starts at the first i whose person is nearer than the one just after the window: x - p_i ≤ p_(i+k) - x.
        let (mut low, mut high) = (0, last);
        while low < high {
            let i = low + (high - low) / 2;
            if x - self.places[i] <= self.places[i + k] - x { high = i } else { low = i + 1 }
        }
        for (j, into) in into.iter_mut().enumerate() {
            *into = self.sums[(low + k) * self.width + j] - self.sums[low * self.width + j];
        }
    }
}
