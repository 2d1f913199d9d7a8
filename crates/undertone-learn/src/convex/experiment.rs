//! The law of the papers measured: the excess risk of a method on the hardest of the hard instances.
//!
//! For each method, K, ε and n the instance is that member of the family ([`HardInstance`]) on which the method itself does
//! worst, found by a pilot of a quarter of the repetitions over several α, each measured in units of the method's own noise,
//!
//! > α = x·2G/√n,  G² the second moment of an estimated gradient
//!
//! since a smaller α leaves little to lose and a greater one is seen through the noise. The risk there is then measured with
//! fresh randomness, by the mechanisms' own samplers, and is exact for each descent: only the descents are sampled.

use super::{ConvexLoss, Feasible, HardInstance, LabelSgd, ProjectedSgd, Step, VectorSgd};
use crate::LearnError;
use crate::labels::LabelVectors;
use rand_chacha::ChaCha12Rng;
use rand_core::{CryptoRng, SeedableRng};
use rayon::prelude::*;
use undertone_privacy::Epsilon;
use undertone_privacy::label::{Label, LabelRandomizer, ReportColumn};
use undertone_privacy::vector::simulated::SimulatedDuchi;

/// The α of the pilot, in units of 2G/√n.
const PILOT: [f64; 3] = [2.0, 3.0, 4.0];
/// People whose labels are randomized in one go.
const BLOCK: u64 = 4096;

/// How labels become gradients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Sets of the best size
    Subset,
    /// Independent bits with p = 1/2, as Chua et al. print them
    AlgorithmOne,
    /// Randomized response, the method of Ghazi et al.
    RandomizedResponse,
    /// Vectors on a sphere, asked for one after the other
    Duchi,
}

/// What a method is measured at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// K, even
    pub labels: u32,
    /// ε
    pub epsilon: Epsilon,
    /// n
    pub people: u64,
}

/// The mean excess risk over descents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// α of the instance
    pub alpha: f64,
    /// The mean
    pub excess: f64,
    /// Its standard error
    pub standard_error: f64,
    /// R₀·G/√n, which the mean cannot exceed
    pub bound: f64,
    /// How many descents
    pub repetitions: u32,
    /// Whether n is too small for K and ε to find an instance that is hard for the method
    pub capped: bool,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Subset, Self::AlgorithmOne, Self::RandomizedResponse, Self::Duchi];

    /// The excess risk where it is greatest, from `repetitions` descents; `progress` is called after each.
    pub fn measure(
        self,
        setting: Setting,
        repetitions: u32,
        seed: u64,
        progress: &(impl Fn() + Sync),
    ) -> Result<Measured, LearnError> {
        let Setting { labels, epsilon, people } = setting;
        let source = Source::new(self, labels, epsilon)?;
        let unit = 2.0 * source.root_second_moment / (people as f64).sqrt();
        let most = 1.0 / f64::from(labels).sqrt();
        let few = pilot_repetitions(repetitions);
        let pilots = (0u64..).zip(PILOT).map(|(place, x)| {
            let problem = HardInstance::new(labels, (x * unit).min(most))?;
            let runs = source.runs(problem, people, few, mixed(seed, place + 1), progress)?;
            Ok((problem, mean_and_error(&runs).0))
        });
        let pilots = pilots.collect::<Result<Vec<_>, LearnError>>()?;
        // PILOT is not empty.
        let (problem, _) =
            pilots.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).ok_or(LearnError::NoReports)?;
        let runs = source.runs(problem, people, repetitions, mixed(seed, 0), progress)?;
        let (excess, standard_error) = mean_and_error(&runs);
        let alpha = problem.alpha();
        let capped = Self::capped(alpha, unit);
        Ok(Measured { alpha, excess, standard_error, bound: 0.5 * unit, repetitions, capped })
    }

    /// Whether the instance could not be made hard enough: there are too few people for so many labels, n ≪ K²·G²/L², and
    /// what is measured says nothing about the law.
    fn capped(alpha: f64, unit: f64) -> bool {
        alpha < 0.999 * PILOT[0] * unit
    }

    /// How many descents [`measure`](Self::measure) makes in all.
    pub fn descents(repetitions: u32) -> u64 {
        u64::from(repetitions) + PILOT.len() as u64 * u64::from(pilot_repetitions(repetitions))
    }
}

fn pilot_repetitions(repetitions: u32) -> u32 {
    repetitions.div_ceil(4).max(2)
}

/// Where gradients come from.
enum Mechanism {
    Labels(LabelSgd),
    Vectors(VectorSgd<SimulatedDuchi>),
}

struct Source {
    mechanism: Mechanism,
    /// G
    root_second_moment: f64,
}

