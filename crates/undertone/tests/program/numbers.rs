//! Labels that are numbers, from a table to predictions.

use crate::learning::{Folder, number};
use crate::run::{json, refused, text};
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// People whose rent is 2 for each square metre, 300 more in Ulm, and at times off by up to 100; one in fifty is beyond 1500. The file, and
/// how many are beyond.
fn rents(folder: &Folder, people: u32) -> (String, u64) {
    let mut table = String::from("metres,town,rent\n");
    let mut outside = 0;
    for person in 0..people {
        let metres = 20 + person * 37 % 180;
        let ulm = person.is_multiple_of(3);
        let off = f64::from(person * 7919 % 201) - 100.0;
        let far = if person % 50 == 7 { 2000.0 } else { 0.0 };
        let rent = 400.0 + 2.0 * f64::from(metres) + if ulm { 300.0 } else { 0.0 } + off + far;
        outside += u64::from(rent > 1500.0);
        let town = if ulm { "Ulm" } else { "Bonn" };
        writeln!(table, "{metres},{town},{rent}").unwrap();
    }
    (folder.file("rents.csv", &table), outside)
}

const RENT: &str = "--label rent --low 0 --high 1500";

/// Whether a figure is within five of its standard errors of what is true.
fn near(value: &Value, key: &str, truth: f64) -> bool {
    (number(value, key) - truth).abs() < 5.0 * number(value, &format!("{key}_standard_error"))
}

#[test]
fn reports_become_a_line_whose_error_the_reports_of_others_tell() {
    let folder = Folder::new("numbers-whole-way");
    let (table, outside) = rents(&folder, 9000);
    let mut clipped = 0;
    for part in [1, 2] {
        let reports = folder.path(&format!("{part}.parquet"));
        let made =
            json(&format!("privatize {table} {RENT} --epsilon 4 --seed {part} --part {part}/2 -o {reports}"));
        assert_eq!((&made["mechanism"], &made["simulation"]), (&"hybrid-best".into(), &true.into()));
        assert!(number(&made, "realised_epsilon") <= 4.0 && made["classes"].is_null());
        clipped += made["clipped"].as_u64().unwrap();
    }
    assert_eq!(clipped, outside);
    let (model, exact) = (folder.path("model.json"), folder.path("exact.json"));
    let (learnt, others) = (folder.path("1.parquet"), folder.path("2.parquet"));
    let trained = json(&format!("train {learnt} -o {model}"));
    assert_eq!(
        (&trained["model"], &trained["method"], &trained["epsilon"]),
        (&"linear".into(), &"ridge".into(), &4.0.into())
    );
    json(&format!("train {table} {RENT} -o {exact}"));
    // The clipped numbers are what both learn; the table has those outside of the bounds as they are.
    let clipped = fs::read_to_string(&table).unwrap().lines().skip(1).fold(
        String::from("metres,town,rent\n"),
        |all, line| {
            let (rest, rent) = line.rsplit_once(',').unwrap();
            all + &format!("{rest},{}\n", rent.parse::<f64>().unwrap().min(1500.0))
        },
    );
    let clipped = folder.file("clipped.csv", &clipped);
    let [ours, best] =
        [&model, &exact].map(|model| json(&format!("evaluate {model} {clipped} --label rent")));
    assert!(
        number(&best, "r2") > 0.4 && number(&ours, "rmse") < 1.05 * number(&best, "rmse"),
        "{ours}\n{best}"
    );
    assert!(number(&ours, "rmse") >= number(&best, "rmse") * 0.999);
    let told = json(&format!("evaluate {model} {others}"));
    assert_eq!((&told["from"], &told["hidden_variance"]), (&"reports".into(), &0.0.into()));
    assert!(
        near(&told, "mse", number(&ours, "mse")) && near(&told, "r2", number(&ours, "r2")),
        "{told}\n{ours}"
    );
    assert!(
        near(&told, "mean", number(&ours, "mean")) && near(&told, "explained", number(&ours, "explained"))
    );
    let interval = &told["rmse_interval"];
    assert!(interval[0].as_f64() < told["rmse"].as_f64() && told["rmse"].as_f64() < interval[1].as_f64());
    let held_out = &trained["held_out_rmse"];
    assert!(
        (number(held_out, "value") - number(&ours, "rmse")).abs() < 5.0 * number(held_out, "standard_error")
    );
}

#[test]
fn every_mechanism_tells_the_mean_of_the_clipped_numbers() {
    let folder = Folder::new("numbers-mean");
    let (table, _) = rents(&folder, 4000);
    let exact = folder.path("exact.json");
    json(&format!("train {table} {RENT} -o {exact}"));
    let numbers = fs::read_to_string(&table).unwrap();
    let rents = numbers.lines().skip(1).map(|line| line.rsplit_once(',').unwrap().1.parse::<f64>().unwrap());
    let mean = rents.map(|rent| rent.min(1500.0)).sum::<f64>() / 4000.0;
    for kind in ["laplace", "one-bit", "piecewise", "hybrid", "bins", "piecewise-best", "hybrid-best"] {
        let reports = folder.path(&format!("{kind}.parquet"));
        json(&format!("privatize {table} {RENT} --epsilon 1 --mechanism {kind} --seed 5 -o {reports}"));
        let told = json(&format!("evaluate {exact} {reports}"));
        assert!(near(&told, "mean", mean), "{kind}: {told}");
        let hides = ["one-bit", "bins"].contains(&kind);
        assert_eq!(number(&told, "hidden_variance") > 0.0, hides, "{kind}");
    }
}

