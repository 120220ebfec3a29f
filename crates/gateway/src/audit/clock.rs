//! The time of a record, in UTC.

use std::{
    cell::Cell,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};
use trunkline_protocol::time::date_time;

/// Time for which the offset between monotonic and system clock is reused.
const OFFSET_REUSE: Duration = Duration::from_secs(1);

/// A UTC time as RFC 3339 with milliseconds.
type Text = [u8; 24];

thread_local! {
    /// The last time that was formatted, and its second: most records of a thread differ only in
    /// their milliseconds.
    static LAST: Cell<(u64, Text)> = const { Cell::new((0, *b"1970-01-01T00:00:00.000Z")) };

    /// Both clocks when they were last read together.
    static COMPARED: Cell<Option<(Instant, SystemTime)>> = const { Cell::new(None) };
}

/// Appends a time of the recent past as RFC 3339 with milliseconds, usually without reading a
/// clock.
pub(super) fn push_moment(out: &mut String, moment: Instant) {
    let since = |then: Instant| moment.checked_duration_since(then).filter(|since| *since < OFFSET_REUSE);
    let known = COMPARED.get().and_then(|(then, time)| time.checked_add(since(then)?));
    push(
        out,
        known.unwrap_or_else(|| {
            let time = SystemTime::now();
            COMPARED.set(Some((moment, time)));
            time
        }),
    );
}

/// The UTC time as RFC 3339 with milliseconds.
pub fn rfc3339(at: SystemTime) -> String {
    let mut out = String::with_capacity("1970-01-01T00:00:00.000Z".len());
    push(&mut out, at);
    out
}

fn push(out: &mut String, at: SystemTime) {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    format(out, since.as_secs(), since.subsec_millis());
}

fn format(out: &mut String, seconds: u64, millis: u32) {
    let (last, mut text) = LAST.get();
    if last != seconds {
        let second = date_time(i64::try_from(seconds).unwrap_or(i64::MAX));
        text.iter_mut().zip(second.bytes()).for_each(|(to, from)| *to = from);
    }
    write_millis(&mut text[20..23], millis);
    LAST.set((seconds, text));
    out.push_str(std::str::from_utf8(&text).unwrap_or_default());
}

/// Digit by digit: `format!` takes longer than the rest of a record together.
fn write_millis(digits: &mut [u8], mut millis: u32) {
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + u8::try_from(millis % 10).unwrap_or_default();
        millis /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_the_calendar_does() {
        for (seconds, millis, want) in [
            (0, 0, "1970-01-01T00:00:00.000Z"),
            (951_868_799, 7, "2000-02-29T23:59:59.007Z"),
            (1_794_751_200, 999, "2026-11-15T14:00:00.999Z"),
            (4_107_542_400, 0, "2100-03-01T00:00:00.000Z"),
        ] {
            let mut out = String::new();
            format(&mut out, seconds, millis);
            assert_eq!(out, want);
        }
    }
}
