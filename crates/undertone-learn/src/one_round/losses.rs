//! Weights from losses at the nodes of a grid.

use super::{Constant, SurveyFit};
use crate::LearnError;
use crate::bernstein::{Problem, Surrogate, choose_order};
use crate::means::Tally;
use undertone_privacy::statistic::LossAt;

/// Places at which the constant is looked at.
const PLACES: u32 = 200;

/// Weights, and how the polynomial was made.
#[derive(Clone, Debug, PartialEq)]
pub struct LossFit {
    /// The weights
    pub fit: SurveyFit,
    /// h
    pub order: u32,
}

/// The weights of least risk on the box, for answers whose variance as shares of their ranges is at most `worst`.
///
/// The risk that a polynomial has at its own minimum flatters it; by how much is learnt from polynomials that are drawn around it
/// ([`Surrogate::flattery`]). The constant is the best on the first axis, with the others at zero.
pub fn from_losses(at: &LossAt, tally: &Tally, worst: f64) -> Result<LossFit, LearnError> {
    let grid = at.grid();
    let problem = Problem { loss: at.loss(), low: grid.low(), high: grid.high(), radius: at.radius() };
    let order = choose_order(&problem, grid.degree(), tally.answers(), worst.sqrt())?.order;
    let range = |node: usize| at.range(node as u32).unwrap_or((f64::NAN, f64::NAN));
    let means = tally.means_as_spread(worst).on_ranges(range);
    let surrogate = Surrogate::fit(grid.clone(), order, &means)?;
    let minimum = surrogate.minimise();
    let flattery = surrogate.flattery();
    let fitted = minimum.value + flattery.mean;
    let fit = SurveyFit::judged(minimum.w, &constant(&surrogate), fitted, flattery.deviation);
    Ok(LossFit { fit, order })
}

/// The best constant, as far as the polynomial tells.
fn constant(surrogate: &Surrogate) -> Constant {
    let grid = surrogate.grid();
    let mut w = vec![0.0; grid.axes()];
    let mut best = Constant::found(0.0, surrogate.value(&w));
    for place in 0..=PLACES {
        w[0] = grid.low()[0] + (grid.high()[0] - grid.low()[0]) * f64::from(place) / f64::from(PLACES);
        let risk = surrogate.value(&w);
        if risk < best.risk {
            best = Constant::found(w[0], risk);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::super::Worth;
    use super::*;
    use undertone_privacy::statistic::{ParameterGrid, PointLoss};
    use undertone_privacy::vector::stream::PublicStream;

    /// Noise of the answers, as shares of their ranges: about that of one bit at ε = 1.
    const DEVIATION: f64 = 1.1;

    /// What people say whose label is 1 with the chance (1 + `signal`·x_1)/2, x = (1, ±1)/√2, each asked for the loss at one node.
    fn told(signal: f64, people: u32, seed: u64) -> LossFit {
        let grid = ParameterGrid::new(&[-2.0; 2], &[2.0; 2], 3).unwrap();
        let at = LossAt::new(PointLoss::Logistic, grid, 1.0).unwrap();
        let worst = DEVIATION * DEVIATION + 0.25;
        let nodes = at.grid().nodes();
        let mut tally = Tally::new(nodes as usize, worst.sqrt()).unwrap();
        let mut stream = PublicStream::new(u128::from(seed), 3);
        let root = std::f64::consts::FRAC_1_SQRT_2;
        for person in 0..people {
            let (sign, uniform) = (
                if stream.next_word() >> 63 == 1 { 1.0 } else { -1.0 },
                stream.next_word() as f64 / 2f64.powi(64),
            );
            let y = if uniform < 0.5 * (1.0 + signal * sign) { 1.0 } else { -1.0 };
            let node = person % nodes;
            let mut noise = [0.0];
            stream.fill_normal(&mut noise);
            let answer = at.share(node, &[root, sign * root], y).unwrap() + DEVIATION * noise[0];
            tally.observe(node, answer).unwrap();
        }
        from_losses(&at, &tally, worst).unwrap()
    }

    #[test]
    fn where_there_is_nothing_to_learn_one_in_ten_at_most_are_said_to_be_worth_it() {
        let rounds = 60;
        let fitted = (0..rounds).filter(|&seed| told(0.0, 4000, seed).fit.expected.worth == Worth::Fitted);
        let (fitted, expected) = (fitted.count() as f64, 0.1 * rounds as f64);
        assert!(fitted < expected + 3.0 * expected.sqrt(), "{fitted} of {rounds}");
    }

    #[test]
    fn what_there_is_to_learn_is_said_to_be_worth_it() {
        let fitted = (0..20).filter(|&seed| told(0.8, 200_000, seed).fit.expected.worth == Worth::Fitted);
        assert!(fitted.count() >= 18);
    }
}
