//! Kinds of value that JSON Schema cannot express. Editors see the nearest standard keywords; our
//! own checks use `x-kind`.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serializer, de::Error};
use std::time::Duration;

/// Durations as text: a number and a unit; without a unit, milliseconds.
pub(crate) const TIME_PATTERN: &str = r"^[0-9]+(\.[0-9]+)?(ms|s|m|h|d)?$";

pub(crate) fn time(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": ["integer", "string"], "pattern": TIME_PATTERN, "x-kind": "time"})
}

/// A duration, or null for none.
pub(crate) fn optional_time(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": ["integer", "string", "null"], "pattern": TIME_PATTERN, "x-kind": "time"})
}

pub(crate) fn path(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": ["string", "null"], "x-kind": "path"})
}

/// One path or several.
pub(crate) fn paths(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": ["string", "array"], "items": {"type": "string", "x-kind": "path"}, "maxItems": 64, "x-kind": "path"})
}

pub(crate) fn url(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": ["string", "null"], "x-kind": "url"})
}

/// A path or an address.
pub(crate) fn path_or_url(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": ["string", "null"], "x-kind": "path-or-url"})
}

pub(crate) fn address(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": ["string", "integer", "null"], "minimum": 0, "maximum": 65535, "x-kind": "address"})
}

pub(crate) fn secret(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": ["string", "null"], "x-kind": "secret"})
}

/// An object of strings that may be secret.
pub(crate) fn secrets(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "additionalProperties": {"type": "string", "x-kind": "secret"}, "maxProperties": 256})
}

/// An object of names of headers.
pub(crate) fn header_names(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "additionalProperties": {"type": "string", "minLength": 1, "maxLength": 256}, "maxProperties": 64})
}

/// A program and its arguments.
pub(crate) fn command(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "items": {"type": "string", "x-kind": "word"}, "minItems": 1, "maxItems": 1000})
}

pub(crate) fn globs(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "items": {"type": "string", "x-kind": "glob", "minLength": 1, "maxLength": 256}, "maxItems": 1000})
}

/// Patterns, at least one.
pub(crate) fn some_globs(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = globs(generator);
    schema.insert("minItems".to_owned(), 1.into());
    schema
}

/// Names, at least one.
pub(crate) fn some_names(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = names(generator);
    schema.insert("minItems".to_owned(), 1.into());
    schema
}

pub(crate) fn glob(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "x-kind": "glob", "minLength": 1, "maxLength": 1024})
}

pub(crate) fn number(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "number"})
}

/// A JSON Pointer (RFC 6901).
pub(crate) fn pointer(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "pattern": "^(/.*)?$", "maxLength": 1024, "x-kind": "pointer"})
}

pub(crate) fn names(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 256}, "maxItems": 1000})
}

/// Parses `1500`, `"1500ms"`, `"1.5s"`, `"5m"`, `"2h"`, `"1d"`.
pub fn parse_time(text: &str) -> Option<Duration> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return None;
    }
    let number: f64 = number.parse().ok()?;
    let seconds = match unit {
        "" | "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return None,
    };
    // Rounded to milliseconds, so that 1.1s is exactly 1100 ms.
    let rounded = Duration::try_from_secs_f64(number * seconds).ok()?;
    Some(Duration::from_millis(u64::try_from((rounded + Duration::from_micros(500)).as_millis()).ok()?))
}

/// Formats a duration in its shortest form.
pub(crate) fn write_time(time: Duration) -> String {
    let millis = time.as_millis();
    for (unit, size) in [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000)] {
        if millis >= size && millis.is_multiple_of(size) {
            return format!("{}{unit}", millis / size);
        }
    }
    format!("{millis}ms")
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Millis(u64),
    Text(String),
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    match Written::deserialize(from)? {
        Written::Millis(millis) => Ok(Duration::from_millis(millis)),
        Written::Text(text) => parse_time(&text).ok_or_else(|| D::Error::custom("not a time")),
    }
}

pub(crate) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&write_time(*time))
}

/// Serde functions for optional durations; zero and null mean none.
pub(crate) mod optional {
    use super::{Deserialize, Deserializer, Duration, Error, Serializer, Written, parse_time, write_time};

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        let time = match Option::<Written>::deserialize(from)? {
            None => return Ok(None),
            Some(Written::Millis(millis)) => Duration::from_millis(millis),
            Some(Written::Text(text)) => parse_time(&text).ok_or_else(|| D::Error::custom("not a time"))?,
        };
        Ok(Some(time).filter(|time| !time.is_zero()))
    }

    #[expect(clippy::ref_option, reason = "serde calls it so")]
    pub(crate) fn serialize<S: Serializer>(time: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
        match time {
            Some(time) => to.serialize_str(&write_time(*time)),
            None => to.serialize_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_and_milliseconds_are_the_default() {
        let millis = |text| parse_time(text).map(|time| time.as_millis());
        assert_eq!(millis("1500"), Some(1500));
        assert_eq!(millis("1.1s"), Some(1100));
        assert_eq!(
            [millis("5m"), millis("2h"), millis("1d")],
            [Some(300_000), Some(7_200_000), Some(86_400_000)]
        );
        for wrong in ["", "s", "-1s", "1w", "1 s", "1..2s", "9e99s", "99999999999999999999d"] {
            assert_eq!(millis(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn times_are_written_as_they_are_read() {
        for text in ["0ms", "1ms", "1500ms", "90s", "5m", "36h", "2d"] {
            assert_eq!(write_time(parse_time(text).unwrap()), text);
        }
    }
}
