//! What the paper claims, and what came out.

use super::order::{Order, TOLERANCE};
use super::row::Measured;
use crate::commands::reproduce::claim::Claim;
use undertone_learn::nonparametric::TrustModel;
use undertone_learn::nonparametric::rates::Task;
use undertone_learn::nonparametric::study::Method;

/// A setting with its orders.
pub(super) struct Found {
    pub(super) measured: Measured,
    pub(super) orders: Vec<Order>,
}

impl Found {
    fn order(&self, method: Method) -> Option<&Order> {
        self.orders.iter().find(|order| order.method == method.name())
    }

    fn is(&self, task: Task, trust: TrustModel) -> bool {
        self.measured.place.setting.task == task && self.measured.place.setting.trust == trust
    }

    fn name(&self) -> &str {
        &self.measured.place.name
    }
}

/// Whether the slopes of a method are Table I's, in each setting.
fn confirmed<'a>(found: impl Iterator<Item = &'a Found>, method: Method) -> Vec<(String, bool)> {
    let each = found.filter_map(|found| Some((found, found.order(method)?)));
    each.map(|(found, order)| (format!("{} ({})", found.name(), order.words()), order.confirmed)).collect()
}

/// Whether two methods fall alike, or the first more slowly, beyond the tolerance and the errors of both.
fn compared<'a>(
    found: impl Iterator<Item = &'a Found>,
    methods: [Method; 2],
    holds: impl Fn(f64, f64) -> bool,
) -> Vec<(String, bool)> {
    let each = found.filter_map(|found| {
        let [one, other] = [found.order(methods[0])?, found.order(methods[1])?];
        let error = one.standard_error.hypot(other.standard_error);
        let [_, (ratio, _)] = found.measured.ratios(methods[0], methods[1])?;
        let words = format!(
            "{}: slopes {:.3} and {:.3}, at last {ratio:.2} times the excess",
            found.name(),
            one.slope,
            other.slope
        );
        Some((words, holds(one.slope - other.slope, error)))
    });
    each.collect()
}

pub(super) fn claims(all: &[Found]) -> Vec<Claim> {
    use {
        Task::{Classification, Heavy, Regression},
        TrustModel::{LabelCentral, LabelLocal},
    };
    let of = |task, trust| all.iter().filter(move |found| found.is(task, trust));
    let curators = || all.iter().filter(|found| found.measured.place.setting.trust == LabelCentral);
    let devices = || all.iter().filter(|found| found.measured.place.setting.trust == LabelLocal);
    let alike = |difference: f64, error: f64| difference.abs() <= TOLERANCE + 3.0 * error;
    let mut claims = vec![Claim::of_listed(
        "Table I",
        "the rates, capped at that without privacy and with the corrected choices: our learners",
        &confirmed(all.iter(), Method::Ours),
        "",
    )];
    for (source, says, task, trust, more) in [
        (
            "Theorem 2",
            "bits and cells as printed reach the local rate of classes",
            Classification,
            LabelLocal,
            "",
        ),
        (
            "Theorem 4",
            "eq. 17 as printed reaches the curator's rate of classes",
            Classification,
            LabelCentral,
            "",
        ),
        (
            "Theorem 6",
            "Laplace noise and neighbours as printed reach the local rate of bounded numbers",
            Regression,
            LabelLocal,
            "",
        ),
        (
            "Theorem 8",
            "means of cells reach the curator's rate of bounded numbers",
            Regression,
            LabelCentral,
            "With noise of scale \
2T/(nε); eq. 23 prints 2/(nε), which keeps a promise of Tε only, and is right here as T = 1",
        ),
        (
            "Theorem 10",
            "k and T as printed reach the local rate of heavy tails",
            Heavy,
            LabelLocal,
            "The k of the text is that \
without privacy at ε = 1, which averages too little noise away; its N should have the exponent 2pβ/(2pβ+d(p-1))",
        ),
        (
            "Theorem 12",
            "h and T as printed reach the curator's rate of heavy tails",
            Heavy,
            LabelCentral,
            "The exponent of h lacks a \
factor p - 1: cells stay too coarse",
        ),
    ] {
        claims.push(Claim::of_listed(source, says, &confirmed(of(task, trust), Method::Printed), more));
    }
    claims.push(Claim::of_many(
        "Theorems 13, 14",
        "with a curator, keeping features private as well costs a constant factor",
        &compared(curators(), [Method::Full, Method::Ours], alike),
        "The ratio of the two has the slope that is the difference of theirs",
    ));
    claims.push(Claim::of_listed(
        "Eq. 31, 33–36",
        "with noise and cells as printed, keeping features private as well still reaches the rates of Table I",
        &confirmed(curators(), Method::FullPrinted),
        "",
    ));
    let bounded = devices().filter(|found| found.measured.place.setting.task != Heavy);
    claims.push(Claim::of_listed(
        "Sections IV, V",
        "with devices, classes and bounded numbers fall as fast as without privacy",
        &compared(bounded, [Method::Ours, Method::NonPrivate], alike),
        "",
    ));
    claims.push(Claim::of_listed(
        "Section VI",
        "with devices, heavy tails fall more slowly than without privacy",
        &compared(of(Heavy, LabelLocal), [Method::Ours, Method::NonPrivate], |difference, error| {
            difference < -3.0 * error
        }),
        "",
    ));
    claims.push(negligible(curators()));
    claims.extend(lower_bound(of(Regression, LabelCentral)));
    claims.push(waste(curators()));
    claims
}