#[test]
fn predictions_are_numbers_within_the_bounds_and_a_page_shows_them() {
    let folder = Folder::new("numbers-predict");
    let (table, _) = rents(&folder, 3000);
    let (reports, model) = (folder.path("reports.parquet"), folder.path("model.json"));
    let told = text(&format!("privatize {table} {RENT} --epsilon 0.5 --seed 1 -o {reports}"));
    assert!(told.contains("one-bit") && told.contains("SIMULATION") && told.contains("clipped"), "{told}");
    let told = text(&format!("train {reports} --model linear -o {model}"));
    assert!(told.contains("← chosen") && told.contains("at most") && told.contains("at least"), "{told}");
    let people = folder.file("people.csv", "metres,town\n50,Ulm\n100000,Bonn\n-100000,Bonn\n");
    let predicted = folder.path("predicted.csv");
    json(&format!("predict {model} {people} -o {predicted}"));
    let lines = fs::read_to_string(&predicted).unwrap();
    let numbers: Vec<&str> = lines.lines().collect();
    assert_eq!((numbers[0], numbers.len()), ("prediction", 4));
    let numbers: Vec<f64> = numbers[1..].iter().map(|line| line.parse().unwrap()).collect();
    assert!(numbers.iter().all(|x| (0.0..=1500.0).contains(x)), "{numbers:?}");
    let (page, told) = (folder.path("page.html"), format!("evaluate {model} {reports}"));
    let told = text(&format!("{told} --report {}", folder.path("page.html")));
    assert!(told.contains("root mean square error") && told.contains("at most"), "{told}");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("<svg") && page.contains("what is predicted") && page.contains("r²"));
    refused(&format!("predict {model} {people} -o {predicted} --force --probabilities"), 2, "a number");
    refused(&format!("evaluate {model} {people} --label rent"), 2, "there is no column `rent`");
}

#[test]
fn what_is_no_number_or_does_not_go_with_one_is_refused() {
    let folder = Folder::new("numbers-refused");
    let out = folder.path("out.parquet");
    let said = |name: &str, cell: &str| folder.file(name, &format!("x,y\n1,2\n2,{cell}\n3,4\n"));
    let numbers = |table: &str| format!("privatize {table} --label y --low 0 --high 5 --epsilon 1 -o {out}");
    refused(&numbers(&said("words.csv", "much")), 1, "row 2: the label is `much`");
    refused(&numbers(&said("nan.csv", "nan")), 1, "row 2");
    refused(&numbers(&said("empty.csv", "")), 1, "row 2: the label is missing");
    let good = said("good.csv", "7");
    let refuse = |options: &str, message: &str| {
        refused(&format!("privatize {good} --label y --epsilon 1 -o {out} {options}"), 2, message);
    };
    refuse("--low 5 --high 0", "interval from 5 to 0");
    refuse("--low nan --high 0", "interval");
    refuse("--low 0", "--high");
    refuse("--low 0 --high 5 --classes 2,4", "--classes");
    refuse("--low 0 --high 5 --mechanism rr", "there is no mechanism \"rr\" here");
    refuse("--mechanism laplace --classes 2,4,7", "is for numbers");
    assert!(!Path::new(&out).exists());
    let (table, _) = rents(&folder, 200);
    let (reports, classes, model) =
        (folder.path("n.parquet"), folder.path("c.parquet"), folder.path("m.json"));
    json(&format!("privatize {table} {RENT} --epsilon 1 --seed 1 -o {reports}"));
    json(&format!("privatize {table} --label town --epsilon 1 --seed 1 --classes Ulm,Bonn -o {classes}"));
    refused(&format!("train {reports} --model softmax -o {model}"), 2, "is for classes");
    refused(&format!("train {reports} --method debiased -o {model}"), 2, "--method");
    refused(&format!("train {reports} {classes} -o {model}"), 1, "one task asks for");
    refused(&format!("train {table} --label rent --low 0 -o {model}"), 2, "--high");
    json(&format!("train {reports} -o {model}"));
    refused(&format!("evaluate {model} {classes}"), 1, "the reports are about `town`");
    refused(
        &format!("privatize {table} --label rent --epsilon 1 --prior {model} --classes a,b -o {out}"),
        1,
        "0 classes",
    );
}

