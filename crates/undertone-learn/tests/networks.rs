//! From reports to a network: what it learns, what it depends on, and how it goes on after an interruption.

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use undertone_learn::evaluation::terms::predicted;
use undertone_learn::features::Rows;
use undertone_learn::labels::{Channel, LabelVectors};
use undertone_learn::networks::{
    Architecture, Augmentation, Image, Loss, NetModel, NetTrainer, Progress, Relabel, Schedule, Training,
};
use undertone_learn::stages::{MultiStage, Trainer};
use undertone_learn::{Classifier, Examples, LearnError, Source};
use undertone_privacy::label::{Label, LabelKind, LabelMechanism, LabelSet};
use undertone_privacy::{Epsilon, Randomizer};

const CLASSES: usize = 4;
const IMAGE: Image = Image { height: 8, width: 8, channels: 1 };

/// Images with a bright quarter, which is the label, and noise.
fn people(count: usize, first: u64) -> (Rows, Vec<u32>) {
    let mut word = 0x1234_5678_9abc_def1 ^ (first << 20);
    let mut noise = || {
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        (word >> 40) as f32 / (1u64 << 24) as f32
    };
    let mut pixels = Vec::new();
    let labels: Vec<u32> = (0..count as u32).map(|row| (row * 7 + row / 5) % 4).collect();
    for label in &labels {
        for place in 0..64 {
            let quarter = (place / 32) * 2 + u32::from(place % 8 >= 4);
            pixels.push(1.2 * noise() + if quarter == *label { 0.4 } else { 0.0 });
        }
    }
    (Rows::dense(64, pixels), labels)
}

/// Everybody's device answers once, by randomized response.
fn reports(rows: &Rows, labels: &[u32], epsilon: f64) -> Examples {
    let mechanism = LabelKind::Rr.mechanism(CLASSES as u32, Epsilon::new(epsilon).unwrap()).unwrap();
    let (channel, mut rng) = (Channel::of_mechanism(&mechanism), ChaCha12Rng::seed_from_u64(5));
    let (mut unbiased, mut likelihood) = (LabelVectors::new(), LabelVectors::new());
    for label in labels {
        let report = mechanism.randomize(&Label(*label), &mut rng).unwrap();
        channel.push_unbiased(report.members(), &[], &mut unbiased).unwrap();
        channel.push_likelihood(report.members(), &[], &mut likelihood).unwrap();
    }
    Examples { rows: rows.clone(), unbiased, likelihood, ..Examples::default() }
}

fn training(epochs: usize) -> Training {
    Training {
        epochs,
        batch: 50,
        schedule: Schedule { peak: 0.05, warm_up: 0.15 },
        mixup: None,
        augmentation: Augmentation::default(),
        loss: Loss::Forward,
        ..Training::as_published(epochs, 3)
    }
}

fn mlp(training: Training) -> NetTrainer<'static> {
    NetTrainer::new(Architecture::Mlp { inputs: 64, hidden: vec![16] }, CLASSES, training)
}

fn accuracy(model: &NetModel, rows: &Rows, labels: &[u32]) -> f64 {
    let p = model.probabilities(rows);
    let right = p.chunks_exact(CLASSES).zip(labels).filter(|(p, label)| predicted(p) == **label as usize);
    right.count() as f64 / labels.len() as f64
}

fn fitted(trainer: &NetTrainer<'_>, examples: &Examples) -> NetModel {
    trainer.fit(&mut vec![examples.clone()], None).unwrap()
}

fn bits(model: &NetModel) -> Vec<u32> {
    model.weights().iter().map(|weight| weight.to_bits()).collect()
}

/// A folder of this test, which is not there yet.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("undertone-networks-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// How often the brightest quarter is the label: no rule that sees sums does better, and chance is 1/4.
fn brightest(rows: &Rows, labels: &[u32]) -> f64 {
    let right = rows.iter().zip(labels).filter(|(row, label)| {
        let mut sums = [0.0; CLASSES];
        for (place, x) in row.dense.iter().enumerate() {
            sums[place / 32 * 2 + usize::from(place % 8 >= 4)] += x;
        }
        predicted(&sums) == **label as usize
    });
    right.count() as f64 / labels.len() as f64
}

