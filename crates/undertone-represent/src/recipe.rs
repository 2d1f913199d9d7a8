//! From noisy labels to beliefs: smooth, join with the reports, and smooth again.
//!
//! 1. The unbiased label vectors are smoothed over the graph and in the kernel basis. Filters, sharpness and the weights of both are those
//!    that make the reports of a held-out fifth likeliest.
//! 2. What is believed of somebody without their report, joined with their report by Bayes' rule, is their new target: far less noisy
//!    than the report. Smooth again, as long as the held-out reports become likelier.
//! 3. Everything is fitted once more from all reports, with the choices that were made.
//!
//! All of this is done with public features and reports only, and costs no privacy.

use crate::beliefs::posterior;
use crate::blend::{blend, weights};
use crate::graph::NEIGHBOURS;
use crate::kernel::Landmarks;
use crate::smoother::log_probabilities;
use crate::{Choice, Filter, GraphBasis, KernelBasis, Matrix, Neighbours, RepresentError, Smoother};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

/// Functions of the graph that are looked at.
const GRAPH_SIZES: [usize; 11] = [10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 400];
/// Penalties in the kernel basis.
const PENALTIES: [f64; 7] = [0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0];
/// One in so many is held out.
const HELD_OUT: u64 = 5;
/// The most rounds.
const ROUNDS: usize = 4;
/// What the held-out likelihood may fall by between rounds before they end.
const SLACK: f64 = 1e-4;
/// Added to the votes of neighbours, who may all be wrong.
const DOUBT: f32 = 0.01;

/// How large a representation is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Leading coordinates in which neighbours are looked for
    pub graph_coordinates: usize,
    /// Leading coordinates of the kernel
    pub kernel_coordinates: usize,
    /// Landmarks of the kernel
    pub landmarks: usize,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { graph_coordinates: 100, kernel_coordinates: 200, landmarks: 7000 }
    }
}

/// Bases over the people, made of public coordinates alone.
#[derive(Clone, Debug)]
pub struct Representation {
    sizes: Sizes,
    /// Where people are, for the graph
    places: Matrix,
    graph: GraphBasis,
    kernel: KernelBasis,
}

impl Representation {
    /// Of people at these coordinates, the most telling ones first.
    pub fn new(coordinates: &Matrix, sizes: Sizes) -> Result<Self, RepresentError> {
        coordinates.check_finite("a coordinate")?;
        let places = coordinates.first_columns(sizes.graph_coordinates);
        let most = GRAPH_SIZES[GRAPH_SIZES.len() - 1].min(places.rows() / 4).max(2);
        let graph = GraphBasis::new(&places, most)?;
        let kernel = KernelBasis::new(&coordinates.first_columns(sizes.kernel_coordinates), sizes.landmarks)?;
        Ok(Self { sizes, places, graph, kernel })
    }

    /// How many people.
    pub fn people(&self) -> usize {
        self.places.rows()
    }

    fn smoothers(&self) -> [Smoother<'_>; 2] {
        let most = self.graph.vectors.columns();
        let first = |size: usize| Filter { kept: (0..most).map(|j| f32::from(u8::from(j < size))).collect() };
        let graph = GRAPH_SIZES.iter().filter(|&&size| size <= most).map(|&size| first(size));
        let graph: Vec<Filter> = if most < GRAPH_SIZES[0] { vec![first(most)] } else { graph.collect() };
        let ridge = |penalty: f64| Filter {
            kept: self.kernel.values.iter().map(|value| (value / (value + penalty)) as f32).collect(),
        };
        let kernel = PENALTIES.into_iter().map(ridge).collect();
        [Smoother::new(&self.graph.vectors, graph), Smoother::new(&self.kernel.vectors, kernel)]
    }
}

/// A representation that is ready to learn from reports.
pub struct Recipe<'a> {
    representation: &'a Representation,
    smoothers: [Smoother<'a>; 2],
}

/// What one round chose.
#[derive(Clone, Debug)]
struct Round {
    choices: [Choice; 2],
    weights: Vec<f32>,
    likelihood: f64,
}

