//! What is asked of a whole record once, and never again: one question of a public family.
//!
//! A device makes levels or covariates of its cells by the public encoding of the task, draws its question and answers it with
//! the whole promise. Everything that the noise is made of follows from these words.

use crate::encoding::is_false;
use crate::{
    CategoryWords, EncodingWords, FeatureColumn, NumberWords, ResponseWords, Stretch, Task, TaskError, maps,
};
use serde::{Deserialize, Serialize};
use undertone_privacy::number::Bounds;
use undertone_privacy::statistic::{
    Allocation, Answering, CosineBasis, LossAt, Moment, MomentRelease, ParameterGrid, PointLoss,
    Questionnaire, RecordMoments, Response, Schema, View,
};
use undertone_privacy::survey::{AnsweringKind, NumberAnswering, Survey};
use undertone_privacy::vector::GaussianCopies;
use undertone_privacy::{Epsilon, Guarantee, PrivacyError};

/// A family of questions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SurveyWords {
    /// The cell of one of these tables
    Views(#[serde(deserialize_with = "maps::many")] Vec<ViewWords>),
    /// The cell of a table over so many columns
    Tables(#[serde(deserialize_with = "maps::one")] OrderWords),
    /// The parity of bits of up to so many columns
    Parities(#[serde(deserialize_with = "maps::one")] OrderWords),
    /// A product of up to so many literals
    Terms(#[serde(deserialize_with = "maps::one")] TermWords),
    /// A product of cosines of numbers
    Cosines(#[serde(deserialize_with = "maps::one")] CosineWords),
    /// The loss at a node of a grid of coefficients
    Losses(#[serde(deserialize_with = "maps::one")] LossGridWords),
    /// The first or the second moment of the covariates and the response
    Moments(#[serde(deserialize_with = "maps::one")] MomentWords),
    /// Gaussian copies of the first moment
    Copies(#[serde(deserialize_with = "maps::one")] CopyWords),
}

/// A table over some columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewWords {
    /// The places of its columns, in rising order
    pub columns: Vec<u32>,
    /// How often it is asked for, beside the others
    pub weight: u32,
}

/// How many columns a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrderWords {
    /// k
    pub order: u32,
}

/// Products of literals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TermWords {
    /// The most literals of a product
    pub degree: u32,
    /// k, the columns of the tables that products are put together to
    pub order: u32,
    /// How far the polynomial that puts them together may be off
    pub error: f64,
}

/// Products of cosines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CosineWords {
    /// t, the cosines of each column
    pub degrees: u32,
    /// How often each product is asked for, beside the others; all alike if it is not there
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<u32>>,
}

/// A grid of coefficients, and a loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossGridWords {
    /// `logistic`, `hinge`, `smooth-hinge` or `squared`
    pub loss: GridLoss,
    /// k, the steps of each coefficient
    pub degree: u32,
    /// Coefficients lie within ± this
    pub bound: f64,
    /// Covariates are no longer than this
    pub radius: f64,
    /// y of a number, by public constants
    #[serde(default, deserialize_with = "maps::optional", skip_serializing_if = "Option::is_none")]
    pub response: Option<ResponseWords>,
}

/// A loss that is asked for at the nodes of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GridLoss {
    /// ln(1 + e^-m)
    Logistic,
    /// (1/2 - m)₊
    Hinge,
    /// The hinge, smoothed by a quarter
    SmoothHinge,
    /// (⟨w, x⟩ - y)², |y| ≤ 1
    Squared,
}

/// Moments.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MomentWords {
    /// Covariates are divided by it, and scaled back if they are longer
    pub radius: f64,
    /// The share of people who tell the second moment
    pub share: f64,
    /// y of a number, by public constants; without it the label is one of two classes
    #[serde(default, deserialize_with = "maps::optional", skip_serializing_if = "Option::is_none")]
    pub response: Option<ResponseWords>,
}

/// Copies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CopyWords {
    /// Covariates are divided by it, and scaled back if they are longer
    pub radius: f64,
    /// The copies for the factors of a product, beside the outer one
    pub inner: u32,
    /// Whether they are used level by level, one each; else every term of a polynomial has copies of its own
    #[serde(default, skip_serializing_if = "is_false")]
    pub blossom: bool,
}

