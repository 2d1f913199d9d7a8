//! A model as a document: what was asked, how public columns become features, and what was learnt.
//!
//! It is JSON, which people can read and other programs load; what is loaded predicts the same to the last bit.

use crate::factors::Factors;
use crate::features::{Encoder, Rows};
use crate::linear::LinearModel;
use crate::networks::NetModel;
use crate::nonparametric::{Coverage, NonparametricModel, Output, TrustModel};
use crate::one_round::Expected;
use crate::regression::LinearNumber;
use crate::represented::Represented;
use crate::stages::Trust;
use crate::{Classifier, LearnError, Mixture, Regressor};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use undertone_report::{NumberWords, Task};

/// The version of the document that this program writes and reads.
pub const MODEL_VERSION: u32 = 1;
const FORMAT: &str = "undertone-model";

/// Everything that is needed to predict, and to say under which promise it was learnt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    format: String,
    version: u32,
    /// The column that is predicted
    pub label: String,
    /// Its values, in the order of the labels; none if it is a number
    pub classes: Vec<String>,
    /// Where it lies, if it is a number
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<NumberWords>,
    /// The tasks whose reports it was learnt from; none if the labels were not private
    pub tasks: Vec<Task>,
    /// How it was learnt, for whoever reads it
    pub training: Training,
    /// How public columns become features
    pub encoder: Encoder,
    /// What was learnt
    pub predictor: Predictor,
    /// Sets or intervals that hold the truth as often as promised
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
}

/// What was learnt. A new sort of model is one line here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Predictor {
    /// Scores that are linear in the features
    Linear(LinearModel),
    /// Averages over cells or neighbours
    Nonparametric(NonparametricModel),
    /// What public features tell, and the reports of it
    Represented(Box<Represented>),
    /// A network
    Network(Box<NetModel>),
    /// Several of these together
    Mixture(Mixture),
    /// A number
    Number(NumberPredictor),
}

/// What was learnt about a number. A new sort of model is one line here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NumberPredictor {
    /// Linear in the features
    Linear(LinearNumber),
    /// Averages over cells or neighbours
    Nonparametric(NonparametricModel),
    /// A line and what pairs add
    Factors(Factors),
}

/// How a model was learnt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Training {
    /// The number of reports
    pub reports: u64,
    /// The name of the method
    pub method: String,
    /// λ, where there is one
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l2: Option<f64>,
    /// Of the order of the rows
    pub seed: u64,
    /// Whether any report was drawn from a seed, hence without privacy
    #[serde(default, skip_serializing_if = "is_false")]
    pub simulation: bool,
    /// The parts of a table, as I/N, whose people were asked; none where it was not cut
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
    /// What is expected of a model that was made of the answers to a survey
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expected>,
    /// What a curator promises who has seen true labels, and has released this model of them
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curator: Option<Curator>,
}