impl Source {
    fn new(method: Method, labels: u32, epsilon: Epsilon) -> Result<Self, LearnError> {
        let problem = HardInstance::new(labels, 1.0 / f64::from(labels).sqrt())?;
        let of_labels = |sgd: LabelSgd| {
            let root_second_moment = problem.lipschitz() * sgd.second_moment().sqrt();
            Self { mechanism: Mechanism::Labels(sgd), root_second_moment }
        };
        Ok(match method {
            Method::Subset => of_labels(LabelSgd::subset(labels, epsilon)?),
            Method::AlgorithmOne => of_labels(LabelSgd::algorithm_1(labels, epsilon)?),
            Method::RandomizedResponse => of_labels(LabelSgd::lp_rr(labels, epsilon)?),
            Method::Duchi => {
                let sgd = VectorSgd::simulated_duchi(labels as usize - 1, epsilon)?;
                // The gradients depend on neither x nor w.
                let root_second_moment = sgd.second_moment(&problem.span(&[], &()), 0).sqrt();
                Self { mechanism: Mechanism::Vectors(sgd), root_second_moment }
            }
        })
    }

    /// The excess risk of each of `count` descents, whichever thread makes them.
    fn runs(
        &self,
        problem: HardInstance,
        people: u64,
        count: u32,
        seed: u64,
        progress: &(impl Fn() + Sync),
    ) -> Result<Vec<f64>, LearnError> {
        let run = |repetition: u32| {
            let mut rng = ChaCha12Rng::seed_from_u64(mixed(seed, u64::from(repetition)));
            let excess = self.descend(problem, people, &mut rng);
            progress();
            excess
        };
        (0..count).into_par_iter().map(run).collect()
    }

    fn descend(
        &self,
        problem: HardInstance,
        people: u64,
        rng: &mut impl CryptoRng,
    ) -> Result<f64, LearnError> {
        let step = Step::exact(1.0, self.root_second_moment, people);
        let start = vec![0.0; problem.dimension()];
        let feasible: Feasible = HardInstance::FEASIBLE;
        let mut learner = ProjectedSgd::new(&problem, feasible, start, step)?;
        match &self.mechanism {
            Mechanism::Labels(sgd) => from_labels(sgd, &mut learner, problem, people, rng)?,
            Mechanism::Vectors(sgd) => {
                let span = problem.span(&[], &());
                for _ in 0..people {
                    let report = sgd.simulate(&span, problem.draw(rng), rng)?;
                    learner.observe_gradient(|gradient| sgd.add_estimate(&span, &report, gradient))?;
                }
            }
        }
        Ok(problem.excess(&learner.mean()?))
    }
}

fn from_labels(
    sgd: &LabelSgd,
    learner: &mut ProjectedSgd<'_, HardInstance>,
    problem: HardInstance,
    people: u64,
    rng: &mut impl CryptoRng,
) -> Result<(), LearnError> {
    let (channel, mut column, mut vectors) = (sgd.channel(), ReportColumn::new(), LabelVectors::new());
    let mut labels: Vec<Label> = Vec::new();
    let mut left = people;
    while left > 0 {
        let block = left.min(BLOCK);
        left -= block;
        labels.clear();
        labels.extend((0..block).map(|_| problem.draw(rng)));
        column.clear();
        sgd.mechanism().randomize_column(&labels, &mut column, rng)?;
        for report in column.iter() {
            vectors.clear();
            channel.push_unbiased(report, &[], &mut vectors)?;
            learner.observe(&(), vectors.get(0))?;
        }
    }
    Ok(())
}

/// A seed from a seed and a number, well mixed: the finaliser of SplitMix64 (Steele, Lea, Flood, 2014).
fn mixed(seed: u64, number: u64) -> u64 {
    let mut z = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_stays_between_the_lower_bound_and_its_own_upper_bound() {
        let setting = Setting { labels: 4, epsilon: Epsilon::new(1.0).unwrap(), people: 1000 };
        let lower = HardInstance::lower_bound(4, setting.epsilon, setting.people).unwrap();
        for method in Method::ALL {
            let Measured { excess, standard_error, bound, .. } =
                method.measure(setting, 40, 1, &|| ()).unwrap();
            assert!(
                excess - 5.0 * standard_error > lower,
                "{method:?}: {excess} ± {standard_error}, {lower}"
            );
            assert!(
                excess + 5.0 * standard_error < bound,
                "{method:?}: {excess} ± {standard_error}, {bound}"
            );
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_figures_whatever_the_threads_do() {
        let setting = Setting { labels: 4, epsilon: Epsilon::new(1.0).unwrap(), people: 300 };
        let measure = |threads, seed| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Method::Subset.measure(setting, 8, seed, &|| ()).unwrap())
        };
        assert_eq!(measure(1, 3), measure(3, 3));
        assert_ne!(measure(1, 3), measure(1, 4));
    }
}
