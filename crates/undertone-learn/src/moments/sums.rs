//! Reports of moments added up: integers, so that it does not matter where, or in which order.
//!
//! A codeword is a unit vector; each of its coordinates is added as an integer number of 2^-32. The rounding of a report is
//! 10^-10 against a noise of at least 1/√p, and in return the sums of two machines are those of one, to the last bit. An
//! f64 between 2^20 and 2^21 has steps of 2^-32, so that the bits of x + 1.5·2^20 less those of 1.5·2^20 are x in these steps.

use super::Moments;
use crate::LearnError;
use rayon::prelude::*;
use undertone_privacy::statistic::{Moment, MomentRelease, MomentReport};
use undertone_privacy::vector::{Codebook, CodebookReport, VectorRandomizer};

/// 1.5·2^20.
const SHIFT: f64 = 1_572_864.0;
/// How many steps there are to one.
const STEPS: f64 = 4_294_967_296.0;
/// The most reports whose sum fits 64 bits.
const MOST: u64 = 1 << 31;
/// How many reports a core adds before it looks for more.
const PART: usize = 4096;

/// What the reports of one collection amount to: O(p²) numbers, however many reports there are.
#[derive(Clone, Debug, PartialEq)]
pub struct MomentSums {
    release: MomentRelease,
    first: Sum,
    second: Sum,
    /// Where a codeword is made
    room: Vec<f64>,
}

/// The sum of codewords.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sum {
    count: u64,
    steps: Vec<i64>,
}

impl Sum {
    fn new(dimension: usize) -> Self {
        Self { count: 0, steps: vec![0; dimension] }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "so that it is compiled for the vectors of the machine")]
    fn add(&mut self, word: &[f64]) {
        self.count += 1;
        for (sum, x) in self.steps.iter_mut().zip(word) {
            *sum += (x + SHIFT).to_bits().wrapping_sub(SHIFT.to_bits()) as i64;
        }
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        for (sum, other) in self.steps.iter_mut().zip(&other.steps) {
            *sum += other;
        }
    }

    /// The mean of codewords times `length`.
    fn mean(&self, length: f64) -> Vec<f64> {
        let factor = length / STEPS / self.count as f64;
        self.steps.iter().map(|&sum| sum as f64 * factor).collect()
    }
}

/// Makes a codeword and adds it, with the vectors that the machine has.
struct Add<'a> {
    codebook: &'a Codebook,
    word: CodebookReport,
    room: &'a mut [f64],
    sum: &'a mut Sum,
}

impl pulp::NullaryFnOnce for Add<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "so that it is compiled for the vectors of the machine")]
    fn call(self) {
        self.codebook.fill_codeword(&self.word, self.room);
        self.sum.add(self.room);
    }
}

impl MomentSums {
    /// Before any report.
    pub fn new(release: MomentRelease) -> Self {
        let dimension = |moment| release.codebook(moment).ball().dimension();
        let (first, second) = (dimension(Moment::First), dimension(Moment::Second));
        Self { release, first: Sum::new(first), second: Sum::new(second), room: vec![0.0; first.max(second)] }
    }

    /// Of many reports, on all cores: integers have the same sum whoever adds them.
    pub fn of(release: MomentRelease, reports: &[MomentReport]) -> Result<Self, LearnError> {
        let part = |(part, reports): (usize, &[MomentReport])| {
            let mut sums = Self::new(release);
            for (row, report) in (1 + part * PART..).zip(reports) {
                sums.observe(report).map_err(|error| match error {
                    LearnError::Report { problem, .. } => LearnError::Report { row: row as u64, problem },
                    other => other,
                })?;
            }
            Ok(sums)
        };
        let merged = |mut left: Self, right: Self| left.merge(&right).map(|()| left);
        reports.par_chunks(PART).enumerate().map(part).try_reduce(|| Self::new(release), merged)
    }

    /// What was asked.
    pub fn release(&self) -> &MomentRelease {
        &self.release
    }

