//! Stages with a learner that only counts.

use super::*;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use std::cell::RefCell;
use undertone_privacy::Randomizer;
use undertone_privacy::label::{Label, LabelSet};

/// The people that were shown, and whether there was a model to start from.
type Call = (Vec<u64>, bool);

/// The mean label vector of each cell, a cell being the whole part of the first feature.
struct Counting {
    classes: usize,
    cells: usize,
    calls: RefCell<Vec<Call>>,
}

struct Counted {
    classes: usize,
    cells: Vec<Vec<f64>>,
}

impl Counting {
    fn new(classes: usize, cells: usize) -> Self {
        Self { classes, cells, calls: RefCell::default() }
    }
}

impl Trainer for Counting {
    type Model = Counted;

    fn train(
        &self,
        people: &[u64],
        examples: &mut dyn Source,
        start: Option<&Counted>,
    ) -> Result<Counted, LearnError> {
        // Half a person of each class to begin with
        let (mut cells, mut shown) = (vec![vec![0.5; self.classes]; self.cells], 0);
        examples.pass(&mut |block| {
            shown += block.len();
            for (row, a) in block.rows.iter().zip(block.unbiased.iter()) {
                let cell = &mut cells[row.dense[0] as usize];
                (0..self.classes).for_each(|k| cell[k] += f64::from(a.at(k as u32)));
            }
            Ok(())
        })?;
        assert_eq!(people.len(), shown);
        self.calls.borrow_mut().push((people.to_vec(), start.is_some()));
        Ok(Counted { classes: self.classes, cells })
    }
}

impl Classifier for Counted {
    fn classes(&self) -> usize {
        self.classes
    }

    fn probabilities(&self, rows: &Rows) -> Vec<f32> {
        let cell = |row: crate::features::Row<'_>| {
            let kept: Vec<f64> = self.cells[row.dense[0] as usize].iter().map(|&n| n.max(1e-3)).collect();
            let sum: f64 = kept.iter().sum();
            kept.into_iter().map(move |n| (n / sum) as f32)
        };
        rows.iter().flat_map(cell).collect()
    }
}

/// People in four cells, whose labels are that of the cell four times in five and any of ten otherwise.
struct Village {
    rows: Rows,
    labels: Vec<u32>,
    rng: ChaCha12Rng,
}

impl Village {
    fn new(people: usize) -> Self {
        let mut rng = ChaCha12Rng::seed_from_u64(77);
        let cells: Vec<u32> = (0..people).map(|_| rng.next_u32() % 4).collect();
        let label = |&cell: &u32| if rng.next_u32() % 5 < 4 { 2 * cell } else { rng.next_u32() % 10 };
        let labels = cells.iter().map(label).collect();
        Self { rows: Rows::dense(1, cells.iter().map(|&cell| cell as f32).collect()), labels, rng }
    }
}

