//! The classes that a label can have, as they were given.

use crate::exit::Usage;
use anyhow::Context;
use std::collections::HashSet;
use std::fs;
use std::path::Path;

/// Reads `text`: the name of a file with a class on each line, or the classes themselves, separated by commas.
pub(crate) fn given(text: &str) -> anyhow::Result<Vec<String>> {
    let path = Path::new(text);
    let classes: Vec<String> = if path.is_file() {
        let lines = fs::read_to_string(path).with_context(|| format!("{text} cannot be read"))?;
        lines.lines().map(str::to_owned).collect()
    } else if text.contains(',') {
        text.split(',').map(|class| class.trim().to_owned()).collect()
    } else {
        return Err(Usage::new(format!(
            "--classes is `{text}`, which is neither a file nor a list such as `yes,no`"
        ))
        .into());
    };
    check(&classes)?;
    Ok(classes)
}

fn check(classes: &[String]) -> Result<(), Usage> {
    if let Some(place) = classes.iter().position(String::is_empty) {
        return Err(Usage::new(format!("class {} of --classes is empty", place + 1)));
    }
    let mut seen = HashSet::new();
    if let Some(twice) = classes.iter().find(|class| !seen.insert(*class)) {
        return Err(Usage::new(format!("--classes names `{twice}` twice")));
    }
    if classes.len() < 2 {
        let count = classes.len();
        return Err(Usage::new(format!("--classes names {count} class(es), at least two are needed")));
    }
    Ok(())
}
