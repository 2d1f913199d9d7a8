//! From records to the least risk, and the pieces of the surrogate against their definitions.

use super::operator::{basis_at, iterated_operator};
use super::*;
use crate::means::{Mean, Means, Tally, worst_answer_variance};
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use undertone_privacy::number::{Bounds, GridNumber, Laplace, OneBit};
use undertone_privacy::public::{GenProt, RejectionBit};
use undertone_privacy::statistic::{Allocation, LossAt, ParameterGrid, PointLoss};
use undertone_privacy::{Randomizer, Unbiased};

fn exactly(values: impl IntoIterator<Item = f64>) -> Means {
    let mean = |(j, value)| Some(Mean { value, variance: 0.5 + f64::from(j % 5), answers: 20 });
    Means::new((0u32..).zip(values).map(mean).collect())
}

/// Numbers between -1 and 1 that repeat late.
fn numbers(count: u32) -> impl Iterator<Item = f64> {
    (0..count).map(|i| f64::from((i * 37 + 5) % 101) / 50.0 - 1.0)
}

/// A box that is no cube.
fn grid(axes: usize, degree: u32) -> ParameterGrid {
    let low: Vec<f64> = (0..axes).map(|i| -1.0 - i as f64).collect();
    let high: Vec<f64> = (0..axes).map(|i| 2.0 + 0.5 * i as f64).collect();
    ParameterGrid::new(&low, &high, degree).unwrap()
}

/// Σ_v value_v·Π_i B_{v_i}, and Σ_v var_v·Π_i B_{v_i}², term by term.
fn by_definition(grid: &ParameterGrid, order: u32, means: &Means, w: &[f64]) -> (f64, f64) {
    let nodes = grid.degree() as usize + 1;
    let ends = grid.low().iter().zip(grid.high());
    let x: Vec<f64> = w.iter().zip(ends).map(|(w, (l, h))| (w - l) / (h - l)).collect();
    let bases = basis_at(grid.degree(), &x).dot(&iterated_operator(grid.degree(), order));
    let (mut value, mut variance) = (0.0, 0.0);
    for (number, mean) in means.iter().enumerate() {
        let mut rest = number;
        let mut product = 1.0;
        for axis in (0..x.len()).rev() {
            product *= bases[(axis, rest % nodes)];
            rest /= nodes;
        }
        let mean = mean.unwrap();
        value += product * mean.value;
        variance += product * product * mean.variance;
    }
    (value, variance)
}

#[test]
fn value_variance_and_gradient_are_those_of_the_definition() {
    for (axes, degree, order) in [(1, 1, 1), (1, 40, 2), (2, 7, 3), (3, 4, 2), (5, 2, 4)] {
        let grid = grid(axes, degree);
        let means = exactly(numbers(grid.nodes()));
        let surrogate = Surrogate::fit(grid.clone(), order, &means).unwrap();
        let mut workspace = Workspace::default();
        for shift in [0.0, 0.37, 0.81, 1.0] {
            let ends = grid.low().iter().zip(grid.high());
            let w: Vec<f64> = (0..)
                .zip(ends)
                .map(|(i, (l, h))| l + (h - l) * (shift + 0.2 * f64::from(i)).min(1.0))
                .collect();
            let (value, variance) = by_definition(&grid, order, &means, &w);
            let mut gradient = vec![f64::NAN; axes];
            let ours = surrogate.value_and_gradient(&w, &mut gradient, &mut workspace);
            assert!((ours - value).abs() < 1e-12 && (surrogate.value(&w) - value).abs() < 1e-12);
            assert!((surrogate.variance(&w) / variance - 1.0).abs() < 1e-12);
            for axis in 0..axes {
                let at = |by: f64| {
                    let mut there = w.clone();
                    there[axis] += by;
                    by_definition(&grid, order, &means, &there).0
                };
                let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!((gradient[axis] - difference).abs() < 1e-6, "{gradient:?}, {difference}");
            }
        }
    }
}

#[test]
fn products_of_straight_lines_are_kept() {
    let grid = grid(3, 3);
    let line = |w: &[f64]| (1.0 + w[0]) * (2.0 - 0.3 * w[1]) * (0.5 + w[2]);
    let means = exactly((0..grid.nodes()).map(|j| line(&grid.node(j).unwrap())));
    let surrogate = Surrogate::fit(grid, 3, &means).unwrap();
    for w in [[0.0, 0.0, 0.0], [1.7, -1.9, 3.0], [-1.0, 2.5, -3.0]] {
        assert!((surrogate.value(&w) - line(&w)).abs() < 1e-12);
    }
}