/// β of the smoothed hinge.
const BETA: f64 = 0.25;

impl From<GridLoss> for PointLoss {
    fn from(loss: GridLoss) -> Self {
        match loss {
            GridLoss::Logistic => Self::Logistic,
            GridLoss::Hinge => Self::Hinge,
            GridLoss::SmoothHinge => Self::SmoothHinge { beta: BETA },
            GridLoss::Squared => Self::Squared { largest: 1.0 },
        }
    }
}

impl SurveyWords {
    /// What the covariates are divided by, where there are any.
    pub fn radius(&self) -> Option<f64> {
        match self {
            Self::Moments(words) => Some(words.radius),
            Self::Copies(words) => Some(words.radius),
            Self::Losses(_) => Some(1.0),
            _ => None,
        }
    }

    /// How a response that is a number becomes one of the order of one.
    pub fn response(&self) -> Option<ResponseWords> {
        match self {
            Self::Moments(words) => words.response,
            Self::Losses(words) => words.response,
            _ => None,
        }
    }

    /// Whether it is about categories alone.
    pub fn is_of_categories(&self) -> bool {
        matches!(self, Self::Views(_) | Self::Tables(_) | Self::Parities(_) | Self::Terms(_))
    }

    /// Whether a column is explained by the others.
    pub fn explains(&self) -> bool {
        matches!(self, Self::Losses(_) | Self::Moments(_) | Self::Copies(_))
    }
}

impl Task {
    /// Whether everybody is asked one question about the whole record, once.
    pub fn asks_once(&self) -> bool {
        self.survey.is_some()
    }

    /// Whether the columns are as private as the label, and never in a report.
    pub fn keeps_columns_private(&self) -> bool {
        self.asks_for_records() || self.asks_once()
    }

    /// The columns that come with each report as they are.
    pub fn public_columns(&self) -> &[FeatureColumn] {
        if self.keeps_columns_private() { &[] } else { &self.features }
    }

    /// Where a label that is a number lies, asked for by itself or explained by a survey: |y - mean|·scale ≤ 1 there.
    pub fn explained_number(&self) -> Option<NumberWords> {
        let response = self.survey.as_ref().and_then(SurveyWords::response);
        let reach = |words: ResponseWords| 1.0 / words.scale.abs();
        let bounds = response
            .map(|words| NumberWords { low: words.mean - reach(words), high: words.mean + reach(words) });
        self.number.or(bounds)
    }

    /// What people who have chosen this level are asked.
    pub fn survey_at(&self, level: f64) -> Result<Survey, TaskError> {
        let words = self.survey.as_ref().ok_or(TaskError::NotSurvey)?;
        match words {
            SurveyWords::Copies(words) => return self.copies(words, level),
            SurveyWords::Moments(words) => return self.moments(words, self.pure(level)?),
            _ => {}
        }
        let epsilon = self.pure(level)?;
        Ok(match words {
            SurveyWords::Views(views) => {
                let view = |words: &ViewWords| View {
                    attributes: words.columns.iter().map(|&column| column as usize).collect(),
                    weight: words.weight,
                };
                self.answered_best()?;
                let views = views.iter().map(view).collect();
                Survey::Categories(Questionnaire::views(self.schema()?, epsilon, views)?)
            }
            SurveyWords::Tables(OrderWords { order }) => Survey::Categories(Questionnaire::tables(
                self.schema()?,
                epsilon,
                *order as usize,
                self.answering()?,
            )?),
            SurveyWords::Parities(OrderWords { order }) => {
                self.answered_best()?;
                Survey::Categories(Questionnaire::parities(self.schema()?, epsilon, *order as usize)?)
            }
            SurveyWords::Terms(TermWords { degree, .. }) => {
                self.answered_best()?;
                Survey::Categories(Questionnaire::terms(self.schema()?, epsilon, *degree as usize)?)
            }
            SurveyWords::Cosines(words) => self.cosines(words, epsilon)?,
            SurveyWords::Losses(words) => self.losses(words, epsilon)?,
            // Both are above.
            SurveyWords::Moments(_) | SurveyWords::Copies(_) => return Err(TaskError::NotSurvey),
        })
    }

