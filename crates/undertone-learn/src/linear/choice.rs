//! From examples to a linear model without anybody turning knobs: step size and λ are chosen from reports alone.
//!
//! One person in eight is kept aside, and where people are few [more parts](crate::held_out) are, one after the
//! other, so that more reports judge. For one λ after the other, up or down a grid as long as that helps, a model is
//! fitted to the others, in fewer passes, and judged by the reports of those who were kept aside; the λ with the best
//! mean wins. The step size is chosen in the same way before, and afterwards whether all passes serve better than the fewer, which
//! they do not where reports are noisy: the likelihood is not convex, and what is learnt last is noise. Then the model is fitted again, to
//! everybody. No true label is looked at: the judge is the mean of
//!
//! > ln Σ_k π_k·P(S | k)   where the scores stand for probabilities (softmax, logistic),
//! > -Σ_k a_k·ℓ(z, k)      where they do not (hinge, squared)
//!
//! The first is what the reports themselves make likely: it scatters little, since the noise of a report does not blow it
//! up. The second is unbiased for the loss on true labels.

use super::{ErmOptions, LinearModel, Progress, Target, Weights, fit};
use crate::evaluation::{Figure, Moments, terms};
use crate::held_out::{PARTS, Those, is_in, parts};
use crate::loss::Loss;
use crate::{Classifier, Examples, LearnError, Source};
use serde::{Deserialize, Serialize};

/// λ, from a penalty that hardly binds to one that leaves little but the shares of the classes.
const GRID: [f64; 7] = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0];
/// Where the search begins.
const START: usize = 2;
/// η of the first step: features of very different scales need the first, noisy reports the last, since the likelihood is
/// not convex and large steps lose their way.
const RATES: [f64; 3] = [0.15, 0.04, 0.01];

/// A model that is only tried is fitted in so many times fewer passes.
const SHORTER: u32 = 4;

/// A model and how its λ was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fitted {
    /// Fitted to everybody
    pub model: LinearModel,
    /// How: λ, η and passes as they were chosen, and soft labels where those were better
    pub options: ErmOptions,
    /// By what the weights are multiplied in the end
    pub sharpness: f32,
    /// Every λ that was tried and how it did on those who were kept aside
    pub tried: Vec<(f64, Figure)>,
    /// How often what was tried with these options is right about those who were kept aside
    pub accuracy: Figure,
    /// And how little it believes in what is true of them; of those of the first part alone where soft labels were sharpened
    pub log_loss: Figure,
}

impl Fitted {
    /// The line of other people, fitted in the same way.
    pub fn again(&self, people: &mut dyn Source) -> Result<LinearModel, LearnError> {
        let (features, classes) = (self.model.weights.features(), self.model.weights.classes());
        let mut model = fit(people, features, classes, &self.options, None, |_| ())?;
        model.weights.scale(self.sharpness);
        Ok(model)
    }
}

/// As many fits as a search can take; it often ends sooner.
const MOST_FITS: u64 = (RATES.len() + GRID.len() - 1) as u64;

