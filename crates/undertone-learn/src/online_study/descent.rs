//! One block of descents: LDP-SGD, and what can be had from its path in one pass, as [`crate::online`] has it for one.
//!
//! > θ_i = Π(θ_{i-1} - η_i·ĝ_i),  η_i = η·i^-α
//! > θ̄_i = θ̄_{i-1} + (θ_i - θ̄_{i-1})/i,   θ̃_i = θ̃_{i-1} + (s+1)/(i+s)·(θ_i - θ̃_{i-1}), s = 3
//!
//! Random scaling, a coordinate at a time, with e = (θ_i - θ̄_{i-1})/i:
//!
//! > D += c·e² - 2·r·e,  r -= c·e,  c += i²,  V = D/i²

#![expect(
    clippy::inline_always,
    reason = "what is not inlined into the loop is compiled for the least of processors"
)]

use super::gradient::gradient;
use super::lanes::{LANES, Lanes, between, each};
use super::noise::Perturbation;
use super::people::Records;
use super::stream::Streams;
use undertone_privacy::gradient::{RecordLoss, RecordModel};

/// s of the average that forgets.
const DECAY: f64 = 3.0;

/// What is kept of the path, besides its end, and of which part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The average with polynomially decaying weights
    pub decayed: bool,
    /// What intervals are made of
    pub spread: bool,
    /// People before any mean begins
    pub burn_in: u64,
}

/// The state of a block.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) theta: Vec<Lanes>,
    pub(super) average: Vec<Lanes>,
    pub(super) decayed: Vec<Lanes>,
    /// D and r of random scaling
    spread: Vec<Lanes>,
    cross: Vec<Lanes>,
    /// c = Σ i²
    squares: f64,
    /// i
    pub(super) steps: u64,
    /// Iterates that the means count
    counted: u64,
    streams: Streams,
}

impl Block {
    pub(super) fn new(start: &[Lanes], streams: Streams) -> Self {
        let zero = vec![[0.0; LANES]; start.len()];
        Self {
            theta: start.to_vec(),
            average: zero.clone(),
            decayed: zero.clone(),
            spread: zero.clone(),
            cross: zero,
            squares: 0.0,
            steps: 0,
            counted: 0,
            streams,
        }
    }

    /// V of each coordinate.
    pub(super) fn variance(&self, coordinate: usize) -> Lanes {
        let k = self.counted as f64;
        self.spread[coordinate].map(|d| d / (k * k))
    }

    /// A step of size `eta` along -`report`, and what follows of it.
    #[inline(always)]
    fn step(&mut self, model: &RecordModel, report: &[Lanes], eta: f64, kept: Kept) {
        self.steps += 1;
        let counts = self.steps > kept.burn_in;
        self.counted += u64::from(counts);
        let k = self.counted as f64;
        // Before the end of the burn-in no mean moves.
        let (share, recent) = if counts { (1.0 / k, (DECAY + 1.0) / (k + DECAY)) } else { (0.0, 0.0) };
        let squares = self.squares;
        let scales = match model.loss() {
            RecordLoss::Huber(huber) => Some(huber.scales()),
            _ => None,
        };
        let last = report.len() - 1;
        for (j, report) in report.iter().enumerate() {
            let (low, high) = scales.filter(|_| j == last).unwrap_or((-model.bound(), model.bound()));
            let moved = each(|l| between(eta.mul_add(-report[l], self.theta[j][l]), low, high));
            self.theta[j] = moved;
            let e: Lanes = each(|l| (moved[l] - self.average[j][l]) * share);
            if kept.spread {
                let cross = self.cross[j];
                self.spread[j] =
                    each(|l| e[l].mul_add(squares.mul_add(e[l], -2.0 * cross[l]), self.spread[j][l]));
                self.cross[j] = each(|l| squares.mul_add(-e[l], cross[l]));
            }
            self.average[j] = each(|l| self.average[j][l] + e[l]);
            if kept.decayed {
                let decayed = self.decayed[j];
                self.decayed[j] = each(|l| recent.mul_add(moved[l] - decayed[l], decayed[l]));
            }
        }
        self.squares += k * k;
    }
}

/// Steps of a block, as many as `etas` has.
pub(super) struct Advance<'a, R> {
    pub(super) block: &'a mut Block,
    pub(super) records: &'a mut R,
    pub(super) model: &'a RecordModel,
    pub(super) perturbation: &'a Perturbation,
    pub(super) etas: &'a [f64],
    pub(super) kept: Kept,
}

impl<R: Records> pulp::NullaryFnOnce for Advance<'_, R> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { block, records, model, perturbation, etas, kept } = self;
        let (p, mut y) = (model.parameters(), [0.0; LANES]);
        let mut x = vec![[0.0; LANES]; model.covariates()];
        let (mut report, mut room) = (vec![[0.0; LANES]; p], vec![[0.0; LANES]; p]);
        for &eta in etas {
            records.draw(&mut block.streams, &mut x, &mut y);
            gradient(model, &block.theta, &x, &y, &mut report);
            perturbation.apply(&mut report, &mut room, &mut block.streams);
            block.step(model, &report, eta, kept);
        }
    }
}
