//! From noisy labels to beliefs: smooth, join with the reports, and smooth again.
//!
//! 1. The unbiased label vectors are smoothed over the graph and in the kernel basis. Filter and sharpness are those that make the reports
//!    likeliest, everybody's under what is believed without it; the likeliest of all smoothers starts.
//! 2. What is believed of somebody without their report, joined with their report by Bayes' rule, is their new target: far less noisy
//!    than the report. If the graph started, it is smoothed alone twice more, as the kernel basis is large enough to follow noise.
//! 3. Then both are smoothed and blended, with weights that make the reports likeliest, three times or until that makes them less likely.
//! 4. The functions of the kernels that make the reports themselves likeliest count beside that, if people whose reports nothing of it
//!    has heard find theirs likelier so.
//!
//! After the first round others' targets hold a little of one's own report, and leaving out the own target is not quite leaving out the
//! report; a report moves sixty thousand others by very little.
//!
//! All of this is done with public features and reports only, and costs no privacy.

use crate::beliefs::{log_likelihoods, posterior};
use crate::blend::{blend, difference, weights};
use crate::learnt::{Function, KernelView, View, Votes};
use crate::refine::{Refinement, judges};
use crate::smoother::{Choice, Smoother};
use crate::{KernelBasis, Learnt, Matrix, RepresentError, Representation};

/// Rounds in which the graph alone is smoothed, if it starts.
const GRAPH_ROUNDS: usize = 2;
/// Rounds in which everything is blended.
const BLEND_ROUNDS: usize = 3;

/// Representations that are ready to learn from reports.
pub struct Recipe<'a> {
    representations: Vec<&'a Representation>,
    /// Graph and kernel of each representation
    smoothers: Vec<Smoother<'a>>,
}

/// What one round chose.
#[derive(Clone, Debug)]
struct Round {
    /// A weight of nothing has no choice
    parts: Vec<Option<Choice>>,
    weights: Vec<f32>,
    likelihood: f64,
}

/// What smoothing came to.
struct Smoothed {
    last: Round,
    targets: Matrix,
    /// Of everybody, without their own report
    believed: Matrix,
    steps: Vec<String>,
}

/// What is known of the labels: one row for each person, one column for each class.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// a(S) with E\[a | y\] = e_y, for every y that the person could have answered
    pub unbiased: &'a Matrix,
    /// P(S | ·) up to a factor
    pub likelihood: &'a Matrix,
}

impl Told<'_> {
    fn check(&self, people: usize) -> Result<(), RepresentError> {
        let (unbiased, likelihood) = (self.unbiased, self.likelihood);
        for (what, matrix) in [("the unbiased labels", unbiased), ("the likelihoods", likelihood)] {
            if matrix.rows() != people {
                let found = matrix.rows();
                return Err(RepresentError::Shape { what, unit: "rows", found, expected: people });
            }
            matrix.check_finite(what)?;
        }
        if unbiased.columns() != likelihood.columns() {
            return Err(RepresentError::Shape {
                what: "the likelihoods",
                unit: "columns",
                found: likelihood.columns(),
                expected: unbiased.columns(),
            });
        }
        Ok(())
    }

    /// Whether anybody speaks for each class; of a class that nobody speaks for nothing can be learnt. A report speaks for the classes that
    /// make it likeliest: where somebody was asked about some classes only, those beyond lie between them and the others.
    pub fn spoken_for(&self) -> Vec<bool> {
        let classes = self.likelihood.columns();
        let mut spoken_for = vec![false; classes];
        for row in self.likelihood.values().chunks_exact(classes) {
            let (least, most) = row
                .iter()
                .fold((f32::INFINITY, f32::NEG_INFINITY), |(least, most), &e| (least.min(e), most.max(e)));
            row.iter().zip(&mut spoken_for).for_each(|(&e, spoken)| *spoken |= e >= most && e > least);
        }
        spoken_for
    }

    /// The same without what judges say: unbiased vectors and likelihoods.
    fn without(&self, judges: &[usize]) -> (Matrix, Matrix) {
        let even = 1.0 / self.unbiased.columns() as f32;
        (silent(self.unbiased, judges, even), silent(self.likelihood, judges, 1.0))
    }
}

