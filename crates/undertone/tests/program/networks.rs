//! Networks: `train --model mlp`, `cnn`, `inception` and `rating`, and `simulate` with them.

use crate::averages::{COLOUR, HEIGHT, board, tent};
use crate::learning::{Folder, number};
use crate::run::{command, json, refused, text};
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Images of eight by eight with a bright quarter, which is the label, and noise, in two files of IDX: the table is the first.
fn images(folder: &Folder, name: &str, count: u32) -> String {
    let mut word = 0x1234_5678_9abc_def1_u64 ^ u64::from(count) << 20;
    let mut noise = || {
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        (word >> 40) as f64 / f64::from(1 << 24)
    };
    let header = |dimensions: &[u32]| {
        let mut bytes = vec![0, 0, 8, dimensions.len() as u8];
        bytes.extend(dimensions.iter().flat_map(|n| n.to_be_bytes()));
        bytes
    };
    let (mut pixels, mut labels) = (header(&[count, 8, 8]), header(&[count]));
    for row in 0..count {
        let label = (row * 7 + row / 5) % 4;
        labels.push(label as u8);
        for place in 0..64 {
            let quarter = (place / 32) * 2 + u32::from(place % 8 >= 4);
            pixels.push((190.0 * noise() + if quarter == label { 64.0 } else { 0.0 }) as u8);
        }
    }
    fs::write(folder.path(&format!("{name}-labels-idx1-ubyte")), labels).unwrap();
    let table = folder.path(&format!("{name}-images-idx3-ubyte"));
    fs::write(&table, pixels).unwrap();
    table
}

/// Simulated reports.
fn reports(folder: &Folder, table: &str, words: &str, name: &str) -> String {
    let path = folder.path(name);
    json(&format!("privatize {table} {words} --seed 1 -o {path}"));
    path
}

