//! Models on what public features tell by themselves: who is like whom, and smooth functions of where somebody is
//! ([`undertone_represent`]).
//!
//! Features are public, so that everybody's are looked at, also those of people whose reports only judge: a representation is made once,
//! and learnt from as often as there are reports.

mod given;
mod plan;
mod step;

use crate::auto::Untried;
use crate::features::{Encoder, Rows};
use crate::held_out::is_in;
use crate::shelf::{Digest, Shelf, stage};
use crate::{Classifier, Examples, LearnError, Source};
use given::{Given, has_numbers, is_sparse, matrix};
pub use plan::{Limits, Need};
use serde::{Deserialize, Serialize};
pub use step::Step;
pub use undertone_represent::RepresentError;
use undertone_represent::{Coordinates, Kind, Learnt, Matrix, Recipe, Representation, Sizes, Told};

/// One in so many people is a landmark, and no more than this; patches, of which there are many coordinates, take more.
const PEOPLE_PER_LANDMARK: usize = 4;
const MOST_LANDMARKS: usize = 4000;
const MOST_LANDMARKS_OF_PATCHES: usize = 6000;
/// Rows that are predicted together.
const TOGETHER: usize = 4096;
/// Stages in which people are looked at in one way: where they are, who is like whom, and smooth functions.
const STAGES: usize = 3;

/// What rows are taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// Columns as they are
    Columns,
    /// Columns as they are, and by the rank of each value among everybody's
    Ranked,
    /// Pixels of a square image
    Image,
}

impl Sight {
    /// An image where there is one vector whose length is a square; `--column NAME=number` says that it is none.
    pub fn of(encoder: &Encoder) -> Self {
        if encoder.pixels().is_some_and(Kind::is_image) { Self::Image } else { Self::Columns }
    }

    /// The same, with columns by rank beside columns as they are, where some are numbers and learning from both so many times keeps within
    /// limits. Neither is better everywhere: reports weigh them.
    #[must_use]
    pub fn ranked(self, rows: &Rows, classes: usize, (limits, learnings): (Limits, usize)) -> Self {
        let fits = || Need::new(rows, Self::Ranked, classes).fits(limits, learnings);
        if self == Self::Columns && has_numbers(rows) && fits() { Self::Ranked } else { self }
    }

    /// Strokes and patches of images.
    fn kinds(self) -> &'static [Kind] {
        match self {
            Self::Columns => &[Kind::Columns],
            Self::Ranked => &[Kind::Columns, Kind::Ranks],
            Self::Image => &[Kind::Strokes, Kind::Patches],
        }
    }

    /// The stages in which people are looked at.
    pub fn stages(self) -> usize {
        STAGES * self.kinds().len()
    }
}

fn sizes(kind: Kind, rows: &Rows) -> Sizes {
    let (graph_coordinates, kernel_coordinates, most) = match kind {
        Kind::Patches => (200, 600, MOST_LANDMARKS_OF_PATCHES),
        // Words tell of many things, each of a few people
        Kind::Columns if is_sparse(rows) => (200, 500, MOST_LANDMARKS),
        Kind::Columns | Kind::Ranks | Kind::Strokes => (100, 200, MOST_LANDMARKS),
    };
    let landmarks = (rows.len() / PEOPLE_PER_LANDMARK).clamp(1, most);
    Sizes { graph_coordinates, kernel_coordinates, landmarks }
}

/// People as their public features show them.
pub struct Seen {
    maps: Vec<Coordinates>,
    representations: Vec<Representation>,
    features: usize,
    /// Of the rows, and how they were looked at
    digest: Digest,
}

impl Seen {
    /// Of these rows. What lies on the shelf is not made again.
    pub fn new(
        rows: &Rows,
        sight: Sight,
        classes: usize,
        bytes: u64,
        shelf: &dyn Shelf,
    ) -> Result<Self, LearnError> {
        Need::new(rows, sight, classes).check(rows, bytes)?;
        Self::look(rows, sight, shelf)
    }

