//! The least value of a smooth function, by gradients alone: L-BFGS (D. Liu and J. Nocedal, *On the limited memory BFGS method for large
//! scale optimization*).

/// Steps that are remembered.
const MEMORY: usize = 10;
/// The part of the promised decrease that a step has to keep.
const DECREASE: f64 = 1e-4;
/// Steps that may be halved before it is taken for the end.
const HALVINGS: usize = 12;
/// A relative decrease below which nothing more is to be had.
const SETTLED: f64 = 1e-6;

/// A point, the value there and the gradient.
struct Place {
    at: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

/// One remembered step: s, y = the change of the gradient, and 1/⟨s, y⟩.
struct Step {
    moved: Vec<f64>,
    change: Vec<f64>,
    rate: f64,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Where `objective`, which tells value and gradient, is least, from `start` on.
pub(crate) fn minimise(
    start: Vec<f64>,
    iterations: usize,
    objective: impl Fn(&[f64]) -> (f64, Vec<f64>),
) -> Vec<f64> {
    let place = |at: Vec<f64>| {
        let (value, gradient) = objective(&at);
        Place { at, value, gradient }
    };
    let mut here = place(start);
    let mut steps: Vec<Step> = Vec::new();
    for _ in 0..iterations {
        let direction = direction(&here.gradient, &steps);
        let slope = dot(&direction, &here.gradient);
        // The first step has no measure yet: it goes as far as one
        let first = if steps.is_empty() { 1.0 / dot(&direction, &direction).sqrt().max(1e-30) } else { 1.0 };
        let tried = |halved: usize| {
            let length = first * 0.5f64.powi(halved as i32);
            let next = here.at.iter().zip(&direction).map(|(x, d)| x + length * d).collect();
            let next = place(next);
            (next.value <= here.value + DECREASE * length * slope).then_some(next)
        };
        let Some(next) = (0..HALVINGS).find_map(tried) else { break };
        let moved: Vec<f64> = next.at.iter().zip(&here.at).map(|(a, b)| a - b).collect();
        let change: Vec<f64> = next.gradient.iter().zip(&here.gradient).map(|(a, b)| a - b).collect();
        let curvature = dot(&moved, &change);
        if curvature > 1e-12 * dot(&change, &change) {
            if steps.len() == MEMORY {
                steps.remove(0);
            }
            steps.push(Step { moved, change, rate: 1.0 / curvature });
        }
        let gained = here.value - next.value;
        here = next;
        if gained <= SETTLED * here.value.abs().max(1e-12) {
            break;
        }
    }
    here.at
}

/// -H·g, where H is what the steps tell of the inverse of the second derivative.
fn direction(gradient: &[f64], steps: &[Step]) -> Vec<f64> {
    let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut shares = Vec::with_capacity(steps.len());
    for step in steps.iter().rev() {
        let share = step.rate * dot(&step.moved, &q);
        q.iter_mut().zip(&step.change).for_each(|(q, y)| *q -= share * y);
        shares.push(share);
    }
    if let Some(last) = steps.last() {
        let scale = 1.0 / (last.rate * dot(&last.change, &last.change));
        for q in &mut q {
            *q *= scale;
        }
    }
    for (step, share) in steps.iter().zip(shares.iter().rev()) {
        let back = share - step.rate * dot(&step.change, &q);
        q.iter_mut().zip(&step.moved).for_each(|(q, s)| *q += back * s);
    }
    q
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_long_bowl_is_found() {
        // Σ j·(x_j - j)²/2
        let bowl = |x: &[f64]| {
            let away = |(j, x): (usize, &f64)| (x - j as f64, (j + 1) as f64);
            let value = x.iter().enumerate().map(away).map(|(d, w)| w * d * d / 2.0).sum();
            (value, x.iter().enumerate().map(away).map(|(d, w)| w * d).collect())
        };
        let found = minimise(vec![0.0; 30], 60, bowl);
        assert!(found.iter().enumerate().all(|(j, x)| (x - j as f64).abs() < 1e-2), "{found:?}");
    }

    #[test]
    fn the_bent_valley_is_followed_to_its_end() {
        // Rosenbrock's function: (1 - x)² + 100·(y - x²)², least at (1, 1)
        let valley = |p: &[f64]| {
            let (x, y) = (p[0], p[1]);
            let bend = y - x * x;
            let value = (1.0 - x) * (1.0 - x) + 100.0 * bend * bend;
            (value, vec![-2.0 * (1.0 - x) - 400.0 * x * bend, 200.0 * bend])
        };
        let found = minimise(vec![-1.2, 1.0], 200, valley);
        assert!((found[0] - 1.0).abs() < 1e-2 && (found[1] - 1.0).abs() < 2e-2, "{found:?}");
    }
}