/// The promise of a curator.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curator {
    /// Whether labels or whole records are private
    pub trust: TrustModel,
    /// ε
    pub epsilon: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Model {
    /// A model of what `tasks` asked about.
    pub fn new(
        (label, classes): (String, Vec<String>),
        tasks: Vec<Task>,
        encoder: Encoder,
        predictor: Predictor,
        training: Training,
    ) -> Self {
        Self {
            format: FORMAT.into(),
            version: MODEL_VERSION,
            label,
            classes,
            number: None,
            tasks,
            training,
            encoder,
            predictor,
            coverage: None,
        }
    }

    /// A model of a number that lies within these bounds.
    pub fn of_number(
        (label, number): (String, NumberWords),
        tasks: Vec<Task>,
        encoder: Encoder,
        predictor: NumberPredictor,
        training: Training,
    ) -> Self {
        let model = Self::new((label, Vec::new()), tasks, encoder, Predictor::Number(predictor), training);
        Self { number: Some(number), ..model }
    }

    /// The same with sets or intervals, if there are any.
    #[must_use]
    pub fn covering(self, coverage: Option<Coverage>) -> Self {
        Self { coverage, ..self }
    }

    /// The number of each row, within the bounds; none for a model of classes.
    pub fn numbers(&self, rows: &Rows) -> Vec<f64> {
        match (&self.predictor, self.number) {
            (Predictor::Number(predictor), Some(NumberWords { low, high })) => {
                predictor.predict(rows).into_iter().map(|number| number.clamp(low, high)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Reads a document and checks that its parts fit together.
    pub fn from_json(text: &str) -> Result<Self, LearnError> {
        /// What every version has
        #[derive(Deserialize)]
        struct Head {
            format: String,
            version: u32,
        }
        let malformed = |error: serde_json::Error| LearnError::Model { problem: error.to_string() };
        let head: Head = serde_json::from_str(text).map_err(malformed)?;
        if head.format != FORMAT || head.version != MODEL_VERSION {
            let problem = format!(
                "it is `{}` of version {}, this program reads `{FORMAT}` of version {MODEL_VERSION}",
                head.format, head.version
            );
            return Err(LearnError::Model { problem });
        }
        let model: Self = serde_json::from_str(text).map_err(malformed)?;
        model.check()?;
        Ok(model)
    }

    /// The document.
    pub fn to_json(&self) -> Result<String, LearnError> {
        serde_json::to_string(self).map_err(|error| LearnError::Model { problem: error.to_string() })
    }

    fn check(&self) -> Result<(), LearnError> {
        self.tasks.iter().try_for_each(Task::check)?;
        if let Some(task) = self.tasks.iter().find(|task| {
            task.classes != self.classes || task.label != self.label || task.explained_number() != self.number
        }) {
            let problem = format!("its task asks for `{}`, the model predicts `{}`", task.label, self.label);
            return Err(LearnError::Model { problem });
        }
        let mut seen = HashSet::new();
        if let Some(class) = self.classes.iter().find(|class| !seen.insert(*class)) {
            return Err(LearnError::Model { problem: format!("its class `{class}` occurs twice") });
        }
        if let Some(coverage) = self.coverage {
            coverage.check(self.number.is_some())?;
        }
        self.check_curator()?;
        match (&self.predictor, self.number) {
            (Predictor::Mixture(mixture), None) => mixture.check(|member| self.check_predictor(member)),
            (predictor, _) => self.check_predictor(predictor),
        }
    }

    /// Whether what was learnt is about what is predicted, and from what the columns have.
    fn check_predictor(&self, predictor: &Predictor) -> Result<(), LearnError> {
        let weights = match (predictor, self.number) {
            (Predictor::Linear(LinearModel { weights, scale_back, .. }), None) => {
                scale_back.map_or(Ok(()), |back| back.check())?;
                weights
            }
            (Predictor::Number(NumberPredictor::Linear(line)), Some(number)) => {
                number.bounds()?;
                return line.check(self.encoder.width());
            }
            (Predictor::Number(NumberPredictor::Factors(model)), Some(number)) => {
                number.bounds()?;
                return model.check(&self.encoder.rows());
            }
            (Predictor::Number(NumberPredictor::Nonparametric(model)), Some(number)) => {
                number.bounds()?;
                return self.check_averages(model, Output::Number { low: number.low, high: number.high });
            }
            (Predictor::Represented(model), None) => {
                return model.check(self.encoder.width(), self.classes.len());
            }
            (Predictor::Network(model), None) => {
                return model.check(self.encoder.width(), self.classes.len());
            }
            (Predictor::Nonparametric(model), None) => {
                return self.check_averages(model, Output::Classes(self.classes.len()));
            }
            (Predictor::Mixture(_), None) => {
                let problem = "a member of its mixture is a mixture";
                return Err(LearnError::Model { problem: problem.into() });
            }
            _ => {
                let problem =
                    "it has bounds if and only if it predicts a number, which this one does not hold to";
                return Err(LearnError::Model { problem: problem.into() });
            }
        };
        let (features, classes) = (self.encoder.width(), self.classes.len());
        if weights.features() != features || weights.classes() != classes {
            let problem = format!(
                "its weights are for {} features and {} classes, its columns give {features} and {classes}",
                weights.features(),
                weights.classes()
            );
            return Err(LearnError::Model { problem });
        }
        Ok(())
    }

    /// A curator says of a model what the model says of itself.
    fn check_curator(&self) -> Result<(), LearnError> {
        let Some(Curator { trust, epsilon }) = self.training.curator else { return Ok(()) };
        undertone_privacy::Epsilon::new(epsilon)?;
        let own = match &self.predictor {
            Predictor::Nonparametric(model) | Predictor::Number(NumberPredictor::Nonparametric(model)) => {
                Some(model.trust())
            }
            Predictor::Linear(_)
            | Predictor::Represented(_)
            | Predictor::Network(_)
            | Predictor::Mixture(_)
            | Predictor::Number(NumberPredictor::Linear(_) | NumberPredictor::Factors(_)) => None,
        };
        if own == Some(trust) && self.tasks.is_empty() {
            return Ok(());
        }
        let problem = format!("a curator promises {}, which is not how it was learnt", trust.name());
        Err(LearnError::Model { problem })
    }

    /// Whether averages are of what is predicted, and over features that the columns have.
    fn check_averages(&self, model: &NonparametricModel, output: Output) -> Result<(), LearnError> {
        if model.output() != output {
            let problem = format!("its averages are {:?}, it predicts {output:?}", model.output());
            return Err(LearnError::Model { problem });
        }
        if !self.tasks.is_empty() {
            model.trust().check(Trust::Local, "a model that a curator has made")?;
        }
        // Nobody's prediction is made, but the columns are looked at.
        model.predict(&self.encoder.rows()).map(|_| ())
    }
}

impl Classifier for Predictor {
    fn classes(&self) -> usize {
        match self {
            Self::Linear(model) => model.classes(),
            Self::Nonparametric(model) => model.classes(),
            Self::Represented(model) => model.classes(),
            Self::Network(model) => model.classes(),
            Self::Mixture(model) => model.classes(),
            Self::Number(_) => 0,
        }
    }

    fn probabilities(&self, rows: &Rows) -> Vec<f32> {
        match self {
            Self::Linear(model) => model.probabilities(rows),
            Self::Nonparametric(model) => model.probabilities(rows),
            Self::Represented(model) => model.probabilities(rows),
            Self::Network(model) => model.probabilities(rows),
            Self::Mixture(model) => model.probabilities(rows),
            Self::Number(_) => Vec::new(),
        }
    }
}

impl Regressor for NumberPredictor {
    fn predict(&self, rows: &Rows) -> Vec<f64> {
        match self {
            Self::Linear(model) => model.predict(rows),
            Self::Nonparametric(model) => Regressor::predict(model, rows),
            Self::Factors(model) => model.predict(rows),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Member;
    use crate::features::{Batch, Column, EncoderFit, EncoderOptions, Words};
    use crate::linear::Weights;
    use crate::loss::Loss;
    use undertone_report::{ColumnKind, FeatureColumn};

    fn model() -> Model {
        let column = |name: &str, kind| FeatureColumn { name: name.into(), kind };
        let columns = [column("age", ColumnKind::Number), column("town", ColumnKind::Words)];
        let towns = (0..12).map(|row| Some(["Ely", "Bath"][row % 2])).collect::<Words>();
        let ages = (0..12).map(|row| 1.0 / f64::from(row + 3)).collect();
        let mut fit = EncoderFit::new(&columns, EncoderOptions::default()).unwrap();
        fit.observe(&Batch { columns: vec![Column::Numbers(ages), Column::Words(towns)], rows: 12 }).unwrap();
        let encoder = fit.finish().unwrap();
        let mut weights = Weights::zero(encoder.width(), 2);
        // Numbers with no short decimal form
        (0u8..).zip(weights.values_mut()).for_each(|(i, w)| *w = (f32::from(i) / 7.0).sin());
        let training = Training {
            reports: 12,
            method: "likelihood".into(),
            l2: Some(1e-3),
            seed: 0,
            simulation: true,
            parts: vec!["1/2".into()],
            expected: None,
            curator: None,
        };
        let predictor = Predictor::Linear(LinearModel { loss: Loss::Softmax, weights, scale_back: None });
        Model::new(("ill".into(), vec!["no".into(), "yes".into()]), Vec::new(), encoder, predictor, training)
    }

    /// The same line twice, in a mixture.
    fn mixture() -> Model {
        let model = model();
        let member = |weight| Member { weight, sharpness: 2.0, predictor: model.predictor.clone() };
        let predictor = Mixture::of(vec![member(0.25), member(0.75)]);
        Model { predictor, ..model }
    }

    #[test]
    fn a_model_reads_back_as_itself_to_the_last_bit() {
        for model in [model(), mixture()] {
            reads_back(&model);
        }
    }

    fn reads_back(model: &Model) {
        let text = model.to_json().unwrap();
        let again = Model::from_json(&text).unwrap();
        assert_eq!((&again, again.to_json().unwrap()), (model, text));
    }

    #[test]
    fn a_mixture_of_what_does_not_fit_is_refused() {
        let refused = |model: Model| Model::from_json(&model.to_json().unwrap()).unwrap_err().to_string();
        let half = |predictor| Member { weight: 0.5, sharpness: 1.0, predictor };
        let with = |member| {
            let predictor = Mixture::of(vec![half(model().predictor), half(member)]);
            refused(Model { predictor, ..model() })
        };
        assert!(with(mixture().predictor).contains("is a mixture"));
        let line = |features, classes| {
            let weights = Weights::zero(features, classes);
            Predictor::Linear(LinearModel { loss: Loss::Softmax, weights, scale_back: None })
        };
        let width = model().encoder.width();
        for (features, classes) in [(width, 3), (width + 1, 2)] {
            assert!(with(line(features, classes)).contains("weights"), "{features} {classes}");
        }
        // Numbers are never mixed
        let number = Some(NumberWords { low: 0.0, high: 1.0 });
        let number = refused(Model { number, classes: Vec::new(), ..mixture() });
        assert!(number.contains("bounds"), "{number}");
    }

    #[test]
    fn a_model_of_a_number_reads_back_as_itself_and_predicts_within_its_bounds() {
        let Model { encoder, training, .. } = model();
        let weights = (0..encoder.width()).map(|i| (i as f64 / 7.0).sin() * 1e3).collect();
        let line = NumberPredictor::Linear(LinearNumber { weights, intercept: 0.1 + 0.2, scale_back: None });
        let about = ("cost".into(), NumberWords { low: -1.0, high: 1.0 });
        let model = Model::of_number(about, Vec::new(), encoder, line, training);
        let text = model.to_json().unwrap();
        let again = Model::from_json(&text).unwrap();
        assert_eq!((&again, again.to_json().unwrap()), (&model, text.clone()));
        let mut rows = model.encoder.rows();
        let columns =
            vec![Column::Numbers(vec![0.3, 30.0]), Column::Words([Some("Ely"), None].into_iter().collect())];
        model.encoder.encode(&Batch { columns, rows: 2 }, &mut rows).unwrap();
        let predicted = again.numbers(&rows);
        assert!(predicted.len() == 2 && predicted.iter().all(|x| (-1.0..=1.0).contains(x)), "{predicted:?}");
        let refused = |from: &str, to: &str| {
            assert!(text.contains(from), "{from}");
            Model::from_json(&text.replacen(from, to, 1)).unwrap_err().to_string()
        };
        assert!(refused("\"low\":-1.0", "\"low\":2.0").contains("interval"));
        assert!(refused("\"number\":{\"low\":-1.0,\"high\":1.0},", "").contains("bounds"));
        assert!(refused("\"weights\":[0.0,", "\"weights\":[").contains("features"));
    }

    #[test]
    fn what_is_no_model_or_does_not_fit_together_is_refused() {
        let text = model().to_json().unwrap();
        let refused = |from: &str, to: &str| {
            assert!(text.contains(from), "{from}");
            Model::from_json(&text.replacen(from, to, 1)).unwrap_err().to_string()
        };
        assert!(refused("\"version\":1", "\"version\":2").contains("version 2"));
        assert!(refused("undertone-model", "other-model").contains("`other-model`"));
        assert!(refused("\"no\",\"yes\"", "\"no\",\"yes\",\"perhaps\"").contains("2 classes"));
        assert!(refused("\"no\",\"yes\"", "\"no\",\"no\"").contains("`no` occurs twice"));
        assert!(refused("\"label\"", "\"lable\"").contains("lable"));
        assert!(refused("[0.0,", "[0.0,1.5,").contains("weights for 2 classes"));
        assert!(Model::from_json("{}").unwrap_err().to_string().starts_with("this is not a model"));
    }
}
