//! Dates of a key file: `2027-01-31` or `2027-01-31T12:00:00Z`.

use time::{Date, Month, Time, UtcDateTime};

/// Parses a date to Unix seconds; a date without time means midnight UTC. `None` if malformed.
pub(super) fn seconds(text: &str) -> Option<u64> {
    let (date, time) = match text.split_once('T') {
        Some((date, time)) => (date, time.strip_suffix('Z')?),
        None => (text, "00:00:00"),
    };
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    let small = |number: u16| u8::try_from(number).ok();
    let month = Month::try_from(small(month)?).ok()?;
    let date = Date::from_calendar_date(year.into(), month, small(day)?).ok()?;
    let time = Time::from_hms(small(hour)?, small(minute)?, small(second)?).ok()?;
    // Fails before 1970.
    u64::try_from(UtcDateTime::new(date, time).unix_timestamp()).ok()
}

fn numbers(text: &str, between: char, widths: [usize; 3]) -> Option<[u16; 3]> {
    let mut parts = text.split(between);
    let mut out = [0; 3];
    for (slot, width) in out.iter_mut().zip(widths) {
        let part = parts.next().filter(|p| p.len() == width && p.bytes().all(|b| b.is_ascii_digit()))?;
        *slot = part.parse().ok()?;
    }
    parts.next().is_none().then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_counted_as_the_calendar_does() {
        assert_eq!(seconds("1970-01-01"), Some(0));
        assert_eq!(seconds("2000-02-29T23:59:59Z"), Some(951_868_799));
        assert_eq!(seconds("2026-11-15T14:00:00Z"), Some(1_794_751_200));
        assert_eq!(seconds("2100-03-01"), Some(4_107_542_400));
    }

    #[test]
    fn what_is_no_moment_is_not_taken_for_one() {
        for text in ["", "2027", "2027-13-01", "2027-02-29", "2027-1-1", "2027-01-01T00:00:00", "+027-01-01"]
        {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
