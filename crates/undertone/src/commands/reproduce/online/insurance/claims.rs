//! What the paper claims about the insurance data, and what came out on the stand-in.

use super::super::claim::Claim;
use super::super::extent::{DECAYS, fraction};
use super::{ESTIMATORS, Row, WAYS, along, mechanisms};

/// Within this factor of the loss without noise, a loss is close to it.
const CLOSE: f64 = 1.25;

/// All of them.
pub(super) fn of(rows: &[Row]) -> Vec<Claim> {
    WAYS.iter()
        .flat_map(|(_, _, coding)| of_charges(rows, coding).into_iter().chain(of_thirds(rows, coding)))
        .collect()
}

/// The end of one setting.
fn end<'a>(
    rows: &'a [Row],
    task: &str,
    coding: &str,
    mechanism: &str,
    alpha: f64,
    estimator: &str,
) -> Option<&'a Row> {
    along(rows, task, coding, mechanism, alpha, estimator).last().copied()
}

/// Losses with noise against those without, at the end, for the better of the two estimators of the best decay.
fn close_to_none(rows: &[Row], task: &str, coding: &str, least: f64) -> Vec<(String, bool)> {
    let best = |mechanism: &str| {
        let all =
            rows.iter().filter(|row| row.task == task && row.coding == coding && row.mechanism == mechanism);
        let last = rows.iter().map(|row| row.people).max().unwrap_or_default();
        all.filter(|row| row.people == last).map(|row| row.loss).reduce(f64::min).unwrap_or(f64::NAN)
    };
    let none = best("no privacy");
    let private = mechanisms(rows).into_iter().filter(|name| number(name).is_some_and(|mu| mu >= least));
    private
        .map(|mechanism| {
            let loss = best(mechanism);
            (format!("{mechanism} ({loss:.4} against {none:.4} without noise)"), loss <= CLOSE * none)
        })
        .collect()
}

/// μ of a mechanism's name.
fn number(mechanism: &str) -> Option<f64> {
    mechanism.strip_prefix("μ = ")?.parse().ok()
}

/// In which settings with α ≥ `least` the loss of the average is above that of the last point.
fn average_above(rows: &[Row], task: &str, coding: &str, least: f64) -> Vec<(String, bool)> {
    let mut settings = Vec::new();
    for alpha in DECAYS.into_iter().filter(|alpha| *alpha >= least) {
        for mechanism in mechanisms(rows) {
            let of = |estimator| {
                end(rows, task, coding, mechanism, alpha, estimator).map_or(f64::NAN, |row| row.loss)
            };
            let (sgd, asgd) = (of("LDP-SGD"), of("LDP-ASGD"));
            let words = format!("{mechanism}, α = {} (SGD {sgd:.4}, ASGD {asgd:.4})", fraction(alpha));
            settings.push((words, asgd > sgd));
        }
    }
    settings
}

/// Whether this α has the least loss of all.
fn best_decay(rows: &[Row], task: &str, coding: &str, estimator: &str, claimed: f64) -> Vec<(String, bool)> {
    let of = |mechanism: &str, alpha: f64| {
        end(rows, task, coding, mechanism, alpha, estimator).map_or(f64::NAN, |row| row.loss)
    };
    mechanisms(rows)
        .into_iter()
        .filter_map(|mechanism| {
            let best = DECAYS.into_iter().min_by(|a, b| of(mechanism, *a).total_cmp(&of(mechanism, *b)))?;
            let words = format!("{mechanism} (best at α = {}, {:.4})", fraction(best), of(mechanism, best));
            Some((words, best.total_cmp(&claimed).is_eq()))
        })
        .collect()
}

