//! A file that is there when it is whole, and not before.

use crate::exit::Usage;
use anyhow::{Context, bail};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file that is written beside its place and moved there by [`keep`](Self::keep). Dropped before that, it leaves
/// nothing behind.
///
/// Nothing is on the disk until the first byte is written: whoever is killed while the work still goes on leaves nothing either.
#[derive(Debug)]
pub(crate) struct NewFile {
    path: PathBuf,
    force: bool,
    /// The file beside its place, once something was written
    file: Option<(PathBuf, File)>,
}

impl NewFile {
    /// A file to be at `path`, where nothing may be yet unless `force` is set. A folder that cannot be written to is refused now,
    /// not after hours of work.
    pub(crate) fn create(path: &Path, force: bool) -> anyhow::Result<Self> {
        if path.file_name().is_none() || path.is_dir() {
            bail!("{} is a directory; name a file in it", path.display());
        }
        refuse_existing(path, force)?;
        let tried = create_beside(path).and_then(|(beside, _)| fs::remove_file(beside));
        tried.with_context(|| format!("{} cannot be written", path.display()))?;
        Ok(Self { path: path.to_owned(), force, file: None })
    }

    /// Moves the file to its place and says how many bytes it has.
    pub(crate) fn keep(mut self) -> anyhow::Result<u64> {
        refuse_existing(&self.path, self.force)?;
        let mut moved = || -> io::Result<u64> {
            let (beside, file) = beside(&mut self.file, &self.path)?;
            file.sync_all()?;
            let bytes = file.metadata()?.len();
            fs::rename(beside, &self.path)?;
            // There is nothing left to remove.
            self.file = None;
            Ok(bytes)
        };
        moved().with_context(|| format!("{} cannot be written", self.path.display()))
    }
}

/// The file beside `path`, made if it is not there yet.
fn beside<'a>(file: &'a mut Option<(PathBuf, File)>, path: &Path) -> io::Result<&'a mut (PathBuf, File)> {
    match file {
        Some(file) => Ok(file),
        none => Ok(none.insert(create_beside(path)?)),
    }
}

/// A new file beside `path`, of a name that nobody has. The number of the process is not enough: one that was killed may have had the
/// same and left its file, as in containers, where it is often 1.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let (name, process) = (path.file_name().unwrap_or_default().to_string_lossy(), std::process::id());
    let mut turn = 0;
    loop {
        let beside = path.with_file_name(format!(".{name}.{process}.{turn}"));
        match File::create_new(&beside) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => turn += 1,
            made => return made.map(|file| (beside, file)),
        }
    }
}

/// Removes what was left beside a file by processes that were killed while they wrote it, or is being written there by others: for a file
/// that is the same whoever writes it.
pub(crate) fn remove_beside(path: &Path) -> io::Result<()> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    let beside = format!(".{}.", name.to_string_lossy());
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(&beside) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Removes what a process that was killed has left behind in a folder that nobody else writes to: the files beside their
/// place.
pub(crate) fn remove_unfinished(folder: &Path) -> anyhow::Result<()> {
    let removed = || -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_name().as_encoded_bytes().starts_with(b".") && entry.file_type()?.is_file() {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    };
    removed().with_context(|| format!("{} cannot be tidied up", folder.display()))
}

/// Makes sure that what was made or removed in a folder stays so after a crash of the system.
pub(crate) fn sync_folder(folder: &Path) -> anyhow::Result<()> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.with_context(|| format!("{} cannot be synced", folder.display()))
}

/// Nothing may be at `path` unless `force` is set.
pub(crate) fn refuse_existing(path: &Path, force: bool) -> anyhow::Result<()> {
    if !force && path.exists() {
        bail!("{} exists; --force replaces it", path.display());
    }
    Ok(())
}

/// What is made must not take the place of what it is made from, not even by force.
pub(crate) fn refuse_input<'a>(
    path: &Path,
    inputs: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<(), Usage> {
    let Ok(place) = fs::canonicalize(path) else { return Ok(()) };
    match inputs.into_iter().find(|input| fs::canonicalize(input).is_ok_and(|input| input == place)) {
        Some(_) => Err(Usage::new(format!("{} is read, so it cannot be written", path.display()))),
        None => Ok(()),
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        beside(&mut self.file, &self.path)?.1.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), |(_, file)| file.flush())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some((beside, _)) = &self.file {
            // Whatever made us stop matters more than a file that cannot be removed.
            let _ = fs::remove_file(beside);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An empty folder for the test of this name.
    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("undertone-new-file-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        folder
    }

    #[test]
    fn a_file_that_is_not_kept_leaves_nothing_and_one_that_is_appears_whole() {
        let folder = folder("kept");
        let path = folder.join("a");
        let mut file = NewFile::create(&path, false).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        file.write_all(b"half").unwrap();
        assert!(!path.exists() && fs::read_dir(&folder).unwrap().count() == 1);
        drop(file);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        let mut file = NewFile::create(&path, false).unwrap();
        file.write_all(b"whole").unwrap();
        assert_eq!(file.keep().unwrap(), 5);
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        let nowhere = NewFile::create(&folder.join("b").join("c"), false).unwrap_err();
        assert!(nowhere.to_string().contains("cannot be written"));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_a_killed_process_left_is_in_nobodys_way_and_removed_on_demand_as_nothing_else_is() {
        let folder = folder("unfinished");
        fs::write(folder.join("a"), "kept").unwrap();
        fs::create_dir(folder.join(".folder")).unwrap();
        let mut file = NewFile::create(&folder.join("b"), false).unwrap();
        file.write_all(b"half").unwrap();
        std::mem::forget(file);
        // As of another process of the same number
        let mut file = NewFile::create(&folder.join("b"), false).unwrap();
        file.write_all(b"whole").unwrap();
        file.keep().unwrap();
        assert_eq!(fs::read(folder.join("b")).unwrap(), b"whole");
        remove_unfinished(&folder).unwrap();
        let mut names: Vec<_> =
            fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, [".folder", "a", "b"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_exists_is_replaced_only_by_force_even_if_it_appeared_meanwhile() {
        let folder = folder("force");
        let path = folder.join("a");
        let early = NewFile::create(&path, false).unwrap();
        fs::write(&path, "precious").unwrap();
        assert!(NewFile::create(&path, false).unwrap_err().to_string().contains("--force"));
        assert!(early.keep().unwrap_err().to_string().contains("--force"));
        assert_eq!(fs::read(&path).unwrap(), b"precious");
        NewFile::create(&path, true).unwrap().keep().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"");
        assert!(NewFile::create(&folder, true).unwrap_err().to_string().contains("is a directory"));
        fs::remove_dir_all(folder).unwrap();
    }
}