#[test]
fn every_architecture_and_loss_learns_from_reports() {
    let ((rows, labels), (new, truth)) = (people(4000, 0), people(500, 1));
    let (examples, rule) = (reports(&rows, &labels, 2.0), brightest(&new, &truth));
    assert!(rule > 0.99, "{rule}");
    let architectures = [
        Architecture::Mlp { inputs: 64, hidden: vec![16] },
        Architecture::SmallCnn { image: IMAGE },
        Architecture::Inception { image: IMAGE, narrower: 16 },
    ];
    for architecture in architectures {
        for loss in [Loss::Plain, Loss::Debiased, Loss::Forward, Loss::Soft] {
            // Endless gain is ahead of the debiased loss, and reports that were kept aside tell when it has begun.
            let peak = if loss == Loss::Debiased { 0.015 } else { 0.06 };
            let schedule = Schedule { peak, ..training(1).schedule };
            let options = Training { loss, schedule, patience: Some(4), ..training(4) };
            let model = fitted(&NetTrainer::new(architecture.clone(), CLASSES, options), &examples);
            let found = accuracy(&model, &new, &truth);
            // From 4000 reports, of which 29 in a hundred lie, nearly all that can be known
            let least = if loss == Loss::Forward { 0.95 } else { 0.9 };
            assert!(found > least * rule, "{architecture:?}, {loss:?}: {found} of {rule}");
        }
    }
}

#[test]
fn mixed_moved_and_cut_images_are_learnt_as_well() {
    let ((rows, labels), (new, truth)) = (people(2000, 0), people(500, 1));
    let augmentation = Augmentation { shift: 1, flip: false, cutout: 2 };
    let options = Training { mixup: Some(1.0), augmentation, ..training(4) };
    let trainer = NetTrainer::new(Architecture::SmallCnn { image: IMAGE }, CLASSES, options);
    let found = accuracy(&fitted(&trainer, &reports(&rows, &labels, 2.0)), &new, &truth);
    assert!(found > 0.8, "{found}");
}

#[test]
fn weights_are_a_function_of_the_seed_however_many_cores_there_are() {
    let (rows, labels) = people(300, 0);
    let examples = reports(&rows, &labels, 1.0);
    let augmentation = Augmentation { shift: 1, flip: true, cutout: 2 };
    let trainer = |seed| {
        let options = Training { mixup: Some(4.0), augmentation, seed, ..training(2) };
        NetTrainer::new(Architecture::Inception { image: IMAGE, narrower: 16 }, CLASSES, options)
    };
    let on = |cores: usize, seed| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(cores).build().unwrap();
        let (examples, options) = (&examples, trainer(seed).training);
        let architecture = trainer(seed).architecture;
        pool.install(move || bits(&fitted(&NetTrainer::new(architecture, CLASSES, options), examples)))
    };
    let one = on(1, 3);
    assert_eq!(one, on(2, 3));
    assert_eq!(one, on(5, 3));
    assert_ne!(one, on(1, 4));
}

#[test]
fn an_interrupted_training_ends_as_if_nothing_had_happened() {
    let (rows, labels) = people(400, 0);
    let examples = reports(&rows, &labels, 1.0);
    let checkpoints = folder("interrupted");
    let options = Training { patience: Some(3), ..training(5) };
    let undisturbed = fitted(&mlp(options.clone()), &examples);
    let seen = RefCell::new(Vec::new());
    // Somebody pulls the plug after the second epoch.
    let pull = |progress: &Progress| {
        seen.borrow_mut().push(progress.epoch);
        assert!(progress.epoch != 2, "the plug");
    };
    let trainer =
        NetTrainer { checkpoints: Some(checkpoints.clone()), progress: Some(&pull), ..mlp(options.clone()) };
    let pulled = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| fitted(&trainer, &examples)));
    assert!(pulled.is_err());
    let told = RefCell::new(Vec::new());
    let tell = |progress: &Progress| told.borrow_mut().push(*progress);
    let trainer = NetTrainer { progress: Some(&tell), ..trainer };
    assert_eq!(bits(&fitted(&trainer, &examples)), bits(&undisturbed));
    assert_eq!(seen.into_inner(), [1, 2]);
    // All epochs are told of, also those before the plug was pulled ...
    let resumed = told.take();
    let whole = RefCell::new(Vec::new());
    let watch = |progress: &Progress| whole.borrow_mut().push(*progress);
    fitted(&NetTrainer { progress: Some(&watch), ..mlp(options) }, &examples);
    let as_new = |told: &[Progress]| -> Vec<Progress> {
        told.iter().map(|progress| Progress { is_found: false, ..*progress }).collect()
    };
    assert_eq!(as_new(&resumed), whole.into_inner());
    assert!(resumed.iter().all(|progress| progress.is_found == (progress.epoch <= 2)), "{resumed:?}");
    // ... what has ended is not done again ...
    assert_eq!(bits(&fitted(&trainer, &examples)), bits(&undisturbed));
    let again = told.take();
    assert!(
        again.iter().all(|progress| progress.is_found) && as_new(&again) == as_new(&resumed),
        "{again:?}"
    );
    // ... and other reports are another training.
    fitted(&trainer, &reports(&rows, &labels, 1.5));
    assert!(told.take().iter().all(|progress| !progress.is_found));
    // A damaged checkpoint is an error that names the file.
    for entry in std::fs::read_dir(&checkpoints).unwrap() {
        std::fs::write(entry.unwrap().path(), b"\x01").unwrap();
    }
    let error = trainer.fit(&mut vec![examples], None).unwrap_err().to_string();
    assert!(error.contains(".checkpoint"), "{error}");
    std::fs::remove_dir_all(&checkpoints).unwrap();
}