/// What is known of the labels: one row for each person, one column for each class.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// a(S) with E\[a | y\] = e_y
    pub unbiased: &'a Matrix,
    /// P(S | ·) up to a factor
    pub likelihood: &'a Matrix,
}

impl<'a> Recipe<'a> {
    /// For the people of a representation.
    pub fn new(representation: &'a Representation) -> Self {
        Self { smoothers: representation.smoothers(), representation }
    }

    /// What the reports tell; the seed says who is held out.
    pub fn learn(&self, told: Told<'_>, seed: u64) -> Result<Learnt, RepresentError> {
        let people = self.representation.people();
        for (what, matrix) in [("the unbiased labels", told.unbiased), ("the likelihoods", told.likelihood)] {
            if matrix.rows() != people {
                return Err(RepresentError::Shape {
                    what,
                    unit: "rows",
                    found: matrix.rows(),
                    expected: people,
                });
            }
            matrix.check_finite(what)?;
        }
        let judges = held_out(people, seed);
        let rounds = self.rounds(told, &judges);
        Ok(self.refit(told, &rounds))
    }

    /// The choices of each round, up to the best one.
    fn rounds(&self, told: Told<'_>, judges: &[usize]) -> Vec<Round> {
        let classes = told.unbiased.columns();
        let even = 1.0 / classes as f32;
        let mut silent = told.likelihood.clone();
        let mut targets = centred(told.unbiased);
        // Those who are asked stand for those who are held out, too
        let share = 1.0 - judges.len() as f32 / targets.rows() as f32;
        targets.values_mut().iter_mut().for_each(|x| *x /= share);
        for &judge in judges {
            silent.row_mut(judge).fill(1.0);
            targets.row_mut(judge).fill(0.0);
        }
        let judging = told.likelihood.select(judges);
        let mut rounds: Vec<Round> = Vec::new();
        for _ in 0..ROUNDS {
            let choices = [0, 1].map(|i| self.smoothers[i].choose(&targets, told.likelihood, judges));
            let beliefs = [0, 1].map(|i| self.smoothers[i].fit(&targets, choices[i]).0);
            let graph_first = choices[0].likelihood >= choices[1].likelihood;
            let start = if graph_first { [1.0, 0.0] } else { [0.0, 1.0] };
            let (found, likelihood) =
                weights(&[0, 1].map(|i: usize| beliefs[i].select(judges)), &judging, &start);
            targets = posterior(&blend(&beliefs, &found), &silent);
            targets.values_mut().iter_mut().for_each(|x| *x -= even);
            let fell = rounds.last().is_some_and(|last| likelihood < last.likelihood - SLACK);
            rounds.push(Round { choices, weights: found, likelihood });
            if fell {
                break;
            }
        }
        let best = (0..rounds.len()).max_by(|&a, &b| rounds[a].likelihood.total_cmp(&rounds[b].likelihood));
        rounds.truncate(best.map_or(0, |best| best + 1));
        rounds
    }

    /// The same rounds with all reports.
    fn refit(&self, told: Told<'_>, rounds: &[Round]) -> Learnt {
        let even = 1.0 / told.unbiased.columns() as f32;
        let mut targets = centred(told.unbiased);
        let mut learnt = None;
        for round in rounds {
            let fits = [0, 1].map(|i| self.smoothers[i].fit(&targets, round.choices[i]));
            let [(graph, _), (kernel, coefficients)] = fits;
            let beliefs = posterior(&blend(&[graph, kernel], &round.weights), told.likelihood);
            targets = beliefs.clone();
            targets.values_mut().iter_mut().for_each(|x| *x -= even);
            learnt = Some((beliefs, coefficients, round));
        }
        let (beliefs, coefficients, round) = learnt.expect("at least one round");
        let (landmarks, landmark_weights) = self.representation.kernel.function(&coefficients);
        Learnt {
            graph_coordinates: self.representation.sizes.graph_coordinates,
            kernel_coordinates: self.representation.sizes.kernel_coordinates,
            places: self.representation.places.clone(),
            measure: self.representation.graph.measure().to_vec(),
            beliefs,
            landmarks,
            landmark_weights,
            sharpness: round.choices[1].sharpness,
            weights: [round.weights[0], round.weights[1]],
            likelihood: round.likelihood,
        }
    }
}