    fn look(rows: &Rows, sight: Sight, shelf: &dyn Shelf) -> Result<Self, LearnError> {
        let mut digest = Digest::new("features").rows(rows);
        let (mut maps, mut representations) = (Vec::new(), Vec::new());
        for &kind in sight.kinds() {
            let sizes = sizes(kind, rows);
            digest = digest.word(&format!("{kind:?} {sizes:?}"));
            let name = |what: &str| digest.clone().name(what);
            let (map, coordinates) = stage(shelf, &name("coordinates"), || {
                let count = sizes.graph_coordinates.max(sizes.kernel_coordinates);
                Ok::<_, LearnError>(Given::new(rows, 0..rows.len())?.fit(kind, count)?)
            })?;
            let graph = stage(shelf, &name("graph"), || Representation::graph(&coordinates, sizes))?;
            let kernel = stage(shelf, &name("kernel"), || Representation::kernel(&coordinates, sizes))?;
            representations.push(Representation::of(&coordinates, sizes, graph, kernel)?);
            maps.push(map);
        }
        Ok(Self { maps, representations, features: rows.width(), digest })
    }

    /// The same, if looking and learning so many times keep within limits, and if there is anything to see: people who are not all alike,
    /// and not too few.
    pub fn within(
        rows: &Rows,
        sight: Sight,
        classes: usize,
        (limits, learnings): (Limits, usize),
        shelf: &dyn Shelf,
    ) -> Result<Result<Self, Untried>, LearnError> {
        let need = Need::new(rows, sight, classes).beside(limits.held);
        let seconds = need.seconds(learnings);
        if seconds > limits.seconds {
            return Ok(Err(Untried::TooLong { seconds, left: limits.seconds }));
        }
        match need.check(rows, limits.bytes).and_then(|()| Self::look(rows, sight, shelf)) {
            Err(
                error @ (LearnError::Memory { .. }
                | LearnError::Represent(
                    RepresentError::Constant { .. }
                    | RepresentError::TooFew { .. }
                    | RepresentError::Spectrum { .. },
                )),
            ) => Ok(Err(error.into())),
            seen => seen.map(Ok),
        }
    }

    /// The K probabilities of each person of a [part](crate::held_out::is_in), by the model of the others' reports. Their features were seen with
    /// the others'.
    pub fn without_part(
        &self,
        people: &Examples,
        classes: usize,
        part: usize,
        shelf: &dyn Shelf,
    ) -> Result<Vec<f32>, LearnError> {
        let name = self.told_by(people).word(&format!("{classes} {part}")).name("representation");
        stage(shelf, &name, || {
            let model = self.without(people, classes, |row| is_in(row, part))?;
            Ok(model.probabilities(&people.part(|row| is_in(row, part)).rows))
        })
    }

    /// What everybody's reports tell; a class that is in no report is refused.
    pub fn model(
        &self,
        people: &Examples,
        classes: usize,
        shelf: &dyn Shelf,
    ) -> Result<Represented, LearnError> {
        check_reported(&mut &*people, classes)?;
        let name = self.told_by(people).word(&classes.to_string()).name("model");
        stage(shelf, &name, || self.without(people, classes, |_| false))
    }

    /// The same for one of several stages, in which few may have been asked about a class: what nobody reports is believed of nobody.
    pub fn model_of_stage(&self, people: &Examples, classes: usize) -> Result<Represented, LearnError> {
        self.without(people, classes, |_| false)
    }

    /// Of the rows and of what people say.
    fn told_by(&self, people: &Examples) -> Digest {
        self.digest.clone().reports(&people.unbiased).reports(&people.likelihood)
    }

    /// What the reports tell of all who are not kept `aside`, who do not vote. A class that none of the others reports is believed of nobody.
    fn without(
        &self,
        people: &Examples,
        classes: usize,
        aside: impl Fn(usize) -> bool,
    ) -> Result<Represented, LearnError> {
        // Even chances are what nobody's report says
        let unbiased = matrix(&people.unbiased, classes, &aside, 1.0 / classes as f32)?;
        let likelihood = matrix(&people.likelihood, classes, &aside, 1.0)?;
        let recipe = Recipe::new(&self.representations.iter().collect::<Vec<_>>())?;
        let learnt = recipe.learn(Told { unbiased: &unbiased, likelihood: &likelihood })?;
        let learnt = learnt.without_votes_of(aside)?;
        Ok(Represented { features: self.features, classes, maps: self.maps.clone(), learnt })
    }
}