#[test]
fn a_network_reads_back_from_its_document_bit_for_bit() {
    let (rows, labels) = people(200, 0);
    let model = fitted(&mlp(training(1)), &reports(&rows, &labels, 1.0));
    let text = serde_json::to_string(&model).unwrap();
    let again: NetModel = serde_json::from_str(&text).unwrap();
    assert_eq!(bits(&again), bits(&model));
    assert_eq!(again, model);
    assert_eq!(again.probabilities(&rows), model.probabilities(&rows));
}

#[test]
fn training_ends_when_reports_that_were_kept_aside_gain_no_more() {
    let (rows, labels) = people(300, 0);
    // So many weights and epochs that every report could be learnt by heart
    let schedule = Schedule { peak: 0.2, ..training(1).schedule };
    let options = Training { patience: Some(2), l2: 0.0, schedule, batch: 20, ..training(60) };
    let seen = RefCell::new(Vec::new());
    let tell = |progress: &Progress| seen.borrow_mut().push(progress.report_likelihood.unwrap());
    let architecture = Architecture::Mlp { inputs: 64, hidden: vec![128] };
    let trainer = NetTrainer { progress: Some(&tell), ..NetTrainer::new(architecture, CLASSES, options) };
    fitted(&trainer, &reports(&rows, &labels, 1.0));
    let seen = seen.into_inner();
    assert!(seen.len() < 60, "{} epochs", seen.len());
    let best = seen.iter().copied().fold(f64::MIN, f64::max);
    assert!(seen[seen.len() - 2..].iter().all(|gain| *gain < best), "{seen:?}");
}

/// Runs LP-MST; afterwards the devices have lost their labels, as `poison` shows.
fn staged(fractions: &[f64], rows: &Rows, labels: &RefCell<Vec<u32>>, poison: bool) -> Vec<Vec<u32>> {
    let mut rng = ChaCha12Rng::seed_from_u64(9);
    let mut devices = |person: u64, mechanism: &LabelMechanism| -> Result<LabelSet, LearnError> {
        let mut labels = labels.borrow_mut();
        let report = mechanism.randomize(&Label(labels[person as usize]), &mut rng)?;
        if poison {
            // No such label: whoever looks at it again fails.
            labels[person as usize] = u32::MAX;
        }
        Ok(report)
    };
    let epsilon = Epsilon::new(1.0).unwrap();
    let plan = MultiStage {
        temperature: 0.5,
        warm_start: true,
        filter: true,
        ..MultiStage::as_published(CLASSES as u32, epsilon, fractions)
    };
    let later = Training { loss: Loss::Plain, mixup: Some(1.0), ..training(2) };
    let trainer = NetTrainer { later: Some(later), ..mlp(Training { loss: Loss::Plain, ..training(3) }) };
    let staged = plan.run(std::slice::from_ref(rows), &mut devices, &trainer).unwrap();
    assert_eq!(staged.stages.len(), fractions.len());
    staged.models.iter().map(bits).collect()
}

#[test]
fn labels_that_are_poisoned_once_they_were_randomized_change_no_bit() {
    let (rows, labels) = people(600, 0);
    for fractions in [&[1.0][..], &[0.6, 0.4], &[0.4, 0.3, 0.3]] {
        let intact = RefCell::new(labels.clone());
        let poisoned = RefCell::new(labels.clone());
        let first = staged(fractions, &rows, &intact, false);
        assert_eq!(first, staged(fractions, &rows, &poisoned, true));
        assert!(poisoned.borrow().iter().all(|label| *label == u32::MAX), "everybody was asked");
        // The labels do matter while devices have them.
        let others = RefCell::new(labels.iter().map(|label| (label + 1) % 4).collect());
        assert_ne!(first, staged(fractions, &rows, &others, false));
    }
}

