//! What is learnt from the gradients of whole records.

use super::*;
use crate::online::{Doubt, Estimate, Level, OnlineOptions, OnlineSgd, Steps, Tiers};
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use undertone_privacy::gradient::RecordModel;
use undertone_privacy::vector::VectorMechanism;
use undertone_report::{
    BallWords, Collection, ColumnKind, EncodingWords, FeatureColumn, FunctionalTerm, FunctionalWords,
    GradientReport, HuberWords, LossWords, MechanismWords, OnlineWords, RecordWords, ReportId, Stretch,
    TASK_VERSION,
};

/// The steps of all tests.
const WORDS: OnlineWords = OnlineWords {
    eta: 2.0,
    alpha: 0.6,
    offset: 100,
    burn_in: 0,
    stale: 5,
    curvature: None,
    decay: None,
    two_chains: false,
};

/// Two numbers, explained by these words, under μ = 3 and, in a second tier, μ = 1.
fn task(loss: LossWords, weights: &str, words: OnlineWords) -> Task {
    let stretch = || EncodingWords::Number(Stretch::Standard { mean: 0.0, scale: 1.0, missing: false });
    let classes = match loss {
        LossWords::Huber(_) => &[][..],
        LossWords::Logistic => &["no", "yes"],
        LossWords::Multinomial => &["a", "b", "c"],
    };
    Task {
        version: TASK_VERSION,
        label: "y".into(),
        classes: classes.iter().map(|&class| class.to_owned()).collect(),
        mechanism: MechanismWords { kind: "gdp".into(), mu: Some(3.0), ..MechanismWords::default() },
        features: ["one", "two"]
            .map(|name| FeatureColumn { name: name.into(), kind: ColumnKind::Number })
            .to_vec(),
        collection: Some(Collection {
            name: "test".into(),
            min_reports: 1,
            opens: 0,
            closes: 1000,
            time_precision: 10,
            expiry_age: 100,
            clock_skew: 10,
            learner: LearnerWords::Online(words),
            encoding: vec![stretch(), stretch()],
            tiers: vec![3.0, 1.0],
            admission: false,
        }),
        number: None,
        record: Some(RecordWords {
            loss,
            weights: weights.into(),
            radius: std::f64::consts::SQRT_2,
            bound: 20.0,
            response: None,
            ball: BallWords::default(),
            shares: None,
            functionals: Vec::new(),
        }),
        survey: None,
    }
    .stating_its_noise()
    .unwrap()
}

fn huber() -> LossWords {
    LossWords::Huber(HuberWords { cut: 1.345, least_scale: 0.1, most_scale: 20.0 })
}

/// θ of the people below, the scale of whose errors is the last.
const TRUTH: [f64; 4] = [0.5, 1.0, -0.5, 0.5];

/// People and their devices.
struct Crowd {
    rng: ChaCha12Rng,
    model: RecordModel,
    mechanisms: Vec<VectorMechanism>,
}

impl Crowd {
    fn new(task: &Task, seed: u64) -> Self {
        let tiers = &task.collection.as_ref().unwrap().tiers;
        Self {
            rng: ChaCha12Rng::seed_from_u64(seed),
            model: task.record_model().unwrap(),
            mechanisms: tiers.iter().map(|&level| task.vector_mechanism(level).unwrap()).collect(),
        }
    }

    fn uniform(&mut self) -> f64 {
        (f64::from(self.rng.next_u32()) + 0.5) / 2f64.powi(32)
    }

    fn normal(&mut self) -> f64 {
        undertone_privacy::accounting::normal::quantile(self.uniform())
    }

    /// The next person's report, at a point of this version.
    fn report(&mut self, version: u64, point: &[f64], tier: u8) -> Report {
        let x = [1.0, self.normal(), self.normal()];
        let fitted: f64 = x.iter().zip(TRUTH).map(|(x, b)| x * b).sum();
        let y = match self.model.parameters() {
            4 => fitted + TRUTH[3] * self.normal(),
            _ => f64::from(u8::from(self.uniform() < 1.0 / (1.0 + (-fitted).exp()))),
        };
        let around = self.model.ball_at(point).unwrap();
        let vector = self.model.vector_at(point, &x, y, &around).unwrap();
        let said = self.mechanisms[usize::from(tier)].report(&vector, &mut self.rng).unwrap();
        Report {
            id: ReportId([0; 16]),
            time: 1,
            tier,
            gradient: Some(GradientReport { version, said }),
            ..Report::default()
        }
    }

