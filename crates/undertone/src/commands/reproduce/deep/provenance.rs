//! What recorded runs were made of: the files of each set, and the methods of their time. Runs of others would pass for runs of these.

use super::OURS;
use super::record::Record;
use super::sources::Source;
use crate::collector::tokens::to_hex;
use crate::output::write_file;
use anyhow::{Context, ensure};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

/// Of the methods: the next number wherever the same setting comes out otherwise.
const GENERATION: u8 = 1;
const HEADER: &str = "set,sha256\n";

/// Refuses to go on with runs of other files or methods, and notes what those are made of that are to come.
pub(super) fn check(output: &Path, record: &Record, sources: &[Source]) -> anyhow::Result<()> {
    let path = output.join(format!("{OURS}-sources.csv"));
    let mut known = read(&path)?;
    for source in sources {
        let (name, digest) = (source.set.name(), digest(source)?);
        ensure!(
            !record.has_of(source.set) || known.get(name) == Some(&digest),
            "{} has runs of {name} with other files, or by an earlier version of the methods: name another folder (-o), or \
             begin anew (--force)",
            output.display()
        );
        known.insert(name.to_owned(), digest);
    }
    let lines = known.iter().map(|(name, digest)| format!("{name},{digest}\n"));
    write_file(&path, &[HEADER.to_owned()].into_iter().chain(lines).collect::<String>(), true)
}

/// Each set with its digest. What is no such line says nothing of any set, whose runs are then refused.
fn read(path: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        text => text.with_context(|| path.display().to_string())?,
    };
    let pairs = text.lines().filter_map(|line| line.split_once(','));
    Ok(pairs.map(|(name, digest)| (name.to_owned(), digest.to_owned())).collect())
}

/// Of the files and the methods, in hexadecimal digits.
fn digest(source: &Source) -> anyhow::Result<String> {
    let mut hash = Sha256::new_with_prefix([GENERATION]);
    for path in source.files()? {
        hash.update(fs::read(&path).with_context(|| path.display().to_string())?);
    }
    Ok(to_hex(&hash.finalize()))
}
