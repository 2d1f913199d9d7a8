//! Surveys from the document to the answer: `task survey`, `privatize --task`, `query`.

use crate::run::{fresh, json, refused, text};
use serde_json::Value;
use std::fs;
use std::path::Path;

const NURSERY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/nursery.csv.gz");

/// A folder with a survey of the nursery about three columns, and what is known to be true: each value of each column is there
/// as often as any other, whatever the other columns hold.
fn nursery(name: &str, epsilon: f64) -> std::path::PathBuf {
    let folder = fresh(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let place = folder.display();
    text(&format!(
        "task survey --category parents=usual,pretentious,great_pret --category finance=convenient,inconv \
         --category health=recommended,priority,not_recom --order 2 --n 12960 --epsilon {epsilon} -o {place}/task.toml"
    ));
    text(&format!("privatize {NURSERY} --task {place}/task.toml --seed 1 -o {place}/reports.parquet"));
    folder
}

fn shares(cells: &Value) -> Vec<[f64; 3]> {
    let number = |cell: &Value, key: &str| cell[key].as_f64().unwrap();
    let cells = cells.as_array().unwrap();
    cells.iter().map(|cell| ["share", "low", "high"].map(|key| number(cell, key))).collect()
}

#[test]
fn tables_over_private_columns_cover_the_truth_and_sum_to_one() {
    let folder = nursery("survey-tables", 2.0);
    let reports = folder.join("reports.parquet");
    let found = json(&format!("query frequencies {}", reports.display()));
    assert_eq!(found["answers"], 12_960);
    let columns = found["columns"].as_array().unwrap();
    assert_eq!(columns.len(), 3);
    let mut covered = 0;
    for (column, values) in columns.iter().zip([3, 2, 3]) {
        let shares = shares(&column["values"]);
        assert_eq!(shares.len(), values);
        let sum: f64 = shares.iter().map(|[share, ..]| share).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{column}");
        let truth = 1.0 / values as f64;
        covered += shares.iter().filter(|[_, low, high]| (*low..=*high).contains(&truth)).count();
    }
    // Eight intervals of at least 95 %: fewer than five are covered once in ten thousand times.
    assert!(covered >= 5, "{found}");
    table_and_pictures(&folder, &reports);
}

fn table_and_pictures(folder: &Path, reports: &Path) {
    let (csv, svg) = (folder.join("table.csv"), folder.join("table.svg"));
    let command = format!("query marginal {} --columns health,parents", reports.display());
    let found = json(&format!("{command} --csv {} --svg {}", csv.display(), svg.display()));
    // In the order of the task, whatever was asked
    assert_eq!(found["columns"], serde_json::json!(["parents", "health"]));
    let cells = shares(&found["cells"]);
    assert_eq!(cells.len(), 9);
    // Views of pairs at ε = 2 and 12,960 people are a few points off at most.
    assert!(cells.iter().all(|[share, ..]| (share - 1.0 / 9.0).abs() < 0.06), "{cells:?}");
    let table = fs::read_to_string(&csv).unwrap();
    assert!(
        table.starts_with("parents,health,share,low,high,unbiased,standard_error\n")
            && table.lines().count() == 10
    );
    assert!(fs::read_to_string(&svg).unwrap().contains("great_pret"));
    let again = format!("{command} --csv {}", csv.display());
    // Nothing is overwritten.
    refused(&again, 1, "exists");
}

#[test]
fn what_cannot_be_asked_is_said() {
    let folder = nursery("survey-refused", 1.0);
    let reports = folder.join("reports.parquet");
    let reports = reports.display();
    refused(&format!("query marginal {reports} --columns parents,children"), 2, "`children`");
    refused(&format!("query marginal {reports} --columns parents,parents"), 2, "twice");
    refused(&format!("query density {reports} --bandwidth 1"), 1, "query marginal");
    refused("task survey --epsilon 1", 2, "--category");
    refused("task survey --category a=x --epsilon 1", 2, "at least two");
    refused("task survey --category a=x,y --order 2 --epsilon 1", 2, "2");
    refused("task survey --density --bounded age=5,1 --epsilon 1", 2, "smaller first");
    refused(&format!("privatize {NURSERY} --task x --label y -o z"), 2, "cannot be used with");
    refused(&format!("privatize {NURSERY} -o z"), 2, "--label");
}

#[test]
fn the_density_of_a_private_number_is_found_with_its_band() {
    let folder = fresh("survey-density");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    // Everybody between 2 and 4, evenly: a density of one half there, and of zero at 8
    let rows: Vec<String> = (0..40_000).map(|row| (2.0 + f64::from(row) / 20_000.0).to_string()).collect();
    fs::write(folder.join("ages.csv"), format!("age\n{}\n", rows.join("\n"))).unwrap();
    let place = folder.display();
    text(&format!("task survey --density --bounded age=0,10 --degrees 12 --epsilon 2 -o {place}/task.toml"));
    text(&format!("privatize {place}/ages.csv --task {place}/task.toml --seed 1 -o {place}/reports.parquet"));
    let found = json(&format!(
        "query density {place}/reports.parquet --bandwidth 1 --places 11 --svg {place}/density.svg"
    ));
    let points = found["points"].as_array().unwrap();
    let at = |place: usize| ["density", "standard_error"].map(|key| points[place][key].as_f64().unwrap());
    // Smoothed by a normal law of deviation one: Φ(1) - Φ(-1) = 0.6827 of 1/2 at 3, next to nothing at 8
    for (place, truth) in [(3, 0.341_3), (8, 0.000_02)] {
        let [density, error] = at(place);
        let missed = points[place]["missed"].as_f64().unwrap();
        assert!((density - truth).abs() < 5.0 * error + missed, "{density} ± {error} for {truth}");
    }
    assert!(fs::read_to_string(folder.join("density.svg")).unwrap().contains("<polygon"));
}
