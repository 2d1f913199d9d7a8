//! One moment of a record, told by the codebook: who tells which is decided by a public coin.
//!
//! > with probability ρ the codeword of svec(xx'), else that of y·x
//!
//! **Privacy.** The coin is exact and knows nothing of the record; either codebook is ε-private with the whole ε: pure ε.
//!
//! **Utility.** Of n people (1-ρ)n tell the first moment and ρn the second, each with the variance of the codebook for the
//! whole ε. Telling both with ε/2 each would cost four times the variance at small ε for twice the people.

use super::{Moment, MomentVectors, RecordMoments};
use crate::exact::Coin;
use crate::vector::{Codebook, CodebookReport, VectorRandomizer};
use crate::{DeviceSafe, Epsilon, Guarantee, PrivacyError, Randomizer, Unbiased};
use alloc::vec;
use alloc::vec::Vec;
use rand_core::CryptoRng;

/// 2^64.
const WORDS: f64 = 18_446_744_073_709_551_616.0;

/// What is asked of a record: one of its two moments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MomentRelease {
    moments: RecordMoments,
    first: Codebook,
    second: Codebook,
    /// Heads, with probability ρ: the second moment
    share: Coin,
}

/// Which moment it is, and its codeword.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MomentReport {
    /// What the public coin showed
    pub moment: Moment,
    /// What the record made of it
    pub word: CodebookReport,
}

impl MomentRelease {
    /// For records of this kind under a pure promise; a `share` ρ of the people, in [0, 1), tells the second moment.
    pub fn new(moments: RecordMoments, epsilon: Epsilon, share: f64) -> Result<Self, PrivacyError> {
        if !(0.0..1.0).contains(&share) {
            return Err(PrivacyError::Parameter { what: "the share of second moments", value: share });
        }
        Ok(Self {
            moments,
            first: Codebook::new(moments.ball(Moment::First)?, epsilon)?,
            second: Codebook::new(moments.ball(Moment::Second)?, epsilon)?,
            share: Coin::from_heads((share * WORDS) as u64),
        })
    }

    /// What a record is.
    pub fn moments(&self) -> RecordMoments {
        self.moments
    }

    /// The mechanism that tells a moment.
    pub fn codebook(&self, moment: Moment) -> &Codebook {
        match moment {
            Moment::First => &self.first,
            Moment::Second => &self.second,
        }
    }

    /// The public coin: heads is the second moment.
    pub fn share(&self) -> Coin {
        self.share
    }

    /// P(the coin shows this moment).
    pub fn probability(&self, moment: Moment) -> f64 {
        match moment {
            Moment::First => self.share.complement(),
            Moment::Second => self.share.probability(),
        }
    }

    /// Whether an honest device can have said it.
    pub fn is_plausible(&self, report: &MomentReport) -> bool {
        u32::from(report.word.index) < self.codebook(report.moment).codewords()
            && (report.moment == Moment::First || self.share.heads() > 0)
    }

    /// The codeword of the moment that the coin has shown.
    pub fn tell(
        &self,
        moment: Moment,
        input: &MomentVectors,
        rng: &mut impl CryptoRng,
    ) -> Result<CodebookReport, PrivacyError> {
        self.codebook(moment).randomize(input.get(moment), rng)
    }

    /// The moments that somebody tells.
    fn told(&self) -> impl Iterator<Item = Moment> {
        [Moment::First, Moment::Second].into_iter().take(1 + usize::from(self.share.heads() > 0))
    }
}

impl MomentVectors {
    fn get(&self, moment: Moment) -> &crate::vector::BallVector {
        match moment {
            Moment::First => &self.first,
            Moment::Second => &self.second,
        }
    }
}

impl Randomizer for MomentRelease {
    type Input = MomentVectors;
    type Report = MomentReport;

    fn guarantee(&self) -> Guarantee {
        self.first.guarantee()
    }

    fn randomize(
        &self,
        input: &MomentVectors,
        rng: &mut impl CryptoRng,
    ) -> Result<MomentReport, PrivacyError> {
        let moment = if self.share.toss(rng) { Moment::Second } else { Moment::First };
        Ok(MomentReport { moment, word: self.tell(moment, input, rng)? })
    }

    fn ln_likelihood(&self, report: &MomentReport, input: &MomentVectors) -> f64 {
        let MomentReport { moment, word } = *report;
        libm::log(self.probability(moment)) + self.codebook(moment).ln_likelihood(&word, input.get(moment))
    }
}

impl DeviceSafe for MomentRelease {}

impl Unbiased for MomentRelease {
    /// Both moments, one after the other; the first alone if nobody tells the second.
    fn truth(&self, input: &MomentVectors) -> Vec<f64> {
        self.told().flat_map(|moment| self.codebook(moment).truth(input.get(moment))).collect()
    }

    /// The estimate of the moment that was told over its probability, and zero for the other.
    fn estimate(&self, report: &MomentReport) -> Vec<f64> {
        let part = |moment: Moment| {
            let book = self.codebook(moment);
            if moment == report.moment {
                book.estimate(&report.word).into_iter().map(|x| x / self.probability(moment)).collect()
            } else {
                vec![0.0; book.ball().dimension()]
            }
        };
        self.told().flat_map(part).collect()
    }