    /// A log of so many reports, each made at a point as old as may be, or less.
    fn log(&mut self, task: &Task, count: u64) -> Vec<Report> {
        let (mut live, mut log) = (LiveRecords::new(task).unwrap(), Vec::new());
        let mut points = vec![live.point().to_vec()];
        for place in 0..count {
            let age = u64::from(self.rng.next_u32()) % (WORDS.stale + 1);
            let version = place.saturating_sub(age);
            let tier = (self.rng.next_u32() % 2) as u8;
            log.push(self.report(version, &points[version as usize], tier));
            live.observe(&log[log.len() - 1..]).unwrap();
            points.push(live.point().to_vec());
        }
        log
    }
}

#[test]
fn the_state_is_a_function_of_the_log_whatever_the_blocks_and_the_snapshots() {
    let two = OnlineWords { two_chains: true, decay: Some(3.0), ..WORDS };
    for (loss, weights, words) in [
        (huber(), "linear", WORDS),
        (LossWords::Logistic, "square", WORDS),
        (LossWords::Multinomial, "square", WORDS),
        (huber(), "linear", two),
    ] {
        let task = task(loss, weights, words);
        let log = Crowd::new(&task, 1).log(&task, 1500);
        let mut whole = LiveRecords::new(&task).unwrap();
        whole.observe(&log).unwrap();
        let mut piecewise = LiveRecords::new(&task).unwrap();
        let (mut rest, mut size) = (&log[..], 1);
        while !rest.is_empty() {
            let (some, others) = rest.split_at(size.min(rest.len()));
            piecewise.observe(some).unwrap();
            piecewise = LiveRecords::restore(&task, &piecewise.snapshot().unwrap()).unwrap();
            (rest, size) = (others, size * 2 + 1);
        }
        assert_eq!(whole.snapshot().unwrap(), piecewise.snapshot().unwrap());
        let bits = |live: &LiveRecords| live.point().iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&whole), bits(&piecewise));
        assert_eq!(whole.estimate(Level::NINETY_FIVE), piecewise.estimate(Level::NINETY_FIVE));
        assert_eq!(whole.reports(), 1500);
        assert_eq!(whole.estimate(Level::NINETY_FIVE).tiers.iter().sum::<u64>(), 1500);
    }
}

#[test]
fn a_gradient_is_read_in_the_ball_of_the_point_where_it_was_taken() {
    // Steps that are long from the first on
    let words = OnlineWords { eta: 4.0, offset: 0, ..WORDS };
    let mut task = task(LossWords::Logistic, "square", words);
    task.collection.as_mut().unwrap().tiers.pop();
    let mut crowd = Crowd::new(&task, 2);
    let mut live = LiveRecords::new(&task).unwrap();
    let first = live.point().to_vec();
    for version in 0..3 {
        let report = crowd.report(version, live.point(), 0);
        live.observe(&[report]).unwrap();
    }
    // Far from the start the ball has another radius and another centre.
    let (old, new) = (crowd.model.ball_at(&first).unwrap(), crowd.model.ball_at(live.point()).unwrap());
    assert!(new.ball.radius() > 1.05 * old.ball.radius() && new.centre != old.centre);
    for (version, around) in [(0, &old), (3, &new)] {
        let at = if version == 0 { first.clone() } else { live.point().to_vec() };
        let report = crowd.report(version, &at, 0);
        let before = live.point().to_vec();
        let mut after = live.clone();
        after.observe(std::slice::from_ref(&report)).unwrap();
        let mechanism = crowd.mechanisms[0];
        let estimate = mechanism.estimate(&report.gradient.unwrap().said).unwrap();
        // η_4·ĝ, where ĝ is r/R of the estimate, seen from the centre
        let eta = words.eta * 4f64.powf(-words.alpha);
        let factor = around.ball.radius() / mechanism.ball().radius();
        for (j, said) in estimate.iter().enumerate() {
            let expected = before[j] - eta * (factor * said + around.centre[j]);
            assert!((after.point()[j] - expected).abs() < 1e-12, "version {version}, {j}");
        }
    }
}