/// Refuses a class that is in no report.
pub(crate) fn check_reported(people: &mut dyn Source, classes: usize) -> Result<(), LearnError> {
    let mut spoken_for = vec![false; classes];
    people.pass(&mut |block| {
        let likelihood = matrix(&block.likelihood, classes, |_| false, 1.0)?;
        let told = Told { unbiased: &likelihood, likelihood: &likelihood };
        spoken_for.iter_mut().zip(told.spoken_for()).for_each(|(all, block)| *all |= block);
        Ok(())
    })?;
    match spoken_for.iter().position(|spoken| !spoken) {
        Some(class) => Err(RepresentError::NeverReported { class }.into()),
        None => Ok(()),
    }
}

/// A model of classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Represented {
    features: usize,
    classes: usize,
    maps: Vec<Coordinates>,
    learnt: Learnt,
}

impl Represented {
    /// What was chosen, a line for each step.
    pub fn steps(&self) -> &[String] {
        self.learnt.steps()
    }

    fn predict(&self, rows: &Rows, range: std::ops::Range<usize>) -> Result<Matrix, LearnError> {
        let given = Given::new(rows, range)?;
        let places = self.maps.iter().map(|map| given.on(map)).collect::<Result<Vec<_>, _>>()?;
        Ok(self.learnt.probabilities(&places.iter().collect::<Vec<_>>())?)
    }

    /// Refuses a model of other features and classes, or one whose parts do not fit together: it is tried on a row of zeros.
    pub(crate) fn check(&self, features: usize, classes: usize) -> Result<(), LearnError> {
        let problem = |problem: String| LearnError::Model { problem };
        if self.features != features || self.classes != classes {
            return Err(problem(format!(
                "it is for {} features and {} classes, its columns give {features} and {classes}",
                self.features, self.classes
            )));
        }
        self.learnt.check().map_err(|error| problem(error.to_string()))?;
        let zeros = Rows::dense(features, vec![0.0; features]);
        let found = self.predict(&zeros, 0..1).map_err(|error| problem(error.to_string()))?;
        if found.columns() == classes && found.values().iter().all(|p| p.is_finite()) {
            return Ok(());
        }
        Err(problem(format!("it gives {} probabilities for {classes} classes", found.columns())))
    }
}

impl Classifier for Represented {
    fn classes(&self) -> usize {
        self.classes
    }

