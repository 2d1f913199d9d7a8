//! What public features tell, in one round and in two.

use super::data::Data;
use super::methods::StageOptions;
use super::staged::run;
use rand_chacha::ChaCha12Rng;
use undertone_learn::represented::{Represented, Seen};
use undertone_learn::stages::{Answering, First, MultiStage, Trainer};
use undertone_learn::{Examples, LearnError, Predictor, Source};
use undertone_privacy::Epsilon;
use undertone_privacy::label::LabelKind;

/// Everybody who is asked, as their features show them.
fn seen(data: &Data) -> Result<&Seen, LearnError> {
    data.seen()?.map_err(|why| LearnError::Source(format!("no representation: {why}").into()))
}

/// What public features tell.
pub(super) fn represented(people: &[Examples], data: &Data) -> Result<Predictor, LearnError> {
    let people = people.first().ok_or(LearnError::NoReports)?;
    Ok(Predictor::Represented(Box::new(seen(data)?.model(people, data.classes, &())?)))
}

/// What everybody's public features tell, and the reports of some.
struct Represent<'a> {
    data: &'a Data,
    seen: &'a Seen,
}

impl Trainer for Represent<'_> {
    type Model = Represented;

    /// It has no place to start from: its model is solved for.
    fn train(
        &self,
        people: &[u64],
        examples: &mut dyn Source,
        _: Option<&Represented>,
    ) -> Result<Represented, LearnError> {
        let mut told = Examples::default();
        examples.pass(&mut |block| {
            block.unbiased.iter().for_each(|a| told.unbiased.push(a.base, a.entries.iter().copied()));
            block.likelihood.iter().for_each(|p| told.likelihood.push(p.base, p.entries.iter().copied()));
            Ok(())
        })?;
        let mut place = vec![None; self.data.rows.len()];
        for (at, &person) in people.iter().enumerate() {
            place[person as usize] = Some(at);
        }
        let mut everybody = Examples::default();
        let even = 1.0 / self.data.classes as f32;
        for told_at in place {
            // Whoever was not asked yet, or is left out, says nothing
            for (into, from, silence) in [
                (&mut everybody.unbiased, &told.unbiased, even),
                (&mut everybody.likelihood, &told.likelihood, 1.0),
            ] {
                match told_at.map(|at| from.get(at)) {
                    Some(vector) => into.push(vector.base, vector.entries.iter().copied()),
                    None => into.push(silence, []),
                }
            }
        }
        self.seen.model_of_stage(&everybody, self.data.classes)
    }
}

/// Half of the people first, and then what tells most given what they and everybody's public features tell.
pub(super) fn represented_stages(
    data: &Data,
    epsilon: Epsilon,
    options: &StageOptions,
    rng: &mut ChaCha12Rng,
) -> Result<Represented, LearnError> {
    let fractions = [0.5, 0.5];
    let plan = MultiStage {
        first: First::Alike(LabelKind::Subset),
        answers: Answering::Telling,
        ..MultiStage::debiased(data.classes as u32, epsilon, &fractions)
    };
    run(data, options.apply(plan), &Represent { data, seen: seen(data)? }, rng)
}