#[test]
fn reports_of_one_version_move_the_point_as_a_minibatch_does_to_the_last_bit() {
    let words = OnlineWords { eta: 0.2, ..WORDS };
    for (loss, weights) in [(huber(), "linear"), (LossWords::Logistic, "square")] {
        let task = task(loss, weights, words);
        let (mut crowd, mut live) = (Crowd::new(&task, 6), LiveRecords::new(&task).unwrap());
        let options = OnlineOptions {
            steps: Steps::new(words.eta, words.alpha, words.offset).unwrap(),
            burn_in: 0,
            decay: 0.0,
            tiers: Tiers::alike(2).unwrap(),
        };
        let mut batches = OnlineSgd::new(crowd.model, options, crowd.model.start()).unwrap();
        // As many as a version allows for, and fewer
        for size in [6, 1, 4, 6].into_iter().cycle().take(80) {
            let (version, point) = (live.reports(), live.point().to_vec());
            let around = crowd.model.ball_at(&point).unwrap();
            let batch: Vec<Report> = (0..size).map(|tier| crowd.report(version, &point, tier % 2)).collect();
            let estimate = |report: &Report| {
                let mechanism = crowd.mechanisms[usize::from(report.tier)];
                let mut estimate = mechanism.estimate(&report.gradient.as_ref().unwrap().said).unwrap();
                around.place(&mechanism, &mut estimate);
                (estimate, usize::from(report.tier))
            };
            let estimates: Vec<_> = batch.iter().map(estimate).collect();
            let estimates: Vec<_> =
                estimates.iter().map(|(gradient, tier)| Estimate { gradient, tier: *tier }).collect();
            live.observe(&batch).unwrap();
            batches.observe_batch(&estimates).unwrap();
            // Nothing was projected, which the two do at different times.
            assert_eq!((live.point(), live.reports()), (batches.point(), batches.reports()));
        }
        assert!(live.point().iter().zip(crowd.model.start()).all(|(now, start)| (now - start).abs() > 1e-6));
    }
}

#[test]
fn a_version_that_is_yet_to_come_or_older_than_may_be_is_an_error_and_changes_nothing() {
    let task = task(huber(), "linear", WORDS);
    let mut crowd = Crowd::new(&task, 3);
    let log = crowd.log(&task, 20);
    let mut live = LiveRecords::new(&task).unwrap();
    live.observe(&log).unwrap();
    let before = live.snapshot().unwrap();
    let mut report = crowd.report(20, live.point(), 0);
    for version in [21, 22, u64::MAX, 14, 0] {
        report.gradient.as_mut().unwrap().version = version;
        let error = live.observe(std::slice::from_ref(&report)).unwrap_err().to_string();
        assert!(error.contains("21") && error.contains("too old, or yet to come"), "{error}");
    }
    for wrong in [Report { tier: 2, ..report.clone() }, Report { gradient: None, ..report.clone() }] {
        assert!(live.observe(&[wrong]).is_err());
    }
    assert_eq!(live.snapshot().unwrap(), before);
    for version in 15..=20 {
        report.gradient.as_mut().unwrap().version = version;
        live.clone().observe(std::slice::from_ref(&report)).unwrap();
    }
    // At the very beginning there is one point.
    let mut fresh = LiveRecords::new(&task).unwrap();
    report.gradient.as_mut().unwrap().version = 1;
    assert!(fresh.observe(std::slice::from_ref(&report)).is_err());
    report.gradient.as_mut().unwrap().version = 0;
    fresh.observe(&[report]).unwrap();
    assert_eq!(fresh.reports(), 1);
}

