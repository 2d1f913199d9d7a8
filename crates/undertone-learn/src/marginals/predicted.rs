//! What error to expect of views before anyone is asked, and how often to ask for each.
//!
//! In units in which the even distribution is one everywhere, a view of K cells tells every coefficient of every
//! interaction of its attributes with the variance K·λ/n, λ being that of one answer in one direction. Pooled over the
//! views that hold the attributes A, an interaction of D_A = Π(L_j - 1) coefficients is known to within
//!
//! > N_A = D_A/U_A,  U_A = Σ_{v ⊇ A} n_v/(K_v·λ_v)
//!
//! and N_A·s/(N_A + s) once it is shrunk towards what fewer attributes say, if s is its usual square. The latter is a guess
//! that costs nothing but efficiency if it is wrong: 1/2 for one attribute, a tenth of it for each further one.
//!
//! The tables of order k hold Σ_{A ⊆ S} of these, hence a total variation of about ½·√(2/π) times the root.

use super::counts::Noise;
use super::cover::{MOST_SETS, number, sets};
use super::table::{chosen, parts};
use undertone_privacy::label::LabelMechanism;
use undertone_privacy::statistic::Schema;
use undertone_privacy::{Epsilon, PrivacyError};

/// Steps of the weights towards the best ones.
const STEPS: usize = 40;

/// Views with how often each is asked, and the total variation to expect on average over all tables.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Weighted {
    pub weights: Vec<f64>,
    pub total_variation: f64,
}

/// One interaction: how much of it there is to know.
struct Interaction {
    dimension: f64,
    /// s, its usual square
    usual: f64,
    /// In which share of the tables it is
    share: f64,
}

impl Interaction {
    /// What is unknown of it at a precision of U.
    fn risk(&self, precision: f64) -> f64 {
        let noise = self.dimension / precision;
        if noise.is_finite() { noise * self.usual / (noise + self.usual) } else { self.usual }
    }

    /// -d risk/dU = (s/(s + N))²·D/U² = s²·D/(s·U + D)²
    fn gain(&self, precision: f64) -> f64 {
        let below = self.usual * precision + self.dimension;
        self.usual * self.usual * self.dimension / (below * below)
    }
}

/// The best weights of `views` for tables of `order` attributes from `people`.
///
/// The risk is convex in the weights, and w_v ← w_v·√g_v, normalised, with g_v the gain of asking v more often, never
/// increases it.
pub(super) fn weigh(
    schema: &Schema,
    views: &[Vec<usize>],
    order: usize,
    people: f64,
    epsilon: Epsilon,
) -> Result<Weighted, PrivacyError> {
    // Of very many attributes at a time, nothing but noise would be known anyway.
    let few = |size: &usize| sets(schema, 1..=*size).is_ok_and(|all| all.count() <= MOST_SETS);
    let all = sets(schema, 1..=(1..=order).take_while(few).last().unwrap_or(1))?;
    let interactions: Vec<Interaction> =
        (0..all.count()).map(|i| interaction(schema, &all.get(i).expect("below the count"), order)).collect();
    // For each view, what one answer adds to the precision, and of what.
    let mut told = Vec::with_capacity(views.len());
    for view in views {
        let cells = schema.cells(view)?;
        let even = Noise::of(&LabelMechanism::best(cells, epsilon)?).even();
        let about = parts((1 << view.len()) - 1)
            .filter_map(|mask| number(&all, &chosen(view, mask)))
            .collect::<Vec<usize>>();
        told.push((people / (f64::from(cells) * even), about));
    }
    let precision = |weights: &[f64]| {
        let mut precision = vec![0.0; interactions.len()];
        for (weight, (each, about)) in weights.iter().zip(&told) {
            for &i in about {
                precision[i] += weight * each;
            }
        }
        precision
    };
    let mut weights = vec![1.0 / views.len() as f64; views.len()];
    for _ in 0..STEPS {
        let precision = precision(&weights);
        let gains: Vec<f64> =
            interactions.iter().zip(&precision).map(|(i, &u)| i.share * i.gain(u)).collect();
        for (weight, (each, about)) in weights.iter_mut().zip(&told) {
            *weight *= (each * about.iter().map(|&i| gains[i]).sum::<f64>()).sqrt();
        }
        let sum: f64 = weights.iter().sum();
        for weight in &mut weights {
            *weight /= sum;
        }
    }
    let risk: f64 =
        interactions.iter().zip(precision(&weights)).map(|(i, precision)| i.share * i.risk(precision)).sum();
    Ok(Weighted { weights, total_variation: 0.5 * (std::f64::consts::FRAC_2_PI * risk).sqrt() })
}

fn interaction(schema: &Schema, set: &[(usize, u32)], order: usize) -> Interaction {
    let (p, size) = (schema.attributes() as f64, set.len() as f64);
    let dimension = set.iter().map(|&(a, _)| f64::from(schema.levels()[a] - 1)).product();
    // C(p - m, k - m)/C(p, k) = Π_{i<m} (k - i)/(p - i)
    let share = (0..set.len()).map(|i| (order - i) as f64 / (p - i as f64)).product();
    Interaction { dimension, usual: 5.0 * 0.1f64.powf(size), share }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_that_are_chosen_are_better_than_even_ones_and_than_others_near_them() {
        let schema = Schema::new(vec![2, 3, 5, 2]).unwrap();
        let views = [vec![0, 1], vec![1, 2, 3], vec![0, 2], vec![0, 3], vec![3]];
        let epsilon = Epsilon::new(1.0).unwrap();
        let best = weigh(&schema, &views, 2, 1e4, epsilon).unwrap();
        assert!((best.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let risk = |weights: &[f64]| {
            let all = sets(&schema, 1..=2).unwrap();
            (0..all.count()).map(|i| all.get(i).unwrap()).fold(0.0, |risk, set| {
                let precision: f64 = views
                    .iter()
                    .zip(weights)
                    .filter(|(view, _)| set.iter().all(|(a, _)| view.contains(a)))
                    .map(|(view, weight)| {
                        let cells = schema.cells(view).unwrap();
                        let noise = Noise::of(&LabelMechanism::best(cells, epsilon).unwrap());
                        1e4 * weight / (f64::from(cells) * noise.even())
                    })
                    .sum();
                let part = interaction(&schema, &set, 2);
                risk + part.share * part.risk(precision)
            })
        };
        let least = risk(&best.weights);
        assert!(
            (0.5 * (std::f64::consts::FRAC_2_PI * least).sqrt() / best.total_variation - 1.0).abs() < 1e-9
        );
        assert!(least < risk(&[0.2; 5]));
        for i in 0..5 {
            for j in (0..5).filter(|&j| j != i) {
                let mut other = best.weights.clone();
                let moved = 0.05 * other[i];
                (other[i], other[j]) = (other[i] - moved, other[j] + moved);
                assert!(risk(&other) > least * (1.0 - 1e-3), "{i} {j}: {} {least}", risk(&other));
            }
        }
    }

    #[test]
    fn more_people_have_less_error_and_no_people_all_of_it() {
        let schema = Schema::new(vec![2; 5]).unwrap();
        let views = super::super::cover::cover(&schema, 2, 8.0).unwrap();
        let predicted =
            |people| weigh(&schema, &views, 3, people, Epsilon::new(1.0).unwrap()).unwrap().total_variation;
        assert!(predicted(1e3) > predicted(1e4) && predicted(1e4) > predicted(1e6));
        // 3·0.5 + 3·0.05 + 0.005
        assert!((predicted(1e-9) - 0.5 * (std::f64::consts::FRAC_2_PI * 1.655).sqrt()).abs() < 1e-6);
    }
}
