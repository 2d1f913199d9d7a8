//! Priors from noisy label counts in clusters of the features, for a curator who holds the labels.
//!
//! Features are public: k-means groups them. In each cluster the K labels are counted, discrete Laplace noise of scale 2/ε_p is
//! drawn for every count ([`NoisyHistogram`]), and the noisy counts are projected on those that are not negative and sum to
//! the cluster's size, which is public too. If no noisy count is positive the prior is flat.
//!
//! **Privacy.** A change of one label moves two counts of one cluster by one: ε_p. The same person also reports at ε, and
//! the total is ε_p + ε. The counting sees true labels, so this is the **central** model: a collection that trusts nobody
//! refuses such a prior ([`Trust::Central`]).
//!
//! Algorithm 4 in the supplement of Ghazi, Golowich, Kumar, Manurangsi, Zhang, *Deep Learning with Label Differential
//! Privacy* (2021), prints one draw for all K counts, whose differences are then bare, and divides zero by zero where no noisy
//! count is positive.

use super::prior::{Grouping, Prior, Trust};
use crate::LearnError;
use crate::features::{Row, Rows};
use crate::simplex;
use crate::split::{Purpose, place};
use linfa::DatasetBase;
use linfa::traits::Fit;
use linfa_clustering::KMeans;
use ndarray::Array2;
use rand_core::CryptoRng;
use undertone_privacy::central::NoisyHistogram;
use undertone_privacy::label::Label;
use undertone_privacy::{Epsilon, Guarantee, PrivacyError, Randomizer};

/// Clusters are found on so many rows, chosen by a public hash.
const FIT_ROWS: usize = 10_000;
/// More features than this are not made dense for k-means.
const MOST_FEATURES: usize = 1 << 14;

/// Groups of people with similar public features.
#[derive(Clone, Debug, PartialEq)]
pub struct Clusters {
    dense_width: usize,
    width: usize,
    /// `width` numbers for each cluster
    centres: Vec<f32>,
}

impl Clusters {
    /// `count` clusters of these rows, by k-means; the same rows give the same clusters.
    pub fn fit(blocks: &[Rows], count: usize) -> Result<Self, LearnError> {
        let parameter = |what, value, expected| Err(LearnError::Parameter { what, value, expected });
        let n: usize = blocks.iter().map(Rows::len).sum();
        let Some(first) = blocks.first().filter(|_| n > 0) else { return Err(LearnError::NoReports) };
        let (dense_width, width) = (first.dense_width(), first.width());
        if count == 0 || count > n {
            return parameter("the number of clusters", count as f64, "from one to the number of rows");
        }
        if width == 0 || width > MOST_FEATURES {
            return parameter("the number of features", width as f64, "from 1 to 16384 for clusters");
        }
        // Enough rows for the clusters, however many there are
        let share = (FIT_ROWS.max(10 * count) as f64 / n as f64).min(1.0);
        let mut sample = Vec::new();
        let all = || (0u64..).zip(blocks.iter().flat_map(Rows::iter));
        for (_, row) in all().filter(|&(number, _)| place(number, Purpose::Sample) < share) {
            let start = sample.len();
            sample.resize(start + width, 0.0);
            sample[start..start + dense_width].copy_from_slice(row.dense);
            for &(feature, x) in row.sparse {
                sample[start + dense_width + feature as usize] = x;
            }
        }
        if let Some(&value) = sample.iter().find(|x| !x.is_finite()) {
            return parameter("a feature", f64::from(value), "a finite number");
        }
        let source = |error: Box<dyn std::error::Error + Send + Sync>| LearnError::Source(error);
        let matrix = Array2::from_shape_vec((sample.len() / width, width), sample)
            .map_err(|error| source(Box::new(error)))?;
        let fitted = KMeans::params(count)
            .n_runs(1)
            .max_n_iterations(100)
            .fit(&DatasetBase::from(matrix))
            .map_err(|error| source(Box::new(error)))?;
        Ok(Self { dense_width, width, centres: fitted.centroids().iter().copied().collect() })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.centres.len() / self.width
    }
}

