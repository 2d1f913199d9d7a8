//! Models on what public features tell by themselves: who is like whom, and smooth functions of where somebody is
//! ([`undertone_represent`]).
//!
//! Features are public, so that everybody's are looked at, also those of people whose reports only judge: a representation is made once,
//! and learnt from as often as there are reports.

use crate::features::Rows;
use crate::labels::LabelVectors;
use crate::{Classifier, Examples, LearnError};
use serde::{Deserialize, Serialize};
use undertone_report::{ColumnKind, FeatureColumn};
use undertone_represent::{
    Coordinates, Effort, Kind, Learnt, Matrix, Recipe, RepresentError, Representation, Sizes, Told,
};

/// The most features of which coordinates are made.
const WIDEST: usize = 4096;
/// The least and the greatest side of an image.
const SIDES: std::ops::RangeInclusive<usize> = 8..=64;
/// One in so many people is a landmark, and no more than this; patches, of which there are many coordinates, take more.
const PEOPLE_PER_LANDMARK: usize = 4;
const MOST_LANDMARKS: usize = 4000;
const MOST_LANDMARKS_OF_PATCHES: usize = 6000;
/// Rows that are predicted together.
const TOGETHER: usize = 4096;
/// Multiplications a second that a core is thought to do, so that a plan is the same on every machine.
const RATE: f64 = 2e10;

/// What suits the columns: strokes and patches where there is one vector whose length is a square, which is taken for an image, or
/// columns as they are.
fn kinds(columns: &[FeatureColumn]) -> &'static [Kind] {
    match columns {
        [FeatureColumn { kind: ColumnKind::Vector(width), .. }] if is_image(*width as usize) => {
            &[Kind::Strokes, Kind::Patches]
        }
        _ => &[Kind::Columns],
    }
}

fn is_image(width: usize) -> bool {
    SIDES.contains(&width.isqrt()) && width.isqrt().pow(2) == width
}

fn sizes(kind: Kind, people: usize) -> Sizes {
    let (graph_coordinates, kernel_coordinates, most) = match kind {
        Kind::Patches => (200, 600, MOST_LANDMARKS_OF_PATCHES),
        Kind::Columns | Kind::Strokes => (100, 200, MOST_LANDMARKS),
    };
    let landmarks = (people / PEOPLE_PER_LANDMARK).clamp(1, most);
    Sizes { graph_coordinates, kernel_coordinates, landmarks, ..Sizes::default() }
}

/// About how long it takes to see so many people in these columns, in seconds on one core.
fn seconds(people: usize, columns: &[FeatureColumn]) -> f64 {
    kinds(columns).iter().map(|&kind| sizes(kind, people).operations(people) / RATE).sum()
}

/// People as their public features show them.
pub struct Seen {
    maps: Vec<Coordinates>,
    representations: Vec<Representation>,
    features: usize,
}

impl Seen {
    /// Of these rows of these columns.
    pub fn new(rows: &Rows, columns: &[FeatureColumn]) -> Result<Self, LearnError> {
        let dense = dense(rows, 0..rows.len())?;
        let (mut maps, mut representations) = (Vec::new(), Vec::new());
        for &kind in kinds(columns) {
            let sizes = sizes(kind, rows.len());
            let count = sizes.graph_coordinates.max(sizes.kernel_coordinates);
            let (map, coordinates) = Coordinates::fit(kind, &dense, count)?;
            representations.push(Representation::new(&coordinates, sizes)?);
            maps.push(map);
        }
        Ok(Self { maps, representations, features: rows.width() })
    }

    /// The same if it takes no longer than so many seconds on one core, and if there is anything to see: rows that are not too wide, people
    /// who are not all alike, not too few, and not more than memory holds.
    pub fn within(rows: &Rows, columns: &[FeatureColumn], longest: f64) -> Result<Option<Self>, LearnError> {
        if seconds(rows.len(), columns) > longest || rows.width() > WIDEST {
            return Ok(None);
        }
        match Self::new(rows, columns) {
            Err(LearnError::Represent(
                RepresentError::Constant { .. }
                | RepresentError::TooFew { .. }
                | RepresentError::Memory { .. },
            )) => Ok(None),
            seen => seen.map(Some),
        }
    }

    /// What is believed of everybody, and how it goes on to others, without the reports of those who are kept `aside`.
    fn learn(
        &self,
        people: &Examples,
        classes: usize,
        effort: Effort,
        aside: impl Fn(usize) -> bool,
    ) -> Result<Learnt, LearnError> {
        // Even chances are what nobody's report says
        let unbiased = matrix(&people.unbiased, classes, &aside, 1.0 / classes as f32)?;
        let likelihood = matrix(&people.likelihood, classes, &aside, 1.0)?;
        let recipe = Recipe::new(&self.representations.iter().collect::<Vec<_>>())?;
        Ok(recipe.learn(Told { unbiased: &unbiased, likelihood: &likelihood }, effort)?)
    }

