//! For all tasks and reports: what is written reads back as itself, and what is read was written so.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use undertone_privacy::Epsilon;
use undertone_privacy::label::LabelKind;
use undertone_privacy::number::{NumberKind, NumberRandomizer};
use undertone_privacy::vector::{CodebookReport, VectorReport};
use undertone_report::{
    BallWords, CategoryWords, Cell, Collection, ColumnKind, EncodingWords, FeatureColumn, FunctionalTerm,
    FunctionalWords, GradientReport, HuberWords, LearnerWords, LossWords, MOST_JOINT, MechanismWords,
    NumberWords, OnlineWords, Point, PriorWords, RecordWords, Report, ReportError, ReportFormat, ReportId,
    ResponseWords, Stretch, TASK_VERSION, Task, TaskId, TextWords, batch,
};

const OPENS: u64 = 1000;
const CLOSES: u64 = 2000;

fn finite() -> impl Strategy<Value = f64> {
    prop_oneof![-1e3..1e3, any::<f64>().prop_filter("finite", |x| x.is_finite())]
}

fn column() -> impl Strategy<Value = (ColumnKind, EncodingWords)> {
    let stretch = (finite(), 0.0..1e3, any::<bool>()).prop_map(|(mean, scale, missing)| Stretch::Standard {
        mean,
        scale,
        missing,
    });
    let category = (vec(any::<String>(), 0..4), any::<bool>(), any::<bool>()).prop_map(
        |(mut values, other, missing)| {
            values.sort();
            values.dedup();
            EncodingWords::Category(CategoryWords::Values { values, other, missing })
        },
    );
    prop_oneof![
        stretch.prop_map(|stretch| (ColumnKind::Number, EncodingWords::Number(stretch))),
        category.prop_map(|words| (ColumnKind::Words, words)),
        (1..100u32).prop_map(|buckets| (ColumnKind::Words, EncodingWords::Text(TextWords { buckets }))),
        (0..5u32, -1e3..0.0, 1e-3..1e3).prop_map(|(width, low, high)| {
            let stretch = Stretch::Range { low, high, missing: false };
            (ColumnKind::Vector(width), EncodingWords::Vector(stretch))
        }),
    ]
}

prop_compose! {
    fn task_of_labels()(
        kind in select(&LabelKind::ALL[..]),
        labels in prop_oneof![2..20u32, 250..300u32],
        mut tiers in vec(0.1..8.0, 1..4),
        columns in vec(column(), 0..6),
        names in vec(any::<String>(), 6),
        top in any::<Index>(),
        learner in select(&LearnerWords::ALL[..]),
    ) -> Task {
        tiers.dedup();
        let top = (kind == LabelKind::RrTopK).then(|| (0..=top.index(labels as usize) as u32).collect());
        let prior = (kind == LabelKind::RrPrior)
            .then(|| PriorWords::Model { sha256: "ab".repeat(32), temperature: Some(1.0) });
        Task {
            version: TASK_VERSION,
            label: "label".into(),
            classes: (0..labels).map(|label| format!("{label}-{}", names[label as usize % 6])).collect(),
            mechanism: MechanismWords { kind: kind.name().into(), epsilon: Some(tiers[0]), delta: None, mu: None, set_size: None, top, prior },
            features: columns.iter().zip(&names).enumerate().map(|(place, (&(kind, _), name))| {
                FeatureColumn { name: format!("{place}{name}"), kind }
            }).collect(),
            collection: Some(Collection {
                name: "A collection".into(),
                min_reports: 1,
                opens: OPENS,
                closes: CLOSES,
                time_precision: 1,
                expiry_age: 10,
                clock_skew: 0,
                learner,
                encoding: columns.into_iter().map(|(_, words)| words).collect(),
                tiers,
                admission: true,
            }), number: None, record: None, survey: None }
    }
}

fn cell(kind: ColumnKind) -> BoxedStrategy<Cell> {
    let words = prop_oneof![any::<String>(), (250..260usize).prop_map(|length| "w".repeat(length))];
    match kind {
        ColumnKind::Number => prop_oneof![Just(Cell::Missing), finite().prop_map(Cell::Number)].boxed(),
        ColumnKind::Words => prop_oneof![Just(Cell::Missing), words.prop_map(Cell::Words)].boxed(),
        ColumnKind::Vector(width) => {
            let finite = any::<f32>().prop_filter("finite", |x| x.is_finite());
            vec(finite, width as usize).prop_map(Cell::Vector).boxed()
        }
    }
}

