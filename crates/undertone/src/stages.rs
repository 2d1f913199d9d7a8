//! Long work in stages: how far it has come, and what of it is kept, so that a run that was interrupted goes on and the next one does not
//! do again what is the same.
//!
//! A file holds one stage: a line that says which, the bytes, and the SHA-256 of both. What is not as it was written, because a disk, a crash or
//! somebody changed it, is not looked at and made again.

use crate::new_file::{NewFile, remove_beside};
use crate::progress::stage_bar;
use anyhow::Context;
use indicatif::ProgressBar;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use undertone_learn::shelf::Shelf;

/// Bytes of a digest.
const TAIL: u64 = 32;
/// Bytes that are read together.
const BLOCK: usize = 1 << 16;

/// Stages that are shown, and kept if there is a folder for them.
pub(crate) struct Stages {
    folder: Option<PathBuf>,
    bar: ProgressBar,
    told: RefCell<Told>,
}

/// What was done: the words for stages, without what tells them from others of their sort.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Told {
    /// They were there
    pub(crate) found: Vec<String>,
    /// They were not
    pub(crate) made: Vec<String>,
}

impl Stages {
    /// Kept in a folder, which is made if need be; nowhere if there is none.
    pub(crate) fn new(folder: Option<&Path>) -> anyhow::Result<Self> {
        Self::shown(folder, stage_bar())
    }

    /// Kept in a folder, and not shown: whoever does the work shows it as part of something else.
    pub(crate) fn unseen(folder: &Path) -> anyhow::Result<Self> {
        Self::shown(Some(folder), ProgressBar::hidden())
    }

    fn shown(folder: Option<&Path>, bar: ProgressBar) -> anyhow::Result<Self> {
        if let Some(folder) = folder {
            fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        }
        Ok(Self { folder: folder.map(Path::to_owned), bar, told: RefCell::default() })
    }

    /// There will be so many more.
    pub(crate) fn expect(&self, more: usize) {
        self.bar.inc_length(more as u64);
    }

    /// Nothing is left to be shown.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// What was found and made, if anything is kept.
    pub(crate) fn told(&self) -> Option<Told> {
        self.folder.as_ref().map(|_| self.told.borrow().clone())
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{name}.stage")))
    }
}

impl Shelf for Stages {
    fn find(&self, name: &str) -> Option<Box<dyn Read>> {
        self.bar.set_message(word(name).to_owned());
        // What cannot be read is made again
        Some(Box::new(open(&self.path(name)?, name).ok()??))
    }

    fn put(&self, name: &str, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) {
        if let Some(path) = self.path(name)
            && let Err(error) = keep(&path, name, write)
        {
            // The work is done, and worth more than that it is kept
            eprintln!("warning: {error:#}; this stage will have to be done again");
        }
        self.told.borrow_mut().made.push(word(name).to_owned());
        self.bar.inc(1);
    }

    fn found(&self, name: &str) {
        self.told.borrow_mut().found.push(word(name).to_owned());
        self.bar.inc(1);
    }
}

/// The first line of a file.
fn head(name: &str) -> String {
    format!("undertone-stage 1 {name}\n")
}

/// A name without its digest.
fn word(name: &str) -> &str {
    name.rsplit_once('-').map_or(name, |(word, _)| word)
}

/// The bytes of a stage, if they are as they were written.
fn open(path: &Path, name: &str) -> io::Result<Option<impl Read + use<>>> {
    let expected = head(name);
    let mut file = BufReader::with_capacity(BLOCK, File::open(path)?);
    let length = file.get_ref().metadata()?.len();
    let Some(bytes) = length.checked_sub(expected.len() as u64 + TAIL) else { return Ok(None) };
    let mut hash = Sha256::new();
    let mut head = vec![0; expected.len()];
    file.read_exact(&mut head)?;
    hash.update(&head);
    let (mut left, mut block) = (bytes, vec![0; BLOCK]);
    while left > 0 {
        let some = left.min(BLOCK as u64);
        let block = &mut block[..some as usize];
        file.read_exact(block)?;
        hash.update(&*block);
        left -= some;
    }
    let mut tail = [0; TAIL as usize];
    file.read_exact(&mut tail)?;
    if head != expected.as_bytes() || hash.finalize()[..] != tail {
        return Ok(None);
    }
    file.seek(io::SeekFrom::Start(expected.len() as u64))?;
    Ok(Some(file.take(bytes)))
}

