//! Learning from labels that were randomized once, before anything was learnt: Algorithm 1 of Chua et al.
//!
//! > ĝ = Σ_k a_k(S)·∇ℓ(w; x, k),  E\[ĝ\] = ∇ℓ(w; x, y),  E|ĝ|² ≤ L²·(1 + V)
//!
//! with V the worst-case variance of the mechanism's label vector. Everything after the reports is post-processing: they
//! may be read as often as one likes.
//!
//! | name | mechanism |
//! |---|---|
//! | [`algorithm_1`](LabelSgd::algorithm_1) | independent bits with p = 1/2, as printed |
//! | [`subset`](LabelSgd::subset) | subset selection (Appendix A) with the best d: the default |
//! | [`lp_rr`](LabelSgd::lp_rr) | LP-RR-SGD of Ghazi et al.: randomized response |
//! | [`top_k`](LabelSgd::top_k) | their Corollary 10: randomized response among likely labels |

use super::{ConvexLoss, Feasible, ProjectedSgd, Step};
use crate::LearnError;
use crate::labels::Channel;
use undertone_privacy::label::{LabelKind, LabelMechanism, LabelRandomizer, RrTopK};
use undertone_privacy::{Epsilon, PrivacyError};

/// Stochastic gradient descent on reports of one label mechanism.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelSgd {
    mechanism: LabelMechanism,
}

impl LabelSgd {
    /// With any mechanism.
    pub fn new(mechanism: LabelMechanism) -> Self {
        Self { mechanism }
    }

    /// Algorithm 1 of Chua et al. as printed: each label a member by itself, the true one with probability 1/2.
    pub fn algorithm_1(labels: u32, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        Ok(Self::new(LabelKind::BitsPaper.mechanism(labels, epsilon)?))
    }

    /// Sets of d labels (Chua et al., Appendix A), with the d of least worst-case second moment. In their eq. 3 the
    /// exponent must hold ε alone: e^ε·C(K-1, d-1) + C(K-1, d).
    pub fn subset(labels: u32, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        Ok(Self::new(LabelKind::Subset.mechanism(labels, epsilon)?))
    }

    /// LP-RR-SGD (Ghazi et al., Algorithm 5): randomized response among all labels.
    pub fn lp_rr(labels: u32, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        Ok(Self::new(LabelKind::Rr.mechanism(labels, epsilon)?))
    }

    /// Randomized response among the labels of `top`, which are public (Ghazi et al., Corollary 10). With Y_k different
    /// for each person, [`Channel::with_priors`] makes the label vectors.
    pub fn top_k(labels: u32, top: Vec<u32>, epsilon: Epsilon) -> Result<Self, PrivacyError> {
        Ok(Self::new(LabelMechanism::TopK(RrTopK::new(labels, top, epsilon)?)))
    }

    /// What a device runs.
    pub fn mechanism(&self) -> &LabelMechanism {
        &self.mechanism
    }

    /// What turns reports into label vectors.
    pub fn channel(&self) -> Channel {
        Channel::of_mechanism(&self.mechanism)
    }

    /// G²/L² = 1 + V. People outside a top Y_k, who answer evenly, stay below it: theirs is at most c², c = (1+(k-1)t)/m.
    pub fn second_moment(&self) -> f64 {
        self.mechanism.covariance().worst_case_second_moment()
    }

    /// R₀·L·√((1 + V)/n), which the expected excess risk does not exceed; answers among a top have the bias
    /// 2·D·L·P(y ∉ Y_k) besides ([`Self::miss_bias`]).
    pub fn risk_bound(&self, reach: f64, lipschitz: f64, n: u64) -> f64 {
        reach * lipschitz * (self.second_moment() / n as f64).sqrt()
    }

    /// 2·D·L·miss: what answering among Y_k costs at most if a share `miss` of people hold another label, D being the
    /// diameter of the feasible set.
    pub fn miss_bias(diameter: f64, lipschitz: f64, miss: f64) -> f64 {
        2.0 * diameter * lipschitz * miss
    }

    /// η = R₀/(G·√n) with the exact G.
    pub fn exact_step(&self, reach: f64, lipschitz: f64, n: u64) -> Step {
        Step::exact(reach, lipschitz * self.second_moment().sqrt(), n)
    }

    /// The step as printed, R the distance that is to be covered: by Chua et al.
    ///
    /// > η = (R/L)·√((e^ε-1)²/(2n(K+e^ε)e^ε)) = (R/L)·m/√(2n(1 + K·t))
    ///
    /// and for randomized response by Ghazi et al., who return the last point,
    ///
    /// > η_t = R·ε/(6kL·√t)
    pub fn published_step(&self, reach: f64, lipschitz: f64, n: u64) -> Step {
        let epsilon = self.mechanism.epsilon();
        let scale = reach / lipschitz;
        let asked = self.mechanism.support().map_or(self.mechanism.labels() as usize, <[u32]>::len) as f64;
        match self.mechanism {
            LabelMechanism::Bits(_) | LabelMechanism::Subset(_) => {
                Step::Constant(scale * epsilon.m() / (2.0 * n as f64 * (1.0 + asked * epsilon.t())).sqrt())
            }
            LabelMechanism::RandomizedResponse(_)
            | LabelMechanism::TopK(_)
            | LabelMechanism::WithPrior(_) => Step::InverseRoot(scale * epsilon.get() / (6.0 * asked)),
        }
    }

    /// A descent from the centre of `feasible` over n reports with the exact step.
    pub fn learner<'a, L: ConvexLoss>(
        &self,
        loss: &'a L,
        feasible: Feasible,
        n: u64,
    ) -> Result<ProjectedSgd<'a, L>, LearnError> {
        let start = feasible.centre(loss.dimension());
        let step = self.exact_step(feasible.reach(&start), loss.lipschitz(), n);
        ProjectedSgd::new(loss, feasible, start, step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
    }

    #[test]
    fn the_step_of_ghazi_et_al_is_worked_out_by_hand() {
        let epsilon = Epsilon::new(1.5).unwrap();
        // R·ε/(6kL) = 2·1.5/(6·3·0.5) = 1/3, whatever n
        let step = LabelSgd::lp_rr(3, epsilon).unwrap().published_step(2.0, 0.5, 1000);
        close(step.at(1), 1.0 / 3.0);
        close(step.at(9), 1.0 / 9.0);
        // Of five labels two are asked about: 2·1.5/(6·2·0.5) = 1/2
        let step = LabelSgd::top_k(5, vec![1, 4], epsilon).unwrap().published_step(2.0, 0.5, 1000);
        close(step.at(1), 0.5);
        close(step.at(4), 0.25);
    }

    #[test]
    fn the_step_of_chua_et_al_is_worked_out_by_hand() {
        // e^ε = 3, K = 5, n = 6, R/L = 4: 4·√(2²/(2·6·8·3)) = 4/√72 = √2/3 at every step
        let epsilon = Epsilon::new(3f64.ln()).unwrap();
        for sgd in [LabelSgd::algorithm_1(5, epsilon), LabelSgd::subset(5, epsilon)] {
            let step = sgd.unwrap().published_step(2.0, 0.5, 6);
            close(step.at(1), 2f64.sqrt() / 3.0);
            close(step.at(5), 2f64.sqrt() / 3.0);
        }
    }
}