/// At α = 1 the loss stays far above that of the best decay.
fn fails_at_one(rows: &[Row], task: &str, coding: &str) -> Vec<(String, bool)> {
    let mut settings = Vec::new();
    for mechanism in mechanisms(rows) {
        for estimator in ESTIMATORS {
            let of =
                |alpha| end(rows, task, coding, mechanism, alpha, estimator).map_or(f64::NAN, |row| row.loss);
            let best = DECAYS.into_iter().map(of).fold(f64::INFINITY, f64::min);
            settings.push((
                format!("{mechanism}, {estimator} ({:.4}, best {best:.4})", of(1.0)),
                of(1.0) > 2.0 * best,
            ));
        }
    }
    settings
}

/// Flat from the first mark on: within a factor of the end.
fn flat_early(rows: &[Row], coding: &str) -> Vec<(String, bool)> {
    let mut settings = Vec::new();
    for mechanism in mechanisms(rows).into_iter().filter(|name| number(name).is_some_and(|mu| mu >= 2.0)) {
        for estimator in ESTIMATORS {
            let own = along(rows, "charges", coding, mechanism, 0.5, estimator);
            let (Some(first), Some(last)) = (own.first(), own.last()) else { continue };
            let words = format!(
                "{mechanism}, {estimator} ({:.4} after {} people, {:.4} after {})",
                first.loss, first.people, last.loss, last.people
            );
            settings.push((words, first.loss <= CLOSE * last.loss));
        }
    }
    settings
}

fn of_charges(rows: &[Row], coding: &str) -> Vec<Claim> {
    const FIGURE: &str = "Figure 7";
    let with = |says: &str| format!("{says} (coding {coding})");
    vec![
        Claim::of_many(
            FIGURE,
            &with("for μ ≥ 1 the error is comparable with that of non-private SGD"),
            &close_to_none(rows, "charges", coding, 1.0),
            "",
        ),
        Claim::of_many(
            FIGURE,
            &with("for μ = 2 and 3 estimators are stable from n = 10,000 on"),
            &flat_early(rows, coding),
            "",
        ),
        Claim::of_many(
            FIGURE,
            &with("for α ≥ 1/2 the loss of LDP-ASGD is above that of LDP-SGD"),
            &average_above(rows, "charges", coding, 0.5),
            "",
        ),
        Claim::of_many(
            FIGURE,
            &with("α = 1/2 is best for LDP-ASGD"),
            &best_decay(rows, "charges", coding, "LDP-ASGD", 0.5),
            "",
        ),
        Claim::of_many(
            FIGURE,
            &with("at α = 1 both fail to converge"),
            &fails_at_one(rows, "charges", coding),
            "",
        ),
    ]
}

fn of_thirds(rows: &[Row], coding: &str) -> Vec<Claim> {
    const FIGURE: &str = "Figures 8, 9";
    let with = |says: &str| format!("{says} (coding {coding})");
    let accuracies = mechanisms(rows).into_iter().filter_map(|mechanism| {
        let row = end(rows, "thirds", coding, mechanism, 0.5, "LDP-SGD")?;
        Some(format!("{mechanism}: {:.3} ± {:.3}", row.accuracy?, row.accuracy_error?))
    });
    let accuracies = format!("Accuracy of LDP-SGD at α = 1/2: {}", accuracies.collect::<Vec<_>>().join(", "));
    vec![
        Claim::of_many(
            FIGURE,
            &with("loss and accuracy approach the non-private levels"),
            &close_to_none(rows, "thirds", coding, 0.0),
            &accuracies,
        ),
        Claim::of_many(
            FIGURE,
            &with("the loss of LDP-ASGD is consistently above that of LDP-SGD"),
            &average_above(rows, "thirds", coding, 0.0),
            "",
        ),
        Claim::of_many(
            FIGURE,
            &with("α = 1/3 is best for LDP-SGD in all budgets"),
            &best_decay(rows, "thirds", coding, "LDP-SGD", DECAYS[0]),
            "",
        ),
        Claim::of_many(
            FIGURE,
            &with("at α = 1 both fail to converge"),
            &fails_at_one(rows, "thirds", coding),
            "",
        ),
    ]
}
