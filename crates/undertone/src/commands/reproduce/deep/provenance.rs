//! What recorded runs were made of: the files of each set, and the methods of their time. Runs of others would pass for runs of these.

use super::OURS;
use super::record::Record;
use super::setting::Set;
use super::sources::Source;
use crate::collector::tokens::to_hex;
use crate::commands::reproduce::folder;
use crate::output::write_file;
use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Of the methods: the next number wherever the same setting comes out otherwise.
const GENERATION: u32 = 1;

/// What the runs of a set were made of.
#[derive(Serialize, Deserialize)]
struct Origin {
    set: Set,
    generation: u32,
    /// Of all files, one after the other
    sha256: String,
}

/// Refuses to go on with runs by other methods or, of these sources, with other files, and notes what runs that are to come are made of. Says where.
pub(super) fn check(output: &Path, record: &Record, sources: &[Source]) -> anyhow::Result<PathBuf> {
    let path = output.join(format!("{OURS}-sources.csv"));
    let mut origins = read(&path)?;
    origins.retain(|origin| record.has_of(origin.set));
    let now = |set| origins.iter().any(|origin| origin.set == set && origin.generation == GENERATION);
    let earlier = Set::ALL.into_iter().find(|set| record.has_of(*set) && !now(*set));
    let instead = "name another folder (-o), or begin anew (--force)";
    if let Some(set) = earlier {
        bail!("{} has runs of {} by earlier methods: {instead}", output.display(), set.name());
    }
    for source in sources {
        let (set, sha256) = (source.set, digest(source)?);
        match origins.iter().find(|origin| origin.set == set) {
            Some(origin) => ensure!(
                origin.sha256 == sha256,
                "{} has runs of {} with other files: {instead}",
                output.display(),
                set.name()
            ),
            None => origins.push(Origin { set, generation: GENERATION, sha256 }),
        }
    }
    write_file(&path, &folder::csv(&origins)?, true)?;
    Ok(path)
}

/// Of each set; nothing if the file is not there.
fn read(path: &Path) -> anyhow::Result<Vec<Origin>> {
    let named = || path.display().to_string();
    let text = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        text => text.with_context(named)?,
    };
    csv::Reader::from_reader(&text[..]).into_deserialize().collect::<Result<_, _>>().with_context(named)
}

/// Of the files, in hexadecimal digits.
fn digest(source: &Source) -> anyhow::Result<String> {
    let mut hash = Sha256::new();
    for path in source.files()? {
        hash.update(fs::read(&path).with_context(|| path.display().to_string())?);
    }
    Ok(to_hex(&hash.finalize()))
}
