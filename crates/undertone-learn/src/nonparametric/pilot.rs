//! Where to clip, before anybody is asked for a number: a few people say instead how large theirs is.
//!
//! T is part of every report, so it cannot be chosen afterwards. A public part of the people, who are not asked for the number
//! itself, report by a label mechanism in which bin |y| lies: below 2^a, then one bin for each power of two, and beyond 2^b. Each
//! person answers one question at ε.
//!
//! **The bound.** The sum G_c of a report's unbiased vector over the bins from c on is unbiased for P(|y| ≥ t_c), t_c = 2^(a+c-1).
//! Every |y| below t_c is at most the end of its bin, so that for each c
//!
//! > E min(|y|, t_c)^p ≤ Σ_j share_j·min(2^(a+j), t_c)^p = t_1^p + Σ_{1 ≤ j < c} (t_{j+1}^p - t_j^p)·P(|y| ≥ t_j)
//!
//! whose right side is the mean of the same sum with the G of a report. An upper limit of it is one of the moment, and it holds whatever
//! the law of |y| ([`BoundedMean`]). There is one of it and one of P(|y| ≥ t_c) for each c, and at δ divided by their number **all of
//! them hold at once** with probability 1 - δ, whichever c is taken. The first moment is certain, and what its limit does not need is left
//! to a lower one of P(|y| ≥ 2^b).
//!
//! **The range of a report.** Both are sums Σ w_j·a_j of a report's vector, the moment beside its certain t_1^p, with weights that never fall as j grows. The vector is α on the
//! bins that are reported and β on the others, so that with d of them the sum is largest if they are the last, and least if they
//! are the first; if any number of them can be reported, it is largest with all and least with none.
//!
//! **Which c.** The noise in the shares of large bins, where hardly anybody is, counts with their t^p: a pilot cannot rule out that a
//! share of 1/√n of people has numbers as large as it asks about, and no bound on E|y|^p itself can be better than that. So c is the
//! last at which the noise, to either side, is at most half of the estimate. There the limit is at most three halves of an estimate which
//! is at most twice what it estimates: noise makes the bound at most three times too large, but for another δ, and the bins 2^p times.
//! About those beyond t_c, who are clipped whatever they have if T is below it, the pilot says only how few they are.
//!
//! **Who is beyond everything.** If surely somebody has 2^b or more, then the pilot did not ask about numbers as large as there are, and
//! nothing says how much of the moment is theirs. Such a pilot is refused: if the lower limit holds, none is of which that is not so.

use super::bounded_mean::BoundedMean;
use super::coverage::check_probability;
use crate::LearnError;
use crate::labels::{LabelVector, LabelVectors};
use undertone_privacy::label::{Decoder, LabelMechanism, LabelRandomizer};

/// Bins of magnitudes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Magnitudes {
    /// a, the binary logarithm of where the first bin ends
    lowest: i32,
    bins: u32,
}

/// What a pilot says about E min(|y|, t)^p.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PilotMoment {
    /// An upper limit of E min(|y|, t)^p
    pub moment: f64,
    /// What is added to an estimate of the bins' moment to be sure of that
    pub noise: f64,
    /// t, a power of two
    pub within: f64,
    /// The share of people with |y| ≥ t, at most
    pub beyond: f64,
    /// How many reported
    pub people: u64,
}

impl Magnitudes {
    /// Bins from below 2^lowest to beyond 2^highest.
    pub fn new(lowest: i32, highest: i32) -> Result<Self, LearnError> {
        for (what, power) in [("the smallest power of two", lowest), ("the largest power of two", highest)] {
            if !(-300..=300).contains(&power) {
                let value = f64::from(power);
                return Err(LearnError::Parameter { what, value, expected: "between -300 and 300" });
            }
        }
        if lowest >= highest {
            let (what, value) = ("the largest power of two", f64::from(highest));
            return Err(LearnError::Parameter { what, value, expected: "above the smallest" });
        }
        Ok(Self { lowest, bins: (highest - lowest) as u32 + 2 })
    }

    /// K of the label mechanism.
    pub fn bins(self) -> u32 {
        self.bins
    }