/// A task for labels and a report that answers it.
fn labelled() -> impl Strategy<Value = (Task, Report)> {
    let chosen = (task_of_labels(), any::<Index>()).prop_map(|(task, tier)| {
        let tier = tier.index(task.collection.as_ref().unwrap().tiers.len());
        (task, tier)
    });
    chosen.prop_flat_map(|(task, tier)| {
        let epsilon = Epsilon::new(task.collection.as_ref().unwrap().tiers[tier]).unwrap();
        let all: Vec<u32> = (0..task.labels()).collect();
        let asked = task.mechanism.top.clone().unwrap_or_else(|| all.clone());
        let size = if task.has_priors() { Some(1) } else { task.mechanism_at(epsilon).unwrap().set_size() };
        let sizes = size.map_or(0..=all.len(), |size| size as usize..=size as usize);
        let among =
            if task.has_priors() { subsequence(all.clone(), 1..=all.len()) } else { subsequence(all, 0) };
        let cells: Vec<_> = task.features.iter().map(|column| cell(column.kind)).collect();
        (
            Just(task),
            cells,
            subsequence(asked, sizes),
            among,
            any::<[u8; 16]>(),
            OPENS..CLOSES,
            any::<Index>(),
        )
            .prop_map(move |(task, features, mut members, among, id, time, one)| {
                if task.has_priors() {
                    members = vec![among[one.index(among.len())]];
                }
                (
                    task,
                    Report {
                        id: ReportId(id),
                        time,
                        tier: tier as u8,
                        features,
                        members,
                        among,
                        number: None,
                        gradient: None,
                        survey: None,
                    },
                )
            })
    })
}

/// Mechanisms of gradients, each with the promise that it keeps.
fn promise() -> impl Strategy<Value = MechanismWords> {
    let pure = (select(&["codebook", "laplace"][..]), 0.1..8.0).prop_map(|(kind, epsilon)| MechanismWords {
        kind: kind.into(),
        epsilon: Some(epsilon),
        ..MechanismWords::default()
    });
    let analytic = (0.1..8.0, 1e-9..0.1).prop_map(|(epsilon, delta)| MechanismWords {
        kind: "gaussian".into(),
        epsilon: Some(epsilon),
        delta: Some(delta),
        ..MechanismWords::default()
    });
    let gaussian = (0.01..8.0).prop_map(|mu| MechanismWords {
        kind: "gdp".into(),
        mu: Some(mu),
        ..MechanismWords::default()
    });
    prop_oneof![pure, analytic, gaussian]
}

fn online() -> impl Strategy<Value = OnlineWords> {
    (1e-3..100.0, 0.0..=1.0, 0..1u64 << 53, 0..1u64 << 53, 1..=1u64 << 16).prop_map(
        |(eta, alpha, offset, burn_in, stale)| OnlineWords {
            eta,
            alpha,
            offset,
            burn_in,
            stale,
            curvature: None,
            decay: None,
            two_chains: false,
        },
    )
}

