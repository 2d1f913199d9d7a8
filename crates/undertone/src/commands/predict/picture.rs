//! What a model predicts over one or two columns, the others held at what is typical of the table.
//!
//! Two columns span a plane: regions of classes, the stronger the surer, or the surface of a number, the stronger the larger. Over one
//! column the chances of all classes are stacked, and a number is a curve, with its intervals if the model has any.

use super::Predict;
use crate::band_plot::BandPlot;
use crate::digits::digits;
use crate::exit::Usage;
use crate::surface::{Direction, Surface, Tile};
use crate::tables::{self, TableFile};
use anyhow::{Context, ensure};
use std::collections::HashMap;
use undertone_learn::evaluation::terms::predicted;
use undertone_learn::features::{Batch, Column, Words};
use undertone_learn::nonparametric::Coverage;
use undertone_learn::{Classifier, Model};
use undertone_report::NumberWords;

/// Tiles to a side.
const TILES: usize = 96;
/// Classes in the legend.
const MOST_NAMED: usize = 20;
/// The shade of a number, of which the palette's second colour has so many steps.
const SHADES: f64 = 20.0;

/// What tiles stand for.
type Legend = Vec<(Tile, String)>;

/// A column that is drawn over.
struct Drawn {
    place: usize,
    direction: Direction,
}

impl Drawn {
    /// The middle of a tile.
    fn at(&self, tile: usize) -> f64 {
        let Direction { low, high, .. } = self.direction;
        low + (high - low) * (tile as f64 + 0.5) / TILES as f64
    }
}

impl Predict {
    /// The picture over the columns that were named.
    pub(super) fn picture(&self, model: &Model, table: &TableFile) -> anyhow::Result<String> {
        let columns = model.encoder.columns();
        let names: Vec<String> = if self.over.is_empty() {
            columns.iter().map(|column| column.name.clone()).collect()
        } else {
            self.over.clone()
        };
        ensure!(
            (1..=2).contains(&names.len()),
            Usage::new(format!(
                "a picture is over one or two columns, not {}: --over names them",
                names.len()
            ))
        );
        ensure!(names.len() == 1 || names[0] != names[1], Usage::new("--over names the same column twice"));
        let mut cells = Vec::new();
        for batch in table.batches()? {
            cells.push(tables::features(&batch?, model.encoder.columns())?);
        }
        let drawn =
            names.iter().map(|name| drawn(model, &cells, name)).collect::<anyhow::Result<Vec<_>>>()?;
        let typical: Vec<Typical> = (0..columns.len()).map(|place| Typical::of(&cells, place)).collect();
        drop(cells);
        let title = format!("{} over {}", model.label, names.join(" and "));
        match (&drawn[..], model.number) {
            ([across], None) => Ok(chances(model, across, &typical, title)?.svg()),
            ([across], Some(number)) => curve(model, number, across, &typical, title)?.svg(),
            ([across, up, ..], number) => Ok(plane(model, number, [across, up], &typical, title)?.svg()),
            ([], _) => Err(Usage::new("--over names no column").into()),
        }
    }
}

/// The column of this name, a number, and where its cells lie.
fn drawn(model: &Model, cells: &[Batch], name: &str) -> anyhow::Result<Drawn> {
    let columns = model.encoder.columns();
    let place = columns.iter().position(|column| column.name == *name);
    let place = place.ok_or_else(|| Usage::new(format!("--over: the model has no column `{name}`")))?;
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for batch in cells {
        let Column::Numbers(numbers) = &batch.columns[place] else {
            return Err(Usage::new(format!("--over: column `{name}` does not hold numbers")).into());
        };
        for &number in numbers.iter().filter(|number| number.is_finite()) {
            (low, high) = (low.min(number), high.max(number));
        }
    }
    ensure!(low < high, "column `{name}` does not change in the table, so there is nothing to draw over");
    Ok(Drawn { place, direction: Direction { name: name.to_owned(), low, high } })
}

/// A cell that stands for a column: the median, the most frequent word, the mean vector.
enum Typical {
    Number(f64),
    Word(Option<String>),
    Vector(Vec<f32>),
}

impl Typical {
    fn of(cells: &[Batch], place: usize) -> Self {
        let columns = || cells.iter().map(|batch| &batch.columns[place]);
        match columns().next() {
            Some(Column::Words(_)) => {
                let mut counts = HashMap::<Option<&str>, usize>::new();
                for column in columns() {
                    if let Column::Words(words) = column {
                        words.iter().for_each(|word| *counts.entry(word).or_default() += 1);
                    }
                }
                // The first by name among those that are as frequent
                let most = counts.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0)));
                Self::Word(most.and_then(|(word, _)| word.map(str::to_owned)))
            }
            Some(&Column::Vectors { width, .. }) => {
                let (mut sums, mut rows) = (vec![0f64; width], 0.0);
                for column in columns() {
                    if let Column::Vectors { values, .. } = column {
                        for vector in values.chunks_exact(width.max(1)) {
                            rows += 1.0;
                            sums.iter_mut().zip(vector).for_each(|(sum, x)| *sum += f64::from(*x));
                        }
                    }
                }
                Self::Vector(sums.into_iter().map(|sum| (sum / rows) as f32).collect())
            }
            _ => {
                let mut numbers = Vec::new();
                for column in columns() {
                    if let Column::Numbers(cells) = column {
                        numbers.extend(cells.iter().copied().filter(|cell| !cell.is_nan()));
                    }
                }
                let middle = numbers.len() / 2;
                if numbers.is_empty() {
                    return Self::Number(f64::NAN);
                }
                Self::Number(*numbers.select_nth_unstable_by(middle, f64::total_cmp).1)
            }
        }
    }

    /// So many times the same.
    fn column(&self, rows: usize) -> Column {
        match self {
            Self::Number(number) => Column::Numbers(vec![*number; rows]),
            Self::Word(word) => Column::Words(std::iter::repeat_n(word.as_deref(), rows).collect::<Words>()),
            Self::Vector(vector) => Column::Vectors { width: vector.len(), values: vector.repeat(rows) },
        }
    }
}

