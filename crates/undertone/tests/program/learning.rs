//! From a table to predictions: `privatize`, `train`, `evaluate`, `predict`, and `simulate` beside them.

use crate::run::{fresh, json, refused, text, undertone};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const NURSERY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/nursery.csv.gz");
const CLASSES: &str = "not_recom,priority,recommend,spec_prior,very_recom";

/// A folder that is removed when the test has passed.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let folder = fresh(&format!("learning-{name}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        Self(folder)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    pub(crate) fn file(&self, name: &str, contents: &str) -> String {
        fs::write(self.0.join(name), contents).unwrap();
        self.path(name)
    }

    /// Simulated reports of the nursery's families.
    fn reports(&self, name: &str, epsilon: f64, options: &str) -> String {
        let path = self.path(name);
        json(&format!(
            "privatize {NURSERY} --label nursery --classes {CLASSES} --epsilon {epsilon} --seed 1 {options} -o {path}"
        ));
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

pub(crate) fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} in {value}"))
}

#[test]
fn reports_become_a_model_whose_accuracy_the_reports_of_others_tell() {
    let folder = Folder::new("whole-way");
    let (learnt, others) =
        (folder.reports("a.parquet", 2.0, "--part 1/2"), folder.reports("b.parquet", 2.0, "--part 2/2"));
    let model = folder.path("model.json");
    let trained = json(&format!("train {learnt} --epochs 10 -o {model}"));
    assert_eq!(trained["method"], "likelihood");
    assert_eq!(number(&trained, "epsilon").to_bits(), 2f64.to_bits());
    let from_reports = json(&format!("evaluate {model} {others}"));
    let from_labels = json(&format!("evaluate {model} {NURSERY} --label nursery"));
    assert_eq!((&from_reports["from"], &from_labels["from"]), (&"reports".into(), &"labels".into()));
    let truth = number(&from_labels, "accuracy");
    assert!(truth > 0.85, "{truth}");
    let error = (number(&from_reports, "accuracy") - truth).abs();
    assert!(error < 5.0 * number(&from_reports, "accuracy_standard_error"), "{error}");
    let predictions = folder.path("predictions.csv");
    json(&format!("predict {model} {NURSERY} --probabilities -o {predictions}"));
    let written = fs::read_to_string(&predictions).unwrap();
    assert_eq!(written.lines().count(), 12_961);
    assert!(written.starts_with("prediction,probability,probability:not_recom,"));
    let page = folder.path("page.html");
    text(&format!("evaluate {model} {others} --report {page}"));
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("<svg") && !page.contains("src=") && !page.contains("href="));
}

#[test]
fn a_model_depends_on_task_reports_and_seed_and_on_nothing_else() {
    let folder = Folder::new("pure");
    let reports = folder.reports("reports.parquet", 1.0, "");
    let train = |name: &str, options: &str| {
        let path = folder.path(name);
        json(&format!("train {reports} --epochs 2 --l2 1e-4 {options} -o {path}"));
        fs::read(path).unwrap()
    };
    let usual = train("usual", "--threads 1");
    assert_eq!(usual, train("two-threads", "--threads 2"));
    assert_eq!(usual, train("from-the-file", "--threads 1 --memory 0"));
    assert_ne!(usual, train("other-seed", "--threads 1 --seed 1"));
    let again = fs::read_to_string(folder.path("usual")).unwrap();
    let model = undertone_learn::Model::from_json(&again).unwrap();
    assert_eq!(model.to_json().unwrap(), again);
}