/// Writes a stage, whole or not at all.
fn keep(
    path: &Path,
    name: &str,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<()> {
    let mut file = Hashing { file: BufWriter::new(NewFile::create(path, true)?), hash: Sha256::new() };
    let mut written = || -> io::Result<()> {
        file.write_all(head(name).as_bytes())?;
        write(&mut file)?;
        let digest = file.hash.clone().finalize();
        file.file.write_all(&digest)?;
        file.file.flush()
    };
    written().with_context(|| format!("{} cannot be written", path.display()))?;
    // What was flushed has nothing left in its buffer
    file.file.into_parts().0.keep()?;
    // What cannot be removed only takes room.
    let _ = remove_beside(path);
    Ok(())
}

/// A file, and the digest of what is written to it.
struct Hashing {
    file: BufWriter<NewFile>,
    hash: Sha256,
}

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undertone_learn::shelf::stage;

    /// An empty folder for the test of this name.
    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("undertone-stages-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    fn work_of(folder: Option<&Path>, name: &str, made: &[u32]) -> (Vec<u32>, Option<Told>) {
        let stages = Stages::new(folder).unwrap();
        let kept = stage(&stages, name, || Ok::<_, ()>(made.to_vec())).unwrap();
        (kept, stages.told())
    }

    fn work(folder: Option<&Path>, made: &[u32]) -> (Vec<u32>, Option<Told>) {
        work_of(folder, "graph-0123", made)
    }

    fn told(found: &[&str], made: &[&str]) -> Told {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        Told { found: words(found), made: words(made) }
    }

    #[test]
    fn a_stage_is_found_by_the_next_run_and_nothing_is_kept_without_a_folder() {
        let folder = folder("found").join("deep");
        // Of a run that was killed
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(".graph-0123.stage.1.0"), "half").unwrap();
        assert_eq!(work(Some(&folder), &[1, 2]), (vec![1, 2], Some(told(&[], &["graph"]))));
        assert_eq!(work(Some(&folder), &[3]), (vec![1, 2], Some(told(&["graph"], &[]))));
        assert_eq!(work(None, &[3]), (vec![3], None));
        let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["graph-0123.stage"]);
        fs::remove_dir_all(folder.parent().unwrap()).unwrap();
    }

    #[test]
    fn whatever_byte_is_changed_and_wherever_a_file_ends_the_stage_is_made_again() {
        let folder = folder("damaged");
        work(Some(&folder), &[1, 2, 3]);
        let path = folder.join("graph-0123.stage");
        let whole = fs::read(&path).unwrap();
        assert_eq!(whole.len(), head("graph-0123").len() + 4 + TAIL as usize);
        let flipped = (0..whole.len()).map(|place| {
            let mut bytes = whole.clone();
            bytes[place] ^= 1;
            bytes
        });
        let cut = (0..whole.len()).map(|length| whole[..length].to_vec());
        // Another stage, under this name
        work_of(Some(&folder), "graph-4567", &[1, 2, 3]);
        let other = fs::read(folder.join("graph-4567.stage")).unwrap();
        let longer = [[&whole[..], b"x"].concat(), b"foreign".repeat(20), other];
        for bytes in flipped.chain(cut).chain(longer) {
            fs::write(&path, &bytes).unwrap();
            assert_eq!(work(Some(&folder), &[9]), (vec![9], Some(told(&[], &["graph"]))), "{bytes:?}");
            assert_eq!(work(Some(&folder), &[8]).0, [9]);
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
