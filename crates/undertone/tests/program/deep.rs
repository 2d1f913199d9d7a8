//! `reproduce deep`.

use crate::run::{command, fresh, json, refused, text};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A folder of this test at which there is nothing.
fn folder(name: &str) -> PathBuf {
    let folder = fresh(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

/// Mean and standard error of a method.
fn mean(findings: &Value, set: &str, method: &str, epsilon: f64) -> (f64, f64) {
    let means = findings["means"].as_array().unwrap();
    let here = |mean: &&Value| {
        mean["part"] == set && mean["method"] == method && mean["epsilon"].as_f64() == Some(epsilon)
    };
    let mean = means.iter().find(here).unwrap_or_else(|| panic!("{set}, {method}, {epsilon}"));
    (mean["mean"].as_f64().unwrap(), mean["standard_error"].as_f64().unwrap())
}

/// The record but for the seconds, which are never the same.
fn record(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("deep-runs.csv")).unwrap();
    text.lines().map(|line| line.rsplitn(3, ',').nth(2).unwrap().to_owned()).collect()
}

#[test]
fn without_data_the_methods_are_in_order_on_images_that_are_made() {
    let folder = folder("deep-quick");
    let findings = json(&format!("reproduce deep --quick --seed 1 -o {}", folder.display()));
    assert!(findings["simulation"] == true && findings["seed"] == 1);
    for epsilon in [2.0, 3.0] {
        let of = |method| mean(&findings, "synthetic", method, epsilon);
        let (one, two, ours) = (of("LP-1ST"), of("LP-2ST"), of("ours"));
        let lead = |better: (f64, f64), worse: (f64, f64)| (better.0 - worse.0) / better.1.hypot(worse.1);
        assert!(lead(two, one) > 2.0 && lead(ours, two) > 2.0, "ε = {epsilon}: {one:?}, {two:?}, {ours:?}");
    }
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let page = read("deep.html");
    // A table, and the four knobs
    assert!(page.contains("development seeds") && page.matches("<svg").count() == 5, "{page}");
    assert!(page.contains("did not reproduce") && read("deep-stages.svg").contains("number of stages"));
    assert_eq!(record(&folder).len(), 1 + findings["runs"].as_array().unwrap().len());
    assert_eq!(read("deep-claims.csv").lines().count(), 1 + findings["claims"].as_array().unwrap().len());
    assert_eq!(read("deep-means.csv").lines().count(), 1 + findings["means"].as_array().unwrap().len());
    assert!(
        page.contains(
            "Networks with 4 epochs were trained shorter than published (40 epochs for each stage)"
        )
    );
    assert!(!folder.join("deep-checkpoints").exists() && !folder.join("deep-features").exists());
    // What is there is not done again, and pages are made of it. What is done again would be recorded again, and could not even
    // begin: there are files where it needs folders.
    fs::remove_file(folder.join("deep.html")).unwrap();
    for needed in ["deep-checkpoints", "deep-features"] {
        fs::write(folder.join(needed), "in the way").unwrap();
    }
    let before = read("deep-runs.csv");
    let told = text(&format!("reproduce deep --quick --seed 1 -o {}", folder.display()));
    assert!(read("deep-runs.csv") == before && read("deep.html") == page);
    let runs = findings["runs"].as_array().unwrap().len();
    assert!(told.contains(&format!("seeds from 1: {runs} runs are recorded")), "{told}");
    fs::remove_dir_all(&folder).unwrap();
}

const SMALL: &str = "reproduce deep --only synthetic --method lp-1st,lp-2st --epsilon 2,inf --people 300 --network mlp --seed 7";

#[test]
fn a_study_that_was_killed_goes_on_and_ends_as_if_nothing_had_happened() {
    let (whole, cut) = (folder("deep-whole"), folder("deep-cut"));
    let words = format!("{SMALL} --epochs 40 --repetitions 2");
    let told = text(&format!("{words} -o {}", whole.display()));
    assert!(told.contains("synthetic, 300 people, development seeds") && told.contains("∞"), "{told}");
    // Two methods at 2, one without privacy, two seeds
    assert_eq!(record(&whole).len(), 1 + 6);
    let again = format!("{words} -o {}", cut.display());
    let mut child = command(&again).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let has_checkpoints = || {
        let folders = fs::read_dir(cut.join("deep-checkpoints")).into_iter().flatten();
        let files = folders.flat_map(|folder| fs::read_dir(folder.unwrap().path()).into_iter().flatten());
        files.flatten().any(|file| file.path().extension().is_some_and(|end| end == "checkpoint"))
    };
    let lines = || fs::read_to_string(cut.join("deep-runs.csv")).map_or(0, |text| text.lines().count());
    let started = Instant::now();
    while !(lines() >= 3 && has_checkpoints()) {
        assert!(started.elapsed() < Duration::from_mins(2) && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(lines() < 7 && !cut.join("deep.html").exists());
    let so_far = record(&cut);
    text(&again);
    assert_eq!(record(&cut)[..so_far.len()], so_far);
    assert_eq!(record(&cut), record(&whole));
    assert!(cut.join("deep.html").exists() && !cut.join("deep-checkpoints").exists());
    // More of the same goes to the same record; by force everything is forgotten.
    text(&format!("{SMALL} --epochs 2 --repetitions 1 -o {}", cut.display()));
    assert_eq!(record(&cut).len(), 1 + 9);
    let told = text(&format!("{SMALL} --epochs 2 --repetitions 1 --force -o {}", cut.display()));
    assert_eq!(record(&cut).len(), 1 + 3);
    assert!(
        told.contains("Networks with 2 epochs were trained shorter") && told.contains("(judges ± "),
        "{told}"
    );
    fs::remove_dir_all(&whole).unwrap();
    fs::remove_dir_all(&cut).unwrap();
}

/// The stages of features that are on the disk.
fn stages(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().map(|file| file.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|end| end == "stage")).collect()
}

#[test]
fn what_was_seen_of_features_is_kept_while_runs_are_left_and_counts_when_a_study_goes_on() {
    let (whole, cut) = (folder("deep-seen"), folder("deep-unseen"));
    let words = "reproduce deep --only synthetic --method ours --people 300 --seed 7";
    text(&format!("{words} --epsilon 2,3 --repetitions 2 -o {}", whole.display()));
    assert!(!whole.join("deep-features").exists());
    let again = format!("{words} --epsilon 2,3 --repetitions 2 -o {}", cut.display());
    let mut child = command(&again).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let features = cut.join("deep-features/synthetic-300");
    let lines = || fs::read_to_string(cut.join("deep-runs.csv")).map_or(0, |text| text.lines().count());
    let started = Instant::now();
    while lines() < 2 {
        assert!(started.elapsed() < Duration::from_mins(2) && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // Three stages for strokes, three for patches
    assert!(lines() < 5 && stages(&features).len() == 6);
    let so_far = record(&cut).len() - 1;
    fs::write(features.join("seconds.json"), r#"{"cpu":2000.0,"wall":3000.0}"#).unwrap();
    let findings = json(&again);
    assert_eq!(record(&cut), record(&whole));
    let late =
        findings["runs"].as_array().unwrap().iter().map(|run| run["wall_seconds"].as_f64() > Some(3e3));
    assert_eq!(late.collect::<Vec<_>>(), (0..4).map(|run| run >= so_far).collect::<Vec<_>>());
    assert!(!cut.join("deep-features").exists() && !cut.join("deep-checkpoints").exists());
    // What was killed between a record and its end leaves nothing behind when it goes on; what is somebody else's stays.
    let other = cut.join("deep-features/synthetic-301");
    fs::create_dir_all(&features).unwrap();
    fs::create_dir_all(&other).unwrap();
    text(&again);
    assert!(!features.exists() && other.exists());
    text(&format!("{words} --epsilon 2 --repetitions 1 --force -o {}", cut.display()));
    assert!(!other.exists());
    fs::remove_dir_all(&whole).unwrap();
    fs::remove_dir_all(&cut).unwrap();
}

/// An IDX file of bytes.
fn idx(path: &Path, dimensions: &[u32], bytes: impl Iterator<Item = u8>) {
    let mut file = vec![0, 0, 8, dimensions.len() as u8];
    for n in dimensions {
        file.extend(n.to_be_bytes());
    }
    file.extend(bytes);
    fs::write(path, file).unwrap();
}

/// Ten bright places in images of 12×12, of which the label is one.
fn digits(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    for (part, count) in [("train", 600u32), ("t10k", 100)] {
        let label = |row: u32| (row * 7 + row / 10) % 10;
        let pixel = move |row: u32, at: u32| {
            let (own, noise) =
                (at / 12 == label(row) + 1, row.wrapping_mul(2_654_435_761).wrapping_add(at * 97) >> 7);
            if own { 200 } else { (noise % 60) as u8 }
        };
        let pixels = (0..count).flat_map(|row| (0..144).map(move |at| pixel(row, at)));
        idx(&folder.join(format!("{part}-images-idx3-ubyte")), &[count, 12, 12], pixels);
        idx(
            &folder.join(format!("{part}-labels-idx1-ubyte")),
            &[count],
            (0..count).map(|row| label(row) as u8),
        );
    }
}

#[test]
fn sets_are_run_if_they_are_there_and_left_out_with_a_word_if_not() {
    let (data, out) = (folder("deep-data"), folder("deep-sets"));
    digits(&data.join("mnist"));
    fs::create_dir_all(data.join("ml-1m")).unwrap();
    let row = |i: u32| format!("{},{},{}\n", i % 40, i / 40 % 25, 1 + (i % 40 + i / 40 % 25) % 5);
    let rows: String = (0..1000).map(row).collect();
    fs::write(data.join("ml-1m/ratings.csv"), format!("user_id,movie_id,rating\n{rows}")).unwrap();
    let words = format!("reproduce deep --data {} -o {}", data.display(), out.display());
    let small = "--people 400 --epochs 1 --network mlp --repetitions 1 --epsilon 4";
    let findings = json(&format!("{words} {small} --seed 1"));
    let left_out = findings["left_out"].as_array().unwrap();
    // One set, and what of the paper there is no data for
    assert!(left_out.len() == 4, "{left_out:?}");
    let said = left_out[0].as_str().unwrap();
    assert!(
        said.contains("fashion is left out: there is no") && said.contains("train-images-idx3-ubyte.gz"),
        "{said}"
    );
    let runs = findings["runs"].as_array().unwrap();
    let of = |part: &str| runs.iter().filter(|run| run["part"] == part).collect::<Vec<_>>();
    assert_eq!((of("mnist").len(), of("ratings").len()), (3, 3));
    // Figures fall back on the images that are there.
    assert!(of("figures").iter().all(|run| run["set"] == "mnist" && run["people"] == 400));
    for run in runs {
        let value = run["value"].as_f64().unwrap();
        let accuracy = run["set"] != "ratings";
        assert!(if accuracy { (0.0..=1.0).contains(&value) } else { (0.1..3.0).contains(&value) }, "{run}");
        assert!(run["wall_seconds"].as_f64().unwrap() > 0.0 && run["people"] == 400, "{run}");
    }
    let ours = runs.iter().find(|run| run["part"] == "mnist" && run["method"] == "ours").unwrap();
    assert!(ours["value"].as_f64().unwrap() > 0.9 && ours["network"].is_null(), "{ours}");
    let page = fs::read_to_string(out.join("deep.html")).unwrap();
    assert!(page.contains("paper, LP-2ST") && page.contains("99.24") && page.contains("fashion is left out"));
    for missing in
        ["KMNIST is left out for want of data: all of table 5", "CIFAR-10 and CIFAR-100 are left out"]
    {
        assert!(page.contains(missing), "{missing}");
    }
    let means = fs::read_to_string(out.join("deep-means.csv")).unwrap();
    let line = |start: &str| {
        means.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start} in {means}"))
    };
    assert_eq!(
        line("part"),
        "part,set,method,epsilon,purpose,people,network,epochs,temperature,first_share,mixup,seeds,mean,standard_error,\
sampling_error,published,best_published"
    );
    let of_two = line("mnist,mnist,LP-2ST,4.0,development,400,mlp,1,0.5,0.65,4.0,1,");
    assert!(of_two.ends_with(",0.9924,0.9924"), "{of_two}");
    // One seed has no standard error, and the paper only its best number of ratings.
    let of_ratings = line("ratings,ratings,ours,4.0,development,400,,,,,,1,").split(',').collect::<Vec<_>>();
    assert!(of_ratings[14].parse::<f64>().unwrap() > 0.0, "{of_ratings:?}");
    assert_eq!([of_ratings[13], of_ratings[15], of_ratings[16]], ["", "", "0.874"]);
    assert!(
        page.contains("(judges ± ") && page.contains("Networks with 1 epochs were trained shorter"),
        "{page}"
    );
    // Runs of other files would pass for runs of these.
    fs::write(data.join("ml-1m/ratings.csv"), format!("user_id,movie_id,rating\n{}{rows}", row(1))).unwrap();
    refused(&format!("{words} {small} --seed 1"), 1, "has runs of ratings with other files");
    idx(&data.join("mnist/t10k-labels-idx1-ubyte"), &[100], (0..100).map(|row| row % 10));
    refused(&format!("{words} {small} --seed 1 --only mnist"), 1, "has runs of mnist with other files");
    // Also of sets that are not run now
    let sources = fs::read_to_string(out.join("deep-sources.csv")).unwrap();
    fs::write(out.join("deep-sources.csv"), sources.replace("ratings,1,", "ratings,0,")).unwrap();
    refused(&format!("{words} --only mnist"), 1, "has runs of ratings by earlier methods");
    let words = format!("{words}-others");
    let bad = "user_id,movie_id,rating\n1,1,5\n1,2,6\n";
    fs::write(data.join("ml-1m/ratings.csv"), bad).unwrap();
    refused(
        &format!("{words} --only ratings --seed 3"),
        1,
        "row 2 is user 1, movie 2, rating 6; the rating has",
    );
    fs::write(data.join("ml-1m/ratings.csv"), "user_id,movie_id,rating\n1,1,5\n-1,2,6\n").unwrap();
    refused(&format!("{words} --only ratings --seed 3"), 1, "the user has to be a whole number");
    fs::write(data.join("ml-1m/ratings.csv"), "user_id,movie_id,rating\n1,1000000,5\n").unwrap();
    refused(&format!("{words} --only ratings --seed 3"), 1, "the movie has to be a whole number");
    idx(&data.join("mnist/t10k-labels-idx1-ubyte"), &[100], (0..100).map(|row| row % 11));
    refused(&format!("{words} --only mnist --seed 3"), 1, "the label of row 11 is 10, not from 0 to 9");
    fs::remove_dir_all(format!("{}-others", out.display())).unwrap();
    fs::remove_dir_all(&data).unwrap();
    fs::remove_dir_all(&out).unwrap();
}

#[test]
fn what_cannot_be_run_is_refused_before_anything_is_written() {
    let out = folder("deep-refused");
    let words = format!("reproduce deep -o {}", out.display());
    refused("reproduce deep --quick", 2, "--output");
    refused(&words, 2, "--data names the folder in which mnist/train-images-idx3-ubyte.gz lies");
    refused(
        &format!("{words} --quick --only ratings"),
        2,
        "--data names the folder in which ml-1m/ratings.parquet",
    );
    refused(&format!("{words} --data nowhere"), 1, "nowhere is no folder");
    for (option, named) in [
        ("--only cifar", "'cifar'"),
        ("--people 0", "'0'"),
        ("--people -3", "'-3'"),
        ("--epochs 0", "'0'"),
        ("--repetitions 0", "'0'"),
        ("--epsilon 0", "epsilon is 0"),
        ("--epsilon 1,-1", "epsilon is -1"),
        ("--epsilon nan", "epsilon is NaN"),
        ("--method svm", "'svm'"),
        ("--network vgg", "'vgg'"),
        ("--network rating", "'rating'"),
        ("--network inception/99", "'inception/99'"),
        ("--seed x", "'x'"),
    ] {
        refused(&format!("{words} --quick {option}"), 2, named);
    }
    // Nothing of which it could be said whether it is in order
    for option in ["--method ours", "--method lp-1st,ours", "--only figures", "--epsilon inf"] {
        refused(&format!("{words} --quick {option}"), 2, "no two of them are run that would have to be");
    }
    assert!(!out.exists());
    // Files of ours without their record are somebody's.
    fs::create_dir_all(&out).unwrap();
    fs::write(out.join("deep.html"), "precious").unwrap();
    refused(&format!("{words} --quick"), 1, "--force");
    fs::write(out.join("deep-runs.csv"), "something else\n").unwrap();
    refused(&format!("{words} --quick"), 1, "no record");
    assert_eq!(fs::read_to_string(out.join("deep.html")).unwrap(), "precious");
    fs::remove_dir_all(&out).unwrap();
}