impl Devices for Village {
    fn answer(&mut self, person: u64, mechanism: &LabelMechanism) -> Result<LabelSet, LearnError> {
        Ok(mechanism.randomize(&Label(self.labels[person as usize]), &mut self.rng)?)
    }
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn run(plan: &MultiStage<'_>, people: usize) -> (Village, Staged<Counted>, Vec<Call>) {
    let mut village = Village::new(people);
    let (rows, trainer) = ([village.rows.clone()], Counting::new(10, 4));
    let staged = plan.run(&rows, &mut village, &trainer).unwrap();
    (village, staged, trainer.calls.into_inner())
}

#[test]
fn everybody_is_asked_once_in_the_stage_that_the_hash_gives() {
    let fractions = [0.5, 0.3, 0.2];
    let (_, staged, calls) = run(&MultiStage::debiased(10, epsilon(1.0), &fractions), 5000);
    let mut asked: Vec<u64> = staged.transcript.iter().map(|record| record.person).collect();
    asked.sort_unstable();
    assert_eq!(asked, (0..5000).collect::<Vec<_>>());
    assert!(staged.transcript.iter().all(|record| record.stage == stage_of(record.person, &fractions)));
    // Each stage trains on its own people and all earlier ones.
    let mut so_far = 0;
    let asked: Vec<u64> = staged.transcript.iter().map(|record| record.person).collect();
    for ((stage, share), (trained, started)) in staged.stages.iter().zip(fractions).zip(calls) {
        so_far += stage.people;
        assert_eq!((&trained[..], started), (&asked[..so_far], false));
        let expected = 5000.0 * share;
        assert!((stage.people as f64 - expected).abs() < 5.0 * (expected * (1.0 - share)).sqrt());
    }
    assert_eq!(staged.promise, Guarantee::Pure(epsilon(1.0)));
    assert_eq!(staged.models.len(), 3);
}

#[test]
fn later_reports_are_right_more_often_than_earlier_ones() {
    let (village, staged, _) = run(&MultiStage::debiased(10, epsilon(1.0), &[0.6, 0.4]), 20_000);
    let right = |stage: usize| {
        let of_stage = || staged.transcript.iter().filter(move |record| record.stage == stage);
        let right =
            of_stage().filter(|record| record.report.contains(village.labels[record.person as usize]));
        right.count() as f64 / of_stage().count() as f64
    };
    let keep = 1.0 / (1.0 + 9.0 * (-1f64).exp());
    assert!((right(0) - keep).abs() < 5.0 * (keep * (1.0 - keep) / 12_000.0).sqrt());
    // With the cell's label alone, 0.82 = 0.8 + 0.2/10 are right.
    assert!((right(1) - 0.82).abs() < 5.0 * (0.82 * 0.18 / 8_000.0f64).sqrt(), "{}", right(1));
    assert!((staged.stages[0].mean_labels - 10.0).abs() < 1e-12);
    assert!((staged.stages[1].mean_labels - 1.0).abs() < 1e-12);
}

#[test]
fn a_high_temperature_asks_about_more_labels() {
    let mean_labels = |temperature| {
        let plan = MultiStage { temperature, ..MultiStage::debiased(10, epsilon(1.0), &[0.6, 0.4]) };
        run(&plan, 5000).1.stages[1].mean_labels
    };
    let (cold, warm, hot) = (mean_labels(0.2), mean_labels(3.0), mean_labels(1e6));
    assert!(cold < warm && warm < hot, "{cold}, {warm}, {hot}");
    assert!((hot - 10.0).abs() < 1e-12);
}

#[test]
fn a_later_stage_is_asked_what_tells_most() {
    let second = |value: f64| {
        let plan = MultiStage {
            first: First::Alike(LabelKind::Subset),
            answers: Answering::Telling,
            ..MultiStage::debiased(10, epsilon(value), &[0.6, 0.4])
        };
        let (_, staged, _) = run(&plan, 20_000);
        let asked: Vec<Option<usize>> = staged
            .transcript
            .iter()
            .filter(|record| record.stage == 1)
            .map(|record| record.among.as_ref().map(Vec::len))
            .collect();
        asked
    };
    // One label alone would be right most often, but tells nothing.
    assert!(second(4.0).iter().all(|among| among.is_some_and(|labels| labels > 1)));
    // Where a cell says little, all labels alike tell more.
    assert!(second(0.1).iter().all(Option::is_none));
}

#[test]
fn the_filter_leaves_out_what_the_model_finds_unlikely_and_nothing_else() {
    let plan = MultiStage { filter: true, ..MultiStage::debiased(10, epsilon(1.0), &[0.6, 0.4]) };
    let (village, staged, calls) = run(&plan, 5000);
    // k* is one everywhere: what stays of the first stage are the reports of the cell's own label.
    let likely = |record: &&Record| {
        record.stage == 1
            || record.report.contains(2 * village.rows.get(record.person as usize).dense[0] as u32)
    };
    let expected: Vec<u64> = staged.transcript.iter().filter(likely).map(|record| record.person).collect();
    assert!(expected.len() < 4000, "{} stay", expected.len());
    assert_eq!(staged.stages[1].left_out, 5000 - expected.len());
    assert_eq!(calls[1].0, expected);
}

#[test]
fn a_warm_start_begins_with_the_model_before() {
    let plan = MultiStage { warm_start: true, ..MultiStage::debiased(10, epsilon(1.0), &[0.5, 0.25, 0.25]) };
    let (.., calls) = run(&plan, 2000);
    assert_eq!(calls.iter().map(|call| call.1).collect::<Vec<_>>(), [false, true, true]);
}

#[test]
fn reports_read_as_labels_are_one_where_the_report_says_so() {
    let (_, staged, _) = run(&MultiStage::as_published(10, epsilon(1.0), &[1.0]), 3000);
    let counts: f64 = staged.model().cells.iter().flatten().sum();
    assert!((counts - (3000.0 + 0.5 * 40.0)).abs() < 1e-6);
    let subset = First::Alike(LabelKind::Subset);
    let plan = MultiStage { first: subset, ..MultiStage::as_published(10, epsilon(1.0), &[1.0]) };
    let error = plan.run(&[], &mut Village::new(1), &Counting::new(10, 4)).err().unwrap().to_string();
    assert!(error.contains("one to be read as a label"), "{error}");
}

#[test]
fn a_first_stage_may_have_a_public_prior_or_any_symmetric_mechanism() {
    let by_cell = |row: crate::features::Row<'_>| row.dense[0] as usize;
    let sure = |cell: usize| (0..10).map(|k| if k == 2 * cell { 0.82 } else { 0.02 }).collect::<Vec<f64>>();
    let prior = GroupPriors::new(by_cell, &[sure(0), sure(1), sure(2), sure(3)]).unwrap();
    let plan = MultiStage { first: First::Prior(&prior), ..MultiStage::debiased(10, epsilon(1.0), &[1.0]) };
    assert!((run(&plan, 1000).1.stages[0].mean_labels - 1.0).abs() < 1e-12);
    let subset = First::Alike(LabelKind::Subset);
    let plan = MultiStage { first: subset, ..MultiStage::debiased(10, epsilon(1.0), &[0.5, 0.5]) };
    let (_, staged, _) = run(&plan, 4000);
    assert!(
        staged.transcript.iter().filter(|record| record.stage == 0).all(|r| r.report.members().len() == 3)
    );
}

#[test]
fn a_plan_that_cannot_be_followed_is_refused_before_anybody_is_asked() {
    let refused = |plan: &MultiStage<'_>, people: usize| {
        let rows = [Village::new(people).rows];
        let mut nobody = |person: u64, _: &LabelMechanism| panic!("person {person} was asked");
        plan.run(&rows, &mut nobody, &Counting::new(10, 4)).err().unwrap().to_string()
    };
    let plan = MultiStage::debiased(10, epsilon(1.0), &[0.6, 0.4]);
    assert!(refused(&MultiStage { fractions: &[0.5, 0.25], ..plan }, 9).contains("0.75"));
    assert!(refused(&MultiStage { fractions: &[1.5, -0.5], ..plan }, 9).contains("1.5"));
    assert!(refused(&MultiStage { fractions: &[], ..plan }, 9).contains("sum"));
    assert!(refused(&MultiStage { temperature: 0.0, ..plan }, 9).contains("temperature is 0"));
    assert!(refused(&MultiStage { first: First::Alike(LabelKind::RrPrior), ..plan }, 9).contains("alike"));
    assert!(
        refused(&MultiStage { fractions: &[1.0 - 1e-9, 1e-9], ..plan }, 9)
            .contains("without anybody in it is 2")
    );
    assert!(refused(&plan, 0).contains("no reports"));
    let prior = GroupPriors::new(|_: crate::features::Row<'_>| 0, &[vec![0.5, 0.5]]).unwrap();
    assert!(
        refused(&MultiStage { first: First::Prior(&prior), ..plan }, 9).contains("classes of the prior is 2")
    );
}

#[test]
fn a_curators_prior_is_refused_unless_a_curator_is_trusted() {
    let mut village = Village::new(400);
    let rows = [village.rows.clone()];
    let labels: Vec<Label> = village.labels.iter().map(|&label| Label(label)).collect();
    let clusters = Clusters::fit(&rows, 4).unwrap();
    let prior = ClusterPriors::release(
        clusters,
        &rows,
        &labels,
        10,
        epsilon(0.5),
        &mut ChaCha12Rng::seed_from_u64(1),
    )
    .unwrap();
    let local = MultiStage { first: First::Prior(&prior), ..MultiStage::debiased(10, epsilon(1.0), &[1.0]) };
    let trainer = Counting::new(10, 4);
    let refused = local.run(&rows, &mut village, &trainer).err().unwrap();
    assert!(matches!(refused, LearnError::Central { .. }), "{refused}");
    let central = MultiStage { trust: Trust::Central, ..local };
    let Guarantee::Pure(total) = central.run(&rows, &mut village, &trainer).unwrap().promise else {
        panic!("pure and pure is pure")
    };
    assert!(total.get() >= 1.5 && total.get() < 1.5 + 1e-12);
}

/// Devices that say what a script tells them to, and keep the probability of that under several true labellings.
struct Scripted<'a> {
    labellings: &'a [Vec<u32>],
    /// Which of the possible reports comes next
    script: Vec<usize>,
    /// How many were possible, for each of those that came
    choices: Vec<usize>,
    /// ln P of all reports so far, under each labelling
    ln_probability: Vec<f64>,
}

