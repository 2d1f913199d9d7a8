//! Heavy tails with a curator in two dimensions at a small ε: the setting that had not confirmed, and why.
//!
//! The expected excess is known in closed form for any N, so the slope of any range of N can be looked at without chance; and the
//! release can be drawn cell by cell, for more people than there are.

use super::extent::Extent;
use super::order::{TOLERANCE, falling, slope_of};
use super::picture::{chart, line};
use super::row::Measured;
use crate::commands::reproduce::claim::Claim;
use crate::plot::Stroke;
use serde::Serialize;
use undertone_learn::nonparametric::study::{Method, Setting};

/// Constants of the width: the one that is run, and two thirds and three halves of it
const CONSTANTS: [f64; 3] = [1.6, 2.4, 3.6];
/// Powers of two of people between which slopes are taken; the first is that of the study
const RANGES: [(u32, u32); 6] = [(16, 20), (20, 24), (24, 28), (28, 32), (32, 36), (36, 40)];

/// The excess at some N.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Piece {
    pub(super) constant: f64,
    pub(super) people: u64,
    /// m, the cells along each axis
    pub(super) parts: u32,
    pub(super) clip: f64,
    pub(super) approximation: f64,
    pub(super) clipping: f64,
    pub(super) sampling: f64,
    pub(super) noise: f64,
    pub(super) total: f64,
    /// Drawn cell by cell
    pub(super) drawn: Option<f64>,
    pub(super) standard_error: Option<f64>,
}

/// What was found out.
pub(super) struct Doubt {
    pub(super) pieces: Vec<Piece>,
    /// For each range of N, the slope of the closed form with each constant, and of what cells cannot show with the one that is run
    pub(super) slopes: Vec<(String, [f64; 3], f64)>,
    /// The limit of all of them
    pub(super) limit: f64,
    pub(super) picture: (String, String),
    pub(super) claims: Vec<Claim>,
}

pub(super) fn look(extent: &Extent, seed: u64, measured: &[Measured]) -> anyhow::Result<Doubt> {
    let settings = CONSTANTS.map(Extent::doubtful);
    let settings: Vec<Setting> = settings.into_iter().collect::<Result<_, _>>()?;
    let run = &settings[1];
    let mut pieces = Vec::new();
    for setting in &settings {
        for power in (16..=40).step_by(2) {
            pieces.push(piece(setting, power, extent, seed)?);
        }
    }
    // 2β(p-1)/(pβ+d(p-1)) = 4/11, the slope of the private term
    let private = |n: u64| run.problem(n).rate() - run.problem(n).non_private_rate();
    let limit = slope_of(&[1 << 16, 1 << 40], private);
    let closed = |setting: &Setting, range, of: fn(&Piece) -> f64| {
        let own = pieces.iter().filter(|piece| piece.constant.total_cmp(&setting.constant).is_eq());
        let (first, last) = range;
        let inside: Vec<_> = own
            .filter(|piece| (1u64 << first..=1u64 << last).contains(&piece.people))
            .map(|piece| (piece.people, of(piece), 0.0))
            .collect();
        falling(&inside).map_or(f64::NAN, |slope| slope.slope)
    };
    let slopes: Vec<_> = RANGES
        .iter()
        .map(|&range| {
            let each = [0, 1, 2].map(|which| closed(&settings[which], range, |piece| piece.total));
            (format!("2^{}–2^{}", range.0, range.1), each, closed(run, range, |piece| piece.approximation))
        })
        .collect();
    let claims = claims(&pieces, &slopes, limit);
    let picture = ("heavy-closer".to_owned(), draw(&pieces, measured)?);
    Ok(Doubt { pieces, slopes, limit, picture, claims })
}

/// The closed form, and a draw with the constant that is run where one is wanted.
fn piece(setting: &Setting, power: u32, extent: &Extent, seed: u64) -> anyhow::Result<Piece> {
    let people = 1 << power;
    let terms = setting.terms(people)?;
    let (powers, repetitions) = extent.by_cells;
    let wanted = setting.constant.total_cmp(&CONSTANTS[1]).is_eq() && powers.contains(&power);
    let drawn = if wanted { Some(setting.excess_by_cells(people, repetitions, seed)?) } else { None };
    Ok(Piece {
        constant: setting.constant,
        people,
        parts: terms.parts,
        clip: terms.clip,
        approximation: terms.approximation,
        clipping: terms.clipping,
        sampling: terms.sampling,
        noise: terms.noise,
        total: terms.total(),
        drawn: drawn.map(|figure| figure.value),
        standard_error: drawn.map(|figure| figure.standard_error),
    })
}

/// Those with the constant that is run.
pub(super) fn run(pieces: &[Piece]) -> impl Iterator<Item = &Piece> {
    pieces.iter().filter(|piece| piece.constant.total_cmp(&CONSTANTS[1]).is_eq())
}

