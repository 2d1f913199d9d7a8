//! Numbers with their variances, one after the other.

/// What is known about the numbers of some people.
///
/// For each person z with E\[z | y\] = y, and v with E\[v | y\] = Var(z | y) but for what the mechanism hides of it
/// ([`ReportVariance`](undertone_privacy::number::ReportVariance)). Both depend on the report alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NumberValues {
    values: Vec<f64>,
    variances: Vec<f64>,
}

impl NumberValues {
    /// Nobody's.
    pub fn new() -> Self {
        Self::default()
    }

    /// Numbers that are known.
    pub fn certain(numbers: impl IntoIterator<Item = f64>) -> Self {
        let values: Vec<f64> = numbers.into_iter().collect();
        Self { variances: vec![0.0; values.len()], values }
    }

    /// One more person.
    pub fn push(&mut self, value: f64, variance: f64) {
        self.values.push(value);
        self.variances.push(variance);
    }

    /// z of each.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// v of each.
    pub fn variances(&self) -> &[f64] {
        &self.variances
    }

    /// z and v of each.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (f64, f64)> {
        self.values.iter().copied().zip(self.variances.iter().copied())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Forgets all and keeps the memory.
    pub fn clear(&mut self) {
        self.values.clear();
        self.variances.clear();
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        16 * self.values.len()
    }
}
