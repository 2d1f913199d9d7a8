//! No true label is looked at but by its own device, whatever is learnt from its report, and whatever is chosen.

use super::data::Data;
use super::methods::{Method, reports};
use crate::people::{Origin, fit_encoder};
use crate::tables::{TableFile, Unlabelled};
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use std::fmt::Write;
use undertone_learn::features::EncoderOptions;
use undertone_learn::labels::LabelVectors;
use undertone_learn::{Examples, Predictor};
use undertone_privacy::Epsilon;
use undertone_privacy::label::LabelMechanism;

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

/// People on a board of two by two fields, whose label is the field's colour.
fn board() -> Data {
    let path = std::env::temp_dir().join(format!("undertone-poisoned-{}.csv", std::process::id()));
    let mut table = String::from("x,y,colour\n");
    for person in 0..900u32 {
        let [x, y] = [0.754_877_666, 0.569_840_291].map(|step| (f64::from(person) * step).fract());
        writeln!(table, "{x:.4},{y:.4},{}", if (x < 0.5) == (y < 0.5) { "dark" } else { "light" }).unwrap();
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
    let nobodys = LabelVectors::certain(data.test.rows.iter().map(|_| u32::MAX));
    data.test = Examples { unbiased: nobodys.clone(), likelihood: nobodys, ..data.test };
    data
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