fn claims(pieces: &[Piece], slopes: &[(String, [f64; 3], f64)], limit: f64) -> Vec<Claim> {
    const SOURCE: &str = "Theorem 12";
    let late: Vec<_> = run(pieces)
        .filter(|piece| piece.people >= 1 << 24)
        .filter_map(|piece| Some((piece.people, piece.drawn?, piece.standard_error?)))
        .collect();
    let near = |slope: f64, error: f64| (slope - limit).abs() <= 0.25 * TOLERANCE + 3.0 * error;
    let ranges: Vec<(String, bool)> = slopes
        .iter()
        .map(|(range, each, _)| {
            let words = each.map(|slope| format!("{slope:.3}")).join(", ");
            (format!("N = {range} ({words})"), each.iter().all(|&slope| near(slope, 0.0)))
        })
        .collect();
    let mut claims = vec![Claim::of_listed(
        SOURCE,
        &format!(
            "with a curator, ε = 0.005 and d = 2, the excess falls like (εN)^-{limit:.3}, whatever the constant of h"
        ),
        &ranges,
        &cause(pieces, slopes),
    )];
    if let Some(slope) = falling(&late) {
        let (least, most) = (late[0].0, late[late.len() - 1].0);
        claims.push(Claim::new(
            SOURCE,
            "the same, drawn cell by cell with the mechanism's own noise from 2^24 people on",
            near(slope.slope, slope.standard_error),
            format!(
                "slope {:.4} ± {:.4} from N = {least} to {most}, {limit:.4} claimed",
                slope.slope, slope.standard_error
            ),
        ));
    }
    claims
}

/// Why the first range, which is that of the study, is not yet on its way.
fn cause(pieces: &[Piece], slopes: &[(String, [f64; 3], f64)]) -> String {
    let early: Vec<&Piece> = run(pieces).filter(|piece| piece.people <= 1 << RANGES[0].1).collect();
    let parts: Vec<String> = early.iter().map(|piece| piece.parts.to_string()).collect();
    let most = |of: fn(&Piece) -> f64| early.iter().map(|piece| of(piece)).fold(0.0, f64::max);
    let share = |value: f64| format!("{:.2} %", 100.0 * value);
    let resolved = slopes.first().zip(slopes.last()).map_or_else(String::new, |(first, last)| {
        format!("falls like N^-{:.3} instead of N^-{:.3}", first.2, last.2)
    });
    format!(
        "Expected excess in closed form, with constants {} of h. In the range of the study the rule cuts an axis into {} cells: \
the coarsest waves are not resolved yet, so that what cells cannot show, up to {} of the excess, {resolved}, and rounding m to a whole number \
moves all cells at once, one way or the other with each constant. Clipping is not to blame (at most {} of the excess), nor is the \
non-private rate (what labels vary makes up {} at most), nor is there a logarithm",
        CONSTANTS.map(|constant| constant.to_string()).join(", "),
        parts.join(", "),
        share(most(|piece| piece.approximation / piece.total)),
        share(most(|piece| piece.clipping / piece.total)),
        share(most(|piece| piece.sampling / piece.total)),
    )
}

fn draw(pieces: &[Piece], measured: &[Measured]) -> anyhow::Result<String> {
    let closed = |name: &str, of: fn(&Piece) -> f64, stroke| {
        let mut line = line(name, run(pieces).map(|piece| (piece.people, of(piece), 0.0)), stroke);
        line.bars.clear();
        line
    };
    let drawn = run(pieces).filter_map(|piece| Some((piece.people, piece.drawn?, piece.standard_error?)));
    let doubtful = Extent::doubtful(CONSTANTS[1])?;
    let learner = measured.iter().filter(|measured| measured.place.setting == doubtful);
    let learner = learner
        .flat_map(|measured| measured.of(Method::Ours))
        .map(|row| (row.people, row.excess, row.standard_error));
    let last = run(pieces).last().map_or(1.0, |piece| piece.total);
    let private = |n: u64| doubtful.problem(n).rate() - doubtful.problem(n).non_private_rate();
    let mut bound = line(
        "slope of Theorem 12",
        run(pieces).map(|piece| (piece.people, last * private(piece.people) / private(1 << 40), 0.0)),
        Stroke::Limit,
    );
    bound.bars.clear();
    chart(
        "heavy tails, a curator, d = 2, ε = 0.005: what the excess is made of",
        vec![
            bound,
            closed("closed form", |piece| piece.total, Stroke::Whole),
            line("drawn cell by cell", drawn, Stroke::Whole),
            line("learner, person by person", learner, Stroke::Whole),
            closed("what cells cannot show", |piece| piece.approximation, Stroke::Dashed),
            closed("noise", |piece| piece.noise, Stroke::Dashed),
            closed("labels", |piece| piece.sampling, Stroke::Dashed),
            closed("clipping", |piece| piece.clipping, Stroke::Dashed),
        ],
    )
}
