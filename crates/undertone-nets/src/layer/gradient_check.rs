//! Gradients beside differences of values.

use super::{Backward, Layer, Mode};
use crate::coins::{Coins, Purpose};

/// Small enough for the curve, large enough for 32 bits
const STEP: f32 = 4e-3;
/// Differences of 32-bit values near one, over twice the step, and what a curve adds
const CLOSE: f64 = 4e-3;

/// Normal numbers.
pub(crate) fn normal(count: usize, place: u64) -> Vec<f32> {
    let mut values = vec![0.0; count];
    Coins::new(7, Purpose::Image, place, 0).fill_normal(&mut values, 1.0);
    values
}

/// Compares both gradients of ⟨c, f(x; w)⟩ for a random c with central differences, number by number.
pub(crate) fn check(layer: &dyn Layer, input: &[f32]) {
    let count = input.len() / layer.inputs();
    let mut weights = vec![0.0; layer.weights()];
    layer.initialise(&mut weights, &mut Coins::new(7, Purpose::Weights, 0, 0));
    // Biases begin at zero, where an error in them would not show.
    for (weight, add) in weights.iter_mut().zip(normal(layer.weights(), 1)) {
        *weight += 0.1 * add;
    }
    let c = normal(count * layer.outputs(), 2);
    let mut room = Vec::new();
    let mut value = |weights: &[f32], input: &[f32]| {
        let mut output = vec![0.0; c.len()];
        layer.forward(weights, input, &mut output, Mode::Training, &mut room);
        output.iter().zip(&c).map(|(y, c)| f64::from(y * c)).sum::<f64>()
    };
    let (mut gradient, mut back) = (vec![0.0; weights.len()], vec![1.0; input.len()]);
    let mut output = vec![0.0; c.len()];
    layer.forward(&weights, input, &mut output, Mode::Training, &mut Vec::new());
    layer.backward(Backward {
        weights: &weights,
        input,
        output: &output,
        slope: &c,
        gradient: &mut gradient,
        back: Some(&mut back),
        room: &mut Vec::new(),
    });
    let compare = |what: &str, at: usize, found: f32, difference: f64| {
        let expected = difference / (2.0 * f64::from(STEP));
        let error = (f64::from(found) - expected).abs();
        assert!(error < CLOSE * expected.abs().max(1.0), "{what} {at}: {found} for {expected}");
    };
    for at in (0..weights.len()).filter(|at| !layer.statistics().contains(at)) {
        let mut moved = weights.clone();
        moved[at] += STEP;
        let above = value(&moved, input);
        moved[at] -= 2.0 * STEP;
        compare("weight", at, gradient[at], above - value(&moved, input));
    }
    for at in 0..input.len() {
        let mut moved = input.to_vec();
        moved[at] += STEP;
        let above = value(&weights, &moved);
        moved[at] -= 2.0 * STEP;
        // One was there before: gradients are added.
        compare("input", at, back[at] - 1.0, above - value(&weights, &moved));
    }
}
