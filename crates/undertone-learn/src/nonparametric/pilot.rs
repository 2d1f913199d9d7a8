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
//! whose right side is the mean of the same sum with the G of a report. The mean over the reports, and as much more as it may be too
//! small by, is an upper limit. There is one of it and one of P(|y| ≥ t_c) for each c, and at δ divided by their number **all of them
//! hold at once** with probability 1 - δ, whichever c is taken.
//!
//! **Which c.** The noise in the shares of large bins, where hardly anybody is, counts with their t^p: a pilot cannot rule out that a
//! share of 1/√n of people has numbers as large as it asks about, and no bound on E|y|^p itself can be better than that. So c is the
//! last at which the noise is at most half of the estimate. There the limit is at most three halves of an estimate which is at most
//! twice what it estimates: noise makes the bound at most three times too large, but for another δ, and the bins 2^p times. About those
//! beyond t_c, who are clipped whatever they have if T is below it, the pilot says only how few they are.

use super::coverage::{check, reach};
use crate::LearnError;
use crate::evaluation::{Figure, Moments};
use crate::labels::{LabelVector, LabelVectors};

/// Bins of magnitudes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Magnitudes {
    /// a, the binary logarithm of where the first bin ends
    lowest: i32,
    bins: u32,
}

/// What a pilot says about E|y|^p.
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
        if lowest < highest && lowest >= -300 && highest <= 300 {
            return Ok(Self { lowest, bins: (highest - lowest) as u32 + 2 });
        }
        Err(LearnError::Parameter {
            what: "the largest power of two",
            value: f64::from(highest),
            expected: "above the smallest, both between -300 and 300",
        })
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

    /// The bound on E|y|^p from what the pilot's people reported, which fails with a probability of δ at most.
    pub fn moment(self, reports: &LabelVectors, order: f64, delta: f64) -> Result<PilotMoment, LearnError> {
        check(delta, delta)?;
        if reports.is_empty() {
            return Err(LearnError::NoReports);
        }
        let mut sums = Sums::new(self, order);
        reports.iter().for_each(|vector| sums.add(vector));
        let found = sums.bound(reach(reports.len() as u64, delta / f64::from(sums.limits())));
        if !(found.moment > 0.0 && found.moment.is_finite()) {
            let what = "the bound on the moment of the magnitudes";
            return Err(LearnError::Parameter {
                what,
                value: found.moment,
                expected: "a number that floats hold",
            });
        }
        if found.beyond > MOST_BEYOND {
            return Err(LearnError::Parameter {
                what: "the share of people who may lie beyond what the pilot bounds",
                value: found.beyond,
                expected: "at most one half: ask more people, at a larger ε, or about fewer or larger magnitudes",
            });
        }
        Ok(found)
    }
}

impl PilotMoment {
    /// M^(1/p), by which a T in units of the moment is multiplied.
    pub fn unit(&self, order: f64) -> f64 {
        self.moment.powf(order.recip())
    }
}

/// A bound that leaves out more people than it is about is none.
const MOST_BEYOND: f64 = 0.5;

/// What is added up for each c = 1, …, K - 1.
struct Sums {
    magnitudes: Magnitudes,
    /// t_c^p
    powers: Vec<f64>,
    /// Of G_c
    tails: Vec<Moments>,
    /// Of the estimate of the bins' moment
    moments: Vec<Moments>,
}

impl Sums {
    fn new(magnitudes: Magnitudes, order: f64) -> Self {
        let cuts = magnitudes.bins - 1;
        let none = vec![Moments::default(); cuts as usize];
        let powers = (0..cuts).map(|bin| magnitudes.end(bin).powf(order)).collect();
        Self { magnitudes, powers, tails: none.clone(), moments: none }
    }

