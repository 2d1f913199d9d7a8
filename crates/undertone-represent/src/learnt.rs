//! What was learnt, and how it goes on to others.

use crate::blend::blend;
use crate::error::same;
use crate::graph::NEIGHBOURS;
use crate::smoother::log_probabilities;
use crate::{GraphBasis, Landmarks, Matrix, Neighbours, RepresentError};
use serde::{Deserialize, Serialize};

/// Added to the votes of neighbours, who may all be wrong.
const DOUBT: f32 = 0.01;

/// What was learnt: beliefs about the people who told, and how they go on to others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Learnt {
    pub(crate) beliefs: Matrix,
    /// For each representation
    pub(crate) views: Vec<View>,
    pub(crate) likelihood: f64,
    pub(crate) steps: Vec<String>,
}

/// How others are seen in one representation: what has no weight is left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct View {
    pub(crate) votes: Option<Votes>,
    pub(crate) kernel: Option<KernelView>,
}

/// The beliefs about the neighbours among those who told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Votes {
    pub(crate) weight: f32,
    /// Where those who told are
    pub(crate) places: Matrix,
    /// The distance to the seventh neighbour of each
    pub(crate) measure: Vec<f32>,
}

/// Smooth functions of where somebody is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct KernelView {
    pub(crate) landmarks: Landmarks,
    pub(crate) functions: Vec<Function>,
}

/// softmax(β·k(x, ·)·w), which counts by its weight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Function {
    pub(crate) weight: f32,
    pub(crate) sharpness: f32,
    pub(crate) values: Matrix,
}

impl Learnt {
    /// What is believed of each of the people who told.
    pub fn beliefs(&self) -> &Matrix {
        &self.beliefs
    }

    /// The mean log likelihood of reports that judged.
    pub fn likelihood(&self) -> f64 {
        self.likelihood
    }

    /// What was chosen, a line for each step.
    pub fn steps(&self) -> &[String] {
        &self.steps
    }

    /// The same without the votes of some, who are strangers to it if they are to judge it: others have no vote for themselves either.
    pub fn without_votes_of(mut self, some: impl Fn(usize) -> bool) -> Result<Self, RepresentError> {
        let others: Vec<usize> = (0..self.beliefs.rows()).filter(|&person| !some(person)).collect();
        if others.len() < NEIGHBOURS {
            return Err(RepresentError::TooFew {
                people: others.len(),
                needed: "votes of neighbours".into(),
            });
        }
        self.beliefs = self.beliefs.select(&others);
        for votes in self.views.iter_mut().filter_map(|view| view.votes.as_mut()) {
            votes.places = votes.places.select(&others);
            votes.measure = others.iter().map(|&person| votes.measure[person]).collect();
        }
        Ok(self)
    }

    /// Refuses parts that do not fit together, as a document may have them: everybody has a place, a measure and a belief, every function a
    /// value for each landmark, and everything as many classes.
    pub fn check(&self) -> Result<(), RepresentError> {
        let (people, classes) = (self.beliefs.rows(), self.beliefs.columns());
        let mut parts = 0;
        for view in &self.views {
            if let Some(votes) = &view.votes {
                same("the places of those who told", "rows", votes.places.rows(), people)?;
                same("the distances of those who told", "rows", votes.measure.len(), people)?;
                parts += 1;
            }
            if let Some(kernel) = &view.kernel {
                for function in &kernel.functions {
                    same("a function", "landmarks", function.values.rows(), kernel.landmarks.count())?;
                    same("a function", "classes", function.values.columns(), classes)?;
                    parts += 1;
                }
            }
        }
        same("what was learnt", "parts", parts, parts.max(1))
    }

    /// Probabilities for others at these coordinates, which are given for each representation: the votes of their neighbours among those
    /// who told, and the smooth functions.
    pub fn probabilities(&self, coordinates: &[&Matrix]) -> Result<Matrix, RepresentError> {
        same("what is given", "representations", coordinates.len(), self.views.len())?;
        let (mut logs, mut weights) = (Vec::new(), Vec::new());
        for (view, coordinates) in self.views.iter().zip(coordinates) {
            coordinates.check_finite("a coordinate")?;
            if let Some(votes) = &view.votes {
                logs.push(votes.of(coordinates, &self.beliefs)?);
                weights.push(votes.weight);
            }
            if let Some(kernel) = view.kernel.as_ref().filter(|kernel| !kernel.functions.is_empty()) {
                let near =
                    kernel.landmarks.kernel(&coordinates.first_columns(kernel.landmarks.coordinates()))?;
                for function in &kernel.functions {
                    let mut scores = near.times(&function.values);
                    log_probabilities(&mut scores, function.sharpness);
                    logs.push(scores);
                    weights.push(function.weight);
                }
            }
        }
        Ok(blend(&logs, &weights))
    }
}

impl View {
    /// Leaves out a kernel that has no functions, as nobody's nearness to its landmarks has to be known.
    pub(crate) fn tidy(&mut self) {
        self.kernel.take_if(|kernel| kernel.functions.is_empty());
    }

    /// Makes everything count by a factor, and leaves out what no longer counts; the landmarks stay for functions that may be added.
    pub(crate) fn scale(&mut self, factor: f32) {
        if let Some(votes) = &mut self.votes {
            votes.weight *= factor;
        }
        self.votes.take_if(|votes| votes.weight == 0.0);
        if let Some(kernel) = &mut self.kernel {
            kernel.functions.iter_mut().for_each(|function| function.weight *= factor);
            kernel.functions.retain(|function| function.weight != 0.0);
        }
    }
}

impl Votes {
    /// ln of the beliefs about the neighbours, by how near they are.
    fn of(&self, coordinates: &Matrix, beliefs: &Matrix) -> Result<Matrix, RepresentError> {
        let places = coordinates.first_columns(self.places.columns());
        let neighbours = Neighbours::find(&places, &self.places, NEIGHBOURS, false)?;
        let votes = GraphBasis::votes_by(&self.measure, &neighbours);
        let mut out = Matrix::zeros(coordinates.rows(), beliefs.columns());
        for person in 0..coordinates.rows() {
            let own = &votes[person * NEIGHBOURS..][..NEIGHBOURS];
            for ((who, _), vote) in neighbours.of(person).zip(own) {
                let belief = beliefs.row(who);
                out.row_mut(person).iter_mut().zip(belief).for_each(|(sum, q)| *sum += vote * q);
            }
        }
        out.values_mut().iter_mut().for_each(|p| *p = (*p + DOUBT).ln());
        Ok(out)
    }
}
