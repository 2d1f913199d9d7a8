//! Means and variances, over all that devices may say.

use super::*;
use crate::marginals::table::marginal;
use undertone_privacy::label::LabelSet;
use undertone_privacy::statistic::{Answer, View};

/// Records of two binary attributes and one of three levels, as many as stated, in an uneven order.
fn records() -> Vec<Vec<u32>> {
    [[0, 1, 2], [1, 1, 0], [1, 0, 1]].map(Vec::from).to_vec()
}

/// All answers to one question that are possible.
fn answers(design: &Design, question: u64) -> Vec<Answer> {
    let questionnaire = design.questionnaire();
    let asked = questionnaire.question(question).unwrap();
    let labels = asked.labels(questionnaire.schema()).unwrap();
    (0..1u32 << labels)
        .map(|bits| LabelSet::new((0..labels).filter(|k| bits >> k & 1 == 1).collect()))
        .map(|labels| Answer { question, labels })
        .filter(|answer| questionnaire.ln_likelihood(answer, &records()[0]) > f64::NEG_INFINITY)
        .collect()
}

#[test]
fn the_mean_over_all_answers_to_every_question_is_the_true_table() {
    // Linear in the shares of the questions, given how many were asked each: so for each question the counts are replaced
    // by their means, in units of 10^12 answers.
    for method in METHODS {
        let design = design(method, &[2, 2, 3], 1000, 2);
        let questionnaire = design.questionnaire();
        let mut tally = Tally::new(&design).unwrap();
        for question in 0..questionnaire.questions() {
            let p = questionnaire.weight(question) as f64 / questionnaire.weights() as f64;
            let labels = questionnaire.question(question).unwrap().labels(questionnaire.schema()).unwrap();
            let mut expected = vec![0.0; labels as usize];
            for answer in answers(&design, question) {
                let mean: f64 = records()
                    .iter()
                    .map(|record| questionnaire.ln_likelihood(&answer, record).exp() / p / 3.0)
                    .sum();
                answer.labels.members().iter().for_each(|&k| expected[k as usize] += mean);
            }
            tally.set(question, 1_000_000_000_000, &expected);
        }
        let marginals = Marginals::new(&design, &tally).unwrap();
        for set in [&[0][..], &[2], &[0, 1], &[0, 2], &[1, 2]] {
            let mut truth = vec![0.0; 12];
            for r in records() {
                truth[(r[0] * 6 + r[1] * 3 + r[2]) as usize] += 1.0 / 3.0;
            }
            let mask = set.iter().fold(0, |mask, a| mask | 1 << a);
            let truth = marginal(&truth, &[2, 2, 3], mask);
            let table = marginals.marginal(set).unwrap();
            for (cell, truth) in table.cells.iter().zip(&truth) {
                let found = cell.unbiased.unwrap().value;
                assert!((found - truth).abs() < 1e-9, "{method:?}, {set:?}: {found} for {truth}");
                // With so many answers the best guess is the truth as well.
                assert!((cell.share - truth).abs() < 2e-3, "{method:?}, {set:?}: {} for {truth}", cell.share);
            }
        }
    }
}

