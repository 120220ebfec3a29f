//! Numbers that keep their original text.

use crate::Raw;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::fmt;

/// A JSON number that keeps its digits: `1` stays `1`, and thirty digits stay thirty. Equality
/// compares the text.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Number(Raw);

/// 2^53: every integer up to here is exact as `f64`.
const SAFE_INTEGER: f64 = 9_007_199_254_740_992.0;

impl Number {
    /// `None` for infinities and NaN, which JSON does not have.
    pub fn from_f64(value: f64) -> Option<Self> {
        value.is_finite().then(|| Self(Raw::trusted(value.to_string().into())))
    }

    /// `None` if the value is not a number.
    pub fn read(raw: &Raw) -> Option<Self> {
        matches!(raw.as_bytes().first(), Some(b'-' | b'0'..=b'9')).then(|| Self(raw.clone()))
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The nearest `f64`; infinite if the number is out of its range.
    pub fn as_f64(&self) -> f64 {
        self.as_str().parse().unwrap_or(f64::NAN)
    }

    /// The value if it is an integer in range; `1.0` counts as an integer.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_str().parse().ok().or_else(|| u64::try_from(self.spelled_otherwise()?).ok())
    }

    /// The value if it is an integer in range; `-1.0` counts as an integer.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_str().parse().ok().or_else(|| self.spelled_otherwise())
    }

    /// The value of an integer written with a fraction or an exponent, within the range where
    /// `f64` is exact.
    fn spelled_otherwise(&self) -> Option<i64> {
        let value = self.as_f64();
        #[expect(clippy::cast_possible_truncation, reason = "checked to be an integer within 2^53")]
        (value.fract() == 0.0 && value.abs() < SAFE_INTEGER).then_some(value as i64)
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        Self(Raw::trusted(value.to_string().into()))
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self(Raw::trusted(value.to_string().into()))
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        Self::read(&raw).ok_or_else(|| D::Error::custom("expected a number"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn digits_survive_a_round_trip() {
        for text in ["1", "1.0", "0.50", "-0", "1e400", "123456789012345678901234567890", "9007199254740993"]
        {
            assert_eq!(serde_json::to_string(&number(text)).unwrap(), text);
        }
    }

    #[test]
    fn integers_are_read_in_every_spelling() {
        assert_eq!(number("9007199254740993").as_u64(), Some(9_007_199_254_740_993));
        assert_eq!((number("1.0").as_u64(), number("2e3").as_i64()), (Some(1), Some(2000)));
        assert_eq!((number("-1").as_u64(), number("-1.0").as_i64()), (None, Some(-1)));
        assert_eq!((number("1.5").as_u64(), number("1e30").as_i64()), (None, None));
        assert!(number("1e400").as_f64().is_infinite());
    }

    #[test]
    fn other_types_are_refused_and_other_numbers_written() {
        for text in ["\"1\"", "true", "null", "[1]"] {
            assert!(serde_json::from_str::<Number>(text).is_err(), "{text}");
        }
        assert_eq!(Number::from_f64(0.5).unwrap().as_str(), "0.5");
        assert_eq!(Number::from_f64(f64::NAN), None);
    }
}
