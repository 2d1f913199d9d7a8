//! The auditor, who looks at mechanisms of any type and gives a verdict about each.

use crate::registry::{Examiner, Mechanism};
use crate::verdict::Breach;
use crate::{Case, Settings, Verdict, audit, float_leak};
use rand_core::CryptoRng;
use undertone_privacy::{PrivacyError, Randomizer, Unbiased};

/// Judges one mechanism after the other.
#[derive(Debug)]
pub struct Auditor<G> {
    settings: Settings,
    rng: G,
}

impl<G: CryptoRng> Auditor<G> {
    /// An auditor who looks this hard.
    pub fn new(settings: Settings, rng: G) -> Self {
        Self { settings, rng }
    }

    /// The verdict about `mechanism`, to be called `name` in it.
    pub fn judge(&mut self, name: &str, mechanism: &Mechanism) -> Result<Verdict, PrivacyError> {
        mechanism.face(name, self)
    }
}

impl<G: CryptoRng> Examiner for Auditor<G> {
    type Finding = Result<Verdict, PrivacyError>;

    fn plain<R: Randomizer>(&mut self, case: &Case<R>) -> Self::Finding {
        audit(case, &self.settings, &mut self.rng)
    }

    fn unbiased<R: Unbiased>(&mut self, case: &Case<R>) -> Self::Finding {
        self.plain(case)
    }

    /// A breach in either currency is a breach.
    fn calibrated<R: Unbiased>(&mut self, case: &Case<R>, equivalent: &Case<R>) -> Self::Finding {
        let (mut verdict, sharper) = (self.plain(case)?, self.plain(equivalent)?);
        verdict.breaches.extend(sharper.breaches);
        verdict.found = verdict.found.max(sharper.found);
        Ok(verdict)
    }

    /// Densities are judged like probabilities; the first coordinate is also searched for bits that tell inputs apart.
    fn floats<R: Unbiased<Report = Vec<f64>>>(&mut self, case: &Case<R>) -> Self::Finding {
        let mut verdict = self.plain(case)?;
        let first = |vector: Vec<f64>| vector.first().copied().unwrap_or(f64::NAN);
        // An input that was refused would have been by the audit above.
        let sampler = |input: &R::Input, rng: &mut G| {
            case.randomizer
                .randomize(input, rng)
                .map_or(f64::NAN, |report| first(case.randomizer.estimate(&report)))
        };
        for (a, b) in &case.pairs {
            let inputs = [a, b].map(|input| (input, first(case.randomizer.truth(input))));
            let leak = float_leak(sampler, inputs, &verdict.claimed, &self.settings, &mut self.rng);
            // One leak is enough.
            if let Some(leak) = leak {
                verdict.breaches.push(Breach::Leak(leak));
                break;
            }
        }
        verdict.simulation_only = true;
        Ok(verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reports;
    use crate::doubles::{OccupiedVotes, SumWithoutT};
    use crate::registry::{Kind, Setup};
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;
    use undertone_privacy::Epsilon;
    use undertone_privacy::central::CellVotes;
    use undertone_privacy::label::LabelKind;
    use undertone_privacy::vector::VectorKind;

    fn auditor(trials: u64, seed: u64) -> Auditor<ChaCha12Rng> {
        Auditor::new(Settings { trials, confidence: 0.95 }, ChaCha12Rng::seed_from_u64(seed))
    }

    fn usual(kind: Kind) -> Mechanism {
        Mechanism::new(kind, &Setup::usual(Epsilon::new(1.0).unwrap()).unwrap()).unwrap()
    }

    #[test]
    fn a_hundred_thousand_reports_of_the_devices_own_code_prove_most_of_epsilon() {
        for kind in [LabelKind::Rr, LabelKind::Oue, LabelKind::Subset] {
            let verdict = auditor(100_000, 1).judge(kind.name(), &usual(Kind::Label(kind))).unwrap();
            assert!(verdict.kept() && verdict.lower_bound >= 0.93, "{verdict}");
        }
    }

    #[test]
    fn every_mechanism_that_may_leave_a_device_keeps_its_promise() {
        let mut auditor = auditor(3000, 2);
        for kind in Kind::all() {
            let verdict = auditor.judge(&kind.name(), &usual(kind)).unwrap();
            assert!(verdict.simulation_only || verdict.kept(), "{verdict}");
            assert_eq!(verdict.simulation_only, usual(kind).is_simulation_only(), "{verdict}");
        }
    }

    #[test]
    fn sums_with_the_noise_that_was_printed_are_broken_unless_t_is_one() {
        let case = |t: f64| {
            let sum = SumWithoutT::new(t, 1.0);
            let [low, high] = [sum.bounds().lowest(), sum.bounds().highest()];
            // Far from both sums the likelihood ratio is all it can be.
            let reports = Reports::Representatives(vec![-1 << 40, 0, 1 << 20, 1 << 40]);
            Case::new("as printed", sum, vec![(vec![low, high], vec![high, high])], reports)
        };
        let verdict = auditor(20_000, 4).plain(&case(5.0)).unwrap();
        // A label moves the sum by 2T = 10, and the scale is 2/ε.
        assert!(verdict.exact.is_some_and(|loss| (loss - 5.0).abs() < 1e-4), "{verdict}");
        assert!(verdict.breaches.iter().any(|breach| matches!(breach, Breach::Exact { .. })), "{verdict}");
        assert!(verdict.breaches.iter().any(|breach| matches!(breach, Breach::Proved { .. })), "{verdict}");
        let verdict = auditor(20_000, 5).plain(&case(1.0)).unwrap();
        assert!(verdict.kept(), "{verdict}");
    }

    #[test]
    fn a_map_of_occupied_cells_loses_everything_when_a_record_moves() {
        // The same three people, of whom one lies in another cell of the same grid
        let people = |cell| vec![(0, 0), (0, 1), (cell, 1)];
        let all = |cells: &[u32]| {
            let classes =
                |code: u32| cells.iter().enumerate().map(move |(i, &cell)| (cell, code >> i & 1)).collect();
            (0..1 << cells.len()).map(classes).collect::<Vec<_>>()
        };
        let reports = Reports::All([all(&[0, 1]), all(&[0, 2])].concat());
        let occupied = OccupiedVotes { labels: 2, epsilon: 1.0 };
        let case = Case::new("occupied only", occupied, vec![(people(1), people(2))], reports);
        let verdict = auditor(2000, 6).plain(&case).unwrap();
        assert_eq!(verdict.exact, Some(f64::INFINITY), "{verdict}");
        assert!(!verdict.kept(), "{verdict}");
        // All cells, with the same noise whoever is there
        let all = CellVotes::new(3, 2, Epsilon::new(1.0).unwrap()).unwrap();
        let reports = (0..8).map(|code| (0..3).map(|cell| code >> cell & 1).collect()).collect();
        let case = Case::new("all cells", all, vec![(people(1), people(2))], Reports::All(reports));
        assert!(auditor(2000, 7).plain(&case).unwrap().kept());
    }

    #[test]
    fn noise_added_in_floating_point_is_found_to_leak() {
        let verdict =
            auditor(20_000, 3).judge("l2-laplace", &usual(Kind::Vector(VectorKind::L2Laplace))).unwrap();
        assert!(verdict.breaches.iter().any(|breach| matches!(breach, Breach::Leak(_))), "{verdict}");
    }
}