/// Features of people who are typical but for some columns.
fn rows(
    model: &Model,
    typical: &[Typical],
    given: &[(usize, Vec<f64>)],
) -> anyhow::Result<undertone_learn::features::Rows> {
    let count = given.first().map_or(0, |(_, cells)| cells.len());
    let mut columns: Vec<Column> = typical.iter().map(|cell| cell.column(count)).collect();
    for (place, cells) in given {
        columns[*place] = Column::Numbers(cells.clone());
    }
    let mut rows = model.encoder.rows();
    model.encoder.encode(&Batch { columns, rows: count }, &mut rows)?;
    Ok(rows)
}

/// A number over one column.
fn curve(
    model: &Model,
    NumberWords { low, high }: NumberWords,
    across: &Drawn,
    typical: &[Typical],
    title: String,
) -> anyhow::Result<BandPlot> {
    let places: Vec<f64> = (0..TILES).map(|tile| across.at(tile)).collect();
    let numbers = model.numbers(&rows(model, typical, &[(across.place, places.clone())])?);
    let ends = |number| match &model.coverage {
        Some(Coverage::Intervals(intervals)) => intervals.about(number, (low, high)),
        _ => (number, number),
    };
    let point = |(x, number): (f64, f64)| (x, ends(number).0, number, ends(number).1);
    let (across, up) = (across.direction.name.clone(), model.label.clone());
    Ok(BandPlot { title, across, up, points: places.into_iter().zip(numbers).map(point).collect() })
}

/// The chances of all classes over one column, one above the other.
fn chances(model: &Model, across: &Drawn, typical: &[Typical], title: String) -> anyhow::Result<Surface> {
    let places = (0..TILES).map(|tile| across.at(tile)).collect();
    let p = model.predictor.probabilities(&rows(model, typical, &[(across.place, places)])?);
    let classes = model.classes.len();
    let row = |row: usize| {
        let share = ((row as f64 + 0.5) / TILES as f64) as f32;
        let class = |p: &[f32]| {
            let mut below = 0.0;
            let covers = |p: &f32| {
                below += *p;
                share < below
            };
            p.iter().position(covers).unwrap_or(classes - 1)
        };
        p.chunks_exact(classes).map(|p| Tile { colour: class(p), strength: 0.85 }).collect()
    };
    let rows: Vec<Vec<Tile>> = (0..TILES).map(row).collect();
    let legend = named(model, &rows);
    let (name, low, high) = ("chance".into(), 0.0, 1.0);
    let across = Direction { name: across.direction.name.clone(), ..across.direction };
    Ok(Surface { title, across, up: Direction { name, low, high }, rows, legend })
}

/// Regions of classes, or the surface of a number, over two columns.
fn plane(
    model: &Model,
    number: Option<NumberWords>,
    [across, up]: [&Drawn; 2],
    typical: &[Typical],
    title: String,
) -> anyhow::Result<Surface> {
    let each = || (0..TILES * TILES).map(|tile| (tile % TILES, tile / TILES));
    let given = [
        (across.place, each().map(|(x, _)| across.at(x)).collect()),
        (up.place, each().map(|(_, y)| up.at(y)).collect()),
    ];
    let people = rows(model, typical, &given)?;
    let (tiles, legend) = if number.is_some() {
        shades(&model.numbers(&people))?
    } else {
        let classes = model.classes.len();
        let tile = |p: &[f32]| {
            let colour = predicted(p);
            Tile { colour, strength: (f64::from(p[colour]) * 10.0).round() / 10.0 }
        };
        let tiles: Vec<Tile> =
            model.predictor.probabilities(&people).chunks_exact(classes).map(tile).collect();
        let legend = named(model, std::slice::from_ref(&tiles));
        (tiles, legend)
    };
    let rows = tiles.chunks_exact(TILES).map(<[Tile]>::to_vec).collect();
    let of = |drawn: &Drawn| Direction { name: drawn.direction.name.clone(), ..drawn.direction };
    Ok(Surface { title, across: of(across), up: of(up), rows, legend })
}

/// Numbers as shades of one colour, and what some shades stand for.
fn shades(numbers: &[f64]) -> anyhow::Result<(Vec<Tile>, Legend)> {
    let low = numbers.iter().copied().reduce(f64::min).context("there is nothing to draw")?;
    let high = numbers.iter().copied().fold(low, f64::max);
    let width = if high > low { high - low } else { 1.0 };
    let tile = |share: f64| Tile { colour: 1, strength: 0.05 + 0.95 * (share * SHADES).round() / SHADES };
    let tiles = numbers.iter().map(|number| tile((number - low) / width)).collect();
    let legend = [1.0, 0.75, 0.5, 0.25, 0.0].map(|share| (tile(share), digits(low + width * share)));
    Ok((tiles, legend.to_vec()))
}

/// The classes that are drawn, in order; of many, the first.
fn named(model: &Model, rows: &[Vec<Tile>]) -> Legend {
    let drawn = |class: &usize| rows.iter().flatten().any(|tile| tile.colour == *class);
    let name = |colour: usize| (Tile { colour, strength: 1.0 }, model.classes[colour].clone());
    (0..model.classes.len()).filter(drawn).take(MOST_NAMED).map(name).collect()
}
