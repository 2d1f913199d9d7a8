//! Many replications of a run, on all cores, with the same results on any number of them.

use super::descent::{Advance, Block, Kept};
use super::lanes::{LANES, Lanes};
use super::noise::Noise;
use super::people::{People, Records};
use super::stream::Streams;
use crate::LearnError;
use crate::online::Steps;
use rayon::prelude::*;
use undertone_privacy::gradient::RecordModel;

/// What is run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Whose gradients
    pub model: RecordModel,
    /// What devices do to them
    pub noise: Noise,
    /// How far a report moves θ
    pub steps: Steps,
    /// What is kept of the path
    pub kept: Kept,
}

/// Where a descent is after so many people.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// People so far
    pub people: u64,
    /// θ_n, LDP-SGD
    pub last: Vec<f64>,
    /// The mean of θ_1, …, θ_n, LDP-ASGD
    pub average: Vec<f64>,
    /// The mean with weights of about i³, if it was kept
    pub decayed: Vec<f64>,
    /// V of random scaling for each coordinate, if it was kept
    pub variance: Vec<f64>,
}

/// The places of one replication, as far apart as they were asked for.
pub type Path = Vec<Place>;

impl Setting {
    /// Runs `replications` on `people` from the point `start`, and looks at each after as many people as `marks` say.
    /// `progress` is told how many people have reported.
    pub fn replicate(
        &self,
        people: People,
        start: &[f64],
        marks: &[u64],
        replications: usize,
        seed: u64,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Vec<Path>, LearnError> {
        self.model.check_point(start)?;
        if self.model.covariates() != people.dimension + 1 {
            return Err(LearnError::Parameter {
                what: "the number of covariates of the model",
                value: self.model.covariates() as f64,
                expected: "that of the people, and the constant",
            });
        }
        let start: Vec<Lanes> = start.iter().map(|&value| [value; LANES]).collect();
        self.blocks(marks, replications, seed, progress, |_, _| (people, start.clone()))
    }

    /// The same for any records and starts, which `begin` makes for the block whose first replication it is given.
    pub(super) fn blocks<R: Records>(
        &self,
        marks: &[u64],
        replications: usize,
        seed: u64,
        progress: &(dyn Fn(u64) + Sync),
        begin: impl Fn(u64, &mut Streams) -> (R, Vec<Lanes>) + Sync,
    ) -> Result<Vec<Path>, LearnError> {
        if !marks.is_sorted() || marks.first().is_none_or(|&first| first == 0) {
            return Err(LearnError::Parameter {
                what: "the first number of people to look after",
                value: marks.first().map_or(f64::NAN, |&first| first as f64),
                expected: "at least one, and the others rising",
            });
        }
        let etas: Vec<f64> = (1..=marks[marks.len() - 1]).map(|i| self.steps.at(i)).collect();
        let perturbation = self.noise.made_for(&self.model)?;
        let one = |block: usize| -> Vec<Path> {
            let first = block * LANES;
            let mut streams = Streams::new(seed, first as u64);
            let (mut records, start) = begin(first as u64, &mut streams);
            let mut state = Block::new(&start, streams);
            let count = LANES.min(replications - first);
            let mut paths = vec![Path::new(); count];
            for &mark in marks {
                let etas = &etas[state.steps as usize..mark as usize];
                pulp::Arch::new().dispatch(Advance {
                    block: &mut state,
                    records: &mut records,
                    model: &self.model,
                    perturbation: &perturbation,
                    etas,
                    kept: self.kept,
                });
                progress((etas.len() * count) as u64);
                for (lane, path) in paths.iter_mut().enumerate() {
                    path.push(self.place(&state, lane));
                }
            }
            paths
        };
        Ok((0..replications.div_ceil(LANES)).into_par_iter().flat_map_iter(one).collect())
    }

    fn place(&self, block: &Block, lane: usize) -> Place {
        let of = |values: &[Lanes]| -> Vec<f64> { values.iter().map(|value| value[lane]).collect() };
        let p = self.model.parameters();
        Place {
            people: block.steps,
            last: of(&block.theta),
            average: of(&block.average),
            decayed: if self.kept.decayed { of(&block.decayed) } else { Vec::new() },
            variance: (0..p).filter(|_| self.kept.spread).map(|j| block.variance(j)[lane]).collect(),
        }
    }
}
