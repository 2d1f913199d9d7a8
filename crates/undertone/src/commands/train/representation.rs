//! What public features tell by themselves, and reports of it ([`undertone_learn::represented`]).

use super::scores::Judged;
use super::{Kind, Learnt, Train};
use crate::people::Origin;
use crate::stages::Stages;
use anyhow::anyhow;
use undertone_learn::auto::{FIRST_JUDGES, Field, Sort};
use undertone_learn::evaluation::Evaluation;
use undertone_learn::features::Encoder;
use undertone_learn::held_out::{is_in, parts};
use undertone_learn::represented::{Limits, RepresentError, Seen, Sight};
use undertone_learn::{Examples, LearnError, Predictor, Source};

impl Train {
    /// Time and memory that may be used.
    pub(super) fn limits(&self) -> Limits {
        let bytes =
            self.memory.map_or(Limits::default().bytes, |memory| (memory as u64).saturating_mul(1 << 20));
        // Whoever asks for one sort of model has the time
        Limits { seconds: f64::INFINITY, bytes, held: 0 }
    }

    /// Everybody as they are seen, if they can be and a field of models has time for it: they are learnt from once for each part that is kept
    /// aside, and once for everybody.
    pub(super) fn seen_by(
        &self,
        field: &mut Field,
        everybody: &Examples,
        encoder: &Encoder,
        classes: usize,
        stages: &Stages,
    ) -> anyhow::Result<Option<Seen>> {
        let Some(seconds) = field.seconds(Sort::Represented) else { return Ok(None) };
        let learnings = parts(everybody.len()) + 1;
        // Lines read everybody again, and a comparison tells judges from the others: two more copies
        let held = reports_bytes(everybody) + 2 * everybody.bytes() as u64;
        let limits = (Limits { seconds, held, ..self.limits() }, learnings);
        let sight = Sight::of(encoder).ranked(&everybody.rows, classes, limits);
        stages.expect(sight.stages());
        Ok(match Seen::within(&everybody.rows, sight, classes, limits, stages)? {
            Ok(seen) => Some(seen),
            Err(why) => {
                field.leave(Sort::Represented, why);
                None
            }
        })
    }

    pub(super) fn representation(
        &self,
        origin: &Origin,
        encoder: &Encoder,
        people: &mut dyn Source,
    ) -> anyhow::Result<Learnt> {
        let (everybody, classes) = (self.gather(people)?, origin.classes().len());
        let stages = Stages::new(self.cache.as_deref())?;
        let limits = (Limits { held: reports_bytes(&everybody), ..self.limits() }, 1);
        let sight = Sight::of(encoder).ranked(&everybody.rows, classes, limits);
        stages.expect(sight.stages() + 2);
        let seen = Seen::within(&everybody.rows, sight, classes, limits, &stages)?;
        let seen = seen.map_err(|why| anyhow!("{why}"))?;
        let learnt = represented(&seen, &everybody, classes, &stages)
            .map_err(|error| by_name(error, "a representation", origin.classes()))?;
        let said = seen.without_part(&everybody, classes, FIRST_JUDGES, &stages)?;
        stages.finish();
        let judged = Some(judged(&everybody, classes, [(FIRST_JUDGES, said.as_slice())])?);
        Ok(Learnt { judged, stages: stages.told(), ..learnt })
    }
}

/// Bytes of what everybody reported.
fn reports_bytes(everybody: &Examples) -> u64 {
    (everybody.bytes() - everybody.rows.bytes()) as u64
}

/// The name of a class by its number.
pub(super) fn class_name(classes: &[String], class: usize) -> &str {
    classes.get(class).map_or("?", String::as_str)
}

/// Names the class that nobody reports, of which such a model can learn nothing.
pub(super) fn by_name(error: anyhow::Error, model: &str, classes: &[String]) -> anyhow::Error {
    match error.downcast_ref() {
        Some(LearnError::Represent(RepresentError::NeverReported { class })) => {
            let name = class_name(classes, *class);
            anyhow!(
                "class `{name}` is in no report, and {model} has to learn of every class: --model softmax can do without"
            )
        }
        _ => error,
    }
}

/// The model of everybody.
pub(super) fn represented(
    seen: &Seen,
    everybody: &Examples,
    classes: usize,
    stages: &Stages,
) -> anyhow::Result<Learnt> {
    let predictor = Predictor::Represented(Box::new(seen.model(everybody, classes, stages)?));
    Ok(Learnt::new(Kind::Representation, predictor, "posterior".into()))
}

/// How good it is what models of the others say of some parts. What several parts say is taken for independent, which it is but for the reports
/// that their models have in common.
pub(super) fn judged<'a>(
    everybody: &Examples,
    classes: usize,
    said: impl IntoIterator<Item = (usize, &'a [f32])>,
) -> Result<Judged, LearnError> {
    let mut evaluation = Evaluation::new(classes);
    for (part, said) in said {
        evaluation.observe(&everybody.part(|row| is_in(row, part)), said)?;
    }
    Ok(evaluation.figures()?.into())
}