/// Waits until it holds, but not for longer; whether it does.
fn within_a_minute(mut holds: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < Duration::from_mins(1) {
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    false
}

const LABEL: &str = "--label label --classes 0,1,2,3";

fn accuracy(model: &str, table: &str, label: &str) -> f64 {
    number(&json(&format!("evaluate {model} {table} --label {label}")), "accuracy")
}

#[test]
fn a_network_learns_images_from_reports_and_says_how_well() {
    let folder = Folder::new("networks-images");
    let (table, test) = (images(&folder, "train", 3000), images(&folder, "test", 1000));
    let told = reports(&folder, &table, &format!("{LABEL} --epsilon 3"), "reports.parquet");
    let others = reports(&folder, &test, &format!("{LABEL} --epsilon 3"), "others.parquet");
    for (kind, epochs) in [("cnn", 6), ("inception", 4), ("mlp", 6)] {
        let model = folder.path(&format!("{kind}.json"));
        let words = format!("train {told} --model {kind} --epochs {epochs} --seed 3");
        let trained = json(&format!("{words} -o {model}"));
        assert_eq!((&trained["model"], &trained["method"]), (&kind.into(), &"likelihood".into()));
        let steps = trained["epochs"].as_array().unwrap();
        assert!((1..=epochs).contains(&steps.len()), "{trained}");
        assert!(steps.iter().all(|step| step["loss"].is_number() && step["report_likelihood"].is_number()));
        let truth = accuracy(&model, &test, "label");
        assert!(truth > 0.9, "{kind}: {truth}");
        let from_reports = json(&format!("evaluate {model} {others}"));
        let apart = (number(&from_reports, "accuracy") - truth).abs();
        assert!(apart < 5.0 * number(&from_reports, "accuracy_standard_error"), "{kind}: {apart}");
        let held_out = &trained["held_out_accuracy"];
        let apart = (number(held_out, "value") - truth).abs();
        assert!(apart < 5.0 * number(held_out, "standard_error"), "{kind}: {held_out}");
        let predictions = folder.path(&format!("{kind}.csv"));
        json(&format!("predict {model} {test} --probabilities -o {predictions}"));
        let written = fs::read_to_string(&predictions).unwrap();
        assert!(written.starts_with("prediction,probability,probability:0,"), "{written}");
        assert_eq!(written.lines().count(), 1001);
    }
    // The same reports and the same seed are the same network, and no other.
    let again = |name: &str, options: &str| {
        let path = folder.path(name);
        json(&format!("train {told} --model cnn --epochs 6 {options} -o {path}"));
        fs::read(path).unwrap()
    };
    let before = fs::read(folder.path("cnn.json")).unwrap();
    assert_eq!(again("again.json", "--seed 3"), before);
    assert_ne!(again("other.json", "--seed 4"), before);
    let read = undertone_learn::Model::from_json(std::str::from_utf8(&before).unwrap()).unwrap();
    assert_eq!(read.to_json().unwrap().as_bytes(), before);
}

#[test]
fn how_a_network_is_trained_can_be_said() {
    let folder = Folder::new("networks-words");
    let table = images(&folder, "train", 400);
    let train =
        |words: &str| format!("train {table} --label label --model cnn --epochs 1 --force {words} -o");
    let trained = |words: &str| {
        let model = folder.path("model.json");
        json(&format!("{} {model}", train(words)));
        // Without what it says of its training
        serde_json::from_str::<Value>(&fs::read_to_string(model).unwrap()).unwrap()["predictor"].to_string()
    };
    let usual = trained("");
    // As for every network, and for images of this size
    assert!(trained("--rate 0.1 --l2 1e-4 --shift 0") == usual);
    let mut models = vec![usual];
    for words in ["--rate 0.05", "--l2 1e-2", "--mixup 4", "--shift 1", "--flip", "--cutout 3"] {
        let model = trained(words);
        assert!(!models.contains(&model), "{words} changes nothing");
        models.push(model);
    }
    let out = folder.path("x.json");
    for (words, message) in [
        ("--shift 8", "the shift is 8 pixels, and has to be less than the side of an image, which is 8"),
        ("--cutout 8", "what is cut out is 8 pixels, and has to be less than"),
    ] {
        refused(&format!("{} {out}", train(words)), 1, message);
    }
}

#[test]
fn a_second_stage_is_asked_with_a_network_and_starts_from_it() {
    let folder = Folder::new("networks-stages");
    let (table, test) = (images(&folder, "train", 3000), images(&folder, "test", 1000));
    let words = format!("{LABEL} --epsilon 2 --mechanism rr");
    let first = reports(&folder, &table, &format!("{words} --part 1/2"), "first.parquet");
    let (model, both) = (folder.path("first.json"), folder.path("both.json"));
    json(&format!("train {first} --model cnn --epochs 6 -o {model}"));
    let priors = format!("{LABEL} --epsilon 2 --part 2/2 --prior {model} --temperature 0.5");
    let second = reports(&folder, &table, &priors, "second.parquet");
    let trained = json(&format!("train {first} {second} --model cnn --epochs 3 --start {model} -o {both}"));
    assert_eq!(number(&trained, "reports").to_bits(), 3000f64.to_bits());
    let (before, after) = (accuracy(&model, &test, "label"), accuracy(&both, &test, "label"));
    assert!(before > 0.8 && after > 0.9, "{before}, then {after}");
    // What is begun with has to be a network of the same sort.
    let line = folder.path("line.json");
    json(&format!("train {first} --epochs 1 --l2 1e-3 -o {line}"));
    let start = |kind: &str, from: &str| {
        format!("train {second} --model {kind} --start {from} -o {}", folder.path("x"))
    };
    refused(&start("cnn", &line), 1, "holds a line: --model cnn cannot start from it");
    refused(&start("softmax", &model), 1, "holds a network: --model softmax cannot start from it");
    let other = "the network to start from is a small network of filters on images of 8×8×1 for 4 classes, and what is trained is a network of dense";
    refused(&start("mlp", &model), 1, other);
}

#[test]
fn every_method_and_retraining_learn_what_no_line_separates() {
    let folder = Folder::new("networks-methods");
    let table = board(&folder, 6000);
    let told = reports(&folder, &table, &format!("{COLOUR} --epsilon 2"), "reports.parquet");
    for options in [
        "--method likelihood",
        "--method debiased",
        "--method posterior",
        "--method naive",
        "--retrain predicted",
        "--retrain consensus",
        "--retrain posterior",
    ] {
        let model = folder.path("model.json");
        let trained = json(&format!("train {told} --model mlp --epochs 12 {options} --force -o {model}"));
        let networks =
            trained["epochs"].as_array().unwrap().iter().map(|epoch| epoch["network"].as_u64().unwrap());
        assert_eq!(networks.max(), Some(1 + u64::from(options.starts_with("--retrain"))), "{options}");
        let found = accuracy(&model, &table, "colour");
        assert!(found > 0.9, "{options}: {found}");
    }
    let model = folder.path("sets.json");
    let shown = text(&format!("train {told} --model mlp --epochs 12 --coverage 0.9 --explain -o {model}"));
    assert!(shown.contains("since they also chose when to end") && shown.contains("← kept"), "{shown}");
    assert!(shown.contains("Sets hold the label of 90 % of people"), "{shown}");
    let held = json(&format!("evaluate {model} {table} --label colour"));
    assert!(number(&held, "coverage") > 0.9, "{held}");
    // True labels, for comparison
    let clear = folder.path("clear.json");
    let trained = json(&format!("train {table} --label colour --model mlp --epochs 6 -o {clear}"));
    assert!(trained["epsilon"].is_null() && accuracy(&clear, &table, "colour") > 0.95, "{trained}");
}

#[test]
fn training_that_was_killed_goes_on_and_ends_in_the_same_bits() {
    let folder = Folder::new("networks-killed");
    let table = board(&folder, 6000);
    let told = reports(&folder, &table, &format!("{COLOUR} --epsilon 1"), "reports.parquet");
    let train = |name: &str, options: &str| {
        format!("train {told} --model mlp --epochs 40 {options} -o {}", folder.path(name))
    };
    let undisturbed = json(&train("undisturbed.json", ""));
    let checkpoints = folder.path("checkpoints");
    let words = train("killed.json", &format!("--checkpoints {checkpoints}"));
    let mut killed = command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let written =
        within_a_minute(|| fs::read_dir(&checkpoints).is_ok_and(|mut files| files.next().is_some()));
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(written, "nothing was kept");
    let _ = fs::remove_file(folder.path("killed.json"));
    let trained = json(&words);
    assert_eq!(
        fs::read(folder.path("killed.json")).unwrap(),
        fs::read(folder.path("undisturbed.json")).unwrap()
    );
    // All epochs are told of, those before the interruption too, and where nothing was left to do.
    assert!(undisturbed["epochs"][0]["epoch"] == 1, "{undisturbed}");
    let again = json(&format!("{words} --force"));
    for told in [&trained, &again] {
        for key in ["epochs", "held_out_accuracy"] {
            assert_eq!(told[key], undisturbed[key], "{key}");
        }
    }
    for entry in fs::read_dir(&checkpoints).unwrap() {
        fs::write(entry.unwrap().path(), "nonsense").unwrap();
    }
    refused(&format!("{words} --force"), 1, ".checkpoint");
}

#[test]
fn training_that_is_told_to_end_leaves_nothing_beside_its_output() {
    let folder = Folder::new("networks-told-to-end");
    let table = board(&folder, 400);
    let told = reports(&folder, &table, &format!("{COLOUR} --epsilon 1"), "reports.parquet");
    let out = folder.path("out");
    fs::create_dir(&out).unwrap();
    for signal in ["-INT", "-TERM"] {
        let checkpoints = folder.path(signal);
        let words = format!(
            "train {told} --model mlp --method naive --epochs 4000000 --checkpoints {checkpoints} -o {out}/model.json"
        );
        let mut run = command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        assert!(within_a_minute(|| fs::read_dir(&checkpoints).is_ok_and(|mut files| files.next().is_some())));
        let at_work: Vec<_> = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(run.try_wait().unwrap().is_none() && at_work.is_empty(), "{at_work:?}");
        let sent = Command::new("kill").args([signal, &run.id().to_string()]).status().unwrap();
        assert!(sent.success(), "{signal}");
        // Whoever started the tests may have had SIGINT ignored.
        if !within_a_minute(|| run.try_wait().unwrap().is_some()) {
            run.kill().unwrap();
        }
        assert!(!run.wait().unwrap().success());
        assert_eq!(fs::read_dir(&out).unwrap().count(), 0, "{signal}");
    }
}

#[test]
fn ratings_are_learnt_of_two_categories_that_meet() {
    let folder = Folder::new("networks-ratings");
    // People like things of their own kind; those of one kind have odd numbers
    let mut table = String::from("person,thing,rating\n");
    for (person, thing) in (0..60).flat_map(|person| (0..50).map(move |thing| (person, thing))) {
        writeln!(table, "{person},{thing},{}", if (person + thing) % 2 == 0 { 5 } else { 2 }).unwrap();
    }
    let table = folder.file("ratings.csv", &table);
    let told = reports(&folder, &table, "--label rating --classes 1,2,3,4,5 --epsilon 4", "reports.parquet");
    let model = folder.path("model.json");
    json(&format!("train {told} --model rating --epochs 40 --batch 50 -o {model}"));
    let found = accuracy(&model, &table, "rating");
    assert!(found > 0.9, "{found}");
    // Whoever was never seen is predicted all the same.
    let new = folder.file("new.csv", "person,thing\n1000,3\n3,1000\n");
    json(&format!("predict {model} {new} -o {}", folder.path("new-predictions.csv")));
    let three = folder.file("three.csv", "a,b,c,rating\n1,2,3,4\n1,2,3,5\n");
    let words = format!("train {three} --label rating --model rating -o {}", folder.path("x"));
    refused(&words, 1, "two columns that are categories");
}

#[test]
fn networks_are_compared_by_simulation() {
    let folder = Folder::new("networks-simulation");
    let table = board(&folder, 3000);
    let words = format!("simulate {table} --label colour --epsilon 3,inf --repetitions 1");
    let compared = json(&format!("{words} --method mlp,mlp-1st,mlp-2st,one-round"));
    let outcomes = compared["outcomes"].as_array().unwrap();
    let of = |method: &str, private: bool| {
        let mut found = outcomes.iter().filter(|outcome| outcome["method"] == method);
        let found = found.find(|outcome| outcome["epsilon"].is_number() == private).unwrap();
        number(&found["accuracy"], "value")
    };
    // A board of two by two fields is nothing to a line.
    assert!(of("one-round", true) < 0.7 && of("one-round", false) < 0.7, "{compared}");
    for method in ["mlp", "mlp-1st", "mlp-2st"] {
        assert!(of(method, true) > 0.85 && of(method, false) > 0.9, "{method}: {compared}");
    }
    refused(&format!("{words} --method cnn"), 1, "takes one column of square images, not 2 public columns");
    // Figures that constants may have been chosen by are told from others
    assert_eq!(compared["purpose"], "development");
    let confirmed = text(&format!("{words} --method rr-naive --seed 101"));
    assert!(confirmed.starts_with("Simulation with seed 101, for confirmation: "), "{confirmed}");
    let images = images(&folder, "train", 600);
    let seen = json(&format!("simulate {images} --label label --epsilon 4 --repetitions 1 --method cnn"));
    assert!(number(&seen["outcomes"][0]["accuracy"], "value") > 0.8, "{seen}");
}

#[test]
fn a_network_is_refused_what_it_would_learn_nothing_of() {
    let folder = Folder::new("networks-nothing");
    let out = folder.path("x.json");
    let train = |words: &str| format!("train {words} --model mlp --epochs 1 --force -o {out}");
    // Columns that never change
    let mut same = String::from("x,y,colour\n");
    (0..200).for_each(|person| writeln!(same, "1,2,{}", ["dark", "light"][person % 2]).unwrap());
    let same = folder.file("same.csv", &same);
    refused(&train(&format!("{same} --label colour")), 1, "all 200 people have the same features");
    // A class that nobody reports, unless a network to start from has been told of it
    let colours = board(&folder, 400);
    let words = "--label colour --classes dark,grey,light --mechanism rr --epsilon";
    let silent = reports(&folder, &colours, &format!("{words} 12"), "silent.parquet");
    let refusal =
        "class `grey` is in no report, and a network has to learn of every class: --model softmax can";
    refused(&train(&silent), 1, refusal);
    let told = reports(&folder, &colours, &format!("{words} 1"), "told.parquet");
    json(&train(&told));
    let first = folder.path("first.json");
    fs::rename(&out, &first).unwrap();
    json(&train(&format!("{silent} --start {first}")));
    // More features than it takes
    let texts = folder.file("texts.csv", "said,colour\none two,dark\nthree,light\n");
    let wide = format!("{texts} --label colour --column said=text --buckets 4000000");
    refused(&train(&wide), 1, "at most 1048576 features, and the columns make 4000000");
    refused(&train(&wide), 1, "(--buckets), or leave columns out (--column NAME=skip)");
}

#[test]
fn what_no_network_can_be_made_of_is_refused() {
    let folder = Folder::new("networks-refused");
    let (colours, heights) = (board(&folder, 400), tent(&folder, 100));
    let told = reports(&folder, &colours, &format!("{COLOUR} --epsilon 2"), "reports.parquet");
    let numbers = reports(&folder, &heights, &format!("{HEIGHT} --epsilon 2"), "numbers.parquet");
    let out = folder.path("x.json");
    for (words, code, message) in [
        (format!("{told} --model cnn"), 1, "takes one column of square images, not 2 public columns"),
        (format!("{told} --model inception"), 1, "`mlp` takes all"),
        (format!("{told} --model mlp --flip"), 2, "--model mlp has no use for --flip"),
        (format!("{told} --model rating --mixup 1"), 2, "--model rating has no use for --mixup"),
        (format!("{told} --model softmax --rate 1"), 2, "--model softmax has no use for --rate"),
        (format!("{told} --model mlp --mixup 0"), 2, "'0'"),
        (format!("{told} --model mlp --radius 1"), 2, "--model mlp has no use for --radius"),
        (format!("{told} --model mlp --method sgd"), 2, "--method sgd is for lines"),
        (format!("{told} --model mlp --method direct"), 2, "for surveys"),
        (format!("{told} --model mlp --epochs 0"), 2, "'0'"),
        (format!("{told} --checkpoints {out}"), 2, "--model softmax has no use for --checkpoints"),
        (format!("{told} --model forest --retrain posterior"), 2, "--model forest has no use for --retrain"),
        (format!("{told} --model mlp --retrain sometimes"), 2, "'sometimes'"),
        (format!("{told} --model mlp --memory 1"), 1, "1 MB are allowed: allow more (--memory)"),
        (format!("{told} --model mlp --memory 1"), 1, "smaller batches (--batch)"),
        (format!("{numbers} --model mlp"), 2, "--model mlp is for classes, and the label is a number"),
        (format!("{heights} --label height --low 0 --high 2 --model cnn"), 2, "is for classes"),
    ] {
        refused(&format!("train {words} -o {out}"), code, message);
    }
    let oblong = folder.path("oblong-images-idx3-ubyte");
    let write = |header: &[u8]| fs::write(&oblong, [header, &[7; 9 * 72]].concat()).unwrap();
    let labels = [&[0u8, 0, 8, 1, 0, 0, 0, 9][..], &[0, 1, 2, 0, 1, 2, 0, 1, 2]].concat();
    fs::write(folder.path("oblong-labels-idx1-ubyte"), labels).unwrap();
    let words = format!("train {oblong} --label label --model cnn -o {out}");
    // Eight by nine, and 72 numbers of which nobody says what they are
    write(&[0, 0, 8, 3, 0, 0, 0, 9, 0, 0, 0, 8, 0, 0, 0, 9]);
    refused(&words, 1, "the images are not square");
    write(&[0, 0, 8, 2, 0, 0, 0, 9, 0, 0, 0, 72]);
    refused(&words, 1, "column `image`: a vector of 72 numbers is no square image");
    let few = folder.file("few.csv", "x,colour\n1,dark\n2,light\n");
    let words = format!("train {few} --label colour --model mlp -o {out}");
    refused(&words, 1, "too few reports to keep one in eight aside");
    // A model that somebody has changed
    let model = folder.path("model.json");
    json(&format!("train {told} --model mlp --epochs 1 -o {model}"));
    let text = fs::read_to_string(&model).unwrap();
    for (from, to) in [
        ("\"inputs\":2", "\"inputs\":3"),
        ("\"inputs\":2", "\"inputs\":18446744073709551615"),
        ("\"hidden\":[256,128]", "\"hidden\":[256,127]"),
        ("\"weights\":\"", "\"weights\":\"AAAA"),
        ("\"classes\":2", "\"classes\":3"),
        ("\"classes\":[\"dark\"", "\"classes\":[\"grey\",\"dark\""),
        ("\"features\"", "\"names\""),
        ("\"mlp\"", "\"mpl\""),
    ] {
        assert!(text.contains(from), "{from}");
        let broken = folder.file("broken.json", &text.replacen(from, to, 1));
        refused(&format!("predict {broken} {colours} -o {}", folder.path("y.csv")), 1, "this is not a model");
    }
}
