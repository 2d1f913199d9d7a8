//! What is learnt while reports arrive.

use super::*;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use undertone_privacy::exact::SetMemory;
use undertone_report::{
    CategoryWords, Cell, Collection, ColumnKind, EncodingWords, FeatureColumn, MechanismWords, ReportId,
    Stretch, TASK_VERSION,
};

/// Three classes, told apart by a category and, a little, by a number; two tiers.
fn task(learner: LearnerWords) -> Task {
    let values = ["a", "b", "c"].map(String::from).to_vec();
    Task {
        version: TASK_VERSION,
        label: "y".into(),
        classes: ["x", "y", "z"].map(String::from).to_vec(),
        mechanism: MechanismWords {
            kind: "subset".into(),
            epsilon: Some(1.0),
            delta: None,
            mu: None,
            set_size: None,
            top: None,
            prior: None,
        },
        features: vec![
            FeatureColumn { name: "word".into(), kind: ColumnKind::Words },
            FeatureColumn { name: "number".into(), kind: ColumnKind::Number },
        ],
        collection: Some(Collection {
            name: "test".into(),
            min_reports: 1,
            opens: 0,
            closes: 1000,
            time_precision: 10,
            expiry_age: 100,
            clock_skew: 10,
            learner,
            encoding: vec![
                EncodingWords::Category(CategoryWords::Values { values, other: false, missing: true }),
                EncodingWords::Number(Stretch::Standard { mean: 0.0, scale: 1.0, missing: false }),
            ],
            tiers: vec![1.0, 3.0],
            admission: false,
        }),
        number: None,
        record: None,
        survey: None,
    }
}

/// The true label and the report of each of `count` people: half of them have x, three in ten y, the others z.
fn people(count: usize, seed: u64) -> Vec<(u32, Report)> {
    let task = task(LearnerWords::Softmax);
    let mechanisms = [1.0, 3.0].map(|tier| task.mechanism_at(Epsilon::new(tier).unwrap()).unwrap());
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    let mut person = || {
        let label = match rng.next_u32() % 10 {
            0..5 => 0,
            5..8 => 1,
            _ => 2,
        };
        // Nine in ten have the word of their label.
        let word = if rng.next_u32() % 10 < 9 { label } else { (label + 1) % 3 };
        let word = ["a", "b", "c"][word as usize];
        let number = f64::from(label) + f64::from(rng.next_u32()) / 2f64.powi(32);
        let (mut members, tier) = (Vec::new(), (rng.next_u32() % 2) as u8);
        mechanisms[usize::from(tier)].draw(label, &mut SetMemory::new(), &mut members, &mut rng);
        let features = vec![Cell::Words(word.into()), Cell::Number(number)];
        (
            label,
            Report {
                id: ReportId([0; 16]),
                time: 1,
                tier,
                features,
                members,
                among: Vec::new(),
                number: None,
                gradient: None,
                survey: None,
            },
        )
    };
    (0..count).map(|_| person()).collect()
}

fn reports(count: usize, seed: u64) -> Vec<Report> {
    people(count, seed).into_iter().map(|(_, report)| report).collect()
}

fn bits(live: &Live) -> Vec<u8> {
    live.snapshot().unwrap()
}

#[test]
fn neither_blocks_nor_snapshots_change_what_is_learnt() {
    let (task, reports) = (task(LearnerWords::Softmax), reports(3000, 1));
    let mut whole = Live::new(&task).unwrap();
    whole.observe(&reports).unwrap();
    let mut piecewise = Live::new(&task).unwrap();
    let (mut rest, mut size) = (&reports[..], 1);
    while !rest.is_empty() {
        let (some, others) = rest.split_at(size.min(rest.len()));
        piecewise.observe(some).unwrap();
        piecewise = Live::restore(&task, &bits(&piecewise)).unwrap();
        (rest, size) = (others, size * 2 + 1);
    }
    assert_eq!(bits(&whole), bits(&piecewise));
    assert_eq!(whole.model().unwrap().to_json().unwrap(), piecewise.model().unwrap().to_json().unwrap());
    assert_eq!(whole.curve().len(), piecewise.curve().len());
}

#[test]
fn the_shares_of_both_tiers_together_cover_the_truth() {
    let mut covered = 0;
    for seed in 0..2000 {
        let (people, mut live) = (people(1000, seed), Live::new(&task(LearnerWords::SharesOnly)).unwrap());
        let reports: Vec<Report> = people.iter().map(|(_, report)| report.clone()).collect();
        live.observe(&reports).unwrap();
        for (class, share) in live.shares().unwrap().iter().enumerate() {
            let truth = people.iter().filter(|(label, _)| *label == class as u32).count() as f64 / 1000.0;
            covered += u32::from(share.estimate.covers(truth));
        }
    }
    // 6000 intervals, of which 5700 should cover; they depend on each other in threes: 5σ is at most 5·√(3·6000·0.05·0.95)
    assert!((5554..=5846).contains(&covered), "{covered} of 6000");
}

