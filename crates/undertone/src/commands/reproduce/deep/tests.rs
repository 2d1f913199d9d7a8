//! No label is looked at but by its own device, whatever the method.

use super::learning::{Circumstances, learn};
use super::networks::Network;
use super::people::{Input, Public, Raters};
use super::setting::{Budget, Method, Part, Set, Setting};
use super::synthetic;
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use std::path::PathBuf;
use undertone_learn::LearnError;
use undertone_learn::features::Rows;
use undertone_learn::represented::Seen;
use undertone_learn::stages::Devices;
use undertone_privacy::Randomizer;
use undertone_privacy::label::{Label, LabelKind, LabelMechanism, LabelSet};
use undertone_privacy::number::{NumberMechanism, NumberRandomizer};

const PEOPLE: usize = 400;
const METHODS: [Method; 4] = [Method::OneStage, Method::TwoStages, Method::ThreeStages, Method::Ours];

fn setting(set: Set, method: Method, epsilon: f64) -> Setting {
    let trained = method.stages().is_some();
    let network = if set == Set::Ratings { Network::Rating } else { Network::Mlp };
    Setting {
        part: Part::Synthetic,
        set,
        method,
        epsilon: Budget::new(epsilon).unwrap(),
        seed: 1,
        people: PEOPLE,
        network: trained.then_some(network),
        epochs: trained.then_some(2),
        temperature: method.first_share().map(|_| 0.5),
        first_share: method.first_share(),
        mixup: method.stages().filter(|_| set != Set::Ratings).map(|_| 4.0),
    }
}

/// Forty people have rated ten things each.
fn ratings() -> Public {
    let ids =
        (0..PEOPLE as u16).flat_map(|rating| [f32::from(rating / 10), f32::from(rating % 10)]).collect();
    Public { rows: Rows::dense(2, ids), input: Input::Ids { people: 40, things: 10 }, classes: 5 }
}

/// A folder that nobody else has.
fn folder(setting: &Setting, name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("undertone-deep-{}-{name}-{}", std::process::id(), setting.slug()))
}

/// What the model that is learnt says of everybody, to the last bit.
fn learnt(
    setting: &Setting,
    public: &Public,
    seen: Option<&Seen>,
    name: &str,
    devices: &mut dyn Raters,
) -> Vec<u64> {
    let checkpoints = folder(setting, name);
    let circumstances = Circumstances { seen, checkpoints: &checkpoints, tell: &|_| () };
    let model = learn(setting, public, devices, &circumstances).unwrap();
    let _ = std::fs::remove_dir_all(&checkpoints);
    model.ratings(&public.rows).iter().map(|rating| rating.to_bits()).collect()
}

/// Devices that lose their labels after they have answered, if so told.
struct Poisoned {
    labels: Vec<u32>,
    rng: ChaCha12Rng,
    poison: bool,
}

impl Poisoned {
    fn label(&mut self, person: u64) -> u32 {
        let label = &mut self.labels[person as usize];
        // No such label: whoever looks at it again fails.
        if self.poison { std::mem::replace(label, u32::MAX) } else { *label }
    }
}

impl Devices for Poisoned {
    fn answer(&mut self, person: u64, mechanism: &LabelMechanism) -> Result<LabelSet, LearnError> {
        let label = Label(self.label(person));
        Ok(mechanism.randomize(&label, &mut self.rng)?)
    }
}

impl Raters for Poisoned {
    fn rate(&mut self, person: u64, mechanism: &NumberMechanism) -> Result<i64, LearnError> {
        let rating = f64::from(self.label(person)) + 1.0;
        Ok(mechanism.report(&mechanism.bounds().place(rating)?, &mut self.rng)?)
    }
}

/// Learns from devices with these labels, which they lose after they have answered if `poison` says so; what is left of them.
fn with_labels(
    setting: &Setting,
    public: &Public,
    seen: Option<&Seen>,
    labels: &[u32],
    poison: bool,
) -> (Vec<u64>, Vec<u32>) {
    let mut devices = Poisoned { labels: labels.to_vec(), rng: ChaCha12Rng::seed_from_u64(9), poison };
    let name = if poison { "poisoned" } else { "intact" };
    let found = learnt(setting, public, seen, name, &mut devices);
    (found, devices.labels)
}

fn nothing_changes(set: Set, public: &Public, seen: Option<&Seen>) {
    let k = public.classes;
    let labels: Vec<u32> = (0..PEOPLE as u32).map(|person| (person * 7 + person / 5) % k).collect();
    let others: Vec<u32> = labels.iter().map(|label| (label + 1) % k).collect();
    for method in METHODS {
        let setting = setting(set, method, 2.0);
        let (intact, kept) = with_labels(&setting, public, seen, &labels, false);
        let (poisoned, left) = with_labels(&setting, public, seen, &labels, true);
        assert_eq!(intact, poisoned, "{setting}");
        assert_eq!(kept, labels);
        assert!(left.iter().all(|label| *label == u32::MAX), "everybody was asked");
        // The labels do matter while devices have them.
        assert_ne!(intact, with_labels(&setting, public, seen, &others, false).0, "{setting}");
    }
}

#[test]
fn labels_that_are_poisoned_once_they_were_randomized_change_no_bit() {
    let people = synthetic::people(PEOPLE);
    let seen = people.public.seen(&()).unwrap();
    nothing_changes(Set::Synthetic, &people.public, Some(&seen));
    nothing_changes(Set::Ratings, &ratings(), None);
}

#[test]
fn every_device_of_a_run_has_answered_once_and_knows_nothing_any_more() {
    let people = synthetic::people(PEOPLE);
    let seen = people.public.seen(&()).unwrap();
    for method in METHODS {
        let setting = setting(Set::Synthetic, method, f64::INFINITY);
        let mut devices = people.secrets.devices(setting.seed);
        learnt(&setting, &people.public, Some(&seen), "spent", &mut devices);
        let mechanism = LabelKind::Rr.mechanism(10, setting.epsilon.epsilon().unwrap()).unwrap();
        for person in 0..PEOPLE as u64 {
            let again = devices.answer(person, &mechanism);
            assert!(matches!(again, Err(LearnError::AskedTwice { .. })), "{method:?}, {person}");
        }
    }
}