#[test]
fn a_snapshot_of_something_else_is_refused() {
    let ours = task(huber(), "linear", WORDS);
    let mut live = LiveRecords::new(&ours).unwrap();
    live.observe(&Crowd::new(&ours, 4).log(&ours, 50)).unwrap();
    let snapshot = live.snapshot().unwrap();
    let mut one_tier = ours.clone();
    one_tier.collection.as_mut().unwrap().tiers.pop();
    for other in [
        task(LossWords::Logistic, "linear", WORDS),
        task(huber(), "linear", OnlineWords { stale: 6, ..WORDS }),
        task(huber(), "linear", OnlineWords { eta: 1.0, ..WORDS }),
        one_tier,
    ] {
        assert!(LiveRecords::restore(&other, &snapshot).is_err());
    }
    for length in 0..snapshot.len() {
        assert!(LiveRecords::restore(&ours, &snapshot[..length]).is_err(), "{length} bytes");
    }
    assert!(LiveRecords::restore(&ours, &snapshot).is_ok());
    assert!(LiveRecords::new(&Task { collection: None, ..ours.clone() }).is_err());
    assert!(Live::new(&ours).is_err());
}

#[test]
fn every_parameter_has_a_name() {
    let names =
        |loss| LiveRecords::new(&task(loss, "linear", WORDS)).unwrap().estimate(Level::NINETY_FIVE).names;
    assert_eq!(names(huber()), ["constant", "one", "two", "scale of errors"]);
    assert_eq!(names(LossWords::Logistic), ["constant", "one", "two"]);
    let classes = ["a: constant", "a: one", "a: two", "b: constant", "b: one", "b: two"];
    assert_eq!(names(LossWords::Multinomial), classes);
}

#[test]
fn a_few_reports_have_no_interval_and_say_why() {
    let task = task(huber(), "linear", WORDS);
    let mut live = LiveRecords::new(&task).unwrap();
    live.observe(&Crowd::new(&task, 5).log(&task, 20)).unwrap();
    let refused = live.estimate(Level::NINETY_FIVE).intervals.unwrap_err();
    assert!(refused.doubts.contains(&Doubt::TooFew { iterates: 20 }), "{refused}");
}

#[test]
fn a_regression_is_learnt_and_its_intervals_cover() {
    let words = OnlineWords { eta: 1.0, offset: 200, burn_in: 1000, ..WORDS };
    let task = task(huber(), "linear", words);
    let (runs, reports) = (40, 15_000);
    let (mut covered, mut worst) = (0, 0.0_f64);
    for run in 0..runs {
        let (mut crowd, mut live) = (Crowd::new(&task, 100 + run), LiveRecords::new(&task).unwrap());
        for version in 0..reports {
            let report = crowd.report(version, live.point(), 0);
            live.observe(&[report]).unwrap();
        }
        let estimate = live.estimate(Level::NINETY_FIVE);
        let intervals = estimate.intervals.unwrap();
        for (interval, truth) in intervals.coordinates.iter().zip(TRUTH) {
            covered += u32::from(interval.covers(truth));
            worst = worst.max((interval.estimate - truth).abs());
        }
    }
    // 152 if so many reports were enough for the limit; nine in ten of 160 is what they are enough for.
    assert!(worst < 0.15 && covered > 130, "{covered} of {}, at most {worst} off", 4 * runs);
}

