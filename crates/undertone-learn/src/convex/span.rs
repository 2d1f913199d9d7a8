//! The K gradients that a person's label could have, in coordinates of the space that their differences span.
//!
//! All of it is a public function of (x, w). With g_k the gradients and h the centre of the smallest ball around them,
//!
//! > g_k = h + Σ_j c_kj·q_j,  |c_k| ≤ ρ,  q_1, …, q_r orthonormal, r ≤ K - 1
//!
//! so that whoever knows (x, w) needs only c_y, r numbers in a ball of radius ρ ≤ L. A centre other than h has a radius of
//! up to 2L.
//!
//! - **In general**: the differences g_k - g_0 orthonormalised one after the other, the longest remaining first, each
//!   twice so that rounding does not spoil the angles: O(K²·p). Their Gram matrix would square the condition number.
//! - **A simplex**: gradients (u - e_k) xᵀ, as softmax has them. The q_j are Helmert's contrasts, 1/√(j(j+1)) at the
//!   first j labels and -j/√(j(j+1)) at label j, times x/|x|; sums along the labels apply them in O(K).

use super::dot;
use super::enclosing_ball::centre_weights;
use crate::LearnError;
use undertone_privacy::vector::PublicPoints;

/// What is left of a difference below this share of the longest is rounding.
const RANK: f64 = 1e-12;

/// The gradients of all labels at one (x, w).
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    labels: usize,
    /// h
    centre: Vec<f64>,
    frame: Frame,
    /// An entry, or a squared length, that is not a finite number
    not_finite: Option<f64>,
}

#[derive(Clone, Debug, PartialEq)]
enum Frame {
    /// g_k - h = (1/K - e_k) xᵀ, |x|, and 1/√(j(j+1)) for j = 1, …, K-1
    Simplex { x: Vec<f64>, length: f64, contrasts: Vec<f64> },
    /// The q_j, and the c_k
    General { basis: Vec<Vec<f64>>, coordinates: Vec<Vec<f64>> },
}

impl Span {
    /// Of gradients that are given.
    pub fn of_gradients(mut gradients: Vec<Vec<f64>>) -> Self {
        let origin = gradients[0].clone();
        let mut not_finite = first_not_finite(gradients.iter().flatten());
        for gradient in &mut gradients {
            gradient.iter_mut().zip(&origin).for_each(|(g, o)| *g -= o);
        }
        let squares: Vec<f64> = gradients.iter().chain([&origin]).map(|g| dot(g, g)).collect();
        not_finite = not_finite.or(first_not_finite(&squares));
        let basis = orthonormal(gradients.clone());
        let coordinates: Vec<Vec<f64>> =
            gradients.iter().map(|g| basis.iter().map(|q| dot(q, g)).collect()).collect();
        let points: Vec<&[f64]> = coordinates.iter().map(Vec::as_slice).collect();
        let weights = centre_weights(&points);
        let middle: Vec<f64> =
            (0..basis.len()).map(|j| points.iter().zip(&weights).map(|(c, l)| l * c[j]).sum()).collect();
        let shift = |c: &Vec<f64>| c.iter().zip(&middle).map(|(c, m)| c - m).collect();
        let coordinates = coordinates.iter().map(shift).collect();
        let mut centre = origin;
        basis.iter().zip(&middle).for_each(|(q, m)| add(q, *m, &mut centre));
        let frame = Frame::General { basis, coordinates };
        Self { labels: gradients.len(), centre, frame, not_finite }
    }

    /// Of the gradients centre + (1/K - e_k) xᵀ, K entries for each of x.
    pub fn of_simplex(labels: u32, x: &[f64], centre: Vec<f64>) -> Self {
        let contrasts = (1..labels as usize).map(|j| 1.0 / ((j * (j + 1)) as f64).sqrt()).collect();
        let length = dot(x, x).sqrt();
        let not_finite = first_not_finite(x.iter().chain(&centre).chain([&length]));
        let frame = Frame::Simplex { x: x.to_vec(), length, contrasts };
        Self { labels: labels as usize, centre, frame, not_finite }
    }

