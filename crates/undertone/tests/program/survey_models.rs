//! Surveys that explain a column, from a table to a model and its figures.

use crate::learning::{Folder, number};
use crate::run::{json, refused, text};
use flate2::read::GzDecoder;
use std::fmt::Write;
use std::fs::File;
use std::io::Read;

const NURSERY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/nursery.csv.gz");

/// The columns of the nursery's families, all of which are private here.
const COLUMNS: &str = "--category parents=usual,pretentious,great_pret \
    --category has_nurs=proper,less_proper,improper,critical,very_crit \
    --category form=complete,completed,incomplete,foster --category children=1,2,3,more \
    --category housing=convenient,less_conv,critical --category finance=convenient,inconv \
    --category social=nonprob,slightly_prob,problematic --category health=recommended,priority,not_recom";

/// The families, with whether they got the highest priority.
fn families(folder: &Folder) -> String {
    let mut table = String::new();
    GzDecoder::new(File::open(NURSERY).unwrap()).read_to_string(&mut table).unwrap();
    let mut lines = table.lines();
    let head = lines.next().unwrap().replace("nursery", "urgent");
    let rows = lines.fold(head + "\n", |mut rows, line| {
        let (columns, class) = line.rsplit_once(',').unwrap();
        writeln!(rows, "{columns},{}", if class == "spec_prior" { "yes" } else { "no" }).unwrap();
        rows
    });
    folder.file("families.csv", &rows)
}

/// People of whom smokers are ill in four cases of five, others in one of five; their costs are 100, and 40 more if they smoke.
fn patients(folder: &Folder, people: u32) -> String {
    let mut table = String::from("smoker,ill,costs\n");
    for person in 0..people {
        let smokes = person % 2 == 0;
        let ill = (person / 2 % 5 == 0) != smokes;
        let costs = if smokes { 140 } else { 100 } + person * 7919 % 21;
        let word = |is: bool| if is { "yes" } else { "no" };
        writeln!(table, "{},{},{costs}", word(smokes), word(ill)).unwrap();
    }
    folder.file("patients.csv", &table)
}

const ILL: &str = "task survey --label ill --classes no,yes --category smoker=no,yes";

/// The reports of a survey on a table.
fn asked(folder: &Folder, words: &str, table: &str) -> String {
    let (task, reports) = (folder.path("task.toml"), folder.path("reports.parquet"));
    json(&format!("{words} -o {task} --force"));
    json(&format!("privatize {table} --task {task} --seed 1 -o {reports} --force"));
    reports
}

#[test]
fn moments_of_whole_records_become_a_model_that_beats_the_constant() {
    let folder = Folder::new("survey-nursery");
    let table = families(&folder);
    let words = format!("task survey --label urgent --classes no,yes {COLUMNS} --n 12960 --epsilon 12");
    let reports = asked(&folder, &words, &table);
    let model = folder.path("logistic.json");
    let trained = json(&format!("train {reports} -o {model}"));
    assert_eq!((&trained["worth"], &trained["method"]), (&"fitted".into(), &"moments".into()));
    assert!(number(&trained, "fitted") < number(&trained, "constant"), "{trained}");
    let figures = json(&format!("evaluate {model} {table} --label urgent"));
    // 8916 of 12960 are not urgent.
    let constant = 8916.0 / 12960.0;
    assert!(number(&figures, "accuracy") > constant + 0.05, "{figures}");
    assert!(std::fs::read_to_string(&model).unwrap().contains("\"worth\":\"fitted\""));
    // Others may drown, but then the constant is what they are, and they say so.
    for kind in ["hinge", "linear"] {
        let model = folder.path(&format!("{kind}.json"));
        let trained = json(&format!("train {reports} --model {kind} -o {model}"));
        let figures = json(&format!("evaluate {model} {table} --label urgent"));
        let gained = number(&figures, "accuracy") - constant;
        let said = trained["worth"] == "constant-is-better" && gained.abs() < 1e-9;
        assert!(said || gained > 0.0, "{trained} {figures}");
    }
    let told = text(&format!("train {reports} -o {} --force", folder.path("logistic.json")));
    for part in ["Model: logistic, moments, 20 covariates", "of the best constant", "simulation"] {
        assert!(told.contains(part), "{part} is not in {told}");
    }
    let predictions = folder.path("predictions.csv");
    assert_eq!(json(&format!("predict {model} {table} -o {predictions}"))["rows"], 12_960);
}