/// T - 1/K.
fn centred(unbiased: &Matrix) -> Matrix {
    let mut out = unbiased.clone();
    let even = 1.0 / unbiased.columns() as f32;
    out.values_mut().iter_mut().for_each(|x| *x -= even);
    out
}

/// One in five people, in order.
fn held_out(people: usize, seed: u64) -> Vec<usize> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..people).filter(|_| rng.next_u64().is_multiple_of(HELD_OUT)).collect()
}

/// What was learnt: beliefs about the people who told, and how they go on to others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Learnt {
    graph_coordinates: usize,
    kernel_coordinates: usize,
    places: Matrix,
    measure: Vec<f32>,
    beliefs: Matrix,
    landmarks: Landmarks,
    landmark_weights: Matrix,
    sharpness: f32,
    weights: [f32; 2],
    likelihood: f64,
}

impl Learnt {
    /// What is believed of each of the people who told.
    pub fn beliefs(&self) -> &Matrix {
        &self.beliefs
    }

    /// The mean log likelihood of the held-out reports.
    pub fn likelihood(&self) -> f64 {
        self.likelihood
    }

    /// The probabilities of others at these coordinates: the votes of their neighbours among those who told, and the smooth function.
    pub fn probabilities(&self, coordinates: &Matrix) -> Result<Matrix, RepresentError> {
        coordinates.check_finite("a coordinate")?;
        let classes = self.beliefs.columns();
        let places = coordinates.first_columns(self.graph_coordinates);
        let neighbours = Neighbours::find(&places, &self.places, NEIGHBOURS, false)?;
        let votes = GraphBasis::votes_by(&self.measure, &neighbours);
        let mut graph = Matrix::zeros(coordinates.rows(), classes);
        for person in 0..coordinates.rows() {
            let own = &votes[person * NEIGHBOURS..][..NEIGHBOURS];
            for ((who, _), vote) in neighbours.of(person).zip(own) {
                let belief = self.beliefs.row(who);
                graph.row_mut(person).iter_mut().zip(belief).for_each(|(sum, q)| *sum += vote * q);
            }
        }
        graph.values_mut().iter_mut().for_each(|p| *p = (*p + DOUBT).ln());
        let near = self.landmarks.kernel(&coordinates.first_columns(self.kernel_coordinates))?;
        let mut kernel = near.times(&self.landmark_weights);
        log_probabilities(&mut kernel, self.sharpness);
        Ok(blend(&[graph, kernel], &self.weights))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let learnt = Recipe::new(&representation).learn(told, 1).unwrap();
        // The nearest centre is wrong against each of two others with probability Φ(-2.5), 1.2 % together; reports alone are right 60 %
        let own = accuracy(learnt.beliefs(), &world.labels);
        assert!(own > 0.975, "{own}");
        let fresh = super::tests::world(2000, 6);
        let found = learnt.probabilities(&fresh.coordinates).unwrap();
        let others = accuracy(&found, &fresh.labels);
        assert!(others > 0.975, "{others}");
        // It reads back as itself
        let again = Recipe::new(&representation).learn(told, 1).unwrap();
        assert_eq!(again, learnt);
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
        let learnt = Recipe::new(&representation).learn(told, 1).unwrap();
        let found = learnt.probabilities(&world.coordinates).unwrap();
        let sure = found.values().chunks(3).filter(|row| row.iter().any(|&p| p > 0.6)).count();
        assert!(sure < 300, "{sure} of 3000 are believed to be sure");
    }

    #[test]
    fn other_people_than_those_who_told_are_refused() {
        let world = world(200, 5);
        let representation =
            Representation::new(&world.coordinates, Sizes { landmarks: 50, ..Sizes::default() }).unwrap();
        let fewer = world.unbiased.select(&(0..100).collect::<Vec<_>>());
        let told = Told { unbiased: &fewer, likelihood: &world.likelihood };
        let refused = Recipe::new(&representation).learn(told, 1);
        assert!(matches!(refused, Err(RepresentError::Shape { found: 100, expected: 200, .. })));
    }
}
