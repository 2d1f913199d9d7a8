//! What public features tell by themselves, and reports of it ([`undertone_learn::represented`]).

use super::{Kind, Learnt, Train};
use crate::people::Origin;
use crate::stages::Stages;
use anyhow::anyhow;
use undertone_learn::auto::{Untried, is_in, parts};
use undertone_learn::evaluation::Evaluation;
use undertone_learn::features::Encoder;
use undertone_learn::represented::{Limits, RepresentError, Seen, Sight};
use undertone_learn::{Examples, LearnError, Predictor, Source};

impl Train {
    /// Time and memory that may be used.
    pub(super) fn limits(&self) -> Limits {
        let bytes =
            self.memory.map_or(Limits::default().bytes, |memory| (memory as u64).saturating_mul(1 << 20));
        Limits { seconds: 60.0 * self.budget, bytes, held: 0 }
    }

    /// Everybody as they are seen, if they can be and there is time for it: they are learnt from once for each part that is kept aside, and
    /// once for everybody.
    pub(super) fn seen_within_budget(
        &self,
        everybody: &Examples,
        encoder: &Encoder,
        classes: usize,
        stages: &Stages,
    ) -> anyhow::Result<Result<Seen, Untried>> {
        let learnings = parts(everybody.len()) + 1;
        // Lines read everybody again, and a comparison tells judges from the others: two more copies
        let held = reports_bytes(everybody) + 2 * everybody.bytes() as u64;
        let limits = (Limits { held, ..self.limits() }, learnings);
        let sight = Sight::of(encoder).ranked(&everybody.rows, classes, limits);
        stages.expect(sight.stages());
        Ok(Seen::within(&everybody.rows, sight, classes, limits, stages)?)
    }

    pub(super) fn representation(
        &self,
        origin: &Origin,
        encoder: &Encoder,
        people: &mut dyn Source,
    ) -> anyhow::Result<Learnt> {
        let (everybody, classes) = (self.gather(people)?, origin.classes().len());
        let stages = Stages::new(self.cache.as_deref())?;
        // Whoever asks for it has the time
        let held = reports_bytes(&everybody);
        let limits = (Limits { seconds: f64::INFINITY, held, ..self.limits() }, 1);
        let sight = Sight::of(encoder).ranked(&everybody.rows, classes, limits);
        stages.expect(sight.stages() + 1);
        let seen = Seen::within(&everybody.rows, sight, classes, limits, &stages)?;
        let seen = seen.map_err(|why| anyhow!("{why}"))?;
        represented(&seen, &everybody, classes, None, &stages)
            .map_err(|error| by_name(error, "a representation", origin.classes()))
    }
}

/// Bytes of what everybody reported.
fn reports_bytes(everybody: &Examples) -> u64 {
    (everybody.bytes() - everybody.rows.bytes()) as u64
}

/// Names the class that nobody reports, of which such a model can learn nothing.
pub(super) fn by_name(error: anyhow::Error, model: &str, classes: &[String]) -> anyhow::Error {
    match error.downcast_ref() {
        Some(LearnError::Represent(RepresentError::NeverReported { class })) => {
            let name = classes.get(*class).map_or("?", String::as_str);
            anyhow!(
                "class `{name}` is in no report, and {model} has to learn of every class: --model softmax can do without"
            )
        }
        _ => error,
    }
}

/// The model of everybody, judged by those of the first part as the others' reports have them, if they are not `judged` yet.
pub(super) fn represented(
    seen: &Seen,
    everybody: &Examples,
    classes: usize,
    judged: Option<Vec<f32>>,
    stages: &Stages,
) -> anyhow::Result<Learnt> {
    let model = seen.model(everybody, classes)?;
    let judged = match judged {
        Some(judged) => judged,
        None => seen.without_part(everybody, classes, 0, stages)?,
    };
    let mut evaluation = Evaluation::new(classes);
    evaluation.observe(&everybody.part(|row| is_in(row, 0)), &judged)?;
    stages.finish();
    let (judged, predictor) = (Some(evaluation.figures()?), Predictor::Represented(Box::new(model)));
    let stages = stages.told();
    Ok(Learnt { judged, stages, ..Learnt::new(Kind::Representation, predictor, "posterior".into()) })
}
