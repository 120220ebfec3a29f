//! Timestamps as text: ISO 8601 in UTC, the format of the protocol.

use ::time::UtcDateTime;
use std::time::{SystemTime, UNIX_EPOCH};

/// With milliseconds. Times before 1970 count as its beginning.
pub fn iso_8601(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    format!("{}.{:03}Z", date_time(seconds), since.subsec_millis())
}

/// A Unix time in whole seconds.
pub fn iso_8601_seconds(seconds: i64) -> String {
    format!("{}Z", date_time(seconds))
}

/// Date and time without fraction or zone, such as `2027-01-31T12:00:00`. Times outside of the
/// calendar's range become its first or last second: the format ends with the year 9999.
pub fn date_time(seconds: i64) -> String {
    let nearest = if seconds < 0 { UtcDateTime::MIN } else { UtcDateTime::MAX };
    let at = UtcDateTime::from_unix_timestamp(seconds).unwrap_or(nearest);
    let (year, month, day) = (at.year(), u8::from(at.month()), at.day());
    let (hour, minute, second) = at.time().as_hms();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn leap_days_and_turns_of_years_are_where_they_belong() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_735_689_599, "2024-12-31T23:59:59.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(iso_8601(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn known_moments_are_written_right() {
        assert_eq!(iso_8601_seconds(0), "1970-01-01T00:00:00Z");
        assert_eq!(iso_8601_seconds(951_827_696), "2000-02-29T12:34:56Z");
        assert_eq!(iso_8601_seconds(-1), "1969-12-31T23:59:59Z");
        assert_eq!(iso_8601_seconds(4_102_444_799), "2099-12-31T23:59:59Z");
    }

    #[test]
    fn times_outside_of_the_calendar_become_its_ends() {
        assert_eq!(iso_8601_seconds(i64::MAX), "9999-12-31T23:59:59Z");
        assert_eq!(iso_8601_seconds(i64::MIN), "-9999-01-01T00:00:00Z");
    }
}