#[test]
fn a_second_stage_answers_with_what_the_first_has_taught() {
    let folder = Folder::new("stages");
    let first = folder.reports("first.parquet", 1.0, "--part 1/2 --mechanism rr");
    let model = folder.path("first.json");
    json(&format!("train {first} --epochs 5 --l2 1e-4 -o {model}"));
    let second =
        folder.reports("second.parquet", 1.0, &format!("--part 2/2 --prior {model} --temperature 0.5"));
    let both = json(&format!("train {first} {second} --epochs 5 --l2 1e-4 -o {}", folder.path("both.json")));
    assert_eq!(number(&both, "reports").to_bits(), 12_960f64.to_bits());
    let again = folder.reports("again.parquet", 1.0, "--mechanism rr");
    let train = |files: &str| {
        text(&format!("train {files} --epochs 1 --l2 1e-4 --force -o {}", folder.path("x.json")))
    };
    assert!(!train(&format!("{first} {second}")).contains("their promises add up"));
    assert!(train(&format!("{again} {second}")).contains("their promises add up"));
    let accuracy = |model: &str| {
        number(&json(&format!("evaluate {} {NURSERY} --label nursery", folder.path(model))), "accuracy")
    };
    assert!(accuracy("both.json") > 0.8);
    // Without a temperature nobody is asked what is known: answers are among two labels at least.
    let telling = folder.reports("telling.parquet", 1.0, &format!("--part 2/2 --prior {model}"));
    let told = json(&format!("train {first} {telling} --epochs 5 --l2 1e-4 -o {}", folder.path("told.json")));
    assert_eq!(number(&told, "reports").to_bits(), 12_960f64.to_bits());
    assert!(accuracy("told.json") > 0.8);
    // Two steps from where the first stage has come to do what two steps from nowhere do not.
    let cold = format!("train {second} --epochs 1 --batch 4096 --l2 1e-4 -o {}", folder.path("cold.json"));
    let warm = format!(
        "train {second} --epochs 1 --batch 4096 --l2 1e-4 --start {model} -o {}",
        folder.path("warm.json")
    );
    json(&cold);
    json(&warm);
    assert!(accuracy("warm.json") > 0.8 && accuracy("cold.json") < accuracy("warm.json"));
    refused(&format!("{warm} --force --column form=skip"), 2, "cannot be used with");
    let honest = folder.path("honest.json");
    json(&format!("train {NURSERY} --label nursery --epochs 2 --l2 1e-4 -o {honest}"));
    refused(
        &format!(
            "privatize {NURSERY} --label nursery --classes {CLASSES} --epsilon 1 --prior {honest} -o {}",
            folder.path("x")
        ),
        1,
        "learnt from true labels without privacy",
    );
}

#[test]
fn a_model_remembers_whom_it_was_learnt_from() {
    let folder = Folder::new("origins");
    let first = folder.reports("first.parquet", 1.0, "--part 1/2");
    let model = folder.path("first.json");
    json(&format!("train {first} --epochs 1 --l2 1e-3 -o {model}"));
    let known: Value = serde_json::from_str(&fs::read_to_string(&model).unwrap()).unwrap();
    assert_eq!(
        (&known["training"]["simulation"], &known["training"]["parts"][0]),
        (&true.into(), &"1/2".into())
    );
    // Its reports were drawn from a seed: real people are not asked with it.
    let ask = format!(
        "privatize {NURSERY} --label nursery --classes {CLASSES} --epsilon 1 --force -o {}",
        folder.path("x.parquet")
    );
    refused(&format!("{ask} --part 2/2 --prior {model}"), 1, "drawn from a seed");
    // Who has answered before is not asked again without a word.
    let warned = |part: &str| {
        let output = undertone(&format!("{ask} {part} --prior {model} --seed 2"));
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stderr).contains("two reports at ε are worth 2ε")
    };
    let parts = ["", "--part 1/2", "--part 2/3", "--part 2/2", "--part 3/3"];
    assert_eq!(parts.map(warned), [true, true, true, false, false]);
    // What starts from a model without privacy has none.
    let honest = folder.path("honest.json");
    json(&format!("train {NURSERY} --label nursery --epochs 2 --l2 1e-4 -o {honest}"));
    let start = format!("--epochs 1 --l2 1e-3 -o {}", folder.path("y.json"));
    refused(&format!("train {first} --start {honest} {start}"), 1, "learnt from true labels without privacy");
    // A curator keeps a promise, but devices trust none.
    let curated = folder.path("curated.json");
    json(&format!(
        "train {NURSERY} --label nursery --classes {CLASSES} --trust label-central --epsilon 1 -o {curated}"
    ));
    refused(
        &format!("train {first} --start {curated} {start}"),
        1,
        "a curator who saw the true labels, whom",
    );
    refused(
        &format!("{ask} --part 2/2 --prior {curated} --seed 2"),
        1,
        "a curator who saw the true labels, whom",
    );
    // Nor does what true labels have taught, whatever it starts from.
    let bared = folder.path("bared.json");
    json(&format!("train {NURSERY} --label nursery --start {model} --epochs 1 --l2 1e-3 -o {bared}"));
    refused(
        &format!("{ask} --part 2/2 --prior {bared} --seed 2"),
        1,
        "learnt from true labels without privacy",
    );
    // What starts from another knows its tasks and parts too.
    let second = folder.reports("second.parquet", 1.0, "--part 2/2 --mechanism rr");
    json(&format!("train {second} --start {model} {start}"));
    let both: Value = serde_json::from_str(&fs::read_to_string(folder.path("y.json")).unwrap()).unwrap();
    assert_eq!(both["tasks"].as_array().map(Vec::len), Some(2));
    assert_eq!(both["training"]["parts"], serde_json::json!(["2/2", "1/2"]));
    // The same table twice under one task: everybody has answered twice.
    let again = folder.reports("again.parquet", 1.0, "--part 1/2");
    let twice = json(&format!("train {first} {again} --force {start}"));
    assert_eq!(twice["may_ask_twice"], true);
    assert_eq!(json(&format!("train {first} --force {start}"))["may_ask_twice"], false);
}