impl Grouping for Clusters {
    /// The cluster with the nearest centre; the first on ties.
    fn group(&self, row: Row<'_>) -> usize {
        // |x - c|² - |x|² = |c|² - 2⟨x, c⟩: the sparse part costs its entries only, but for |c|²
        let distance = |centre: &[f32]| {
            let (dense, sparse) = centre.split_at(self.dense_width);
            let square: f32 = centre.iter().map(|c| c * c).sum();
            let product: f32 = row.dense.iter().zip(dense).map(|(x, c)| x * c).sum::<f32>()
                + row.sparse.iter().map(|&(feature, x)| x * sparse[feature as usize]).sum::<f32>();
            square - 2.0 * product
        };
        let mut best = (f32::INFINITY, 0);
        for (cluster, centre) in self.centres.chunks_exact(self.width).enumerate() {
            let distance = distance(centre);
            if distance < best.0 {
                best = (distance, cluster);
            }
        }
        best.1
    }
}

/// A prior for each cluster, released by a curator.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterPriors {
    clusters: Clusters,
    classes: usize,
    /// K for each cluster
    priors: Vec<f64>,
    epsilon: Epsilon,
}

impl ClusterPriors {
    /// Counts the `labels` of everybody in `blocks`, in order, and releases noisy shares under a promise of `epsilon`.
    pub fn release(
        clusters: Clusters,
        blocks: &[Rows],
        labels: &[Label],
        classes: u32,
        epsilon: Epsilon,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, LearnError> {
        let n: usize = blocks.iter().map(Rows::len).sum();
        if n != labels.len() {
            return Err(PrivacyError::WrongLength { length: labels.len(), dimension: n }.into());
        }
        if let Some(&Label(label)) = labels.iter().find(|label| label.0 >= classes) {
            return Err(PrivacyError::UnknownLabel { label, labels: classes }.into());
        }
        let k = classes as usize;
        let mut counts = vec![vec![0u64; k]; clusters.count()];
        for (row, &Label(label)) in blocks.iter().flat_map(Rows::iter).zip(labels) {
            counts[clusters.group(row)][label as usize] += 1;
        }
        let histogram = NoisyHistogram::new(epsilon)?;
        let mut priors = Vec::with_capacity(k * counts.len());
        for counts in &counts {
            priors.extend(shares(&histogram.randomize(counts, rng)?, counts.iter().sum()));
        }
        Ok(Self { clusters, classes: k, priors, epsilon })
    }

    /// The prior of a cluster.
    pub fn cluster(&self, cluster: usize) -> &[f64] {
        &self.priors[cluster * self.classes..(cluster + 1) * self.classes]
    }
}

impl Prior for ClusterPriors {
    fn classes(&self) -> usize {
        self.classes
    }

    fn of(&self, rows: &Rows) -> Result<Vec<f64>, LearnError> {
        Ok(rows.iter().flat_map(|row| self.cluster(self.clusters.group(row))).copied().collect())
    }

    fn trust(&self) -> Trust {
        Trust::Central
    }

    fn cost(&self) -> Option<Guarantee> {
        Some(Guarantee::Pure(self.epsilon))
    }
}

/// The distribution whose multiple by `total` is nearest to the noisy counts; flat if none of them is positive.
fn shares(noisy: &[i64], total: u64) -> Vec<f64> {
    if total == 0 || noisy.iter().all(|&count| count <= 0) {
        return vec![1.0 / noisy.len() as f64; noisy.len()];
    }
    let mut shares: Vec<f64> = noisy.iter().map(|&count| count as f64 / total as f64).collect();
    simplex::project(&mut shares);
    shares
}

#[cfg(test)]
mod tests {
    use super::super::{check_trust, promise};
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    fn epsilon(value: f64) -> Epsilon {
        Epsilon::new(value).unwrap()
    }

    /// Two far groups of people on a line, of 300 and 100.
    fn people() -> Rows {
        let near = (0..300).map(|i| (i % 10) as f32 / 10.0);
        Rows::dense(1, near.chain((0..100).map(|i| 50.0 + (i % 7) as f32 / 7.0)).collect())
    }

