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
    use crate::registry::{Kind, Setup};
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;
    use undertone_privacy::Epsilon;
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
    fn noise_added_in_floating_point_is_found_to_leak() {
        let verdict =
            auditor(20_000, 3).judge("l2-laplace", &usual(Kind::Vector(VectorKind::L2Laplace))).unwrap();
        assert!(verdict.breaches.iter().any(|breach| matches!(breach, Breach::Leak(_))), "{verdict}");
    }
}
