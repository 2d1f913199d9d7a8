//! `demo`.

use crate::run::{close, command, json, text};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;

#[test]
fn the_demonstration_repeats_itself_only_under_a_seed_and_says_so() {
    let known = |facts: &serde_json::Value| {
        let compared = facts["comparison"].as_array().unwrap();
        // What is learnt while reports come in depends on their order, which is the network's.
        let repeatable = compared.iter().filter(|row| row["method"] != "undertone, live");
        (facts["shares"].clone(), repeatable.cloned().collect::<Vec<_>>())
    };
    let [first, again] = [1, 2].map(|_| json("demo --devices 1000 --seed 7 --exit"));
    assert_eq!(known(&first), known(&again));
    assert_eq!(first["randomness"], "seed 7, for simulation only");
    let other = json("demo --devices 1000 --exit");
    assert_eq!(other["randomness"], "operating system");
    assert_ne!(first["shares"], other["shares"]);
}

#[test]
fn the_demonstration_tells_the_whole_story() {
    let story = text("demo --devices 4000 --seed 1 --exit");
    let parts =
        ["The question", "The promise", "http://127.0.0.1:", "4,000 reports", "95 % intervals", "The audit"];
    for part in parts {
        assert!(story.contains(part), "{part}: {story}");
    }
    assert!(story.contains("✓ the promise is kept"));
}

#[test]
fn with_all_devices_the_model_is_nearly_as_good_as_without_privacy() {
    let facts = json("demo --seed 1 --exit");
    assert_eq!(facts["devices"], 20_000);
    assert_eq!(facts["audit"]["verdict"], "kept");
    close(&facts["audit"]["exact"], 1.0, 1e-9);
    for share in facts["shares"].as_array().unwrap() {
        let [low, high, truth] = ["low", "high", "truth"].map(|key| share[key].as_f64().unwrap());
        assert_eq!(share["covered"], low <= truth && truth <= high);
    }
    let accuracy = |place: usize| facts["comparison"][place]["accuracy"]["value"].as_f64().unwrap();
    let [clear, ours, live, rival] = [0, 1, 2, 3].map(accuracy);
    // The baseline of the data is 93.1 %; one in three has the commonest rank.
    assert!((clear - 0.931).abs() < 0.02 && clear - ours < 0.03 && live > 0.8 && rival > 0.8, "{facts:#}");
    // The curve rises, by more than its own scatter. Its beginning is what all say who judged before a thousand had reported:
    // what its first point is depends on the hundred who judge it, hence on the order of reports, which is the network's.
    let curve = facts["curve"].as_array().unwrap();
    let early = curve.iter().map(|point| ["reports", "accuracy"].map(|key| point[key].as_f64().unwrap()));
    let early: Vec<[f64; 2]> = early.filter(|[reports, _]| *reports < 1000.0).collect();
    assert_eq!(early.len(), 4, "{curve:?}");
    // A point is judged by a third as many as it has learnt from: that is its weight.
    let weights: f64 = early.iter().map(|[reports, _]| reports).sum();
    let first = early.iter().map(|[reports, accuracy]| reports * accuracy).sum::<f64>() / weights;
    assert!(curve.last().unwrap()["low"].as_f64() > Some(first), "{first}, {curve:?}");
}

#[test]
fn the_dashboard_stays_until_it_is_interrupted() {
    // With the usual port taken, it gets one that no other demonstration asks for when this one has ended.
    let _usual = TcpListener::bind("127.0.0.1:8080");
    let mut demo = command("demo --devices 1000 --seed 1").stdout(Stdio::piped()).spawn().unwrap();
    let told = BufReader::new(demo.stdout.take().unwrap()).lines().map(Result::unwrap);
    let invitation = told.into_iter().find(|line| line.contains("until Ctrl-C")).unwrap();
    let address = invitation.split_once("http://").unwrap().1.split_once(' ').unwrap().0;
    let mut page = String::new();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    stream.read_to_string(&mut page).unwrap();
    assert!(page.contains("<!doctype html>") || page.contains("<!DOCTYPE html>"), "{page}");
    let interrupted = std::process::Command::new("kill").args(["-INT", &demo.id().to_string()]).status();
    assert!(interrupted.unwrap().success());
    assert!(demo.wait().unwrap().success());
    assert!(TcpStream::connect(address).is_err());
    let folder = std::env::temp_dir().join(format!("undertone-demo-{}", demo.id()));
    assert!(!folder.exists());
}
