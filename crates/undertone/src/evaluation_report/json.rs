//! An evaluation for machines: every figure a plain number, with its standard error and its 95 % interval beside it.

use super::{Context, Origin};
use crate::promise::Promise;
use serde::ser::{Serialize, SerializeMap, Serializer};
use undertone_learn::evaluation::{Bin, ClassFigures, Figure, Figures};

/// All figures in one flat object.
pub(super) struct Flat<'a> {
    pub(super) figures: &'a Figures,
    pub(super) context: &'a Context<'a>,
}

impl Serialize for Flat<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { figures, context } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("rows", &figures.rows)?;
        map.serialize_entry("from", context.origin.name())?;
        if let Origin::Reports { promise, simulation, .. } = context.origin {
            map.serialize_entry("promise", &Promise::from(promise))?;
            map.serialize_entry("simulation", &simulation)?;
        }
        entry(&mut map, "accuracy", figures.accuracy)?;
        if let Some(top) = figures.top_5_accuracy {
            entry(&mut map, "top_5_accuracy", top)?;
        }
        if let Some(coverage) = &context.coverage {
            coverage.serialize(&mut map)?;
        }
        entry(&mut map, "log_loss", figures.log_loss)?;
        entry(&mut map, "brier", figures.brier)?;
        entry(&mut map, "report_log_likelihood", figures.report_log_likelihood)?;
        entry(&mut map, "expected_calibration_error", figures.expected_calibration_error)?;
        map.serialize_entry("expected_calibration_error_noise", &figures.expected_calibration_error_noise)?;
        entry(&mut map, "squared_calibration_error", figures.squared_calibration_error)?;
        map.serialize_entry("calibration", &figures.calibration.iter().map(FlatBin).collect::<Vec<_>>())?;
        let named =
            figures.classes.iter().zip(context.classes).map(|(figures, name)| FlatClass(name, figures));
        map.serialize_entry("classes", &named.collect::<Vec<_>>())?;
        if let Some(cells) = &figures.confusion {
            map.serialize_entry("confusion", &all(cells, |cell| cell.value))?;
            map.serialize_entry("confusion_standard_error", &all(cells, |cell| cell.standard_error))?;
        }
        map.end()
    }
}

fn all(cells: &[Vec<Figure>], number: fn(&Figure) -> f64) -> Vec<Vec<f64>> {
    cells.iter().map(|row| row.iter().map(number).collect()).collect()
}

/// `name`, `name_standard_error` and `name_interval`.
pub(super) fn entry<M: SerializeMap>(map: &mut M, name: &str, figure: Figure) -> Result<(), M::Error> {
    map.serialize_entry(name, &figure.value)?;
    map.serialize_entry(&format!("{name}_standard_error"), &figure.standard_error)?;
    let (low, high) = figure.interval();
    map.serialize_entry(&format!("{name}_interval"), &[low, high])
}

struct FlatBin<'a>(&'a Bin);

impl Serialize for FlatBin<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Bin { from, to, rows, confidence, accuracy } = *self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("from", &from)?;
        map.serialize_entry("to", &to)?;
        map.serialize_entry("rows", &rows)?;
        map.serialize_entry("confidence", &confidence)?;
        entry(&mut map, "accuracy", accuracy)?;
        map.end()
    }
}

struct FlatClass<'a>(&'a str, &'a ClassFigures);

impl Serialize for FlatClass<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ClassFigures { share, predicted, precision, recall } = *self.1;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", self.0)?;
        entry(&mut map, "share", share)?;
        map.serialize_entry("predicted", &predicted)?;
        for (name, figure) in [("precision", precision), ("recall", recall)] {
            match figure {
                Some(figure) => entry(&mut map, name, figure)?,
                None => map.serialize_entry(name, &None::<f64>)?,
            }
        }
        map.end()
    }
}