#[test]
fn functions_that_the_task_names_have_intervals() {
    let term = |parameter: &str, factor| FunctionalTerm { parameter: parameter.into(), factor };
    let words = OnlineWords { eta: 1.0, offset: 200, ..WORDS };
    let mut task = task(huber(), "linear", words);
    task.record.as_mut().unwrap().functionals = vec![
        FunctionalWords { name: "one".into(), terms: vec![term("one", 1.0)] },
        FunctionalWords { name: "contrast".into(), terms: vec![term("two", -2.0), term("one", 1.0)] },
    ];
    task.check().unwrap();
    let (mut crowd, mut live) = (Crowd::new(&task, 7), LiveRecords::new(&task).unwrap());
    let early = live.estimate(Level::NINETY_FIVE).functionals;
    assert!(early[1].estimate.is_none() && early[1].intervals.is_err());
    for version in 0..4000 {
        let report = crowd.report(version, live.point(), 0);
        live.observe(&[report]).unwrap();
    }
    let estimate = live.estimate(Level::NINETY_FIVE);
    let [one, contrast] = &estimate.functionals[..] else { panic!("{estimate:?}") };
    // A function that is a coordinate has the interval of that coordinate.
    let intervals = estimate.intervals.unwrap();
    let of = |estimate: &FunctionalEstimate| estimate.intervals.as_ref().unwrap().coordinates[0];
    assert!((of(one).half_width / intervals.coordinates[1].half_width - 1.0).abs() < 1e-12);
    let mean = estimate.mean.unwrap();
    assert!((of(contrast).estimate - (mean[1] - 2.0 * mean[2])).abs() < 1e-12);
    assert_eq!(contrast.estimate, Some(of(contrast).estimate));
    // 1·1 - 2·(-½), five half widths of the mean width of an interval away at most
    assert!((of(contrast).estimate - 2.0).abs() < 0.5 && of(contrast).half_width < 1.0, "{contrast:?}");
    let restored = LiveRecords::restore(&task, &live.snapshot().unwrap()).unwrap();
    assert_eq!(restored.estimate(Level::NINETY_FIVE).functionals, estimate.functionals);
    task.record.as_mut().unwrap().functionals[0].terms[0].parameter = "three".into();
    assert!(LiveRecords::new(&task).unwrap_err().to_string().contains("`one`"));
}

fn moved(before: &LiveRecords, after: &LiveRecords) -> Vec<f64> {
    before.point().iter().zip(after.point()).map(|(before, after)| after - before).collect()
}

#[test]
fn shares_of_the_task_weigh_the_tiers() {
    let mut task = task(huber(), "linear", WORDS);
    task.record.as_mut().unwrap().shares = Some(vec![0.8, 0.2]);
    let live = LiveRecords::new(&task).unwrap();
    let report = Crowd::new(&task, 6).report(0, live.point(), 0);
    let steps = [0, 1].map(|tier| {
        let mut after = live.clone();
        after.observe(&[Report { tier, ..report.clone() }]).unwrap();
        moved(&live, &after)
    });
    // In units of r²: gradients scatter by 1/4 in each of four coordinates, noise of μ = 3 by 4/9 and of μ = 1 by 4.
    let (first, second) = (1.0 / (0.25 + 4.0 / 9.0), 1.0 / (0.25 + 4.0));
    for (a, b) in steps[0].iter().zip(&steps[1]) {
        assert!((a / b / (first / second) - 1.0).abs() < 1e-3, "{a} and {b}");
    }
    // 0.8·a_1 + 0.2·a_2 = 1, against the same task without shares
    let mut alike = LiveRecords::new(&Task {
        record: Some(RecordWords { shares: None, ..task.record.clone().unwrap() }),
        ..task.clone()
    })
    .unwrap();
    let before = alike.clone();
    alike.observe(&[report]).unwrap();
    let factor = steps[0][0] / moved(&before, &alike)[0];
    assert!((factor / (first / (0.8 * first + 0.2 * second)) - 1.0).abs() < 1e-3, "{factor}");
}

#[test]
fn no_report_moves_the_point_farther_than_it_can_reach() {
    for words in [WORDS, OnlineWords { two_chains: true, ..WORDS }] {
        let task = task(huber(), "linear", words);
        let (mut crowd, mut live) = (Crowd::new(&task, 7), LiveRecords::new(&task).unwrap());
        // The points of one chain: where the other goes on from is another point.
        let mut farthest = 0.0_f64;
        for version in 0..200u64 {
            let report = crowd.report(version, live.point(), (version % 2) as u8);
            let (reach, before) = (live.estimate(Level::NINETY_FIVE).reach, live.clone());
            live.observe(&[report]).unwrap();
            if !words.two_chains {
                let length = moved(&before, &live).iter().map(|x| x * x).sum::<f64>().sqrt();
                farthest = farthest.max(length / reach);
            }
            // η·(i + i₀)^-α·(|centre| + reach of the mechanism) of the loudest tier, at the start
            if version == 0 {
                let centre = crowd.model.ball().unwrap().centre;
                let length = centre.iter().map(|x| x * x).sum::<f64>().sqrt();
                let most = crowd.mechanisms.iter().map(VectorMechanism::reach).fold(0.0, f64::max);
                let expected = words.eta * 101f64.powf(-words.alpha) * (length + most);
                assert!((reach / expected - 1.0).abs() < 1e-12, "{reach} for {expected}");
            }
        }
        assert!(farthest < 1.0 && (words.two_chains || farthest > 0.05), "{farthest}");
    }
}