    /// The levels of each column that is a category.
    pub fn schema(&self) -> Result<Schema, TaskError> {
        let levels = |(place, words): (usize, &EncodingWords)| match words {
            EncodingWords::Category(CategoryWords::Values { values, other, missing }) => {
                Ok((values.len() + usize::from(*other) + usize::from(*missing)) as u32)
            }
            _ => Err(self.wrong_column(place, "is no category with values")),
        };
        let levels = self.encodings().iter().enumerate().map(levels).collect::<Result<_, TaskError>>()?;
        Ok(Schema::new(levels)?)
    }

    /// Where each column that is a number lies.
    pub fn column_bounds(&self) -> Result<Vec<Bounds>, TaskError> {
        let bounds = |(place, words): (usize, &EncodingWords)| match words {
            EncodingWords::Number(Stretch::Range { low, high, missing: false }) => {
                Ok(Bounds::new(*low, *high)?)
            }
            _ => Err(self.wrong_column(place, "is no number with low and high")),
        };
        self.encodings().iter().enumerate().map(bounds).collect()
    }

    fn encodings(&self) -> &[EncodingWords] {
        self.collection.as_ref().map(|collection| &collection.encoding[..]).unwrap_or_default()
    }

    fn wrong_column(&self, place: usize, problem: &str) -> TaskError {
        let name = self.features.get(place).map_or("?", |column| &column.name);
        TaskError::Survey { field: "encoding", problem: format!("of the column `{name}` {problem}") }
    }

    /// The promise of everything but copies.
    fn pure(&self, level: f64) -> Result<Epsilon, TaskError> {
        match self.promise_at(level)? {
            Guarantee::Pure(epsilon) => Ok(epsilon),
            _ => Err(TaskError::Survey {
                field: "mechanism",
                problem: "promises ε, and neither δ nor μ".into(),
            }),
        }
    }

    fn unknown<const N: usize>(&self, known: [&str; N]) -> TaskError {
        TaskError::UnknownMechanism { kind: self.mechanism.kind.clone(), known: known.join(", ") }
    }

    fn answering(&self) -> Result<Answering, TaskError> {
        match self.mechanism.kind.as_str() {
            "best" => Ok(Answering::Best),
            "published" => Ok(Answering::Published),
            _ => Err(self.unknown(["best", "published"])),
        }
    }

    fn answered_best(&self) -> Result<(), TaskError> {
        if self.mechanism.kind == "best" { Ok(()) } else { Err(self.unknown(["best"])) }
    }

    fn number_answering(&self, bounds: Bounds, epsilon: Epsilon) -> Result<NumberAnswering, TaskError> {
        let kind = self.mechanism.kind.parse();
        let kind: AnsweringKind =
            kind.map_err(|_: PrivacyError| self.unknown(AnsweringKind::ALL.map(AnsweringKind::name)))?;
        Ok(NumberAnswering::new(kind, bounds, epsilon)?)
    }

    fn cosines(&self, words: &CosineWords, epsilon: Epsilon) -> Result<Survey, TaskError> {
        let basis = CosineBasis::new(&self.column_bounds()?, words.degrees)?;
        let functions = basis.functions() as usize;
        let allocation = match &words.weights {
            Some(weights) if weights.len() != functions => {
                let problem = format!("has {} weights for {functions} products", weights.len());
                return Err(TaskError::Survey { field: "survey", problem });
            }
            Some(weights) => Allocation::new(weights)?,
            None => Allocation::new(&vec![1; functions])?,
        };
        let answering = self.number_answering(Bounds::new(-1.0, 1.0)?, epsilon)?;
        Ok(Survey::Cosines { basis, allocation, answering })
    }

