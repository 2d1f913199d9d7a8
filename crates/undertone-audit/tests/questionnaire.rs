//! The shared suite over questions about whole records, in every family that there is.

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use undertone_audit::{Case, Reports, suite};
use undertone_privacy::label::LabelSet;
use undertone_privacy::statistic::{Answer, Answering, Questionnaire, Schema, View};
use undertone_privacy::{Epsilon, PrivacyError};

const LEVELS: [u32; 3] = [2, 3, 2];

fn families(value: f64) -> Result<Vec<(&'static str, Questionnaire)>, PrivacyError> {
    let (schema, epsilon) = (Schema::new(LEVELS.to_vec())?, Epsilon::new(value)?);
    let view = |attributes: &[usize], weight| View { attributes: attributes.to_vec(), weight };
    let views = vec![view(&[0, 1], 3), view(&[2], 1), view(&[0, 1, 2], 5)];
    Ok(vec![
        ("views", Questionnaire::views(schema.clone(), epsilon, views)?),
        ("tables", Questionnaire::tables(schema.clone(), epsilon, 2, Answering::Best)?),
        ("published tables", Questionnaire::tables(schema.clone(), epsilon, 2, Answering::Published)?),
        ("parities", Questionnaire::parities(schema.clone(), epsilon, 3)?),
        ("terms", Questionnaire::terms(schema, epsilon, 2)?),
    ])
}

/// All records, and every set of labels as an answer to every question.
fn case(name: &str, questionnaire: &Questionnaire) -> Case<Questionnaire> {
    let records = (0..12).map(|i| vec![i / 6, i / 2 % 3, i % 2]).collect();
    let answers = |question: u64| {
        let asked = questionnaire.question(question).unwrap();
        let labels = asked.labels(questionnaire.schema()).unwrap();
        (0..1u32 << labels)
            .map(move |bits| LabelSet::new((0..labels).filter(|k| bits >> k & 1 == 1).collect()))
            .map(move |labels| Answer { question, labels })
    };
    let reports = (0..questionnaire.questions()).flat_map(answers).collect();
    Case::local(name, questionnaire.clone(), records, Reports::All(reports))
}

#[test]
fn every_family_of_questions_obeys_the_laws() {
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    for value in [0.5, 1.0, 3.0] {
        for (name, questionnaire) in families(value).unwrap() {
            let case = case(name, &questionnaire);
            suite::check(&case, 4000, &mut rng).unwrap_or_else(|failure| panic!("ε = {value}: {failure}"));
        }
    }
}