    /// How many limits have to hold: two for each c, but that the first moment is certain.
    fn limits(&self) -> u32 {
        2 * (self.magnitudes.bins - 1) - 1
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

    /// At the last c where the noise, `reach` standard errors, is at most half of the estimate.
    fn bound(&self, reach: f64) -> PilotMoment {
        // The moment of the first is the same for everybody, however few.
        let noise =
            |cut: usize| if cut == 0 { 0.0 } else { reach * self.moments[cut].figure().standard_error };
        let clear = |cut: &usize| noise(*cut) <= 0.5 * self.moments[*cut].mean;
        let cut = (0..self.moments.len()).rev().find(clear).unwrap_or(0);
        let Figure { value, standard_error } = self.tails[cut].figure();
        let beyond = value + reach * standard_error;
        PilotMoment {
            moment: self.moments[cut].mean + noise(cut),
            noise: noise(cut),
            within: self.magnitudes.end(cut as u32),
            beyond: if beyond.is_nan() { 1.0 } else { beyond.clamp(0.0, 1.0) },
            people: self.tails[cut].count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nonparametric::coverage::MANY;
    use crate::nonparametric::rates;
    use crate::nonparametric::tests::{reports, unit};
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;
    use undertone_privacy::label::LabelKind;

    #[test]
    fn people_who_all_have_three_have_a_second_moment_of_at_most_sixteen() {
        // Below 1, to 2, to 4, to 8, and more
        let magnitudes = Magnitudes::new(0, 3).unwrap();
        let bin = magnitudes.bin(3.0).unwrap();
        let found = magnitudes.moment(&LabelVectors::certain(vec![bin; 1000]), 2.0, 0.05).unwrap();
        let expected = PilotMoment { moment: 16.0, noise: 0.0, within: 8.0, beyond: 0.0, people: 1000 };
        assert_eq!(found, expected);
        assert!((found.unit(2.0) - 4.0).abs() < 1e-12);
        // One half has less than one, the other from one to two: 1/2·1 + 1/2·4, and √(9/4)/√999 of noise for each unit of reach
        let halves = LabelVectors::certain((0..1000).map(|person| person % 2));
        let found = magnitudes.moment(&halves, 2.0, 0.05).unwrap();
        let error = 1.5 / 999f64.sqrt();
        assert!((found.moment - 2.5 - reach(1000, 0.05 / 7.0) * error).abs() < 1e-9, "{found:?}");
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
        assert!(magnitudes.bin(f64::NAN).is_err() && Magnitudes::new(3, 3).is_err());
    }

    #[test]
    fn a_pilot_that_says_too_little_is_refused_with_what_it_leaves_open() {
        let magnitudes = Magnitudes::new(0, 3).unwrap();
        let refused =
            |reports: &LabelVectors, order| magnitudes.moment(reports, order, 0.05).unwrap_err().to_string();
        let certain = |bin: u32, people: usize| LabelVectors::certain(vec![bin; people]);
        // Everybody is beyond 2^3; nobody was asked; one person says nothing about the others.
        assert!(refused(&certain(4, 1000), 2.0).contains("one half"));
        assert!(refused(&LabelVectors::new(), 2.0).contains("no reports"));
        assert!(refused(&certain(0, 1), 2.0).contains("one half"));
        assert!(magnitudes.moment(&certain(1, 1000), 2.0, 0.0).is_err());
        // 2^(4·300) is no float, which matters only where somebody is.
        assert!(magnitudes.moment(&certain(1, 1000), 400.0, 0.05).is_ok());
        let vast = Magnitudes::new(290, 300).unwrap();
        assert!(vast.moment(&certain(1, 1000), 4.0, 0.05).unwrap_err().to_string().contains("floats"));
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
            (LabelKind::Rr, 3.0, MANY, 3),
            (LabelKind::Bits, 2.0, 2000, 12),
        ] {
            let magnitudes = Magnitudes::new(-3, highest).unwrap();
            let (mut failed, mut wide) = (0, 0);
            for _ in 0..runs {
                let bins: Vec<u32> = (0..people).map(|_| magnitudes.bin(pareto(&mut rng)).unwrap()).collect();
                let vectors = reports(kind, magnitudes.bins(), value, &bins, &mut rng);
                let found = magnitudes.moment(&vectors, 2.0, delta).unwrap();
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
            let [failed, wide] = [failed, wide].map(|count| f64::from(count) / f64::from(runs));
            assert!(failed < most && wide < most, "{kind}: {failed} {wide}");
        }
    }

    #[test]
    fn a_pilot_gives_a_t_in_units_of_the_label() {
        let mut rng = ChaCha12Rng::seed_from_u64(7);
        let clip = |scale: f64, rng: &mut ChaCha12Rng| {
            let magnitudes = Magnitudes::new(-4, 12).unwrap();
            let bin = |_| magnitudes.bin(scale * (4.0 * unit(rng) - 2.0)).unwrap();
            let bins: Vec<u32> = (0..20_000).map(bin).collect();
            let vectors = reports(LabelKind::Subset, magnitudes.bins(), 2.0, &bins, rng);
            magnitudes.moment(&vectors, 2.0, 0.05).unwrap().unit(2.0)
                * rates::local_clip(2.0, 1.0, 1000.0, 1.0)
        };
        // E y² = 4/3: bins double T at most, noise makes it √3 times as large at most.
        let truth = rates::local_clip(2.0, 4.0 / 3.0, 1000.0, 1.0);
        let [one, many] = [1.0, 100.0].map(|scale| clip(scale, &mut rng) / scale);
        assert!((truth..3.5 * truth).contains(&one) && (truth..3.5 * truth).contains(&many), "{one} {many}");
    }
}
