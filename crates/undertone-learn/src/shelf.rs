//! Long work in stages, each put down when it is finished, so that it need not be done again.
//!
//! A stage is named by what it is and by a [`Digest`] of everything that it depends on: other rows, other reports or another way to work
//! are another name. Where things are kept, and whether at all, is the business of whoever runs the work; this crate knows no files.

use crate::features::Rows;
use crate::labels::LabelVectors;
use crate::numbers::NumberValues;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::Sha256;
use std::fmt::Write as _;
use std::io::{self, Read, Write};

/// Raised whenever a version of the program makes a stage in another way than it did before.
const GENERATION: usize = 4;

/// A place for finished stages.
pub trait Shelf {
    /// What was put down under this name, whole and unchanged, if it is there. Now the stage begins.
    fn find(&self, name: &str) -> Option<Box<dyn Read>>;

    /// Puts down what `write` writes. The stage is finished, whether or not anything is kept of it.
    fn put(&self, name: &str, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>);

    /// The stage of this name was found, and is finished.
    fn found(&self, name: &str);
}

/// Nothing is kept.
impl Shelf for () {
    fn find(&self, _: &str) -> Option<Box<dyn Read>> {
        None
    }

    fn put(&self, _: &str, _: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) {}

    fn found(&self, _: &str) {}
}

/// A stage: what was put down, or what `make` makes, which is put down.
pub fn stage<T: Serialize + DeserializeOwned, E>(
    shelf: &dyn Shelf,
    name: &str,
    make: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    if let Some(reader) = shelf.find(name) {
        // Room for one number or a short word at a time
        let mut room = [0; 256];
        if let Ok((kept, _)) = postcard::from_io::<T, _>((reader, &mut room)) {
            shelf.found(name);
            return Ok(kept);
        }
    }
    let made = make()?;
    shelf.put(name, &mut |mut writer| {
        postcard::to_io(&made, &mut writer).map(|_| ()).map_err(io::Error::other)
    });
    Ok(made)
}

/// SHA-256 of everything that a stage depends on.
#[derive(Clone)]
pub struct Digest(Sha256);

impl Digest {
    /// Of nothing yet, in this version of the program: what another one makes may differ.
    pub fn new(what: &str) -> Self {
        let mut digest = Self(Sha256::default());
        digest.number(GENERATION);
        digest.word(env!("CARGO_PKG_VERSION")).word(what)
    }

    /// And of a word.
    #[must_use]
    pub fn word(mut self, word: &str) -> Self {
        self.number(word.len());
        self.bytes(word.as_bytes());
        self
    }

    /// And of rows.
    #[must_use]
    pub fn rows(mut self, rows: &Rows) -> Self {
        for size in [rows.dense_width(), rows.sparse_width(), rows.len()] {
            self.number(size);
        }
        for row in rows.iter() {
            self.number(row.sparse.len());
            self.floats(row.dense.iter().copied());
            self.entries(row.sparse);
        }
        self
    }

    /// And of what reports say.
    #[must_use]
    pub fn reports(mut self, vectors: &LabelVectors) -> Self {
        self.number(vectors.len());
        for vector in vectors.iter() {
            self.number(vector.entries.len());
            self.floats([vector.base]);
            self.entries(vector.entries);
        }
        self
    }

    /// And of numbers.
    #[must_use]
    pub fn numbers(mut self, numbers: &NumberValues) -> Self {
        self.number(numbers.len());
        for (value, variance) in numbers.iter() {
            self.bytes(&value.to_bits().to_le_bytes());
            self.bytes(&variance.to_bits().to_le_bytes());
        }
        self
    }

    /// A name for what depends on all of this.
    pub fn name(self, what: &str) -> String {
        let digest = sha2::Digest::finalize(self.0);
        // Sixteen bytes: among 2^32 names two are alike with a probability of 2^-65
        digest.iter().take(16).fold(format!("{what}-"), |mut name, byte| {
            // Writing to a string does not fail
            let _ = write!(name, "{byte:02x}");
            name
        })
    }