#[test]
fn the_curvature_of_the_task_decides_whether_a_run_has_converged() {
    let run = |curvature| {
        let task = task(huber(), "linear", OnlineWords { curvature, ..WORDS });
        let mut live = LiveRecords::new(&task).unwrap();
        live.observe(&Crowd::new(&task, 8).log(&task, 1500)).unwrap();
        live
    };
    let refused = run(Some(1e-3)).estimate(Level::NINETY_FIVE).intervals.unwrap_err();
    assert!(refused.doubts.iter().any(|doubt| matches!(doubt, Doubt::NotConverged { .. })), "{refused}");
    assert!(run(Some(1e-3)).functional(&[0.0, 1.0, -1.0, 0.0], Level::NINETY_FIVE).is_err());
    let given = run(Some(10.0)).estimate(Level::NINETY_FIVE);
    assert!(given.intervals.unwrap().doubts.is_empty() && given.interval_points == Some(1500));
    let unknown = run(None);
    assert_eq!(unknown.estimate(Level::NINETY_FIVE).intervals.unwrap().doubts, [Doubt::CurvatureUnknown]);
    let contrast = unknown.functional(&[0.0, 1.0, -1.0, 0.0], Level::NINETY_FIVE).unwrap();
    let mean = unknown.estimate(Level::NINETY_FIVE).mean.unwrap();
    assert!((contrast.coordinates[0].estimate - (mean[1] - mean[2])).abs() < 1e-12);
}

#[test]
fn two_chains_take_the_reports_in_turn_and_are_compared() {
    let words = OnlineWords { two_chains: true, eta: 0.5, offset: 1000, ..WORDS };
    let task = task(huber(), "linear", words);
    let mut live = LiveRecords::new(&task).unwrap();
    let start = live.point().to_vec();
    let mut crowd = Crowd::new(&task, 9);
    // The second device is asked about the start again, as its chain has not moved.
    live.observe(&[crowd.report(0, &start, 0)]).unwrap();
    assert_eq!(live.point(), start);
    live.observe(&[crowd.report(1, &start, 0)]).unwrap();
    assert_ne!(live.point(), start);
    let log = Crowd::new(&task, 10).log(&task, 2600);
    let mut live = LiveRecords::new(&task).unwrap();
    live.observe(&log).unwrap();
    let estimate = live.estimate(Level::NINETY_FIVE);
    let chains = estimate.chains.unwrap();
    assert_eq!(chains.comparison.unwrap().len(), TRUTH.len());
    assert!((1200..1400).contains(&estimate.interval_points.unwrap()));
    assert!(
        LiveRecords::new(&self::task(huber(), "linear", WORDS))
            .unwrap()
            .estimate(Level::NINETY_FIVE)
            .chains
            .is_none()
    );
}

#[test]
fn the_promise_to_everybody_is_the_largest_that_somebody_chose() {
    let task = task(huber(), "linear", WORDS);
    let (mut crowd, mut live) = (Crowd::new(&task, 11), LiveRecords::new(&task).unwrap());
    let promise = |live: &LiveRecords| live.estimate(Level::NINETY_FIVE).promise;
    assert!(promise(&live).is_none());
    let report = crowd.report(0, live.point(), 1);
    live.observe(&[report]).unwrap();
    assert_eq!(promise(&live), Some(Headline { epsilon: None, delta: None, mu: Some(1.0), rho: None }));
    let report = crowd.report(1, live.point(), 0);
    live.observe(&[report]).unwrap();
    assert_eq!(promise(&live).and_then(|promise| promise.mu), Some(3.0));
}
