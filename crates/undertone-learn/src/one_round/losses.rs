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
