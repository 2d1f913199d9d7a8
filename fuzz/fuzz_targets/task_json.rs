//! Any text: no task, or one that reads back as itself in both of its forms.
#![no_main]

use libfuzzer_sys::fuzz_target;
use undertone_report::Task;

fuzz_target!(|text: &str| {
    let Ok(task) = Task::from_json(text) else { return };
    let again = Task::from_json(&task.to_json()).unwrap();
    assert_eq!(again.id(), task.id());
    assert_eq!(Task::from_toml(&task.to_toml()).unwrap(), task);
});