prop_compose! {
    /// Of numbers and categories, which is what records are made of.
    fn task_of_records()(
        before in task_of_labels(),
        loss in prop_oneof![
            (0.5..1.4, 1e-3..1.0, 2.0..1e3).prop_map(|(cut, least_scale, most_scale)| {
                LossWords::Huber(HuberWords { cut, least_scale, most_scale })
            }),
            Just(LossWords::Logistic),
            Just(LossWords::Multinomial),
        ],
        response in proptest::option::of((finite(), 1e-3..1e3)),
        weights in select(&["square", "linear", "clip"][..]),
        (radius, bound) in (0.7..10.0, 1e-3..1e6),
        mechanism in promise(),
        more in 0.1..8.0,
        learner in online(),
    ) -> Task {
        let classes = match loss {
            LossWords::Huber(_) => 0,
            LossWords::Logistic => 2,
            LossWords::Multinomial => before.classes.len().min(5),
        };
        let mut task = before;
        let response = response.filter(|_| classes == 0).map(|(mean, scale)| ResponseWords { mean, scale });
        task.classes.truncate(classes);
        let collection = task.collection.as_mut().unwrap();
        let kept: Vec<bool> = collection.encoding.iter().map(|words| {
            matches!(words, EncodingWords::Number(_) | EncodingWords::Category(CategoryWords::Values { .. }))
        }).collect();
        let mut keep = kept.iter();
        collection.encoding.retain(|_| *keep.next().unwrap());
        let mut keep = kept.iter();
        task.features.retain(|_| *keep.next().unwrap());
        collection.tiers = vec![mechanism.epsilon.or(mechanism.mu).unwrap(), more];
        collection.tiers.dedup();
        collection.learner = LearnerWords::Online(learner);
        let (weights, ball) = (weights.into(), BallWords::default());
        let functionals = Vec::new();
        task.record =
            Some(RecordWords { loss, weights, radius, bound, response, ball, shares: None, functionals });
        task.mechanism = mechanism;
        let mut task = task.stating_its_noise().unwrap();
        let names = task.parameter_names();
        if names.len() <= MOST_JOINT && names.iter().filter(|name| **name == names[0]).count() == 1 {
            let terms = vec![FunctionalTerm { parameter: names[0].clone(), factor: radius }];
            let words = FunctionalWords { name: "a function".into(), terms };
            task.record.as_mut().unwrap().functionals.push(words);
        }
        task
    }
}

/// A task for records and a report that answers it.
fn gradients() -> impl Strategy<Value = (Task, Report)> {
    task_of_records().prop_flat_map(|task| {
        let parameters = task.record_model().unwrap().parameters();
        let said = if task.mechanism.kind == "codebook" {
            let word = |(seed, index)| VectorReport::Codeword(CodebookReport { seed, index });
            (any::<u128>(), 0..256u16).prop_map(word).boxed()
        } else {
            // Within the ball of all gradients, whatever the noise
            vec(prop_oneof![-1000..1000i64, -80_000..80_000i64], parameters)
                .prop_map(VectorReport::Steps)
                .boxed()
        };
        let tiers = task.collection.as_ref().unwrap().tiers.len() as u8;
        (Just(task), said, any::<u64>(), any::<[u8; 16]>(), OPENS..CLOSES, 0..tiers).prop_map(
            |(task, said, version, id, time, tier)| {
                let gradient = Some(GradientReport { version, said });
                (task, Report { id: ReportId(id), time, tier, gradient, ..Report::default() })
            },
        )
    })
}

/// A task for a number of any bounds.
fn task_of_numbers() -> impl Strategy<Value = Task> {
    let bounds = (-1e6..1e6f64, 1e-3..1e6f64);
    let learner = select(&[LearnerWords::Linear, LearnerWords::MeanOnly][..]);
    (task_of_labels(), select(&NumberKind::ALL[..]), bounds, learner).prop_map(
        |(mut task, kind, (low, width), learner)| {
            let epsilon = task.mechanism.epsilon;
            task.mechanism =
                MechanismWords { kind: kind.name().into(), epsilon, ..MechanismWords::default() };
            task.classes.clear();
            task.number = Some(NumberWords { low, high: low + width });
            task.collection.as_mut().unwrap().learner = learner;
            task
        },
    )
}

/// A task for a number and a report that answers it.
fn numbers() -> impl Strategy<Value = (Task, Report)> {
    (task_of_numbers(), any::<Index>(), -2.0..2.0f64, any::<u64>()).prop_flat_map(|(task, tier, at, seed)| {
        let tiers = &task.collection.as_ref().unwrap().tiers;
        let tier = tier.index(tiers.len());
        let mechanism = task.number_mechanism_at(Epsilon::new(tiers[tier]).unwrap()).unwrap();
        let place = mechanism.bounds().place(at * 1e6).unwrap();
        let number = mechanism.report(&place, &mut ChaCha12Rng::seed_from_u64(seed)).ok();
        let cells: Vec<_> = task.features.iter().map(|column| cell(column.kind)).collect();
        (Just(task), cells, any::<[u8; 16]>(), OPENS..CLOSES).prop_map(move |(task, features, id, time)| {
            let tier = tier as u8;
            (task, Report { id: ReportId(id), time, tier, features, number, ..Report::default() })
        })
    })
}

