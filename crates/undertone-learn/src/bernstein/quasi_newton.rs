//! A bounded quasi-Newton method: descent in the unit cube with an exact gradient.
//!
//! Coordinates that are at an end and would leave are held. Among the others, with H an estimate of the inverse of the second
//! derivatives, steps follow
//!
//! > x ← P(x - a·H·g),   H ← (I - ρ·s·yᵀ)·H·(I - ρ·y·sᵀ) + ρ·s·sᵀ,   ρ = 1/⟨s, y⟩
//!
//! where P cuts to the cube and a is halved until the value falls by a ten-thousandth of what the gradient promises. Bertsekas,
//! *Projected Newton methods for optimization problems with simple constraints* (1982), shows that such steps descend if H does
//! not mix held coordinates with others; it begins anew when others are held, and where ⟨s, y⟩ is not positive.
//!
//! It is our own for want of another: the crates with bounds wrap C or Fortran behind unsafe code, bring matrices of
//! their own, or have one release each. There are at most some twenty coordinates here, so that H is a small full matrix.

/// Steps after which a descent ends in any case.
const STEPS: u32 = 200;
/// A gradient as small as this, of a value of order one, is zero.
const FLAT: f64 = 1e-10;

/// Descends from `x` in the unit cube and leaves it at a stationary point; `evaluate` gives value and gradient. The value there.
pub(super) fn descend(x: &mut Vec<f64>, mut evaluate: impl FnMut(&[f64], &mut [f64]) -> f64) -> f64 {
    let p = x.len();
    let mut gradient = vec![0.0; p];
    let mut value = evaluate(x, &mut gradient);
    let mut inverse = Inverse::new(p);
    let mut held = vec![false; p];
    for _ in 0..STEPS {
        let now: Vec<bool> = x.iter().zip(&gradient).map(|(&x, &g)| leaves(x, g)).collect();
        if now != held {
            inverse = Inverse::new(p);
            held = now;
        }
        let free: Vec<f64> =
            gradient.iter().zip(&held).map(|(&g, &held)| if held { 0.0 } else { g }).collect();
        if free.iter().all(|g| g.abs() < FLAT) {
            break;
        }
        let step = inverse.times(&free, &held);
        let Some((there, at, slope)) = search(x, value, &gradient, &step, &mut evaluate) else {
            if inverse.fresh {
                break;
            }
            inverse = Inverse::new(p);
            continue;
        };
        let s: Vec<f64> = there.iter().zip(x.iter()).map(|(new, old)| new - old).collect();
        let y: Vec<f64> = slope.iter().zip(&gradient).map(|(new, old)| new - old).collect();
        inverse.update(&s, &y);
        (*x, value, gradient) = (there, at, slope);
    }
    value
}

/// Whether a step down would leave the cube.
fn leaves(x: f64, gradient: f64) -> bool {
    (x <= 0.0 && gradient > 0.0) || (x >= 1.0 && gradient < 0.0)
}

/// The first of ever shorter steps that descends enough, with value and gradient there.
fn search(
    x: &[f64],
    value: f64,
    gradient: &[f64],
    step: &[f64],
    evaluate: &mut impl FnMut(&[f64], &mut [f64]) -> f64,
) -> Option<(Vec<f64>, f64, Vec<f64>)> {
    let mut slope = vec![0.0; x.len()];
    let mut a = 1.0;
    for _ in 0..40 {
        let there: Vec<f64> = x.iter().zip(step).map(|(x, step)| (x - a * step).clamp(0.0, 1.0)).collect();
        let promised: f64 = there.iter().zip(x).zip(gradient).map(|((new, old), g)| g * (new - old)).sum();
        let at = evaluate(&there, &mut slope);
        if promised < 0.0 && at <= value + 1e-4 * promised {
            return Some((there, at, slope));
        }
        a *= 0.5;
    }
    None
}

/// H, symmetric, by rows.
struct Inverse {
    rows: Vec<Vec<f64>>,
    /// Not updated yet
    fresh: bool,
}

impl Inverse {
    fn new(p: usize) -> Self {
        let row = |i| (0..p).map(|j| f64::from(u8::from(i == j))).collect();
        Self { rows: (0..p).map(row).collect(), fresh: true }
    }

    /// H·g among the coordinates that are not held.
    fn times(&self, free: &[f64], held: &[bool]) -> Vec<f64> {
        let row = |(row, &held): (&Vec<f64>, &bool)| if held { 0.0 } else { dot(row, free) };
        self.rows.iter().zip(held).map(row).collect()
    }

    /// The update of Broyden, Fletcher, Goldfarb and Shanno, multiplied out:
    ///
    /// > H ← H - ρ·(s·(Hy)ᵀ + Hy·sᵀ) + ρ·(1 + ρ·⟨y, Hy⟩)·s·sᵀ
    fn update(&mut self, s: &[f64], y: &[f64]) {
        let sy = dot(s, y);
        if sy <= 1e-12 * dot(s, s).sqrt() * dot(y, y).sqrt() {
            *self = Self::new(s.len());
            return;
        }
        if self.fresh {
            // The first step says how large second derivatives are.
            let scale = sy / dot(y, y);
            self.rows.iter_mut().flatten().for_each(|h| *h *= scale);
            self.fresh = false;
        }
        let hy: Vec<f64> = self.rows.iter().map(|row| dot(row, y)).collect();
        let rho = 1.0 / sy;
        let both = rho * (1.0 + rho * dot(y, &hy));
        for (i, row) in self.rows.iter_mut().enumerate() {
            for (j, h) in row.iter_mut().enumerate() {
                *h += both * s[i] * s[j] - rho * (s[i] * hy[j] + hy[i] * s[j]);
            }
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quadratic_has_its_least_value_where_the_conditions_of_karush_kuhn_and_tucker_hold() {
        // ½xᵀAx - bᵀx, badly scaled, with least values inside, on faces and in corners
        let a = [[50.0, 3.0, 0.0], [3.0, 1.0, 0.2], [0.0, 0.2, 0.1]];
        for b in [[20.0, 1.5, 0.1], [-5.0, 0.3, 0.05], [100.0, -3.0, 1.0], [10.0, 0.6, 0.08]] {
            let evaluate = |x: &[f64], g: &mut [f64]| {
                for i in 0..3 {
                    g[i] = dot(&a[i], x) - b[i];
                }
                x.iter().zip(g.iter()).zip(&b).map(|((x, g), b)| 0.5 * x * (g - b)).sum()
            };
            let mut x = vec![0.3, 0.9, 0.5];
            descend(&mut x, evaluate);
            let mut g = vec![0.0; 3];
            evaluate(&x, &mut g);
            for (x, g) in x.iter().zip(g) {
                assert!((0.0..=1.0).contains(x));
                assert!(g.abs() < 1e-8 || leaves(*x, g), "b = {b:?}: gradient {g} at {x}");
            }
        }
    }

    #[test]
    fn a_curved_valley_is_followed_to_its_end() {
        // Rosenbrock's function on [-2, 2]²
        let evaluate = |x: &[f64], g: &mut [f64]| {
            let (u, v) = (4.0 * x[0] - 2.0, 4.0 * x[1] - 2.0);
            let off = v - u * u;
            g[0] = 4.0 * (-400.0 * u * off - 2.0 * (1.0 - u));
            g[1] = 4.0 * 200.0 * off;
            100.0 * off * off + (1.0 - u) * (1.0 - u)
        };
        let mut x = vec![0.2, 0.75];
        let value = descend(&mut x, evaluate);
        assert!(value < 1e-16 && (x[0] - 0.75).abs() < 1e-8, "{value} at {x:?}");
    }
}