    /// An estimate of length 1/m that comes with probability P and is multiplied by 1/P: Σ (1/(P·m²) - |v|²).
    fn variance(&self, input: &MomentVectors) -> f64 {
        let part = |moment: Moment| {
            let square = self.codebook(moment).variance_at_norm(0.0);
            let norm = input.get(moment).relative_norm();
            square / self.probability(moment) - norm * norm
        };
        self.told().map(part).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Response;
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    fn release(share: f64) -> MomentRelease {
        let moments = RecordMoments::new(3, Response::Sign).unwrap();
        MomentRelease::new(moments, Epsilon::new(1.0).unwrap(), share).unwrap()
    }

    fn record(x: [f64; 3], y: f64) -> MomentVectors {
        RecordMoments::new(3, Response::Sign).unwrap().of(&x, y).unwrap()
    }

    #[test]
    fn estimates_are_unbiased_with_the_stated_variance() {
        let (release, input) = (release(0.4), record([0.5, -0.6, 0.3], -1.0));
        let (truth, n) = (release.truth(&input), 40_000);
        assert_eq!(truth.len(), 3 + 6);
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let (mut sums, mut squares) = (vec![0.0; 9], vec![0.0; 9]);
        let (mut loss, mut loss_square) = (0.0, 0.0);
        for _ in 0..n {
            let report = release.randomize(&input, &mut rng).unwrap();
            assert!(release.is_plausible(&report));
            let mut away = 0.0;
            for (j, value) in release.estimate(&report).into_iter().enumerate() {
                let error = value - truth[j];
                sums[j] += error / f64::from(n);
                squares[j] += error * error / f64::from(n);
                away += error * error;
            }
            loss += away / f64::from(n);
            loss_square += away * away / f64::from(n);
        }
        for (sum, square) in sums.iter().zip(&squares) {
            assert!(sum.abs() < 5.0 * (square / f64::from(n)).sqrt(), "{sum} with variance {square}");
        }
        let deviation = ((loss_square - loss * loss) / f64::from(n)).sqrt();
        assert!((loss - release.variance(&input)).abs() < 5.0 * deviation, "{loss}");
    }

    #[test]
    fn no_report_tells_two_records_apart_by_more_than_epsilon() {
        let release = release(0.25);
        let records =
            [record([1.0, 0.0, 0.0], 1.0), record([1.0, 0.0, 0.0], -1.0), record([0.1, 0.7, 0.2], 1.0)];
        let mut rng = ChaCha12Rng::seed_from_u64(2);
        for round in 0..300 {
            let report = release.randomize(&records[round % 3], &mut rng).unwrap();
            let said = records.each_ref().map(|input| release.ln_likelihood(&report, input));
            for (a, b) in said.iter().flat_map(|a| said.iter().map(move |b| (a, b))) {
                assert!(a - b <= 1.0 + 1e-12, "{a} and {b}");
            }
        }
    }

    #[test]
    fn the_coin_shows_the_second_moment_as_often_as_it_should_and_sums_to_one() {
        let (release, input) = (release(0.2), record([0.3, 0.3, 0.3], 1.0));
        let mut rng = ChaCha12Rng::seed_from_u64(3);
        let n = 2000;
        let seconds = (0..n)
            .filter(|_| release.randomize(&input, &mut rng).unwrap().moment == Moment::Second)
            .count() as f64;
        assert!((seconds - 0.2 * f64::from(n)).abs() < 5.0 * (0.16 * f64::from(n)).sqrt(), "{seconds}");
        // Over all words of one seed for either moment the likelihood is 2^-128.
        let total: f64 = [Moment::First, Moment::Second]
            .into_iter()
            .flat_map(|moment| (0..256).map(move |index| (moment, index)))
            .map(|(moment, index)| MomentReport { moment, word: CodebookReport { seed: 9, index } })
            .map(|report| libm::exp(release.ln_likelihood(&report, &input) + 128.0 * core::f64::consts::LN_2))
            .sum();
        assert!((total - 1.0).abs() < 1e-12, "{total}");
    }

    #[test]
    fn where_nobody_tells_the_second_moment_such_a_report_is_not_plausible() {
        let (release, input) = (release(0.0), record([0.3, 0.3, 0.3], 1.0));
        let mut rng = ChaCha12Rng::seed_from_u64(4);
        let report = release.randomize(&input, &mut rng).unwrap();
        assert_eq!(report.moment, Moment::First);
        assert!(!release.is_plausible(&MomentReport { moment: Moment::Second, ..report }));
        assert_eq!(release.truth(&input).len(), 3);
        let beyond = CodebookReport { index: 256, ..report.word };
        assert!(!release.is_plausible(&MomentReport { word: beyond, ..report }));
    }

    #[test]
    fn a_share_outside_of_zero_to_one_is_refused() {
        let moments = RecordMoments::new(3, Response::Sign).unwrap();
        for share in [-0.1, 1.0, f64::NAN] {
            let refused = MomentRelease::new(moments, Epsilon::new(1.0).unwrap(), share);
            assert!(matches!(refused, Err(PrivacyError::Parameter { .. })), "{share}");
        }
    }
}