#[test]
fn every_model_and_method_learns_something() {
    let folder = Folder::new("methods");
    let reports = folder.reports("reports.parquet", 4.0, "");
    for (model, method) in [
        ("softmax", "debiased"),
        ("softmax", "posterior"),
        ("softmax", "naive"),
        ("softmax", "sgd"),
        ("logistic", "likelihood"),
        ("hinge", "debiased"),
        ("linear", "debiased"),
    ] {
        let path = folder.path(&format!("{model}-{method}.json"));
        let penalty = if method == "sgd" { "" } else { "--l2 1e-3 --epochs 5" };
        json(&format!("train {reports} --model {model} --method {method} {penalty} -o {path}"));
        let found = json(&format!("evaluate {path} {NURSERY} --label nursery"));
        // A third are of the largest class.
        assert!(number(&found, "accuracy") > 0.7, "{model}, {method}: {found}");
    }
}

#[test]
fn what_does_not_fit_together_is_named_and_nothing_is_written() {
    let folder = Folder::new("refused");
    let reports = folder.reports("a.parquet", 1.0, "");
    let other = folder.reports("b.parquet", 2.0, "");
    let model = folder.path("model.json");
    json(&format!("train {reports} --epochs 1 --l2 1e-3 -o {model}"));
    let out = folder.path("out");
    refused(&format!("train {reports} {other} -o {out}"), 1, "ε = 1, the other 2");
    refused(&format!("train {} -o {out}", folder.0.display()), 1, "two tasks in one directory");
    refused(&format!("train {NURSERY} -o {out}"), 1, "nursery.csv.gz");
    refused(&format!("train {reports} -o {model}"), 1, "--force");
    refused(&format!("train {reports} --column form=colour -o {out}"), 2, "form=colour");
    refused(&format!("train {reports} --method debiased --l2 0 -o {out}"), 1, "without bound");
    refused(&format!("train {reports} {reports} -o {out}"), 2, "is named twice");
    let table = folder.file("table.csv", "a,b,y\n1,x,no\n2,y,yes\n");
    refused(&format!("predict {model} {table} -o {out}"), 1, "`parents`");
    refused(&format!("evaluate {model} {table} --label y"), 1, "`parents`");
    let alien = folder.file("alien.csv", "parents,has_nurs,form,children,housing,finance,social,health,nursery\nusual,proper,complete,1,convenient,convenient,nonprob,recommended,great\n");
    refused(&format!("evaluate {model} {alien} --label nursery"), 1, "alien.csv: row 1: label `great`");
    let strange = folder.file("nan.csv", "a,b,y\n1,2,no\nnan,3,yes\n");
    refused(
        &format!("privatize {strange} --label y --classes no,yes --epsilon 1 -o {out}"),
        1,
        "row 2, column `a`",
    );
    let priors = folder.file("priors.csv", "p,q,y\n.5,.5,no\n.5,.5,yes\n.5,.4,yes\n");
    refused(
        &format!("privatize {priors} --label y --classes no,yes --epsilon 1 --prior-columns p,q -o {out}"),
        1,
        "row 3: the prior sums to 0.9",
    );
    let few = folder.path("few.parquet");
    json(&format!("privatize {table} --label y --classes no,yes --epsilon 1 --seed 1 -o {few}"));
    refused(&format!("evaluate {model} {few}"), 1, "about `y`");
    refused(&format!("train {few} -o {out}"), 1, "too few reports");
    let broken = folder.file("broken.json", "{\"format\":\"undertone-model\",\"version\":9}");
    refused(&format!("predict {broken} {table} -o {out}"), 1, "version 9");
    refused(&format!("predict {table} {table} -o {out}"), 1, "not a model");
    assert!(!Path::new(&out).exists());
}

