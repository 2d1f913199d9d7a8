//! Answers as words of 64 bits, and back. There is one spelling for each.

use crate::label::{LabelMechanism, LabelRandomizer, LabelSet};
use crate::vector::CodebookReport;
use alloc::vec;
use alloc::vec::Vec;

/// The words of a codeword: two of its seed, and its place.
pub(super) const CODEWORD: usize = 3;

/// The words of a set of labels: label k is bit k mod 64 of word ⌊k/64⌋.
pub(super) fn of_labels(labels: u32) -> usize {
    labels.div_ceil(64) as usize
}

pub(super) fn from_labels(set: &LabelSet, labels: u32) -> Vec<i64> {
    let mut words = vec![0u64; of_labels(labels)];
    for &label in set.members() {
        words[label as usize / 64] |= 1 << (label % 64);
    }
    words.into_iter().map(u64::cast_signed).collect()
}

pub(super) fn to_labels(words: &[i64]) -> LabelSet {
    let labels = (0u32..).step_by(64).zip(words).flat_map(|(first, &word)| {
        (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| first + bit)
    });
    LabelSet::new(labels.collect())
}

/// Whether these are labels that there are, as many as the mechanism says.
pub(super) fn are_labels(words: &[i64], mechanism: &LabelMechanism) -> bool {
    let (labels, set) = (mechanism.labels(), to_labels(words));
    set.members().iter().all(|&label| label < labels)
        && mechanism.set_size().is_none_or(|size| set.members().len() == size as usize)
}

pub(super) fn from_codeword(word: CodebookReport) -> Vec<i64> {
    let CodebookReport { seed, index } = word;
    Vec::from([((seed >> 64) as u64).cast_signed(), (seed as u64).cast_signed(), i64::from(index)])
}

pub(super) fn codeword(words: &[i64]) -> Option<CodebookReport> {
    let &[high, low, index] = words else { return None };
    let seed = u128::from(high.cast_unsigned()) << 64 | u128::from(low.cast_unsigned());
    Some(CodebookReport { seed, index: u16::try_from(index).ok()? })
}