    /// What the bins are called, as classes of a task.
    pub fn names(self) -> Vec<String> {
        let power = |bin: u32| self.lowest + bin as i32;
        let name = |bin: u32| match bin {
            0 => format!("below 2^{}", power(0)),
            _ if bin == self.bins - 1 => format!("2^{} or more", power(bin - 1)),
            _ => format!("2^{} to 2^{}", power(bin - 1), power(bin)),
        };
        (0..self.bins).map(name).collect()
    }

    /// The bins whose names these classes are, if they are.
    pub fn named(classes: &[String]) -> Option<Self> {
        let lowest: i32 = classes.first()?.strip_prefix("below 2^")?.parse().ok()?;
        let highest = lowest.checked_add_unsigned(u32::try_from(classes.len().checked_sub(2)?).ok()?)?;
        Self::new(lowest, highest).ok().filter(|magnitudes| magnitudes.names() == classes)
    }

    /// 2^(a + bin), where a bin ends if it has an end.
    fn end(self, bin: u32) -> f64 {
        2f64.powi(self.lowest + bin as i32)
    }

    /// The bin of a number, which must be one: how many ends it has reached. All are looked at, so that everybody's takes as long.
    pub fn bin(self, label: f64) -> Result<u32, LearnError> {
        if label.is_nan() {
            return Err(undertone_privacy::PrivacyError::NotANumber.into());
        }
        Ok((0..self.bins - 1).map(|bin| u32::from(label.abs() >= self.end(bin))).sum())
    }

    /// The bound on E min(|y|, t)^p, and on who has t or more, from what the pilot's people reported by this mechanism. It fails with a
    /// probability of δ at most.
    pub fn moment(
        self,
        mechanism: &LabelMechanism,
        reports: &LabelVectors,
        order: f64,
        delta: f64,
    ) -> Result<PilotMoment, LearnError> {
        check_probability("δ", delta)?;
        if !(order > 0.0 && order.is_finite()) {
            let what = "the order of the moment";
            return Err(LearnError::Parameter { what, value: order, expected: "positive and finite" });
        }
        if reports.is_empty() {
            return Err(LearnError::NoReports);
        }
        let mut sums = Sums::new(self, mechanism, order);
        reports.iter().for_each(|vector| sums.add(vector));
        // Two for each c
        let delta = delta / f64::from(2 * (self.bins - 1));
        sums.check_last(delta)?;
        let found = sums.bound(delta);
        found.check()?;
        Ok(found)
    }
}

impl PilotMoment {
    /// Refuses what says nothing, or what floats do not hold.
    fn check(&self) -> Result<(), LearnError> {
        let (what, value, expected) = if !(self.moment > 0.0 && self.moment.is_finite()) {
            ("the bound on the moment of the magnitudes", self.moment, "a number that floats hold")
        } else if self.beyond > MOST_BEYOND {
            (
                "the share of people who may lie beyond what the pilot bounds",
                self.beyond,
                "at most one half: ask more people, at a larger ε, or about fewer or larger magnitudes",
            )
        } else {
            return Ok(());
        };
        Err(LearnError::Parameter { what, value, expected })
    }

    /// M^(1/p), by which a T in units of the moment is multiplied.
    pub fn unit(&self, order: f64) -> f64 {
        self.moment.powf(order.recip())
    }
}

/// At most so many may have t or more. Then the median of |y| is below t, and T is measured by numbers that people have; beyond it,
/// E min(|y|, t)^p would be about t, which is what the pilot can tell, and not about them.
const MOST_BEYOND: f64 = 0.5;

/// What is added up for each c = 1, …, K - 1.
struct Sums {
    magnitudes: Magnitudes,
    /// t_c^p
    powers: Vec<f64>,
    /// Of G_c
    tails: Vec<BoundedMean>,
    /// Of the estimate of the bins' moment
    moments: Vec<BoundedMean>,
}

