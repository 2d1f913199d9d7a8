//! The formats of the tasks in the test vectors.

use std::sync::LazyLock;
use undertone_report::{ReportFormat, Task};

static FORMATS: LazyLock<Vec<ReportFormat>> = LazyLock::new(|| {
    let files = [
        include_str!("../../testdata/wire/cells.json"),
        include_str!("../../testdata/wire/codeword.json"),
        include_str!("../../testdata/wire/fixed-set.json"),
        include_str!("../../testdata/wire/gradient.json"),
        include_str!("../../testdata/wire/mask.json"),
        include_str!("../../testdata/wire/number.json"),
        include_str!("../../testdata/wire/prior.json"),
        include_str!("../../testdata/wire/top.json"),
        include_str!("../../testdata/wire/wide-number.json"),
    ];
    let canonical = |file: &str| {
        let file: serde_json::Value = serde_json::from_str(file).unwrap();
        file["task_canonical"].as_str().unwrap().to_owned()
    };
    files.map(|file| ReportFormat::new(&Task::from_json(&canonical(file)).unwrap()).unwrap()).into()
});

/// One of the formats, by the first byte, and the bytes after it.
pub fn choose(data: &[u8]) -> Option<(&'static ReportFormat, &[u8])> {
    let (choice, rest) = data.split_first()?;
    Some((&FORMATS[usize::from(*choice) % FORMATS.len()], rest))
}
