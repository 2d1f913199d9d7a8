//! One question a person, drawn in public, answered with the whole ε.
//!
//! Question j is drawn with probability w_j/W from integer weights and answered by the label mechanism of its number of
//! answers.
//!
//! **Privacy.** The question does not depend on the record, so that the loss is that of one label mechanism: ε, for
//! every question, drawn honestly or not. Algorithm 6 of *Empirical Risk Minimization in the Non-interactive Local
//! Model of Differential Privacy* averages all D coefficients by a mechanism for one number; read as D answers of ε each, it
//! would lose D·ε.

use super::{Answering, Question, Schema, Selections};
use crate::exact::uniform_below;
use crate::label::{LabelMechanism, LabelRandomizer, LabelSet};
use crate::{DeviceSafe, Epsilon, Guarantee, PrivacyError, Randomizer};
use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;
use rand_core::{CryptoRng, Rng};

/// A table to ask about, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// In rising order
    pub attributes: Vec<usize>,
    /// Out of the sum of all weights
    pub weight: u32,
}

/// A public family of questions about records, and how they are answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Questionnaire {
    schema: Schema,
    epsilon: Epsilon,
    /// One for each number of answers that a question may have, in rising order
    mechanisms: Vec<LabelMechanism>,
    family: Family,
}

#[derive(Clone, Debug, PartialEq)]
enum Family {
    /// Tables over given attributes, and w_1 + … + w_j for each
    Views { views: Vec<Vec<usize>>, ends: Vec<u64> },
    /// Tables over all sets of so many attributes
    Tables(Selections),
    /// All characters of up to so many attributes
    Parities(Selections),
    /// All products of up to so many literals
    Terms(Selections),
}

/// The public question, and what was said to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Which of the questions
    pub question: u64,
    /// The report of the label mechanism
    pub labels: LabelSet,
}

impl Questionnaire {
    /// Tables over these sets of attributes, each asked as often as its weight says.
    pub fn views(schema: Schema, epsilon: Epsilon, views: Vec<View>) -> Result<Self, PrivacyError> {
        let (mut ends, mut end) = (Vec::with_capacity(views.len()), 0u64);
        let mut labels = BTreeSet::new();
        for View { attributes, weight } in &views {
            labels.insert(schema.cells(attributes)?);
            // At most 2^32 views of weights below 2^32
            end += u64::from(*weight);
            ends.push(end);
        }
        if end == 0 {
            return Err(PrivacyError::NoCounts);
        }
        let views = views.into_iter().map(|view| view.attributes).collect();
        Self::new(schema, epsilon, Answering::Best, labels, Family::Views { views, ends })
    }

    /// The tables over all sets of `order` attributes, evenly.
    pub fn tables(
        schema: Schema,
        epsilon: Epsilon,
        order: usize,
        answering: Answering,
    ) -> Result<Self, PrivacyError> {
        let family = Family::Tables(Selections::new(vec![1; schema.attributes()], order..=order)?);
        let labels = products(&schema, order)?;
        Self::new(schema, epsilon, answering, labels, family)
    }

    /// All characters of 1 to `order` attributes, evenly: an attribute of L levels has 2^⌈log₂ L⌉ - 1 masks.
    pub fn parities(schema: Schema, epsilon: Epsilon, order: usize) -> Result<Self, PrivacyError> {
        let letters = schema.levels().iter().map(|&levels| masks(levels)).collect();
        let family = Family::Parities(Selections::new(letters, 1..=order)?);
        Self::new(schema, epsilon, Answering::Best, [2].into(), family)
    }

    /// All products of 1 to `order` literals of different attributes, evenly: an attribute has as many literals as levels.
    pub fn terms(schema: Schema, epsilon: Epsilon, order: usize) -> Result<Self, PrivacyError> {
        let family = Family::Terms(Selections::new(schema.levels().to_vec(), 1..=order)?);
        Self::new(schema, epsilon, Answering::Best, [2].into(), family)
    }

    fn new(
        schema: Schema,
        epsilon: Epsilon,
        answering: Answering,
        labels: BTreeSet<u32>,
        family: Family,
    ) -> Result<Self, PrivacyError> {
        let mechanisms = labels
            .into_iter()
            .map(|labels| answering.mechanism(labels, epsilon))
            .collect::<Result<_, _>>()?;
        Ok(Self { schema, epsilon, mechanisms, family })
    }

