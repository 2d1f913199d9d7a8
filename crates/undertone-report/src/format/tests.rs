//! Reports as bytes and as JSON, and what is refused.

use super::*;
use crate::testing::{report, task};
use undertone_privacy::label::LabelKind;

fn format(kind: &str) -> ReportFormat {
    ReportFormat::new(&task(kind)).unwrap()
}

#[test]
fn every_mechanism_has_reports_that_read_back_as_themselves() {
    for kind in LabelKind::ALL.map(LabelKind::name) {
        let format = format(kind);
        let mut report = report(kind);
        if let Some(size) = task(kind).mechanism().ok().and_then(|mechanism| mechanism.set_size())
            && size > 1
        {
            report.members = (0..size).collect();
        }
        let bytes = format.encode(&report).unwrap();
        assert_eq!(format.decode(&bytes).unwrap(), report, "{kind}");
        let json = format.to_json(&report).unwrap();
        assert_eq!(format.from_json(&json).unwrap(), report, "{json}");
        assert_eq!(ReportFormat::peek(&bytes).unwrap(), (report.id, report.time));
        let header = Header { id: report.id, time: report.time, tier: report.tier };
        assert_eq!(format.check(&bytes).unwrap(), header);
    }
}