#[test]
fn errors_scatter_as_stated_and_are_zero_on_average() {
    let (levels, people, like, times) = ([2, 3, 2, 2], 2000, 0.6, 200u64);
    // Views that share attributes in every way there is
    let view = |attributes: &[usize], weight| View { attributes: attributes.to_vec(), weight };
    let views =
        [view(&[0, 1, 2], 4), view(&[1, 3], 1), view(&[0, 2, 3], 2), view(&[1, 2, 3], 2), view(&[1], 1)];
    let schema = Schema::new(levels.to_vec()).unwrap();
    let overlapping = Design::with_views(schema, epsilon(1.0), 3, views.to_vec()).unwrap();
    let mut designs: Vec<Design> =
        METHODS[..4].iter().map(|&method| design(method, &levels, people as u64, 3)).collect();
    designs.push(overlapping);
    let sets = [&[0, 1, 2][..], &[1, 3], &[1]];
    let truths = sets.map(|set| chain_table(&levels, like, set));
    for design in &designs {
        let mut z = truths.clone().map(|truth| vec![Vec::new(); truth.len()]);
        let mut covered = [0u32; 3];
        for time in 0..times {
            let tally = collect(design, &chain(&levels, like, people, 1000 + time), time);
            let marginals = Marginals::new(design, &tally).unwrap();
            for i in 0..3 {
                let table = marginals.marginal(sets[i]).unwrap();
                for ((cell, truth), z) in table.cells.iter().zip(&truths[i]).zip(&mut z[i]) {
                    let figure = cell.unbiased.unwrap();
                    z.push((figure.value - truth) / figure.standard_error);
                    covered[i] += u32::from((cell.interval.0..=cell.interval.1).contains(truth));
                }
            }
        }
        for i in 0..3 {
            for z in &z[i] {
                let (mean, error) = summary(z);
                assert!(mean.abs() < 5.0 * error, "{design:?}, {:?}: {mean} ± {error}", sets[i]);
                let (square, error) = summary(&z.iter().map(|z| z * z).collect::<Vec<_>>());
                assert!((square - 1.0).abs() < 5.0 * error, "{design:?}, {:?}: {square} ± {error}", sets[i]);
            }
            let n = times as f64 * truths[i].len() as f64;
            // 95 in 100, less 5σ of as many independent ones as there are repetitions
            let least = 0.95 - 5.0 * (0.95 * 0.05 / times as f64).sqrt();
            assert!(f64::from(covered[i]) / n > least, "{design:?}, {:?}: {covered:?}", sets[i]);
        }
    }
}

#[test]
fn disjunctions_of_attributes_alone_tell_only_the_cell_of_zeros() {
    // 1 - P(x_0 or x_1) read as the share of the cell (1, 0) is that of (0, 0). Of the four records one is in each cell
    // but (0, 0), which has none, and (1, 0), which has two.
    let records = [[1, 0], [1, 0], [0, 1], [1, 1]];
    let without_negation = records.iter().filter(|r| r[0] == 0 && r[1] == 0).count();
    let with_negation = records.iter().filter(|r| r[0] == 1 && r[1] == 0).count();
    assert_eq!((without_negation, with_negation), (0, 2));
    let design = design(Method::Chebyshev { error: 0.05 }, &[2, 2], 4, 2);
    let many: Vec<Vec<u32>> = records.iter().cycle().take(200_000).map(|r| r.to_vec()).collect();
    let tally = collect(&design, &many, 5);
    let table = Marginals::new(&design, &tally).unwrap().marginal(&[0, 1]).unwrap();
    let cell = table.cells[2].unbiased.unwrap();
    assert!((cell.value - 0.5).abs() < 5.0 * cell.standard_error && cell.standard_error < 0.02, "{cell:?}");
}

#[test]
fn a_polynomial_that_is_off_widens_the_interval_by_as_much() {
    let design = design(Method::Chebyshev { error: 0.3 }, &[2, 2, 2, 2], 1000, 4);
    let tally = collect(&design, &chain(&[2, 2, 2, 2], 0.5, 100_000, 1), 1);
    let table = Marginals::new(&design, &tally).unwrap().marginal(&[0, 1, 2, 3]).unwrap();
    let truth = chain_table(&[2, 2, 2, 2], 0.5, &[0, 1, 2, 3]);
    for (cell, truth) in table.cells.iter().zip(truth) {
        let figure = cell.unbiased.unwrap();
        assert!(cell.interval.1 >= (figure.value + figure.margin()).clamp(0.0, 1.0));
        assert!((figure.value - truth).abs() < 0.3 + 5.0 * figure.standard_error, "{figure:?} for {truth}");
    }
    assert!(table.cells.iter().any(|cell| {
        let (_, high) = cell.unbiased.unwrap().interval();
        cell.interval.1 > high.clamp(0.0, 1.0) + 0.05
    }));
}