impl Sums {
    fn new(magnitudes: Magnitudes, mechanism: &LabelMechanism, order: f64) -> Self {
        let (bins, cuts) = (magnitudes.bins as usize, magnitudes.bins as usize - 1);
        let powers: Vec<f64> = (0..magnitudes.bins - 1).map(|bin| magnitudes.end(bin).powf(order)).collect();
        let of = |weight: &dyn Fn(usize) -> f64| {
            BoundedMean::new(range(mechanism, &(0..bins).map(weight).collect::<Vec<_>>()))
        };
        let tails = (0..cuts).map(|cut| of(&|bin| f64::from(u8::from(bin > cut)))).collect();
        // t_1^p is certain; what is added to it has weights that begin at zero
        let moments = (0..cuts).map(|cut| {
            let weights: Vec<f64> = (0..bins).map(|bin| powers[bin.min(cut)] - powers[0]).collect();
            let (low, high) = range(mechanism, &weights);
            BoundedMean::new((powers[0] + low, powers[0] + high))
        });
        let moments = moments.collect();
        Self { magnitudes, powers, tails, moments }
    }

    fn add(&mut self, vector: LabelVector<'_>) {
        // G_1, …, G_{K-1}
        let mut tails = vec![0.0; self.tails.len()];
        let mut above = 0.0;
        for (bin, tail) in (1..self.magnitudes.bins).zip(&mut tails).rev() {
            above += f64::from(vector.at(bin));
            *tail = above;
        }
        let mut moment = self.powers[0];
        for (cut, &tail) in tails.iter().enumerate() {
            self.tails[cut].add(tail);
            self.moments[cut].add(moment);
            if let Some(next) = self.powers.get(cut + 1) {
                moment += (next - self.powers[cut]) * tail;
            }
        }
    }

    /// Refuses what leaves people out who are surely there.
    fn check_last(&self, delta: f64) -> Result<(), LearnError> {
        let least = self.tails.last().map_or(0.0, |tail| tail.least(delta));
        if least <= 0.0 {
            return Ok(());
        }
        Err(LearnError::Parameter {
            what: "the least share of people who lie beyond all magnitudes that the pilot asked about",
            value: least,
            expected: "zero: ask about larger ones",
        })
    }

    /// At the last c where the noise is at most half of the estimate, to either side.
    fn bound(&self, delta: f64) -> PilotMoment {
        let noise = |sum: &BoundedMean| sum.most(delta) - sum.mean();
        let clear = |cut: &usize| {
            let (sum, half) = (&self.moments[*cut], 0.5 * self.moments[*cut].mean());
            noise(sum) <= half && sum.mean() - sum.least(delta) <= half
        };
        // The moment of the first is the same for everybody.
        let cut = (0..self.moments.len()).rev().find(clear).unwrap_or(0);
        let moment = &self.moments[cut];
        PilotMoment {
            moment: moment.most(delta),
            noise: noise(moment),
            within: self.magnitudes.end(cut as u32),
            beyond: self.tails[cut].most(delta).clamp(0.0, 1.0),
            people: moment.count(),
        }
    }
}