impl Devices for Scripted<'_> {
    fn answer(&mut self, person: u64, mechanism: &LabelMechanism) -> Result<LabelSet, LearnError> {
        let possible: Vec<u32> =
            mechanism.support().map_or((0..mechanism.labels()).collect(), <[u32]>::to_vec);
        let turn = self.choices.len();
        self.choices.push(possible.len());
        if self.script.len() <= turn {
            self.script.push(0);
        }
        let report = LabelSet::new(vec![possible[self.script[turn]]]);
        for (ln, labels) in self.ln_probability.iter_mut().zip(self.labellings) {
            *ln += mechanism.ln_probability(&report, labels[person as usize]);
        }
        Ok(report)
    }
}

#[test]
fn no_transcript_is_more_than_e_to_the_epsilon_likelier_under_a_neighbouring_labelling() {
    // Seven people of one cell, three classes, three stages: every transcript there is
    let people = 7;
    let truth: Vec<u32> = vec![0, 1, 2, 0, 0, 1, 2];
    let mut labellings = vec![truth.clone()];
    for person in 0..people {
        for other in (0..3).filter(|&label| label != truth[person]) {
            let mut labels = truth.clone();
            labels[person] = other;
            labellings.push(labels);
        }
    }
    let fractions = [0.4, 0.3, 0.3];
    let rows = [Rows::dense(1, vec![0.0; people])];
    for filter in [false, true] {
        let plan =
            MultiStage { filter, temperature: 0.5, ..MultiStage::debiased(3, epsilon(1.0), &fractions) };
        let (mut script, mut transcripts) = (Vec::new(), 0);
        let (mut mass, mut largest) = (vec![0.0; labellings.len()], 0f64);
        loop {
            let ln_probability = vec![0.0; labellings.len()];
            let mut devices =
                Scripted { labellings: &labellings, script, choices: Vec::new(), ln_probability };
            plan.run(&rows, &mut devices, &Counting::new(3, 1)).unwrap();
            assert_eq!(devices.choices.len(), people);
            let ln = &devices.ln_probability;
            mass.iter_mut().zip(ln).for_each(|(mass, ln)| *mass += ln.exp());
            largest = ln.iter().fold(largest, |largest, other| largest.max((ln[0] - other).abs()));
            transcripts += 1;
            // The next script: the last turn that has another choice takes it, and all later turns begin anew.
            script = devices.script;
            let Some(turn) = (0..people).rev().find(|&turn| script[turn] + 1 < devices.choices[turn]) else {
                break;
            };
            script[turn] += 1;
            script.truncate(turn + 1);
        }
        assert!(
            transcripts > 200 && transcripts < 3usize.pow(7),
            "{transcripts}: later stages ask about fewer labels"
        );
        assert!(mass.iter().all(|mass| (mass - 1.0).abs() < 1e-9), "{mass:?}");
        assert!(largest <= 1.0 + 1e-12 && largest > 0.99, "{largest}");
    }
}