#[test]
fn the_least_value_of_a_bowl_is_found_on_any_number_of_axes() {
    for axes in 1..=5 {
        let grid = grid(axes, 4);
        let bowl = |w: &[f64]| -> f64 {
            w.iter().enumerate().map(|(i, w)| (1.0 + i as f64) * (w - 0.4) * (w - 0.4)).sum()
        };
        let means = exactly((0..grid.nodes()).map(|j| bowl(&grid.node(j).unwrap())));
        let surrogate = Surrogate::fit(grid, 1, &means).unwrap();
        let found = surrogate.minimise();
        let mut gradient = vec![0.0; axes];
        let value = surrogate.value_and_gradient(&found.w, &mut gradient, &mut Workspace::default());
        assert!((value - found.value).abs() < 1e-12 && gradient.iter().all(|g| g.abs() < 1e-8));
        assert!((found.standard_error.powi(2) / surrogate.variance(&found.w) - 1.0).abs() < 1e-12);
        // Degree 4, order 1: the polynomial of (w - 0.4)² has (b - a)²·x(1-x)/4 more, hence its least value at
        // w = (0.4 - (a + b)/8)/(3/4)
        for (i, w) in found.w.iter().enumerate() {
            let (a, b) = (-1.0 - i as f64, 2.0 + 0.5 * i as f64);
            assert!((w - (0.4 - (a + b) / 8.0) / 0.75).abs() < 1e-7, "{axes} axes: {found:?}");
        }
    }
}

#[test]
fn a_grid_with_an_unanswered_node_or_of_another_size_is_refused() {
    let mut cells: Vec<Option<Mean>> = exactly(numbers(9)).iter().collect();
    cells[4] = None;
    let refused = Surrogate::fit(grid(2, 2), 1, &Means::new(cells)).unwrap_err();
    assert!(refused.to_string().contains("statistic 4"), "{refused}");
    assert!(Surrogate::fit(grid(2, 2), 1, &exactly(numbers(8))).is_err());
    assert!(Surrogate::fit(grid(2, 2), 0, &exactly(numbers(9))).is_err());
}

#[test]
fn the_operator_misses_the_logistic_loss_by_what_was_computed_elsewhere() {
    // For records with |x| ≤ 1. With scores that have an offset of 0.9, as no such record has, the last two
    // would be 0.0052 and 0.0024.
    let problem = Problem { loss: PointLoss::Logistic, low: &[-1.0], high: &[1.0], radius: 1.0 };
    for (k, h, expected) in
        [(2, 1, 0.060_057), (2, 2, 0.030_029), (3, 2, 0.013_825), (3, 3, 0.004_968), (4, 3, 0.002_377)]
    {
        let bias = problem.bias(k, h);
        assert!((bias / expected - 1.0).abs() < 1e-3, "k = {k}, h = {h}: {bias}");
    }
}

#[test]
fn the_operator_misses_a_square_by_its_closed_form() {
    // (B - I)x² = x(1-x)/k and (I - B)x(1-x) = x(1-x)/k: the error is (r·width)²·x(1-x)/k^h, at most a quarter of it.
    let loss = PointLoss::Squared { largest: 1.0 };
    let problem = Problem { loss, low: &[-1.0, 0.0], high: &[1.0, 3.0], radius: 0.5 };
    for (k, h) in [(1, 1), (2, 1), (3, 2), (5, 3), (4, 4)] {
        let expected = 0.25 * 9.0 / 4.0 / f64::from(k).powi(h);
        assert!((problem.bias(k, h as u32) / expected - 1.0).abs() < 1e-9, "k = {k}, h = {h}");
    }
}

#[test]
fn asking_where_losses_differ_lowers_the_largest_variance() {
    let at = logistic(2, 2);
    let predicted = |allocation: &Allocation| {
        let mean = |j: u32| Mean { value: 0.5, variance: 1e-4 / allocation.share(j as usize), answers: 1 };
        let means: Means = Means::new((0..9).map(|j| Some(mean(j))).collect());
        let means = means.on_ranges(|j| at.range(j as u32).unwrap());
        let surrogate = Surrogate::fit(at.grid().clone(), 2, &means).unwrap();
        let line = || (-10..=10).map(|i| f64::from(i) / 10.0);
        let places = line().flat_map(|a| line().map(move |b| [a, b]));
        places.map(|w| surrogate.variance(&w)).fold(0.0, f64::max)
    };
    let even = predicted(&Allocation::new(&[1; 9]).unwrap());
    let divided = predicted(&at.allocation().unwrap());
    assert!(divided < 0.8 * even, "{divided} against {even}");
}