    /// Refuses gradients that are not finite, whichever label has them: what is refused is public.
    pub(super) fn check_finite(&self) -> Result<(), LearnError> {
        match self.not_finite {
            None => Ok(()),
            Some(value) => Err(LearnError::Parameter { what: "a gradient", value, expected: "finite" }),
        }
    }

    /// K.
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// r, the number of coordinates.
    pub fn rank(&self) -> usize {
        match &self.frame {
            Frame::Simplex { .. } => self.labels - 1,
            Frame::General { basis, .. } => basis.len(),
        }
    }

    /// h.
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// ρ, the length of the longest c_k.
    pub fn radius(&self) -> f64 {
        match &self.frame {
            Frame::Simplex { length, .. } => length * (1.0 - 1.0 / self.labels as f64).sqrt(),
            Frame::General { coordinates, .. } => {
                coordinates.iter().map(|c| dot(c, c)).fold(0.0, f64::max).sqrt()
            }
        }
    }

    /// max |g_j - g_k|, by which a change of the label moves the gradient.
    pub fn sensitivity(&self) -> f64 {
        match &self.frame {
            Frame::Simplex { length, .. } => length * std::f64::consts::SQRT_2,
            Frame::General { coordinates, .. } => {
                let square = |(a, b): (&[f64], &[f64])| -> f64 {
                    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
                };
                pairs(coordinates).map(square).fold(0.0, f64::max).sqrt()
            }
        }
    }

    /// c_k, the coordinates of the gradient of `label`.
    pub fn coordinates(&self, label: u32) -> Vec<f64> {
        let k = label as usize;
        match &self.frame {
            // -|x|·q_jk
            Frame::Simplex { length, contrasts, .. } => {
                let entry = |(j, contrast): (usize, &f64)| match j.cmp(&k) {
                    std::cmp::Ordering::Less => 0.0,
                    std::cmp::Ordering::Equal => length * j as f64 * contrast,
                    std::cmp::Ordering::Greater => -length * contrast,
                };
                (1..).zip(contrasts).map(entry).collect()
            }
            Frame::General { coordinates, .. } => coordinates[k].clone(),
        }
    }

    /// Adds h + Σ_j c_j·q_j to `into`.
    pub fn add_point(&self, coordinates: &[f64], into: &mut [f64]) {
        match &self.frame {
            Frame::Simplex { contrasts, .. } => {
                // Along label i: what the contrasts of the labels behind it say, and its own
                let (mut behind, mut along) = (0.0, vec![0.0; self.labels]);
                for (j, (c, contrast)) in (1..self.labels).zip(coordinates.iter().zip(contrasts)).rev() {
                    let scaled = c * contrast;
                    along[j] = behind - j as f64 * scaled;
                    behind += scaled;
                }
                along[0] = behind;
                self.add_labels(&along, into);
            }
            Frame::General { basis, .. } => {
                add(&self.centre, 1.0, into);
                basis.iter().zip(coordinates).for_each(|(q, c)| add(q, *c, into));
            }
        }
    }

    /// Adds h + v xᵀ/|x| to `into`, for gradients that are a simplex.
    fn add_labels(&self, along: &[f64], into: &mut [f64]) {
        add(&self.centre, 1.0, into);
        if let Frame::Simplex { x, length, .. } = &self.frame
            && *length > 0.0
        {
            for (row, x) in into.chunks_exact_mut(self.labels).zip(x) {
                add(along, x / length, row);
            }
        }
    }

    /// The K gradients as integer points, `steps` to |x| or to the greatest distance between two of them.
    pub(super) fn grid(&self, steps: u32) -> Grid {
        match &self.frame {
            Frame::Simplex { length, .. } => {
                let points = PublicPoints::Corners { labels: self.labels as u32, corner: steps };
                Grid { points, step: length / f64::from(steps) }
            }
            Frame::General { coordinates, .. } => {
                let step = (self.sensitivity() / f64::from(steps)).max(f64::MIN_POSITIVE);
                let round = |c: &Vec<f64>| c.iter().map(|c| (c / step).round() as i64).collect();
                Grid { points: PublicPoints::Given(coordinates.iter().map(round).collect()), step }
            }
        }
    }

