//! Any bytes: no report, or the one spelling of one.
#![no_main]

mod formats;

use libfuzzer_sys::fuzz_target;
use undertone_report::{REPORT_VERSION, ReportFormat};

fuzz_target!(|data: &[u8]| {
    let Some((format, rest)) = formats::choose(data) else { return };
    // Half of the time as they are; or bound to the task, which no chance would find.
    let bytes = match data[0] & 0x80 {
        0 => rest.to_vec(),
        _ => [&[REPORT_VERSION], &format.task_id().as_bytes()[..], rest].concat(),
    };
    let (decoded, checked) = (format.decode(&bytes), format.check(&bytes));
    match decoded {
        Err(error) => assert_eq!(checked, Err(error)),
        Ok(report) => {
            assert_eq!(format.encode(&report).unwrap(), bytes);
            assert_eq!(checked.map(|header| header.id), Ok(report.id));
            assert_eq!(ReportFormat::peek(&bytes), Ok((report.id, report.time)));
            assert_eq!(format.from_json(format.to_json(&report).unwrap()).unwrap(), report);
        }
    }
});