/// Between what Σ w_j·a_j of a report can be at least and at most, for weights that never fall.
fn range(mechanism: &LabelMechanism, weights: &[f64]) -> (f64, f64) {
    let Decoder { in_value, out_value } = mechanism.decoder();
    let (sum, gap) = (|weights: &[f64]| weights.iter().sum::<f64>(), in_value - out_value);
    let (fewest, most) = match mechanism.set_size() {
        Some(size) => (sum(&weights[..size as usize]), sum(&weights[weights.len() - size as usize..])),
        None => (0.0, sum(weights)),
    };
    let none = out_value * sum(weights);
    (none + gap * fewest, none + gap * most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nonparametric::rates;
    use crate::nonparametric::tests::{epsilon, reports, unit};
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;
    use undertone_privacy::label::LabelKind;

    /// By which nobody lies: P < 10^-21.
    fn honest(magnitudes: Magnitudes) -> LabelMechanism {
        LabelKind::Rr.mechanism(magnitudes.bins(), epsilon(50.0)).unwrap()
    }

    #[test]
    fn people_who_all_have_three_have_a_second_moment_of_sixteen_and_noise() {
        // Below 1, to 2, to 4, to 8, and more
        let magnitudes = Magnitudes::new(0, 3).unwrap();
        let told = |bins: Vec<u32>| {
            magnitudes.moment(&honest(magnitudes), &LabelVectors::certain(bins), 2.0, 0.05).unwrap()
        };
        let found = told(vec![magnitudes.bin(3.0).unwrap(); 1000]);
        // All are alike, between 1 and 64, and none is among those beyond: of 8 limits
        let ln = (4.0f64 * 8.0 / 0.05).ln();
        let (noise, beyond) = (7.0 * 63.0 * ln / (3.0 * 999.0), 1.0 - (0.05f64 / 16.0).powf(1e-3));
        assert!(
            (found.moment - 16.0 - noise).abs() < 1e-9 && (found.noise - noise).abs() < 1e-9,
            "{found:?}"
        );
        assert!((found.beyond - beyond).abs() < 1e-9 && found.people == 1000, "{found:?}");
        assert!((found.within - 8.0).abs() < 1e-12 && (found.unit(2.0) - found.moment.sqrt()).abs() < 1e-12);
        // One half has less than one, the other from one to two: 1/2·1 + 1/2·4, with a standard error of √(9/4)/√999
        let found = told((0..1000).map(|person| person % 2).collect());
        let noise = 7.0 * 63.0 * ln / (3.0 * 999.0) + 1.5 * (2.0 * ln / 999.0).sqrt();
        assert!((found.moment - 2.5 - noise).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn no_report_says_more_or_less_than_its_range() {
        let weights = [1.0, 1.0, 4.0, 16.0, 16.0];
        for kind in [LabelKind::Rr, LabelKind::Subset, LabelKind::Bits] {
            let mechanism = kind.mechanism(5, epsilon(0.7)).unwrap();
            let (low, high) = range(&mechanism, &weights);
            let Decoder { in_value, out_value } = mechanism.decoder();
            let sets =
                (0..32u32).filter(|set| mechanism.set_size().is_none_or(|size| set.count_ones() == size));
            let said: Vec<f64> = sets
                .map(|set| {
                    (0..5).map(|j| weights[j] * if set >> j & 1 == 1 { in_value } else { out_value }).sum()
                })
                .collect();
            let least = said.iter().copied().fold(f64::INFINITY, f64::min);
            let most = said.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert!((low - least).abs() < 1e-9 && (high - most).abs() < 1e-9, "{kind}: {low} {high}");
        }
    }

    #[test]
    fn magnitudes_are_told_by_their_bounds_and_recognised_by_their_names() {
        let magnitudes = Magnitudes::new(-2, 4).unwrap();
        assert_eq!([0.0, 0.2, 0.25, 1.0, -3.0, 1e9].map(|y| magnitudes.bin(y).unwrap()), [0, 0, 1, 3, 4, 7]);
        let names = Magnitudes::new(-1, 1).unwrap().names();
        assert_eq!(names, ["below 2^-1", "2^-1 to 2^0", "2^0 to 2^1", "2^1 or more"]);
        for (lowest, highest) in [(-300, 300), (0, 1), (-2, 4)] {
            let magnitudes = Magnitudes::new(lowest, highest).unwrap();
            assert_eq!(Magnitudes::named(&magnitudes.names()), Some(magnitudes));
            assert_eq!(magnitudes.names().len(), magnitudes.bins() as usize);
        }
        let classes = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        for names in [&[][..], &["yes", "no"], &["below 2^0"], &["below 2^0", "2^0 to 2^1", "2^2 or more"]] {
            assert_eq!(Magnitudes::named(&classes(names)), None, "{names:?}");
        }
        assert_eq!(Magnitudes::named(&classes(&["below 2^2147483647", "2^0 to 2^1", "2^1 or more"])), None);
        assert!(magnitudes.bin(f64::NAN).is_err());
        for ((lowest, highest), message) in [
            ((3, 3), "the largest power of two is 3, but has to be above the smallest"),
            ((-301, 5), "the smallest power of two is -301, but has to be between"),
            ((5, 301), "the largest power of two is 301, but has to be between"),
        ] {
            let error = Magnitudes::new(lowest, highest).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }

    #[test]
    fn a_pilot_that_says_too_little_is_refused_with_what_it_leaves_open() {
        let magnitudes = Magnitudes::new(0, 3).unwrap();
        let honest = honest(magnitudes);
        let moment = |reports: &LabelVectors, order| magnitudes.moment(&honest, reports, order, 0.05);
        let refused = |reports: &LabelVectors, order| moment(reports, order).unwrap_err().to_string();
        let certain = |bin: u32, people: usize| LabelVectors::certain(vec![bin; people]);
        // Nobody was asked; one person says nothing about the others; some are beyond 2^3.
        assert!(refused(&LabelVectors::new(), 2.0).contains("no reports"));
        assert!(refused(&certain(0, 1), 2.0).contains("one half"));
        let some = LabelVectors::certain((0..1000).map(|person| if person < 20 { 4 } else { 0 }));
        for beyond in [&certain(4, 1000), &some] {
            assert!(refused(beyond, 2.0).contains("ask about larger ones"));
        }
        for (order, delta, what) in
            [(2.0, 0.0, "δ is 0"), (0.0, 0.05, "moment is 0"), (f64::NAN, 0.05, "NaN")]
        {
            let error = magnitudes.moment(&honest, &certain(1, 1000), order, delta).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
        // 2^(4·300) is no float, which matters only where somebody is.
        assert!(moment(&certain(1, 1000), 400.0).is_ok());
        let vast = Magnitudes::new(290, 300).unwrap();
        let error = vast.moment(&self::honest(vast), &certain(1, 1000), 4.0, 0.05).unwrap_err().to_string();
        assert!(error.contains("floats"), "{error}");
    }

    /// What the devices of people say whose magnitudes are these, and what that says about their second moment.
    fn pilot(
        magnitudes: Magnitudes,
        (kind, value): (LabelKind, f64),
        bins: &[u32],
        rng: &mut ChaCha12Rng,
    ) -> Result<PilotMoment, LearnError> {
        let vectors = reports(kind, magnitudes.bins(), value, bins, rng);
        let mechanism = kind.mechanism(magnitudes.bins(), epsilon(value)).unwrap();
        magnitudes.moment(&mechanism, &vectors, 2.0, 0.05)
    }

    #[test]
    fn one_in_a_few_hundred_who_has_much_does_not_hide_from_devices_that_hardly_lie() {
        // One person in 2n has more than the others, who all have the least: often nobody of the pilot does, and nobody says so. Trusting
        // the standard error of what they said was wrong once in three times.
        let mut rng = ChaCha12Rng::seed_from_u64(10);
        let runs = 400;
        for (value, people, highest, large) in [(8.0, 150u32, 6, 5), (6.0, 50, 3, 1), (6.0, 50, 3, 3)] {
            let magnitudes = Magnitudes::new(0, highest).unwrap();
            let share = 0.5 / f64::from(people);
            let (mut failed, mut refused) = (0, 0);
            for _ in 0..runs {
                let bin = |_| if unit(&mut rng) < share { large } else { 0 };
                let bins: Vec<u32> = (0..people).map(bin).collect();
                // Refused is not wrong, but says nothing either.
                let Ok(found) = pilot(magnitudes, (LabelKind::Rr, value), &bins, &mut rng) else {
                    refused += 1;
                    continue;
                };
                let most = magnitudes.end(large).min(found.within);
                let beyond = if magnitudes.end(large) > found.within { share } else { 0.0 };
                let truth = 1.0 - share + share * most * most;
                failed += u32::from(found.moment < truth || found.beyond < beyond);
            }
            let failed = f64::from(failed) / f64::from(runs);
            let most = 0.05 + 5.0 * (0.05f64 * 0.95 / f64::from(runs)).sqrt();
            assert!(
                failed < most && 2 * refused < runs,
                "ε = {value}, {people}: {failed}, {refused} refused"
            );
        }
    }

    #[test]
    fn what_everybody_has_at_least_is_certain_however_it_is_reported() {
        let magnitudes = Magnitudes::new(1, 4).unwrap();
        for kind in [LabelKind::Rr, LabelKind::Subset, LabelKind::Bits] {
            let mechanism = kind.mechanism(magnitudes.bins(), epsilon(0.7)).unwrap();
            let mut sums = Sums::new(magnitudes, &mechanism, 2.0);
            let mut vectors = LabelVectors::new();
            vectors.push(-0.3, [(0, 1.7), (3, 1.7)]);
            vectors.iter().for_each(|vector| sums.add(vector));
            assert!((sums.moments[0].most(0.05) - 4.0).abs() < 1e-12, "{kind}");
        }
    }

    /// |y| of Pareto's law, P(|y| ≥ t) = t^-3, but just below the next power of two: bins give nothing away.
    fn pareto(rng: &mut ChaCha12Rng) -> f64 {
        let exponent = (1.0 - unit(rng)).log2() / -3.0;
        2f64.powf(exponent.floor() + 1.0) * (1.0 - 1e-12)
    }

    #[test]
    fn the_bound_holds_but_once_in_twenty_and_noise_at_most_triples_it() {
        let mut rng = ChaCha12Rng::seed_from_u64(8);
        // Bins far beyond all numbers, as of somebody who knows nothing about them
        let (runs, delta) = (150, 0.05);
        for (kind, value, people, highest) in [
            (LabelKind::Subset, 1.0, 4000, 12),
            (LabelKind::Rr, 3.0, 1000, 3),
            (LabelKind::Bits, 2.0, 5000, 12),
        ] {
            let magnitudes = Magnitudes::new(-3, highest).unwrap();
            let (mut failed, mut wide, mut refused) = (0, 0, 0);
            for _ in 0..runs {
                let bins: Vec<u32> = (0..people).map(|_| magnitudes.bin(pareto(&mut rng)).unwrap()).collect();
                // One in 512 has more than eight, which a thousand people hardly ever tell of.
                let Ok(found) = pilot(magnitudes, (kind, value), &bins, &mut rng) else {
                    refused += 1;
                    continue;
                };
                let t = found.within;
                // From 2^(j-1) to 2^j are 7/8·8^(1-j) of people, and count as 4^j up to t, as t² beyond: Σ 7/2^j + 1/t
                let ends = (1..).map(|j| 2f64.powi(j)).take_while(|&end| end <= t);
                let truth: f64 = ends.map(|end| 7.0 / end).sum::<f64>() + t.recip();
                // Whoever has just less than 2t has t or more.
                failed += u32::from(found.moment < truth || found.beyond < t.powi(-3));
                wide += u32::from(found.moment > 3.0 * truth);
                assert!((2.0..=2f64.powi(highest)).contains(&t), "{kind}: {found:?}");
            }
            let most = delta + 5.0 * (delta * (1.0 - delta) / f64::from(runs)).sqrt();
            let [failed, wide, refused] =
                [failed, wide, refused].map(|count| f64::from(count) / f64::from(runs));
            assert!(failed < most && wide < most && refused < most, "{kind}: {failed} {wide} {refused}");
        }
    }

    #[test]
    fn a_pilot_gives_a_t_in_units_of_the_label() {
        let mut rng = ChaCha12Rng::seed_from_u64(7);
        let clip = |scale: f64, rng: &mut ChaCha12Rng| {
            let magnitudes = Magnitudes::new(-4, 12).unwrap();
            let bin = |_| magnitudes.bin(scale * (4.0 * unit(rng) - 2.0)).unwrap();
            let bins: Vec<u32> = (0..20_000).map(bin).collect();
            let found = pilot(magnitudes, (LabelKind::Subset, 2.0), &bins, rng).unwrap();
            found.unit(2.0) * rates::local_clip(2.0, 1.0, 1000.0, 1.0)
        };
        // E y² = 4/3: bins double T at most, noise makes it √3 times as large at most.
        let truth = rates::local_clip(2.0, 4.0 / 3.0, 1000.0, 1.0);
        let [one, many] = [1.0, 100.0].map(|scale| clip(scale, &mut rng) / scale);
        assert!((truth..3.5 * truth).contains(&one) && (truth..3.5 * truth).contains(&many), "{one} {many}");
    }
}
