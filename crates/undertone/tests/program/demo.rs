//! `demo`.

use crate::run::{close, json, text};

#[test]
fn the_demonstration_repeats_itself_only_under_a_seed_and_says_so() {
    assert_eq!(text("demo --seed 7"), text("demo --seed 7"));
    assert!(text("demo --seed 7").contains("seed 7, for simulation only"));
    let (first, second) = (json("demo"), json("demo"));
    assert_eq!(first["randomness"], "operating system");
    assert_ne!(first["shares"], second["shares"]);
}

#[test]
fn the_demonstration_tells_the_whole_story() {
    let story = text("demo --seed 1");
    for part in
        ["The question", "The promise", "(simulated)", "12,960 devices", "95 % intervals", "The audit"]
    {
        assert!(story.contains(part), "{part}: {story}");
    }
    assert!(story.contains("✓ the promise is kept"));
    let facts = json("demo --seed 1");
    assert_eq!((&facts["devices"], &facts["covered"]), (&12_960.into(), &5.into()));
    assert_eq!(facts["audit"]["verdict"], "kept");
    close(&facts["audit"]["exact"], 1.0, 1e-9);
    close(&facts["shares"][0]["truth"], 4320.0 / 12960.0, 1e-12);
}

#[test]
fn the_demonstration_covers_the_truth_and_errs_as_expected() {
    let mut covered = 0;
    for seed in 0..20 {
        let facts = json(&format!("demo --epsilon 0.5 --seed {seed}"));
        covered += facts["covered"].as_u64().unwrap();
        for share in facts["shares"].as_array().unwrap() {
            let [low, high, truth] = ["low", "high", "truth"].map(|key| share[key].as_f64().unwrap());
            assert_eq!(share["covered"], low <= truth && truth <= high);
        }
        let comparison = facts["comparison"].as_array().unwrap();
        assert_eq!(comparison.len(), 3);
        for entry in comparison {
            let spread = entry["error_standard_error"].as_f64().unwrap();
            close(&entry["error"], entry["exact_error"].as_f64().unwrap(), 5.0 * spread);
        }
    }
    // 100 intervals at 95 %: 5σ is 11
    assert!(covered >= 84, "{covered} of 100");
}