#[test]
fn more_people_never_have_a_worse_bound_and_too_few_hear_what_fits() {
    let problem = Problem { loss: PointLoss::Logistic, low: &[-1.0; 2], high: &[1.0; 2], radius: 1.0 };
    let choices = [1e3, 1e4, 1e5, 1e6, 1e7].map(|n| choose_grid(&problem, n as u64, 1.08).unwrap());
    assert!(choices.is_sorted_by(|fewer, more| fewer.bound > more.bound && fewer.degree <= more.degree));
    assert!(choices[4].degree > choices[0].degree, "{choices:?}");
    assert!(check_grid(3, 6, 10_000).is_ok());
    let refused = check_grid(3, 7, 10_000).unwrap_err().to_string();
    assert_eq!(
        refused,
        "a grid of degree 7 on 3 axes makes 512 cells, for which 10240 people are needed; 10000 people fill degree 6 at most"
    );
    let wide = Problem { low: &[-1.0; 12], high: &[1.0; 12], ..problem };
    assert!(choose_grid(&wide, 10_000, 1.0).unwrap_err().to_string().ends_with("fill none"));
    let empty = Problem { low: &[1.0], high: &[1.0], ..wide };
    assert!(choose_grid(&empty, 10_000, 1.0).is_err());
}

/// Directions evenly around the circle or sphere with labels that are right with chance 1/(1 + e^-4⟨u, x⟩).
fn people(axes: usize, count: usize, rng: &mut ChaCha12Rng) -> Vec<(Vec<f64>, f64)> {
    let mut uniform = || f64::from(rng.next_u32()) / 4_294_967_296.0;
    let person = |_| loop {
        let x: Vec<f64> = (0..axes).map(|_| 2.0 * uniform() - 1.0).collect();
        let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        if norm > 0.1 && norm < 1.0 {
            let x: Vec<f64> = x.into_iter().map(|x| x / norm).collect();
            let score = 4.0 * (0.8 * x[0] - 0.6 * x[1]);
            let y = if uniform() < 1.0 / (1.0 + (-score).exp()) { 1.0 } else { -1.0 };
            return (x, y);
        }
    };
    (0..count).map(person).collect()
}

fn risk(loss: PointLoss, people: &[(Vec<f64>, f64)], w: &[f64]) -> f64 {
    let of = |(x, y): &(Vec<f64>, f64)| loss.value(x.iter().zip(w).map(|(x, w)| x * w).sum(), *y);
    people.iter().map(of).sum::<f64>() / people.len() as f64
}

/// The least risk on the box, by a fine surrogate of the exact risks at its nodes.
fn least_risk(loss: PointLoss, people: &[(Vec<f64>, f64)], axes: usize) -> f64 {
    let grid = ParameterGrid::new(&vec![-1.0; axes], &vec![1.0; axes], 6).unwrap();
    let at = |j| risk(loss, people, &grid.node(j).unwrap());
    let means = exactly((0..grid.nodes()).map(at));
    risk(loss, people, &Surrogate::fit(grid, 4, &means).unwrap().minimise().w)
}

/// What one collection learns if every person answers about one node.
fn learn(
    statistics: &LossAt,
    people: &[(Vec<f64>, f64)],
    order: u32,
    mechanism: &impl Unbiased<Input = GridNumber>,
    rng: &mut ChaCha12Rng,
) -> Minimum {
    let unit = Bounds::new(0.0, 1.0).unwrap();
    let nodes = statistics.grid().nodes();
    let allocation = statistics.allocation().unwrap();
    let worst = worst_answer_variance(mechanism, unit).unwrap();
    let mut tally = Tally::new(nodes as usize, worst.sqrt()).unwrap();
    for (x, y) in people {
        let node = allocation.draw(rng);
        let share = unit.place(statistics.share(node, x, *y).unwrap()).unwrap();
        tally.observe_report(node, mechanism, &mechanism.randomize(&share, rng).unwrap()).unwrap();
    }
    least(statistics, order, &tally, worst)
}