#[test]
fn where_noise_drowns_the_answers_the_constant_is_written_and_said() {
    let folder = Folder::new("survey-drowned");
    let table = families(&folder);
    let words = format!("task survey --label urgent --classes no,yes {COLUMNS} --n 12960 --epsilon 0.2");
    let reports = asked(&folder, &words, &table);
    let model = folder.path("model.json");
    let told = text(&format!("train {reports} -o {model}"));
    assert!(told.contains("THE CONSTANT IS EXPECTED TO DO BETTER"), "{told}");
    let predictions = folder.path("predictions.csv");
    json(&format!("predict {model} {table} -o {predictions}"));
    let written = std::fs::read_to_string(&predictions).unwrap();
    let first = written.lines().nth(1).unwrap();
    assert!(written.lines().skip(1).all(|line| line == first), "{first}");
}

#[test]
fn losses_at_the_nodes_of_a_grid_become_the_same_model() {
    let folder = Folder::new("survey-losses");
    let table = patients(&folder, 20_000);
    for loss in ["logistic", "hinge", "smooth-hinge"] {
        let words = format!("{ILL} --losses {loss} --bound 3 --degree 2 --n 20000 --epsilon 4");
        let reports = asked(&folder, &words, &table);
        let model = folder.path("model.json");
        let trained = json(&format!("train {reports} -o {model} --force"));
        assert_eq!(
            (&trained["worth"], &trained["method"]),
            (&"fitted".into(), &"losses".into()),
            "{trained}"
        );
        let figures = json(&format!("evaluate {model} {table} --label ill"));
        assert!((number(&figures, "accuracy") - 0.8).abs() < 1e-9, "{loss}: {figures}");
        refused(&format!("train {reports} --model linear -o {model} --force"), 2, "losses of");
        refused(&format!("train {reports} --radius 2 -o {model} --force"), 2, "--radius");
    }
    // The degree that suits so many people
    let task = json(&format!("{ILL} --losses logistic --bound 1 --n 20000 --epsilon 1"));
    let degree = task["task"]["survey"]["losses"]["degree"].as_u64().unwrap();
    assert!((1..=16).contains(&degree), "{degree}");
}

#[test]
fn copies_are_descended_by_each_algorithm_under_its_name() {
    let folder = Folder::new("survey-copies");
    let table = patients(&folder, 16_000);
    let model = folder.path("model.json");
    for (words, methods) in [
        ("--copies 1 --mu 20", &["algorithm-4", "algorithm-5", "direct"][..]),
        ("--copies 2 --blossom --mu 20", &["algorithm-4", "direct"]),
        ("--copies 1 --epsilon 100 --delta 1e-6", &["direct"]),
    ] {
        let reports = asked(&folder, &format!("{ILL} {words}"), &table);
        for method in methods {
            let trained = json(&format!("train {reports} --method {method} --radius 3 -o {model} --force"));
            assert_eq!((&trained["worth"], &trained["method"]), (&"fitted".into(), &(*method).into()));
            let figures = json(&format!("evaluate {model} {table} --label ill"));
            assert!((number(&figures, "accuracy") - 0.8).abs() < 1e-9, "{words} {method}: {figures}");
        }
        refused(&format!("train {reports} --method posterior -o {model} --force"), 2, "algorithm-4");
        refused(&format!("train {reports} --model linear -o {model} --force"), 2, "copies");
    }
    let drowned = asked(&folder, &format!("{ILL} --copies 3 --mu 0.05"), &table);
    let trained = json(&format!("train {drowned} -o {model} --force"));
    assert_ne!(trained["worth"], "fitted", "{trained}");
}

#[test]
fn a_number_is_explained_in_its_own_units() {
    let folder = Folder::new("survey-number");
    let table = patients(&folder, 20_000);
    let columns = "--label costs=130,40 --category smoker=no,yes";
    let model = folder.path("model.json");
    for words in ["--n 20000 --epsilon 8", "--losses squared --bound 1 --degree 2 --n 20000 --epsilon 8"] {
        let reports = asked(&folder, &format!("task survey {columns} {words}"), &table);
        let trained = json(&format!("train {reports} -o {model} --force"));
        assert_eq!((&trained["model"], &trained["worth"]), (&"linear".into(), &"fitted".into()), "{words}");
        let figures = json(&format!("evaluate {model} {table} --label costs"));
        // Without smoking the deviation is 20.9, with it 6.1.
        assert!(number(&figures, "rmse") < 10.0, "{words}: {figures}");
        refused(&format!("train {reports} --model hinge -o {model} --force"), 2, "hinge");
    }
}