#[test]
fn retraining_keeps_what_the_first_network_knew_and_consensus_adds_to_it() {
    let ((rows, labels), (new, truth)) = (people(8000, 0), people(8000, 1));
    let (examples, rule) = (reports(&rows, &labels, 1.0), brightest(&new, &truth));
    let first = fitted(&mlp(training(6)), &examples);
    let before = accuracy(&first, &new, &truth);
    assert!(before > 0.95 * rule, "{before} of {rule}");
    for how in [Relabel::Predicted, Relabel::Consensus, Relabel::Posterior] {
        let model = mlp(training(6)).fit_again(&mut vec![examples.clone()], &first, how).unwrap();
        let found = accuracy(&model, &new, &truth);
        assert!(found > 0.95 * rule, "{how:?}: {found} of {rule} after {before}");
        if how == Relabel::Consensus {
            // Five sigma of a difference: of so many judgements as are wrong before or after
            let sigma = ((2.0 - before - found) / truth.len() as f64).sqrt();
            assert!(found > before + 5.0 * sigma, "{found} after {before}");
        }
    }
}

#[test]
fn ratings_are_learnt_from_numbers_of_people_and_things() {
    // Person p likes thing t of its own kind: if p and t are both odd or both even the rating is 5, else 1 to 4 by the thing
    let (people, things) = (40u32, 30u32);
    let (mut ids, mut labels) = (Vec::new(), Vec::new());
    for p in 0..people {
        for t in 0..things {
            ids.extend([p as f32, t as f32]);
            labels.push(if (p + t) % 2 == 0 { 4 } else { t / 2 % 4 });
        }
    }
    let rows = Rows::dense(2, ids);
    let architecture = Architecture::Rating { people: 40, things: 30, width: 8 };
    let schedule = Schedule { peak: 0.2, ..training(1).schedule };
    let options = Training { loss: Loss::Plain, l2: 0.0, schedule, ..training(40) };
    let trainer = NetTrainer::new(architecture, 5, options);
    let model = fitted(&trainer, &Examples::certain(rows.clone(), labels.iter().copied()));
    let rating = |p: &[f32]| (1u8..).zip(p).map(|(k, p)| f64::from(k) * f64::from(*p)).sum::<f64>();
    let probabilities = model.probabilities(&rows);
    let found = probabilities.chunks_exact(5).map(rating);
    let squared: f64 = found.zip(&labels).map(|(found, label)| (found - f64::from(label + 1)).powi(2)).sum();
    let rmse = (squared / labels.len() as f64).sqrt();
    // Without knowing who is who: 1.5 and more
    assert!(rmse < 0.5, "{rmse}");
}

#[test]
fn bad_input_is_an_error_that_tells_the_value() {
    let (rows, labels) = people(50, 0);
    let examples = reports(&rows, &labels, 1.0);
    let fails = |trainer: &NetTrainer<'_>, examples: Examples, with: &str| {
        let error = trainer.fit(&mut vec![examples], None).unwrap_err().to_string();
        assert!(error.contains(with), "{error}");
    };
    fails(&mlp(Training { batch: 0, ..training(1) }), examples.clone(), "batch is 0");
    fails(&mlp(Training { momentum: 1.0, ..training(1) }), examples.clone(), "momentum is 1");
    fails(&mlp(Training { mixup: Some(-1.0), ..training(1) }), examples.clone(), "-1");
    fails(&mlp(training(0)), examples.clone(), "epochs is 0");
    let narrow = Architecture::Mlp { inputs: 63, hidden: vec![] };
    fails(&NetTrainer::new(narrow, CLASSES, training(1)), examples.clone(), "64 numbers where 63");
    fails(&mlp(training(1)), Examples::new(Rows::new(64, 0)), "no reports");
    let mut broken = examples.clone();
    broken.rows = Rows::dense(64, vec![f32::NAN; 50 * 64]);
    fails(&mlp(training(1)), broken, "row 1 has a feature");
    let schedule = Schedule { peak: 1e38, ..training(1).schedule };
    fails(&mlp(Training { schedule, ..training(3) }), examples, "no number any more");
}

