//! What is shown of evaluations whose figures are known.

use super::*;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use undertone_learn::Examples;
use undertone_learn::features::Rows;
use undertone_learn::labels::Channel;
use undertone_privacy::label::{Label, LabelKind, LabelMechanism};
use undertone_privacy::{Epsilon, Randomizer};

/// People with a label of K, and a model that is right seven times in ten and says so.
fn evaluation(classes: usize, people: usize, mechanism: Option<&LabelMechanism>) -> Evaluation {
    let mut rng = ChaCha12Rng::seed_from_u64(5);
    let mut rows = Rows::new(0, 0);
    let (mut labels, mut said) = (Vec::new(), Vec::new());
    for _ in 0..people {
        rows.push_with(|_, _| ());
        let below = |n: usize, rng: &mut ChaCha12Rng| rng.next_u32() as usize % n;
        // Smaller labels are likelier.
        let truth = below(classes, &mut rng).min(below(classes, &mut rng));
        let sure = [0.55, 0.7, 0.85][below(3, &mut rng)];
        let right = f64::from(rng.next_u32()) / f64::from(u32::MAX) < sure;
        let guess = if right { truth } else { (truth + 1) % classes };
        labels.push(truth as u32);
        said.extend(
            (0..classes).map(|k| if k == guess { sure } else { (1.0 - sure) / (classes - 1) as f64 } as f32),
        );
    }
    let examples = match mechanism {
        None => Examples::certain(rows, labels),
        Some(mechanism) => {
            let channel = Channel::of_mechanism(mechanism);
            let mut examples = Examples { rows, ..Examples::default() };
            for label in labels {
                let report = mechanism.randomize(&Label(label), &mut rng).unwrap();
                channel.push_unbiased(report.members(), &[], &mut examples.unbiased).unwrap();
                channel.push_likelihood(report.members(), &[], &mut examples.likelihood).unwrap();
            }
            examples
        }
    };
    let mut evaluation = Evaluation::new(classes);
    evaluation.observe(&examples, &said).unwrap();
    evaluation
}

fn names(classes: usize) -> Vec<String> {
    (0..classes).map(|k| format!("class {k}")).collect()
}

fn mechanism(classes: usize) -> LabelMechanism {
    LabelKind::Subset.mechanism(classes as u32, Epsilon::new(2.0).unwrap()).unwrap()
}

fn reports() -> Origin {
    Origin::Reports { promise: Guarantee::Pure(Epsilon::new(2.0).unwrap()), priors: false, simulation: false }
}

fn context(classes: &[String], origin: Origin) -> Context<'_> {
    Context { model: "model.json", data: "people.parquet", classes, origin, coverage: None }
}

fn shown(json: bool) -> Shown {
    Shown { json, report: None, force: false }
}