/// Algorithm 2 as printed: everybody answers about every node with Laplace noise at ε/d.
fn learn_from_all_nodes(
    statistics: &LossAt,
    people: &[(Vec<f64>, f64)],
    order: u32,
    epsilon: Epsilon,
    rng: &mut ChaCha12Rng,
) -> Minimum {
    let unit = Bounds::new(0.0, 1.0).unwrap();
    let nodes = statistics.grid().nodes();
    let mechanism = Laplace::new(unit, epsilon_of_each(epsilon, nodes).unwrap()).unwrap();
    let worst = worst_answer_variance(&mechanism, unit).unwrap();
    let mut tally = Tally::new(nodes as usize, worst.sqrt()).unwrap();
    for (x, y) in people {
        for node in 0..nodes {
            let share = unit.place(statistics.share(node, x, *y).unwrap()).unwrap();
            tally.observe_report(node, &mechanism, &mechanism.randomize(&share, rng).unwrap()).unwrap();
        }
    }
    least(statistics, order, &tally, worst)
}

fn least(statistics: &LossAt, order: u32, tally: &Tally, worst: f64) -> Minimum {
    let means = tally.means_as_spread(worst).on_ranges(|j| statistics.range(j as u32).unwrap());
    Surrogate::fit(statistics.grid().clone(), order, &means).unwrap().minimise()
}

/// The mean excess risk of some collections, and the mean of what they think their standard error is.
fn excess(
    axes: usize,
    count: usize,
    mut learn: impl FnMut(&[(Vec<f64>, f64)], &mut ChaCha12Rng) -> Minimum,
) -> (f64, f64) {
    let mut rng = ChaCha12Rng::seed_from_u64(11);
    let loss = PointLoss::Logistic;
    let runs = 6;
    let (mut sum, mut errors) = (0.0, 0.0);
    for _ in 0..runs {
        let people = people(axes, count, &mut rng);
        let found = learn(&people, &mut rng);
        sum += risk(loss, &people, &found.w) - least_risk(loss, &people, axes);
        errors += found.standard_error;
    }
    (sum / f64::from(runs), errors / f64::from(runs))
}

fn logistic(axes: usize, degree: u32) -> LossAt {
    let problem =
        Problem { loss: PointLoss::Logistic, low: &vec![-1.0; axes], high: &vec![1.0; axes], radius: 1.0 };
    problem.statistics(degree).unwrap()
}

#[test]
fn ten_thousand_people_with_one_bit_each_teach_nearly_the_least_risk_in_one_round() {
    let epsilon = Epsilon::new(1.0).unwrap();
    let unit = Bounds::new(0.0, 1.0).unwrap();
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    let constant = {
        let people = people(2, 10_000, &mut rng);
        2f64.ln() - least_risk(PointLoss::Logistic, &people, 2)
    };
    let at = logistic(2, 2);
    let direct = OneBit::new(unit, epsilon).unwrap();
    let (one_bit, error) = excess(2, 10_000, |people, rng| learn(&at, people, 2, &direct, rng));
    assert!((0.0..constant / 20.0).contains(&one_bit), "{one_bit} of {constant}");
    let rejection = RejectionBit::new(unit, epsilon).unwrap();
    let rejection = excess(2, 10_000, |people, rng| learn(&at, people, 2, &rejection, rng));
    let strings = GenProt::new(unit, 8, epsilon).unwrap();
    let strings = excess(2, 10_000, |people, rng| learn(&at, people, 2, &strings, rng));
    // Variances of one answer: 1.17, 4.82 and 8, and some for spread
    for ((excess, larger), ratio) in [(rejection, 2.0), (strings, 2.6)] {
        assert!(excess < constant / 2.0, "{excess} of {constant}");
        assert!((larger / error / ratio - 1.0).abs() < 0.15, "{larger} against {error}");
    }
}

#[test]
fn answering_about_every_node_at_a_share_of_epsilon_teaches_little_on_three_axes() {
    let epsilon = Epsilon::new(1.0).unwrap();
    let at = logistic(3, 3);
    let direct = OneBit::new(Bounds::new(0.0, 1.0).unwrap(), epsilon).unwrap();
    let (one_bit, error) = excess(3, 5_000, |people, rng| learn(&at, people, 2, &direct, rng));
    let (all, larger) = excess(3, 5_000, |people, rng| learn_from_all_nodes(&at, people, 2, epsilon, rng));
    // √(2·64²/n) against √(1.17·64/n), before people are divided by range
    assert!(all > 2.0 * one_bit && larger > 8.0 * error, "{all} ± {larger} against {one_bit} ± {error}");
}
