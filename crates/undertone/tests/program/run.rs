//! Running the program and looking at what it did.

use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

pub(crate) fn undertone(words: &str) -> Output {
    command(words).output().unwrap()
}

pub(crate) fn command(words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
    command.args(words.split_whitespace());
    command
}

/// What a run that succeeds prints as JSON.
pub(crate) fn json(words: &str) -> Value {
    let output = undertone(&format!("{words} --json"));
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What a run that succeeds prints for people.
pub(crate) fn text(words: &str) -> String {
    let output = undertone(words);
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A run that has to fail with `code`, print nothing and say `message`.
#[track_caller]
pub(crate) fn refused(words: &str, code: i32, message: &str) {
    let output = undertone(words);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{words}: {errors}");
    assert!(output.stdout.is_empty(), "{words}");
    assert!(errors.contains(message), "{words}: {errors}");
}

#[track_caller]
pub(crate) fn close(value: &Value, expected: f64, tolerance: f64) {
    let value = value.as_f64().unwrap();
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected}");
}

/// A path in the temporary folder at which there is nothing.
pub(crate) fn fresh(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("undertone-{}-{name}", std::process::id()));
    let _ = fs::remove_file(&path);
    path
}
