//! How surveys are tried: from whole records to words, at the records that differ most.

use super::Setup;
use super::vector::whole_codebooks;
use crate::{Case, Reports};
use undertone_privacy::number::{Bounds, NumberMechanism};
use undertone_privacy::statistic::{
    Allocation, Answering, CosineBasis, LossAt, Moment, MomentRelease, ParameterGrid, PointLoss,
    Questionnaire, RecordMoments, Response, Schema,
};
use undertone_privacy::survey::{AnsweringKind, NumberAnswering, Survey, SurveyRecord, SurveyReport};
use undertone_privacy::vector::{Ball, CodebookReport, GaussianCopies};
use undertone_privacy::{Guarantee, PrivacyError, Randomizer};

/// Up to so many labels all sets of them are listed.
const FEW: u32 = 8;

/// Up to so many answers all are listed.
const MOST: usize = 10_000;

/// A survey by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the families have documentation of their own")]
pub enum SurveyKind {
    Tables,
    Parities,
    Terms,
    Cosines,
    Losses,
    Moments,
    Copies,
}

impl SurveyKind {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Tables, Self::Parities, Self::Terms, Self::Cosines, Self::Losses, Self::Moments, Self::Copies];

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tables => "tables",
            Self::Parities => "parities",
            Self::Terms => "terms",
            Self::Cosines => "cosines",
            Self::Losses => "losses",
            Self::Moments => "moments",
            Self::Copies => "copies",
        }
    }

    /// A small survey of this kind.
    pub(super) fn survey(self, setup: &Setup) -> Result<Survey, PrivacyError> {
        let epsilon = setup.epsilon;
        let schema = || Schema::new(vec![2, 3]);
        let moments = RecordMoments::new(2, Response::Sign)?;
        let number = |low, high| {
            Ok::<_, PrivacyError>((
                Bounds::new(low, high)?,
                NumberAnswering::new(AnsweringKind::OneBit, Bounds::new(low, high)?, epsilon)?,
            ))
        };
        Ok(match self {
            Self::Tables => {
                Survey::Categories(Questionnaire::tables(schema()?, epsilon, 2, Answering::Best)?)
            }
            Self::Parities => Survey::Categories(Questionnaire::parities(schema()?, epsilon, 2)?),
            Self::Terms => Survey::Categories(Questionnaire::terms(schema()?, epsilon, 2)?),
            Self::Cosines => {
                let (bounds, answering) = number(-1.0, 1.0)?;
                let basis = CosineBasis::new(&[bounds, bounds], 3)?;
                let allocation = Allocation::new(&vec![1; basis.functions() as usize])?;
                Survey::Cosines { basis, allocation, answering }
            }
            Self::Losses => {
                let grid = ParameterGrid::new(&[-1.0; 2], &[1.0; 2], 2)?;
                let at = LossAt::new(PointLoss::Logistic, grid, 1.0)?;
                Survey::Losses { allocation: at.allocation()?, at, answering: number(0.0, 1.0)?.1 }
            }
            Self::Moments => Survey::Moments(MomentRelease::new(moments, epsilon, 0.5)?),
            Self::Copies => {
                let copies = GaussianCopies::gdp(Ball::new(2, 1.0)?, 2, setup.mu)?;
                Survey::Copies { moments, copies }
            }
        })
    }
}

/// A survey, and records at the ends of whatever it looks at.
pub(super) fn case(name: &str, survey: &Survey) -> Case<Survey> {
    let record = |levels: Vec<u32>, x: Vec<f64>, y| SurveyRecord { levels, x, y };
    let records = match survey {
        Survey::Categories(questionnaire) => {
            let last = questionnaire.schema().levels().iter().map(|levels| levels - 1);
            vec![
                record(vec![0; questionnaire.schema().attributes()], Vec::new(), 0.0),
                record(last.collect(), Vec::new(), 0.0),
            ]
        }
        Survey::Cosines { basis, .. } => {
            let ends = |end: fn(Bounds) -> f64| basis.bounds().iter().map(|&bounds| end(bounds)).collect();
            vec![record(Vec::new(), ends(Bounds::low), 0.0), record(Vec::new(), ends(Bounds::high), 0.0)]
        }
        Survey::Losses { at, .. } => far(at.grid().axes(), at.radius()),
        Survey::Moments(release) => far(release.moments().covariates(), 1.0),
        Survey::Copies { moments, .. } => far(moments.covariates(), 1.0),
    };
    let reports = match (listed(survey), survey) {
        (Some(reports), _) => Reports::All(reports),
        (None, Survey::Moments(release)) => Reports::Representatives(codewords(release)),
        (None, _) => Reports::Sampled,
    };
    Case::local(name, survey.clone(), records, reports)
}

/// Opposite records on the sphere.
fn far(axes: usize, radius: f64) -> Vec<SurveyRecord> {
    let x = vec![radius / (axes as f64).sqrt(); axes];
    [1.0, -1.0].map(|y| SurveyRecord { levels: Vec::new(), x: x.clone(), y }).to_vec()
}

/// Every codeword of some codebooks, of either moment: the promise holds for each codebook by itself.
fn codewords(release: &MomentRelease) -> Vec<SurveyReport> {
    let told = |(question, moment)| {
        whole_codebooks(release.codebook(moment).codewords()).into_iter().map(
            move |CodebookReport { seed, index }| {
                let halves = [(seed >> 64) as u64, seed as u64].map(u64::cast_signed);
                SurveyReport { question, words: vec![halves[0], halves[1], i64::from(index)] }
            },
        )
    };
    [(0, Moment::First), (1, Moment::Second)].into_iter().flat_map(told).collect()
}

/// Every answer to every question, where there are few.
fn listed(survey: &Survey) -> Option<Vec<SurveyReport>> {
    let Guarantee::Pure(_) = survey.guarantee() else { return None };
    let words: Vec<Vec<i64>> = match survey {
        Survey::Categories(questionnaire) if questionnaire.most_labels() <= FEW => {
            (0..1 << questionnaire.most_labels()).map(|mask| vec![mask]).collect()
        }
        Survey::Losses { answering: NumberAnswering::Mechanism(NumberMechanism::OneBit(_)), .. }
        | Survey::Cosines { answering: NumberAnswering::Mechanism(NumberMechanism::OneBit(_)), .. } => {
            vec![vec![0], vec![1]]
        }
        _ => return None,
    };
    let each = (0..survey.questions())
        .flat_map(|question| words.iter().map(move |words| SurveyReport { question, words: words.clone() }));
    let reports: Vec<SurveyReport> = each.filter(|report| survey.check(report).is_ok()).collect();
    (reports.len() < MOST).then_some(reports)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact_loss;
    use undertone_privacy::Epsilon;

    #[test]
    fn the_loss_of_moments_is_exact_and_reaches_the_promise() {
        let moments = RecordMoments::new(2, Response::Sign).unwrap();
        let epsilon = Epsilon::new(1.0).unwrap();
        let survey = Survey::Moments(MomentRelease::new(moments, epsilon, 0.5).unwrap());
        let case = case("moments", &survey);
        let Reports::Representatives(reports) = &case.reports else { panic!("{:?}", case.reports) };
        assert!(reports.iter().all(|report| survey.check(report).is_ok()));
        // Opposite records have opposite first moments and the same second one. On a grid of 2^-20 they are shorter than one by up
        // to √2·2^-21 each way, which turns the sign of so many and no more.
        let found = exact_loss(&case).unwrap();
        assert!(!found.exceeds(1.0) && found.loss > 1.0 - 1e-6, "{found:?}");
    }
}
