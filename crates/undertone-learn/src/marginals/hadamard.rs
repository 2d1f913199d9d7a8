//! Tables from characters: the inverse of the transform of Walsh and Hadamard.
//!
//! Written in B bits, the levels of a cell c have the share
//!
//! > P(c) = 2^-B·Σ_r (-1)^⟨r,c⟩·φ(r),  φ(r) = 1 - 2·P(⟨r,x⟩ is odd),  φ(0) = 1
//!
//! Each φ comes from people of its own, so that the variances add up: that of every cell is 4^-B·Σ_r Var φ(r). With
//! binary attributes there are 2^k - 1 of them. Levels that are no power of two leave cells that nobody can be in, which
//! are left out.

use super::counts::Noise;
use super::design::Design;
use super::marginal::Linear;
use super::pooled::levels_of;
use super::tally::Tally;
use crate::LearnError;
use undertone_privacy::statistic::Question;

/// The unbiased table over `attributes` with so many levels.
pub(super) fn estimate(
    design: &Design,
    tally: &Tally,
    attributes: &[usize],
    sizes: &[usize],
) -> Result<Linear, LearnError> {
    let bits: Vec<u32> = sizes.iter().map(|&size| usize::BITS - (size - 1).leading_zeros()).collect();
    let total: u32 = bits.iter().sum();
    let unanswered = || LearnError::UnansweredTable { attributes: attributes.to_vec() };
    // Every character is answered by yes or no.
    let noise = Noise::of(design.questionnaire.mechanism(&design.questionnaire.question(0)?)?);
    let (mut transform, mut variance) = (vec![1.0], 0.0);
    for r in 1..1usize << total {
        let question = Question::Parity(masks(attributes, &bits, r));
        let number = design.questionnaire.number(&question).ok_or_else(unanswered)? as usize;
        let odd = tally.shares(number, &noise).ok_or_else(unanswered)?[1];
        transform.push(1.0 - 2.0 * odd);
        variance += 4.0 * noise.variance(odd) / tally.asked(number) as f64;
    }
    invert(&mut transform);
    let levels = levels_of(sizes);
    let code = |cell: &[usize]| cell.iter().zip(&bits).fold(0, |code, (level, bits)| code << bits | level);
    let values: Vec<f64> = levels.chunks(sizes.len()).map(|cell| transform[code(cell)]).collect();
    let variances = vec![variance / 4f64.powi(total as i32); values.len()];
    Ok(Linear { values, variances, bias: 0.0 })
}

/// The masks of r for each attribute, of which the first has the highest bits; empty ones are left out.
fn masks(attributes: &[usize], bits: &[u32], r: usize) -> Vec<(usize, u32)> {
    let mut left: u32 = bits.iter().sum();
    let mut masks = Vec::with_capacity(bits.len());
    for (&attribute, bits) in attributes.iter().zip(bits) {
        left -= bits;
        let mask = r >> left & ((1 << bits) - 1);
        if mask != 0 {
            masks.push((attribute, mask as u32));
        }
    }
    masks
}

/// x(c) ← 2^-B·Σ_r (-1)^⟨r,c⟩·x(r), by sums and differences of pairs, bit after bit.
fn invert(values: &mut [f64]) {
    let mut half = 1;
    while half < values.len() {
        for block in values.chunks_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (f64::midpoint(*a, *b), f64::midpoint(*a, -*b));
            }
        }
        half *= 2;
    }
}