#[test]
fn options_that_mean_nothing_end_with_two() {
    let folder = Folder::new("options");
    let reports = folder.reports("a.parquet", 1.0, "");
    let (model, out) = (folder.path("model.json"), folder.path("out"));
    json(&format!("train {reports} --epochs 1 --l2 1e-3 -o {model}"));
    for (options, message) in [
        ("--l2 -1", "'-1' for '--l2"),
        ("--l2 nan", "'nan' for '--l2"),
        ("--epochs 0", "'0' for '--epochs"),
        ("--batch 0", "'0' for '--batch"),
        ("--radius 0", "'0' for '--radius"),
        ("--buckets 0", "'0' for '--buckets"),
        ("--model hinge --method likelihood", "not for hinge"),
        ("--method sgd --l2 0.1", "sgd has no use for --l2"),
        ("--method sgd --epochs 2", "sgd has no use for --epochs"),
        (&format!("--method sgd --start {model}"), "sgd has no use for --start"),
        ("--column colour=category", "--column: there is no column `colour`"),
    ] {
        refused(&format!("train {reports} {options} -o {out}"), 2, message);
    }
    let nobody = "there is no column `y`; there are `parents`";
    refused(&format!("train {NURSERY} --label y -o {out}"), 2, nobody);
    refused(&format!("simulate {NURSERY} --label y"), 2, nobody);
    refused(&format!("evaluate {model} {NURSERY} --label y"), 2, nobody);
    refused(&format!("evaluate {model} {NURSERY} --label form"), 2, "predicts from `form`");
    let plan = format!("plan --classes 5 --epsilon 1 --n 9 --loss softmax --features {NURSERY}");
    refused(&format!("{plan} --without y"), 2, &format!("--without: {nobody}"));
    assert!(!Path::new(&out).exists());
}

#[test]
fn what_is_read_is_never_replaced() {
    let folder = Folder::new("inputs");
    let reports = folder.reports("a.parquet", 1.0, "");
    let model = folder.path("model.json");
    json(&format!("train {reports} --epochs 1 --l2 1e-3 -o {model}"));
    let before = (fs::read(&reports).unwrap(), fs::read(&model).unwrap());
    let read = "is read, so it cannot be written";
    refused(&format!("train {reports} -o {reports} --force"), 2, read);
    refused(&format!("predict {model} {NURSERY} -o {model} --force"), 2, read);
    refused(&format!("evaluate {model} {reports} --report {model} --force"), 2, read);
    refused(&format!("evaluate {model} {reports} --report {reports} --force"), 2, read);
    assert_eq!(before, (fs::read(&reports).unwrap(), fs::read(&model).unwrap()));
}

#[test]
fn figures_of_a_simulation_say_so() {
    let folder = Folder::new("simulated");
    let reports = folder.reports("a.parquet", 1.0, "");
    let model = folder.path("model.json");
    json(&format!("train {reports} --epochs 1 --l2 1e-3 -o {model}"));
    assert_eq!(json(&format!("evaluate {model} {reports}"))["simulation"], true);
    assert!(text(&format!("evaluate {model} {reports}")).contains("a simulation, without privacy"));
}

#[test]
fn a_simulation_puts_methods_side_by_side_and_repeats_itself() {
    let words = format!(
        "simulate {NURSERY} --label nursery --epsilon 1,inf --method default,rr-naive,subset-sgd --repetitions 2 --seed 3"
    );
    let found = json(&words);
    assert_eq!(found, json(&words));
    let accuracy = |place: usize| found["outcomes"][place]["accuracy"]["value"].as_f64().unwrap();
    assert!(accuracy(0) > accuracy(1), "{} and {}", accuracy(0), accuracy(1));
    // Without privacy the reports are the labels, and believing them is right.
    assert!(accuracy(3) > 0.9 && accuracy(4) > 0.9, "{found}");
    refused(&format!("simulate {NURSERY} --label nursery --method magic"), 2, "`magic`");
}

#[test]
fn what_needs_a_curator_is_refused_where_nobody_is_trusted() {
    let words = format!(
        "simulate {NURSERY} --label nursery --epsilon 4 --method clusters-1st,lp-2st --repetitions 1 --clusters 20"
    );
    refused(&words, 2, "--trust central allows it");
    let found = json(&format!("{words} --trust central"));
    let accuracy =
        |found: &Value, place: usize| found["outcomes"][place]["accuracy"]["value"].as_f64().unwrap();
    assert!(accuracy(&found, 0) > 0.85 && accuracy(&found, 1) > 0.85, "{found}");
    // What can be chosen about stages has an effect on what has stages, and on nothing else.
    for option in ["--filter", "--temperature 0.1"] {
        let other = json(&format!("{words} --trust central {option}"));
        assert_eq!(accuracy(&found, 0).to_bits(), accuracy(&other, 0).to_bits(), "{option}");
        assert_ne!(accuracy(&found, 1).to_bits(), accuracy(&other, 1).to_bits(), "{option}");
    }
    let warm = json(&format!("{words} --trust central --warm-start"));
    assert!(accuracy(&warm, 1) > 0.85, "{warm}");
}
