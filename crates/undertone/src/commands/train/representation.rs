//! What public features tell by themselves, and reports of it ([`undertone_learn::represented`]).

use super::{Kind, Learnt, Train};
use crate::people::Origin;
use crate::progress::spinner;
use undertone_learn::auto::is_in;
use undertone_learn::evaluation::Evaluation;
use undertone_learn::features::Encoder;
use undertone_learn::represented::Seen;
use undertone_learn::{Examples, Predictor, Source};

impl Train {
    /// Everybody as they are seen, if they can be and there is time for it.
    pub(super) fn seen_within_budget(
        &self,
        everybody: &Examples,
        encoder: &Encoder,
    ) -> anyhow::Result<Option<Seen>> {
        let bar = spinner("looking at public features");
        let seen = Seen::within(&everybody.rows, encoder.columns(), 60.0 * self.budget)?;
        bar.finish_and_clear();
        Ok(seen)
    }

    pub(super) fn representation(
        &self,
        origin: &Origin,
        encoder: &Encoder,
        people: &mut dyn Source,
    ) -> anyhow::Result<Learnt> {
        let everybody = self.gather(people)?;
        let bar = spinner("looking at public features");
        let seen = Seen::new(&everybody.rows, encoder.columns())?;
        bar.finish_and_clear();
        represented(&seen, &everybody, origin.classes().len())
    }
}

/// The model of everybody, judged by those who are kept aside as the others' reports have them.
pub(super) fn represented(seen: &Seen, everybody: &Examples, classes: usize) -> anyhow::Result<Learnt> {
    let spinner = spinner("learning from reports");
    let found = seen.without(everybody, classes, |row| is_in(row, 0))?;
    let mut evaluation = Evaluation::new(classes);
    evaluation.observe(&everybody.part(|row| is_in(row, 0)), &found)?;
    let model = seen.model(everybody, classes)?;
    spinner.finish_and_clear();
    let (judged, predictor) = (Some(evaluation.figures()?), Predictor::Represented(Box::new(model)));
    Ok(Learnt { judged, ..Learnt::new(Kind::Representation, predictor, "posterior".into()) })
}