#[test]
fn what_cannot_be_asked_or_learnt_is_refused_by_name() {
    let folder = Folder::new("survey-refused");
    let numbers = "task survey --label ill --classes no,yes --number age=40,10";
    for (words, message) in [
        (format!("{ILL} --losses cubic --bound 1 --epsilon 1"), "'cubic'"),
        (format!("{ILL} --losses logistic --epsilon 1"), "--bound"),
        (format!("{ILL} --losses logistic --bound -1 --epsilon 1"), "'-1'"),
        (format!("{ILL} --losses squared --bound 1 --epsilon 1"), "response"),
        (format!("{numbers} --losses logistic --bound 1 --epsilon 1"), "--radius is missing"),
        (format!("{ILL} --losses logistic --bound 1 --degree 9 --n 1000 --epsilon 1"), "degree 6 at most"),
        (format!("{ILL} --losses logistic --bound 1 --n 50 --epsilon 1"), "none"),
        (format!("{ILL} --radius 0 --epsilon 1"), "'0'"),
        (format!("{ILL} --n 3 --epsilon 1"), "too many for 3 people; at most"),
        (format!("{ILL} --copies 1 --epsilon 1"), "--delta"),
        (format!("{ILL} --copies 0 --mu 1"), "'0'"),
        (format!("{ILL} --mu 1"), "--copies"),
        (format!("{ILL} --copies 1 --losses hinge --bound 1 --mu 1"), "--losses"),
        (format!("{ILL} --losses hinge --blossom --bound 1 --epsilon 1"), "--blossom"),
        ("task survey --label ill --classes a,b,c --category s=n,y --epsilon 1".into(), "3 classes, not two"),
        ("task survey --label ill --category s=n,y --epsilon 1".into(), "0 classes, not two"),
        ("task survey --label ill=1,2 --classes a,b --category s=n,y --epsilon 1".into(), "no classes"),
        ("task survey --category s=n,y --radius 2 --epsilon 1".into(), "--label"),
        ("task survey --category s=n,y".into(), "--epsilon"),
    ] {
        refused(&words, 2, message);
    }
    let table = patients(&folder, 100);
    let (task, model) = (folder.path("task.toml"), folder.path("model.json"));
    let other = "task survey --label ill --classes no,yes --category drinks=no,yes --n 100 --epsilon 1";
    json(&format!("{other} -o {task}"));
    refused(&format!("privatize {table} --task {task} -o {}", folder.path("r.parquet")), 1, "`drinks`");
    let views = asked(&folder, "task survey --category smoker=no,yes --order 1 --n 100 --epsilon 1", &table);
    refused(&format!("train {views} -o {model}"), 1, "nothing is explained");
    let moments = asked(&folder, &format!("{ILL} --n 100 --epsilon 1"), &table);
    refused(&format!("train {moments} --l2 1 -o {model}"), 2, "--l2");
    for other in ["softmax", "auto", "cnn --flip"] {
        let refusal = format!("has no use for --model {}", other.split(' ').next().unwrap());
        refused(&format!("train {moments} --model {other} -o {model}"), 2, &refusal);
    }
    refused(&format!("train {moments} --method direct -o {model}"), 2, "moments");
    refused(&format!("train {moments} {moments} -o {model}"), 2, "one file");
    let labels = folder.path("labels.parquet");
    json(&format!("privatize {table} --label ill --epsilon 1 --seed 1 -o {labels}"));
    refused(&format!("train {labels} --method algorithm-4 -o {model}"), 2, "surveys");
}

#[test]
fn a_survey_is_shown_in_plain_words() {
    let folder = Folder::new("survey-shown");
    let task = folder.path("task.toml");
    json(&format!("{ILL} --epsilon 2 -o {task}"));
    let shown = text(&format!("task show {task}"));
    for words in [
        "the whole record: ill, smoker",
        "ε = 2: no report is more than 7.3891 times likelier",
        "by codebook",
    ] {
        assert!(shown.contains(words), "`{words}` is not in:\n{shown}");
    }
    let tiers = &json(&format!("task show {task}"))["tiers"];
    assert_eq!((&tiers[0]["epsilon"], tiers.as_array().unwrap().len()), (&2.0.into(), 1));
}

#[test]
fn answers_about_whole_records_cannot_judge_a_model() {
    // Nobody's features are public, so that there is nothing to predict from
    let folder = Folder::new("survey-judging");
    let table = patients(&folder, 2000);
    let reports = asked(&folder, &format!("{ILL} --epsilon 4"), &table);
    let model = folder.path("model.json");
    json(&format!("train {reports} -o {model}"));
    refused(&format!("evaluate {model} {reports}"), 1, "whole records, not for labels");
}
