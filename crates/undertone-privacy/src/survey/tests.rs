use super::*;
use crate::number::Bounds;
use crate::statistic::{Answering, ParameterGrid, PointLoss, Response, Schema};
use crate::vector::Ball;
use crate::{Epsilon, Mu};
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;

const VALUE: f64 = 1.0;

fn epsilon() -> Epsilon {
    Epsilon::new(VALUE).unwrap()
}

fn losses(kind: AnsweringKind) -> Survey {
    let grid = ParameterGrid::new(&[-1.0, -1.0], &[1.0, 1.0], 2).unwrap();
    let bounds = Bounds::new(0.0, 1.0).unwrap();
    let at = LossAt::new(PointLoss::Logistic, grid, 1.0).unwrap();
    Survey::Losses {
        allocation: at.allocation().unwrap(),
        at,
        answering: NumberAnswering::new(kind, bounds, epsilon()).unwrap(),
    }
}

fn cosines() -> Survey {
    let bounds = Bounds::new(-1.0, 1.0).unwrap();
    Survey::Cosines {
        basis: CosineBasis::new(&[bounds, bounds], 2).unwrap(),
        allocation: Allocation::new(&[1, 2, 0]).unwrap(),
        answering: NumberAnswering::new(AnsweringKind::OneBit, bounds, epsilon()).unwrap(),
    }
}

/// One of each family, with every way of answering numbers.
fn surveys() -> Vec<Survey> {
    let schema = || Schema::new([2, 70].into()).unwrap();
    let moments = RecordMoments::new(2, Response::Sign).unwrap();
    let copies = GaussianCopies::gdp(Ball::new(2, 1.0).unwrap(), 2, Mu::new(VALUE).unwrap()).unwrap();
    let mut all: Vec<Survey> = AnsweringKind::ALL.map(losses).into();
    all.extend([
        cosines(),
        Survey::Categories(Questionnaire::tables(schema(), epsilon(), 1, Answering::Best).unwrap()),
        Survey::Categories(Questionnaire::terms(schema(), epsilon(), 2).unwrap()),
        Survey::Moments(MomentRelease::new(moments, epsilon(), 0.3).unwrap()),
        Survey::Copies { moments, copies },
    ]);
    all
}

fn record(levels: [u32; 2], x: [f64; 2], y: f64) -> SurveyRecord {
    SurveyRecord { levels: levels.into(), x: x.into(), y }
}

fn records() -> [SurveyRecord; 4] {
    [
        record([0, 69], [0.6, 0.8], 1.0),
        record([1, 0], [-1.0, 0.0], -1.0),
        record([0, 3], [0.0, 0.1], 1.0),
        record([1, 64], [f64::NAN, 0.1], 0.5),
    ]
}

#[test]
fn whatever_is_drawn_is_plausible_has_the_words_of_its_question_and_a_likelihood() {
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    for survey in surveys() {
        for record in records() {
            for _ in 0..200 {
                let report = survey.randomize(&record, &mut rng).unwrap();
                assert_eq!(report.words.len(), survey.words(report.question).unwrap());
                assert!(report.words.len() <= survey.most_words().unwrap());
                assert_eq!(survey.check(&report), Ok(()), "{report:?}");
                assert!(survey.ln_likelihood(&report, &record).is_finite(), "{report:?}");
            }
        }
    }
}

#[test]
fn no_answer_of_a_pure_promise_tells_two_records_apart_by_more_than_epsilon() {
    let mut rng = ChaCha12Rng::seed_from_u64(2);
    for survey in surveys().into_iter().filter(|survey| matches!(survey.guarantee(), Guarantee::Pure(_))) {
        for round in 0..400 {
            let report = survey.randomize(&records()[round % 4], &mut rng).unwrap();
            let said = records().map(|record| survey.ln_likelihood(&report, &record));
            let least = said.iter().copied().fold(f64::INFINITY, f64::min);
            let most = said.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert!(most - least <= VALUE * (1.0 + 1e-12), "{report:?}: {said:?}");
        }
    }
}

#[test]
fn the_likelihood_of_all_bits_of_all_questions_sums_to_one() {
    for survey in [losses(AnsweringKind::OneBit), cosines()] {
        for record in records() {
            let each = (0..survey.questions()).flat_map(|question| [0, 1].map(|bit| (question, bit)));
            let likelihood = |(question, bit)| {
                libm::exp(survey.ln_likelihood(&SurveyReport { question, words: [bit].into() }, &record))
            };
            let total: f64 = each.map(likelihood).sum();
            assert!((total - 1.0).abs() < 1e-12, "{total}");
        }
    }
}