    fn losses(&self, words: &LossGridWords, epsilon: Epsilon) -> Result<Survey, TaskError> {
        let loss = PointLoss::from(words.loss);
        self.check_response(words.response, !loss.takes_labels())?;
        let axes = self.covariates()?;
        let grid = ParameterGrid::new(&vec![-words.bound; axes], &vec![words.bound; axes], words.degree)?;
        let answering = self.number_answering(Bounds::new(0.0, 1.0)?, epsilon)?;
        let at = LossAt::new(loss, grid, words.radius)?;
        Ok(Survey::Losses { allocation: at.allocation()?, at, answering })
    }

    fn moments(&self, words: &MomentWords, epsilon: Epsilon) -> Result<Survey, TaskError> {
        if self.mechanism.kind != "codebook" {
            return Err(self.unknown(["codebook"]));
        }
        let moments = self.record_moments(words.radius, words.response)?;
        Ok(Survey::Moments(MomentRelease::new(moments, epsilon, words.share)?))
    }

    fn copies(&self, words: &CopyWords, level: f64) -> Result<Survey, TaskError> {
        let moments = self.record_moments(words.radius, None)?;
        let (ball, inner) = (moments.ball(Moment::First)?, words.inner as usize);
        let copies = match (self.mechanism.kind.as_str(), self.promise_at(level)?) {
            ("gdp", Guarantee::Gaussian(mu)) => GaussianCopies::gdp(ball, inner, mu)?,
            ("gaussian", Guarantee::Approximate(epsilon, delta)) => {
                GaussianCopies::analytic(ball, inner, epsilon, delta)?
            }
            _ => {
                return Err(
                    self.unknown(["gdp, which promises mu", "gaussian, which promises epsilon and delta"])
                );
            }
        };
        Ok(Survey::Copies { moments, copies })
    }

    fn record_moments(
        &self,
        radius: f64,
        response: Option<ResponseWords>,
    ) -> Result<RecordMoments, TaskError> {
        if !(radius > 0.0 && radius.is_finite()) {
            let problem = format!("has the radius {radius}, which has to be positive and finite");
            return Err(TaskError::Survey { field: "survey", problem });
        }
        self.check_response(response, response.is_some())?;
        let kind = if response.is_some() { Response::Number } else { Response::Sign };
        Ok(RecordMoments::new(self.covariates()?, kind)?)
    }

