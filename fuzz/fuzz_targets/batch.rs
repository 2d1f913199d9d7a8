//! Any bytes: no batch, or one that joins to the same bytes; and whatever is in it is a report or is not.
#![no_main]

mod formats;

use libfuzzer_sys::fuzz_target;
use undertone_report::batch;

fuzz_target!(|data: &[u8]| {
    let Some((format, rest)) = formats::choose(data) else { return };
    let Ok(reports) = batch::split(rest) else { return };
    for report in &reports {
        if let Ok(decoded) = format.decode(report) {
            assert_eq!(format.encode(&decoded).unwrap(), *report);
        }
    }
    assert_eq!(batch::join(reports), rest);
});
