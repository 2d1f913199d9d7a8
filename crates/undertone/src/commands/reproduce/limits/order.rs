//! Slopes: how fast an excess falls with N, and how fast Table I says.

use super::row::Measured;
use crate::commands::reproduce::slope::{Slope, fit};
use serde::Serialize;
use undertone_learn::nonparametric::TrustModel;
use undertone_learn::nonparametric::study::{Method, Setting};

/// Fixed beforehand: a slope is confirmed if it is nearer to Table I's than this, and three standard errors.
pub(super) const TOLERANCE: f64 = 0.08;

/// The order of an excess in N; a slope of a half means N^(-1/2).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Order {
    pub(super) setting: String,
    pub(super) method: &'static str,
    pub(super) first_people: u64,
    pub(super) last_people: u64,
    pub(super) slope: f64,
    pub(super) standard_error: f64,
    /// Of the whole expression in Table I, constants one, for the same N
    pub(super) table: f64,
    /// Of its private term alone
    pub(super) private_term: f64,
    pub(super) tolerance: f64,
    pub(super) confirmed: bool,
}

impl Order {
    /// As people write it.
    pub(super) fn words(&self) -> String {
        format!("{:.3} ± {:.3}, Table I {:.3}", self.slope, self.standard_error, self.table)
    }

    pub(super) fn verdict(&self) -> &'static str {
        if self.confirmed { "confirmed" } else { "NOT CONFIRMED" }
    }
}

/// Which column of Table I a method belongs to.
fn column(setting: &Setting, method: Method) -> Setting {
    let trust = match method {
        Method::Ours | Method::Printed => setting.trust,
        Method::Full | Method::FullPrinted => TrustModel::FullCentral,
        Method::NonPrivate => TrustModel::None,
    };
    Setting { trust, ..*setting }
}

/// The falling slope of points (N, excess, standard error) on logarithmic axes.
pub(super) fn falling(points: &[(u64, f64, f64)]) -> Option<Slope> {
    let logarithms: Vec<_> =
        points.iter().map(|&(n, y, error)| ((n as f64).ln(), y.ln(), error / y)).collect();
    let Slope { slope, standard_error } = fit(&logarithms)?;
    Some(Slope { slope: -slope, standard_error })
}

/// Of an expression at these N.
pub(super) fn slope_of(people: &[u64], value: impl Fn(u64) -> f64) -> f64 {
    let points: Vec<_> = people.iter().map(|&n| (n, value(n), 0.0)).collect();
    falling(&points).map_or(f64::NAN, |slope| slope.slope)
}

/// The orders of all methods.
pub(super) fn orders(measured: &Measured) -> Vec<Order> {
    let people = &measured.place.people;
    let order = |&method: &Method| -> Option<Order> {
        let points: Vec<_> =
            measured.of(method).map(|row| (row.people, row.excess, row.standard_error)).collect();
        let Slope { slope, standard_error } = falling(&points)?;
        let setting = column(&measured.place.setting, method);
        let table = slope_of(people, |n| setting.problem(n).rate());
        let local = setting.trust == TrustModel::LabelLocal || setting.trust == TrustModel::None;
        let private = |n: u64| {
            let problem = setting.problem(n);
            if local { problem.rate() } else { problem.rate() - problem.non_private_rate() }
        };
        let tolerance = TOLERANCE + 3.0 * standard_error;
        Some(Order {
            setting: measured.place.name.clone(),
            method: method.name(),
            first_people: *people.first()?,
            last_people: *people.last()?,
            slope,
            standard_error,
            table,
            private_term: slope_of(people, private),
            tolerance,
            confirmed: (slope - table).abs() <= tolerance,
        })
    };
    Method::ALL.iter().filter_map(order).collect()
}