    /// The attributes.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The promise.
    pub fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    /// How many questions there are.
    pub fn questions(&self) -> u64 {
        match &self.family {
            Family::Views { views, .. } => views.len() as u64,
            Family::Tables(all) | Family::Parities(all) | Family::Terms(all) => all.count(),
        }
    }

    /// The tables that are asked about, with their weights, if they were given.
    pub fn asked_views(&self) -> Vec<View> {
        let Family::Views { views, .. } = &self.family else { return Vec::new() };
        let weight = |number: usize| self.weight(number as u64) as u32;
        (0..)
            .zip(views)
            .map(|(number, view)| View { attributes: view.clone(), weight: weight(number) })
            .collect()
    }

    /// The answers of the question that has the most.
    pub fn most_labels(&self) -> u32 {
        self.mechanisms.iter().map(LabelRandomizer::labels).max().unwrap_or_default()
    }

    /// The question of this number.
    pub fn question(&self, number: u64) -> Result<Question, PrivacyError> {
        let unknown = PrivacyError::UnknownQuestion { question: number, questions: self.questions() };
        let found = match &self.family {
            Family::Views { views, .. } => {
                usize::try_from(number).ok().and_then(|i| views.get(i)).cloned().map(Question::Cell)
            }
            Family::Tables(all) => {
                all.get(number).map(|set| Question::Cell(set.into_iter().map(|(a, _)| a).collect()))
            }
            // Masks begin with one: the empty one asks nothing.
            Family::Parities(all) => all
                .get(number)
                .map(|set| Question::Parity(set.into_iter().map(|(a, letter)| (a, letter + 1)).collect())),
            Family::Terms(all) => all.get(number).map(Question::Term),
        };
        found.ok_or(unknown)
    }

    /// The number of a question, if it is among these.
    pub fn number(&self, question: &Question) -> Option<u64> {
        match (&self.family, question) {
            (Family::Views { views, .. }, Question::Cell(view)) => {
                views.iter().position(|v| v == view).map(|i| i as u64)
            }
            (Family::Tables(all), Question::Cell(set)) => {
                all.number(&set.iter().map(|&a| (a, 0)).collect::<Vec<_>>())
            }
            (Family::Parities(all), Question::Parity(masks)) => {
                let letters: Option<Vec<_>> =
                    masks.iter().map(|&(a, mask)| Some((a, mask.checked_sub(1)?))).collect();
                all.number(&letters?)
            }
            (Family::Terms(all), Question::Term(literals)) => all.number(literals),
            _ => None,
        }
    }

    /// w_j, how often a question is asked out of [`weights`](Self::weights); zero for one that is none.
    pub fn weight(&self, number: u64) -> u64 {
        match &self.family {
            Family::Views { ends, .. } => {
                let end = |i: usize| ends.get(i).copied().unwrap_or(0);
                let before = (number as usize).checked_sub(1).map_or(0, end);
                end(number as usize).saturating_sub(before)
            }
            _ => u64::from(number < self.questions()),
        }
    }

    /// W, the sum of the weights.
    pub fn weights(&self) -> u64 {
        match &self.family {
            Family::Views { ends, .. } => ends[ends.len() - 1],
            _ => self.questions(),
        }
    }

    /// The mechanism that answers one of the questions.
    pub fn mechanism(&self, question: &Question) -> Result<&LabelMechanism, PrivacyError> {
        let labels = question.labels(&self.schema)?;
        let found = self.mechanisms.binary_search_by_key(&labels, LabelRandomizer::labels);
        found.map(|at| &self.mechanisms[at]).map_err(|_| PrivacyError::ProductDomain {
            cells: labels.into(),
            most: self.mechanisms[self.mechanisms.len() - 1].labels(),
        })
    }

    /// A person's question, for whoever assigns them: it needs no secrecy.
    pub fn draw(&self, rng: &mut impl Rng) -> u64 {
        match &self.family {
            Family::Views { ends, .. } => {
                let word = uniform_below(self.weights(), rng);
                ends.partition_point(|&end| end <= word) as u64
            }
            _ => uniform_below(self.questions(), rng),
        }
    }

