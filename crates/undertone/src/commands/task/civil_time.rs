//! Seconds of the Unix epoch as dates and times of day in UTC, and back.
//!
//! The calendar repeats every 400 years, which are 146 097 days. Counted from 1 March, a leap day is the last of its year,
//! and month m (March being 0) begins on day ⌊(153·m + 2)/5⌋.

use anyhow::{Context, ensure};

const DAY: u64 = 86_400;
/// From 1 March of year 0 to 1 January 1970
const EPOCH: u64 = 719_468;

/// A moment as it is typed: seconds of the Unix epoch, or a date such as 2027-01-15, which begins at midnight in UTC.
pub(super) fn moment(text: &str) -> anyhow::Result<u64> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() {
        return text.parse().context("too many seconds");
    }
    let expected = "seconds of the Unix epoch, or a date such as 2027-01-15, are expected";
    let parts: Vec<u64> = text.split('-').map(str::parse).collect::<Result<_, _>>().context(expected)?;
    let [year, month, day] = parts[..] else { anyhow::bail!(expected) };
    ensure!((1970..=9999).contains(&year), "the year has to lie between 1970 and 9999");
    let seconds = DAY * days(year, month.clamp(1, 12), day.clamp(1, 31));
    // What is no date comes back as another.
    ensure!(date(seconds) == format!("{year:04}-{month:02}-{day:02}"), "there is no such day");
    Ok(seconds)
}

/// A moment as people read it.
pub(super) fn shown(seconds: u64) -> String {
    let (hour, minute, second) = (seconds % DAY / 3600, seconds % 3600 / 60, seconds % 60);
    format!("{} {hour:02}:{minute:02}:{second:02} UTC", date(seconds))
}

fn date(seconds: u64) -> String {
    let from_march = seconds / DAY + EPOCH;
    let (era, day) = (from_march / 146_097, from_march % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", 400 * era + year + next)
}

fn days(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, year) = (year / 400, year % 400);
    146_097 * era + 365 * year + year / 4 - year / 100 + (153 * month + 2) / 5 + day - 1 - EPOCH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments_are_known() {
        for (text, seconds, words) in [
            ("1970-01-01", 0, "1970-01-01 00:00:00 UTC"),
            ("2000-02-29", 951_782_400, "2000-02-29 00:00:00 UTC"),
            ("2027-01-15", 1_799_971_200, "2027-01-15 00:00:00 UTC"),
            ("1800000000", 1_800_000_000, "2027-01-15 08:00:00 UTC"),
            ("9999-12-31", 253_402_214_400, "9999-12-31 00:00:00 UTC"),
        ] {
            assert_eq!(moment(text).unwrap(), seconds);
            assert_eq!(shown(seconds), words);
        }
    }

    #[test]
    fn every_day_of_eight_centuries_reads_back_as_itself() {
        let mut last = String::new();
        for day in 0..800 * 365 {
            let text = date(day * DAY);
            assert!(text > last, "{text} is not after {last}");
            assert_eq!(moment(&text).unwrap(), day * DAY);
            last = text;
        }
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in
            ["", "x", "2027-13-01", "2027-00-01", "2027-02-29", "2027-01-32", "2027-1", "1969-12-31", "-5"]
        {
            assert!(moment(text).is_err(), "{text}");
        }
        assert!(moment("99999999999999999999").is_err());
    }
}
