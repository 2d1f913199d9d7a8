//! A text becomes the words and pairs of neighbouring words that it holds, hashed into buckets.
//!
//! With tf the signed number of times that a bucket is hit, where a pair counts half, n texts fitted and df of them
//! hitting it,
//!
//! > x = tf · idf / |tf · idf|₂, where idf = ln((1 + n) / (1 + df)) + 1
//!
//! so that each text that says anything has length one. A word is a run of letters and digits, in lower case.

use super::hash;
use serde::{Deserialize, Serialize};

/// Pairs are rarer than words, so that their idf alone would let them drown the words they are made of.
const PAIR: f32 = 0.5;

/// A fitted column of texts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Text {
    /// n, the texts that the fit saw
    texts: u64,
    /// df, how many of them hit each bucket
    hits: Vec<u64>,
}

impl Text {
    /// Nothing fitted yet.
    pub(super) fn new(buckets: u32) -> Self {
        Self { texts: 0, hits: vec![0; buckets as usize] }
    }

    pub(super) fn observe(&mut self, cell: &str, scratch: &mut Vec<(u32, f32)>) {
        self.texts += 1;
        term_frequencies(cell, self.hits.len() as u32, scratch);
        for &(bucket, _) in scratch.iter() {
            self.hits[bucket as usize] += 1;
        }
    }

    pub(super) fn width(&self) -> usize {
        self.hits.len()
    }

    /// Appends the buckets of a text, counted from `first`.
    pub(super) fn write(
        &self,
        cell: &str,
        first: u32,
        scratch: &mut Vec<(u32, f32)>,
        sparse: &mut Vec<(u32, f32)>,
    ) {
        term_frequencies(cell, self.hits.len() as u32, scratch);
        for (bucket, x) in scratch.iter_mut() {
            *x *= self.idf(*bucket);
        }
        let norm = scratch.iter().map(|(_, x)| x * x).sum::<f32>().sqrt();
        let hit = scratch.iter().filter(|&&(_, x)| x != 0.0);
        sparse.extend(hit.map(|&(bucket, x)| (first + bucket, x / norm)));
    }

    fn idf(&self, bucket: u32) -> f32 {
        let (n, df) = (self.texts as f64, self.hits[bucket as usize] as f64);
        (((1.0 + n) / (1.0 + df)).ln() + 1.0) as f32
    }

    pub(super) fn names(&self, column: &str) -> Vec<String> {
        (0..self.hits.len()).map(|bucket| format!("{column} #{bucket}")).collect()
    }

    pub(super) fn problem(&self) -> Option<&'static str> {
        if self.hits.is_empty() || u32::try_from(self.hits.len()).is_err() {
            return Some("at least one bucket is needed, and at most 2^32 - 1");
        }
        let sound = self.hits.iter().all(|&df| df <= self.texts);
        (!sound).then_some("a bucket is hit by more texts than there are")
    }
}

/// (bucket, tf) of each bucket that the text hits, in order of the buckets; tf is zero where signs cancel.
fn term_frequencies(cell: &str, buckets: u32, terms: &mut Vec<(u32, f32)>) {
    terms.clear();
    each_term(cell, |state, weight| {
        terms.push((hash::bucket(state, buckets) as u32, weight * hash::sign(state)));
    });
    terms.sort_unstable_by_key(|&(bucket, _)| bucket);
    terms.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
}

/// The hash of each word, and of each word with the one before it and a space between; how much it counts.
fn each_term(cell: &str, mut visit: impl FnMut(u64, f32)) {
    let mut before = None;
    for word in cell.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let alone = hash::lower_case(None, word);
        visit(alone, 1.0);
        if before.is_some() {
            visit(hash::lower_case(before, word), PAIR);
        }
        before = Some(hash::step(alone, b' '));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUCKETS: u32 = 1 << 14;

    fn fit(cells: &[&str]) -> Text {
        let mut text = Text::new(BUCKETS);
        for cell in cells {
            text.observe(cell, &mut Vec::new());
        }
        text
    }

    fn encode(text: &Text, cell: &str) -> Vec<(u32, f32)> {
        let mut sparse = Vec::new();
        text.write(cell, 0, &mut Vec::new(), &mut sparse);
        sparse
    }

    fn value(features: &[(u32, f32)], term: &str) -> f32 {
        let place = hash::bucket(hash::of(term), BUCKETS) as u32;
        let signed = features.iter().find(|&&(bucket, _)| bucket == place).map_or(0.0, |&(_, x)| x);
        signed * hash::sign(hash::of(term))
    }

    #[test]
    fn a_text_is_its_words_and_its_neighbours_weighted_by_how_rare_they_are() {
        let text = fit(&["Good morning", "good night, night", ""]);
        let features = encode(&text, "good NIGHT night");
        // n = 3; `good` was in two texts, the rest in one: idf = ln(4/3) + 1 and ln(4/2) + 1
        let (common, rare) = ((4.0_f32 / 3.0).ln() + 1.0, 2.0_f32.ln() + 1.0);
        let expected = [
            ("good", common),
            ("night", 2.0 * rare),
            ("good night", rare / 2.0),
            ("night night", rare / 2.0),
        ];
        let norm = expected.iter().map(|(_, x)| x * x).sum::<f32>().sqrt();
        assert_eq!(features.len(), 4);
        for (term, x) in expected {
            assert!((value(&features, term) - x / norm).abs() < 1e-6, "{term}");
        }
    }

    #[test]
    fn a_text_has_length_one_and_a_text_without_words_has_none() {
        let text = fit(&["one two three", "four"]);
        let length = |cell| encode(&text, cell).iter().map(|(_, x)| x * x).sum::<f32>();
        assert!((length("four words never heard") - 1.0).abs() < 1e-6);
        assert!(encode(&text, "?! ...").is_empty());
    }

    #[test]
    fn neighbours_are_neighbours_in_order() {
        let mut terms = Vec::new();
        each_term("It's 5 o'clock", |state, weight| terms.push((state, weight)));
        let expected = ["it", "s", "it s", "5", "s 5", "o", "5 o", "clock", "o clock"];
        let weight = |term: &str| if term.contains(' ') { PAIR } else { 1.0 };
        assert_eq!(terms, expected.map(|term| (hash::of(term), weight(term))));
    }

    #[test]
    fn terms_of_opposite_sign_in_one_bucket_cancel() {
        let sign = |term: &str| hash::sign(hash::of(term));
        let plus = ["a", "b", "c", "d", "e", "f"].into_iter().find(|word| sign(word) > 0.0).unwrap();
        let minus = ["a", "b", "c", "d", "e", "f"].into_iter().find(|word| sign(word) < 0.0).unwrap();
        let mut terms = Vec::new();
        term_frequencies(&format!("{plus} {minus}"), 1, &mut terms);
        assert_eq!(terms, [(0, PAIR * sign(&format!("{plus} {minus}")))]);
    }
}