/// Fits with the step size and the λ that serve people best who were kept aside; those of `options` are not looked at, and its passes are
/// the most that are made. The last fit begins at `start`, all others at zero: a start may have learnt from those who were kept aside.
///
/// Where reports are few and classes many, the likelihood, which is not convex, fits the noise before it finds anything.
/// If it does not clearly beat even chances, soft labels are tried too: their loss is convex and, if the mechanism treats
/// all labels alike, the posterior under even chances has a mean that is affine in the true probabilities, so that the
/// likeliest class is the same. Its probabilities are squeezed towards 1/K; the weights are scaled up again as far as
/// those who were kept aside find it likely.
pub fn fit_choosing_l2(
    source: &mut dyn Source,
    features: usize,
    classes: usize,
    options: &ErmOptions,
    start: Option<&Weights>,
    progress: impl FnMut(Progress),
) -> Result<Fitted, LearnError> {
    let searches = if options.target == Target::Likelihood { 2 } else { 1 };
    let parts = parts(enough(source)?);
    let of = parts as u64 * (searches * MOST_FITS + u64::from(SHORTER)) + u64::from(SHORTER);
    let mut fits = Fits { source, features, classes, progress, parts, done: 0, of };
    let short = ErmOptions { epochs: options.epochs.div_ceil(SHORTER), ..options.clone() };
    let mut search = Search::run(&mut fits, &short)?;
    if options.target == Target::Likelihood && search.best().is_in_doubt() {
        let soft = ErmOptions { target: Target::Posterior(None), ..short };
        let other = Search::run(&mut fits, &soft)?;
        if other.best().score() > search.best().score() {
            search = other;
        }
    }
    let tried = search.figures();
    let (chosen, best) = search.in_as_many_passes_as_help(&mut fits, options.epochs)?;
    let mut model = fits.everybody(&chosen, start)?;
    let (mut sharpness, mut tally) = (1.0, best.tally);
    if chosen.target != options.target {
        let mut judged = best.model;
        sharpness = scale(&judged, fits.source)?;
        model.weights.scale(sharpness);
        judged.weights.scale(sharpness);
        // Whom it is right about does not change
        tally.log_loss = Tally::of(&judged, &mut Those::held_out(fits.source))?.log_loss;
    }
    let (accuracy, log_loss) = (tally.right.figure(), tally.log_loss.figure());
    Ok(Fitted { model, options: chosen, sharpness, tried, accuracy, log_loss })
}

/// The same examples, fitted again and again.
struct Fits<'a, P> {
    source: &'a mut dyn Source,
    features: usize,
    classes: usize,
    progress: P,
    /// That are kept aside in turn
    parts: usize,
    /// Of the work, in shorter fits
    done: u64,
    of: u64,
}

impl<P: FnMut(Progress)> Fits<'_, P> {
    /// Fits to everybody.
    fn everybody(
        &mut self,
        options: &ErmOptions,
        start: Option<&Weights>,
    ) -> Result<LinearModel, LearnError> {
        let last = u64::from(SHORTER);
        let report = |seen: Progress| (self.progress)(seen.within(self.of - last, last, self.of));
        fit(self.source, self.features, self.classes, options, start, report)
    }

    /// Fits to the others of each part in turn, for those who are kept aside to judge; each takes as long as so many shorter fits.
    ///
    /// After the first part come the last ones: `auto` has the others judge first, of whom no line has heard then.
    fn try_out(&mut self, place: usize, options: &ErmOptions, long: u64) -> Result<Candidate, LearnError> {
        let options = ErmOptions { l2: GRID[place], ..options.clone() };
        let (mut first, mut tally) = (None, Tally::default());
        for part in (0..self.parts).map(|turn| (PARTS - turn) % PARTS) {
            let report = |seen: Progress| (self.progress)(seen.within(self.done, long, self.of));
            let mut others = Those::without_part(self.source, part);
            let model = fit(&mut others, self.features, self.classes, &options, None, report)?;
            self.done += long;
            tally.add(&model, &mut Those::of_part(self.source, part))?;
            first.get_or_insert(model);
        }
        first.map(|model| Candidate { place, model, tally }).ok_or(LearnError::TooFewForPenalty)
    }
}

/// How many people there are, if some of them are kept aside and others are not.
fn enough(source: &mut dyn Source) -> Result<usize, LearnError> {
    let (mut people, mut aside) = (0, 0);
    source.pass(&mut |block| {
        let rows = people..people + block.len();
        people = rows.end;
        aside += rows.filter(|&row| is_in(row, 0)).count();
        Ok(())
    })?;
    match people {
        0 => Err(LearnError::NoReports),
        _ if aside == 0 || aside == people => Err(LearnError::TooFewForPenalty),
        _ => Ok(people),
    }
}

/// What people say of models that were learnt without them.
#[derive(Clone, Copy, Default)]
struct Tally {
    /// What models are chosen by
    scores: Moments,
    /// Debiased, as is the next
    right: Moments,
    log_loss: Moments,
}

impl Tally {
    fn of(model: &LinearModel, people: &mut dyn Source) -> Result<Self, LearnError> {
        let mut tally = Self::default();
        tally.add(model, people)?;
        Ok(tally)
    }

