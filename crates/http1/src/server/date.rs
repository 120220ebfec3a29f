//! The time of day as answers carry it, written once a second.

use std::{
    cell::RefCell,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

thread_local! {
    static LAST: RefCell<(u64, String)> = const { RefCell::new((u64::MAX, String::new())) };
}

/// Adds the `Date` field.
pub(super) fn write(out: &mut Vec<u8>) {
    write_at(out, SystemTime::now());
}

fn write_at(out: &mut Vec<u8>, now: SystemTime) {
    let second = now.duration_since(UNIX_EPOCH).as_ref().map_or(0, Duration::as_secs);
    LAST.with_borrow_mut(|(at, line)| {
        if *at != second {
            *at = second;
            *line = format!("date: {}\r\n", httpdate::fmt_http_date(now));
        }
        out.extend_from_slice(line.as_bytes());
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_is_that_of_the_second() {
        let begin = UNIX_EPOCH + Duration::from_secs(784_111_777);
        for (millis, second) in [(0, "37"), (999, "37"), (1000, "38"), (0, "37")] {
            let mut out = Vec::new();
            write_at(&mut out, begin + Duration::from_millis(millis));
            let expected = format!("date: Sun, 06 Nov 1994 08:49:{second} GMT\r\n");
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }
}
