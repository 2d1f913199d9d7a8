//! No true label is looked at but by its own device, whatever is learnt from its report, and whatever is chosen.

use super::comparison::Promise;
use super::data::Data;
use super::methods::{Method, StageOptions, reports};
use crate::people::{Origin, fit_encoder};
use crate::tables::{TableFile, Unlabelled};
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use std::fmt::Write;
use undertone_learn::features::EncoderOptions;
use undertone_learn::labels::LabelVectors;
use undertone_learn::stages::stage_of;
use undertone_learn::{Examples, Predictor};
use undertone_privacy::label::{Label, LabelKind, LabelMechanism};
use undertone_privacy::{Epsilon, Randomizer};

/// What learns from the reports of one round, and what chooses among it.
const METHODS: [&str; 11] = [
    "one-round",
    "debiased",
    "subset-sgd",
    "algorithm-1",
    "cells",
    "neighbours",
    "forest",
    "planes",
    "representation",
    "mlp",
    "auto",
];

/// What asks half of the people first, and how.
const STAGED: [(&str, LabelKind); 4] = [
    ("default", LabelKind::Subset),
    ("two-stages", LabelKind::Subset),
    ("representation-2st", LabelKind::Subset),
    ("mlp-2st", LabelKind::Rr),
];

/// People on a board of two by two fields, whose label is the field's colour.
fn board() -> Data {
    people("board", |x, y| if (x < 0.5) == (y < 0.5) { "dark" } else { "light" })
}

/// People on a plane, whose label is that of their place.
fn people(name: &str, label: impl Fn(f64, f64) -> &'static str) -> Data {
    let path = std::env::temp_dir().join(format!("undertone-poisoned-{name}-{}.csv", std::process::id()));
    let mut table = String::from("x,y,colour\n");
    for person in 0..900u32 {
        let [x, y] = [0.754_877_666, 0.569_840_291].map(|step| (f64::from(person) * step).fract());
        writeln!(table, "{x:.4},{y:.4},{}", label(x, y)).unwrap();
    }
    std::fs::write(&path, table).unwrap();
    let table = TableFile::open(&path).unwrap();
    let people = Origin::labels(table, "colour", None, Unlabelled::LeftOut).unwrap();
    let data = Data::split(&people, &fit_encoder(&people, EncoderOptions::default()).unwrap()).unwrap();
    std::fs::remove_file(path).unwrap();
    data
}

/// The same people with labels that there are not: whoever looks at one fails.
fn poisoned() -> Data {
    let mut data = board();
    data.labels.fill(u32::MAX);
    with_poisoned_judges(data)
}

/// Labels of those who judge are none.
fn with_poisoned_judges(mut data: Data) -> Data {
    let nobodys = LabelVectors::certain(data.test.rows.iter().map(|_| u32::MAX));
    data.test = Examples { unbiased: nobodys.clone(), likelihood: nobodys, ..data.test };
    data
}

/// People of three stripes.
fn stripes() -> Data {
    people("stripes", |x, _| ["a", "b", "c"][(3.0 * x) as usize])
}

/// Those of the first stage, counted from zero, who say the same with either of two labels, if coins fall as they do with this seed: they lie by
/// the third.
fn undecided(data: &Data, mechanism: &LabelMechanism, seed: u64) -> Vec<usize> {
    let first: Vec<usize> =
        (0..data.labels.len()).filter(|person| stage_of(*person as u64, &[0.5, 0.5]) == 0).collect();
    let said = |of: &dyn Fn(u32) -> u32| {
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        let say = |person: &usize| mechanism.randomize(&Label(of(data.labels[*person])), &mut rng).unwrap();
        first.iter().map(say).collect::<Vec<_>>()
    };
    let (truth, other) = (said(&|label| label), said(&exchanged));
    let same = first.iter().zip(truth.iter().zip(&other)).filter(|(_, (one, two))| one == two);
    same.map(|(person, _)| *person).filter(|person| data.labels[*person] < 2).collect()
}

/// The first two labels change places.
fn exchanged(label: u32) -> u32 {
    if label < 2 { 1 - label } else { label }
}

/// To the last bit.
fn written(predictor: &Predictor) -> String {
    serde_json::to_string(predictor).unwrap()
}

#[test]
fn poisoned_labels_change_no_choice_and_no_bit_of_what_is_learnt_from_the_same_reports() {
    let (intact, poisoned) = (board(), poisoned());
    let mechanism = LabelMechanism::best(2, Epsilon::new(2.0).unwrap()).unwrap();
    let said = |data: &Data, seed| reports(data, &mechanism, &mut ChaCha12Rng::seed_from_u64(seed));
    assert!(said(&poisoned, 1).is_err(), "no device can answer with such a label");
    let (told, others) = (said(&intact, 1).unwrap(), said(&intact, 2).unwrap());
    for name in METHODS {
        let method = Method::named(name).unwrap();
        let learnt =
            |told: &Examples, data| written(&method.learn(told.clone(), &mechanism, data, 1).unwrap());
        let found = learnt(&told, &intact);
        assert!(found == learnt(&told, &poisoned), "{name} has looked at a label");
        // What devices said does matter.
        assert!(found != learnt(&others, &poisoned), "{name} has not listened");
    }
}

/// Devices of stages have to read labels when they are asked. Yet with three labels some lie so that another label would have made them say the
/// same: what is learnt may not tell one from the other, in this stage and the next.
#[test]
fn labels_that_devices_would_have_said_the_same_of_change_no_bit_of_what_stages_learn() {
    let (data, seed) = (stripes(), 1);
    let epsilon = Epsilon::new(1.0).unwrap();
    for (name, kind) in STAGED {
        let (method, options) = (Method::named(name).unwrap(), StageOptions::default());
        let learnt =
            |data: &Data| written(&method.model(data, Promise::Private(epsilon), &options, seed).unwrap());
        let undecided = undecided(&data, &kind.mechanism(3, epsilon).unwrap(), seed);
        assert!(undecided.len() > 20, "{name}: {} people", undecided.len());
        let found = learnt(&data);
        let mut others = with_poisoned_judges(stripes());
        for person in &undecided {
            others.labels[*person] = exchanged(others.labels[*person]);
        }
        assert!(found == learnt(&others), "{name} has looked at a label");
        // Of one more, who says something else, it hears.
        let decided = (0..data.labels.len()).find(|person| !undecided.contains(person)).unwrap();
        others.labels[decided] = (others.labels[decided] + 1) % 3;
        assert!(found != learnt(&others), "{name} has not listened");
    }
}