    fn add(&mut self, model: &LinearModel, people: &mut dyn Source) -> Result<(), LearnError> {
        people.pass(&mut |people| {
            let probabilities = model.probabilities(&people.rows);
            for (p, unbiased) in probabilities.chunks_exact(model.classes()).zip(people.unbiased.iter()) {
                self.right.add(terms::accuracy(p, unbiased));
                self.log_loss.add(terms::log_loss(p, unbiased));
            }
            for score in scores(model, people, &probabilities) {
                self.scores.add(score);
            }
            Ok(())
        })
    }
}

/// The power of two by which the weights have to be multiplied for those who were kept aside to find them likeliest.
fn scale(model: &LinearModel, source: &mut dyn Source) -> Result<f32, LearnError> {
    let mut score =
        |model: &LinearModel| Tally::of(model, &mut Those::held_out(source)).map(|tally| tally.scores.mean);
    let (mut best, mut factor) = (score(model)?, 1.0);
    loop {
        let mut sharper = model.clone();
        sharper.weights.scale(2.0 * factor);
        let score = score(&sharper)?;
        if score <= best || !score.is_finite() {
            return Ok(factor);
        }
        (best, factor) = (score, 2.0 * factor);
    }
}

/// A λ that was tried.
#[derive(Clone)]
struct Candidate {
    place: usize,
    /// Of all but the first part
    model: LinearModel,
    tally: Tally,
}

impl Candidate {
    /// The mean; what is no number is worse than any.
    fn score(&self) -> f64 {
        let mean = self.tally.scores.mean;
        if mean.is_finite() { mean } else { f64::NEG_INFINITY }
    }

    /// Whether its likelihood is not above that of even chances, which is 0, by two standard errors.
    fn is_in_doubt(&self) -> bool {
        let clear = self.score() > 2.0 * self.tally.scores.figure().standard_error;
        !clear
    }
}

/// The best step size at the start of the grid; then down from there as long as that helps, or up if the first step down
/// does not.
struct Search {
    /// With the step size and, in the end, the λ that were best
    options: ErmOptions,
    tried: Vec<Candidate>,
}

impl Search {
    fn run<P: FnMut(Progress)>(fits: &mut Fits<'_, P>, options: &ErmOptions) -> Result<Self, LearnError> {
        let at = |learning_rate| ErmOptions { learning_rate, ..options.clone() };
        let mut first = Vec::new();
        for rate in RATES {
            match fits.try_out(START, &at(rate), 1) {
                Err(LearnError::Diverged) => {}
                tried => first.push((rate, tried?)),
            }
        }
        if first.is_empty() {
            return Err(LearnError::Diverged);
        }
        // The larger step on ties
        first.sort_by(|a, b| b.1.score().total_cmp(&a.1.score()).then(b.0.total_cmp(&a.0)));
        let (rate, begin) = first.swap_remove(0);
        let mut search = Self { options: at(rate), tried: vec![begin] };
        while let Some(place) = search.next() {
            match fits.try_out(place, &search.options, 1) {
                // A penalty that lets weights grow without end leads no further
                Err(LearnError::Diverged) => break,
                tried => search.tried.push(tried?),
            }
        }
        search.options.l2 = GRID[search.best().place];
        Ok(search)
    }

    /// The options that were best, with so many passes if that is better still, and what was tried with them.
    fn in_as_many_passes_as_help<P: FnMut(Progress)>(
        self,
        fits: &mut Fits<'_, P>,
        epochs: u32,
    ) -> Result<(ErmOptions, Candidate), LearnError> {
        let fewer = self.best();
        let all = ErmOptions { epochs, ..self.options.clone() };
        if all == self.options {
            return Ok((all, fewer.clone()));
        }
        match fits.try_out(fewer.place, &all, u64::from(SHORTER)) {
            Ok(longer) if longer.score() > fewer.score() => Ok((all, longer)),
            Ok(_) | Err(LearnError::Diverged) => Ok((self.options.clone(), fewer.clone())),
            Err(error) => Err(error),
        }
    }