impl<'a> Recipe<'a> {
    /// For the people of some representations, which are the same people in each.
    pub fn new(representations: &[&'a Representation]) -> Result<Self, RepresentError> {
        let Some(first) = representations.first() else {
            return Err(RepresentError::Shape {
                what: "what is given",
                unit: "representations",
                found: 0,
                expected: 1,
            });
        };
        if let Some(other) = representations.iter().find(|other| other.people() != first.people()) {
            return Err(RepresentError::Shape {
                what: "a representation",
                unit: "people",
                found: other.people(),
                expected: first.people(),
            });
        }
        let both = |of: &&'a Representation| [of.graph_smoother(), of.kernel_smoother()];
        let smoothers = representations.iter().flat_map(both).collect();
        Ok(Self { representations: representations.to_vec(), smoothers })
    }

    /// What the reports tell.
    pub fn learn(&self, told: Told<'_>) -> Result<Learnt, RepresentError> {
        told.check(self.representations[0].people())?;
        let Smoothed { last, targets, believed, steps } = self.smooth(told);
        let views = (0..self.representations.len()).map(|which| self.view(which, &last, &targets)).collect();
        let beliefs = posterior(&believed, told.likelihood);
        let mut learnt = Learnt { beliefs, views, likelihood: last.likelihood, steps };
        self.refine(&mut learnt, told, &believed);
        Ok(learnt)
    }

    /// Round after round.
    fn smooth(&self, told: Told<'_>) -> Smoothed {
        let reports = told.likelihood;
        let mut targets = centred(told.unbiased);
        let all: Vec<usize> = (0..self.smoothers.len()).collect();
        let graphs: Vec<usize> = all.iter().copied().filter(|part| part % 2 == 0).collect();
        let mut last = self.round(&targets, reports, &all, true);
        let mut believed = self.believed(&targets, &last);
        let mut steps = vec![self.words(&last)];
        let graph_started = last.parts.iter().step_by(2).any(Option::is_some);
        let alone = if graph_started { GRAPH_ROUNDS } else { 0 };
        for round in 0..alone + BLEND_ROUNDS {
            let single = round < alone;
            let next = centred(&posterior(&believed, reports));
            let found = self.round(&next, reports, if single { &graphs } else { &all }, single);
            let after = self.believed(&next, &found);
            // Reports that become less likely, by more than luck, say that beliefs feed on themselves
            let (gain, error) = difference(&judged(&after, reports), &judged(&believed, reports));
            if !single && gain < -error {
                break;
            }
            steps.push(self.words(&found));
            (last, targets, believed) = (found, next, after);
        }
        Smoothed { last, targets, believed, steps }
    }

    /// Adds the functions that make the reports likeliest, if people whose reports nothing of it has heard find theirs likelier so.
    fn refine(&self, learnt: &mut Learnt, told: Told<'_>, believed: &Matrix) {
        let judges = judges(told.likelihood.rows());
        let (unbiased, likelihood) = told.without(&judges);
        let before = self.smooth(Told { unbiased: &unbiased, likelihood: &likelihood }).believed;
        let kernels: Vec<&KernelBasis> = self.representations.iter().map(|of| &of.kernel).collect();
        let refinement =
            Refinement { kernels: &kernels, judges: &judges, heard: &likelihood, before: &before };
        let refined = refinement.choose(told.likelihood);
        learnt.steps.push(refined.to_string());
        learnt.likelihood += refined.likelihoods[1] - refined.likelihoods[0];
        learnt.views.iter_mut().for_each(|view| view.scale(refined.weight));
        for (which, likeliest) in refined.functions.iter().enumerate().filter(|(_, found)| found.weight > 0.0)
        {
            let coefficients = likeliest.fitted(kernels[which], believed, told.likelihood);
            let values = kernels[which].worth(&coefficients);
            let function = Function { weight: likeliest.weight, sharpness: likeliest.sharpness, values };
            let landmarks =
                || KernelView { landmarks: kernels[which].landmarks().clone(), functions: Vec::new() };
            learnt.views[which].kernel.get_or_insert_with(landmarks).functions.push(function);
        }
        learnt.views.iter_mut().for_each(View::tidy);
    }

    /// What a round chose, in words.
    fn words(&self, round: &Round) -> String {
        let chosen = round.parts.iter().zip(&round.weights).enumerate();
        let part = |(part, (choice, weight)): (usize, (&Option<Choice>, &f32))| {
            let Choice { filter, sharpness, .. } = choice.as_ref()?;
            let (name, which) = (if part % 2 == 0 { "graph" } else { "kernel" }, part / 2 + 1);
            let filter = self.smoothers[part].name(*filter);
            Some(format!("{weight} × {name} {which} ({filter}, sharpness {sharpness:.1})"))
        };
        let parts: Vec<String> = chosen.filter_map(part).collect();
        format!("likelihood {:.6}: {}", round.likelihood, parts.join(" "))
    }

    /// What a round believes of everybody without their own report.
    fn believed(&self, targets: &Matrix, round: &Round) -> Matrix {
        blend(&self.logs(targets, round), &used(round))
    }

    /// The best filter of each of some parts, and the weights of all, or the single best.
    fn round(&self, targets: &Matrix, reports: &Matrix, parts: &[usize], single: bool) -> Round {
        let mut chosen: Vec<Option<Choice>> = vec![None; self.smoothers.len()];
        for &part in parts {
            chosen[part] = Some(self.smoothers[part].choose(targets, reports));
        }
        let value = |part: usize| chosen[part].map_or(f64::NEG_INFINITY, |choice| choice.likelihood);
        let best = (0..chosen.len()).max_by(|&a, &b| value(a).total_cmp(&value(b))).expect("a part");
        let mut start = vec![0.0; chosen.len()];
        start[best] = 1.0;
        let (weights, likelihood) = if single {
            (start, value(best))
        } else {
            let round = Round { parts: chosen.clone(), weights: start.clone(), likelihood: 0.0 };
            weights(&self.logs(targets, &round), reports, &start, 1.0)
        };
        for (choice, &weight) in chosen.iter_mut().zip(&weights) {
            if weight == 0.0 {
                *choice = None;
            }
        }
        Round { parts: chosen, weights, likelihood }
    }

    /// Log probabilities of the parts that have a choice.
    fn logs(&self, targets: &Matrix, round: &Round) -> Vec<Matrix> {
        let chosen = self.smoothers.iter().zip(&round.parts);
        chosen.filter_map(|(smoother, part)| part.map(|choice| smoother.fit(targets, choice).0)).collect()
    }

    /// How others are seen in a representation.
    fn view(&self, which: usize, round: &Round, targets: &Matrix) -> View {
        let representation = self.representations[which];
        let weight = |part: usize| round.weights[part];
        let votes = round.parts[2 * which].map(|_| Votes {
            weight: weight(2 * which),
            places: representation.places.clone(),
            measure: representation.graph.measure().to_vec(),
        });
        let part = 2 * which + 1;
        let kernel = round.parts[part].map(|choice| {
            let coefficients = self.smoothers[part].fit(targets, choice).1;
            let values = representation.kernel.worth(&coefficients);
            let function = Function { weight: weight(part), sharpness: choice.sharpness, values };
            KernelView { landmarks: representation.kernel.landmarks().clone(), functions: vec![function] }
        });
        View { votes, kernel }
    }
}

/// What is known if some say nothing, which is the same for all classes.
fn silent(told: &Matrix, some: &[usize], nothing: f32) -> Matrix {
    let mut out = told.clone();
    for &person in some {
        out.row_mut(person).fill(nothing);
    }
    out
}

/// The weights of the parts that have a choice.
fn used(round: &Round) -> Vec<f32> {
    let both = round.parts.iter().zip(&round.weights);
    both.filter(|(part, _)| part.is_some()).map(|(_, &weight)| weight).collect()
}

/// ln of the likelihood of each report.
fn judged(beliefs: &Matrix, reports: &Matrix) -> Vec<f64> {
    log_likelihoods(beliefs.values(), reports.values(), reports.columns())
}

/// T - 1/K.
fn centred(unbiased: &Matrix) -> Matrix {
    let mut out = unbiased.clone();
    let even = 1.0 / unbiased.columns() as f32;
    out.values_mut().iter_mut().for_each(|x| *x -= even);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sizes;
    use rand_chacha::ChaCha8Rng;
    use rand_core::{Rng, SeedableRng};

    /// People in K clouds, each with the label of their cloud, told by randomized response at e^ε = 3.
    struct World {
        coordinates: Matrix,
        labels: Vec<usize>,
        unbiased: Matrix,
        likelihood: Matrix,
    }

    fn world(people: usize, seed: u64) -> World {
        const K: usize = 3;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut uniform = || rng.next_u64() as f64 / 2f64.powi(64);
        let labels: Vec<usize> = (0..people).map(|_| (uniform() * K as f64) as usize).collect();
        let mut coordinates = Matrix::zeros(people, 4);
        let (mut unbiased, mut likelihood) = (Matrix::zeros(people, K), Matrix::zeros(people, K));
        // P(told = y) = p, P(told = another) = q
        let (p, q) = (3.0 / 5.0, 1.0 / 5.0);
        for (i, &label) in labels.iter().enumerate() {
            for (j, x) in coordinates.row_mut(i).iter_mut().enumerate() {
                let noise: f64 = (0..6).map(|_| uniform() - 0.5).sum();
                *x = (noise + if j == label { 2.5 } else { 0.0 }) as f32;
            }
            let u = uniform();
            let told = if u < p { label } else { (label + if u < p + q { 1 } else { 2 }) % K };
            for k in 0..K {
                let said = f64::from(u8::from(k == told));
                unbiased.row_mut(i)[k] = ((said - q) / (p - q)) as f32;
                likelihood.row_mut(i)[k] = (1.0 + 2.0 * said) as f32;
            }
        }
        World { coordinates, labels, unbiased, likelihood }
    }

    fn accuracy(probabilities: &Matrix, labels: &[usize]) -> f64 {
        let right = |(i, &label): (usize, &usize)| {
            let row = probabilities.row(i);
            (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b])) == Some(label)
        };
        labels.iter().enumerate().filter(|&pair| right(pair)).count() as f64 / labels.len() as f64
    }

    #[test]
    fn clouds_are_learnt_from_labels_of_which_two_in_five_are_lies() {
        let world = world(3000, 5);
        let sizes = Sizes { landmarks: 200, ..Sizes::default() };
        let representation = Representation::new(&world.coordinates, sizes).unwrap();
        let told = Told { unbiased: &world.unbiased, likelihood: &world.likelihood };
        let learnt = Recipe::new(&[&representation]).unwrap().learn(told).unwrap();
        // The nearest centre is wrong against each of two others with probability Φ(-2.5), 1.2 % together; reports alone are right 60 %
        let own = accuracy(learnt.beliefs(), &world.labels);
        assert!(own > 0.975, "{own}");
        let fresh = super::tests::world(2000, 6);
        let found = learnt.probabilities(&[&fresh.coordinates]).unwrap();
        let others = accuracy(&found, &fresh.labels);
        assert!(others > 0.975, "{others}");
        // Learning again is the same to the last bit
        let again = Recipe::new(&[&representation]).unwrap().learn(told).unwrap();
        assert_eq!(again, learnt);
    }

    #[test]
    fn what_judges_report_is_not_in_what_they_judge() {
        let world = world(1500, 8);
        let sizes = Sizes { landmarks: 100, ..Sizes::default() };
        let representation = Representation::new(&world.coordinates, sizes).unwrap();
        let recipe = Recipe::new(&[&representation]).unwrap();
        let judges = judges(1500);
        // The judges change their minds
        let changed = |told: &Matrix| {
            let mut other = told.clone();
            for &judge in &judges {
                other.row_mut(judge).rotate_left(1);
            }
            other
        };
        let before = |unbiased: &Matrix, likelihood: &Matrix| {
            let (unbiased, likelihood) = Told { unbiased, likelihood }.without(&judges);
            recipe.smooth(Told { unbiased: &unbiased, likelihood: &likelihood }).believed
        };
        let (unbiased, likelihood) = (changed(&world.unbiased), changed(&world.likelihood));
        assert!(judges.len() > 250 && unbiased != world.unbiased && likelihood != world.likelihood);
        assert_eq!(before(&world.unbiased, &world.likelihood), before(&unbiased, &likelihood));
    }

    #[test]
    fn whoever_has_no_vote_has_no_say_through_neighbours_nor_has_a_kernel_without_functions() {
        let world = world(400, 9);
        let sizes = Sizes { landmarks: 50, ..Sizes::default() };
        let representation = Representation::new(&world.coordinates, sizes).unwrap();
        let told = Told { unbiased: &world.unbiased, likelihood: &world.likelihood };
        let mut learnt = Recipe::new(&[&representation]).unwrap().learn(told).unwrap();
        // Votes alone, whatever reports made of them
        let measure = representation.graph.measure().to_vec();
        let votes = Votes { weight: 1.0, places: representation.places.clone(), measure };
        let landmarks = representation.kernel.landmarks().clone();
        learnt.views = vec![View { votes: Some(votes), kernel: None }];
        let aside = |person: usize| person.is_multiple_of(8);
        let mut poisoned = learnt.clone();
        (0..400)
            .filter(|&person| aside(person))
            .for_each(|person| poisoned.beliefs.row_mut(person).fill(9.0));
        let found = |learnt: Learnt| learnt.probabilities(&[&world.coordinates]).unwrap();
        assert_ne!(found(learnt.clone()), found(poisoned.clone()));
        let few = learnt.clone().without_votes_of(|person| person > 10);
        assert!(matches!(few, Err(RepresentError::TooFew { people: 11, .. })));
        let [learnt, poisoned] = [learnt, poisoned].map(|learnt| learnt.without_votes_of(aside).unwrap());
        assert!(learnt.check().is_ok() && learnt.beliefs().rows() == 350);
        assert_eq!(found(learnt.clone()), found(poisoned));
        let mut idle = learnt.clone();
        idle.views[0].kernel = Some(KernelView { landmarks, functions: Vec::new() });
        assert_eq!(found(idle), found(learnt));
    }

    #[test]
    fn where_labels_are_not_in_the_features_nothing_is_believed() {
        let mut world = world(3000, 7);
        // Everybody gets the report of somebody else
        let turn: Vec<usize> = (0..3000).map(|i| (i * 7 + 13) % 3000).collect();
        world.unbiased = world.unbiased.select(&turn);
        world.likelihood = world.likelihood.select(&turn);
        let sizes = Sizes { landmarks: 200, ..Sizes::default() };
        let representation = Representation::new(&world.coordinates, sizes).unwrap();
        let told = Told { unbiased: &world.unbiased, likelihood: &world.likelihood };
        let learnt = Recipe::new(&[&representation]).unwrap().learn(told).unwrap();
        let found = learnt.probabilities(&[&world.coordinates]).unwrap();
        let sure = found.values().chunks(3).filter(|row| row.iter().any(|&p| p > 0.6)).count();
        assert!(sure < 300, "{sure} of 3000 are believed to be sure");
    }

    #[test]
    fn a_report_speaks_for_its_members_whoever_was_asked_about_which_classes() {
        let spoken_for = |rows: &[[f32; 3]]| {
            let likelihood = Matrix::new(3, rows.concat()).unwrap();
            Told { unbiased: &likelihood, likelihood: &likelihood }.spoken_for()
        };
        // Asked about the first two classes, somebody of the third answers either
        assert_eq!(spoken_for(&[[1.5, 0.5, 1.0]]), [true, false, false]);
        // Asked about one class only, nobody says anything
        assert_eq!(spoken_for(&[[1.0, 1.0, 1.0]]), [false; 3]);
        assert_eq!(spoken_for(&[[0.5, 1.5, 1.0], [2.0, 1.0, 2.0]]), [true; 3]);
    }

    #[test]
    fn of_a_class_that_nobody_speaks_for_nothing_is_learnt_and_of_the_others_it_is() {
        let mut world = world(200, 5);
        world.likelihood.values_mut().chunks_exact_mut(3).for_each(|row| row[1] = 0.5);
        let sizes = Sizes { landmarks: 50, ..Sizes::default() };
        let representation = Representation::new(&world.coordinates, sizes).unwrap();
        let told = Told { unbiased: &world.unbiased, likelihood: &world.likelihood };
        assert_eq!(told.spoken_for(), [true, false, true]);
        // Of the others something can be learnt
        assert!(Recipe::new(&[&representation]).unwrap().learn(told).is_ok());
    }

    #[test]
    fn other_people_than_those_who_told_are_refused() {
        let world = world(200, 5);
        let representation =
            Representation::new(&world.coordinates, Sizes { landmarks: 50, ..Sizes::default() }).unwrap();
        let fewer = world.unbiased.select(&(0..100).collect::<Vec<_>>());
        let told = Told { unbiased: &fewer, likelihood: &world.likelihood };
        let refused = Recipe::new(&[&representation]).unwrap().learn(told);
        assert!(matches!(refused, Err(RepresentError::Shape { found: 100, expected: 200, .. })));
    }
}
