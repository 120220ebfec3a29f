//! The `Date` header, formatted once per second.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[derive(Default)]
pub(super) struct CachedDate {
    /// The header line, and the second that it is for.
    current: Option<(u64, String)>,
}

impl CachedDate {
    pub(super) fn write(&mut self, out: &mut Vec<u8>) {
        self.write_at(out, SystemTime::now());
    }

    fn write_at(&mut self, out: &mut Vec<u8>, now: SystemTime) {
        let second = now.duration_since(UNIX_EPOCH).as_ref().map_or(0, Duration::as_secs);
        let (_, line) = match &mut self.current {
            Some(current) if current.0 == second => current,
            current => current.insert((second, format!("date: {}\r\n", httpdate::fmt_http_date(now)))),
        };
        out.extend_from_slice(line.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_is_that_of_the_second() {
        let begin = UNIX_EPOCH + Duration::from_secs(784_111_777);
        let mut date = CachedDate::default();
        for (millis, second) in [(0, "37"), (999, "37"), (1000, "38"), (0, "37")] {
            let mut out = Vec::new();
            date.write_at(&mut out, begin + Duration::from_millis(millis));
            let expected = format!("date: Sun, 06 Nov 1994 08:49:{second} GMT\r\n");
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }
}
