//! Looking at everybody's features, in stages that are kept as they end: what was interrupted goes on, and its clock with it.

use super::clock::{Clock, Seconds};
use super::people::Public;
use crate::stages::Stages;
use std::io::{self, Read, Write};
use std::path::Path;
use undertone_learn::represented::Seen;
use undertone_learn::shelf::Shelf;

/// People as their features show them, and how long it took to look.
pub(super) struct Looked {
    pub(super) seen: Seen,
    pub(super) took: Seconds,
}

/// Finished stages, and how long they took.
struct Kept {
    stages: Stages,
    clock: Clock,
}

impl Kept {
    fn new(folder: &Path) -> anyhow::Result<Self> {
        Ok(Self { stages: Stages::unseen(folder)?, clock: Clock::go_on(folder) })
    }
}

impl Shelf for Kept {
    fn find(&self, name: &str) -> Option<Box<dyn Read>> {
        self.stages.find(name)
    }

    fn put(&self, name: &str, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) {
        self.stages.put(name, write);
        // Whoever finds the stage counts what it took.
        self.clock.keep();
    }

    fn found(&self, name: &str) {
        self.stages.found(name);
    }
}

/// Everybody, with stages in this folder.
pub(super) fn look(public: &Public, folder: &Path) -> anyhow::Result<Looked> {
    let kept = Kept::new(folder)?;
    let seen = public.seen(&kept)?;
    Ok(Looked { seen, took: kept.clock.seconds() })
}

#[cfg(test)]
mod tests {
    use super::super::synthetic;
    use super::*;
    use crate::stages::Told;
    use std::fs;
    use undertone_learn::labels::LabelVectors;
    use undertone_learn::{Classifier, Examples};

    const PEOPLE: usize = 300;

    /// What was found and made, and what somebody learns from what was seen.
    fn looked(public: &Public, folder: &Path) -> (Told, Vec<f32>) {
        let kept = Kept::new(folder).unwrap();
        let seen = public.seen(&kept).unwrap();
        let reports = || LabelVectors::certain((0..PEOPLE as u32).map(|person| person % 10));
        let rows = public.rows.clone();
        let people = Examples { rows, unbiased: reports(), likelihood: reports(), ..Examples::default() };
        let model = seen.model(&people, 10, &()).unwrap();
        (kept.stages.told().unwrap(), model.probabilities(&public.rows))
    }

    #[test]
    fn looking_that_was_interrupted_finds_what_it_had_finished_and_sees_the_same() {
        let folder = std::env::temp_dir().join(format!("undertone-looking-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let public = synthetic::people(PEOPLE).public;
        let (told, whole) = looked(&public, &folder);
        let stages = ["coordinates", "graph", "kernel", "coordinates", "graph", "kernel"];
        assert_eq!(told, Told { found: Vec::new(), made: stages.map(String::from).to_vec() });
        // As if it had been killed in a last stage, after 100 seconds
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().unwrap().to_string_lossy().starts_with("kernel") {
                fs::remove_file(path).unwrap();
            }
        }
        fs::write(folder.join("seconds.json"), r#"{"cpu":2.5,"wall":100.0}"#).unwrap();
        let (told, resumed) = looked(&public, &folder);
        let found = ["coordinates", "graph", "coordinates", "graph"].map(String::from).to_vec();
        assert_eq!(told, Told { found, made: ["kernel", "kernel"].map(String::from).to_vec() });
        assert!(resumed == whole && look(&public, &folder).unwrap().took.wall >= 100.0);
        fs::remove_dir_all(&folder).unwrap();
    }
}
