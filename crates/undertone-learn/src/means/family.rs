//! The means of a family, and sums of them.

/// The mean of one statistic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// Unbiased, hence at times outside the range
    pub value: f64,
    /// Of the value
    pub variance: f64,
    /// How many people it comes from; zero if it was known beforehand
    pub answers: u64,
}

/// The means of all statistics that somebody answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Means {
    cells: Vec<Option<Mean>>,
}

/// Σ_j c_j·mean_j, as far as there are means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Combined {
    /// The sum over what was answered
    pub value: f64,
    /// Of the value: people answered one statistic each, so that means are independent
    pub variance: f64,
    /// Σ|c_j| over what nobody answered
    pub unanswered: f64,
}

impl Means {
    /// Of one statistic after the other; nothing for one that nobody answered.
    pub fn new(cells: Vec<Option<Mean>>) -> Self {
        Self { cells }
    }

    /// How many statistics there are, answered or not.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there is no statistic.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The mean of a statistic, if anybody answered.
    pub fn get(&self, statistic: usize) -> Option<Mean> {
        self.cells.get(statistic).copied().flatten()
    }

    /// The means in order.
    pub fn iter(&self) -> impl Iterator<Item = Option<Mean>> {
        self.cells.iter().copied()
    }

    /// Turns shares of ranges into values: statistic j lies between the two ends that `range` says. Where they are one, the
    /// mean is known, whether anybody was asked or not.
    #[must_use]
    pub fn on_ranges(&self, range: impl Fn(usize) -> (f64, f64)) -> Self {
        let place = |(j, mean): (usize, &Option<Mean>)| {
            let (low, high) = range(j);
            let width = high - low;
            if width == 0.0 {
                return Some(Mean {
                    value: low,
                    variance: 0.0,
                    answers: mean.map_or(0, |mean| mean.answers),
                });
            }
            mean.map(|mean| Mean {
                value: low + width * mean.value,
                variance: width * width * mean.variance,
                ..mean
            })
        };
        Self { cells: self.cells.iter().enumerate().map(place).collect() }
    }

    /// Σ_j c_j·mean_j.
    pub fn combine(&self, coefficients: impl IntoIterator<Item = f64>) -> Combined {
        let mut sum = Combined { value: 0.0, variance: 0.0, unanswered: 0.0 };
        for (mean, c) in self.cells.iter().zip(coefficients) {
            match mean {
                Some(mean) => {
                    sum.value += c * mean.value;
                    sum.variance += c * c * mean.variance;
                }
                None => sum.unanswered += c.abs(),
            }
        }
        sum
    }
}
