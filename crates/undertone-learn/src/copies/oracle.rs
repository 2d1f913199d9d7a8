//! An unbiased slope of a loss, and with it a gradient, from the copies of one report.

use super::bernstein::{BernsteinSlope, smooth_hinge_slope, smooth_step};
use super::{Layout, Mixture};
use crate::LearnError;
use crate::convex::{dot, positive};
use crate::moments::MarginLoss;
use rand_core::Rng;

/// Gradients of one loss from copies of z.
pub struct SlopeOracle {
    layout: Layout,
    radius: f64,
    slope: Slope,
}

/// Where the polynomial comes from.
enum Slope {
    /// P ≈ f' on [-R, R]
    Direct(BernsteinSlope),
    /// P ≈ the smooth step on [-1, 1], at (t/R - s)/2
    Mixture(BernsteinSlope, Mixture<Box<dyn Fn(f64) -> f64>>),
}

impl SlopeOracle {
    /// Algorithm 4: the hinge, smoothed by β.
    pub fn hinge(layout: Layout, degree: usize, beta: f64, radius: f64) -> Result<Self, LearnError> {
        let beta = positive("the smoothing", beta)?;
        let slope = BernsteinSlope::new(degree, radius, |t| smooth_hinge_slope(t, beta))?;
        Ok(Self { layout, radius, slope: Slope::Direct(slope) })
    }

    /// Algorithm 5: a loss as the mixture of absolute values, each of which is smoothed by β.
    pub fn mixture(
        layout: Layout,
        degree: usize,
        beta: f64,
        mixture: Mixture<Box<dyn Fn(f64) -> f64>>,
    ) -> Result<Self, LearnError> {
        let beta = positive("the smoothing", beta)?;
        let step = BernsteinSlope::new(degree, 1.0, |x| smooth_step(x, beta))?;
        Ok(Self { layout, radius: mixture.radius(), slope: Slope::Mixture(step, mixture) })
    }

    /// The slope of a smooth loss itself: the mixture of polynomials is a polynomial, and this is the simpler one.
    pub fn direct(layout: Layout, degree: usize, loss: MarginLoss, radius: f64) -> Result<Self, LearnError> {
        let slope = BernsteinSlope::new(degree, radius, |t| loss.slope(t))?;
        Ok(Self { layout, radius, slope: Slope::Direct(slope) })
    }

    /// R.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// How copies are used.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// d.
    pub fn degree(&self) -> usize {
        match &self.slope {
            Slope::Direct(slope) | Slope::Mixture(slope, _) => slope.degree(),
        }
    }

    /// The number of inner copies of a report.
    pub fn inner(&self) -> usize {
        self.layout.inner(self.degree())
    }

    /// Adds G(w) to `gradient`, from the copies of a report: the outer one and then the inner ones, as many coordinates each as
    /// w has. The kink of a mixture is drawn from `rng`, once for all factors.
    pub fn add_gradient(&self, copies: &[f64], w: &[f64], gradient: &mut [f64], rng: &mut impl Rng) {
        let (outer, inner) = copies.split_at(w.len());
        let margins = inner.chunks_exact(w.len()).map(|z| dot(z, w));
        let slope = match &self.slope {
            Slope::Direct(slope) => {
                let places: Vec<f64> = margins.map(|t| slope.place(t)).collect();
                self.layout.estimate(slope.coefficients(), &places)
            }
            Slope::Mixture(step, mixture) => {
                let uniform = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
                let s = mixture.kink(uniform);
                // u = 1/2 + (t/R - s)/4
                let places: Vec<f64> = margins.map(|t| step.place(0.5 * (t / self.radius - s))).collect();
                mixture.rise() * self.layout.estimate(step.coefficients(), &places) + mixture.low()
            }
        };
        gradient.iter_mut().zip(outer).for_each(|(sum, z)| *sum += slope * z);
    }
}