fn task() -> impl Strategy<Value = Task> {
    prop_oneof![task_of_labels(), task_of_records(), task_of_numbers()]
}

/// A task and a report that answers it.
fn answered() -> impl Strategy<Value = (Task, Report)> {
    prop_oneof![labelled(), gradients(), numbers()]
}

/// Something done to bytes.
#[derive(Clone, Debug)]
enum Damage {
    Flip(Index, u8),
    Set(Index, u8),
    Insert(Index, u8),
    Remove(Index),
    Cut(Index),
    Swap(Index, Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        (any::<Index>(), 0..8u8).prop_map(|(place, bit)| Damage::Flip(place, 1 << bit)),
        (any::<Index>(), select(&[0, 1, 2, 0x7f, 0x80, 0xfd, 0xfe, 0xff][..]))
            .prop_map(|(place, byte)| Damage::Set(place, byte)),
        (any::<Index>(), any::<u8>()).prop_map(|(place, byte)| Damage::Insert(place, byte)),
        any::<Index>().prop_map(Damage::Remove),
        any::<Index>().prop_map(Damage::Cut),
        (any::<Index>(), any::<Index>()).prop_map(|(a, b)| Damage::Swap(a, b)),
    ]
}

fn damaged(mut bytes: Vec<u8>, damages: &[Damage], spare: usize) -> Vec<u8> {
    for damage in damages {
        // The version and the task stay as they are, or nothing else would ever be read.
        let length = bytes.len() - spare;
        let place = |index: &Index| spare + index.index(length);
        match damage {
            _ if length == 0 => break,
            Damage::Flip(index, bit) => bytes[place(index)] ^= bit,
            Damage::Set(index, byte) => bytes[place(index)] = *byte,
            Damage::Insert(index, byte) => bytes.insert(place(index), *byte),
            Damage::Remove(index) => drop(bytes.remove(place(index))),
            Damage::Cut(index) => bytes.truncate(place(index)),
            Damage::Swap(a, b) => bytes.swap(place(a), place(b)),
        }
    }
    bytes
}

