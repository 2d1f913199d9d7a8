//! In what two tasks differ, in words.

use std::fmt::Debug;
use undertone_report::{FeatureColumn, NumberWords, Task};

/// Everything in which the tasks of two files differ: "epsilon is 1 in `a` and 2 in `b`; …".
pub(super) fn difference(a: (&str, &Task), b: (&str, &Task)) -> String {
    let ((_, left), (_, right)) = (a, b);
    let names = |columns: &[FeatureColumn]| -> Vec<String> {
        columns.iter().map(|column| format!("{} ({:?})", column.name, column.kind)).collect()
    };
    let (one, two) = (&left.mechanism, &right.mechanism);
    let found = [
        differs("the label is", a.0, &left.label, b.0, &right.label),
        lists_differ("classes", a.0, &left.classes, b.0, &right.classes),
        differs("the bounds are", a.0, &bounds(left), b.0, &bounds(right)),
        differs("the mechanism is", a.0, &one.kind, b.0, &two.kind),
        differs("epsilon is", a.0, &one.level(), b.0, &two.level()),
        differs("the set size is", a.0, &one.set_size, b.0, &two.set_size),
        differs("the labels to answer among are", a.0, &one.top, b.0, &two.top),
        differs("the prior is", a.0, &one.prior, b.0, &two.prior),
        lists_differ("public columns", a.0, &names(&left.features), b.0, &names(&right.features)),
    ];
    found.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// Where numbers lie; nowhere if the label is a class.
fn bounds(task: &Task) -> Vec<f64> {
    task.number.map_or_else(Vec::new, |NumberWords { low, high }| vec![low, high])
}

fn differs<T: PartialEq + Debug>(what: &str, a: &str, left: &T, b: &str, right: &T) -> Option<String> {
    (left != right).then(|| format!("{what} {left:?} in {a} and {right:?} in {b}"))
}

/// How many there are on either side and the first that is not the same: lists may have thousands.
fn lists_differ(what: &str, a: &str, left: &[String], b: &str, right: &[String]) -> Option<String> {
    if left == right {
        return None;
    }
    let place = left.iter().zip(right).take_while(|(l, r)| l == r).count();
    let entry = |list: &[String]| list.get(place).map_or("nothing".into(), |entry| format!("`{entry}`"));
    Some(format!(
        "there are {} {what} in {a} and {} in {b}, the first to differ being {} and {}",
        left.len(),
        right.len(),
        entry(left),
        entry(right)
    ))
}
