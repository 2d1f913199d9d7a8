//! Smooth queries: Gaussian kernels of any bandwidth from the same reports about cosines.

use super::row::{Cell, Laboratory, Row, beside};
use super::section::{Section, chart, line};
use crate::commands::reproduce::claim::Claim;
use crate::plot::Stroke;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use undertone_learn::means::{Tally, worst_answer_variance};
use undertone_learn::smooth::{Query, SmoothAnswers, choose_degrees};
use undertone_privacy::number::{Bounds, OneBit};
use undertone_privacy::statistic::{Allocation, CosineBasis};
use undertone_privacy::{Epsilon, Randomizer};

const SECTION: &str = "kernels";
const SOURCE: &str = "Smooth queries";
const BUDGETS: [f64; 2] = [1.0, 4.0];
const BANDWIDTHS: [f64; 4] = [0.1, 0.2, 0.4, 0.8];
const TEN: &str = "10 cosines, evenly";
const SIX: &str = "6 cosines, evenly";
const CHOSEN: &str = "chosen cosines (ours)";
/// What an independent simulation found with ten cosines, in one run, for each ε.
const EARLIER: [[f64; 4]; 2] = [[0.0068, 0.0096, 0.0085, 0.0043], [0.0035, 0.0040, 0.0032, 0.0014]];
const EARLIER_PEOPLE: u64 = 100_000;
/// So many combined standard errors are a difference.
const FAR: f64 = 2.0;

/// How many settings each repetition has.
pub(super) const SETTINGS: u64 = 1;

/// Runs the comparison.
pub(super) fn run(laboratory: &Laboratory<'_>) -> anyhow::Result<Section> {
    let people = laboratory.extent.smooth;
    let bounds = [Bounds::new(-1.0, 1.0)?];
    let mut families = Vec::new();
    for bandwidth in BANDWIDTHS {
        let queries = centres().map(|centre| Query::kernel(&bounds, &[centre], &[bandwidth]));
        families.push(queries.collect::<Result<Vec<_>, _>>()?);
    }
    let rows = laboratory.repeat(SECTION, "root mean square error", |repetition| {
        let mut rng = ChaCha12Rng::seed_from_u64(laboratory.seed(&[7, repetition]));
        let places: Vec<f64> = (0..people).map(|_| person(&mut rng)).collect();
        let mut cells = Vec::new();
        for (budget, earlier) in BUDGETS.into_iter().zip(EARLIER) {
            let bit = OneBit::new(bounds[0], Epsilon::new(budget)?)?;
            let worst = worst_answer_variance(&bit, bounds[0])?;
            let choice = choose_degrees(&families.concat(), people, worst)?;
            let even = |degrees: u32| {
                Ok::<_, anyhow::Error>((degrees, Allocation::new(&vec![1; degrees as usize - 1])?))
            };
            for (method, (degrees, allocation)) in
                [(TEN, even(10)?), (SIX, even(6)?), (CHOSEN, (choice.degrees, choice.allocation.clone()))]
            {
                let basis = CosineBasis::new(&bounds, degrees)?;
                let mut tally = Tally::new(basis.functions() as usize, worst.sqrt())?;
                for &place in &places {
                    let function = allocation.draw(&mut rng);
                    let value = bounds[0].place(basis.value(function, &[place])?)?;
                    tally.observe_report(function, &bit, &bit.randomize(&value, &mut rng)?)?;
                }
                let answers = SmoothAnswers::new(basis, tally.means_as_spread(worst))?;
                for (number, (queries, bandwidth)) in families.iter().zip(BANDWIDTHS).enumerate() {
                    let mut square = 0.0;
                    for (query, centre) in queries.iter().zip(centres()) {
                        let error = answers.answer(query)?.value - truth(&places, centre, bandwidth);
                        square += error * error / queries.len() as f64;
                    }
                    let earlier = (method == TEN && people == EARLIER_PEOPLE).then_some(earlier[number]);
                    let (setting, epsilon) = (format!("h = {bandwidth}"), Some(budget));
                    cells.push(Cell { setting, people, epsilon, method, value: square.sqrt(), earlier });
                }
            }
        }
        Ok(cells)
    })?;
    Ok(Section {
        title: "Smooth queries: error by bandwidth",
        about: format!(
            "{people} people in two bumps of [-1, 1], each with one bit about one cosine; kernels of four bandwidths at 19 centres are \
answered from the same reports, and compared with the means of the people themselves."
        ),
        claims: claims(&rows),
        pictures: vec![("kernels".to_owned(), picture(&rows)?)],
        rows,
    })
}

