//! What cannot be designed, counted or answered.

use super::*;
use crate::LearnError;
use undertone_privacy::PrivacyError;

fn refusal(method: Method, levels: Vec<u32>, order: usize) -> PrivacyError {
    match Design::new(method, Schema::new(levels).unwrap(), 1000, epsilon(1.0), order) {
        Err(LearnError::Privacy(problem)) => problem,
        other => panic!("{other:?}"),
    }
}

#[test]
fn more_attributes_at_a_time_than_there_are_or_than_tables_can_have_are_refused() {
    for method in METHODS {
        assert_eq!(refusal(method, vec![2; 3], 4), PrivacyError::Order { order: 4, attributes: 3 });
        assert_eq!(refusal(method, vec![2; 3], 0), PrivacyError::Order { order: 0, attributes: 3 });
        let most = if method == Method::Views { 8 } else { 12 };
        assert_eq!(refusal(method, vec![2; 20], 13), PrivacyError::Order { order: 13, attributes: most });
    }
}

#[test]
fn tables_without_end_are_refused() {
    let large = vec![100_000, 100_000, 2];
    assert!(matches!(
        refusal(Method::Direct(Answering::Best), large.clone(), 2),
        PrivacyError::ProductDomain { cells, .. } if cells > 9e9
    ));
    assert!(matches!(refusal(Method::Views, large.clone(), 2), PrivacyError::ProductDomain { .. }));
    // Pairs that fit are covered where sets of three are too large.
    let pairs = design(Method::Views, &[200, 200, 200], 1000, 3);
    assert!((0..pairs.questionnaire().questions()).all(|question| {
        let asked = pairs.questionnaire().question(question).unwrap();
        asked.labels(pairs.questionnaire().schema()).unwrap() <= 40_000
    }));
    let terms = design(Method::Chebyshev { error: 0.05 }, &large, 10, 2);
    assert!(matches!(Tally::new(&terms), Err(LearnError::Privacy(PrivacyError::TooManyQuestions { .. }))));
}

#[test]
fn a_table_over_unknown_attributes_or_too_many_of_them_is_refused() {
    for method in METHODS {
        let design = design(method, &[2, 3, 2], 3000, 2);
        let tally = collect(&design, &chain(&[2, 3, 2], 0.5, 3000, 1), 1);
        let marginals = Marginals::new(&design, &tally).unwrap();
        let problem = |set: &[usize]| match marginals.marginal(set) {
            Err(LearnError::Privacy(problem)) => problem,
            other => panic!("{other:?}"),
        };
        assert_eq!(problem(&[0, 3]), PrivacyError::UnknownAttribute { attribute: 3, attributes: 3 });
        assert_eq!(problem(&[1, 0]), PrivacyError::AttributeOrder { first: 1, second: 0 });
        assert_eq!(problem(&[0, 1, 2]), PrivacyError::Order { order: 3, attributes: 2 });
        assert_eq!(problem(&[]), PrivacyError::Order { order: 0, attributes: 3 });
    }
}

#[test]
fn what_nobody_was_asked_has_no_answer() {
    for method in METHODS {
        let design = design(method, &[2, 3, 2], 3000, 2);
        let mut tally = Tally::new(&design).unwrap();
        assert!(matches!(Marginals::new(&design, &tally), Err(LearnError::NoReports)));
        let answer =
            design.questionnaire().answer(0, &[0, 0, 0], &mut ChaCha12Rng::seed_from_u64(1)).unwrap();
        tally.observe(0, answer.labels.members()).unwrap();
        let marginals = Marginals::new(&design, &tally).unwrap();
        let answered = [&[0][..], &[1], &[2], &[0, 1], &[1, 2]].map(|set| marginals.marginal(set));
        assert!(
            answered.iter().any(|answer| matches!(answer, Err(LearnError::UnansweredTable { .. }))),
            "{method:?}"
        );
    }
}

#[test]
fn answers_that_no_device_gives_are_refused_and_not_counted() {
    let design = design(Method::Direct(Answering::Best), &[3, 4], 100, 2);
    let mut tally = Tally::new(&design).unwrap();
    for (question, members, word) in [
        (1, vec![0], "question 1"),
        (0, vec![], "names"),
        (0, vec![12, 13, 14], "label"),
        (0, vec![2, 1, 0], "rising"),
    ] {
        let problem = tally.observe(question, &members).unwrap_err().to_string();
        assert!(problem.contains(word), "{problem}");
    }
    assert_eq!(tally.reports(), 0);
    let other = super::design(Method::Hadamard, &[3, 4], 100, 2);
    tally.observe(0, &[0, 1, 2]).unwrap();
    assert!(matches!(Marginals::new(&other, &tally), Err(LearnError::Snapshot)));
}