    /// Each λ with its score, in order.
    fn figures(&self) -> Vec<(f64, Figure)> {
        let mut tried: Vec<&Candidate> = self.tried.iter().collect();
        tried.sort_by_key(|candidate| candidate.place);
        tried.iter().map(|candidate| (GRID[candidate.place], candidate.tally.scores.figure())).collect()
    }

    /// The λ to try next.
    fn next(&self) -> Option<usize> {
        let last = self.tried.last()?;
        let down = |place: usize| place.checked_sub(1);
        let up = |place: usize| (place + 1 < GRID.len()).then_some(place + 1);
        match (last.place == self.best().place, last.place) {
            (true, START) => down(START),
            (true, place) if place < START => down(place),
            (true, place) => up(place),
            // The first step down did not help
            (false, place) if place + 1 == START => up(START),
            (false, _) => None,
        }
    }

    /// The best so far, the stronger penalty on ties.
    fn best(&self) -> &Candidate {
        let better =
            |a: &&Candidate, b: &&Candidate| a.score().total_cmp(&b.score()).then(a.place.cmp(&b.place));
        // There is one as soon as the search has begun, and nobody asks before.
        self.tried.iter().max_by(better).expect("at least one candidate")
    }
}

/// What each person's report says about a model, which says `probabilities`.
fn scores(model: &LinearModel, people: &Examples, probabilities: &[f32]) -> Vec<f64> {
    if matches!(model.loss, Loss::Softmax | Loss::Logistic) {
        let rows = probabilities.chunks_exact(model.classes()).zip(people.likelihood.iter());
        return rows.map(|(p, likelihood)| terms::log_likelihood(p, likelihood)).collect();
    }
    let mut z = vec![0.0; model.classes()];
    let terms = people.rows.iter().zip(people.unbiased.iter()).map(|(row, unbiased)| {
        model.weights.scores(row, &mut z);
        -f64::from(model.loss.value(&z, unbiased))
    });
    terms.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Evaluation;
    use crate::features::{Row, Rows};
    use crate::labels::{Channel, LabelVectors};
    use rand_chacha::ChaCha8Rng;
    use rand_core::{Rng, SeedableRng};
    use undertone_privacy::Epsilon;
    use undertone_privacy::label::{Label, LabelKind, LabelMechanism, LabelRandomizer, ReportColumn};

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
        vec![asked(Rows::dense(10, features), &labels, &mechanism, &mut rng)]
    }

    fn asked(rows: Rows, labels: &[Label], mechanism: &LabelMechanism, rng: &mut ChaCha8Rng) -> Examples {
        let (mut column, channel) = (ReportColumn::new(), Channel::of_mechanism(mechanism));
        mechanism.randomize_column(labels, &mut column, rng).unwrap();
        let (mut unbiased, mut likelihood) = (LabelVectors::new(), LabelVectors::new());
        for report in column.iter() {
            channel.push_unbiased(report, &[], &mut unbiased).unwrap();
            channel.push_likelihood(report, &[], &mut likelihood).unwrap();
        }
        Examples { rows, unbiased, likelihood, ..Examples::default() }
    }

    /// Many classes, each with a word that its people say as often as ten words that say nothing.
    fn words(people: usize, classes: u32, epsilon: f64, seed: u64) -> Vec<Examples> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let labels: Vec<Label> = (0..people).map(|_| Label(rng.next_u32() % classes)).collect();
        let mut rows = Rows::new(0, classes as usize + 400);
        for &Label(y) in &labels {
            let mut row = vec![(y, 1.0)];
            row.extend((0..10).map(|_| (classes + rng.next_u32() % 400, 1.0)));
            row.sort_unstable_by_key(|entry| entry.0);
            row.dedup_by_key(|entry| entry.0);
            rows.push(Row { dense: &[], sparse: &row });
        }
        let mechanism = LabelKind::Subset.mechanism(classes, Epsilon::new(epsilon).unwrap()).unwrap();
        vec![asked(rows, &labels, &mechanism, &mut rng)]
    }

    #[test]
    fn soft_labels_are_taken_where_the_likelihood_finds_nothing() {
        let options = ErmOptions { target: Target::Likelihood, epochs: 60, ..ErmOptions::default() };
        let fitted = fit_choosing_l2(&mut words(2000, 60, 1.5, 1), 460, 60, &options, None, |_| ()).unwrap();
        assert_eq!(fitted.options.target, Target::Posterior(None));
        // Reports under ε = 20 are the truth.
        let evaluation = Evaluation::of(&fitted.model, &mut words(4000, 60, 20.0, 2)).unwrap();
        let accuracy = evaluation.figures().unwrap().accuracy;
        assert!(accuracy.value - 5.0 * accuracy.standard_error > 5.0 / 60.0, "{accuracy:?}");
        // And those who were kept aside had said so
        let told = fitted.accuracy;
        assert!((told.value - accuracy.value).abs() < 5.0 * told.standard_error, "{told:?} {accuracy:?}");
        // Whoever is shown the same people learns the same, as sharp as it was made
        assert!(fitted.sharpness > 1.0);
        assert_eq!(fitted.again(&mut words(2000, 60, 1.5, 1)).unwrap(), fitted.model);
        let clear = fit_choosing_l2(&mut words(2000, 60, 8.0, 1), 460, 60, &options, None, |_| ()).unwrap();
        assert_eq!(clear.options.target, Target::Likelihood);
    }

    #[test]
    fn all_passes_serve_clear_reports_and_fewer_serve_noisy_ones() {
        let options = ErmOptions { target: Target::Likelihood, epochs: 40, ..ErmOptions::default() };
        let passes = |epsilon| {
            let people = &mut reports(1000, epsilon, 1);
            fit_choosing_l2(people, 10, 2, &options, None, |_| ()).unwrap().options.epochs
        };
        assert_eq!([0.5, 8.0].map(passes), [10, 40]);
    }

    fn chosen(loss: Loss, epsilon: f64, seed: u64) -> Fitted {
        let options = ErmOptions { loss, epochs: 10, ..ErmOptions::default() };
        fit_choosing_l2(&mut reports(3000, epsilon, seed), 10, 2, &options, None, |_| ()).unwrap()
    }

    #[test]
    fn the_lambda_with_the_best_score_wins() {
        for loss in Loss::ALL {
            let fitted = chosen(loss, 1.0, 1);
            let best = fitted.tried.iter().max_by(|a, b| a.1.value.total_cmp(&b.1.value)).unwrap();
            assert_eq!(best.0.to_bits(), fitted.options.l2.to_bits(), "{loss:?}");
        }
    }

    #[test]
    fn all_who_were_kept_aside_say_how_often_a_line_is_right() {
        // 3000 people are few enough for everybody to judge. Under ε = 1 an answer is right in r = e/(1 + e) of all cases, and what it says of a
        // guess is one of two values that are (e + 1)/(e - 1) = 2.164 apart, of which the one is as likely as the other at worst
        let fitted = chosen(Loss::Softmax, 1.0, 1);
        let Figure { value, standard_error } = fitted.accuracy;
        assert!(
            standard_error < 0.5 * 2.164 / 3000f64.sqrt() && standard_error > 0.4 * 2.164 / 3000f64.sqrt()
        );
        // Reports under ε = 20 are the truth.
        let truth = Evaluation::of(&fitted.model, &mut reports(3000, 20.0, 1)).unwrap();
        let truth = truth.figures().unwrap().accuracy.value;
        assert!((value - truth).abs() < 5.0 * standard_error, "{value} ± {standard_error} for {truth}");
    }

    #[test]
    fn noisier_reports_get_a_stronger_penalty() {
        let (clear, noisy) =
            (chosen(Loss::Softmax, 8.0, 1).options.l2, chosen(Loss::Softmax, 0.2, 2).options.l2);
        assert!(clear < noisy, "{clear} and {noisy}");
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
        fit_choosing_l2(&mut reports(500, 1.0, 3), 10, 2, &options, None, progress).unwrap();
        assert!((last - 1.0).abs() < 1e-12);
    }
}
