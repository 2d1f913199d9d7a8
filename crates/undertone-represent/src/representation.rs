//! Bases over the people, made of public coordinates once, and learnt from as often as there are reports.

use crate::error::same;
use crate::matrix::IN_PLACE;
use crate::smoother::{Filter, Smoother};
use crate::spectrum::SPARE;
use crate::{GraphBasis, KernelBasis, Matrix, RepresentError};
use serde::{Deserialize, Serialize};

/// Functions of the graph that are looked at, the smoothest first.
const GRAPH_SIZES: [usize; 11] = [10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 400];
/// Penalties in the kernel basis, the smoothest first.
const PENALTIES: [f64; 7] = [30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03];

/// How large a representation is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

impl Sizes {
    /// The most bytes that a representation of so many people needs while it is made: coordinates and those of them that are looked at,
    /// for the graph four sets of vectors, for the kernel
    /// everybody's nearness to the landmarks, whose place the basis takes, and a few squares over the landmarks.
    pub fn bytes(&self, people: usize) -> u64 {
        let (people, landmarks) = (people as u64, self.landmarks.min(people) as u64);
        let graph = 4 * people * (GRAPH_SIZES[GRAPH_SIZES.len() - 1] + SPARE) as u64 * 4;
        let kernel = (people + people.min(IN_PLACE as u64)) * landmarks * 4 + 3 * landmarks * landmarks * 8;
        let coordinates = 2 * people * self.graph_coordinates.max(self.kernel_coordinates) as u64 * 4;
        coordinates + graph.max(kernel + graph / 4)
    }

    /// Multiplications of the two most expensive steps, which grow with the square of the people and of the landmarks.
    pub fn operations(&self, people: usize) -> f64 {
        let (people, landmarks) = (people as f64, self.landmarks.min(people) as f64);
        people * people * self.graph_coordinates as f64 + 2.0 * people * landmarks * landmarks
    }

    /// The bytes of both bases, and of where people are.
    pub fn kept_bytes(&self, people: usize) -> u64 {
        let (people, landmarks) = (people as u64, self.landmarks.min(people) as u64);
        let functions = GRAPH_SIZES[GRAPH_SIZES.len() - 1] as u64;
        4 * people * (landmarks + functions + self.graph_coordinates as u64) + 4 * landmarks * landmarks
    }
}

/// Bases over the people, made of public coordinates alone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Representation {
    /// Where people are, for the graph
    pub(crate) places: Matrix,
    pub(crate) graph: GraphBasis,
    pub(crate) kernel: KernelBasis,
}

impl Representation {
    /// Of people at these coordinates, the most telling ones first.
    pub fn new(coordinates: &Matrix, sizes: Sizes) -> Result<Self, RepresentError> {
        let graph = Self::graph(coordinates, sizes)?;
        Self::of(coordinates, sizes, graph, Self::kernel(coordinates, sizes)?)
    }

    /// The first part: functions on the graph of neighbours.
    pub fn graph(coordinates: &Matrix, sizes: Sizes) -> Result<GraphBasis, RepresentError> {
        coordinates.check_finite("a coordinate")?;
        let most = GRAPH_SIZES[GRAPH_SIZES.len() - 1].min(coordinates.rows() / 4).max(2);
        GraphBasis::new(&coordinates.first_columns(sizes.graph_coordinates), most)
    }

    /// The second part: smooth functions of where somebody is.
    pub fn kernel(coordinates: &Matrix, sizes: Sizes) -> Result<KernelBasis, RepresentError> {
        coordinates.check_finite("a coordinate")?;
        KernelBasis::new(&coordinates.first_columns(sizes.kernel_coordinates), sizes.landmarks)
    }

    /// Of both parts, which have to be those of as many people.
    pub fn of(
        coordinates: &Matrix,
        sizes: Sizes,
        graph: GraphBasis,
        kernel: KernelBasis,
    ) -> Result<Self, RepresentError> {
        same("the graph", "people", graph.vectors.rows(), coordinates.rows())?;
        same("the kernel", "people", kernel.vectors.rows(), coordinates.rows())?;
        Ok(Self { places: coordinates.first_columns(sizes.graph_coordinates), graph, kernel })
    }

    /// How many people.
    pub fn people(&self) -> usize {
        self.places.rows()
    }

    /// The graph's functions, of which the first few are kept.
    pub(crate) fn graph_smoother(&self) -> Smoother<'_> {
        let most = self.graph.vectors.columns();
        let first = |size: usize| Filter {
            name: format!("{size} functions"),
            kept: (0..most).map(|j| f32::from(u8::from(j < size))).collect(),
        };
        let sizes = GRAPH_SIZES.iter().filter(|&&size| size <= most).map(|&size| first(size));
        let filters = if most < GRAPH_SIZES[0] { vec![first(most)] } else { sizes.collect() };
        Smoother::new(&self.graph.vectors, filters)
    }

    /// The kernel's functions, which a penalty λ keeps by s/(s + λ).
    pub(crate) fn kernel_smoother(&self) -> Smoother<'_> {
        let ridge = |penalty: f64| Filter {
            name: format!("λ = {penalty}"),
            kept: self.kernel.values.iter().map(|value| (value / (value + penalty)) as f32).collect(),
        };
        Smoother::new(&self.kernel.vectors, PENALTIES.into_iter().map(ridge).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_the_kernel_or_of_the_graph() {
        let sizes = Sizes { landmarks: 500, ..Sizes::default() };
        // 1000 people: coordinates twice, nearness to 500 landmarks and a block of it, three squares in double precision, a set of vectors
        let expected = 2 * 1000 * 200 * 4 + 2 * 1000 * 500 * 4 + 3 * 500 * 500 * 8 + 1000 * 440 * 4;
        assert_eq!(sizes.bytes(1000), expected);
        let none = Sizes { landmarks: 0, ..sizes };
        assert_eq!(none.bytes(1000), 2 * 1000 * 200 * 4 + 4 * 1000 * 440 * 4);
        assert_eq!(sizes.kept_bytes(1000), 4 * 1000 * (500 + 400 + 100) + 4 * 500 * 500);
    }
}
