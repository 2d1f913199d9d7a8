//! What a collector remembers after it was killed.

use super::{Folder, NURSERY};
use crate::run::json;

#[test]
fn what_was_learnt_survives_kills_to_the_last_bit() {
    let folder = Folder::new("recovery", "--learner softmax");
    let collector = folder.serve();
    json(&format!("send {NURSERY} --to {} --seed 2", collector.url));
    collector.settled(12_960);
    let before = collector.model();
    collector.kill();
    let collector = folder.serve();
    collector.settled(12_960);
    assert_eq!(collector.model(), before);
    // The same devices again: nothing is counted twice.
    let again = json(&format!("send {NURSERY} --to {} --seed 2", collector.url));
    assert_eq!(again["accepted"].as_u64().unwrap() + again["duplicates"].as_u64().unwrap(), 12_960);
}
