//! Sets and intervals that hold the truth as often as promised.
//!
//! One person in eight is kept aside from learning altogether, from every choice too, and their reports tell how large sets have to be: the
//! model that is written is that of the others.

use super::averages::judge_numbers;
use super::numbers::LearntNumber;
use super::{Learnt, Train};
use crate::exit::Usage;
use crate::people::Origin;
use anyhow::ensure;
use serde::Serialize;
use std::io::Write;
use undertone_learn::features::Encoder;
use undertone_learn::held_out::Those;
use undertone_learn::nonparametric::{Coverage, Intervals, PredictionSets};
use undertone_learn::{LearnError, Predictor, Regressor, Source};
use undertone_report::{NumberWords, Task};

/// The probability with which the promise may fail, over people and coins.
pub(super) const DELTA: f64 = 0.05;

/// What is promised, for machines.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Told {
    coverage: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    set_threshold: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interval_half_width: Option<f64>,
}

impl Told {
    pub(super) fn new(coverage: &Coverage) -> Self {
        let (set_threshold, interval_half_width) = match coverage {
            Coverage::Sets(sets) => (Some(sets.threshold()), None),
            Coverage::Intervals(intervals) => (None, Some(intervals.half_width())),
        };
        Self { coverage: coverage.promised(), set_threshold, interval_half_width }
    }

    pub(super) fn explain(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let (share, sure) = (100.0 * self.coverage, 100.0 * (1.0 - DELTA));
        if let Some(threshold) = self.set_threshold {
            let least = 1.0 - threshold;
            let which = if least > 0.0 {
                format!("classes of at least {least:.3} and the likeliest")
            } else {
                "all classes: there are too few people kept aside for smaller ones".into()
            };
            writeln!(out, "Sets hold the label of {share} % of people, {sure} % sure: {which}")?;
        }
        if let Some(reach) = self.interval_half_width {
            writeln!(
                out,
                "Intervals hold the number of {share} % of people, {sure} % sure: {reach:.4} to each side"
            )?;
        }
        Ok(())
    }
}

impl Train {
    pub(super) fn learn(
        &self,
        origin: &Origin,
        encoder: &Encoder,
        start: Option<&Predictor>,
    ) -> anyhow::Result<Learnt> {
        let mut people = self.people(origin, encoder);
        let Some(share) = self.coverage else {
            return self.learn_from(origin, encoder, &mut people, start);
        };
        let partial = |task: &&Task| task.has_priors() || task.mechanism.top.is_some();
        ensure!(
            !origin.tasks().iter().any(partial),
            Usage::new(
                "--coverage: those who answered among some labels only do not say whether a set holds theirs"
            )
        );
        let learnt = self.learn_from(origin, encoder, &mut Those::others(&mut people), None)?;
        let aside = self.gather(&mut Those::held_out(&mut people))?;
        let model = &learnt.predictor;
        let sets = PredictionSets::calibrate(model, &aside.rows, &aside.unbiased, 1.0 - share, DELTA)?;
        Ok(Learnt { coverage: Some(Coverage::Sets(sets)), ..learnt })
    }

    pub(super) fn learn_number(
        &self,
        origin: &Origin,
        encoder: &Encoder,
        number: NumberWords,
    ) -> anyhow::Result<LearntNumber> {
        let mut people = self.people(origin, encoder);
        let Some(share) = self.coverage else {
            return self.learn_number_from(origin, encoder, &mut people, number);
        };
        let learnt = self.learn_number_from(origin, encoder, &mut Those::others(&mut people), number)?;
        let (width, alpha) = (number.high - number.low, 1.0 - share);
        let model = &learnt.predictor;
        let intervals = if origin.tasks().is_empty() {
            let mut residuals = Vec::new();
            pass_aside(model, &mut people, number, |guess, truth| {
                residuals.push((guess - truth).abs());
                Ok(())
            })?;
            Intervals::by_residuals(residuals, width, alpha, DELTA)?
        } else if let Some(mut reports) = origin.bin_reports()? {
            pass_aside(model, &mut people, number, |guess, said| reports.observe(guess, said))?;
            Intervals::by_bins(&reports, alpha, DELTA)?
        } else {
            let judged = judge_numbers(model, &mut people, number, origin.hidden())?;
            Intervals::by_error(judged.mse, judged.rows, width, alpha, DELTA)?
        };
        Ok(LearntNumber { coverage: Some(Coverage::Intervals(intervals)), ..learnt })
    }
}

/// Shows what is predicted for each of those who were kept aside, within the bounds, and what is known about the number.
fn pass_aside(
    model: &impl Regressor,
    people: &mut dyn Source,
    number: NumberWords,
    mut show: impl FnMut(f64, f64) -> Result<(), LearnError>,
) -> Result<(), LearnError> {
    Those::held_out(people).pass(&mut |block| {
        let mut known = model.predict(&block.rows).into_iter().zip(block.numbers.values());
        known.try_for_each(|(guess, &said)| show(guess.clamp(number.low, number.high), said))
    })
}