#[test]
fn mechanisms_are_compared_by_the_error_of_the_line() {
    let folder = Folder::new("numbers-simulate");
    let (table, _) = rents(&folder, 4000);
    let words = format!("simulate {table} {RENT} --epsilon 1,inf --repetitions 4 --seed 2");
    let compared = json(&format!("{words} --method default,laplace"));
    let of = |place: usize| &compared["outcomes"][place];
    let rmse = |place: usize| number(&of(place)["rmse"], "value");
    let names = [0, 1, 2, 3].map(|place| (of(place)["method"].as_str(), of(place)["epsilon"].as_f64()));
    let (ours, printed) = (Some("default"), Some("laplace"));
    assert_eq!(names, [(ours, Some(1.0)), (printed, Some(1.0)), (ours, None), (printed, None)]);
    // Without privacy both are the same line; with it, ours has half of the noise.
    assert!((rmse(2) - rmse(3)).abs() <= 0.0 && rmse(2) < rmse(0) && rmse(2) < rmse(1), "{compared}");
    assert!(text(&words).contains("no privacy"));
    refused(&format!("{words} --method softmax"), 2, "which are for numbers");
}

mod of_real_data {
    use super::*;

    /// A real file, if there is one on this machine.
    fn data(name: &str) -> Option<String> {
        let near = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
        let folder = std::env::var_os("UNDERTONE_DATA").map_or_else(near, PathBuf::from);
        let path = folder.join(name);
        if !path.exists() {
            eprintln!("skipped: there is no {name}; UNDERTONE_DATA names the folder of the data sets");
            return None;
        }
        Some(path.display().to_string())
    }

    #[test]
    fn the_prices_of_houses_are_learnt_from_reports() {
        let Some(houses) = data("california-housing/california_housing.csv.gz") else { return };
        let folder = Folder::new("numbers-houses");
        let price = "--label MedHouseVal --low 0 --high 5";
        let [private, exact] = ["private.json", "exact.json"].map(|name| folder.path(name));
        let reports = folder.path("reports.parquet");
        json(&format!("privatize {houses} {price} --epsilon 2 --seed 1 -o {reports}"));
        json(&format!("train {reports} -o {private}"));
        json(&format!("train {houses} {price} -o {exact}"));
        let [private, exact] =
            [private, exact].map(|model| json(&format!("evaluate {model} {houses} --label MedHouseVal")));
        // Least squares on all rows has 0.606, with predictions outside of the bounds and some prices above them.
        assert!((number(&exact, "r2") - 0.606).abs() < 0.02, "{exact}");
        let lost = number(&exact, "r2") - number(&private, "r2");
        assert!(lost > 0.0 && lost < 0.03, "{lost}");
    }
}

#[test]
fn what_people_make_of_things_is_more_than_two_means() {
    let folder = Folder::new("numbers-factors");
    let mut table = String::from("person,thing,rating\n");
    // Everybody likes things of their own sort: 5, else 1
    for meeting in 0u32..24_000 {
        let word = meeting.wrapping_mul(2_654_435_761) >> 8;
        let (person, thing) = (word % 149, word / 149 % 97);
        let rating = if (person + thing).is_multiple_of(2) { 5 } else { 1 };
        writeln!(table, "p{person},t{thing},{rating}").unwrap();
    }
    let table = folder.file("ratings.csv", &table);
    let reports = folder.path("reports.parquet");
    text(&format!("privatize {table} --label rating --low 1 --high 5 --epsilon 2 --seed 1 -o {reports}"));
    let rmse = |kind: &str| {
        let model = folder.path(&format!("{kind}.json"));
        let trained = json(&format!("train {reports} --model {kind} -o {model}"));
        assert_eq!(trained["model"], kind);
        let judged = json(&format!("evaluate {model} {table} --label rating"));
        // What was said without a true label holds
        let (low, high) = (&trained["held_out_rmse"]["low"], &trained["held_out_rmse"]["high"]);
        (number(&judged, "rmse"), low.as_f64().unwrap(), high.as_f64().unwrap())
    };
    // Two means know nothing: 2 is the distance from 1 and from 5 to their middle
    let (line, ..) = rmse("linear");
    assert!((line - 2.0).abs() < 0.05, "{line}");
    let (factors, low, high) = rmse("factors");
    assert!(factors < 0.6 && low < factors && factors < high, "{factors} {low} {high}");
    // A document with a vector too few is refused
    let model = folder.path("factors.json");
    let broken = fs::read_to_string(&model).unwrap().replacen("\"vectors\":[[", "\"vectors\":[[0", 1);
    let broken = folder.file("broken.json", &broken.replacen("],[", "],[0],[", 1));
    refused(&format!("predict {broken} {table} -o {}", folder.path("p.csv")), 1, "broken.json");
}

#[test]
fn factors_are_for_numbers() {
    let folder = Folder::new("numbers-factors-classes");
    let table = folder.file("t.csv", "person,kind\na,x\nb,y\nc,x\nd,y\n");
    let reports = folder.path("r.parquet");
    text(&format!("privatize {table} --label kind --epsilon 2 --seed 1 -o {reports}"));
    let train = format!("train {reports} --model factors -o {}", folder.path("m.json"));
    refused(&train, 2, "`kind` has classes: privatize it with --low and --high");
}
