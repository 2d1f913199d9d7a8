//! Tables from products of literals, by a polynomial that tells none from some.
//!
//! A record is in cell t of the attributes S if none of the literals "x_j differs from t_j" holds, so that
//!
//! > P(x_S = t) = 1 - E p_k(number that hold) = 1 - Σ_{∅ ≠ A ⊆ S} a_|A|·P(x_j ≠ t_j for all j ∈ A)
//!
//! up to the error of p_k. Each probability comes from people of its own: Var = Σ_A a²_|A|·Var_A. The literals have to
//! be of both kinds, x_j and its negation: of attributes alone, a disjunction tells only the cell of all zeros.

use super::chebyshev::Disjunction;
use super::counts::Noise;
use super::design::Design;
use super::marginal::Linear;
use super::pooled::levels_of;
use super::table::parts;
use super::tally::Tally;
use crate::LearnError;
use undertone_privacy::statistic::Question;

/// The table over `attributes` with so many levels, unbiased but for the error of the polynomial.
pub(super) fn estimate(
    polynomial: &Disjunction,
    design: &Design,
    tally: &Tally,
    attributes: &[usize],
    sizes: &[usize],
) -> Result<Linear, LearnError> {
    let degree = polynomial.coefficients.len();
    let first = design.questionnaire.question(0)?;
    let noise = Noise::of(design.questionnaire.mechanism(&first)?);
    let (mut values, mut variances) = (Vec::new(), Vec::new());
    for cell in levels_of(sizes).chunks(sizes.len()) {
        let (mut value, mut variance) = (1.0, 0.0);
        for mask in parts((1 << sizes.len()) - 1).filter(|mask| mask.count_ones() as usize <= degree) {
            let literals: Vec<(usize, u32)> = (0..sizes.len())
                .filter(|axis| mask >> axis & 1 == 1)
                .map(|axis| (attributes[axis], cell[axis] as u32))
                .collect();
            let unanswered = || LearnError::UnansweredTable { attributes: attributes.to_vec() };
            let a = polynomial.coefficients[literals.len() - 1];
            let number =
                design.questionnaire.number(&Question::Term(literals)).ok_or_else(unanswered)? as usize;
            let holds = tally.shares(number, &noise).ok_or_else(unanswered)?[1];
            value -= a * holds;
            variance += a * a * noise.variance(holds) / tally.asked(number) as f64;
        }
        values.push(value);
        variances.push(variance);
    }
    Ok(Linear { values, variances, bias: polynomial.error })
}