    /// A number has constants and no classes, a label two classes and no constants.
    fn check_response(&self, response: Option<ResponseWords>, is_number: bool) -> Result<(), TaskError> {
        let problem = |problem: String| Err(TaskError::Survey { field: "survey", problem });
        match response {
            Some(ResponseWords { mean, scale })
                if !(mean.is_finite() && scale.is_finite() && scale != 0.0) =>
            {
                problem(format!("has a response of mean {mean} and scale {scale}"))
            }
            _ if response.is_some() != is_number => {
                problem("needs the constants of a response for a number, and for no label".into())
            }
            _ if is_number && !self.classes.is_empty() => {
                problem("explains a number, which has no classes".into())
            }
            _ if !is_number && self.classes.len() != 2 => {
                problem(format!("explains a label with {} classes, not two", self.classes.len()))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn check_survey(&self, level: f64) -> Result<(), TaskError> {
        let Some(words) = &self.survey else { return Ok(()) };
        let problem = |field, problem: &str| Err(TaskError::Survey { field, problem: problem.into() });
        let mechanism = &self.mechanism;
        if self.asks_for_records() || self.asks_for_numbers() {
            return problem("survey", "is there, and another question beside it");
        }
        if mechanism.set_size.is_some() || mechanism.top.is_some() || mechanism.prior.is_some() {
            return problem("mechanism", "has parameters of a label mechanism");
        }
        if self.collection.is_none() {
            return problem("collection", "is missing: its encoding says what a record is");
        }
        let nothing = self.label.is_empty() && self.classes.is_empty();
        if !(words.explains() || nothing) {
            return problem(
                "label",
                "is there, but nothing is explained: it has to be empty, and without classes",
            );
        }
        self.survey_at(level).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::survey_tasks;
    use crate::{Report, ReportError, ReportFormat, ReportId};
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;
    use undertone_privacy::Randomizer;
    use undertone_privacy::survey::{SurveyRecord, SurveyReport};

    #[test]
    fn every_survey_reads_back_as_itself_from_json_and_toml() {
        for task in survey_tasks() {
            assert_eq!(Task::from_json(&task.to_json()).unwrap(), task);
            assert_eq!(Task::from_toml(&task.to_toml()).unwrap(), task, "{}", task.to_toml());
            assert!(task.mechanism().is_err() && task.keeps_columns_private() && task.secret() == "record");
        }
    }

    #[test]
    fn answers_read_back_as_themselves_and_nothing_else_does() {
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        for task in survey_tasks() {
            let format = ReportFormat::new(&task).unwrap();
            let survey = task.survey_at(task.mechanism.level()).unwrap();
            let record = SurveyRecord { levels: vec![1, 0], x: vec![0.5; 3], y: 1.0 };
            let record = SurveyRecord { x: vec![0.5; axes(&survey)], ..record };
            for _ in 0..20 {
                let said = survey.randomize(&record, &mut rng).unwrap();
                let report = Report {
                    id: ReportId(*b"0123456789abcdef"),
                    time: 500_001,
                    survey: Some(said.clone()),
                    ..Report::default()
                };
                let bytes = format.encode(&report).unwrap();
                assert_eq!(format.decode(&bytes).unwrap(), report);
                assert_eq!(format.from_json(format.to_json(&report).unwrap()).unwrap(), report);
                let longer = [&bytes[..], &[0]].concat();
                assert_eq!(format.decode(&longer), Err(ReportError::TrailingBytes { extra: 1 }));
                assert!(format.decode(&bytes[..bytes.len() - 1]).is_err());
                let questions = survey.questions();
                let unknown =
                    Report { survey: Some(SurveyReport { question: questions, ..said }), ..report.clone() };
                assert_eq!(
                    format.encode(&unknown),
                    Err(ReportError::UnknownQuestion { question: questions, questions })
                );
                let both = Report { number: Some(1), ..report };
                assert!(matches!(format.encode(&both), Err(ReportError::WrongAnswer { .. })));
            }
        }
    }

    fn axes(survey: &Survey) -> usize {
        match survey {
            Survey::Cosines { basis, .. } => basis.axes(),
            Survey::Losses { at, .. } => at.grid().axes(),
            Survey::Moments(release) => release.moments().covariates(),
            Survey::Copies { moments, .. } => moments.covariates(),
            Survey::Categories(_) => 0,
        }
    }

    #[test]
    fn what_does_not_go_together_is_refused_by_name() {
        let refused = |place: usize, change: fn(&mut Task)| {
            let mut task = survey_tasks().swap_remove(place);
            change(&mut task);
            Task::from_json(&task.to_json()).unwrap_err().to_string()
        };
        // In the order of `survey_tasks`: views, tables, parities, terms, cosines, losses, moments, copies
        assert!(refused(0, |task| task.mechanism.kind = "rr".into()).contains("`rr`"));
        assert!(refused(0, |task| task.label = "income".into()).contains("nothing is explained"));
        assert!(
            refused(1, |task| task.survey = Some(SurveyWords::Tables(OrderWords { order: 3 }))).contains('3')
        );
        assert!(refused(1, |task| task.mechanism.set_size = Some(2)).contains("label mechanism"));
        assert!(refused(1, |task| task.collection = None).contains("collection"));
        assert!(refused(4, |task| task.mechanism.kind = "magic".into()).contains("one-bit"));
        let weights = Some(SurveyWords::Cosines(CosineWords { degrees: 3, weights: Some(vec![1]) }));
        let mut cosines = survey_tasks().swap_remove(4);
        cosines.survey = weights;
        assert!(cosines.check().unwrap_err().to_string().contains("1 weights for 8"));
        assert!(refused(5, |task| task.classes.push("third".into())).contains("3 classes"));
        assert!(refused(6, |task| task.mechanism.kind = "gdp".into()).contains("codebook"));
        assert!(
            refused(6, |task| {
                let words = MomentWords { radius: 0.0, share: 0.3, response: None };
                task.survey = Some(SurveyWords::Moments(words));
            })
            .contains("radius 0")
        );
        assert!(refused(7, |task| task.mechanism.mu = None).contains("epsilon"));
    }
}
