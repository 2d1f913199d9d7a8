//! Linear functions of the parameters that a task wants intervals of, beside those of each parameter.
//!
//! A function that was chosen after somebody looked at the estimate has an interval that covers too seldom: so they are words of
//! the document, fixed before the first report. They cost no privacy, as they are made of what is published anyway.

use crate::{CategoryWords, EncodingWords, LossWords, RecordWords, Task, TaskError, maps};
use serde::{Deserialize, Serialize};

/// The most parameters of a task that wants functions of them: what scatters together is kept for each two of them.
pub const MOST_JOINT: usize = 64;
/// The most functions of a task.
const MOST: usize = 64;
/// A name is shown in a line.
const LONGEST_NAME: usize = 200;
/// No factor is larger, nor its inverse.
const MOST_FACTOR: f64 = 1e9;

/// l'θ, with a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionalWords {
    /// What people call it
    pub name: String,
    /// The parameters that count
    #[serde(deserialize_with = "maps::many")]
    pub terms: Vec<FunctionalTerm>,
}

/// One of the l_j that are not zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionalTerm {
    /// The name of a parameter, as [`Task::parameter_names`] has it
    pub parameter: String,
    /// l_j
    pub factor: f64,
}

impl FunctionalWords {
    /// l, as long as θ, for parameters of these names; none if a term has no such name, or one that another term or two of the
    /// parameters have.
    pub fn factors(&self, names: &[String]) -> Option<Vec<f64>> {
        let mut factors = vec![0.0; names.len()];
        for FunctionalTerm { parameter, factor } in &self.terms {
            let mut places = (0..names.len()).filter(|&place| names[place] == *parameter);
            let (Some(place), None) = (places.next(), places.next()) else { return None };
            if factors[place] != 0.0 {
                return None;
            }
            factors[place] = *factor;
        }
        Some(factors)
    }

    fn check(&self, names: &[String]) -> Result<(), String> {
        let name = &self.name;
        if name.trim().is_empty() || name.len() > LONGEST_NAME || name.chars().any(char::is_control) {
            return Err(format!("have the name {name:?}, not 1 to {LONGEST_NAME} visible bytes"));
        }
        let sound = |factor: f64| (MOST_FACTOR.recip()..=MOST_FACTOR).contains(&factor.abs());
        if let Some(FunctionalTerm { parameter, factor }) = self.terms.iter().find(|term| !sound(term.factor))
        {
            return Err(format!(
                "of `{name}` have {factor} times `{parameter}`, not within ±{MOST_FACTOR:e}"
            ));
        }
        if self.terms.is_empty() {
            return Err(format!("of `{name}` have no terms"));
        }
        if self.factors(names).is_none() {
            let known = names.join("`, `");
            return Err(format!("of `{name}` have to name each parameter once, of `{known}`"));
        }
        Ok(())
    }
}

impl RecordWords {
    pub(crate) fn check_functionals(&self, task: &Task) -> Result<(), TaskError> {
        let problem = |problem: String| Err(TaskError::Record { field: "functionals", problem });
        if self.functionals.is_empty() {
            return Ok(());
        }
        let names = task.parameter_names();
        if names.len() > MOST_JOINT {
            let found = names.len();
            return problem(format!("are of {found} parameters, and at most {MOST_JOINT} can be joined"));
        }
        if self.functionals.len() > MOST {
            return problem(format!("are {}, at most {MOST}", self.functionals.len()));
        }
        for (place, words) in self.functionals.iter().enumerate() {
            if self.functionals[..place].iter().any(|other| other.name == words.name) {
                return problem(format!("have the name `{}` twice", words.name));
            }
            words.check(&names).or_else(problem)?;
        }
        Ok(())
    }
}

impl Task {
    /// What each parameter of a task about whole records belongs to, in the order of θ.
    pub fn parameter_names(&self) -> Vec<String> {
        let encoding =
            self.collection.as_ref().map(|collection| &collection.encoding[..]).unwrap_or_default();
        let mut covariates = vec!["constant".to_owned()];
        for (column, words) in self.features.iter().zip(encoding) {
            let name = &column.name;
            let of = |value: &str| format!("{name} = {value}");
            match words {
                EncodingWords::Category(CategoryWords::Values { values, other, missing }) => {
                    covariates.extend(values.iter().map(|value| of(value)));
                    covariates.extend(other.then(|| of("any other")));
                    covariates.extend(missing.then(|| of("empty")));
                }
                EncodingWords::Number(stretch) => {
                    covariates.push(name.clone());
                    covariates.extend(stretch.missing().then(|| of("empty")));
                }
                // A task that asks for records has no others.
                _ => {}
            }
        }
        match self.record.as_ref().map(|record| record.loss) {
            Some(LossWords::Huber(_)) => {
                covariates.into_iter().chain(["scale of errors".to_owned()]).collect()
            }
            Some(LossWords::Multinomial) => {
                let but_last = &self.classes[..self.classes.len().saturating_sub(1)];
                let pairs =
                    but_last.iter().flat_map(|class| covariates.iter().map(move |name| (class, name)));
                pairs.map(|(class, name)| format!("{class}: {name}")).collect()
            }
            _ => covariates,
        }
    }
}