    fn number(&mut self, number: usize) {
        self.bytes(&(number as u64).to_le_bytes());
    }

    fn floats(&mut self, values: impl IntoIterator<Item = f32>) {
        values.into_iter().for_each(|x| self.bytes(&x.to_bits().to_le_bytes()));
    }

    fn entries(&mut self, entries: &[(u32, f32)]) {
        for &(place, value) in entries {
            self.bytes(&place.to_le_bytes());
            self.floats([value]);
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        sha2::Digest::update(&mut self.0, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LearnError;
    use std::cell::RefCell;
    use std::collections::HashMap;

    /// A shelf in memory.
    #[derive(Default)]
    struct Memory(RefCell<HashMap<String, Vec<u8>>>);

    impl Shelf for Memory {
        fn find(&self, name: &str) -> Option<Box<dyn Read>> {
            let bytes = self.0.borrow().get(name)?.clone();
            Some(Box::new(io::Cursor::new(bytes)))
        }

        fn put(&self, name: &str, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) {
            let mut bytes = Vec::new();
            write(&mut bytes).unwrap();
            self.0.borrow_mut().insert(name.to_owned(), bytes);
        }

        fn found(&self, _: &str) {}
    }

    fn work(shelf: &dyn Shelf, name: &str, made: &[f32]) -> Vec<f32> {
        stage(shelf, name, || Ok::<_, LearnError>(made.to_vec())).unwrap()
    }

    #[test]
    fn a_stage_is_done_once_for_each_name() {
        let shelf = Memory::default();
        assert_eq!(work(&shelf, "a", &[1.0, 2.0]), [1.0, 2.0]);
        assert_eq!(work(&shelf, "a", &[3.0]), [1.0, 2.0]);
        assert_eq!(work(&shelf, "b", &[3.0]), [3.0]);
        assert_eq!((work(&(), "a", &[4.0]), work(&(), "a", &[5.0])), (vec![4.0], vec![5.0]));
    }

    #[test]
    fn what_is_no_such_thing_is_made_again_and_a_failure_is_not_kept() {
        let shelf = Memory::default();
        // A length of 2^63, and no numbers
        shelf.0.borrow_mut().insert("a".into(), [[0x80; 9].as_slice(), &[0x01]].concat());
        assert_eq!(work(&shelf, "a", &[1.0]), [1.0]);
        assert_eq!(work(&shelf, "a", &[2.0]), [1.0]);
        let failed = stage(&shelf, "c", || Err::<u8, _>(LearnError::NoReports));
        assert!(matches!(failed, Err(LearnError::NoReports)));
        assert!(!shelf.0.borrow().contains_key("c"));
    }

    #[test]
    fn other_rows_and_other_reports_have_other_names() {
        let rows = |values: &[f32], words: u32| {
            let mut rows = Rows::new(values.len(), 3);
            rows.push_with(|dense, sparse| {
                dense.extend(values);
                sparse.push((words, 1.0));
            });
            rows
        };
        let name = |rows: &Rows| Digest::new("test").rows(rows).name("rows");
        let all = [rows(&[0.0], 0), rows(&[0.5], 0), rows(&[0.0], 1), rows(&[0.0, 0.0], 0)];
        let names: Vec<String> = all.iter().map(name).collect();
        assert_eq!(names[0], name(&all[0].clone()));
        assert!((0..4).all(|i| (0..i).all(|j| names[i] != names[j])), "{names:?}");
        let told = |label| Digest::new("test").reports(&LabelVectors::certain([label])).name("told");
        assert!(told(1) == told(1) && told(1) != told(2));
        let of = |words: &[&str]| words.iter().fold(Digest::new("test"), |d, word| d.word(word)).name("x");
        assert!(of(&["ab", "c"]) != of(&["a", "bc"]));
    }
}
