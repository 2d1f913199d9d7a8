//! A line and what pairs of categories add ([`undertone_learn::factors`]), judged by one person in eight and learnt from everybody.

use super::averages::judge_numbers;
use super::numbers::LearntNumber;
use super::{Kind, Train};
use crate::exit::Usage;
use crate::people::Origin;
use crate::progress::stage_bar;
use undertone_learn::factors::Factors;
use undertone_learn::held_out::Those;
use undertone_learn::{Examples, LearnError, NumberPredictor, Source};
use undertone_report::NumberWords;

impl Train {
    pub(super) fn factors(
        &self,
        origin: &Origin,
        people: &mut dyn Source,
        number: NumberWords,
    ) -> anyhow::Result<LearntNumber> {
        let bar = stage_bar().with_message("learning what pairs add");
        bar.set_length(2);
        let fit = |people: &Examples| -> Result<Factors, LearnError> {
            Factors::fit(&people.rows, people.numbers.values())
        };
        let everybody = self.gather(people)?;
        if !everybody.rows.iter().any(|row| row.sparse.len() > 1) {
            let why = "no two categories of more than 64 values meet in a row, and factors learn of those: numbers that are names are \
                       categories if you say so, as in --column user_id=category --column movie_id=category";
            return Err(Usage::new(why).into());
        }
        let model = fit(&self.gather(&mut Those::others(people))?)?;
        bar.inc(1);
        let judged = judge_numbers(&model, people, number, origin.hidden())?;
        let predictor = NumberPredictor::Factors(fit(&everybody)?);
        bar.finish_and_clear();
        Ok(LearntNumber {
            kind: Kind::Factors,
            predictor,
            method: "variational",
            l2: None,
            size: None,
            tried: Vec::new(),
            judged: Some(judged),
            candidates: Vec::new(),
            untried: Vec::new(),
            coverage: None,
        })
    }
}