#[test]
fn stages_that_were_interrupted_are_not_learnt_again() {
    let (rows, labels) = people(400, 0);
    let (checkpoints, seen) = (folder("stages"), RefCell::new(0));
    let epsilon = Epsilon::new(1.0).unwrap();
    let plan = MultiStage { warm_start: true, ..MultiStage::debiased(CLASSES as u32, epsilon, &[0.6, 0.4]) };
    let tell = |progress: &Progress| *seen.borrow_mut() += usize::from(!progress.is_found);
    let trainer =
        NetTrainer { checkpoints: Some(checkpoints.clone()), progress: Some(&tell), ..mlp(training(2)) };
    let run = || {
        let mut rng = ChaCha12Rng::seed_from_u64(9);
        let mut devices = |person: u64, mechanism: &LabelMechanism| -> Result<LabelSet, LearnError> {
            Ok(mechanism.randomize(&Label(labels[person as usize]), &mut rng)?)
        };
        let staged = plan.run(std::slice::from_ref(&rows), &mut devices, &trainer).unwrap();
        staged.models.iter().map(bits).collect::<Vec<_>>()
    };
    let first = run();
    assert_eq!(*seen.borrow(), 4);
    // The same people answer the same, as the same coins are tossed.
    assert_eq!(run(), first);
    assert_eq!(*seen.borrow(), 4);
    std::fs::remove_dir_all(&checkpoints).unwrap();
}

/// Says of everybody whether a network is trained on them, or judged by them: another report of somebody who judges changes nothing of
/// what is learnt in the first epoch. Then it trains.
struct Watched<'a> {
    trainer: NetTrainer<'a>,
    /// Who was trained on, and who judged, in each stage
    stages: RefCell<Vec<[BTreeSet<u64>; 2]>>,
}

impl Trainer for Watched<'_> {
    type Model = NetModel;

    fn train(
        &self,
        people: &[u64],
        examples: &mut dyn Source,
        start: Option<&NetModel>,
    ) -> Result<NetModel, LearnError> {
        let mut blocks = Vec::new();
        let copy = &mut |block: &Examples| {
            blocks.push(block.clone());
            Ok(())
        };
        examples.pass(copy)?;
        // The loss of the first epoch, which judges have no part in, and what they say of it
        let first_epoch = |blocks: &[Examples]| {
            let seen = RefCell::new(None);
            let tell = |progress: &Progress| {
                let Progress { loss, report_likelihood, .. } = *progress;
                seen.borrow_mut().get_or_insert((loss, report_likelihood.unwrap()));
            };
            let one = NetTrainer { progress: Some(&tell), ..self.trainer.clone() };
            one.train(people, &mut blocks.to_vec(), start).map(|_| seen.into_inner().unwrap())
        };
        let (loss, gain) = first_epoch(&blocks)?;
        let (mut stage, mut person) = ([BTreeSet::new(), BTreeSet::new()], people.iter());
        for block in 0..blocks.len() {
            for row in 0..blocks[block].len() {
                let mut others = blocks.clone();
                contradict(&mut others[block], row);
                let (other_loss, other_gain) = first_epoch(&others)?;
                let judges = other_loss.to_bits() == loss.to_bits();
                assert!(!judges || other_gain.to_bits() != gain.to_bits(), "nobody has heard of it");
                stage[usize::from(judges)].insert(*person.next().unwrap());
            }
        }
        self.stages.borrow_mut().push(stage);
        self.trainer.train(people, examples, start)
    }
}

/// One report names another label.
fn contradict(examples: &mut Examples, row: usize) {
    let labels = examples.likelihood.iter().enumerate().map(|(at, vector)| {
        let label = vector.entries[0].0;
        if at == row { (label + 1) % CLASSES as u32 } else { label }
    });
    let labels = LabelVectors::certain(labels.collect::<Vec<_>>());
    (examples.unbiased, examples.likelihood) = (labels.clone(), labels);
}

#[test]
fn nobody_judges_a_later_stage_whom_an_earlier_one_was_trained_on() {
    let (rows, labels) = people(160, 0);
    let mut rng = ChaCha12Rng::seed_from_u64(9);
    let mut devices = |person: u64, mechanism: &LabelMechanism| -> Result<LabelSet, LearnError> {
        Ok(mechanism.randomize(&Label(labels[person as usize]), &mut rng)?)
    };
    let plan = MultiStage {
        temperature: 0.05,
        warm_start: true,
        filter: true,
        ..MultiStage::as_published(CLASSES as u32, Epsilon::new(1.0).unwrap(), &[0.5, 0.5])
    };
    let options = Training { loss: Loss::Plain, patience: Some(1), batch: 20, ..training(1) };
    let watched = Watched { trainer: mlp(options), stages: RefCell::default() };
    let staged = plan.run(std::slice::from_ref(&rows), &mut devices, &watched).unwrap();
    assert!(staged.stages[1].left_out > 10, "{:?}", staged.stages);
    let stages = watched.stages.into_inner();
    let [trained_first, judged_first] = &stages[0];
    let [trained, judged] = &stages[1];
    assert!(judged_first.len() > 5 && judged.len() > 10, "{stages:?}");
    assert!(judged.is_disjoint(trained_first), "{stages:?}");
    assert!(trained.is_disjoint(judged_first), "{stages:?}");
}