/// What privacy multiplies the excess by falls with N.
fn negligible<'a>(curators: impl Iterator<Item = &'a Found>) -> Claim {
    let each = curators.filter_map(|found| {
        let [(first, first_error), (last, last_error)] =
            found.measured.ratios(Method::Ours, Method::NonPrivate)?;
        let words = format!("{} ({first:.2} to {last:.2} times)", found.name());
        Some((words, last < first + 2.0 * first_error.hypot(last_error)))
    });
    let settings: Vec<_> = each.collect();
    Claim::of_listed(
        "Sections IV–VI",
        "with a curator, what privacy costs falls against what data cost",
        &settings,
        "",
    )
}

/// Eq. 22 as printed: (εN)^(-2β/(d+2β)) would be a lower bound, which small ε would make felt.
fn lower_bound<'a>(curators: impl Iterator<Item = &'a Found>) -> Option<Claim> {
    let each = curators.filter(|found| found.measured.place.small).filter_map(|found| {
        let order = found.order(Method::Ours)?;
        let printed = 1.0 / (f64::from(found.measured.place.setting.dimension) + 1.0);
        let words = format!(
            "{}: {:.3} ± {:.3}, printed {printed:.3}",
            found.name(),
            order.slope,
            order.standard_error
        );
        Some((words, order.slope - 3.0 * order.standard_error <= printed))
    });
    let settings: Vec<_> = each.collect();
    let more = "Eq. 154 and 156 have (εN)^(-2β/(d+β)), which Theorem 8 attains";
    let says = "no curator of bounded numbers can be faster than (εN)^(-2β/(d+2β)), eq. 22 as printed";
    (!settings.is_empty()).then(|| Claim::of_listed("Theorem 7", says, &settings, more))
}

/// ε/4 and 6T/(n₀ε) as printed cost more than they need to.
fn waste<'a>(curators: impl Iterator<Item = &'a Found>) -> Claim {
    let each = curators.filter_map(|found| {
        let [_, (ratio, error)] = found.measured.ratios(Method::FullPrinted, Method::Full)?;
        Some((format!("{} ({ratio:.2} ± {error:.2} times)", found.name()), ratio > 1.0 - 2.0 * error))
    });
    let settings: Vec<_> = each.collect();
    Claim::of_listed(
        "Eq. 31, 36",
        "ours: the same promise about whole records can be kept with no more excess than as printed",
        &settings,
        "",
    )
}
