//! Tables that were asked for directly: a cell is the share of its label, or the mean of such sums over several tables.

use super::counts::Noise;
use super::design::Design;
use super::marginal::Linear;
use super::table::marginal;
use super::tally::Tally;
use crate::LearnError;
use undertone_privacy::statistic::Question;

/// The unbiased table over `attributes` with so many levels, from all tables that hold them, each by its answers.
///
/// A cell is the sum of m = K_v/K_S labels of the table v. The covariance of two labels of one answer is
/// (π_c + π_d)·b + (1 - π_c - π_d)·s, whence for m of them that have the share π together
///
/// > Var = π·A + (m - π)·v + 2(m-1)·π·b + (m-1)·(m - 2π)·s + π·(1 - π)
pub(super) fn estimate(
    design: &Design,
    tally: &Tally,
    attributes: &[usize],
    sizes: &[usize],
) -> Result<Linear, LearnError> {
    let questionnaire = &design.questionnaire;
    let levels = questionnaire.schema().levels();
    let cells: usize = sizes.iter().product();
    let (mut values, mut variances, mut answers) = (vec![0.0; cells], vec![0.0; cells], 0.0);
    for number in tables_over(design, attributes)? {
        let question = questionnaire.question(number)?;
        let noise = Noise::of(questionnaire.mechanism(&question)?);
        let (Question::Cell(view), Some(shares)) = (question, tally.shares(number as usize, &noise)) else {
            continue;
        };
        let own: Vec<usize> = view.iter().map(|&a| levels[a] as usize).collect();
        let mask =
            (0..view.len()).filter(|&i| attributes.contains(&view[i])).fold(0, |mask, i| mask | 1 << i);
        let n = tally.asked(number as usize) as f64;
        let labels = shares.len() / cells;
        for (cell, share) in marginal(&shares, &own, mask).into_iter().enumerate() {
            values[cell] += n * share;
            variances[cell] += n * noise.variance_of_sum(labels as f64, share);
        }
        answers += n;
    }
    if answers == 0.0 {
        return Err(LearnError::UnansweredTable { attributes: attributes.to_vec() });
    }
    for (value, variance) in values.iter_mut().zip(&mut variances) {
        *value /= answers;
        *variance /= answers * answers;
    }
    Ok(Linear { values, variances, bias: 0.0 })
}

/// The numbers of the tables that hold `attributes`.
fn tables_over(design: &Design, attributes: &[usize]) -> Result<Vec<u64>, LearnError> {
    let questionnaire = &design.questionnaire;
    if attributes.len() == design.order {
        return Ok(questionnaire.number(&Question::Cell(attributes.to_vec())).into_iter().collect());
    }
    let mut found = Vec::new();
    for number in 0..questionnaire.questions() {
        if let Question::Cell(view) = questionnaire.question(number)?
            && attributes.iter().all(|a| view.contains(a))
        {
            found.push(number);
        }
    }
    Ok(found)
}