    /// How many told this moment.
    pub fn reports(&self, moment: Moment) -> u64 {
        match moment {
            Moment::First => self.first.count,
            Moment::Second => self.second.count,
        }
    }

    /// Adds a report; one that the mechanism cannot have made is refused and changes nothing.
    pub fn observe(&mut self, report: &MomentReport) -> Result<(), LearnError> {
        let row = self.first.count + self.second.count + 1;
        if !self.release.is_plausible(report) {
            return Err(LearnError::Report { row, problem: "no such codeword is told here".to_owned() });
        }
        if row > MOST {
            return Err(LearnError::Report { row, problem: "more reports than a sum holds".to_owned() });
        }
        let sum = match report.moment {
            Moment::First => &mut self.first,
            Moment::Second => &mut self.second,
        };
        let room = &mut self.room[..sum.steps.len()];
        let codebook = self.release.codebook(report.moment);
        pulp::Arch::new().dispatch(Add { codebook, word: report.word, room, sum });
        Ok(())
    }

    /// Leaves `self` as if it had also observed everything that `other` did. Sums of another release are refused.
    pub fn merge(&mut self, other: &Self) -> Result<(), LearnError> {
        let row = self.first.count + self.second.count + other.first.count + other.second.count;
        if self.release != other.release || row > MOST {
            return Err(LearnError::Report { row, problem: "these sums do not belong together".to_owned() });
        }
        self.first.merge(&other.first);
        self.second.merge(&other.second);
        Ok(())
    }

