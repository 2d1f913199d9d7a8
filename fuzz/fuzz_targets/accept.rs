//! Any body at any time, as far as into the log: see `accept_path`.
#![no_main]

mod accept_path;
mod formats;

use accept_path::AcceptPath;
use libfuzzer_sys::fuzz_target;
use std::sync::{LazyLock, Mutex};

static PATH: LazyLock<Mutex<AcceptPath>> =
    LazyLock::new(|| Mutex::new(AcceptPath::new(&std::env::temp_dir())));

fuzz_target!(|data: &[u8]| {
    PATH.lock().unwrap().walk(data);
});