    fn probabilities(&self, rows: &Rows) -> Vec<f32> {
        let starts = (0..rows.len()).step_by(TOGETHER);
        let blocks = starts.map(|start| start..(start + TOGETHER).min(rows.len()));
        // Features may be as large as a float, and their coordinates beyond: of such a row nothing is known, and of no other.
        let alone = |row: usize| match self.predict(rows, row..row + 1) {
            Ok(found) => found.values().to_vec(),
            Err(_) => vec![1.0 / self.classes as f32; self.classes],
        };
        let predict = |range: std::ops::Range<usize>| match self.predict(rows, range.clone()) {
            Ok(found) => found.values().to_vec(),
            Err(_) => range.flat_map(alone).collect(),
        };
        blocks.flat_map(predict).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::{Batch, Column, EncoderFit, EncoderOptions};
    use undertone_privacy::vector::stream::PublicStream;
    use undertone_report::{ColumnKind, FeatureColumn};

    fn seen(rows: &Rows) -> Result<Seen, LearnError> {
        Seen::new(rows, Sight::Columns, 3, Limits::default().bytes, &())
    }

    /// Rings around each other, which no line tells apart, and true labels.
    fn rings(people: usize, seed: u128) -> (Examples, Vec<u32>) {
        let mut stream = PublicStream::new(seed, 0);
        let (mut places, mut labels) = (Vec::new(), Vec::new());
        for person in 0..people {
            let label = (person % 3) as u32;
            let mut noise = [0.0; 2];
            stream.fill_normal(&mut noise);
            let angle = stream.next_word() as f64 / 2f64.powi(64) * std::f64::consts::TAU;
            let radius = 1.0 + f64::from(label) + 0.1 * noise[0];
            places.extend([(radius * angle.cos()) as f32, (radius * angle.sin()) as f32]);
            labels.push(label);
        }
        (Examples::certain(Rows::dense(2, places), labels.iter().copied()), labels)
    }

    fn right(probabilities: &[f32], labels: &[u32]) -> f64 {
        let hits = probabilities.chunks_exact(3).zip(labels).filter(|(p, label)| {
            let best = (0..3).max_by(|&a, &b| p[a].total_cmp(&p[b]));
            best == Some(**label as usize)
        });
        hits.count() as f64 / labels.len() as f64
    }

    #[test]
    fn rings_are_told_apart_and_the_model_reads_back_as_itself() {
        let (people, _) = rings(900, 1);
        let seen = seen(&people.rows).unwrap();
        let model = seen.model(&people, 3, &()).unwrap();
        let (others, labels) = rings(300, 2);
        let found = model.probabilities(&others.rows);
        assert!(right(&found, &labels) > 0.97, "{}", right(&found, &labels));
        let text = serde_json::to_string(&model).unwrap();
        let again: Represented = serde_json::from_str(&text).unwrap();
        assert_eq!((again.probabilities(&others.rows), &again), (found, &model));
        assert!(model.check(2, 3).is_ok() && model.check(3, 3).is_err() && model.check(2, 4).is_err());
    }

    #[test]
    fn nobody_who_is_kept_aside_has_a_say() {
        let (mut people, labels) = rings(900, 3);
        let seen = seen(&people.rows).unwrap();
        let aside = |row: usize| row.is_multiple_of(8);
        let before = seen.without(&people, 3, aside).unwrap();
        let judged: Vec<u32> = labels.iter().copied().step_by(8).collect();
        let found = before.probabilities(&people.part(aside).rows);
        assert!(right(&found, &judged) > 0.95, "{}", right(&found, &judged));
        // They say something else, and nothing changes
        let lies =
            labels.iter().enumerate().map(|(row, &label)| if aside(row) { (label + 1) % 3 } else { label });
        people = Examples::certain(people.rows, lies);
        assert_eq!(seen.without(&people, 3, aside).unwrap(), before);
    }

    #[test]
    fn a_row_beyond_all_coordinates_says_nothing_and_takes_nothing_from_its_neighbours() {
        let (people, _) = rings(300, 4);
        let model = seen(&people.rows).unwrap().model(&people, 3, &()).unwrap();
        let mut rows = people.rows.clone();
        rows.push_with(|dense, _| dense.extend([f32::MAX, f32::MAX]));
        let found = model.probabilities(&rows);
        assert_eq!(found[..900], model.probabilities(&people.rows)[..]);
        assert!(found[900..].iter().all(|p| p.is_finite()));
        // A document whose parts do not fit together is refused
        let text = serde_json::to_string(&model).unwrap();
        let broken = text.replacen("\"columns\":3", "\"columns\":2", 1);
        let broken = serde_json::from_str::<Represented>(&broken);
        assert!(broken.is_err() || broken.unwrap().check(2, 3).is_err());
    }

    /// Three classes of people who use their own words more than those of others, beside a number that says nothing.
    fn talkers(people: usize, seed: u128) -> (Examples, Vec<u32>) {
        let mut stream = PublicStream::new(seed, 0);
        let mut below = |n: u32| (stream.next_word() % u64::from(n)) as u32;
        let mut rows = Rows::new(1, 9000);
        let mut labels = Vec::new();
        for person in 0..people {
            let label = (person % 3) as u32;
            let mut words: Vec<u32> =
                (0..6).map(|i| if i < 4 { 3000 * label + below(40) } else { below(9000) }).collect();
            words.sort_unstable();
            words.dedup();
            let noise = below(2);
            rows.push_with(|dense, sparse| {
                dense.push(noise as f32 - 0.5);
                sparse.extend(words.iter().map(|&word| (word, (words.len() as f32).sqrt().recip())));
            });
            labels.push(label);
        }
        (Examples::certain(rows, labels.iter().copied()), labels)
    }

    #[test]
    fn texts_are_told_apart_by_words_of_which_each_has_a_few_of_thousands() {
        let (people, _) = talkers(900, 5);
        let model = seen(&people.rows).unwrap().model(&people, 3, &()).unwrap();
        let (others, labels) = talkers(300, 6);
        let found = model.probabilities(&others.rows);
        assert!(right(&found, &labels) > 0.97, "{}", right(&found, &labels));
        assert!(model.check(9001, 3).is_ok());
        let again: Represented = serde_json::from_str(&serde_json::to_string(&model).unwrap()).unwrap();
        assert_eq!(again.probabilities(&others.rows), found);
    }

    /// Rings, whose places are stretched until a few people are far from all others.
    fn stretched(people: usize, seed: u128) -> (Examples, Vec<u32>) {
        let (people, labels) = rings(people, seed);
        let far = people.rows.iter().flat_map(|row| row.dense.iter().map(|x| (10.0 * x).sinh()));
        (Examples::certain(Rows::dense(2, far.collect()), labels.iter().copied()), labels)
    }

    #[test]
    fn people_crowded_beside_a_few_far_away_are_told_apart_by_rank() {
        let ((people, _), (others, labels)) = (stretched(900, 1), stretched(300, 2));
        let found = [Sight::Columns, Sight::Ranked].map(|sight| {
            let seen = Seen::new(&people.rows, sight, 3, Limits::default().bytes, &()).unwrap();
            let model = seen.model(&people, 3, &()).unwrap();
            let again: Represented = serde_json::from_str(&serde_json::to_string(&model).unwrap()).unwrap();
            let found = model.probabilities(&others.rows);
            assert!(again.probabilities(&others.rows) == found && model.check(2, 3).is_ok());
            right(&found, &labels)
        });
        assert!(found[1] > 0.95 && found[1] > found[0] + 0.02, "{found:?}");
    }

    #[test]
    fn ranks_are_for_numbers_and_for_whom_there_is_room() {
        let (people, _) = rings(400, 1);
        let need = Need::new(&people.rows, Sight::Ranked, 3);
        let ranked = |rows: &Rows, bytes, seconds| {
            Sight::Columns.ranked(rows, 3, (Limits { seconds, bytes, held: 0 }, 2))
        };
        let (enough, bytes) = (need.seconds(2), need.bytes());
        assert_eq!(ranked(&people.rows, bytes, enough), Sight::Ranked);
        assert_eq!(ranked(&people.rows, bytes - 1, enough), Sight::Columns);
        assert_eq!(ranked(&people.rows, bytes, 0.99 * enough), Sight::Columns);
        let beside = Limits { seconds: enough, bytes, held: 1 };
        assert_eq!(Sight::Columns.ranked(&people.rows, 3, (beside, 2)), Sight::Columns);
        let marks = Rows::dense(2, (0..800u16).map(|i| f32::from(i % 3 / 2)).collect());
        let words = talkers(400, 7).0.rows;
        assert!([marks, words].iter().all(|rows| ranked(rows, u64::MAX, f64::INFINITY) == Sight::Columns));
        let limits = (Limits::default(), 1);
        assert_eq!(Sight::Image.ranked(&people.rows, 3, limits), Sight::Image);
    }

    #[test]
    fn what_does_not_fit_into_memory_is_refused_with_the_need_and_is_not_tried() {
        let (people, _) = talkers(400, 7);
        let need = Need::new(&people.rows, Sight::Columns, 3);
        let refused = Seen::new(&people.rows, Sight::Columns, 3, need.bytes() - 1, &());
        assert!(matches!(&refused, Err(LearnError::Memory { people: 400, features: 9001, bytes, .. })
            if *bytes == need.bytes()));
        let within = |seconds: f64, bytes: u64, held: u64| {
            let limits = (Limits { seconds, bytes, held }, 2);
            Seen::within(&people.rows, Sight::Columns, 3, limits, &()).unwrap().err()
        };
        assert!(matches!(within(600.0, need.bytes() - 1, 0), Some(Untried::Impossible(_))));
        assert!(matches!(within(600.0, need.bytes() + 6, 7), Some(Untried::Impossible(_))));
        let seconds = need.looking + 2.0 * need.learning;
        let allowed = 0.99 * seconds;
        assert_eq!(within(allowed, need.bytes(), 0), Some(Untried::TooLong { seconds, left: allowed }));
        assert_eq!(within(seconds, need.bytes() + 7, 7), None);
        let few = Rows::dense(2, vec![1.0; 6]);
        let limits = (Limits::default(), 1);
        let seen = Seen::within(&few, Sight::Columns, 3, limits, &()).unwrap();
        assert!(matches!(seen.err(), Some(Untried::Impossible(_))));
    }

    #[test]
    fn a_need_grows_with_people_features_and_classes_and_images_need_most() {
        let rows = Rows::dense(784, vec![0.5; 784 * 1000]);
        let need = |sight, classes| Need::new(&rows, sight, classes);
        let (columns, image) = (need(Sight::Columns, 10), need(Sight::Image, 10));
        assert!(image.looking > columns.looking && image.bytes() > columns.bytes());
        assert!(need(Sight::Columns, 500).learning > columns.learning);
        // 60,000 people and 4000 landmarks: everybody's nearness to them, squares over these, and what is smaller
        let many = Rows::dense(1, vec![0.5; 60_000]);
        let bytes = Need::new(&many, Sight::Columns, 10).bytes();
        assert!((1_344_000_000..1_800_000_000).contains(&bytes), "{bytes}");
    }

    #[test]
    fn whoever_is_gathered_counts_whatever_is_made_of_them() {
        // The largest step is the kernel, for which it does not matter how many features there are
        let need = |width: usize| Need::new(&Rows::dense(width, vec![0.5; width * 8000]), Sight::Columns, 3);
        assert_eq!(need(5).bytes() - need(1).bytes(), 4 * 4 * 8000);
        assert_eq!(need(1).beside(1000).bytes() - need(1).bytes(), 1000);
    }

    #[test]
    fn what_takes_the_memory_is_named_with_what_helps() {
        let refusal = |rows: &Rows, classes: usize, held: u64| {
            let error = Need::new(rows, Sight::Columns, classes).beside(held).check(rows, 1 << 20);
            error.unwrap_err().to_string()
        };
        let (features, people) = ("(--buckets, --column NAME=skip)", "(privatize --part)");
        let few = |people: usize| Rows::dense(1, vec![0.5; people]);
        for (refusal, largest, helps, is_no_help) in [
            (refusal(&few(8000), 3, 0), "the kernel of 2000 landmarks", people, features),
            (refusal(&few(800), 3, 0), "the graph of who is like whom", people, features),
            (refusal(&few(800), 900, 0), "what is believed of 900 classes", people, features),
            (refusal(&talkers(400, 7).0.rows, 3, 0), "features and the directions", features, people),
        ] {
            assert!(refusal.contains(&format!("MB of memory, most of all for {largest}")), "{refusal}");
            assert!(refusal.contains("1 MB are allowed: allow more (--memory), or take fewer"), "{refusal}");
            assert!(refusal.contains(helps) && !refusal.contains(is_no_help), "{refusal}");
        }
        let gathered = refusal(&few(800), 3, 1 << 30);
        assert!(gathered.contains("for everybody's features and reports"), "{gathered}");
        assert!(gathered.contains(features) && gathered.contains(people), "{gathered}");
    }

    #[test]
    fn one_vector_whose_length_is_a_square_is_an_image_unless_it_cannot_be_one_or_somebody_says_so() {
        let sight = |width: u32, value: f32, said: &str| {
            let column = FeatureColumn { name: "v".into(), kind: ColumnKind::Vector(width) };
            let overrides = said.split_terminator(',').map(|word| word.parse().unwrap()).collect();
            let options = EncoderOptions { overrides, ..EncoderOptions::default() };
            let mut fit = EncoderFit::new(&[column], options).unwrap();
            let values = vec![value; width as usize];
            let columns = vec![Column::Vectors { width: width as usize, values }];
            fit.observe(&Batch { rows: 1, columns }).unwrap();
            Sight::of(&fit.finish().unwrap())
        };
        assert_eq!((sight(784, 7.0, ""), sight(785, 7.0, "")), (Sight::Image, Sight::Columns));
        assert_eq!((sight(784, -7.0, ""), sight(784, 7.0, "v=number")), (Sight::Columns, Sight::Columns));
        assert_eq!((Sight::Image.stages(), Sight::Columns.stages()), (6, 3));
    }
}