#[test]
fn questions_are_drawn_as_often_as_their_probability_says() {
    let (mut rng, n) = (ChaCha12Rng::seed_from_u64(3), 20_000u32);
    for survey in surveys() {
        let questions = survey.questions() as usize;
        let mut seen = alloc::vec![0u32; questions];
        (0..n).for_each(|_| seen[survey.draw(&mut rng) as usize] += 1);
        let probabilities: Vec<f64> =
            (0..questions as u64).map(|question| survey.probability(question)).collect();
        assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        for (count, p) in seen.into_iter().zip(probabilities) {
            let sigma = libm::sqrt(f64::from(n) * p * (1.0 - p));
            // Of some hundreds of questions
            assert!((f64::from(count) - f64::from(n) * p).abs() <= 5.5 * sigma.max(1.0), "{count} at {p}");
        }
    }
}

#[test]
fn what_no_honest_device_says_is_refused() {
    for survey in surveys() {
        let (question, words) = (survey.questions(), Vec::new());
        let unknown = PrivacyError::UnknownQuestion { question, questions: question };
        assert_eq!(survey.check(&SurveyReport { question, words }), Err(unknown));
        let length = survey.words(0).unwrap();
        let short = SurveyReport { question: 0, words: alloc::vec![0; length - 1] };
        assert_eq!(
            survey.check(&short),
            Err(PrivacyError::WrongLength { length: length - 1, dimension: length })
        );
        let wild = SurveyReport { question: 0, words: alloc::vec![i64::MAX; length] };
        assert_eq!(survey.check(&wild), Err(PrivacyError::Implausible), "{survey:?}");
        assert!(survey.ln_likelihood(&wild, &records()[0]).is_infinite());
    }
    // A record of another schema says nothing.
    let survey = surveys().swap_remove(6);
    let yes = SurveyReport { question: 0, words: [1].into() };
    assert!(survey.ln_likelihood(&yes, &SurveyRecord::default()).is_infinite());
    // A question that nobody is asked
    let never = SurveyReport { question: 2, words: [0].into() };
    assert_eq!(cosines().check(&never), Err(PrivacyError::Implausible));
}

#[test]
fn numbers_are_decoded_without_bias_however_they_are_told() {
    let (mut rng, n) = (ChaCha12Rng::seed_from_u64(4), 40_000u32);
    let record = record([0, 0], [0.6, -0.3], 1.0);
    for kind in AnsweringKind::ALL {
        let survey = losses(kind);
        let Survey::Losses { at, answering, .. } = &survey else { unreachable!("it is made above") };
        let truth = at.share(7, &record.x, record.y).unwrap();
        let mut sum = 0.0;
        for _ in 0..n {
            let report = survey.answer(7, &record, &mut rng).unwrap();
            sum += survey.number_of(&report).unwrap() / f64::from(n);
        }
        let bound = 5.0 * libm::sqrt(answering.worst_variance() / f64::from(n));
        assert!((sum - truth).abs() < bound, "{kind}: {sum} for {truth} ± {bound}");
    }
}

#[test]
fn words_read_back_as_the_labels_and_the_codeword_that_they_were() {
    let mut rng = ChaCha12Rng::seed_from_u64(5);
    for survey in surveys() {
        let report = survey.randomize(&records()[0], &mut rng).unwrap();
        match &survey {
            Survey::Categories(questionnaire) => {
                let answer = survey.labels_of(&report).unwrap();
                let labels = questionnaire.question(report.question).unwrap();
                let labels = labels.labels(questionnaire.schema()).unwrap();
                assert_eq!(words::from_labels(&answer.labels, labels), report.words);
                assert!(survey.number_of(&report).is_err() && survey.moment_of(&report).is_err());
            }
            Survey::Moments(_) => {
                let told = survey.moment_of(&report).unwrap();
                assert_eq!(words::from_codeword(told.word), report.words);
                assert!(survey.labels_of(&report).is_err() && survey.number_of(&report).is_err());
            }
            _ => assert!(survey.labels_of(&report).is_err() && survey.moment_of(&report).is_err()),
        }
    }
}
