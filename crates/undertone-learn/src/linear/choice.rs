//! From examples to a linear model without anybody turning knobs: λ is chosen from reports alone.
//!
//! One person in eight is kept aside. For each λ of a grid a model is fitted to the others and judged by the reports of
//! those who were kept aside; the λ with the best mean wins, and the model is fitted again, to everybody. No true label
//! is looked at: the judge is the mean of
//!
//! > ln Σ_k π_k·P(S | k)   where the scores stand for probabilities (softmax, logistic),
//! > -Σ_k a_k·ℓ(z, k)      where they do not (hinge, squared)
//!
//! The first is what the reports themselves make likely: it scatters little, since the noise of a report does not blow it
//! up. The second is unbiased for the loss on true labels.

use super::{ErmOptions, LinearModel, Progress, fit};
use crate::evaluation::{Figure, Moments, terms};
use crate::held_out::Those;
use crate::loss::Loss;
use crate::{Classifier, LearnError, Source};
use serde::Serialize;

/// λ, from a penalty that hardly binds to one that leaves little but the shares of the classes.
const GRID: [f64; 7] = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0];

/// A λ that was tried, and how well it did on those who were kept aside.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tried {
    /// λ
    pub l2: f64,
    /// The mean over their reports; more is better
    pub score: Figure,
}

/// A model and how its λ was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// Fitted to everybody
    pub model: LinearModel,
    /// The chosen λ
    pub l2: f64,
    /// Every λ that was tried; none if it was given
    pub tried: Vec<Tried>,
}

/// Fits with the λ that serves people best who were kept aside; `options.l2` is not looked at.
pub fn fit_choosing_l2(
    source: &mut dyn Source,
    features: usize,
    classes: usize,
    options: &ErmOptions,
    mut progress: impl FnMut(Progress),
) -> Result<Fitted, LearnError> {
    let fits = GRID.len() as u64 + 1;
    let mut tried: Vec<Tried> = Vec::new();
    for (done, l2) in (0..).zip(GRID) {
        let options = ErmOptions { l2, ..options.clone() };
        let report = |seen: Progress| progress(seen.within(done, fits));
        let model = fit(&mut Those::others(source), features, classes, &options, None, report)?;
        tried.push(Tried { l2, score: judge(&model, &mut Those::held_out(source))? });
    }
    let best = tried.iter().max_by(|a, b| a.score.value.total_cmp(&b.score.value));
    let l2 = best.map_or(GRID[0], |best| best.l2);
    let options = ErmOptions { l2, ..options.clone() };
    let report = |seen: Progress| progress(seen.within(fits - 1, fits));
    let model = fit(source, features, classes, &options, None, report)?;
    Ok(Fitted { model, l2, tried })
}

/// The mean score of a model over some people's reports.
fn judge(model: &LinearModel, people: &mut dyn Source) -> Result<Figure, LearnError> {
    let mut scores = Moments::default();
    let classes = model.classes();
    people.pass(&mut |examples| {
        if matches!(model.loss, Loss::Softmax | Loss::Logistic) {
            let probabilities = model.probabilities(&examples.rows);
            for (p, likelihood) in probabilities.chunks_exact(classes).zip(examples.likelihood.iter()) {
                scores.add(terms::log_likelihood(p, likelihood));
            }
        } else {
            let mut z = vec![0.0; classes];
            for (row, unbiased) in examples.rows.iter().zip(examples.unbiased.iter()) {
                model.weights.scores(row, &mut z);
                scores.add(-f64::from(model.loss.value(&z, unbiased)));
            }
        }
        Ok(())
    })?;
    Ok(scores.figure())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Examples;
    use crate::features::Rows;
    use crate::labels::{Channel, LabelVectors};
    use crate::linear::Target;
    use rand_chacha::ChaCha8Rng;
    use rand_core::{Rng, SeedableRng};
    use undertone_privacy::Epsilon;
    use undertone_privacy::label::{Label, LabelKind, LabelRandomizer, ReportColumn};

    /// Two classes that one feature tells apart, among nine that tell nothing, with reports under ε.
    fn reports(people: usize, epsilon: f64, seed: u64) -> Vec<Examples> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let labels: Vec<Label> = (0..people).map(|_| Label(rng.next_u32() & 1)).collect();
        let uniform = |rng: &mut ChaCha8Rng| rng.next_u32() as f32 / 2f32.powi(31) - 1.0;
        let features = labels
            .iter()
            .flat_map(|&Label(y)| {
                let shift = if y == 1 { 0.7 } else { -0.7 };
                (0..10).map(|j| uniform(&mut rng) + if j == 0 { shift } else { 0.0 }).collect::<Vec<_>>()
            })
            .collect();
        let mechanism = LabelKind::Rr.mechanism(2, Epsilon::new(epsilon).unwrap()).unwrap();
        let (mut column, channel) = (ReportColumn::new(), Channel::of_mechanism(&mechanism));
        mechanism.randomize_column(&labels, &mut column, &mut rng).unwrap();
        let (mut unbiased, mut likelihood) = (LabelVectors::new(), LabelVectors::new());
        for report in column.iter() {
            channel.push_unbiased(report, &[], &mut unbiased).unwrap();
            channel.push_likelihood(report, &[], &mut likelihood).unwrap();
        }
        vec![Examples { rows: Rows::dense(10, features), unbiased, likelihood }]
    }

    #[test]
    fn noisier_reports_get_a_stronger_penalty_and_every_lambda_is_judged_on_the_same_people() {
        for loss in Loss::ALL {
            let options = ErmOptions { loss, epochs: 10, ..ErmOptions::default() };
            let chosen = |epsilon, seed| {
                fit_choosing_l2(&mut reports(3000, epsilon, seed), 10, 2, &options, |_| ()).unwrap()
            };
            let (clear, noisy) = (chosen(8.0, 1), chosen(0.2, 2));
            assert!(clear.l2 < noisy.l2, "{loss:?}: {} and {}", clear.l2, noisy.l2);
            assert_eq!(clear.tried.len(), GRID.len());
            let best = clear.tried.iter().map(|tried| tried.score.value).fold(f64::MIN, f64::max);
            assert!(clear.tried.iter().any(|t| t.l2 == clear.l2 && t.score.value == best));
        }
    }

    #[test]
    fn progress_rises_to_the_end_over_all_fits() {
        let options = ErmOptions { target: Target::Likelihood, epochs: 2, ..ErmOptions::default() };
        let mut last = 0.0;
        let progress = |seen: Progress| {
            let share = seen.rows as f64 / seen.of as f64;
            assert!(share > last && share <= 1.0);
            last = share;
        };
        fit_choosing_l2(&mut reports(500, 1.0, 3), 10, 2, &options, progress).unwrap();
        assert!((last - 1.0).abs() < 1e-12);
    }
}
