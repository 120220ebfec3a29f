//! Dates of a key file: `2027-01-31` or `2027-01-31T12:00:00Z`.

/// Parses a date to Unix seconds; a date without time means midnight UTC. `None` if malformed.
pub(super) fn seconds(text: &str) -> Option<u64> {
    let (date, time) = match text.split_once('T') {
        Some((date, time)) => (date, time.strip_suffix('Z')?),
        None => (text, "00:00:00"),
    };
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let lengths = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let month_at = usize::try_from(month).ok()?.checked_sub(1)?;
    if year < 1970 || day == 0 || day > *lengths.get(month_at)? || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let before = year - 1;
    let leap_days = before / 4 - before / 100 + before / 400 - 477;
    let days = (year - 1970) * 365 + leap_days + lengths[..month_at].iter().sum::<u64>() + day - 1;
    Some(days * 86_400 + hour * 3600 + minute * 60 + second)
}

fn numbers(text: &str, between: char, widths: [usize; 3]) -> Option<[u64; 3]> {
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