    /// The answer of `record` to the question that was drawn.
    pub fn answer(
        &self,
        question: u64,
        record: &[u32],
        rng: &mut impl CryptoRng,
    ) -> Result<Answer, PrivacyError> {
        self.schema.check_record(record)?;
        let asked = self.question(question)?;
        let labels = self.mechanism(&asked)?.randomize(&asked.of(record, &self.schema), rng)?;
        Ok(Answer { question, labels })
    }
}

/// The masks of an attribute, without the empty one: as many bits as it takes to write its greatest level.
fn masks(levels: u32) -> u32 {
    u32::MAX >> (levels - 1).leading_zeros()
}

/// The numbers of cells of all tables over `order` attributes.
fn products(schema: &Schema, order: usize) -> Result<BTreeSet<u32>, PrivacyError> {
    let mut products = vec![BTreeSet::from([1u32]); 1];
    products.resize(order + 1, BTreeSet::new());
    for &levels in schema.levels() {
        for size in (1..=order).rev() {
            for fewer in products[size - 1].clone() {
                let cells = fewer.checked_mul(levels).ok_or(PrivacyError::ProductDomain {
                    cells: f64::from(fewer) * f64::from(levels),
                    most: u32::MAX,
                })?;
                products[size].insert(cells);
            }
        }
    }
    Ok(products.swap_remove(order))
}

impl Randomizer for Questionnaire {
    type Input = Vec<u32>;
    type Report = Answer;

    fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    fn randomize(&self, record: &Vec<u32>, rng: &mut impl CryptoRng) -> Result<Answer, PrivacyError> {
        self.answer(self.draw(rng), record, rng)
    }

    fn ln_likelihood(&self, report: &Answer, record: &Vec<u32>) -> f64 {
        let Ok(question) = self.question(report.question) else {
            return f64::NEG_INFINITY;
        };
        let Ok(mechanism) = self.mechanism(&question) else {
            return f64::NEG_INFINITY;
        };
        let truth = question.of(record, &self.schema);
        libm::log(self.weight(report.question) as f64 / self.weights() as f64)
            + mechanism.ln_likelihood(&report.labels, &truth)
    }
}

