//! Parses durations given on the command line: `30`, `1.5s`, `500ms`, `2m`, `1h`.

use std::time::Duration;

pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let seconds = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("`{unit}` is no unit of time; use ms, s, m or h")),
    };
    let number: f64 = number.trim().parse().map_err(|_| format!("`{number}` is not a number"))?;
    match Duration::try_from_secs_f64(number * seconds) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err("it must be longer than nothing".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_fractions_are_read() {
        for (text, millis) in
            [("30", 30_000), ("1.5s", 1500), ("500ms", 500), ("2m", 120_000), ("1h", 3_600_000)]
        {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "s", "0", "-1", "1d", "1e400", "nan"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
