//! The people of the simulations, as published: x = (1, z) with z ~ N(0, I_d), and β* = (1, …, 1).
//!
//! > linear: y = x'β* + 2·N(0, 1), θ* = (β*, 2);  logistic: P(y = 1) = 1/(1 + e^-x'β*), θ* = β*

use super::functions::sigmoid;
use super::lanes::{LANES, Lanes, each};
use super::stream::Streams;
use crate::online::laws::{Design, DesignKind};
use undertone_privacy::PrivacyError;
use undertone_privacy::gradient::{Huber, Logistic, RecordLoss, RecordModel, Weighting};

/// The scale of the model stays between these.
const SCALES: (f64, f64) = (0.1, 20.0);
/// Coefficients stay within ± this, which no run of the study comes near.
const BOUND: f64 = 1e3;

/// Which records a block draws.
pub(super) trait Records {
    /// Writes the next record of each lane.
    fn draw(&mut self, streams: &mut Streams, x: &mut [Lanes], y: &mut Lanes);
}

/// The people of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct People {
    /// The law of y given x
    pub kind: DesignKind,
    /// d, the constant not included
    pub dimension: usize,
}

impl People {
    /// The model that is right about these people, with some weights.
    pub fn model(&self, weighting: Weighting) -> Result<RecordModel, PrivacyError> {
        let loss = match self.kind {
            DesignKind::Linear => RecordLoss::Huber(Huber::new(Huber::CUT, SCALES.0, SCALES.1)?),
            DesignKind::Logistic => RecordLoss::Logistic(Logistic),
        };
        RecordModel::new(loss, weighting, self.dimension + 1, BOUND)
    }

    /// θ*.
    pub fn truth(&self) -> Vec<f64> {
        let mut truth = vec![1.0; self.dimension + 1];
        truth.extend((self.kind == DesignKind::Linear).then_some(Design::SCALE));
        truth
    }
}

impl Records for People {
    #[inline(always)]
    fn draw(&mut self, streams: &mut Streams, x: &mut [Lanes], y: &mut Lanes) {
        x[0] = [1.0; LANES];
        streams.normals(&mut x[1..]);
        let mut mean = [0.0; LANES];
        for x in x.iter() {
            mean = each(|l| mean[l] + x[l]);
        }
        *y = match self.kind {
            DesignKind::Linear => {
                let mut error = [[0.0; LANES]];
                streams.normals(&mut error);
                each(|l| mean[l] + Design::SCALE * error[0][l])
            }
            DesignKind::Logistic => {
                let coin = streams.uniform();
                each(|l| if coin[l] < sigmoid(mean[l]) { 1.0 } else { 0.0 })
            }
        };
    }
}