impl DeviceSafe for Questionnaire {}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    fn schema() -> Schema {
        Schema::new([2, 3, 2].into()).unwrap()
    }

    fn view(attributes: &[usize], weight: u32) -> View {
        View { attributes: attributes.to_vec(), weight }
    }

    fn families(value: f64) -> Vec<Questionnaire> {
        let epsilon = Epsilon::new(value).unwrap();
        let views = [view(&[0, 1], 3), view(&[1, 2], 0), view(&[0, 1, 2], 5)];
        Vec::from([
            Questionnaire::views(schema(), epsilon, views.into()).unwrap(),
            Questionnaire::tables(schema(), epsilon, 2, Answering::Best).unwrap(),
            Questionnaire::tables(schema(), epsilon, 2, Answering::Published).unwrap(),
            Questionnaire::parities(schema(), epsilon, 2).unwrap(),
            Questionnaire::terms(schema(), epsilon, 3).unwrap(),
        ])
    }

    fn records() -> impl Iterator<Item = Vec<u32>> {
        (0..12).map(|i| Vec::from([i / 6, i / 2 % 3, i % 2]))
    }

    /// Every answer there may be: all sets of labels for each question.
    fn answers(questionnaire: &Questionnaire) -> Vec<Answer> {
        let mut all = Vec::new();
        for question in 0..questionnaire.questions() {
            let labels = questionnaire.question(question).unwrap().labels(&schema()).unwrap();
            for bits in 0..1u32 << labels {
                let members = (0..labels).filter(|k| bits >> k & 1 == 1).collect();
                all.push(Answer { question, labels: LabelSet::new(members) });
            }
        }
        all
    }

    #[test]
    fn answers_have_probabilities_that_sum_to_one_and_never_tell_more_than_epsilon() {
        for value in [0.3, 1.0, 3.0] {
            for questionnaire in families(value) {
                let records: Vec<_> = records().collect();
                let mut sums = [0.0; 12];
                for answer in answers(&questionnaire) {
                    let ln: Vec<f64> =
                        records.iter().map(|r| questionnaire.ln_likelihood(&answer, r)).collect();
                    ln.iter().zip(&mut sums).for_each(|(ln, sum)| *sum += libm::exp(*ln));
                    let most = ln.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    let least = ln.iter().copied().fold(f64::INFINITY, f64::min);
                    let impossible = most == f64::NEG_INFINITY;
                    assert!(impossible || most - least <= value * (1.0 + 1e-12), "{answer:?}");
                }
                assert!(sums.iter().all(|sum| (sum - 1.0).abs() < 1e-12), "{sums:?}");
            }
        }
    }

    #[test]
    fn all_coefficients_at_the_whole_epsilon_would_lose_epsilon_for_each() {
        // Two records that differ everywhere, asked all five products of up to two literals "different from 0" of
        // attributes 0 to 2 and 0·1, 0·2: the one answers no to all, the other yes.
        let epsilon = Epsilon::new(1.0).unwrap();
        let terms = Questionnaire::terms(Schema::new([2; 3].into()).unwrap(), epsilon, 2).unwrap();
        let asked = [&[(0, 0)][..], &[(1, 0)], &[(2, 0)], &[(0, 0), (1, 0)], &[(0, 0), (2, 0)]];
        let loss: f64 = asked
            .iter()
            .map(|term| {
                let question = terms.number(&Question::Term(term.to_vec())).unwrap();
                let yes = Answer { question, labels: LabelSet::new([1].into()) };
                terms.ln_likelihood(&yes, &Vec::from([1; 3])) - terms.ln_likelihood(&yes, &Vec::from([0; 3]))
            })
            .sum();
        assert!((loss - 5.0).abs() < 1e-9, "{loss}");
    }

    #[test]
    fn answers_are_drawn_as_often_as_their_likelihood_says() {
        let record = Vec::from([1, 2, 0]);
        let draws = 60_000;
        for (seed, questionnaire) in (0..).zip(families(1.0)) {
            let all = answers(&questionnaire);
            let mut counts = alloc::vec![0u32; all.len()];
            let mut rng = ChaCha12Rng::seed_from_u64(seed);
            for _ in 0..draws {
                let answer = questionnaire.randomize(&record, &mut rng).unwrap();
                // Questions in order, then the sets as numbers
                let start = all.partition_point(|a| a.question < answer.question);
                let bits = answer.labels.members().iter().fold(0, |bits, &k| bits | 1usize << k);
                counts[start + bits] += 1;
            }
            for (answer, count) in all.iter().zip(counts) {
                let p = libm::exp(questionnaire.ln_likelihood(answer, &record));
                let mean = f64::from(draws) * p;
                let sigma = libm::sqrt(mean * (1.0 - p)).max(1.0);
                assert!((f64::from(count) - mean).abs() < 5.5 * sigma, "{answer:?}: {count} for {mean}");
            }
        }
    }

    #[test]
    fn questions_and_their_numbers_are_one_to_one() {
        for questionnaire in families(1.0) {
            for number in 0..questionnaire.questions() {
                let question = questionnaire.question(number).unwrap();
                assert_eq!(questionnaire.number(&question), Some(number), "{question:?}");
            }
            let beyond = questionnaire.questions();
            let refused = PrivacyError::UnknownQuestion { question: beyond, questions: beyond };
            assert_eq!(questionnaire.question(beyond), Err(refused));
        }
    }

    #[test]
    fn attributes_that_are_not_there_and_tables_without_end_are_refused() {
        let epsilon = Epsilon::new(1.0).unwrap();
        let order = PrivacyError::Order { order: 4, attributes: 3 };
        assert_eq!(Questionnaire::parities(schema(), epsilon, 4), Err(order.clone()));
        assert_eq!(Questionnaire::terms(schema(), epsilon, 4), Err(order));
        let unknown = PrivacyError::UnknownAttribute { attribute: 3, attributes: 3 };
        let views = Vec::from([view(&[0, 3], 1)]);
        assert_eq!(Questionnaire::views(schema(), epsilon, views), Err(unknown));
        let large = Schema::new([2, 65_536, 65_536].into()).unwrap();
        assert!(matches!(
            Questionnaire::tables(large, epsilon, 2, Answering::Best),
            Err(PrivacyError::ProductDomain { .. })
        ));
        let nobody = Questionnaire::views(schema(), epsilon, Vec::from([view(&[0], 0)]));
        assert_eq!(nobody, Err(PrivacyError::NoCounts));
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        assert!(families(1.0)[0].answer(0, &[0, 3, 0], &mut rng).is_err() && rng.get_word_pos() == 0);
    }
}
