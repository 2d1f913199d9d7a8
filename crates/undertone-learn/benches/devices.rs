//! What one answer costs a device, method by method: time, and bytes as they are sent.
//!
//! `cargo bench -p undertone-learn --bench devices`
//!
//! An answer is drawn, evaluated and randomized from a record of p numbers; the bytes are eight for the question and eight for each
//! word, without what every report has. The work does not depend on how many people there are, nor on the record.

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use std::hint::black_box;
use std::time::Instant;
use undertone_privacy::number::Bounds;
use undertone_privacy::statistic::{
    Allocation, Answering, CosineBasis, LossAt, MomentRelease, ParameterGrid, PointLoss, Questionnaire,
    RecordMoments, Response, Schema,
};
use undertone_privacy::survey::{AnsweringKind, NumberAnswering, Survey, SurveyRecord};
use undertone_privacy::vector::{Ball, GaussianCopies};
use undertone_privacy::{Delta, Epsilon, PrivacyError, Randomizer};

/// The least of so many rounds of so many answers.
const ROUNDS: usize = 15;
const ANSWERS: usize = 50;

fn number(kind: AnsweringKind, low: f64, epsilon: Epsilon) -> Result<NumberAnswering, PrivacyError> {
    NumberAnswering::new(kind, Bounds::new(low, 1.0)?, epsilon)
}

/// The loss at the nodes of a grid of degree two in three dimensions.
fn losses(kind: AnsweringKind, epsilon: Epsilon) -> Result<Survey, PrivacyError> {
    let grid = ParameterGrid::new(&[-1.0; 3], &[1.0; 3], 2)?;
    let at = LossAt::new(PointLoss::Logistic, grid, 1.0)?;
    Ok(Survey::Losses { allocation: at.allocation()?, at, answering: number(kind, 0.0, epsilon)? })
}

/// One coordinate of a vector of ten, which is the cosine of degree one.
fn cosines(axes: usize, degree: u32, epsilon: Epsilon) -> Result<Survey, PrivacyError> {
    let basis = CosineBasis::new(&vec![Bounds::new(-1.0, 1.0)?; axes], degree)?;
    let allocation = Allocation::new(&vec![1; basis.functions() as usize])?;
    Ok(Survey::Cosines { basis, allocation, answering: number(AnsweringKind::OneBit, -1.0, epsilon)? })
}

fn moments(covariates: usize, share: f64, epsilon: Epsilon) -> Result<Survey, PrivacyError> {
    Ok(Survey::Moments(MomentRelease::new(RecordMoments::new(covariates, Response::Sign)?, epsilon, share)?))
}

fn copies(covariates: usize, inner: usize, epsilon: Epsilon) -> Result<Survey, PrivacyError> {
    let copies = GaussianCopies::analytic(Ball::new(covariates, 1.0)?, inner, epsilon, Delta::new(1e-6)?)?;
    Ok(Survey::Copies { moments: RecordMoments::new(covariates, Response::Sign)?, copies })
}

/// Every family that can be asked, with the size of its record.
fn surveys(epsilon: Epsilon) -> Result<Vec<(&'static str, usize, Survey)>, PrivacyError> {
    let schema = || Schema::new(vec![2; 8]);
    let tables = Questionnaire::tables(schema()?, epsilon, 3, Answering::Best)?;
    Ok(vec![
        ("average, one bit", 1, cosines(1, 2, epsilon)?),
        ("smooth, p = 1, t = 10", 1, cosines(1, 10, epsilon)?),
        ("smooth, p = 2, t = 6", 2, cosines(2, 6, epsilon)?),
        ("Bernstein, one bit", 3, losses(AnsweringKind::OneBit, epsilon)?),
        ("Bernstein, Laplace", 3, losses(AnsweringKind::Laplace, epsilon)?),
        ("tables of three, p = 8", 8, Survey::Categories(tables)),
        ("parities, p = 8", 8, Survey::Categories(Questionnaire::parities(schema()?, epsilon, 3)?)),
        ("terms, p = 8", 8, Survey::Categories(Questionnaire::terms(schema()?, epsilon, 3)?)),
        ("first moments, p = 20", 20, moments(20, 0.0, epsilon)?),
        ("moments, p = 20, ρ = 0.3", 20, moments(20, 0.3, epsilon)?),
        ("copies, p = 20, d = 1", 20, copies(20, 1, epsilon)?),
        ("copies, p = 20, d = 2", 20, copies(20, 6, epsilon)?),
    ])
}

fn main() -> Result<(), PrivacyError> {
    println!("ε = 1; the least of {ROUNDS} rounds of {ANSWERS} answers\n");
    println!("{:<28}{:>12}{:>12}{:>10}", "question", "questions", "ns", "bytes");
    for (name, p, survey) in surveys(Epsilon::new(1.0)?)? {
        let x: Vec<f64> = (0..p).map(|j| (j as f64).sin() / (p as f64).sqrt()).collect();
        let record = SurveyRecord { levels: (0..p as u32).map(|j| j % 2).collect(), x, y: 1.0 };
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let mut least = f64::INFINITY;
        for _ in 0..ROUNDS {
            let start = Instant::now();
            for _ in 0..ANSWERS {
                black_box(survey.randomize(&record, &mut rng)?);
            }
            least = least.min(start.elapsed().as_secs_f64() / ANSWERS as f64);
        }
        let bytes = 8 + 8 * survey.most_words()?;
        println!("{name:<28}{:>12}{:>12.0}{bytes:>10}", survey.questions(), least * 1e9);
    }
    Ok(())
}