    /// The K probabilities of each person who is kept aside, learnt from the others' reports. They are beliefs about people whose features
    /// were seen with the others', by smoothing alone; [`Represented`] predicts people whom nobody saw before, and takes the time for the
    /// last step: it does about as well, or a little better.
    pub fn without(
        &self,
        people: &Examples,
        classes: usize,
        aside: impl Fn(usize) -> bool,
    ) -> Result<Vec<f32>, LearnError> {
        let learnt = self.learn(people, classes, Effort::Quick, &aside)?;
        let rows = (0..people.len()).filter(|&row| aside(row));
        Ok(rows.flat_map(|row| learnt.beliefs().row(row).to_vec()).collect())
    }

    /// What everybody's reports tell.
    pub fn model(&self, people: &Examples, classes: usize) -> Result<Represented, LearnError> {
        let learnt = self.learn(people, classes, Effort::Thorough, |_| false)?;
        Ok(Represented { features: self.features, classes, maps: self.maps.clone(), learnt })
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
        let dense = dense(rows, range)?;
        let places = self.maps.iter().map(|map| map.project(&dense)).collect::<Result<Vec<_>, _>>()?;
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

/// Some rows in full.
fn dense(rows: &Rows, range: std::ops::Range<usize>) -> Result<Matrix, LearnError> {
    if rows.width() > WIDEST {
        return Err(LearnError::Parameter {
            what: "the number of features",
            value: rows.width() as f64,
            expected: "at most 4096 for a representation; fewer --buckets make fewer",
        });
    }
    let mut all = Matrix::zeros(range.len(), rows.width());
    for (place, row) in range.enumerate() {
        let row = rows.get(row);
        let into = all.row_mut(place);
        into[..row.dense.len()].copy_from_slice(row.dense);
        row.sparse.iter().for_each(|&(feature, x)| into[row.dense.len() + feature as usize] = x);
    }
    Ok(all)
}

/// Vectors over the classes in full, with `silence` in the place of those who are kept aside.
fn matrix(
    vectors: &LabelVectors,
    classes: usize,
    aside: impl Fn(usize) -> bool,
    silence: f32,
) -> Result<Matrix, LearnError> {
    let mut all = Matrix::zeros(vectors.len(), classes);
    for (row, vector) in vectors.iter().enumerate() {
        let into = all.row_mut(row);
        if aside(row) {
            into.fill(silence);
            continue;
        }
        into.fill(vector.base);
        for &(class, value) in vector.entries {
            let found = class as usize + 1;
            *into.get_mut(class as usize).ok_or(LearnError::Columns { found, expected: classes })? = value;
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use undertone_privacy::vector::stream::PublicStream;

    fn columns() -> Vec<FeatureColumn> {
        let number = |name: &str| FeatureColumn { name: name.into(), kind: ColumnKind::Number };
        vec![number("a"), number("b")]
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
        let seen = Seen::new(&people.rows, &columns()).unwrap();
        let model = seen.model(&people, 3).unwrap();
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
        let seen = Seen::new(&people.rows, &columns()).unwrap();
        let aside = |row: usize| row.is_multiple_of(8);
        let before = seen.without(&people, 3, aside).unwrap();
        let judged: Vec<u32> = labels.iter().copied().step_by(8).collect();
        assert!(right(&before, &judged) > 0.95, "{}", right(&before, &judged));
        // They say something else, and nothing changes
        let lies =
            labels.iter().enumerate().map(|(row, &label)| if aside(row) { (label + 1) % 3 } else { label });
        people = Examples::certain(people.rows, lies);
        assert_eq!(seen.without(&people, 3, aside).unwrap(), before);
    }

    #[test]
    fn images_are_seen_twice_and_too_many_features_are_refused() {
        let image = |width| vec![FeatureColumn { name: "image".into(), kind: ColumnKind::Vector(width) }];
        assert_eq!(kinds(&image(784)), [Kind::Strokes, Kind::Patches]);
        assert_eq!((kinds(&image(785)), kinds(&columns())), (&[Kind::Columns][..], &[Kind::Columns][..]));
        assert!(seconds(60_000, &image(784)) > seconds(60_000, &columns()));
        let few = Rows::dense(2, vec![1.0; 6]);
        assert!(Seen::within(&few, &columns(), 600.0).unwrap().is_none());
        assert!(matches!(Seen::new(&few, &columns()), Err(LearnError::Represent(_))));
        let (people, _) = rings(300, 4);
        let model = Seen::new(&people.rows, &columns()).unwrap().model(&people, 3).unwrap();
        // A row beyond all coordinates says nothing, and takes nothing from its neighbours
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
        let wide = Seen::new(&Rows::new(WIDEST, 1), &columns());
        assert!(matches!(wide, Err(LearnError::Parameter { value, .. }) if value > 4096.0));
    }
}
