//! `simulate insurance`.

use crate::run::{fresh, json, refused, text};
use std::fs;
use std::path::Path;

const HEADER: &str = "age,gender,bmi,children,smoker,region,medical_history,family_medical_history,exercise_frequency,\
occupation,coverage_level,charges";

fn made(name: &str, words: &str) -> std::path::PathBuf {
    let path = fresh(name);
    let told = text(&format!("simulate insurance {words} -o {}", path.display()));
    assert!(told.contains("Simulation") && told.contains("do not exist"), "{told}");
    path
}

fn charges(path: &Path) -> Vec<f64> {
    let table = fs::read_to_string(path).unwrap();
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some(HEADER));
    lines.map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn charges_have_the_moments_of_the_formula() {
    let path = made("moments.csv", "--rows 50000 --seed 3");
    let charges = charges(&path);
    let n = charges.len() as f64;
    assert_eq!(charges.len(), 50_000);
    let mean = charges.iter().sum::<f64>() / n;
    let moment = |k| charges.iter().map(|x| (x - mean).powi(k)).sum::<f64>() / n;
    let (variance, fourth) = (moment(2), moment(4));
    assert!((mean - 16_570.0).abs() < 5.0 * (variance / n).sqrt(), "{mean}");
    // 3905 is rounded to a dollar
    let error = ((fourth - variance * variance) / n).sqrt() / (2.0 * 3905.0);
    assert!((variance.sqrt() - 3905.0).abs() < 5.0 * error + 1.0, "{} ± {error}", variance.sqrt());
    fs::remove_file(path).unwrap();
}

#[test]
fn the_same_seed_gives_the_same_bytes_in_every_format_and_another_others() {
    for end in ["csv", "csv.gz", "parquet"] {
        let name = |number: u32| format!("same-{number}.{end}");
        let files = [
            made(&name(1), "--rows 2000 --seed 5"),
            made(&name(2), "--rows 2000 --seed 5"),
            made(&name(3), "--rows 2000 --seed 6"),
        ];
        let [one, two, other] = files.each_ref().map(|path| fs::read(path).unwrap());
        assert!(one == two && one != other, "{end}");
        for path in files {
            fs::remove_file(path).unwrap();
        }
    }
    // A table with fewer people has the same first ones.
    let (short, long) = (made("short.csv", "--rows 100"), made("long.csv", "--rows 101"));
    assert!(fs::read_to_string(&long).unwrap().starts_with(&fs::read_to_string(&short).unwrap()));
    fs::remove_file(short).unwrap();
    fs::remove_file(long).unwrap();
}

#[test]
fn a_table_can_be_learnt_from_in_every_format() {
    for end in ["csv.gz", "parquet"] {
        let path = made(&format!("learnt.{end}"), "--rows 2000");
        let summary =
            json(&format!("simulate {} --label smoker --epsilon 2 --repetitions 1", path.display()));
        assert_eq!(summary["classes"], 2, "{end}");
        assert_eq!(summary["people"].as_u64().unwrap() + summary["judged_by"].as_u64().unwrap(), 2000);
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn nothing_is_replaced_without_force_and_bad_numbers_are_named() {
    let path = made("precious.csv", "--rows 10");
    fs::write(&path, "precious").unwrap();
    let command = format!("simulate insurance --rows 10 -o {}", path.display());
    refused(&command, 1, "--force replaces it");
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    let summary = json(&format!("{command} --force"));
    assert!(summary["simulation"] == true && summary["rows"] == 10);
    refused("simulate insurance --rows 0 -o never.csv", 2, "at least one person is needed");
    refused("simulate insurance --rows -5 -o never.csv", 2, "'-5'");
    refused("simulate insurance --rows 99999999999 -o never.csv", 2, "99999999999 are too many");
    refused("simulate insurance --seed x -o never.csv", 2, "'x'");
    refused("simulate insurance", 2, "--output");
    refused("simulate", 2, "--label");
    refused("simulate --label y insurance -o never.csv", 2, "simulate <COMMAND>");
    fs::remove_file(path).unwrap();
}