    fn close(found: &[f64], expected: &[f64], within: f64) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < within, "{found} for {expected}");
        }
    }

    #[test]
    fn counts_are_projected_on_what_counts_can_be() {
        close(&shares(&[6, 3, 1], 10), &[0.6, 0.3, 0.1], 1e-12);
        // 8, 4, -2 is nearest to 7, 3, 0 on the triangle of total 10
        close(&shares(&[8, 4, -2], 10), &[0.7, 0.3, 0.0], 1e-12);
        close(&shares(&[-1, 0, -7], 10), &[1.0 / 3.0; 3], 1e-12);
        close(&shares(&[3, 1], 0), &[0.5, 0.5], 1e-12);
        // One positive count among very negative ones takes all.
        close(&shares(&[1, -50, -50], 10), &[1.0, 0.0, 0.0], 1e-12);
    }

    #[test]
    fn one_noise_for_all_counts_would_be_taken_off_again_to_the_last_digit() {
        // As printed, the same number is added to every count: the projection gives the true shares, whatever it was.
        let (before, after) = ([5i64, 3, 2], [4i64, 4, 2]);
        for noise in [0, 1, 7, 40, -1] {
            let released = |counts: [i64; 3]| shares(&counts.map(|count| count + noise), 10);
            close(&released(before), &[0.5, 0.3, 0.2], 1e-12);
            close(&released(after), &[0.4, 0.4, 0.2], 1e-12);
        }
        // As it runs, each count has its own: two neighbours often release the same.
        let histogram = NoisyHistogram::new(epsilon(1.0)).unwrap();
        let mut rng = ChaCha12Rng::seed_from_u64(4);
        let mut released = |counts: [u64; 3]| -> Vec<Vec<i64>> {
            (0..2000).map(|_| histogram.randomize(&counts.to_vec(), &mut rng).unwrap()).collect()
        };
        let (first, second) = (released([5, 3, 2]), released([4, 4, 2]));
        let gaps =
            |all: &[Vec<i64>], gap: i64| all.iter().filter(|one| one[0] - one[1] == gap).count() as f64;
        // The gap of the first two counts, 2 and 0 in truth, is seen at most e times more often under the one.
        for gap in [0, 2] {
            let (one, other) = (gaps(&first, gap), gaps(&second, gap));
            assert!(one > 50.0 && other > 50.0, "{one} and {other}");
            let ratio = (one / other).max(other / one);
            // ln of a ratio of counts has standard error √(1/one + 1/other)
            assert!(ratio.ln() < 1.0 + 5.0 * (1.0 / one + 1.0 / other).sqrt(), "{ratio}");
        }
    }

    #[test]
    fn clusters_find_what_is_far_apart_and_the_same_ones_every_time() {
        let rows = people();
        let clusters = Clusters::fit(std::slice::from_ref(&rows), 2).unwrap();
        let groups: Vec<usize> = rows.iter().map(|row| clusters.group(row)).collect();
        assert!(groups[..300].iter().all(|&group| group == groups[0]));
        assert!(groups[300..].iter().all(|&group| group != groups[0]));
        assert_eq!(clusters, Clusters::fit(std::slice::from_ref(&rows), 2).unwrap());
    }

    #[test]
    fn sparse_features_count_as_the_dense_ones_that_they_stand_for() {
        let mut sparse = Rows::new(1, 3);
        let mut dense = Vec::new();
        for i in 0..30u8 {
            let (feature, x) = (u32::from(i % 3), 1.0 + f32::from(i % 5));
            sparse.push_with(|first, rest| {
                first.push(f32::from(i % 2));
                rest.push((feature, x));
            });
            let mut row = [f32::from(i % 2), 0.0, 0.0, 0.0];
            row[1 + feature as usize] = x;
            dense.extend(row);
        }
        let dense = Rows::dense(4, dense);
        let [of_sparse, of_dense] =
            [&sparse, &dense].map(|rows| Clusters::fit(std::slice::from_ref(rows), 3).unwrap());
        let groups = |clusters: &Clusters, rows: &Rows| -> Vec<usize> {
            rows.iter().map(|row| clusters.group(row)).collect()
        };
        assert_eq!(groups(&of_sparse, &sparse), groups(&of_dense, &dense));
    }

    #[test]
    fn more_clusters_than_different_rows_are_no_trouble() {
        let rows = Rows::dense(1, vec![1.0; 20]);
        let clusters = Clusters::fit(&[rows], 5).unwrap();
        assert_eq!(clusters.count(), 5);
    }

    #[test]
    fn a_release_is_near_the_shares_costs_its_epsilon_and_is_refused_where_nobody_is_trusted() {
        let rows = people();
        let clusters = Clusters::fit(std::slice::from_ref(&rows), 2).unwrap();
        let labels: Vec<Label> =
            (0..400).map(|i| Label(if i < 300 { u32::from(i % 3 == 0) } else { 2 })).collect();
        let mut rng = ChaCha12Rng::seed_from_u64(9);
        let priors =
            ClusterPriors::release(clusters, std::slice::from_ref(&rows), &labels, 3, epsilon(2.0), &mut rng)
                .unwrap();
        let all = priors.of(&rows).unwrap();
        // Noise of scale 1: fifteen counts off by chance e^-15, of 300 and of 100
        close(&all[..3], &[2.0 / 3.0, 1.0 / 3.0, 0.0], 15.0 / 300.0 * 2.0);
        close(&all[399 * 3..], &[0.0, 0.0, 1.0], 15.0 / 100.0 * 2.0);
        let Guarantee::Pure(total) = promise(Some(&priors), epsilon(1.0)).unwrap() else { panic!("pure") };
        assert!(total.get() >= 3.0 && total.get() < 3.0 + 1e-12);
        let refused = check_trust(&priors, Trust::Local).unwrap_err().to_string();
        assert!(refused.contains("true labels"), "{refused}");
        check_trust(&priors, Trust::Central).unwrap();
    }

    #[test]
    fn the_noise_of_a_release_is_discrete_laplace_of_half_the_epsilon() {
        // One cluster and two labels of 100 people each. The projection on a total of N keeps the difference of the counts,
        // so a release tells that of the noises: share_0 = ½ + (X_0 - X_1)/(2N).
        let rows = Rows::dense(1, vec![0.0; 200]);
        let labels: Vec<Label> = (0..200).map(|i| Label(i % 2)).collect();
        let clusters = Clusters { dense_width: 1, width: 1, centres: vec![0.0] };
        let (releases, mut rng) = (10_000, ChaCha12Rng::seed_from_u64(21));
        for value in [0.5, 1.0, 3.0] {
            let (mut seen, mut squares, mut fourths) = ([0u32; 6], 0.0, 0.0);
            for _ in 0..releases {
                let rows = std::slice::from_ref(&rows);
                let clusters = clusters.clone();
                let priors =
                    ClusterPriors::release(clusters, rows, &labels, 2, epsilon(value), &mut rng).unwrap();
                let difference = (priors.cluster(0)[0] - 0.5) * 400.0;
                assert!((difference - difference.round()).abs() < 1e-9);
                squares += difference.powi(2);
                fourths += difference.powi(4);
                if let Some(seen) = seen.get_mut(difference.round().abs() as usize) {
                    *seen += 1;
                }
            }
            // P(X = x) = (1-t)/(1+t)·t^|x| with t = e^-a, a = ε_p/2, hence Var(X_0 - X_1) = 4t/(1-t)² and
            // P(X_0 - X_1 = d) = ((1-t)/(1+t))²·t^|d|·(|d| + (1+t²)/(1-t²))
            let (t, n) = (f64::exp(-value / 2.0), f64::from(releases));
            let (variance, expected) = (squares / n, 4.0 * t / (1.0 - t).powi(2));
            let sigma = ((fourths / n - variance * variance) / n).sqrt();
            assert!((variance - expected).abs() < 5.0 * sigma, "{variance} ± {sigma} for {expected}");
            for (d, seen) in (0u8..).zip(seen) {
                let both = if d == 0 { 1.0 } else { 2.0 };
                let tail = t.powi(i32::from(d)) * (f64::from(d) + (1.0 + t * t) / (1.0 - t * t));
                let p = both * ((1.0 - t) / (1.0 + t)).powi(2) * tail;
                let sigma = (p * (1.0 - p) / n).sqrt();
                assert!((f64::from(seen) / n - p).abs() < 5.0 * sigma, "ε = {value}, {d}: {seen}, {p}");
            }
        }
    }

    #[test]
    fn what_cannot_be_clustered_or_counted_is_refused() {
        let rows = [Rows::dense(1, vec![1.0, f32::NAN])];
        assert!(Clusters::fit(&rows, 1).unwrap_err().to_string().contains("NaN"));
        assert!(Clusters::fit(&rows, 3).unwrap_err().to_string().contains('3'));
        assert!(Clusters::fit(&rows, 0).is_err());
        assert!(matches!(Clusters::fit(&[], 1), Err(LearnError::NoReports)));
        let rows = [Rows::dense(1, vec![1.0, 2.0])];
        let mut rng = ChaCha12Rng::seed_from_u64(9);
        let mut release = |labels: &[Label]| {
            let clusters = Clusters::fit(&rows, 1).unwrap();
            ClusterPriors::release(clusters, &rows, labels, 2, epsilon(1.0), &mut rng)
                .unwrap_err()
                .to_string()
        };
        assert!(release(&[Label(0), Label(2)]).contains("label 2"));
        assert!(release(&[Label(0)]).contains("length 1"));
    }
}
