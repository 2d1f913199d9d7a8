//! Any bytes: no JSON of a report, or of one that has bytes and reads back as itself.
#![no_main]

mod formats;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((format, json)) = formats::choose(data) else { return };
    let Ok(report) = format.from_json(json) else { return };
    let bytes = format.encode(&report).unwrap();
    assert_eq!(format.decode(&bytes).unwrap(), report);
    assert_eq!(format.from_json(format.to_json(&report).unwrap()).unwrap(), report);
});
