//! What the paper claims, and what came out; and what we claim beside it.

use super::figure::{Knob, Turned};
use super::networks;
use super::published;
use super::setting::{Method, Part, Set, Setting};
use super::table::{Mean, Table};
use crate::commands::reproduce::claim::Claim;

/// Combined standard errors beyond which a difference is one.
pub(super) const CLEARLY: f64 = 2.0;

/// The paper's methods of which it has numbers.
const PUBLISHED: [Method; 2] = [Method::OneStage, Method::TwoStages];
/// Which method has to be better than which: ours before two stages, two stages before one.
const ORDER: [(Method, Method); 2] =
    [(Method::Ours, Method::TwoStages), (Method::TwoStages, Method::OneStage)];

/// Whether a claim held in a setting, by its name.
type Held = (String, bool);

pub(super) fn claims(tables: &[Table], turned: &[Turned]) -> Vec<Claim> {
    let every = |of: &dyn Fn(&Table) -> Vec<Held>| tables.iter().flat_map(of).collect::<Vec<Held>>();
    let [of_images, of_ratings] = [false, true]
        .map(|errors| tables.iter().filter(|table| table.set.is_error() == errors).collect::<Vec<_>>());
    let found = [
        (
            "Appendix C",
            "LP-2ST improves on LP-1ST at every ε, by more than two standard errors",
            every(&|table| better(table, Method::TwoStages, Method::OneStage)),
            String::new(),
        ),
        (
            "Table 4",
            "the published numbers, reached by our run of the published method: not below by more than two standard errors, those of \
both samples of the judges included",
            every(&|table| PUBLISHED.into_iter().flat_map(|method| reached(table, method)).collect()),
            note(&of_images),
        ),
        (
            "MovieLens",
            "the best published error, whichever method it is of, reached by the better of our runs of LP-1ST and LP-2ST: not above by more than two \
standard errors, those of both samples of the judges included",
            every(&best_reached),
            note(&of_ratings),
        ),
        (
            "ours",
            "our default is better than LP-1ST and LP-2ST on the same people, by more than two standard errors",
            every(&|table| {
                PUBLISHED.into_iter().flat_map(|method| better(table, Method::Ours, method)).collect()
            }),
            String::new(),
        ),
        (
            "ours",
            "our default is better than the best number that was published at that ε, by more than two standard errors, those of both \
samples of the judges included",
            every(&surpassed),
            String::new(),
        ),
    ];
    let of_tables = found.into_iter().filter(|(_, _, held, _)| !held.is_empty());
    let of_tables = of_tables.map(|(source, says, held, more)| Claim::of_many(source, says, &held, &more));
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

/// Whether a method is not clearly below what was published for it.
fn reached(table: &Table, method: Method) -> Vec<Held> {
    let whose = |name: &str| name.ends_with(method.name());
    table.of_method(method).filter_map(|mean| beside(mean, whose, -CLEARLY)).collect()
}

/// Whether our default is clearly above all that was published.
fn surpassed(table: &Table) -> Vec<Held> {
    table.of_method(Method::Ours).filter_map(|mean| beside(mean, |_| true, CLEARLY)).collect()
}

/// Where the paper has the best of its methods only: whether the best of our runs of them, at each ε, is not clearly below that.
fn best_reached(table: &Table) -> Vec<Held> {
    let all = || PUBLISHED.into_iter().flat_map(|method| table.of_method(method));
    let at = |epsilon| {
        let best = all()
            .filter(|mean| mean.setting.epsilon == epsilon)
            .max_by(|a, b| a.gain(0.0).total_cmp(&b.gain(0.0)))?;
        beside(best, |name| name.ends_with("best"), -CLEARLY)
    };
    table.epsilons.iter().filter_map(|&epsilon| at(epsilon)).collect()
}

/// Whether a mean is better than the best of what was published under such names, by so many standard errors; none if nothing was.
fn beside(mean: &Mean, whose: impl Fn(&str) -> bool, errors: f64) -> Option<Held> {
    let Setting { set, method, epsilon, .. } = mean.setting;
    let value = published::best(set, epsilon, whose)?;
    // The paper's judges are as many as ours, and others.
    let error = mean.error().hypot(2f64.sqrt() * mean.sampling_error);
    let (place, name, words) = (place(&mean.setting), method.name(), mean.words());
    let words = format!("{place}: {name} {words}, published {}", set.words(value));
    Some((words, mean.gain(value) > errors * error))
}

/// What is to be known before the networks of these tables, all of images or all of ratings, are compared with the paper's.
fn note(tables: &[&Table]) -> String {
    let networks = networks::departures(tables.iter().flat_map(|table| table.settings()));
    let split = tables.iter().any(|table| table.set == Set::Fashion);
    let split =
        split.then(|| "The files of fashion may be split otherwise than the official ones.".to_owned());
    let sentences = networks.into_iter().chain(split).collect::<Vec<_>>().join(" ");
    sentences.trim_end_matches('.').to_owned()
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

/// Whether there are two settings whose methods have to be in order.
pub(super) fn has_order(settings: &[Setting]) -> bool {
    let tabled =
        || settings.iter().filter(|setting| setting.part != Part::Figures && !setting.set.is_error());
    let same = |a: &Setting, b: &Setting| (a.set, a.people, a.purpose()) == (b.set, b.people, b.purpose());
    let beside = |a: &Setting, b: &Setting| ORDER.contains(&(a.method, b.method)) && same(a, b);
    tabled().any(|a| tabled().any(|b| beside(a, b) && is_comparable(a, b)))
}

/// Where the methods are not in the order that they have to be in. Ratings, of which a few are enough for no network, have no such order.
pub(super) fn disorder(tables: &[Table]) -> Vec<String> {
    let held = tables
        .iter()
        .filter(|table| !table.set.is_error())
        .flat_map(|table| ORDER.iter().flat_map(move |&(method, other)| better(table, method, other)));
    held.filter(|(_, held)| !held).map(|(words, _)| words).collect()
}

#[cfg(test)]
mod tests {
    use super::super::networks::Network;
    use super::super::record::{Outcome, Run};
    use super::super::setting::example;
    use super::super::table::{means, tables};
    use super::*;

    fn run(method: Method, epsilon: f64, set: Set, value: f64) -> Run {
        let network = if set == Set::Ratings { Network::Rating } else { Network::Inception(1) };
        let usual = example(method, epsilon, 1);
        let (network, epochs) = (usual.network.map(|_| network), usual.epochs.map(|_| 40));
        let outcome = Outcome { value, sampling_error: 0.001, cpu_seconds: None, wall_seconds: 1.0 };
        Run { setting: Setting { set, network, epochs, ..usual }, outcome }
    }

    fn of(source: &str, runs: &[Run]) -> Option<Claim> {
        claims(&tables(&means(runs)), &[]).into_iter().find(|claim| claim.source == source)
    }

    #[test]
    fn methods_are_compared_with_numbers_of_the_same_methods() {
        // The paper has 1.034 and 0.928, the best of its methods.
        let ratings = [
            run(Method::OneStage, 1.0, Set::Ratings, 1.2),
            run(Method::TwoStages, 1.0, Set::Ratings, 1.03),
            run(Method::OneStage, 2.0, Set::Ratings, 0.95),
            run(Method::TwoStages, 2.0, Set::Ratings, 0.96),
        ];
        assert!(of("Table 4", &ratings).is_none());
        let claim = of("MovieLens", &ratings).unwrap();
        assert!(claim.found.starts_with("in 1 of 2 settings; not in: "), "{}", claim.found);
        assert!(claim.found.contains("LP-1ST 0.9500 (judges ± 0.0010), published 0.9280"), "{}", claim.found);
        // 0.8078 and 0.8326, each of its own
        let images =
            [run(Method::OneStage, 1.0, Set::Fashion, 0.81), run(Method::TwoStages, 1.0, Set::Fashion, 0.81)];
        let claim = of("Table 4", &images).unwrap();
        assert!(claim.found.starts_with("in 1 of 2 settings; not in: "), "{}", claim.found);
        assert!(of("MovieLens", &images).is_none());
    }

    #[test]
    fn a_note_tells_what_these_networks_depart_in() {
        let found = |runs: &[Run], source| of(source, runs).unwrap().found;
        let as_published = found(&[run(Method::OneStage, 1.0, Set::Mnist, 0.9)], "Table 4");
        assert!(as_published.contains("normalised in parts") && !as_published.contains("not inception"));
        assert!(!as_published.contains("fashion"), "{as_published}");
        let fashion = found(&[run(Method::OneStage, 1.0, Set::Fashion, 0.9)], "Table 4");
        assert!(fashion.ends_with("The files of fashion may be split otherwise than the official ones"));
        let ratings = found(&[run(Method::OneStage, 1.0, Set::Ratings, 0.9)], "MovieLens");
        assert!(ratings.contains("nothing is mixed"), "{ratings}");
    }

    #[test]
    fn only_methods_that_are_both_run_on_the_same_images_have_an_order() {
        let settings = |methods: &[Method], set| {
            methods.iter().map(|&method| run(method, 2.0, set, 0.5).setting).collect::<Vec<_>>()
        };
        let [one, two, ours] = [Method::OneStage, Method::TwoStages, Method::Ours];
        assert!(
            has_order(&settings(&[one, two], Set::Mnist)) && has_order(&settings(&[two, ours], Set::Mnist))
        );
        assert!(
            !has_order(&settings(&[ours], Set::Mnist)) && !has_order(&settings(&[one, ours], Set::Mnist))
        );
        assert!(!has_order(&settings(&[one, two, ours], Set::Ratings)));
        let figures = settings(&[one, two], Set::Mnist).into_iter();
        assert!(!has_order(&figures.map(|s| Setting { part: Part::Figures, ..s }).collect::<Vec<_>>()));
        let mut apart = settings(&[one, two], Set::Mnist);
        apart[0].people = 10;
        assert!(!has_order(&apart));
    }
}