proptest! {
    #[test]
    fn tasks_read_back_as_themselves(task in task()) {
        prop_assert_eq!(&Task::from_json(&task.to_json()).unwrap(), &task);
        let read = Task::from_toml(&task.to_toml()).unwrap();
        prop_assert_eq!(read.id(), task.id());
        prop_assert_eq!(read, task);
    }

    #[test]
    fn reports_read_back_as_themselves((task, report) in answered()) {
        let format = ReportFormat::new(&task).unwrap();
        let bytes = format.encode(&report).unwrap();
        prop_assert_eq!(&format.decode(&bytes).unwrap(), &report);
        let header = format.check(&bytes).unwrap();
        prop_assert_eq!((header.id, header.time, header.tier), (report.id, report.time, report.tier));
        prop_assert_eq!(ReportFormat::peek(&bytes).unwrap(), (report.id, report.time));
        let json = format.to_json(&report).unwrap();
        prop_assert_eq!(&format.from_json(&json).unwrap(), &report);
        prop_assert_eq!(format.encode(&format.from_json(&json).unwrap()).unwrap(), bytes);
    }

    #[test]
    fn what_was_in_the_place_of_a_report_leaves_no_trace((task, report) in answered(), (_, before) in answered()) {
        let format = ReportFormat::new(&task).unwrap();
        let mut place = before;
        format.decode_into(&format.encode(&report).unwrap(), &mut place).unwrap();
        prop_assert_eq!(place, report);
    }

    #[test]
    fn whatever_decodes_is_the_one_spelling_of_its_report(
        (task, report) in answered(),
        damages in vec(damage(), 1..5),
    ) {
        let format = ReportFormat::new(&task).unwrap();
        let bytes = damaged(format.encode(&report).unwrap(), &damages, 33);
        let decoded = format.decode(&bytes);
        let (checked, refused) = (format.check(&bytes).err(), decoded.as_ref().err());
        prop_assert_eq!(checked.as_ref().map(ReportError::reason), refused.map(ReportError::reason));
        if let Ok(decoded) = decoded {
            prop_assert_eq!(format.encode(&decoded).unwrap(), bytes);
        }
    }

    #[test]
    fn json_that_is_read_says_a_report_that_can_be_written(
        (task, report) in answered(),
        damages in vec(damage(), 1..4),
    ) {
        let format = ReportFormat::new(&task).unwrap();
        let json = damaged(format.to_json(&report).unwrap().into_bytes(), &damages, 0);
        if let Ok(read) = format.from_json(&json) {
            let bytes = format.encode(&read).unwrap();
            prop_assert_eq!(format.decode(&bytes).unwrap(), read);
        }
    }

    #[test]
    fn a_document_that_was_damaged_is_no_task_or_another(task in task(), damages in vec(damage(), 1..4)) {
        let json = task.to_json();
        let damaged = damaged(json.clone().into_bytes(), &damages, 0);
        if let Some(read) = std::str::from_utf8(&damaged).ok().and_then(|text| Task::from_json(text).ok()) {
            prop_assert_eq!(read == task, read.id() == task.id());
            prop_assert_eq!(Task::from_json(&read.to_json()).unwrap(), read);
        }
    }

    #[test]
    fn whatever_splits_joins_to_the_same(bytes in vec(prop_oneof![Just(0), any::<u8>()], 0..40)) {
        if let Ok(reports) = batch::split(&bytes) {
            prop_assert_eq!(batch::join(reports), bytes);
        }
    }

    #[test]
    fn points_read_back_to_the_last_bit_and_whatever_else_is_read_was_written_so(
        version in any::<u64>(),
        bits in vec(any::<u64>(), 0..20),
        damages in vec(damage(), 0..4),
    ) {
        let (task, length) = ("ab".repeat(32).parse::<TaskId>().unwrap(), bits.len());
        let point = Point { version, parameters: bits.iter().copied().map(f64::from_bits).collect() };
        let bytes = point.to_bytes(task);
        prop_assert_eq!(bytes.len(), 40 + 8 * length);
        let read = Point::from_bytes(&bytes, task, length).unwrap();
        prop_assert_eq!(read.version, version);
        prop_assert_eq!(read.parameters.iter().map(|value| value.to_bits()).collect::<Vec<_>>(), bits);
        let damaged = damaged(bytes, &damages, 0);
        for length in [0, length, length + 1] {
            if let Ok(read) = Point::from_bytes(&damaged, task, length) {
                prop_assert_eq!(read.to_bytes(task), damaged.clone());
            }
        }
    }

    #[test]
    fn every_report_about_a_record_is_as_long_as_any_other_of_its_task(
        (task, report) in gradients(),
        version in any::<u64>(),
    ) {
        let format = ReportFormat::new(&task).unwrap();
        let other = Report {
            tier: 0,
            gradient: report.gradient.clone().map(|gradient| GradientReport { version, ..gradient }),
            ..report.clone()
        };
        prop_assert_eq!(format.encode(&report).unwrap().len(), format.encode(&other).unwrap().len());
    }

    #[test]
    fn what_no_device_says_is_refused_in_either_spelling((task, report) in gradients(), place in any::<Index>()) {
        let format = ReportFormat::new(&task).unwrap();
        let mut fake = report.clone();
        match &mut fake.gradient.as_mut().unwrap().said {
            VectorReport::Steps(steps) => {
                let place = place.index(steps.len());
                steps[place] = i64::MAX;
            }
            VectorReport::Codeword(word) => word.index = 256,
        }
        let refused = format.encode(&fake).unwrap_err();
        prop_assert_eq!(refused.reason(), "implausible");
        let (honest, mut bytes) = (format.to_json(&report).unwrap(), format.encode(&report).unwrap());
        let mut json: serde_json::Value = serde_json::from_str(&honest).unwrap();
        match fake.gradient.unwrap().said {
            VectorReport::Steps(steps) => {
                let at = bytes.len() - 8 * steps.len() + 8 * place.index(steps.len());
                bytes[at..at + 8].copy_from_slice(&i64::MAX.to_be_bytes());
                prop_assert_eq!(format.decode(&bytes).unwrap_err().reason(), "implausible");
                json["gradient"]["steps"] = steps.into();
            }
            VectorReport::Codeword(_) => json["gradient"]["index"] = 256.into(),
        }
        prop_assert_eq!(format.from_json(json.to_string().as_bytes()).unwrap_err().reason(), "implausible");
    }
}
