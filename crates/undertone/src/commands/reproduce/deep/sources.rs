//! Where people come from: files in a folder, or nowhere.

use super::people::People;
use super::setting::Set;
use super::{images, ratings, synthetic};
use crate::tables::TableFile;
use std::path::{Path, PathBuf};

/// A set that can be had.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) set: Set,
    files: Files,
    /// How many can be asked
    pub(super) people: usize,
}

#[derive(Debug)]
enum Files {
    /// Images of those who are asked, and of others
    Images([PathBuf; 2]),
    Ratings(PathBuf),
    /// Nobody's
    Made,
}

/// The ends of the names of a file, packed or not.
const PACKED: [&str; 2] = [".gz", ""];

impl Source {
    /// What `data` has of a set, or why it has to be left out.
    pub(super) fn find(set: Set, data: Option<&Path>) -> anyhow::Result<Result<Self, String>> {
        let left_out = |problem: String| Ok(Err(format!("{} is left out: {problem}", set.name())));
        let (folder, files, ends): (_, &[&str], &[&str]) = match set {
            Set::Synthetic => {
                let people = synthetic::MOST_PEOPLE;
                return Ok(Ok(Self { set, files: Files::Made, people }));
            }
            Set::Mnist => ("mnist", &images::FILES, &PACKED),
            Set::Fashion => ("fashion-mnist", &images::FILES, &PACKED),
            Set::Ratings => ("ml-1m", &["ratings"], &[".parquet", ".csv.gz", ".csv"]),
        };
        let Some(data) = data else {
            return left_out(format!(
                "--data names the folder in which {folder}/{}{} lies",
                files[0], ends[0]
            ));
        };
        let folder = data.join(folder);
        let mut found = Vec::new();
        for file in files {
            let either =
                ends.iter().map(|end| folder.join(format!("{file}{end}"))).find(|path| path.is_file());
            let Some(path) = either else {
                return left_out(format!(
                    "there is no {}",
                    folder.join(format!("{file}{}", ends[0])).display()
                ));
            };
            found.push(path);
        }
        let rows = TableFile::open(&found[0])?.rows();
        Ok(Ok(match <[PathBuf; 2]>::try_from(found) {
            Ok(files) => Self { set, files: Files::Images(files), people: rows as usize },
            Err(mut one) => {
                Self { set, files: Files::Ratings(one.swap_remove(0)), people: ratings::to_ask(rows) }
            }
        }))
    }

    /// What they are read from.
    pub(super) fn files(&self) -> anyhow::Result<Vec<PathBuf>> {
        let tables = match &self.files {
            Files::Images(files) => &files[..],
            Files::Ratings(file) => std::slice::from_ref(file),
            Files::Made => &[],
        };
        let mut files = Vec::new();
        for table in tables {
            files.extend(TableFile::open(table)?.files());
        }
        Ok(files)
    }

    /// The first so many of those who can be asked, and all who judge.
    pub(super) fn people(&self, count: usize) -> anyhow::Result<People> {
        match &self.files {
            Files::Images(files) => images::people(self.set, files, count),
            Files::Ratings(file) => ratings::people(file, count),
            Files::Made => Ok(synthetic::people(count)),
        }
    }
}
