//! What the paper claims, and what came out; and what we claim beside it.

use super::figure::{Knob, Turned};
use super::published;
use super::setting::{Budget, Method, Setting};
use super::table::{Mean, Table};
use crate::commands::reproduce::claim::Claim;

/// Combined standard errors beyond which a difference is one.
pub(super) const CLEARLY: f64 = 2.0;

/// Whether a claim held in a setting, by its name.
type Held = (String, bool);

pub(super) fn claims(tables: &[Table], turned: &[Turned]) -> Vec<Claim> {
    let every = |of: &dyn Fn(&Table) -> Vec<Held>| tables.iter().flat_map(of).collect::<Vec<Held>>();
    let found = [
        (
            "Appendix C",
            "LP-2ST improves on LP-1ST at every ε, by more than two standard errors",
            every(&|table| better(table, Method::TwoStages, Method::OneStage)),
            "",
        ),
        (
            "Table 4",
            "the published numbers, reached by our run of the published method: not below by more than two standard errors, those of \
both samples of the judges included",
            every(&|table| reached(table, &[Method::OneStage, Method::TwoStages], false)),
            "Networks, epochs and, of fashion, the split are others than in the paper",
        ),
        (
            "ours",
            "our default is better than LP-1ST and LP-2ST on the same people, by more than two standard errors",
            every(&|table| {
                let published = [Method::OneStage, Method::TwoStages];
                published.into_iter().flat_map(|method| better(table, Method::Ours, method)).collect()
            }),
            "",
        ),
        (
            "ours",
            "our default is better than the best number that was published at that ε, by more than two standard errors, those of both \
samples of the judges included",
            every(&|table| reached(table, &[Method::Ours], true)),
            "",
        ),
    ];
    let of_tables = found.into_iter().filter(|(_, _, held, _)| !held.is_empty());
    let of_tables = of_tables.map(|(source, says, held, more)| Claim::of_many(source, says, &held, more));
    of_tables.chain(of_knobs(turned)).collect()
}

/// Where a method has been run, as in "fashion, 60000 people, ε = 1".
fn place(setting: &Setting) -> String {
    let Setting { set, people, epsilon, .. } = setting;
    format!("{}, {people} people, {} seeds, ε = {epsilon}", set.name(), setting.purpose().name())
}

/// Whether one method is clearly better than another at each ε at which both were run. Networks are compared with the same network.
fn better(table: &Table, method: Method, other: Method) -> Vec<Held> {
    let mut held = Vec::new();
    for one in table.of_method(method) {
        for two in table.of_method(other).filter(|two| is_comparable(&one.setting, &two.setting)) {
            let lead = one.lead(two);
            let words = format!(
                "{}: {} {} beside {} {} ({lead:+.1} standard errors)",
                place(&one.setting),
                method.name(),
                one.words(),
                other.name(),
                two.words()
            );
            held.push((words, lead > CLEARLY));
        }
    }
    held
}

fn is_comparable(a: &Setting, b: &Setting) -> bool {
    let ours = a.method == Method::Ours || b.method == Method::Ours;
    a.epsilon == b.epsilon && (ours || (a.network, a.epochs) == (b.network, b.epochs))
}

/// Whether methods are not clearly below what was published for them, or, `best`, clearly above all that was.
fn reached(table: &Table, methods: &[Method], best: bool) -> Vec<Held> {
    let published = |method: Method, epsilon: Budget| {
        let whose = |name: &str| best || name.ends_with(method.name()) || name.ends_with("best");
        published::best(table.set, epsilon, whose)
    };
    let mut held = Vec::new();
    for mean in methods.iter().flat_map(|&method| table.of_method(method)) {
        let Some(value) = published(mean.setting.method, mean.setting.epsilon) else { continue };
        // The paper's judges are as many as ours, and others.
        let error = mean.error().hypot(2f64.sqrt() * mean.sampling_error);
        let gain = mean.gain(value);
        let words = format!(
            "{}: {} {}, published {}",
            place(&mean.setting),
            mean.setting.method.name(),
            mean.words(),
            table.set.words(value)
        );
        held.push((words, if best { gain > CLEARLY * error } else { gain > -CLEARLY * error }));
    }
    held
}

/// What appendix E says about each knob.
fn of_knobs(turned: &[Turned]) -> Vec<Claim> {
    let says = [
        (Knob::Temperature, "temperatures greater than one do not help", (0.0, 1.0)),
        (Knob::Split, "a first stage of slightly more than half strikes the right balance", (0.5, 0.7)),
        (Knob::Mixup, "α from 4 to 8 is good", (4.0, 8.0)),
    ];
    let mut claims = Vec::new();
    for (knob, says, (low, high)) in says {
        let own = turned.iter().filter(|turned| turned.knob == knob);
        let held: Vec<Held> = own.filter_map(|turned| within(turned, low, high)).collect();
        if !held.is_empty() {
            let says = format!("{says}: nothing outside is better by more than two standard errors");
            claims.push(Claim::of_listed("Appendix E", &says, &held, ""));
        }
    }
    claims
}

/// Whether no notch outside is clearly better than the best inside.
fn within(turned: &Turned, low: f64, high: f64) -> Option<Held> {
    let inside = |value: f64| (low..=high).contains(&value);
    let best = |which: bool| -> Option<&Mean> {
        let own = turned.notches.iter().filter(|notch| inside(notch.value) == which).map(|notch| &notch.mean);
        own.max_by(|a, b| a.figure.value.total_cmp(&b.figure.value))
    };
    let (inner, outer) = (best(true)?, best(false)?);
    let each =
        turned.notches.iter().map(|notch| format!("{} at {}", notch.mean.words(), notch.label(turned.knob)));
    let words = format!("{} ({})", place(&inner.setting), each.collect::<Vec<_>>().join(", "));
    Some((words, outer.lead(inner) <= CLEARLY))
}

/// Where the methods are not in the order that they have to be in: ours before two stages, two stages before one. Ratings, of which a few
/// are enough for no network, have no such order.
pub(super) fn disorder(tables: &[Table]) -> Vec<String> {
    let pairs = [(Method::Ours, Method::TwoStages), (Method::TwoStages, Method::OneStage)];
    let held = tables
        .iter()
        .filter(|table| !table.set.is_error())
        .flat_map(|table| pairs.iter().flat_map(move |&(method, other)| better(table, method, other)));
    held.filter(|(_, held)| !held).map(|(words, _)| words).collect()
}