fn printed(evaluation: &Evaluation, context: &Context<'_>, shown: &Shown) -> String {
    let mut out = Vec::new();
    show(evaluation, context, shown, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn page(evaluation: &Evaluation, context: &Context<'_>) -> String {
    page::html(evaluation, &evaluation.figures().unwrap(), context)
}

#[test]
fn json_has_each_figure_as_a_number_with_its_error_and_interval_beside_it() {
    let (names, evaluation) = (names(3), evaluation(3, 2000, Some(&mechanism(3))));
    let json: serde_json::Value =
        serde_json::from_str(&printed(&evaluation, &context(&names, reports()), &shown(true))).unwrap();
    let figures = evaluation.figures().unwrap();
    assert_eq!(json["rows"], 2000);
    assert_eq!(json["from"], "reports");
    assert_eq!(json["promise"]["epsilon"], 2.0);
    assert_eq!(json["accuracy"], figures.accuracy.value);
    assert_eq!(json["accuracy_standard_error"], figures.accuracy.standard_error);
    assert_eq!(json["accuracy_interval"][1], figures.accuracy.interval().1);
    for name in [
        "log_loss",
        "brier",
        "report_log_likelihood",
        "expected_calibration_error",
        "squared_calibration_error",
    ] {
        assert!(json[name].is_number() && json[format!("{name}_standard_error")].is_number(), "{name}");
        assert_eq!(json[format!("{name}_interval")].as_array().unwrap().len(), 2);
    }
    assert_eq!(json["calibration"].as_array().unwrap().len(), 3);
    assert_eq!(json["classes"][2]["name"], "class 2");
    assert!(json["classes"][2]["recall_interval"][0].is_number());
    assert_eq!(json["confusion"][1][2], figures.confusion.as_ref().unwrap()[1][2].value);
    assert!(json["confusion_standard_error"][1][2].is_number());
}

#[test]
fn true_labels_are_called_true_labels() {
    let (names, evaluation) = (names(3), evaluation(3, 500, None));
    let context = context(&names, Origin::Labels);
    let json: serde_json::Value =
        serde_json::from_str(&printed(&evaluation, &context, &shown(true))).unwrap();
    assert_eq!(json["from"], "labels");
    assert!(json.get("promise").is_none());
    assert!(printed(&evaluation, &context, &shown(false)).contains("500 true labels of people.parquet"));
    let page = page(&evaluation, &context);
    assert!(page.contains("come from true labels") && !page.contains("What was promised"));
}

#[test]
fn text_names_every_figure_with_its_interval_and_where_it_comes_from() {
    let (names, evaluation) = (names(7), evaluation(7, 3000, Some(&mechanism(7))));
    let text = printed(&evaluation, &context(&names, reports()), &shown(false));
    let accuracy = evaluation.figures().unwrap().accuracy;
    assert!(
        text.contains(&format!("{:.2} % ± {:.2}", 100.0 * accuracy.value, 100.0 * accuracy.margin())),
        "{text}"
    );
    for part in
        ["log loss", "Brier", "five likeliest", "calibration error", "class 6", "ε = 2", "no", "unbiased"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn a_page_stands_alone_and_says_what_was_promised() {
    let (names, evaluation) = (names(10), evaluation(10, 4000, Some(&mechanism(10))));
    let page = page(&evaluation, &context(&names, reports()));
    for foreign in ["<script", "<link", "<img", "@import", "url(", "src="] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    // The name of the SVG language is the only address.
    assert_eq!(page.matches("http").count(), page.matches("http://www.w3.org/2000/svg").count());
    assert_eq!(page.matches("<svg").count(), 3);
    assert!(page.contains("7.3891 times likelier") && page.contains("prefers-color-scheme: dark"));
    assert_eq!(page.matches("class=\"heat\"").count(), 100);
    assert!(!page.contains("NaN") && !page.contains("inf"));
}

#[test]
fn names_are_text_and_never_markup() {
    let names = vec!["<b>&\"".to_string(), "plain".to_string()];
    let evaluation = evaluation(2, 200, None);
    let context = Context { model: "<i>", ..context(&names, Origin::Labels) };
    let page = page(&evaluation, &context);
    assert!(!page.contains("<b>&") && !page.contains("<i>"));
    assert!(page.contains("&lt;b&gt;&amp;&quot;") && page.contains("&lt;i&gt;"));
}

#[test]
fn many_classes_are_shown_by_the_largest_and_the_most_confused() {
    let (names, evaluation) = (names(60), evaluation(60, 6000, None));
    let page = page(&evaluation, &context(&names, Origin::Labels));
    assert!(page.contains("The 30 largest of 60") && page.contains("by the lower end"));
    // Whoever is taken for somebody else is taken for the next.
    let listed: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("<tr><td>class") && line.matches("<td>").count() == 2)
        .collect();
    assert_eq!(listed.len(), 30);
    let next = |line: &str| {
        (0..60).any(|k| line.starts_with(&format!("<tr><td>class {k}</td><td>class {}</td>", (k + 1) % 60)))
    };
    assert!(listed.iter().all(|line| next(line)), "{listed:?}");
    assert_eq!(page.matches("class=\"heat\"").count(), 0);
    assert!(
        printed(&evaluation, &context(&names, Origin::Labels), &shown(false)).contains("30 largest of 60")
    );
}

#[test]
fn one_person_is_enough_for_a_page_without_intervals() {
    let (names, evaluation) = (names(3), evaluation(3, 1, Some(&mechanism(3))));
    let page = page(&evaluation, &context(&names, reports()));
    assert!(page.ends_with("</html>\n"));
    let json = printed(&evaluation, &context(&names, reports()), &shown(true));
    assert!(json.contains("\"accuracy_standard_error\": null"));
}

#[test]
fn a_page_is_not_overwritten_unless_asked_to() {
    let path = std::env::temp_dir().join(format!("undertone-evaluation-{}.html", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let (names, evaluation) = (names(3), evaluation(3, 100, None));
    let write = |force: bool| {
        let shown = Shown { json: false, report: Some(path.clone()), force };
        show(&evaluation, &context(&names, Origin::Labels), &shown, &mut Vec::new())
    };
    write(false).unwrap();
    assert!(write(false).unwrap_err().to_string().contains("--force"));
    write(true).unwrap();
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("<!doctype html>"));
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn classes_without_a_name_are_an_error_and_nothing_is_printed() {
    let (names, evaluation) = (names(2), evaluation(3, 100, None));
    let mut out = Vec::new();
    let error = show(&evaluation, &context(&names, Origin::Labels), &shown(true), &mut out).unwrap_err();
    assert!(error.to_string().contains("2 classes are named, the model has 3") && out.is_empty());
}
