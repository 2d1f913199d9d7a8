//! Steps that measure each weight's gradients in their own root mean square.
//!
//! > g = Σ g_i/n + λ·w,  m ← β₁·m + (1-β₁)·g,  v ← β₂·v + (1-β₂)·g²,  w ← w - η·m̂/√v̂
//!
//! where m̂ and v̂ are m and v divided by 1 - β₁^t and 1 - β₂^t. The size of the features, and that of the noise which
//! reports carry, cancel: one η serves all of them. D. Kingma, J. Ba, *Adam: a method for stochastic optimization*.
//!
//! The weights of a rare feature rest while nobody in a batch has it, and make up for Δ missed steps of g = λ·w when
//! somebody does. Their gradients so far would have moved them by η·m/√v·(r + … + r^Δ) with r = β₁/√β₂, and λ would have
//! pulled them by Δ·η·λ·w/√v, which is taken implicitly, so that no gap is too long.

#![expect(
    clippy::inline_always,
    reason = "what is not inlined into `vectorized` is compiled for the least of processors"
)]

use super::kernels::vectorized;

const MOMENTUM: f32 = 0.9;
const MEMORY: f32 = 0.999;
/// Keeps a weight whose gradients are all zero where it is.
const SMALLEST: f32 = 1e-12;
/// Weights that are worked on at a time, so that the sums of their gradients stay near.
const BLOCK: usize = 256;

/// The numbers of one step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// t, counted from one
    time: u64,
    /// 1/n
    scale: f32,
    /// λ
    l2: f32,
    /// η·√(1 - β₂^t)/(1 - β₁^t)
    rate: f32,
}

impl Step {
    /// Step `time`, counted from one, over a batch of n = `rows`.
    pub(super) fn new(time: u64, rate: f64, rows: usize, l2: f64) -> Self {
        let left = |beta: f32| 1.0 - f64::from(beta).powf(time as f64);
        let rate = (rate * left(MEMORY).sqrt() / left(MOMENTUM)) as f32;
        Self { time, scale: 1.0 / rows as f32, l2: l2 as f32, rate }
    }

    /// The same for weights that are not regularised.
    pub(super) fn free(self) -> Self {
        Self { l2: 0.0, ..self }
    }
}

/// m and v of some weights.
#[derive(Clone, Debug)]
pub(super) struct Moments {
    first: Vec<f32>,
    second: Vec<f32>,
}

impl Moments {
    pub(super) fn zero(weights: usize) -> Self {
        Self { first: vec![0.0; weights], second: vec![0.0; weights] }
    }

    /// Moves the weights by one step; the gradients of the parts of a batch are summed in their order.
    pub(super) fn step<'a>(
        &mut self,
        step: Step,
        weights: &mut [f32],
        gradients: impl Iterator<Item = &'a [f32]> + Clone,
    ) {
        vectorized(Advance { step, weights, gradients, moments: self });
    }
}

struct Advance<'a, G> {
    step: Step,
    weights: &'a mut [f32],
    gradients: G,
    moments: &'a mut Moments,
}

impl<'g, G: Iterator<Item = &'g [f32]> + Clone> pulp::NullaryFnOnce for Advance<'_, G> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let moments = self.moments.first.chunks_mut(BLOCK).zip(self.moments.second.chunks_mut(BLOCK));
        let blocks = self.weights.chunks_mut(BLOCK).zip(moments);
        for (start, (weights, (first, second))) in (0..).step_by(BLOCK).zip(blocks) {
            let mut sums = [0f32; BLOCK];
            let sums = &mut sums[..weights.len()];
            for gradient in self.gradients.clone() {
                for (sum, g) in sums.iter_mut().zip(&gradient[start..]) {
                    *sum += g;
                }
            }
            for (((w, m), v), g) in weights.iter_mut().zip(first).zip(second).zip(sums) {
                advance(self.step, w, m, v, *g);
            }
        }
    }
}

#[inline(always)]
fn advance(step: Step, w: &mut f32, m: &mut f32, v: &mut f32, g: f32) {
    let g = step.l2.mul_add(*w, g * step.scale);
    *m = MOMENTUM.mul_add(*m, (1.0 - MOMENTUM) * g);
    *v = MEMORY.mul_add(*v, (1.0 - MEMORY) * (g * g));
    *w -= step.rate * *m / (v.sqrt() + SMALLEST);
}

/// The same for features of which a batch has few: K weights each, moved when somebody has the feature.
#[derive(Clone, Debug)]
pub(super) struct RareMoments {
    moments: Moments,
    /// The step that moved each feature last; 0 if none has
    moved: Vec<u64>,
    classes: usize,
}

impl RareMoments {
    pub(super) fn zero(features: usize, classes: usize) -> Self {
        Self { moments: Moments::zero(features * classes), moved: vec![0; features], classes }
    }

    /// Moves the weights of one feature by one step, after those that it missed.
    pub(super) fn step(&mut self, step: Step, feature: usize, weights: &mut [f32], gradient: &[f32]) {
        self.make_up(step, step.time - 1, feature, weights, Some(gradient));
    }

    /// Makes up for the missed steps of all features.
    pub(super) fn finish(&mut self, step: Step, weights: &mut [f32]) {
        for feature in 0..self.moved.len() {
            self.make_up(step, step.time, feature, weights, None);
        }
    }

    /// The steps of a feature since the last that moved it up to `time`, and one along a gradient.
    fn make_up(
        &mut self,
        step: Step,
        time: u64,
        feature: usize,
        weights: &mut [f32],
        gradient: Option<&[f32]>,
    ) {
        let range = feature * self.classes..(feature + 1) * self.classes;
        // What nothing has moved has missed nothing.
        let missed = if self.moved[feature] == 0 { 0 } else { time - self.moved[feature] };
        vectorized(MakeUp {
            step,
            missed: missed as f32,
            weights: &mut weights[range.clone()],
            first: &mut self.moments.first[range.clone()],
            second: &mut self.moments.second[range],
            gradient,
        });
        self.moved[feature] = time + u64::from(gradient.is_some());
    }
}

/// The missed steps of one feature, then the step along its gradient if it has one.
struct MakeUp<'a> {
    step: Step,
    missed: f32,
    weights: &'a mut [f32],
    first: &'a mut [f32],
    second: &'a mut [f32],
    gradient: Option<&'a [f32]>,
}

impl pulp::NullaryFnOnce for MakeUp<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { step, missed, weights, first, second, gradient } = self;
        if missed > 0.0 {
            let (fade, forget) = (MOMENTUM.powf(missed), MEMORY.powf(missed));
            let r = MOMENTUM / MEMORY.sqrt();
            let drift = step.rate * r * (1.0 - r.powf(missed)) / (1.0 - r);
            let pull = step.rate * step.l2 * missed;
            for ((w, m), v) in weights.iter_mut().zip(&mut *first).zip(&mut *second) {
                let root = v.sqrt() + SMALLEST;
                *w = (*w - drift * *m / root) / (1.0 + pull / root);
                *m *= fade;
                *v *= forget;
            }
        }
        for (((w, m), v), g) in weights.iter_mut().zip(first).zip(second).zip(gradient.unwrap_or_default()) {
            advance(step, w, m, v, *g);
        }
    }
}
