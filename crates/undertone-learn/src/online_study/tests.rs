//! The simulation against the plain recursion, and against distances that an independent program found.

use super::lanes::{LANES, Lanes};
use super::people::Records;
use super::stream::Streams;
use super::*;
use crate::online::laws::DesignKind;
use crate::online::{Estimate, Interval, Level, OnlineOptions, OnlineSgd, Steps};
use undertone_privacy::gradient::{Weight, Weighting};
use undertone_privacy::{Epsilon, Mu};

const SEED: u64 = 9;

fn setting(people: People, weight: Weight, noise: Noise, alpha: f64) -> Setting {
    Setting {
        model: people.model(Weighting::new(weight, 2f64.sqrt()).unwrap()).unwrap(),
        noise,
        steps: Steps::new(0.2, alpha, 0).unwrap(),
        kept: Kept { decayed: true, spread: true, burn_in: 3 },
    }
}

/// Lane 0 again: the same draws, and the descent that a server runs.
fn plainly(people: People, setting: &Setting, count: u64) -> Place {
    let model = setting.model;
    let perturbation = setting.noise.made_for(&model).unwrap();
    let mut streams = Streams::new(SEED, 0);
    let published = OnlineOptions { burn_in: 3, ..OnlineOptions::published(setting.steps).unwrap() };
    let forgetting = OnlineOptions { decay: 3.0, ..published.clone() };
    let [mut plain, mut forgetful] =
        [published, forgetting].map(|options| OnlineSgd::new(model, options, model.start()).unwrap());
    let (mut x, mut y) = (vec![[0.0; LANES]; people.dimension + 1], [0.0; LANES]);
    for _ in 0..count {
        let mut records = people;
        records.draw(&mut streams, &mut x, &mut y);
        let own: Vec<f64> = x.iter().map(|x| x[0]).collect();
        let mut gradient = vec![0.0; model.parameters()];
        model.gradient(plain.point(), &own, y[0], &mut gradient);
        let mut report: Vec<Lanes> = gradient.iter().map(|&g| [g; LANES]).collect();
        perturbation.apply(&mut report, &mut vec![[0.0; LANES]; gradient.len()], &mut streams);
        let report: Vec<f64> = report.iter().map(|value| value[0]).collect();
        for descent in [&mut plain, &mut forgetful] {
            descent.observe(Estimate { gradient: &report, tier: 0 }).unwrap();
        }
    }
    // An interval is ± critical value·√(V/n).
    let level = Level::new(0.95).unwrap();
    let intervals = plain.undoubted(level);
    let variance =
        |interval: &Interval| (interval.half_width / level.critical_value()).powi(2) * (count - 3) as f64;
    Place {
        people: count,
        last: plain.point().to_vec(),
        average: plain.mean().unwrap().to_vec(),
        decayed: forgetful.mean().unwrap().to_vec(),
        variance: intervals.iter().map(variance).collect(),
    }
}

#[test]
fn a_lane_goes_the_way_of_the_plain_recursion() {
    let (epsilon, mu) = (|e| Epsilon::new(e).unwrap(), |m| Mu::new(m).unwrap());
    let noises = [
        Noise::None,
        Noise::Gaussian(mu(1.0)),
        Noise::GaussianBetween(mu(1.0), mu(2.0)),
        Noise::Laplace(epsilon(3.0)),
        Noise::L2Laplace(epsilon(3.0)),
        Noise::Duchi(epsilon(1.0)),
        Noise::PrivUnit(epsilon(3.0)),
    ];
    for kind in [DesignKind::Linear, DesignKind::Logistic] {
        let people = People { kind, dimension: 3 };
        for (noise, weight) in noises.into_iter().zip(Weight::ALL.into_iter().cycle()) {
            let setting = setting(people, weight, noise, 0.6);
            let count = 2000;
            let paths =
                setting.replicate(people, &setting.model.start(), &[7, count], 1, SEED, &|_| ()).unwrap();
            for place in &paths[0] {
                let plain = plainly(people, &setting, place.people);
                for (ours, plain) in [
                    (&place.last, &plain.last),
                    (&place.average, &plain.average),
                    (&place.decayed, &plain.decayed),
                    (&place.variance, &plain.variance),
                ] {
                    for (ours, plain) in ours.iter().zip(plain) {
                        assert!(
                            (ours - plain).abs() < 1e-9 * plain.abs().max(1.0),
                            "{noise:?}: {ours} for {plain}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn results_depend_on_neither_threads_nor_the_number_of_replications() {
    let people = People { kind: DesignKind::Linear, dimension: 5 };
    let setting = setting(people, Weight::Square, Noise::Gaussian(Mu::new(1.0).unwrap()), 0.5);
    let run = |threads, replications| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            setting.replicate(people, &setting.model.start(), &[300], replications, 1, &|_| ()).unwrap()
        })
    };
    let (one, three) = (run(1, 40), run(3, 40));
    assert_eq!(one, three);
    assert_eq!(run(2, 19), one[..19]);
    assert_ne!(one[0], one[1]);
}

#[test]
fn bad_numbers_are_refused_by_name() {
    let people = People { kind: DesignKind::Linear, dimension: 5 };
    let good = setting(people, Weight::Square, Noise::None, 0.5);
    let refused = |setting: &Setting, start: &[f64], marks: &[u64]| {
        setting.replicate(people, start, marks, 1, 1, &|_| ()).unwrap_err().to_string()
    };
    let start = good.model.start();
    assert!(refused(&good, &start, &[0, 5]).contains("is 0"));
    assert!(refused(&good, &start[1..], &[5]).contains('6'));
    let other = People { dimension: 3, ..people };
    assert!(good.replicate(other, &start, &[5], 1, 1, &|_| ()).is_err());
}

/// Distances after 300,000 people of d = 5 that a numpy program found, with the published weights.
#[test]
fn distances_are_those_of_an_independent_program() {
    const RUNS: usize = 64;
    let gdp = |mu: f64| Noise::Gaussian(Mu::new(mu).unwrap());
    for (kind, alpha, noise, last, average) in [
        (DesignKind::Linear, 0.5, gdp(1.0), 0.1563, 0.0378),
        (DesignKind::Linear, 2.0 / 3.0, gdp(2.0), 0.006_917, 0.035_75),
        (DesignKind::Linear, 0.5, Noise::None, 0.000_902_7, 0.000_155),
        (DesignKind::Logistic, 0.5, gdp(2.0), 0.062_76, 0.047_75),
    ] {
        let people = People { kind, dimension: 5 };
        let setting = setting(people, Weight::Square, noise, alpha);
        let paths = setting.replicate(people, &setting.model.start(), &[300_000], RUNS, 1, &|_| ()).unwrap();
        let truth = people.truth();
        let distances = |of: fn(&Place) -> &Vec<f64>| -> (f64, f64) {
            let each =
                paths.iter().map(|path| of(&path[0]).iter().zip(&truth).map(|(a, b)| (a - b).powi(2)).sum());
            let each: Vec<f64> = each.collect();
            let mean = each.iter().sum::<f64>() / RUNS as f64;
            let variance = each.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (RUNS - 1) as f64;
            (mean, (variance / RUNS as f64).sqrt())
        };
        for ((ours, error), theirs) in
            [(distances(|place| &place.last), last), (distances(|place| &place.average), average)]
        {
            // theirs has an error, too, of as many runs
            assert!(
                (ours - theirs).abs() < 3.0 * 2f64.sqrt() * error,
                "{kind:?}, {alpha}: {ours} ± {error} for {theirs}"
            );
        }
    }
}