    /// Adds the gradient that a point, or a noisy one, of a grid with steps of this length stands for to `into`.
    pub(super) fn add_grid_point(&self, step: f64, point: &[i64], into: &mut [f64]) {
        match self.frame {
            // h + (mean u - u) xᵀ/|x|: noise along (1, …, 1), which is outside the span, is dropped
            Frame::Simplex { .. } => {
                let mean = point.iter().map(|&u| u as f64).sum::<f64>() / point.len() as f64;
                let along: Vec<f64> = point.iter().map(|&u| (mean - u as f64) * step).collect();
                self.add_labels(&along, into);
            }
            Frame::General { .. } => {
                let coordinates: Vec<f64> = point.iter().map(|&u| u as f64 * step).collect();
                self.add_point(&coordinates, into);
            }
        }
    }
}

/// The gradients as integer points, and how long one step is in units of the gradient.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Grid {
    pub(super) points: PublicPoints,
    pub(super) step: f64,
}

fn first_not_finite<'a>(numbers: impl IntoIterator<Item = &'a f64>) -> Option<f64> {
    numbers.into_iter().copied().find(|x| !x.is_finite())
}

/// Adds factor·v to `into`.
fn add(v: &[f64], factor: f64, into: &mut [f64]) {
    into.iter_mut().zip(v).for_each(|(x, v)| *x += factor * v);
}

/// Every two of `all`.
fn pairs<T>(all: &[Vec<T>]) -> impl Iterator<Item = (&[T], &[T])> {
    all.iter().enumerate().flat_map(|(i, a)| all[..i].iter().map(move |b| (a.as_slice(), b.as_slice())))
}

/// An orthonormal basis of what `vectors` span.
fn orthonormal(mut vectors: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let longest = |vectors: &[Vec<f64>]| {
        vectors.iter().map(|v| dot(v, v)).enumerate().max_by(|a, b| a.1.total_cmp(&b.1))
    };
    let Some((_, first)) = longest(&vectors) else { return basis };
    while let Some((place, square)) = longest(&vectors)
        && square > first * RANK * RANK
    {
        let mut q = vectors.swap_remove(place);
        for other in &basis {
            let along = dot(other, &q);
            add(other, -along, &mut q);
        }
        let norm = dot(&q, &q).sqrt();
        for x in &mut q {
            *x /= norm;
        }
        for v in &mut vectors {
            let along = dot(&q, v);
            add(&q, -along, v);
        }
        basis.push(q);
    }
    basis
}

#[cfg(test)]
mod tests {
    use super::super::tests::normals;
    use super::*;

    const STEPS: u32 = 1 << 20;

    /// max Σ_i (a_i - b_i)² over the points of all labels.
    fn greatest(grid: &Grid, labels: u32) -> i128 {
        let distance = |j, k| -> i128 {
            grid.points.point(j).iter().zip(grid.points.point(k)).map(|(a, b)| i128::from(a - b).pow(2)).sum()
        };
        (0..labels).flat_map(|j| (0..labels).map(move |k| distance(j, k))).max().unwrap()
    }

    #[test]
    fn the_sensitivity_is_that_of_the_rounded_points_which_may_exceed_the_nominal_one() {
        let nominal = i128::from(STEPS).pow(2);
        let (mut above, mut below) = (0, 0);
        for seed in 0..40 {
            let gradients = normals(seed, 5 * 7).chunks(7).map(<[f64]>::to_vec).collect();
            let grid = Span::of_gradients(gradients).grid(STEPS);
            let exact = greatest(&grid, 5);
            assert_eq!(i128::try_from(grid.points.sensitivity_squared()), Ok(exact));
            above += u32::from(exact > nominal);
            below += u32::from(exact < nominal);
        }
        // Rounding lengthens the greatest distance about as often as it shortens it.
        assert!(above >= 8 && below >= 8, "{above} above, {below} below");
    }

    #[test]
    fn the_corners_of_a_simplex_are_the_root_of_two_apart_exactly() {
        let grid = Span::of_simplex(4, &[0.3, -0.7], vec![0.0; 8]).grid(STEPS);
        assert_eq!(greatest(&grid, 4), 2 * i128::from(STEPS).pow(2));
        assert_eq!(i128::try_from(grid.points.sensitivity_squared()), Ok(greatest(&grid, 4)));
    }
}