#[test]
fn the_curve_rises_and_tells_the_accuracy_on_people_who_come_later() {
    let mut live = Live::new(&task(LearnerWords::Softmax)).unwrap();
    live.observe(&reports(20_000, 2)).unwrap();
    let curve = live.curve();
    assert!(curve.windows(2).all(|pair| pair[0].reports < pair[1].reports), "{curve:?}");
    let last = curve[curve.len() - 2];
    // The word alone is right for nine in ten, and the number tells the rest.
    assert!(last.accuracy.value + 5.0 * last.accuracy.standard_error > 0.9, "{last:?}");
    assert!(last.accuracy.value - 5.0 * last.accuracy.standard_error < 1.0, "{last:?}");
    assert!(last.accuracy.standard_error < 0.05);
}

#[test]
fn fakes_move_no_share_further_than_stated() {
    let (task, honest) = (task(LearnerWords::SharesOnly), reports(900, 3));
    // A hundred who all say x, at the tier where that says most
    let liar = Report { tier: 0, members: vec![0], ..honest[0].clone() };
    let share = |others: Vec<Report>| {
        let mut live = Live::new(&task).unwrap();
        live.observe(&honest).unwrap();
        live.observe(&others).unwrap();
        (live.shares().unwrap()[0].estimate.value, 100.0 * live.influence(live.reports()))
    };
    let (lifted, bound) = share(vec![liar.clone(); 100]);
    let (lowered, _) = share(vec![Report { members: vec![1], ..liar }; 100]);
    assert!(lifted - lowered <= bound * (1.0 + 1e-9), "{lifted} - {lowered} > {bound}");
    // At one tier and one label a report, the bound is what the worst of liars do.
    assert!(lifted - lowered > 0.99 * bound, "{lifted} - {lowered} < {bound}");
}

#[test]
fn a_liar_in_another_tier_than_an_honest_person_is_within_the_bound() {
    // Of four labels two at ε = 0.5 and one at 0.8: each tier has one of the two extremes.
    let tiers = [0.5, 0.8];
    let mut task = task(LearnerWords::SharesOnly);
    task.classes.push("w".into());
    if let Some(collection) = &mut task.collection {
        collection.tiers = tiers.to_vec();
    }
    let reach = Live::new(&task).unwrap().influence(1);
    let mechanisms = tiers.map(|tier| task.mechanism_at(Epsilon::new(tier).unwrap()).unwrap());
    assert_eq!(mechanisms.each_ref().map(LabelMechanism::set_size), [Some(2), Some(1)]);
    let decoders = mechanisms.map(|mechanism| mechanism.decoder());
    let moved = |honest: usize, liar: usize| decoders[liar].in_value - decoders[honest].out_value;
    assert!(moved(0, 1) > 1.02 * moved(0, 0).max(moved(1, 1)), "{decoders:?}");
    // The bound is what the worst of liars do, and no more.
    let worst = [moved(0, 0), moved(0, 1), moved(1, 0), moved(1, 1)].into_iter().fold(0.0, f64::max);
    assert!((reach - worst).abs() < 1e-12 * worst, "{reach} for {worst}");
}

#[test]
fn one_report_with_a_huge_number_does_not_stop_the_learning() {
    let accuracy = |fakes: &[Report]| {
        let mut live = Live::new(&task(LearnerWords::Softmax)).unwrap();
        let honest = reports(20_000, 5);
        live.observe(&honest[..10]).unwrap();
        live.observe(fakes).unwrap();
        live.observe(&honest[10..]).unwrap();
        live.curve().last().unwrap().accuracy
    };
    let fake =
        Report { features: vec![Cell::Words("a".into()), Cell::Number(1e300)], ..reports(1, 6)[0].clone() };
    let (clean, hit) = (accuracy(&[]), accuracy(&[fake]));
    let spread = clean.standard_error.hypot(hit.standard_error);
    assert!(clean.value - hit.value < 5.0 * spread && hit.value > 0.8, "{clean:?}, {hit:?}");
}

#[test]
fn a_snapshot_of_something_else_is_refused() {
    let mut live = Live::new(&task(LearnerWords::Softmax)).unwrap();
    live.observe(&reports(50, 4)).unwrap();
    let snapshot = bits(&live);
    assert!(matches!(Live::restore(&task(LearnerWords::SharesOnly), &snapshot), Err(LearnError::Snapshot)));
    assert!(matches!(Live::restore(&task(LearnerWords::Hinge), &snapshot), Err(LearnError::Snapshot)));
    assert!(Live::restore(&task(LearnerWords::Softmax), &snapshot[..snapshot.len() / 2]).is_err());
}

#[test]
fn without_reports_there_is_nothing_to_show() {
    let live = Live::new(&task(LearnerWords::Softmax)).unwrap();
    assert!(live.shares().is_none() && live.model().is_none() && live.curve().is_empty());
    assert_eq!(live.reports(), 0);
    let task = Task { collection: None, ..task(LearnerWords::Softmax) };
    assert!(Live::new(&task).is_err());
}