/// -0.9, -0.8, …, 0.9.
fn centres() -> impl Iterator<Item = f64> {
    (-9..=9).map(|i| f64::from(i) / 10.0)
}

/// Three in ten around -2/5, the others around 3/10, in triangles that reach 1/2 to both sides.
fn person(rng: &mut ChaCha12Rng) -> f64 {
    let mut uniform = || f64::from(rng.next_u32()) / 4_294_967_296.0;
    let centre = if uniform() < 0.3 { -0.4 } else { 0.3 };
    centre + 0.5 * (uniform() + uniform() - 1.0)
}

fn truth(places: &[f64], centre: f64, bandwidth: f64) -> f64 {
    let kernel = |x: &f64| (-0.5 * ((x - centre) / bandwidth).powi(2)).exp();
    places.iter().map(kernel).sum::<f64>() / places.len() as f64
}

fn claims(rows: &[Row]) -> Vec<Claim> {
    let pairs = |method: &'static str, other: &'static str| {
        let rows_of = rows.iter().filter(move |row| row.method == method);
        rows_of.filter_map(move |row| Some((row, beside(rows, row, other)?)))
    };
    let words =
        |row: &Row, other: &Row| format!("{}: {} against {}", row.place(), row.words(), other.words());
    let chosen: Vec<(String, bool)> =
        pairs(CHOSEN, TEN).map(|(row, other)| (words(row, other), row.below(other) > -FAR)).collect();
    let narrow: Vec<(String, bool)> = pairs(TEN, SIX)
        .filter(|(row, _)| row.setting == "h = 0.1")
        .map(|(row, other)| (words(row, other), row.below(other) > FAR))
        .collect();
    let same: Vec<(String, bool)> = rows
        .iter()
        .filter_map(|row| Some((row, row.earlier?)))
        .map(|(row, earlier)| {
            let words = format!("{}: {} against {earlier}", row.place(), row.words());
            (words, (row.value / earlier - 1.0).abs() < 0.3 + FAR * row.standard_error / earlier)
        })
        .collect();
    let all = [
        ("with six cosines narrow kernels are missed, with ten they are answered better", narrow),
        ("choosing the number of cosines and who is asked about which is no worse than ten evenly", chosen),
        ("errors with ten cosines are those of the earlier run, to the 30 % by which one run varies", same),
    ];
    all.into_iter()
        .filter(|(_, settings)| !settings.is_empty())
        .map(|(says, settings)| Claim::of_listed(SOURCE, says, &settings, ""))
        .collect()
}

fn picture(rows: &[Row]) -> anyhow::Result<String> {
    let lines = BUDGETS.into_iter().flat_map(|epsilon| {
        [TEN, SIX, CHOSEN].map(|method| {
            let of = BANDWIDTHS.into_iter().filter_map(|bandwidth| {
                let here = |row: &&Row| {
                    row.method == method
                        && row.epsilon == Some(epsilon)
                        && row.setting == format!("h = {bandwidth}")
                };
                Some((bandwidth, rows.iter().find(here)?))
            });
            let stroke = if epsilon > 1.0 { Stroke::Dashed } else { Stroke::Whole };
            line(&format!("{method}, ε = {epsilon}"), of, stroke)
        })
    });
    chart("Kernels at 19 centres".to_owned(), "bandwidth", "root mean square error", lines)
}