    /// The unbiased moments so far, with their exact variances.
    ///
    /// Every estimate has the length 1/m, so that n reports of a moment of length |v| scatter by (1/m² - |v|²)/n around it,
    /// people and noise together; |v|² is estimated by (n·|mean|² - 1/m²)/(n - 1), without bias.
    pub fn moments(&self) -> Result<Moments, LearnError> {
        if self.first.count < 2 {
            return Err(LearnError::NoReports);
        }
        let estimate = |sum: &Sum, moment| {
            let length = self.release.codebook(moment).variance_at_norm(0.0).sqrt();
            let mean = sum.mean(length);
            let (n, square) = (sum.count as f64, length * length);
            let observed: f64 = mean.iter().map(|x| x * x).sum();
            let truth = ((n * observed - square) / (n - 1.0)).clamp(0.0, 1.0);
            let variance = (square - truth).max(0.0) / (n * mean.len() as f64);
            (mean, variance)
        };
        let second = (self.second.count > 1).then(|| estimate(&self.second, Moment::Second));
        let (first, variance) = estimate(&self.first, Moment::First);
        Moments::new(first, variance, second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;
    use undertone_privacy::statistic::{RecordMoments, Response};
    use undertone_privacy::{Epsilon, Randomizer, Unbiased};

    fn release(share: f64) -> MomentRelease {
        let moments = RecordMoments::new(3, Response::Sign).unwrap();
        MomentRelease::new(moments, Epsilon::new(1.0).unwrap(), share).unwrap()
    }

    fn reports(n: u32) -> Vec<MomentReport> {
        let (release, mut rng) = (release(0.4), ChaCha12Rng::seed_from_u64(5));
        let input = release.moments().of(&[0.6, 0.0, -0.8], 1.0).unwrap();
        (0..n).map(|_| release.randomize(&input, &mut rng).unwrap()).collect()
    }

    fn sums(reports: &[MomentReport]) -> MomentSums {
        let mut sums = MomentSums::new(release(0.4));
        for report in reports {
            sums.observe(report).unwrap();
        }
        sums
    }

    #[test]
    fn the_mean_is_that_of_the_estimates_of_the_reports() {
        let reports = reports(400);
        let moments = sums(&reports).moments().unwrap();
        let release = release(0.4);
        for moment in [Moment::First, Moment::Second] {
            let told: Vec<_> = reports.iter().filter(|report| report.moment == moment).collect();
            let estimates = told.iter().map(|report| release.codebook(moment).estimate(&report.word));
            let mean = estimates.fold(vec![0.0; 6], |mut sum, estimate| {
                sum.iter_mut().zip(estimate).for_each(|(sum, x)| *sum += x / told.len() as f64);
                sum
            });
            let found = match moment {
                Moment::First => moments.mean(),
                Moment::Second => moments.second().unwrap(),
            };
            assert!(found.iter().zip(&mean).all(|(a, b)| (a - b).abs() < 1e-8), "{found:?} for {mean:?}");
        }
    }

    #[test]
    fn splitting_the_reports_between_machines_changes_nothing() {
        let reports = reports(200);
        for cut in [0, 1, 77, 200] {
            let (left, right) = reports.split_at(cut);
            let mut together = sums(right);
            together.merge(&sums(left)).unwrap();
            let whole = sums(&reports);
            assert_eq!((&together.first, &together.second), (&whole.first, &whole.second));
            assert_eq!(together.moments().unwrap(), whole.moments().unwrap());
        }
        assert!(sums(&reports).merge(&MomentSums::new(release(0.5))).is_err());
        // Nor does adding them on all cores, also where there are several parts
        let many: Vec<_> = reports.iter().copied().cycle().take(2 * PART + 5).collect();
        let at_once = MomentSums::of(release(0.4), &many).unwrap();
        assert_eq!((at_once.first, at_once.second), (sums(&many).first, sums(&many).second));
        let mut bad = many;
        bad[PART + 1].word.index = 256;
        let refused = MomentSums::of(release(0.4), &bad);
        assert!(matches!(refused, Err(LearnError::Report { row, .. }) if row == PART as u64 + 2));
    }

    #[test]
    fn moments_are_unbiased_and_scatter_as_stated() {
        // 40 collections of 300 people with two kinds of records
        let (release, mut rng) = (release(0.4), ChaCha12Rng::seed_from_u64(6));
        let people = [([0.6, 0.0, -0.8], 1.0), ([0.0, 0.5, 0.1], -1.0)];
        let inputs = people.map(|(x, y)| release.moments().of(&x, y).unwrap());
        let truth: Vec<f64> = (0..3).map(|j| (people[0].0[j] - people[1].0[j]) / 2.0).collect();
        let (rounds, mut scatter, mut stated) = (40, Vec::new(), 0.0);
        for _ in 0..rounds {
            let mut sums = MomentSums::new(release);
            for i in 0..300 {
                // a person of either kind, drawn like people are
                let kind = usize::from(rand_core::Rng::next_u32(&mut rng) & 1 == 1);
                sums.observe(&release.randomize(&inputs[kind], &mut rng).unwrap()).unwrap();
                assert_eq!(sums.reports(Moment::First) + sums.reports(Moment::Second), i + 1);
            }
            let moments = sums.moments().unwrap();
            let away = moments.mean().iter().zip(&truth).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
            scatter.push(away);
            stated += 3.0 * moments.mean_variance() / f64::from(rounds);
        }
        let n = f64::from(rounds);
        let mean = scatter.iter().sum::<f64>() / n;
        let deviation = (scatter.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n / n).sqrt();
        assert!((mean - stated).abs() < 5.0 * deviation, "{mean} ± {deviation} for {stated}");
    }

    #[test]
    fn what_nobody_says_changes_nothing() {
        let mut sums = MomentSums::new(release(0.0));
        let word = CodebookReport { seed: 1, index: 3 };
        assert!(sums.observe(&MomentReport { moment: Moment::Second, word }).is_err());
        let beyond = CodebookReport { seed: 1, index: 999 };
        assert!(sums.observe(&MomentReport { moment: Moment::First, word: beyond }).is_err());
        assert_eq!(sums.reports(Moment::First), 0);
        assert!(matches!(sums.moments(), Err(LearnError::NoReports)));
    }
}
